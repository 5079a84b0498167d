//! `propagate-layouts`: elementwise ops work on tensors in whatever order their elements are.

use gradus_dialects::graph::{self, ReshapeOp};
use gradus_dialects::layout::{PackOp, TiledLayout, UnpackOp};
use gradus_ir::greedy::GreedyOptions;
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{
    Attr, Diagnostic, Module, Op, OpDecl, OpInfo, OpState, Pass, PassContext, PassInfo, Pattern, PatternRewriter,
    Traits, Type, Value,
};

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "propagate-layouts",
    doc: "Move layout.unpack behind elementwise operations, up to where it meets a layout.pack

# Before / After

```mlir
%0 = layout.unpack %a from <\"NHWC\"> : tensor<1x4x4x8xf32> -> tensor<1x8x4x4xf32>   // becomes:
%1 = graph.relu %0 : tensor<1x8x4x4xf32>                                           //   %1 = graph.relu %a : tensor<1x4x4x8xf32>
%2 = layout.pack %1 into <\"NHWC\"> : tensor<1x8x4x4xf32> -> tensor<1x4x4x8xf32>     //   and %1 in place of %2
```

# Does

Lets ops that treat each element by itself work on the packed tensors, if all their operands are unpacked from one layout, and
`graph.concat` along another axis; the result is unpacked instead. The same for `graph.reshape`. A `layout.pack` of what was
unpacked from the same layout goes.

# Refuses

Layouts in which there is padding: elements that are none would be computed with.

# Cost

Linear in the number of ops: each unpack moves down once for each op.",
    statistics: &[("num-changes", "Number of changes")],
    make: |_| Ok(Box::new(PropagateLayouts)),
    ..PassInfo::DEFAULT
};

const PATTERNS: &[Pattern] = &[
    Pattern { name: "pack-of-unpack", run: pack_of_unpack },
    Pattern { name: "elementwise-of-unpack", run: elementwise_of_unpack },
    Pattern { name: "elementwise-of-reshape", run: elementwise_of_reshape },
    Pattern { name: "concat-of-unpack", run: concat_of_unpack },
];

/// Ops that broadcast, and of operands of one shape treat each element by itself.
const BROADCAST: &[&OpInfo] = &[
    graph::AddOp::INFO,
    graph::SubOp::INFO,
    graph::MulOp::INFO,
    graph::DivOp::INFO,
    graph::MaxOp::INFO,
    graph::MinOp::INFO,
    graph::SumOp::INFO,
];

struct PropagateLayouts;

impl Pass for PropagateLayouts {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let driver = GreedyOptions { patterns: Some(PATTERNS), ..GreedyOptions::default() };
        let done = driver.run(m, op, cx.actions());
        cx.count("num-changes", done.changes);
        Ok(())
    }

    fn is_divisible(&self) -> bool {
        true
    }
}

/// The number of elements of a type, if it is known.
fn elements(m: &Module, ty: Type) -> Option<i64> {
    m.ctx.static_shape(ty)?.iter().try_fold(1_i64, |n, &d| n.checked_mul(d))
}

/// What a value was unpacked from, without padding.
struct Unpacked {
    x: Value,
    layout: Attr,
    axes: Attr,
}

impl Unpacked {
    fn of(m: &Module, value: Value) -> Option<Unpacked> {
        let unpack = UnpackOp::defining(m, value)?;
        let args = m.args(unpack.0)?;
        let (x, layout, axes) = (unpack.x(m), args.attr("layout")?, args.attr("axes")?);
        let all = elements(m, m.value_type(value))?;
        (elements(m, m.value_type(x)) == Some(all)).then_some(Unpacked { x, layout, axes })
    }

    /// What values of one type were unpacked from, all from one layout.
    fn all(m: &Module, values: &[Value]) -> Option<Vec<Unpacked>> {
        let all = values.iter().map(|&v| Unpacked::of(m, v)).collect::<Option<Vec<_>>>()?;
        let first = all.first()?;
        all.iter().all(|one| (one.layout, one.axes) == (first.layout, first.axes)).then_some(all)
    }
}

fn pack_of_unpack(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(pack) = PackOp::cast(m, op) else { return false };
    let (Some(from), Some(args)) = (Unpacked::of(m, pack.x(m)), m.args(op)) else { return false };
    let same = args.attr("layout") == Some(from.layout) && args.attr("axes") == Some(from.axes);
    if !same || m.value_type(from.x) != m.value_type(m.result(op, 0)) {
        return false;
    }
    r.replace(op, &[from.x]);
    true
}

