//! Tiling of nests of `affine.for`.

use super::ForOp;
use super::applied::Applied;
use crate::loops::CountedLoop;
use gradus_ir::affine::AffineMap;
use gradus_ir::{Builder, InsertPoint, Module, OpDecl, Value};

/// The loop and those inside it, as long as each holds nothing but the next.
pub fn perfect_nest(m: &Module, root: ForOp) -> Vec<ForOp> {
    let mut nest = vec![root];
    let inner = |this: ForOp| {
        let first = m.first_op(this.body(m))?;
        let is_all = m.next_op(first).is_some_and(|end| m.next_op(end).is_none());
        ForOp::cast(m, first).filter(|_| is_all)
    };
    while let Some(next) = inner(nest[nest.len() - 1]) {
        nest.push(next);
    }
    nest
}

/// Divides the iterations of a perfect nest into boxes of `sizes` iterations: loops over the boxes, and inside all of them
/// loops over a box. Says whether it did: loops that carry values, bounds that depend on the loops around them, and steps
/// that become too large are left alone. Whether the order may change is the caller's business.
pub fn tile(m: &mut Module, nest: &[ForOp], sizes: &[u32]) -> bool {
    let Some(shape) = nest.iter().zip(sizes).map(|(&this, &size)| Shape::of(m, this, size)).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let vars: Vec<Value> = nest.iter().map(|&this| induction_var(m, this)).collect();
    let around = shape.iter().flat_map(|s| s.bounds.iter().flat_map(|b| &b.operands));
    if around.into_iter().any(|operand| vars.contains(operand)) || nest.iter().any(|l| m.num_results(l.0) > 0) {
        return false;
    }
    let (root, loc) = (nest[0].0, m.loc(nest[0].0));
    let mut at = InsertPoint::Before(root);
    let mut tiles = Vec::new();
    for s in &shape {
        let made = ForOp::with_bounds(&mut Builder::at(m, at), loc, &s.bounds, s.step * i64::from(s.size));
        at = InsertPoint::Start(made.body(m));
        tiles.push(induction_var(m, made));
    }
    for ((s, &tile), &var) in shape.iter().zip(&tiles).zip(&vars) {
        let made = ForOp::with_bounds(&mut Builder::at(m, at), loc, &s.inside(tile), s.step);
        at = InsertPoint::Start(made.body(m));
        let new = induction_var(m, made);
        m.replace_all_uses(var, new);
    }
    let body = nest[nest.len() - 1].body(m);
    if let (InsertPoint::Start(to), Some(first), Some(end)) = (at, m.first_op(body), m.last_op(body))
        && let Some(last) = m.prev_op(end)
    {
        let before = m.first_op(to);
        m.move_ops(first, last, to, before);
    }
    m.erase_op(root);
    true
}

fn induction_var(m: &Module, this: ForOp) -> Value {
    m.block_args(this.body(m))[0]
}

/// A loop, and how many of its iterations are in a tile.
struct Shape {
    bounds: [Applied; 2],
    step: i64,
    size: u32,
    trips: Option<u64>,
    /// Whether all tiles have the same size.
    even: bool,
}

impl Shape {
    /// `None` if the step over a tile is no number.
    fn of(m: &Module, this: ForOp, size: u32) -> Option<Shape> {
        let step = this.bounds(m)?.step;
        step.checked_mul(size.into())?;
        let even = this.is_multiple(m, size.into());
        Some(Shape { bounds: this.applied_bounds(m)?, step, size, trips: this.trip_count(m), even })
    }

    /// The bounds inside the tile that begins at `tile`.
    fn inside(&self, tile: Value) -> [Applied; 2] {
        let lower = Applied::map(&AffineMap::identity(1), &[tile]);
        if let Some(trips) = self.trips.filter(|&trips| trips < self.size.into()) {
            return [lower, Applied::shifted(tile, trips as i64 * self.step)];
        }
        let end = Applied::shifted(tile, self.step * i64::from(self.size));
        if self.even {
            return [lower, end];
        }
        // The tile's dimension comes after those of the bound, its expression before.
        let mut all = self.bounds[1].and(&end);
        all.exprs.rotate_right(1);
        [lower, all]
    }
}
