//! `propagate-layouts`: ops work on tensors in whatever order their elements are.
//!
//! | file | what moves down |
//! |---|---|
//! | `elementwise.rs` | through ops that treat each element by itself |
//! | `movement.rs` | through ops that move elements |
//! | `reshape.rs` | through reshapes |

mod elementwise;
mod movement;
mod reshape;

use crate::by_patterns::ByPatterns;
use gradus_dialects::graph::{ReshapeOp, TransposeOp};
use gradus_dialects::layout::{PackOp, TiledLayout, UnpackOp};
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{Attr, Module, Op, OpDecl, OpInfo, OpState, PassInfo, Pattern, PatternRewriter, Tensor, Type, Value};

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

Lets ops work on packed tensors whose operands are unpacked from one layout, and unpacks the result instead: ops that treat
each element by itself, whose other operands may broadcast; `graph.concat`, `graph.slice`, `graph.pad` and `graph.softmax`, along
the axis that theirs has become; `graph.reshape` that cuts axes or joins such as are side by side; `graph.transpose`, which then moves
nothing. A `layout.pack` of what was unpacked goes, or is a transposition if the layouts differ; one that moves nothing is a
reshape. Normalization by constants becomes a product and a sum.

# Refuses

Layouts in which there is padding, as elements that are none would be computed with; and for all but ops of one shape, layouts
with tiles.

# Cost

Linear in the number of ops: each unpack moves down once for each op.",
    rounds: true,
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
    Pattern { name: "softmax-of-unpack", run: movement::softmax },
    Pattern { name: "transpose-of-unpack", run: movement::transpose },
    Pattern { name: "reshape-of-unpack", run: reshape::of_unpack },
];

/// The extents of a value, if they are known.
fn shape(m: &Module, value: Value) -> Option<&[i64]> {
    m.ctx.static_shape(m.value_type(value))
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

/// The letters of a packed tensor's axes, and those of the tensor's, of a layout without tiles.
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

    /// Those of what a `layout.pack` or `layout.unpack` gives or takes.
    fn of_op(m: &Module, op: Op) -> Option<Letters> {
        let args = m.args(op)?;
        Letters::of(m, args.attr("layout")?, args.attr("axes")?)
    }

    /// Which axis of what is packed is an axis of the tensor; negative ones count from the back.
    fn packed_axis(&self, axis: i64) -> Option<i64> {
        let axis = if axis < 0 { axis + self.plain.len() as i64 } else { axis };
        let letter = self.plain.get(usize::try_from(axis).ok()?)?;
        self.packed.iter().position(|other| other == letter).map(|at| at as i64)
    }

    /// The extents of what is packed, from those of the tensor.
    fn packed_extents(&self, plain: &[i64]) -> Option<Vec<i64>> {
        let extent = |letter: &char| plain.get(self.plain.iter().position(|other| other == letter)?).copied();
        self.packed.iter().map(extent).collect()
    }

    /// The attributes of these letters.
    fn attrs(&self, m: &Module) -> Option<[Attr; 2]> {
        let layout: TiledLayout = self.packed.iter().collect::<String>().parse().ok()?;
        Some([layout.to_attr(&m.ctx), m.ctx.string_attr(&self.plain.iter().collect::<String>())])
    }
}

/// An op that changes the order of elements: `layout.pack` or `layout.unpack` by these attributes.
fn relayout(m: &Module, info: &OpInfo, [layout, axes]: [Attr; 2], of: Op, x: Value, ty: Type) -> OpState {
    let mut state = OpState::new(&m.ctx, info.name, m.loc(of));
    state.operands.push(x);
    state.inherent(&m.ctx, "layout", Some(layout));
    state.inherent(&m.ctx, "axes", Some(axes));
    state.result_types.push(ty);
    state
}

/// Undoes a layout, in place of the one result of an op.
fn unpacking(m: &Module, from: &Unpacked, of: Op, x: Value) -> OpState {
    relayout(m, UnpackOp::INFO, [from.layout, from.axes], of, x, m.value_type(m.result(of, 0)))
}

/// A reshape in place of an op's one result, or of type `ty`.
fn reshaped(r: &mut Rewriter<'_>, op: Op, x: Value, ty: Type) -> Option<OpState> {
    let extents = r.module().ctx.static_shape(ty)?.to_vec();
    let extents = integers(r, op, &extents)?;
    let m = r.module();
    let mut state = OpState::new(&m.ctx, ReshapeOp::INFO.name, m.loc(op));
    state.operands.extend([x, extents]);
    state.result_types.push(ty);
    Some(state)
}

/// A constant vector.
fn integers(r: &mut Rewriter<'_>, op: Op, values: &[i64]) -> Option<Value> {
    let ctx = &r.module().ctx;
    let ty = ctx.tensor_type(&[values.len() as i64], Type::I64);
    let attr = ctx.dense_attr(ty, &Tensor::from_vec(&[values.len()], values.to_vec()));
    r.constant(op, attr, ty)
}

/// The op that a state says, in front of another; its first result.
fn made(r: &mut Rewriter<'_>, before: Op, state: OpState) -> Option<Value> {
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
    // The letters of one are not those of the other, but each stands for an axis of the tensor between them.
    let axis = |&letter: &char| {
        let axis = want.plain.iter().position(|&other| other == letter)?;
        have.packed_axis(axis as i64)
    };
    let Some(perm) = want.packed.iter().map(axis).collect::<Option<Vec<i64>>>() else { return false };
    let mut state = OpState::new(&m.ctx, TransposeOp::INFO.name, m.loc(op));
    state.operands.push(from.x);
    state.inherent(&m.ctx, "perm", Some(m.ctx.i64_array_attr(&perm)));
    state.result_types.push(result);
    r.replace_with(op, state).is_ok()
}
