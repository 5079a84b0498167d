//! Canonicalization of `tensor.pad`.

use super::{PadOp, margins, only_computes, padded_type, padding_value};
use crate::tensor::cast::{before_cast, cast_before};
use crate::tensor::generate::replace_with_body;
use crate::tensor::types::{keeps_extents, shape};
use crate::tensor::{CastOp, ExtractSliceOp};
use crate::views::{Mixed, Slice, add_mixed, constant_entry, is_constant};
use gradus_ir::{
    Attr, Context, DYNAMIC, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Type,
    Value,
};

pub(super) const PATTERNS: &[Pattern] = &[
    Pattern { name: "empty margins", run: empty_margins },
    Pattern { name: "pad of cast", run: pad_of_cast },
    Pattern { name: "cast of pad", run: cast_of_pad },
    Pattern { name: "constant margins", run: constant_margins },
    Pattern { name: "pads in a row", run: pads_in_a_row },
    Pattern { name: "orthogonal pads of slices", run: orthogonal_pads },
];

/// Makes dynamic padding that keeps a static shape zero; nonzero padding would contradict the type.
pub(super) fn fold_pad(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let ty = args.operand_type(0);
    let same = args.result_types == [ty] && args.ctx().static_shape(ty).is_some();
    (same && args.attr("nofold").is_none()).then(|| args.operands[0].into())
}

/// Returns the state of a new pad op, which takes the region of an existing one.
fn pad(m: &Module, at: PadOp, source: Value, margins: &[Vec<Mixed>; 2], ty: Type) -> OpState {
    let ctx = &m.ctx;
    let mut state = OpState::new(ctx, PadOp::INFO.name, m.loc(at.0));
    state.operand_group(&[source]);
    add_mixed(ctx, &mut state, "static_low", &margins[0]);
    add_mixed(ctx, &mut state, "static_high", &margins[1]);
    state.inherent(ctx, "nofold", at.nofold(m));
    state.result_types.push(ty);
    state
}

fn margins_of(m: &Module, op: PadOp) -> Option<[Vec<Mixed>; 2]> {
    m.args(op.0).map(|args| margins(&args))
}

fn result_type(m: &Module, op: PadOp) -> Type {
    m.value_type(op.result(m))
}

/// Replaces empty padding by a cast.
fn empty_margins(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let pad = PadOp(op);
    let Some([low, high]) = margins_of(m, pad) else { return false };
    if pad.nofold(m).is_some() || !is_constant(m, &low, 0) || !is_constant(m, &high, 0) {
        return false;
    }
    let (source, ty) = (pad.source(m), result_type(m, pad));
    let Some(value) = cast_before(r, op, source, ty) else { return false };
    r.replace(op, &[value]);
    true
}

/// Pads the source of a cast that loses static extents.
fn pad_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let this = PadOp(op);
    let Some(source) = before_cast(m, this.source(m)) else { return false };
    let Some(margins) = margins_of(m, this) else { return false };
    let Some(ty) = known_type(m, this, source, &margins) else { return false };
    let state = pad(m, this, source, &margins, ty);
    let region = this.region(m);
    replace_with_body(r, op, state, region)
}

/// Returns the most specific result type, from the op's type and the padding.
fn known_type(m: &Module, op: PadOp, source: Value, margins: &[Vec<Mixed>; 2]) -> Option<Type> {
    let padded = padded_type(&m.ctx, m.value_type(source), margins)?;
    let old = result_type(m, op);
    crate::tensor::types::join(&m.ctx, old, padded)?;
    let extents = shape(&m.ctx, old).iter().zip(shape(&m.ctx, padded)).map(|(&a, &b)| if a == DYNAMIC { b } else { a });
    Some(crate::tensor::types::with_shape(&m.ctx, old, &extents.collect::<Vec<_>>()))
}

