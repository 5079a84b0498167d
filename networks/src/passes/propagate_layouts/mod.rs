//! `propagate-layouts`: moves layout changes through other ops until they cancel.
//!
//! | file | contents |
//! |---|---|
//! | `elementwise.rs` | elementwise ops |
//! | `movement.rs` | ops that move elements along axes |
//! | `reshape.rs` | reshapes |

mod elementwise;
mod movement;
mod reshape;

use super::by_patterns::{ByPatterns, names};
use crate::graph::{self, ReshapeOp, TransposeOp};
use crate::layout::{PackOp, TiledLayout, UnpackOp};
pub(crate) use elementwise::is_elementwise;
use gradus_ir::pass::{FloatChange, Rewrites};
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{Attr, Module, Op, OpDecl, OpInfo, OpState, PassInfo, Pattern, PatternRewriter, Tensor, Type, Value};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "propagate-layouts",
    doc: "Move layout.unpack down through other ops until it meets a layout.pack

# Before / After

```mlir
%0 = layout.unpack %a from <\"NHWC\"> : tensor<1x4x4x8xf32> -> tensor<1x8x4x4xf32>   // becomes:
%1 = graph.relu %0 : tensor<1x8x4x4xf32>                                           //   %1 = graph.relu %a : tensor<1x4x4x8xf32>
%2 = layout.pack %1 into <\"NHWC\"> : tensor<1x8x4x4xf32> -> tensor<1x4x4x8xf32>     //   and %1 in place of %2
```

# Does

An op whose operands are unpacked from one layout is computed on the packed tensors, and its result is unpacked instead: elementwise ops,
with broadcast operands packed; `graph.concat`, `graph.slice`, `graph.pad`, `graph.resize`, `graph.table`, `graph.lrn` and `graph.softmax` along the packed axis; `graph.reshape` that
splits axes or merges adjacent ones; `graph.transpose`, which then moves no element. A `layout.pack` of an unpacked tensor is erased, or
becomes a transposition if the layouts differ; one that moves no element becomes a reshape. Normalization by constants becomes a product
and a sum.

# Refuses

Layouts with padding, whose padding elements would take part in the computation; and layouts with tiles, except for ops whose operands
have the shape of the result.

# Cost

Linear in the number of ops: each unpack moves once per op.",
    rewrites: Rewrites::Names(|_| names(PATTERNS)),
    floats: |_| FloatChange::Reorders,
    statistics: &[("num-changes", "Number of changes")],
    make: |_| Ok(Box::new(ByPatterns(PATTERNS))),
    ..PassInfo::DEFAULT
};

const PATTERNS: &[Pattern] = &[
    Pattern { name: "pack-of-unpack", run: pack_of_unpack },
    Pattern { name: "pack-of-reshape", run: reshape::pack_of_reshape },
    Pattern { name: "pack-in-place", run: reshape::in_place },
    Pattern { name: "elementwise-of-unpack", run: elementwise::of_unpack },
    Pattern { name: "elementwise-of-reshape", run: elementwise::of_reshape },
    Pattern { name: "norm-by-constants", run: elementwise::norm },
    Pattern { name: "concat-of-unpack", run: movement::concat },
    Pattern { name: "slice-of-unpack", run: movement::slice },
    Pattern { name: "pad-of-unpack", run: movement::pad },
    Pattern { name: "resize-of-unpack", run: movement::resize },
    Pattern { name: "table-of-unpack", run: movement::table },
    Pattern { name: "lrn-of-unpack", run: movement::lrn },
    Pattern { name: "softmax-of-unpack", run: movement::softmax },
    Pattern { name: "transpose-of-unpack", run: movement::transpose },
    Pattern { name: "reshape-of-unpack", run: reshape::of_unpack },
];

/// Ops that move elements along axes, and are computed in any layout without tiles.
const MOVEMENT: &[&OpInfo] = &[
    graph::ConcatOp::INFO,
    graph::SliceOp::INFO,
    graph::PadOp::INFO,
    graph::ResizeOp::INFO,
    graph::TableOp::INFO,
    graph::LrnOp::INFO,
    graph::SoftmaxOp::INFO,
];

/// Whether layout changes of an op's operands can be moved to its result.
pub(crate) fn is_free(m: &Module, op: Op) -> bool {
    m.is_one_of(op, MOVEMENT) || is_elementwise(m, op)
}

/// Returns the extents of a value, if static.
fn shape(m: &Module, value: Value) -> Option<&[i64]> {
    m.ctx.static_shape(m.value_type(value))
}

/// Returns the number of elements of a type, if static.
fn elements(m: &Module, ty: Type) -> Option<i64> {
    m.ctx.static_shape(ty)?.iter().try_fold(1_i64, |n, &d| n.checked_mul(d))
}

/// The packed source of a `layout.unpack` without padding.
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

    /// Returns the packed sources of values of one type, if all have the same layout.
    fn all(m: &Module, values: &[Value]) -> Option<Vec<Unpacked>> {
        let all = values.iter().map(|&v| Unpacked::of(m, v)).collect::<Option<Vec<_>>>()?;
        let first = all.first()?;
        all.iter().all(|one| (one.layout, one.axes) == (first.layout, first.axes)).then_some(all)
    }
}

/// The axis letters of a packed tensor and of the plain tensor, in a layout without tiles.
struct Letters {
    packed: Vec<char>,
    plain: Vec<char>,
}

