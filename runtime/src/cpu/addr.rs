//! Products by address tables: the tables and the second factor are constants.

use super::buffers::Buffers;
use super::{Run, constant};
use crate::gemm::{Addresses, Isa, Panels, Parts, Product};
use gradus_dialects::layout::absolute;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DType, Module, OpArgs};

/// `addr.gemm` and `addr.indirect_gemm` of floats.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Run> {
    let factor = Factor::of(m, args)?;
    let addresses = addresses(m, args, Parts::FLOATS)?;
    Some(Box::new(move |data, buffers| factor.compute(data, buffers, &addresses)))
}

/// Where a product finds its first factor.
pub(super) fn addresses(m: &Module, args: &OpArgs<'_>, parts: Parts) -> Option<Addresses> {
    let offsets = |name| Some(constant(m, args, name)?.as_slice::<i32>().into_owned());
    if args.opt_operand("bases").is_some() {
        let (bases, run) = (constant(m, args, "bases")?, usize::try_from(args.int("run")?).ok()?);
        let &[_, runs] = bases.shape() else { return None };
        return Addresses::each(bases.as_slice::<i32>().into_owned(), runs, run, parts).ok();
    }
    let (base, relative) = (offsets("base")?, offsets("relative")?);
    let relative = if args.attr("running").is_some() { absolute(&relative) } else { relative };
    let (starts, run) = runs(&relative);
    Addresses::sums(base, &starts, run, parts).ok()
}

/// What is the same each time.
struct Factor {
    panels: Panels,
    /// Whether the last operand is added.
    adds: bool,
    range: (f32, f32),
}

impl Factor {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<Factor> {
        let b = constant(m, args, "b").filter(|b| b.dtype() == DType::F32)?;
        let &[columns, summands] = b.shape() else { return None };
        let bias = match args.opt_operand("bias") {
            Some(_) => Some(constant(m, args, "bias").filter(|bias| bias.dtype() == DType::F32)?),
            None => None,
        };
        let values = b.as_slice::<f32>();
        let at = |n: usize, k: usize| values[n * summands + k];
        let bias = bias.as_ref().map(|bias| bias.as_slice::<f32>());
        let panels = Panels::new(Isa::best(), [columns, summands], at, bias.as_deref()).ok()?;
        Some(Factor { panels, adds: args.opt_operand("add").is_some(), range: bounds(m, args) })
    }

    fn compute(&self, data: &[Datum], buffers: &Buffers, addresses: &Addresses) -> Result<Vec<Datum>, Trap> {
        let a = data[0].tensor()?.as_slice::<f32>();
        let add = if self.adds { Some(data[data.len() - 1].tensor()?.as_slice::<f32>()) } else { None };
        let (rows, columns) = (addresses.rows(), self.panels.columns());
        let mut c = buffers.take(rows * columns);
        let product = Product { a: &a, addresses, b: &self.panels, add: add.as_deref(), range: self.range };
        product.compute(&mut c).map_err(Trap::Ub)?;
        Ok(vec![Datum::Tensor(buffers.tensor(&[rows, columns], c)?)])
    }
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
