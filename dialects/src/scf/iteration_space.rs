//! Iteration spaces of parallel loops.

use gradus_ir::control::Next;
use gradus_ir::eval::{Datum, Trap};

/// Maximum absolute value of the bounds of loops of `affine` and of parallel loops. It leaves room for the arithmetic of
/// passes, such as the distance of bounds and rounding to multiples of a factor.
pub(crate) const FURTHEST: u64 = 3 << 60;

/// A grid of iteration points, last dimension fastest.
pub struct IterationSpace {
    pub lower: Vec<i64>,
    pub upper: Vec<i64>,
    pub step: Vec<i64>,
    /// Product of the trip counts before the first empty dimension, if there is one.
    idle: u64,
}

impl IterationSpace {
    /// Creates an iteration space. Undefined behavior: non-positive steps, bounds beyond [`FURTHEST`], and an induction
    /// variable that overflows, as in the equivalent sequential loop nest.
    pub fn new(lower: Vec<i64>, upper: Vec<i64>, step: Vec<i64>) -> Result<IterationSpace, Trap> {
        if let Some(bound) = lower.iter().chain(&upper).find(|bound| bound.unsigned_abs() > FURTHEST) {
            return Err(Trap::Ub(format!("a bound of a parallel loop is {bound}, beyond 3 * 2^60")));
        }
        let bounds = lower.iter().zip(&upper).zip(&step);
        let trips =
            bounds.map(|((&lower, &upper), &step)| trips(lower, upper, step)).collect::<Result<Vec<u64>, _>>()?;
        let around = trips.iter().take_while(|&&n| n > 0).fold(0_u64, |idle, &n| idle.max(1).saturating_mul(n));
        let idle = if trips.contains(&0) { around } else { 0 };
        Ok(IterationSpace { lower, upper, step, idle })
    }

    /// Returns the first control transfer: the body at the first point, or the exit, with other arguments.
    pub fn enter(&self, others: Vec<Datum>) -> Next {
        match self.first() {
            None => Next::Idle(self.idle, others),
            first => IterationSpace::continue_at(first, others),
        }
    }

    /// Returns the control transfer to a point, or the exit.
    pub fn continue_at(at: Option<Vec<i64>>, others: Vec<Datum>) -> Next {
        match at {
            Some(at) => Next::Region(0, at.into_iter().map(Datum::Int).chain(others).collect()),
            None => Next::Done(others),
        }
    }

    /// Returns the first point, if any.
    fn first(&self) -> Option<Vec<i64>> {
        let full = self.lower.iter().zip(&self.upper).all(|(lower, upper)| lower < upper);
        full.then(|| self.lower.clone())
    }

    /// Returns the successor of a point.
    pub fn next(&self, at: &[Datum]) -> Result<Option<Vec<i64>>, Trap> {
        let mut point: Vec<i64> = at.iter().map(Datum::int).collect::<Result<_, _>>()?;
        for dim in (0..point.len()).rev() {
            point[dim] += self.step[dim];
            if point[dim] < self.upper[dim] {
                return Ok(Some(point));
            }
            point[dim] = self.lower[dim];
        }
        Ok(None)
    }
}

/// Returns the trip count of a dimension.
fn trips(lower: i64, upper: i64, step: i64) -> Result<u64, Trap> {
    if step <= 0 {
        return Err(Trap::Ub(format!("a loop step must be positive, but is {step}")));
    }
    if lower >= upper {
        return Ok(0);
    }
    let distance = upper - lower;
    let last = lower + (distance - 1) / step * step;
    match last.checked_add(step) {
        Some(_) => Ok(((distance - 1) / step).unsigned_abs() + 1),
        None => Err(Trap::Ub(format!("the induction variable overflows after {last}"))),
    }
}

/// Returns the trip count if known: 0, 1, or 2 for at least two.
pub fn trip_count(lower: Option<i64>, upper: Option<i64>, step: Option<i64>) -> Option<u8> {
    let distance = i128::from(upper?) - i128::from(lower?);
    if distance <= 0 {
        return Some(0);
    }
    let step = i128::from(step.filter(|&s| s > 0)?);
    Some(if step >= distance { 1 } else { 2 })
}