/// Propagates the static extents of a cast, the only use, into the op. A mismatch is then undefined behavior before the
/// region runs.
fn cast_of_pad(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let this = PadOp(op);
    let result = this.result(m);
    let user = m.uses(result).next().map(|(user, _)| user).filter(|_| m.has_one_use(result));
    let Some(cast) = user.and_then(|user| CastOp::cast(m, user)) else { return false };
    let ty = m.value_type(cast.dest(m));
    let Some(margins) = margins_of(m, this) else { return false };
    let padded = padded_type(&m.ctx, m.value_type(this.source(m)), &margins);
    let valid = padded.is_some_and(|padded| keeps_extents(&m.ctx, padded, ty)) && only_computes(m, this.region(m));
    if !keeps_extents(&m.ctx, result_type(m, this), ty) || !valid {
        return false;
    }
    let mut state = pad(m, this, this.source(m), &margins, ty);
    state.regions = 1;
    let region = this.region(m);
    let Ok(new) = r.create_before(op, state) else { return false };
    r.modify(new, |m| m.move_blocks(region, m.regions(new)[0]));
    let value = r.module().result(new, 0);
    r.replace(cast.0, &[value]);
    r.erase(op);
    true
}

/// Makes constant padding static, and the result type accordingly.
fn constant_margins(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let this = PadOp(op);
    let Some(mut margins) = margins_of(m, this) else { return false };
    for entry in margins.iter_mut().flatten() {
        if let Some(n) = constant_entry(m, *entry).filter(|n| *n != DYNAMIC) {
            *entry = Mixed::Static(n);
        }
    }
    let Some(ty) = known_type(m, this, this.source(m), &margins) else { return false };
    if ty == result_type(m, this) {
        return false;
    }
    let state = pad(m, this, this.source(m), &margins, ty);
    let region = this.region(m);
    replace_with_body(r, op, state, region)
}

/// Merges nested padding with the same value.
fn pads_in_a_row(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let this = PadOp(op);
    let Some(first) = PadOp::defining(m, this.source(m)) else { return false };
    let value = padding_value(m, this.region(m));
    if this.nofold(m).is_some() || first.nofold(m).is_some() || value.is_none() {
        return false;
    }
    if padding_value(m, first.region(m)) != value {
        return false;
    }
    let (Some(outer), Some(inner)) = (margins_of(m, this), margins_of(m, first)) else { return false };
    // Cropping by one op and padding by the other do not cancel.
    let all = outer.iter().chain(&inner).flatten();
    if all.clone().any(|e| matches!(e, Mixed::Static(..0))) {
        return false;
    }
    let (source, ty, region) = (first.source(m), result_type(m, this), this.region(m));
    let mut sums = [Vec::new(), Vec::new()];
    for (sums, (a, b)) in sums.iter_mut().zip(outer.iter().zip(&inner)) {
        for (&a, &b) in a.iter().zip(b) {
            let Some(sum) = sum(r, op, a, b) else { return false };
            sums.push(sum);
        }
    }
    let state = pad(r.module(), this, source, &sums, ty);
    replace_with_body(r, op, state, region)
}

fn sum(r: &mut Rewriter<'_>, op: Op, a: Mixed, b: Mixed) -> Option<Mixed> {
    let (a, b) = match (a, b) {
        (Mixed::Static(0), other) | (other, Mixed::Static(0)) => return Some(other),
        (Mixed::Static(a), Mixed::Static(b)) => return a.checked_add(b).map(Mixed::Static),
        (first @ Mixed::Static(_), second) => (second, first),
        both => both,
    };
    let a = value(r, op, a)?;
    let b = value(r, op, b)?;
    let m = r.module();
    let mut state = OpState::new(&m.ctx, crate::arith::AddIOp::INFO.name, m.loc(op));
    state.operand_group(&[a, b]);
    let sum = r.create_before(op, state).ok()?;
    Some(Mixed::Dynamic(r.module().result(sum, 0)))
}

