//! Kernels of f32 products with constant address tables.

use super::narrow::Narrow;
use super::operands::Operands;
use super::{Kernel, Out, Prepared, constant, extents, float, floats, position};
use crate::ElementwiseEpilogue;
use crate::aligned_bytes::AlignedBytes;
use crate::gemm::{Addresses, ColumnSlice, Isa, Panels, Product, RunSplit};
use crate::workers::Workers;
use bytes::Bytes;
use gradus_ir::eval::Trap;
use gradus_ir::{Module, OpArgs, Tensor};
use gradus_networks::addr::{constant_table, groups};
use gradus_networks::layout::AddressTable;
use smallvec::SmallVec;

/// The right operand of a product.
#[derive(Clone, Copy)]
struct Factor {
    /// Number of groups of columns, each of which has addresses of its own.
    groups: usize,
    columns: usize,
    summands: usize,
    /// Panel width, if it is packed.
    width: Option<usize>,
}

impl Factor {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<Factor> {
        let groups = groups(args).filter(|&groups| groups > 0)?;
        match extents(m, args.operand_type(position(args, "b")?))?[..] {
            [columns, summands] => Some(Factor { groups, columns, summands, width: None }),
            [_, summands, width] => {
                let columns = usize::try_from(args.int("columns")?).ok()?;
                Some(Factor { groups, columns, summands, width: Some(width) })
            }
            _ => None,
        }
    }

    /// Packs the part of each group into panels, or wraps it if it is packed already.
    fn panels(self, data: &Bytes, bias: Option<&[f32]>) -> Option<Vec<Panels>> {
        let Factor { groups, summands, width, .. } = self;
        let (columns, isa) = (self.columns / groups, Isa::best());
        let bytes = data.len() / groups;
        let packed = |group: usize| {
            let data = data.slice(group * bytes..(group + 1) * bytes);
            let bias = bias.map(|bias| bias.get(group * columns..(group + 1) * columns));
            let (bias, sizes) = (if let Some(bias) = bias { Some(bias?) } else { None }, [columns, summands]);
            match width {
                Some(width) => Panels::packed(isa, sizes, width, &data, bias).ok(),
                None => Panels::new(isa, sizes, |n, k| floats(&data)[n * summands + k], bias).ok(),
            }
        };
        (0..groups).map(packed).collect()
    }

    /// Compiles the addresses of each group.
    fn addresses(self, table: &AddressTable<'_>) -> Option<Vec<Addresses>> {
        let rows = table.rows() / self.groups;
        let part = |group: usize| Addresses::new(&table.part(group * rows..(group + 1) * rows)?, RunSplit::FLOATS).ok();
        (0..self.groups).map(part).collect()
    }
}

/// Converts a constant to f32, without a copy if it is f32.
fn widened(kind: Narrow, constant: &Tensor) -> Bytes {
    match kind {
        Narrow::No => constant.bytes().clone(),
        _ => AlignedBytes::of(bytemuck::cast_slice(&kind.floats(constant.bytes()))).into_bytes(),
    }
}

/// Prepares `addr.gemm` and `addr.indirect_gemm` on floats. A constant right operand is packed once, others in each
/// run.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let kind = Narrow::of(args, 0)?;
    let (elementwise, factor) = (elementwise_epilogue(args)?, Factor::of(m, args)?);
    let addresses = factor.addresses(&constant_table(args)?)?;
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
                let b = AlignedBytes::of(bytemuck::cast_slice(floats(b).as_deref().unwrap_or_default())).into_bytes();
                let panels = factor.panels(&b, floats(bias).as_deref());
                packed = panels.ok_or_else(|| Trap::unsupported("a factor is too large"))?;
                &packed
            }
        };
        let a = kind.floats(data[0]);
        let product = |(addresses, b)| Product { a: &a, addresses, b, add: add.as_deref(), elementwise };
        let products: SmallVec<[Product<'_>; 4]> = addresses.iter().zip(b).map(product).collect();
        let columns = out.columns.unwrap_or(ColumnSlice { first: 0, of: factor.columns });
        kind.write(out.bytes, |c| Product::compute_all(&products, workers, c, columns).map_err(Trap::from))
    };
    let columns = (kind == Narrow::No && add.is_none()).then_some(factor.columns);
    Some(Kernel { reads: operands.inputs()?, columns, in_place: false, steps: None, run: Box::new(run) }.into())
}

/// Returns the functions of each element. `None` if a bound is NaN, since kernels keep a NaN of the sum, not of a bound, or if no kernel has them.
pub(super) fn elementwise_epilogue(args: &OpArgs<'_>) -> Option<ElementwiseEpilogue> {
    let number = |name: &str, default: f32| float(args, name).unwrap_or(default);
    let range = (number("low", f32::NEG_INFINITY), number("high", f32::INFINITY));
    let clamp = ElementwiseEpilogue::clamp(range);
    let affine = (number("factor", clamp.affine.0), number("addend", clamp.affine.1));
    let hard_swish = args.attr("activation").is_some();
    let is_known = !range.0.is_nan() && !range.1.is_nan() && (hard_swish || affine == clamp.affine);
    is_known.then_some(ElementwiseEpilogue { hard_swish, affine, ..clamp })
}

/// Returns the bounds of the clamp, if there is no other function of each element.
pub(super) fn bounds(args: &OpArgs<'_>) -> Option<(f32, f32)> {
    elementwise_epilogue(args)?.bounds()
}
