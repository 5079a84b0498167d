//! Kernels of bf16 products with constant address tables and right operand.

use super::addr::bounds;
use super::narrow::Narrow;
use super::operands::Operands;
use super::{Kernel, Out, Prepared, constant, extents, position};
use crate::gemm::bf16::{Bf16Isa, Bf16Panels, Bf16Product};
use crate::gemm::{Addresses, ColumnSlice, RunSplit};
use crate::workers::Workers;
use gradus_ir::eval::Trap;
use gradus_ir::{Module, OpArgs};
use gradus_networks::addr::{constant_table, groups};
use smallvec::SmallVec;

/// Prepares `addr.gemm` and `addr.indirect_gemm` on bf16.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (table, groups) = (constant_table(args)?, groups(args).filter(|&groups| groups > 0)?);
    let &[columns, summands] = &extents(m, args.operand_type(position(args, "b")?))?[..] else { return None };
    let mut operands = Operands::new(args);
    let bias = operands.constant("bias", |bias| Some(Narrow::BF16.floats(bias.bytes()).into_owned()))?;
    let b = constant(args, "b").filter(|_| Narrow::of(args, 0) == Some(Narrow::BF16))?;
    let (add, range, each) = (operands.input("add"), bounds(args)?, columns / groups);
    let rows = table.rows() / groups;
    let b: &[u16] = bytemuck::cast_slice(b.bytes());
    let group = |i: usize| {
        let addresses = Addresses::new(&table.part(i * rows..(i + 1) * rows)?, RunSplit::BYTES).ok()?;
        let at = |n: usize, k: usize| b[(i * each + n) * summands + k];
        let bias = bias.as_ref().map(|bias| &bias[i * each..][..each]);
        let panels = Bf16Panels::new(Bf16Isa::best(), [each, summands], addresses.run(), at, bias).ok()?;
        Some((addresses, panels))
    };
    let all: Vec<(Addresses, Bf16Panels)> = (0..groups).map(group).collect::<Option<_>>()?;
    let run = move |workers: &Workers, data: &[&[u8]], out: Out<'_>| {
        let (a, add) = (bytemuck::cast_slice(data[0]), add.map(|i| bytemuck::cast_slice(data[i])));
        let product = |(addresses, b)| Bf16Product { a, addresses, b, add, range };
        let products: SmallVec<[Bf16Product<'_>; 4]> = all.iter().map(|of| product((&of.0, &of.1))).collect();
        let columns = out.columns.unwrap_or(ColumnSlice { first: 0, of: columns });
        Bf16Product::compute_all(&products, workers, bytemuck::cast_slice_mut(out.bytes), columns).map_err(Trap::from)
    };
    let strided = add.is_none().then_some(columns);
    Some(
        Kernel { reads: operands.inputs()?, columns: strided, in_place: false, steps: None, run: Box::new(run) }.into(),
    )
}
