//! Ops that need no computation where buffers have views: reshapes, contiguous slices and parts, concatenations.

use gradus_dialects::op_cost::OpCost;
use gradus_ir::layout::StridedLayout;
use gradus_ir::{Module, Op, OpArgs, OpDecl, Value};
use gradus_networks::graph::{ConcatOp, SliceOp, SplitOp};
use gradus_reference_kernels::shape::{normalize_axes, normalize_axis, slice_axis};

/// Returns the offset in elements of each result in the operand, if the results are contiguous in it.
pub(super) fn offsets(m: &Module, op: Op) -> Option<Vec<i64>> {
    if SliceOp::cast(m, op).is_some() {
        return m.with_args(op, slice_offset)?.map(|offset| vec![offset]);
    }
    let elements = |v: Value| m.ctx.static_shape(m.value_type(v)).map(|s| s.iter().product::<i64>());
    // The extents of a tensor cost as much as a view of it, but are other elements.
    let has_elements = m.info(op).is_some_and(|info| !info.moves.is_empty() || info.is_elementwise());
    if OpCost::of(m, op) != OpCost::View || !has_elements {
        return None;
    }
    let mut next = 0;
    let mut all = Vec::new();
    for result in m.results(op) {
        all.push(next);
        next += elements(result)?;
    }
    let is_whole = elements(*m.operands(op).first()?) == Some(next);
    (is_whole && (all.len() == 1 || SplitOp::cast(m, op).is_some())).then_some(all)
}

/// Returns the first element of a slice with constant bounds that is contiguous in the operand.
fn slice_offset(args: &OpArgs<'_>) -> Option<i64> {
    let (m, ctx) = (args.module, args.ctx());
    let from = ctx.static_shape(args.operand_type(0))?;
    let to = ctx.static_shape(*args.result_types.first()?)?;
    let list = |name: &str| ctx.dense_tensor(m.constant(args.opt_operand(name)?)?)?.to_i64();
    let given =
        |name: &str, default: Vec<i64>| if args.opt_operand(name).is_some() { list(name) } else { Some(default) };
    let (starts, ends) = (list("starts")?, list("ends")?);
    let axes = normalize_axes(&given("axes", (0..starts.len() as i64).collect())?, from.len()).ok()?;
    let steps = given("steps", vec![1; starts.len()])?;
    let mut layout = StridedLayout::row_major(from);
    for (i, &axis) in axes.iter().enumerate() {
        let step = *steps.get(i)?;
        let extent = usize::try_from(from[axis]).ok()?;
        let (first, count) = slice_axis(extent, *starts.get(i)?, *ends.get(i)?, step).ok()?;
        // A slice of other extents than its type is poison.
        (usize::try_from(to[axis]) == Ok(count)).then_some(())?;
        layout.offset += first as i64 * layout.strides[axis];
        layout.strides[axis] = layout.strides[axis].checked_mul(step)?;
    }
    let row_major = StridedLayout::row_major(to);
    let strides = layout.strides.iter().zip(&row_major.strides).zip(to);
    let is_contiguous = strides.into_iter().all(|((have, want), &extent)| extent == 1 || have == want);
    (is_contiguous && !to.contains(&0)).then_some(layout.offset)
}

/// A part of a concatenation, in elements: runs of `count` elements at the distance `period`, from `first` on.
#[derive(Clone, Copy)]
pub(super) struct ConcatSlice {
    pub value: Value,
    first: i64,
    count: i64,
    period: i64,
}

impl ConcatSlice {
    /// Returns the parts of a concatenation.
    pub(super) fn all(m: &Module, op: Op) -> Option<Vec<ConcatSlice>> {
        ConcatOp::cast(m, op)?;
        let shape = m.ctx.static_shape(m.value_type(m.result(op, 0)))?;
        let axis = m.inherent_attr(op, "axis").and_then(|a| m.ctx.as_int(a))?;
        let axis = normalize_axis(axis, shape.len()).ok()?;
        let inner: i64 = shape[axis + 1..].iter().product();
        let (mut first, mut parts) = (0, Vec::new());
        for &value in m.operands(op) {
            let count = m.ctx.static_shape(m.value_type(value))?[axis] * inner;
            parts.push(ConcatSlice { value, first, count, period: shape[axis] * inner });
            first += count;
        }
        Some(parts)
    }

    /// Returns the layout of the part in the result, for the elements of this shape in row-major order, if it is
    /// strided.
    pub(super) fn layout(self, shape: &[i64]) -> Option<StridedLayout> {
        let mut layout = StridedLayout::row_major(shape);
        layout.offset = self.first;
        let elements: i64 = shape.iter().product();
        if self.count == elements {
            return Some(layout);
        }
        // The dimensions within a run keep their strides; those outside count runs.
        for (i, stride) in layout.strides.iter_mut().enumerate() {
            if shape[i] == 1 {
                continue;
            }
            if *stride >= self.count {
                (*stride % self.count == 0).then_some(())?;
                *stride = *stride / self.count * self.period;
            } else {
                (*stride * shape[i] <= self.count).then_some(())?;
            }
        }
        Some(layout)
    }
}
