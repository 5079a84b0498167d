//! Kernels of f32 products with constant address tables.

use super::narrow::Narrow;
use super::operands::Operands;
use super::{Kernel, Out, Prepared, constant, extents, float, floats, position};
use crate::aligned_bytes::AlignedBytes;
use crate::gemm::{Addresses, ColumnSlice, Isa, Panels, Product, RunSplit};
use crate::workers::Workers;
use bytes::Bytes;
use gradus_dialects::addr::constant_table;
use gradus_ir::eval::Trap;
use gradus_ir::{Module, OpArgs, Tensor};
use std::borrow::Cow;

/// The right operand of a product.
#[derive(Clone, Copy)]
struct Factor {
    columns: usize,
    summands: usize,
    /// Panel width, if it is packed.
    width: Option<usize>,
}

impl Factor {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<Factor> {
        match extents(m, args.operand_type(position(args, "b")?))?[..] {
            [columns, summands] => Some(Factor { columns, summands, width: None }),
            [_, summands, width] => {
                let columns = usize::try_from(args.int("columns")?).ok()?;
                Some(Factor { columns, summands, width: Some(width) })
            }
            _ => None,
        }
    }

    /// Packs the operand into panels, or wraps it if it is packed already.
    fn panels(self, data: &Bytes, bias: Option<&[f32]>) -> Option<Panels> {
        let Factor { columns, summands, width } = self;
        let (sizes, isa, values) = ([columns, summands], Isa::best(), floats(data));
        match width {
            Some(width) => Panels::packed(isa, sizes, width, data, bias).ok(),
            None => Panels::new(isa, sizes, |n, k| values[n * summands + k], bias).ok(),
        }
    }
}

/// Converts a constant to f32, without a copy if it is f32.
fn widened(kind: Narrow, constant: &Tensor) -> Bytes {
    match kind.floats(constant.bytes()) {
        Cow::Owned(floats) => AlignedBytes::of(bytemuck::cast_slice(&floats)).into_bytes(),
        Cow::Borrowed(_) => constant.bytes().clone(),
    }
}

/// Prepares `addr.gemm` and `addr.indirect_gemm` on floats. A constant right operand is packed once, others in each
/// run.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let kind = Narrow::of(args, 0)?;
    let addresses = Addresses::new(&constant_table(args)?, RunSplit::FLOATS).ok()?;
    let (range, factor) = (bounds(args), Factor::of(m, args)?);
    let mut operands = Operands::new(args);
    let add = operands.input("add");
    let known = match (constant(args, "b"), operands.constant("bias", Some)) {
        (Some(b), Some(bias)) => {
            let bias = bias.as_ref().map(|bias| kind.floats(bias.bytes()));
            Some(factor.panels(&widened(kind, &b), bias.as_deref())?)
        }
        _ => None,
    };
    let [b, bias] = ["b", "bias"].map(|name| if known.is_none() { operands.input(name) } else { None });
    let run = move |workers: &Workers, data: &[&[u8]], out: Out<'_>| {
        let floats = |input: Option<usize>| input.map(|i| kind.floats(data[i]));
        let add = floats(add);
        let packed;
        let b = match &known {
            Some(panels) => panels,
            None => {
                let b = AlignedBytes::of(bytemuck::cast_slice(&floats(b).unwrap_or_default())).into_bytes();
                let panels = factor.panels(&b, floats(bias).as_deref());
                packed = panels.ok_or_else(|| Trap::unsupported("a factor is too large"))?;
                &packed
            }
        };
        let product = Product { a: &kind.floats(data[0]), addresses: &addresses, b, add: add.as_deref(), range };
        let columns = out.columns.unwrap_or(ColumnSlice { first: 0, of: factor.columns });
        kind.write(out.bytes, |c| product.compute_strided(workers, c, columns).map_err(Trap::Ub))
    };
    let columns = (kind == Narrow::No && add.is_none()).then_some(factor.columns);
    Some(Kernel { reads: operands.inputs()?, columns, in_place: false, run: Box::new(run) }.into())
}

/// Returns the bounds of the clamp.
pub(super) fn bounds(args: &OpArgs<'_>) -> (f32, f32) {
    (float(args, "low").unwrap_or(f32::NEG_INFINITY), float(args, "high").unwrap_or(f32::INFINITY))
}
