//! Products by address tables: the tables and the second factor are constants.

use super::narrow::Narrow;
use super::{Kernel, Prepared, constant, extents, position};
use crate::gemm::{Addresses, Isa, Panels, Parts, Product};
use gradus_dialects::layout::absolute;
use gradus_ir::eval::Trap;
use gradus_ir::{Module, OpArgs};

/// Where a product finds its first factor.
pub(super) fn addresses(args: &OpArgs<'_>, parts: Parts) -> Option<Addresses> {
    let offsets = |name| Some(constant(args, name)?.as_slice::<i32>().into_owned());
    if args.opt_operand("bases").is_some() {
        let (bases, run) = (constant(args, "bases")?, usize::try_from(args.int("run")?).ok()?);
        let &[_, runs] = bases.shape() else { return None };
        return Addresses::each(bases.as_slice::<i32>().into_owned(), runs, run, parts).ok();
    }
    let (base, relative) = (offsets("base")?, offsets("relative")?);
    let relative = if args.attr("running").is_some() { absolute(&relative) } else { relative };
    let (starts, run) = runs(&relative);
    Addresses::sums(base, &starts, run, parts).ok()
}

/// `addr.gemm` and `addr.indirect_gemm` of floats. A constant factor is put in the order in which it is read once, others each
/// time.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let kind = Narrow::of(args, 0)?;
    let addresses = addresses(args, Parts::FLOATS)?;
    let (range, b) = (bounds(m, args), position(args, "b")?);
    let extents: [usize; 2] = extents(m, args.operand_type(b))?.try_into().ok()?;
    let (bias, add) = (position(args, "bias"), position(args, "add"));
    let mut reads = vec![0];
    reads.extend(add);
    let known = match (constant(args, "b"), bias.map(|_| constant(args, "bias"))) {
        (Some(b), None) => Some(panels(&kind.floats(b.bytes()), extents, None)?),
        (Some(b), Some(Some(bias))) => {
            Some(panels(&kind.floats(b.bytes()), extents, Some(&kind.floats(bias.bytes())))?)
        }
        _ => None,
    };
    if known.is_none() {
        reads.extend([b].into_iter().chain(bias));
    }
    let kernel = Kernel::new(reads, move |data, out| {
        let mut rest = data[1..].iter().map(|bytes| kind.floats(bytes));
        let add = add.and_then(|_| rest.next());
        let packed;
        let b = match &known {
            Some(panels) => panels,
            None => {
                let b = rest.next().unwrap_or_default();
                let bias = rest.next();
                let made = panels(&b, extents, bias.as_deref());
                packed = made.ok_or_else(|| Trap::unsupported("a factor is too large"))?;
                &packed
            }
        };
        let product = Product { a: &kind.floats(data[0]), addresses: &addresses, b, add: add.as_deref(), range };
        kind.write(out, |c| product.compute(c).map_err(Trap::Ub))
    });
    Some(kernel.into())
}

/// A factor whose rows are columns of the result.
fn panels(values: &[f32], [columns, summands]: [usize; 2], bias: Option<&[f32]>) -> Option<Panels> {
    Panels::new(Isa::best(), [columns, summands], |n, k| values[n * summands + k], bias).ok()
}

/// The least and greatest that results can be.
pub(super) fn bounds(m: &Module, args: &OpArgs<'_>) -> (f32, f32) {
    let bound = |name| args.attr(name).and_then(|a| m.ctx.as_float(a)).map(|value| value as f32);
    (bound("low").unwrap_or(f32::NEG_INFINITY), bound("high").unwrap_or(f32::INFINITY))
}

/// Where runs of offsets begin, each one more than the one before, and how long all are.
fn runs(offsets: &[i32]) -> (Vec<i32>, usize) {
    let ends = |run: &usize| {
        offsets.len().is_multiple_of(*run)
            && offsets.chunks(*run).all(|some| some.windows(2).all(|two| two[0].checked_add(1) == Some(two[1])))
    };
    let first = offsets.windows(2).take_while(|two| two[0].checked_add(1) == Some(two[1])).count() + 1;
    let run = (1..=first).rev().find(ends).unwrap_or(1);
    (offsets.iter().copied().step_by(run).collect(), run)
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_are_as_long_as_can_be() {
        assert_eq!(runs(&[]), (vec![], 1));
        assert_eq!(runs(&[3, 4, 5, 6]), (vec![3], 4));
        assert_eq!(runs(&[0, 1, 4, 5, 8, 9]), (vec![0, 4, 8], 2));
        assert_eq!(runs(&[0, 1, 2, 4, 5, 6, 7, 8]), (vec![0, 1, 2, 4, 5, 6, 7, 8], 1));
        assert_eq!(runs(&[0, 1, 2, 3, 9, 10]), (vec![0, 2, 9], 2));
    }
}
