//! What parallel loops run over.

use gradus_ir::eval::{Datum, Trap};

/// The points of a grid, the last dimension fastest.
pub struct Space {
    pub lower: Vec<i64>,
    pub upper: Vec<i64>,
    pub step: Vec<i64>,
}

impl Space {
    /// Fails for steps that are not positive.
    pub fn new(lower: Vec<i64>, upper: Vec<i64>, step: Vec<i64>) -> Result<Space, Trap> {
        match step.iter().find(|&&s| s <= 0) {
            Some(step) => Err(Trap::Ub(format!("a loop step must be positive, but is {step}"))),
            None => Ok(Space { lower, upper, step }),
        }
    }

    /// The first point, if there is any.
    pub fn first(&self) -> Option<Vec<i64>> {
        let full = self.lower.iter().zip(&self.upper).all(|(lower, upper)| lower < upper);
        full.then(|| self.lower.clone())
    }

    /// The point after `at`.
    pub fn next(&self, at: &[Datum]) -> Result<Option<Vec<i64>>, Trap> {
        let mut point: Vec<i64> = at.iter().map(Datum::int).collect::<Result<_, _>>()?;
        for dim in (0..point.len()).rev() {
            let Some(next) = point[dim].checked_add(self.step[dim]) else {
                return Err(Trap::Ub("the induction variable leaves its type".into()));
            };
            if next < self.upper[dim] {
                point[dim] = next;
                return Ok(Some(point));
            }
            point[dim] = self.lower[dim];
        }
        Ok(None)
    }
}

/// How often a dimension runs, if that is known: exactly for none and one, at least two for more.
pub fn trip_count(lower: Option<i64>, upper: Option<i64>, step: Option<i64>) -> Option<u8> {
    let distance = i128::from(upper?) - i128::from(lower?);
    if distance <= 0 {
        return Some(0);
    }
    let step = i128::from(step.filter(|&s| s > 0)?);
    Some(if step >= distance { 1 } else { 2 })
}
