//! `pack-panels`: packing of constant right operands into panels for the micro-kernel.

use gradus_dialects::addr::{GemmOp, IndirectGemmOp};
use gradus_dialects::layout::{PackOp, TiledLayout};
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::{
    AttrData, Builder, Diagnostic, InsertPoint, Module, Op, OpDecl, OpState, Pass, PassContext, PassInfo, Type,
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
each summand are contiguous. The last panel is padded with zeros. The packing is an op, which `canonicalize` folds.

# Refuses

Right operands that are not constant, not float, or splats.

# Cost

Linear in the number of ops.",
    options: &[PassOption { name: "width", doc: "Number of columns nr per panel", kind: OptionKind::Int(16) }],
    statistics: &[("num-packed", "Number of factors packed")],
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
            if let Some((at, columns)) = factor(m, op)
                && cx.allows("pack", m, op)
                && self.pack(m, op, at, columns).is_some()
            {
                cx.count("num-packed", 1);
            }
        }
        Ok(())
    }
}

/// Returns the place among the operands of the constant right operand of an f32 product, and its number of columns.
fn factor(m: &Module, op: Op) -> Option<(usize, i64)> {
    let b = GemmOp::cast(m, op).map(|op| op.b(m)).or_else(|| IndirectGemmOp::cast(m, op).map(|op| op.b(m)))?;
    let at = m.args(op)?.operand_range("b").start;
    // A splat stays small as it is.
    let is_splat = matches!(m.ctx.attr_data(m.constant(b)?), AttrData::Dense(dense) if dense.splat);
    let &[columns, _] = m.ctx.static_shape(m.value_type(b))? else { return None };
    (columns > 0 && !is_splat && m.ctx.element_type(m.value_type(b)) == Type::F32).then_some((at, columns))
}

impl PackPanels {
    fn pack(&self, m: &mut Module, op: Op, at: usize, columns: i64) -> Option<()> {
        let mut state = OpState::new(&m.ctx, PackOp::INFO.name, m.loc(op));
        state.operands.push(m.operands(op)[at]);
        state.inherent(&m.ctx, "layout", Some(self.layout.to_attr(&m.ctx)));
        state.inherent(&m.ctx, "axes", Some(m.ctx.string_attr("NK")));
        let packed = Builder::at(m, InsertPoint::Before(op)).try_create(state).ok()?;
        let packed = m.result(packed, 0);
        m.set_operand(op, at, packed);
        let columns = m.ctx.int_attr(Type::I64, columns);
        m.set_attr(op, "columns", Some(columns));
        Some(())
    }
}
