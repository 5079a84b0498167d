//! `pack-panels`: packing of constant right operands into panels for the micro-kernel.

use crate::addr::{GemmOp, IndirectGemmOp, groups};
use crate::graph::ReshapeOp;
use crate::layout::{PackOp, TiledLayout};
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::{
    AttrData, Builder, Diagnostic, InsertPoint, Module, Op, OpDecl, OpState, Pass, PassContext, PassInfo, Tensor, Type,
    Value,
};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "pack-panels",
    doc: "Pack constant right operands of table-driven products into panels

# Before / After

```mlir
%c = addr.gemm %a[%base + %relative], %b : (..., tensor<20x64xf32>) -> tensor<9x20xf32>   // becomes:

%p = layout.pack %b into <\"NK16n\"> {axes = \"NK\"} : tensor<20x64xf32> -> tensor<2x64x16xf32>
%c = addr.gemm %a[%base + %relative], %p columns 20 : (..., tensor<2x64x16xf32>) -> tensor<9x20xf32>
```

# Does

Packs the constant right operand of `addr.gemm` and `addr.indirect_gemm` into panels of `nr` columns, in which the `nr` elements of
each summand are contiguous. The last panel, with groups that of each group, is padded with zeros. The packing is an op, which `canonicalize` folds.

# Refuses

Right operands that are not constant, not float, or splats.

# Cost

Linear in the number of ops.",
    options: &[PassOption { name: "width", doc: "Number of columns nr per panel", kind: OptionKind::Int(16) }],
    statistics: &[("num-packed", "Number of factors packed")],
    rewrites: Rewrites::Tags(&["pack"]),
    make: |options| {
        let width = options.int("width");
        if !(1..=1 << 16).contains(&width) {
            return Err(format!("a panel has 1 to 65536 columns, not {width}"));
        }
        Ok(Box::new(PackPanels { layout: format!("NK{width}n").parse()? }))
    },
    ..PassInfo::DEFAULT
};

struct PackPanels {
    /// The layout of a packed factor.
    layout: TiledLayout,
}

impl Pass for PackPanels {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for op in m.ops_under(root) {
            if let Some(factor) = Factor::of(m, op)
                && cx.allows("pack", m, op)
                && self.pack(m, op, factor).is_some()
            {
                cx.count("num-packed", 1);
            }
        }
        Ok(())
    }
}

/// The constant right operand of an f32 product.
struct Factor {
    /// Its place among the operands.
    at: usize,
    groups: i64,
    /// Number of columns and summands.
    extents: [i64; 2],
}

impl Factor {
    fn of(m: &Module, op: Op) -> Option<Factor> {
        let b = GemmOp::cast(m, op).map(|op| op.b(m)).or_else(|| IndirectGemmOp::cast(m, op).map(|op| op.b(m)))?;
        let args = m.args(op)?;
        // A splat stays small as it is.
        let is_splat = matches!(m.ctx.attr_data(m.constant(b)?), AttrData::Dense(dense) if dense.splat);
        let &[columns, summands] = m.ctx.static_shape(m.value_type(b))? else { return None };
        let groups = i64::try_from(groups(&args)?).ok()?;
        let is_packed = columns > 0 && !is_splat && m.ctx.element_type(m.value_type(b)) == Type::F32;
        let at = args.operand_range("b").start;
        is_packed.then_some(Factor { at, groups, extents: [columns, summands] })
    }
}

impl PackPanels {
    fn pack(&self, m: &mut Module, op: Op, Factor { at, groups, extents: [columns, summands] }: Factor) -> Option<()> {
        let mut b = m.operands(op)[at];
        if groups > 1 {
            b = reshaped(m, op, b, &[groups, columns / groups, summands])?;
        }
        let [layout, axes] = if groups > 1 {
            [format!("G{}", self.layout.order()), "GNK".into()]
        } else {
            [self.layout.order(), "NK".into()]
        };
        let mut state = OpState::new(&m.ctx, PackOp::INFO.name, m.loc(op));
        state.operands.push(b);
        state.inherent(&m.ctx, "layout", Some(layout.parse::<TiledLayout>().ok()?.to_attr(&m.ctx)));
        state.inherent(&m.ctx, "axes", Some(m.ctx.string_attr(&axes)));
        let packed = Builder::at(m, InsertPoint::Before(op)).try_create(state).ok()?;
        let mut packed = m.result(packed, 0);
        if let &[groups, panels, summands, width] = m.ctx.static_shape(m.value_type(packed))? {
            packed = reshaped(m, op, packed, &[groups * panels, summands, width])?;
        }
        m.set_operand(op, at, packed);
        let columns = m.ctx.int_attr(Type::I64, columns);
        m.set_attr(op, "columns", Some(columns));
        Some(())
    }
}

/// Reshapes a tensor.
fn reshaped(m: &mut Module, before: Op, x: Value, extents: &[i64]) -> Option<Value> {
    let (loc, list) = (m.loc(before), m.ctx.tensor_type(&[extents.len() as i64], Type::I64));
    let shape = m.ctx.dense_attr(list, &Tensor::from_vec(&[extents.len()], extents.to_vec()));
    let ty = m.ctx.tensor_type(extents, m.ctx.element_type(m.value_type(x)));
    let mut builder = Builder::at(m, InsertPoint::Before(before));
    let shape = builder.constant(shape, list, "arith", loc)?;
    let mut state = OpState::new(&builder.module.ctx, ReshapeOp::INFO.name, loc);
    state.operands.extend([x, shape]);
    state.result_types.push(ty);
    let op = builder.try_create(state).ok()?;
    Some(m.result(op, 0))
}
