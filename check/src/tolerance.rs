//! Tolerances of floats, relative to the magnitudes of the numbers that they are computed from.
//!
//! The magnitude of a result is its own, or the change that a relative perturbation of the inputs or of the operands of all ops
//! causes, divided by the perturbation: a small difference of large numbers has their magnitude.

use crate::narrowing::Narrowing;

/// Factor by which rounding errors may exceed those of the original or of perturbed runs.
const SLACK: f64 = 8.0;

/// Largest part of a magnitude that a bound of the errors of narrower ops may be; measured errors may be larger.
const MAX_NARROWING: f64 = 0.5;

/// Floats by place: results, memory, globals and the arguments of external calls.
pub(crate) type Places = Vec<Vec<Option<f64>>>;

/// The numbers of one place, and how they change.
pub(crate) struct Numbers<'a> {
    /// The correct numbers.
    pub(crate) want: &'a [Option<f64>],
    /// The largest change of each under perturbations of the inputs.
    pub(crate) changes: &'a [f64],
    /// The largest change of each under perturbations of the operands of ops.
    pub(crate) spread: &'a [f64],
    /// The relative size of the perturbations.
    pub(crate) by: f64,
    /// Whether the correct numbers are rounded themselves: their errors are not known, and may be those that perturbed operands cause.
    pub(crate) are_rounded: bool,
}

impl Numbers<'_> {
    /// Returns the magnitude of each number: where no perturbation changes any, the largest one.
    pub(crate) fn magnitudes(&self) -> Vec<f64> {
        let is_fixed = self.changes.iter().chain(self.spread).all(|&change| change == 0.0);
        let magnitude = |i: usize| match is_fixed {
            true => largest(self.want),
            false => self.want[i].map_or(0.0, f64::abs).max(self.changes[i].max(self.spread[i]) / self.by),
        };
        (0..self.want.len()).map(magnitude).collect()
    }

    /// Returns the tolerance of each number, given the numbers of runs that round, and what narrower ops lose.
    pub(crate) fn tolerances(&self, rounded: &[&[Option<f64>]], narrowing: Narrowing) -> Vec<f64> {
        let magnitudes = self.magnitudes();
        let mut errors = vec![0.0; self.want.len()];
        for run in rounded {
            for ((error, have), want) in errors.iter_mut().zip(*run).zip(self.want) {
                *error = f64::max(*error, error_of(*have, *want));
            }
        }
        let relative = errors.iter().zip(&magnitudes).filter(|(error, size)| error.is_finite() && **size > 0.0);
        let relative = relative.map(|(error, size)| error / size).fold(0.0, f64::max);
        let narrow = (SLACK * narrowing.relative).min(MAX_NARROWING);
        let tolerance = |i: usize| {
            let (size, want) = (magnitudes[i], self.want[i].map_or(0.0, f64::abs));
            let measured = SLACK * errors[i].max(relative * size) + self.by * want;
            let unknown = if self.are_rounded { self.spread[i] } else { 0.0 };
            let bound = measured.max(SLACK * self.changes[i]).max(unknown) + narrow * size + narrowing.absolute;
            // The narrower type may not hold what is infinite in `f64`.
            if bound.is_nan() { f64::INFINITY } else { bound }
        };
        (0..errors.len()).map(tolerance).collect()
    }

    /// Whether each number that is known without narrower ops, and at least one, is zero: nothing is left that could be compared.
    pub(crate) fn vanishes(&self, have: &[Option<f64>], known: &[f64]) -> bool {
        let mut known = self
            .want
            .iter()
            .zip(have)
            .zip(known)
            .filter(|((want, _), tolerance)| want.is_some_and(|want| want.is_finite() && want.abs() > **tolerance));
        let mut rest = known.by_ref().map(|((_, have), _)| *have == Some(0.0)).peekable();
        rest.peek().is_some() && rest.all(|is_zero| is_zero)
    }
}

/// Returns the error of a number; infinite if only the correct one is a number.
fn error_of(have: Option<f64>, want: Option<f64>) -> f64 {
    match have.zip(want) {
        Some((have, want)) if have.is_nan() && want.is_finite() => f64::INFINITY,
        Some((have, want)) => (have - want).abs(),
        None => 0.0,
    }
}

/// Returns the largest absolute value of finite numbers.
pub(crate) fn largest(place: &[Option<f64>]) -> f64 {
    place.iter().flatten().filter(|value| value.is_finite()).fold(0.0, |most: f64, value| most.max(value.abs()))
}