impl Letters {
    fn of(m: &Module, layout: Attr, axes: Attr) -> Option<Letters> {
        let (layout, axes) = (TiledLayout::from_attr(&m.ctx, layout)?, m.ctx.as_str(axes)?);
        let is_plain = layout.levels().len() == axes.len();
        is_plain.then(|| Letters { packed: layout.order().chars().collect(), plain: axes.chars().collect() })
    }

    /// Returns the letters of a `layout.pack` or `layout.unpack`.
    fn of_op(m: &Module, op: Op) -> Option<Letters> {
        let args = m.args(op)?;
        Letters::of(m, args.attr("layout")?, args.attr("axes")?)
    }

    /// Returns the packed axis of a plain axis; negative axes count from the back.
    fn packed_axis(&self, axis: i64) -> Option<i64> {
        let axis = if axis < 0 { axis + self.plain.len() as i64 } else { axis };
        let letter = self.plain.get(usize::try_from(axis).ok()?)?;
        self.packed.iter().position(|other| other == letter).map(|at| at as i64)
    }

    /// Returns the packed extents of plain extents.
    fn packed_extents(&self, plain: &[i64]) -> Option<Vec<i64>> {
        let extent = |letter: &char| plain.get(self.plain.iter().position(|other| other == letter)?).copied();
        self.packed.iter().map(extent).collect()
    }

    /// Returns the attributes for these letters.
    fn attrs(&self, m: &Module) -> Option<[Attr; 2]> {
        let layout: TiledLayout = self.packed.iter().collect::<String>().parse().ok()?;
        Some([layout.to_attr(&m.ctx), m.ctx.string_attr(&self.plain.iter().collect::<String>())])
    }
}

/// Returns a `layout.pack` or `layout.unpack` with these attributes.
fn relayout(m: &Module, info: &OpInfo, [layout, axes]: [Attr; 2], of: Op, x: Value, ty: Type) -> OpState {
    let mut state = OpState::new(&m.ctx, info.name, m.loc(of));
    state.operands.push(x);
    state.inherent(&m.ctx, "layout", Some(layout));
    state.inherent(&m.ctx, "axes", Some(axes));
    state.result_types.push(ty);
    state
}

/// Returns a `layout.unpack` that replaces the result of `of`.
fn unpacking(m: &Module, from: &Unpacked, of: Op, x: Value) -> OpState {
    relayout(m, UnpackOp::INFO, [from.layout, from.axes], of, x, m.value_type(m.result(of, 0)))
}

/// Returns a reshape to type `ty` that replaces the result of `op`.
pub(crate) fn reshaped(r: &mut Rewriter<'_>, op: Op, x: Value, ty: Type) -> Option<OpState> {
    let extents = r.module().ctx.static_shape(ty)?.to_vec();
    let extents = integers(r, op, &extents)?;
    let m = r.module();
    let mut state = OpState::new(&m.ctx, ReshapeOp::INFO.name, m.loc(op));
    state.operands.extend([x, extents]);
    state.result_types.push(ty);
    Some(state)
}

/// Returns a transposition that replaces an op or precedes it.
pub(crate) fn transposition(m: &Module, op: Op, x: Value, perm: &[i64]) -> Option<OpState> {
    let ty = m.value_type(x);
    let shape = m.ctx.static_shape(ty)?;
    let extents: Vec<i64> = perm.iter().map(|&axis| shape.get(axis as usize).copied()).collect::<Option<_>>()?;
    let mut state = OpState::new(&m.ctx, TransposeOp::INFO.name, m.loc(op));
    state.operands.push(x);
    state.inherent(&m.ctx, "perm", Some(m.ctx.i64_array_attr(perm)));
    state.result_types.push(m.ctx.tensor_type(&extents, m.ctx.element_type(ty)));
    Some(state)
}

/// Creates a constant integer vector.
fn integers(r: &mut Rewriter<'_>, op: Op, values: &[i64]) -> Option<Value> {
    let ctx = &r.module().ctx;
    let ty = ctx.tensor_type(&[values.len() as i64], Type::I64);
    let attr = ctx.dense_attr(ty, &Tensor::from_vec(&[values.len()], values.to_vec()));
    r.constant(op, attr, ty)
}

/// Creates an op before another and returns its first result.
pub(crate) fn made(r: &mut Rewriter<'_>, before: Op, state: OpState) -> Option<Value> {
    let made = r.create_before(before, state).ok()?;
    Some(r.module().result(made, 0))
}

fn pack_of_unpack(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(pack) = PackOp::cast(m, op) else { return false };
    let (Some(from), Some(args)) = (Unpacked::of(m, pack.x(m)), m.args(op)) else { return false };
    let (same, result) = ([args.attr("layout"), args.attr("axes")], m.value_type(m.result(op, 0)));
    if same == [Some(from.layout), Some(from.axes)] && m.value_type(from.x) == result {
        r.replace(op, &[from.x]);
        return true;
    }
    let (Some(have), Some(want)) = (Letters::of(m, from.layout, from.axes), Letters::of_op(m, op)) else {
        return false;
    };
    // Both ops have their own letters; an axis of the plain tensor relates them.
    let axis = |&letter: &char| {
        let axis = want.plain.iter().position(|&other| other == letter)?;
        have.packed_axis(axis as i64)
    };
    let Some(perm) = want.packed.iter().map(axis).collect::<Option<Vec<i64>>>() else { return false };
    transposition(m, op, from.x, &perm).is_some_and(|state| r.replace_with(op, state).is_ok())
}
