//! Expansion of linearized indices to arithmetic.

use super::arithmetic::{ArithmeticBuilder, NSW, NSW_NUW, emit};
use gradus_dialects::affine::{DelinearizeIndexOp, LinearizeIndexOp};
use gradus_dialects::views::{Mixed, fold_entries};
use gradus_ir::control::is_loop;
use gradus_ir::conversion::{ConversionRewriter, Match};
use gradus_ir::{Module, Op, PatternRewriter, Value};

/// Returns the products of each size and the following ones.
fn strides(e: &mut ArithmeticBuilder<'_, '_>, basis: &[Mixed], promise: &'static str) -> Vec<Value> {
    let (mut dynamic, mut fixed) = (None, 1i64);
    let mut strides = Vec::new();
    for size in basis.iter().rev() {
        match (*size, dynamic) {
            (Mixed::Static(n), _) => fixed = fixed.wrapping_mul(n),
            (Mixed::Dynamic(value), None) => dynamic = Some(value),
            (Mixed::Dynamic(value), Some(product)) => dynamic = Some(e.mul(product, value, promise)),
        }
        strides.push(match dynamic {
            Some(product) if fixed == 1 => product,
            Some(product) => {
                let fixed = e.index(fixed);
                e.mul(product, fixed, promise)
            }
            None => e.index(fixed),
        });
    }
    strides.reverse();
    strides
}

/// Returns the sizes, constants as numbers, without the first dimension, which does not contribute.
fn inner_sizes(m: &Module, mut basis: Vec<Mixed>, indices: usize) -> Vec<Mixed> {
    fold_entries(m, &mut basis, false);
    basis.drain(..usize::from(basis.len() == indices && indices > 0));
    basis
}

pub(super) fn lower_delinearize(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (DelinearizeIndexOp(op), r.module());
    let (position, n) = (this.linear_index(m), m.num_results(op));
    let basis = inner_sizes(m, this.basis(m), n);
    if n <= 1 {
        r.replace(op, &[position][..n]);
        return Ok(());
    }
    let indices = emit(r, op, |e| {
        let strides = strides(e, &basis, NSW_NUW);
        let zero = e.index(0);
        let mut indices = vec![e.floor_div_op(position, strides[0])];
        for (i, &stride) in strides.iter().enumerate() {
            let rest = e.rem(position, stride);
            let negative = e.less(rest, zero);
            let corrected = e.add(rest, stride, NSW);
            let rest = e.select(negative, corrected, rest);
            indices.push(match strides.get(i + 1) {
                Some(&next) => e.div(rest, next),
                None => rest,
            });
        }
        indices
    });
    r.replace(op, &indices);
    Ok(())
}

pub(super) fn lower_linearize(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (LinearizeIndexOp(op), r.module());
    let indices = this.multi_index(m);
    let basis = inner_sizes(m, this.basis(m), indices.len());
    let promise = if this.is_disjoint(m) { NSW_NUW } else { NSW };
    let outside: Vec<usize> = indices.iter().map(|&index| loops_outside(m, op, index)).collect();
    let sum = emit(r, op, |e| {
        let strides = strides(e, &basis, promise);
        let mut terms = Vec::new();
        for (i, (&index, &loops)) in indices.iter().zip(&outside).enumerate() {
            let scaled = match strides.get(i) {
                Some(&stride) => e.mul(index, stride, NSW),
                None => index,
            };
            terms.push((loops, scaled));
        }
        // Terms that are invariant in the most loops are added first, so that their sum can be hoisted.
        terms.sort_by_key(|&(loops, _)| std::cmp::Reverse(loops));
        let sum = terms.into_iter().map(|(_, term)| term).reduce(|a, b| e.add(a, b, NSW));
        sum.unwrap_or_else(|| e.index(0))
    });
    r.replace(op, &[sum]);
    Ok(())
}

/// Returns the number of enclosing loops, from the innermost, in which the value is invariant.
fn loops_outside(m: &Module, op: Op, value: Value) -> usize {
    let mut count = 0;
    let mut at = op;
    while let Some(parent) = m.parent_op(at) {
        let region = m.parent_block(at).and_then(|b| m.parent_region(b));
        let i = m.regions(parent).iter().position(|&r| Some(r) == region);
        if i.is_some_and(|i| is_loop(m, parent, i)) {
            let home = m.def_block(value).and_then(|b| m.block_op(b));
            if home.is_some_and(|home| home == parent || m.is_inside(home, parent)) {
                break;
            }
            count += 1;
        }
        at = parent;
    }
    count
}
