//! Folding of concatenations, splits and slices of each other.

use super::args::int;
use super::{ConcatOp, SliceOp, SplitOp, infer};
use gradus_ir::{
    Attr, Def, FoldResult, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Tensor,
    Type, Value,
};
use gradus_reference_kernels::shape::{normalize_axes, normalize_axis, slice_axis};

pub(super) const CONCAT: &[Pattern] = &[Pattern { name: "concat-of-concat", run: |r, op| flatten(r, op).is_some() }];
pub(super) const SLICE: &[Pattern] = &[Pattern { name: "slice-of-concat", run: |r, op| narrow(r, op).is_some() }];

/// A contiguous part of a tensor of static shape: `extent` indices from `start` along an axis, and all along the others.
pub struct TensorSlice {
    /// The tensor.
    pub whole: Value,
    /// The axis.
    pub axis: usize,
    /// First index along the axis.
    pub start: i64,
    /// Number of indices along the axis.
    pub extent: i64,
}

impl TensorSlice {
    /// Returns the part that a split or slice makes; `None` of other values, and of slices with steps or along several axes.
    pub fn of(m: &Module, value: Value) -> Option<TensorSlice> {
        let Def::Result(op, index) = m.def(value) else { return None };
        if SplitOp::cast(m, op).is_some() {
            return m.with_args(op, |args| TensorSlice::of_split(args, index as usize))?;
        }
        let part = TensorSlice::of_slice(&m.args(SliceOp::cast(m, op)?.0)?)?;
        part.has_extents_of(m, m.value_type(value)).then_some(part)
    }

    fn of_split(args: &OpArgs<'_>, index: usize) -> Option<TensorSlice> {
        let whole = args.opt_operand("x")?;
        let axis = axis_of(args, args.ctx().static_shape(args.module.value_type(whole))?.len())?;
        let extent = |ty: &Type| args.ctx().static_shape(*ty)?.get(axis).copied();
        let start = args.result_types.get(..index)?.iter().map(extent).sum::<Option<i64>>()?;
        Some(TensorSlice { whole, axis, start, extent: extent(args.result_types.get(index)?)? })
    }

    fn of_slice(args: &OpArgs<'_>) -> Option<TensorSlice> {
        let whole = args.opt_operand("x")?;
        let dims = args.ctx().static_shape(args.module.value_type(whole))?;
        let list = |name, default| constant_list(args, name, dims.len(), default);
        let (starts, ends) = (list("starts", None)?, list("ends", None)?);
        let axes = list("axes", Some((0..starts.len() as i64).collect()))?;
        let steps = list("steps", Some(vec![1; starts.len()]))?;
        let mut part = TensorSlice { whole, axis: 0, start: 0, extent: *dims.first()? };
        for (i, axis) in normalize_axes(&axes, dims.len()).ok()?.into_iter().enumerate() {
            let extent = usize::try_from(dims[axis]).ok()?;
            let (start, count) = slice_axis(extent, *starts.get(i)?, *ends.get(i)?, *steps.get(i)?).ok()?;
            if count == extent && steps[i] > 0 {
                continue;
            }
            if steps[i] != 1 || !part.is_whole(dims) {
                return None;
            }
            part = TensorSlice { whole, axis, start: start as i64, extent: count as i64 };
        }
        Some(part)
    }

    /// Whether a type has the extents of the part: a slice of other extents than its type is poison.
    fn has_extents_of(&self, m: &Module, ty: Type) -> bool {
        let (whole, part) = (m.ctx.static_shape(m.value_type(self.whole)), m.ctx.static_shape(ty));
        let extent = |(axis, &whole): (usize, &i64)| if axis == self.axis { self.extent } else { whole };
        whole.zip(part).is_some_and(|(whole, part)| whole.iter().enumerate().map(extent).eq(part.iter().copied()))
    }

    fn is_whole(&self, dims: &[i64]) -> bool {
        self.extent == dims[self.axis]
    }

    /// Returns the operand of the concatenation along the axis that contains the part, and the part of this operand.
    fn in_concat(&self, m: &Module) -> Option<TensorSlice> {
        let concat = ConcatOp::defining(m, self.whole)?;
        let args = m.args(concat.0)?;
        let mut first = 0;
        for &whole in args.operands {
            let dims = m.ctx.static_shape(m.value_type(whole))?;
            if axis_of(&args, dims.len())? != self.axis {
                return None;
            }
            let (start, extent) = (self.start - first, dims[self.axis]);
            if (0..extent).contains(&start) && start + self.extent <= extent {
                return Some(TensorSlice { whole, start, ..*self });
            }
            first = first.checked_add(extent)?;
        }
        None
    }
}