/// Whether each element of the one result is computed from those at the same place of the operands, all of one shape.
fn is_elementwise(m: &Module, op: Op) -> bool {
    let Some(info) = m.info(op) else { return false };
    let known = info.traits.has(Traits::ELEMENTWISE) || BROADCAST.iter().any(|other| std::ptr::eq(*other, info));
    if !known || m.num_results(op) != 1 || !m.regions(op).is_empty() || m.operands(op).is_empty() {
        return false;
    }
    let shape = |v| m.ctx.static_shape(m.value_type(v));
    let result = shape(m.result(op, 0));
    result.is_some() && m.operands(op).iter().all(|&v| shape(v) == result)
}

/// The op on other operands, of one shape; its result in place of the old one after `back`.
fn on_others(r: &mut Rewriter<'_>, op: Op, others: &[Value], back: impl FnOnce(&Module, Value) -> OpState) -> bool {
    let m = r.module();
    let elem = m.ctx.element_type(m.value_type(m.result(op, 0)));
    let Some(shape) = m.ctx.shape(m.value_type(others[0])) else { return false };
    let mut state = OpState::like(m, op);
    state.operands.extend_from_slice(others);
    state.result_types.push(m.ctx.tensor_type(shape, elem));
    let Ok(made) = r.create_before(op, state) else { return false };
    let state = back(r.module(), r.module().result(made, 0));
    r.replace_with(op, state).is_ok()
}

/// Undoes a layout.
fn unpacking(m: &Module, from: &Unpacked, of: Op, x: Value) -> OpState {
    let mut state = OpState::new(&m.ctx, UnpackOp::INFO.name, m.loc(of));
    state.operands.push(x);
    state.inherent(&m.ctx, "layout", Some(from.layout));
    state.inherent(&m.ctx, "axes", Some(from.axes));
    state.result_types.push(m.value_type(m.result(of, 0)));
    state
}

fn elementwise_of_unpack(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if !is_elementwise(m, op) {
        return false;
    }
    let Some(all) = Unpacked::all(m, m.operands(op)) else { return false };
    let others: Vec<Value> = all.iter().map(|one| one.x).collect();
    on_others(r, op, &others, |m, x| unpacking(m, &all[0], op, x))
}

fn elementwise_of_reshape(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if !is_elementwise(m, op) {
        return false;
    }
    let reshape = |&v: &Value| ReshapeOp::defining(m, v).map(|reshape| (reshape.x(m), reshape.shape(m)));
    let Some(all) = m.operands(op).iter().map(reshape).collect::<Option<Vec<_>>>() else { return false };
    let shape = |v| m.ctx.static_shape(m.value_type(v));
    let (first, wanted) = (shape(all[0].0), all[0].1);
    if first.is_none() || all.iter().any(|one| shape(one.0) != first) {
        return false;
    }
    let others: Vec<Value> = all.iter().map(|one| one.0).collect();
    on_others(r, op, &others, |m, x| {
        let mut state = OpState::new(&m.ctx, ReshapeOp::INFO.name, m.loc(op));
        state.operands.extend([x, wanted]);
        state.result_types.push(m.value_type(m.result(op, 0)));
        state
    })
}

fn concat_of_unpack(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if graph::ConcatOp::cast(m, op).is_none() {
        return false;
    }
    let (Some(all), Some(axis)) = (Unpacked::all(m, m.operands(op)), m.args(op).and_then(|args| args.int("axis")))
    else {
        return false;
    };
    let Some(moved) = moved_axis(m, &all[0], axis) else { return false };
    let mut state = OpState::like(m, op);
    state.props.clear();
    state.inherent(&m.ctx, "axis", Some(m.ctx.int_attr(Type::I64, moved)));
    state.operands.extend(all.iter().map(|one| one.x));
    let Ok(made) = r.create_before(op, state) else { return false };
    let state = unpacking(r.module(), &all[0], op, r.module().result(made, 0));
    r.replace_with(op, state).is_ok()
}

/// Which axis of what is packed is an axis of the tensor, where none is tiled.
fn moved_axis(m: &Module, from: &Unpacked, axis: i64) -> Option<i64> {
    let (layout, axes) = (TiledLayout::from_attr(&m.ctx, from.layout)?, m.ctx.as_str(from.axes)?);
    let axis = if axis < 0 { axis + axes.len() as i64 } else { axis };
    let letter = axes.chars().nth(usize::try_from(axis).ok()?)?;
    let is_plain = layout.levels().len() == axes.len();
    layout.order().chars().position(|other| other == letter).filter(|_| is_plain).map(|at| at as i64)
}
