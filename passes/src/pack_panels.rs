//! `pack-panels`: packing of constant right operands into panels for the micro-kernel.

use gradus_dialects::addr::{GemmOp, IndirectGemmOp};
use gradus_dialects::layout::{PackOp, TiledLayout};
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::{
    AttrData, Builder, Diagnostic, InsertPoint, Module, Op, OpDecl, OpState, Pass, PassContext, PassInfo, Type, Value,
};

/// The declaration.
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
each summand are contiguous. Of the `widths`, the one with the least padding in the last panel is chosen, the first among equals. The
packing is an op, which `canonicalize` folds.

# Refuses

Right operands that are not constant, not float, or splats.

# Cost

Linear in the number of ops.",
    options: &[PassOption { name: "widths", doc: "Panel widths nr in order of preference", kind: OptionKind::List }],
    statistics: &[("num-packed", "Number of factors packed")],
    make: |options| {
        let mut panels = options.list("widths").iter().map(|width| Panels::of(width)).collect::<Result<Vec<_>, _>>()?;
        if panels.is_empty() {
            panels.push(Panels::of("16")?);
        }
        Ok(Box::new(PackPanels { panels }))
    },
    ..PassInfo::DEFAULT
};

struct PackPanels {
    /// The panels to choose from, in order of preference.
    panels: Vec<Panels>,
}

/// Panels of `width` columns, and their layout.
struct Panels {
    width: i64,
    layout: TiledLayout,
}

impl Panels {
    /// Parses a width.
    fn of(width: &str) -> Result<Panels, String> {
        let number = width.parse().ok().filter(|w| (1..=1 << 16).contains(w));
        let number = number.ok_or("'widths' are numbers of columns, from 1 to 65536")?;
        Ok(Panels { width: number, layout: format!("NK{number}n").parse()? })
    }
}

impl Pass for PackPanels {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for op in m.ops_under(root) {
            if let Some((b, columns)) = factor(m, op)
                && self.pack(m, op, b, columns).is_some()
            {
                cx.count("num-packed", 1);
            }
        }
        Ok(())
    }
}

/// The constant right operand of an f32 product, and its number of columns.
fn factor(m: &Module, op: Op) -> Option<(Value, i64)> {
    let b = GemmOp::cast(m, op).map(|op| op.b(m)).or_else(|| IndirectGemmOp::cast(m, op).map(|op| op.b(m)))?;
    // A splat stays small as it is.
    let is_splat = matches!(m.ctx.attr_data(m.constant(b)?), AttrData::Dense(dense) if dense.splat);
    let &[columns, _] = m.ctx.static_shape(m.value_type(b))? else { return None };
    (columns > 0 && !is_splat && m.ctx.element_type(m.value_type(b)) == Type::F32).then_some((b, columns))
}

impl PackPanels {
    fn pack(&self, m: &mut Module, op: Op, b: Value, columns: i64) -> Option<()> {
        let empty = |panels: &&Panels| (columns + panels.width - 1) / panels.width * panels.width - columns;
        let layout = &self.panels.iter().min_by_key(empty)?.layout;
        let mut state = OpState::new(&m.ctx, PackOp::INFO.name, m.loc(op));
        state.operands.push(b);
        state.inherent(&m.ctx, "layout", Some(layout.to_attr(&m.ctx)));
        state.inherent(&m.ctx, "axes", Some(m.ctx.string_attr("NK")));
        let packed = Builder::at(m, InsertPoint::Before(op)).try_create(state).ok()?;
        let packed = m.result(packed, 0);
        let at = m.operands(op).iter().position(|&v| v == b)?;
        m.set_operand(op, at, packed);
        let columns = m.ctx.int_attr(Type::I64, columns);
        m.set_attr(op, "columns", Some(columns));
        Some(())
    }
}