/// Returns the elements of a constant operand, at most one per axis, or the default of one that is absent.
fn constant_list(args: &OpArgs<'_>, name: &str, rank: usize, default: Option<Vec<i64>>) -> Option<Vec<i64>> {
    let Some(value) = args.opt_operand(name) else { return default };
    let m = args.module;
    let &[length] = m.ctx.static_shape(m.value_type(value))? else { return None };
    let is_short = usize::try_from(length).is_ok_and(|length| length <= rank);
    if is_short { infer::attr_tensor(m, m.constant(value)?)?.to_i64() } else { None }
}

/// Returns the axis of an op on tensors of rank `rank`.
fn axis_of(args: &OpArgs<'_>, rank: usize) -> Option<usize> {
    normalize_axis(int(args, "axis").ok()?, rank).ok()
}

/// Folds the concatenation of one tensor, and of all parts of a tensor in their order.
pub(super) fn fold_concat(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    if let &[x] = args.operands {
        return super::same_as(args, x);
    }
    let mut end = 0;
    let mut whole = None;
    for &value in args.operands {
        let part = TensorSlice::of(args.module, value)?;
        let dims = args.ctx().static_shape(args.module.value_type(part.whole))?;
        let follows = part.start == end && whole.is_none_or(|whole| whole == part.whole);
        if !follows || axis_of(args, dims.len())? != part.axis {
            return None;
        }
        end += part.extent;
        whole = Some(part.whole);
    }
    super::same_as(args, whole?)
}

/// Folds the split into one part, and into the operands of a concatenation.
pub(super) fn fold_split(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let (m, x) = (args.module, args.opt_operand("x")?);
    if let Some(folded) = super::same_as(args, x) {
        return Some(folded);
    }
    let concat = m.args(ConcatOp::defining(m, x)?.0)?;
    let rank = m.ctx.static_shape(m.value_type(x))?.len();
    let is_static = |ty: &Type| m.ctx.static_shape(*ty).is_some();
    let types = concat.operands.iter().map(|&value| m.value_type(value));
    let same = types.eq(args.result_types.iter().copied()) && args.result_types.iter().all(is_static);
    (same && axis_of(args, rank)? == axis_of(&concat, rank)?)
        .then(|| Folded::Results(concat.operands.iter().map(|&value| FoldResult::Value(value)).collect()))
}

/// Folds the slice of a whole tensor, and of one operand of a concatenation.
pub(super) fn fold_slice(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let part = TensorSlice::of_slice(args)?;
    let dims = |part: &TensorSlice| args.ctx().static_shape(args.module.value_type(part.whole));
    if part.is_whole(dims(&part)?) {
        return super::same_as(args, part.whole);
    }
    let inner = part.in_concat(args.module)?;
    if inner.is_whole(dims(&inner)?) { super::same_as(args, inner.whole) } else { None }
}

/// Replaces the operands of a concatenation that are themselves concatenations along the axis, without other uses, by
/// their operands.
fn flatten(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let axis = m.args(op)?.int("axis")?;
    let inner = |value: Value| {
        let concat = ConcatOp::defining(m, value).filter(|_| m.has_one_use(value))?;
        (m.args(concat.0)?.int("axis")? == axis).then(|| m.operands(concat.0))
    };
    let operands = m.operands(op);
    if !operands.iter().any(|&value| inner(value).is_some()) {
        return None;
    }
    let mut state = OpState::like(m, op);
    for &value in operands {
        state.operands.extend_from_slice(inner(value).unwrap_or(&[value]));
    }
    replace(r, op, state)
}

/// Slices the operand of a concatenation that contains the slice.
fn narrow(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let part = TensorSlice::of_slice(&m.args(op)?)?.in_concat(m)?;
    let bounds = [part.start, part.start + part.extent, part.axis as i64].map(|number| {
        let ty = m.ctx.tensor_type(&[1], Type::I64);
        (m.ctx.dense_attr(ty, &Tensor::from_vec(&[1], vec![number])), ty)
    });
    let mut state = OpState::new(&m.ctx, SliceOp::INFO.name, m.loc(op));
    state.operand_group(&[part.whole]);
    for (attr, ty) in bounds {
        state.operand_group(&[r.constant(op, attr, ty)?]);
    }
    state.operand_group(&[]);
    replace(r, op, state)
}

/// Replaces an op of one result by one of the same type.
pub(super) fn replace(r: &mut Rewriter<'_>, op: Op, mut state: OpState) -> Option<()> {
    let m = r.module();
    state.result_types.push(m.value_type(m.result(op, 0)));
    let new = r.create_before(op, state).ok()?;
    let result = r.module().result(new, 0);
    r.replace(op, &[result]);
    Some(())
}