fn value(r: &mut Rewriter<'_>, op: Op, entry: Mixed) -> Option<Value> {
    match entry {
        Mixed::Dynamic(value) => Some(value),
        Mixed::Static(n) => {
            let attr = r.module().ctx.int_attr(Type::INDEX, n);
            r.constant(op, attr, Type::INDEX)
        }
    }
}

/// Merges slice, pad, slice, pad of disjoint dimensions into one slice and one pad.
fn orthogonal_pads(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let last = PadOp(op);
    let Some(chain) = Chain::of(m, last) else { return false };
    let Some((slice, high)) = chain.combined(m) else { return false };
    let low = vec![Mixed::Static(0); high.len()];
    let (ty, region) = (result_type(m, last), last.region(m));
    let mut state = OpState::new(&m.ctx, ExtractSliceOp::INFO.name, m.loc(op));
    state.operand_group(&[chain.source]);
    slice.add_to(&m.ctx, &mut state);
    state.result_types.push(part(&m.ctx, m.value_type(chain.source), &slice));
    let Ok(slice) = r.create_before(op, state) else { return false };
    let source = r.module().result(slice, 0);
    let state = pad(r.module(), last, source, &[low, high], ty);
    replace_with_body(r, op, state, region)
}

fn part(ctx: &Context, whole: Type, slice: &Slice) -> Type {
    crate::tensor::types::with_shape(ctx, whole, &slice.statics()[1])
}

/// A chain of slice, pad, slice, pad: source of the first slice, slices, high padding after each, and intermediate
/// shape.
struct Chain<'m> {
    source: Value,
    slices: [Slice; 2],
    high: [Vec<Mixed>; 2],
    between: &'m [i64],
}

impl<'m> Chain<'m> {
    fn of(m: &'m Module, last: PadOp) -> Option<Chain<'m>> {
        let slice_of = |pad: PadOp| ExtractSliceOp::defining(m, pad.source(m));
        let second = slice_of(last)?;
        let first_pad = PadOp::defining(m, second.source(m)).filter(|p| p.nofold(m).is_none())?;
        let first = slice_of(first_pad)?;
        let value = padding_value(m, last.region(m))?;
        if padding_value(m, first_pad.region(m)) != Some(value) {
            return None;
        }
        let rank = |v: Value| shape(&m.ctx, m.value_type(v)).len();
        let full = |s: ExtractSliceOp| rank(s.source(m)) == rank(s.result(m));
        let slices = [Slice::of(&m.args(first.0)?), Slice::of(&m.args(second.0)?)];
        let ([low1, high1], [low2, high2]) = (margins_of(m, first_pad)?, margins_of(m, last)?);
        let plain = slices.iter().all(|s| is_constant(m, &s.strides, 1))
            && is_constant(m, &low1, 0)
            && is_constant(m, &low2, 0)
            && full(first)
            && full(second);
        let between = shape(&m.ctx, m.value_type(second.source(m)));
        plain.then(|| Chain { source: first.source(m), slices, high: [high1, high2], between })
    }

    /// Returns the merged slice and high padding.
    fn combined(&self, m: &Module) -> Option<(Slice, Vec<Mixed>)> {
        let [first, second] = &self.slices;
        let (mut slice, mut high) = (second.clone(), self.high[1].clone());
        let is_zero = |entry: Mixed| constant_entry(m, entry) == Some(0);
        for (dim, high) in high.iter_mut().enumerate() {
            let padded = [!is_zero(self.high[0][dim]), !is_zero(self.high[1][dim])];
            slice.offsets[dim] = match padded {
                [true, true] => return None,
                [_, false] if is_zero(second.offsets[dim]) => first.offsets[dim],
                [false, _] if is_zero(first.offsets[dim]) => second.offsets[dim],
                _ => return None,
            };
            if padded[0] {
                if constant_entry(m, second.sizes[dim]) != Some(self.between[dim]) {
                    return None;
                }
                slice.sizes[dim] = first.sizes[dim];
                *high = self.high[0][dim];
            }
        }
        Some((slice, high))
    }
}
