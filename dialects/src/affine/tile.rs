//! Tiling of `affine.for` nests.

use super::value_map::AffineValueMap;
use super::{ForOp, IfOp, YieldOp};
use crate::loops::CountedLoop;
use gradus_ir::affine::{AffineExpr, AffineMap, IntegerSet};
use gradus_ir::{AttrData, Builder, InsertPoint, Loc, Module, OpDecl, Value, ValueMap};

/// Returns the perfect loop nest at `root`.
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

/// Tiles a perfect nest by `sizes`: loops over tiles around loops within a tile. `separate` creates a separate nest for
/// full tiles. Returns whether it did; loops that carry values, non-rectangular nests and overflowing steps are left
/// alone. The caller checks legality.
pub fn tile(m: &mut Module, nest: &[ForOp], sizes: &[u32], separate: bool) -> bool {
    let Some(shape) =
        nest.iter().zip(sizes).map(|(&this, &size)| TiledLoop::of(m, this, size)).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let vars: Vec<Value> = nest.iter().map(|&this| induction_var(m, this)).collect();
    let around = shape.iter().flat_map(|s| s.bounds.iter().flat_map(|b| &b.operands));
    if around.into_iter().any(|operand| vars.contains(operand)) || nest.iter().any(|l| m.num_results(l.0) > 0) {
        return false;
    }
    let (root, loc) = (nest[0].0, m.loc(nest[0].0));
    let bounds = shape.iter().map(|s| (s.bounds.clone(), s.step * i64::from(s.size)));
    let tiles = loops(m, InsertPoint::Before(root), loc, bounds);
    let starts: Vec<Value> = tiles.iter().map(|&l| induction_var(m, l)).collect();
    let mut at = InsertPoint::Start(tiles[tiles.len() - 1].body(m));
    let condition = if separate { fullness(m, &shape, &starts) } else { None };
    let full = condition.map(|condition| {
        let [then, otherwise] = choice(m, at, loc, &condition);
        at = otherwise;
        let bounds = shape.iter().zip(&starts).map(|(s, &start)| (s.full(start), s.step));
        loops(m, then, loc, bounds.collect::<Vec<_>>())
    });
    let bounds = shape.iter().zip(&starts).map(|(s, &start)| (s.inside(start), s.step));
    let boxes = loops(m, at, loc, bounds.collect::<Vec<_>>());
    let new: Vec<Value> = boxes.iter().map(|&l| induction_var(m, l)).collect();
    vars.into_iter().zip(&new).for_each(|(var, &new)| m.replace_all_uses(var, new));
    let (from, to) = (nest[nest.len() - 1].body(m), boxes[boxes.len() - 1].body(m));
    if let (Some(first), Some(last)) = (m.first_op(from), m.last_op(from).and_then(|end| m.prev_op(end))) {
        let end = m.last_op(to);
        m.move_ops(first, last, to, end);
    }
    if let Some(full) = full {
        copy_body(m, &boxes, &full);
    }
    m.erase_op(root);
    true
}

/// Creates a loop nest.
fn loops(
    m: &mut Module,
    mut at: InsertPoint,
    loc: Loc,
    bounds: impl IntoIterator<Item = ([AffineValueMap; 2], i64)>,
) -> Vec<ForOp> {
    let make = |(bounds, step): ([AffineValueMap; 2], i64)| {
        let made = ForOp::with_bounds(&mut Builder::at(m, at), loc, &bounds, step);
        at = InsertPoint::Start(made.body(m));
        made
    };
    bounds.into_iter().map(make).collect()
}

/// Returns expressions that are nonnegative iff the tile at `starts` is full; `None` if all tiles are full.
fn fullness(m: &Module, shape: &[TiledLoop], starts: &[Value]) -> Option<AffineValueMap> {
    let mut all: Option<AffineValueMap> = None;
    for (s, &start) in shape.iter().zip(starts).filter(|(s, _)| !s.is_uniform()) {
        let [_, end] = s.full(start);
        let mut rest = s.bounds[1].and(&end);
        let end = rest.exprs.pop()?;
        rest.exprs.iter_mut().for_each(|upper| *upper = upper.clone() - end.clone());
        all = Some(all.map_or(rest.clone(), |others| others.and(&rest)));
    }
    let mut all = all?;
    all.compose(m);
    Some(all)
}

/// Creates an `affine.if`, and returns insertion points in its branches.
fn choice(m: &mut Module, at: InsertPoint, loc: Loc, not_negative: &AffineValueMap) -> [InsertPoint; 2] {
    let constraints: Vec<(AffineExpr, bool)> = not_negative.exprs.iter().map(|expr| (expr.clone(), false)).collect();
    let set = IntegerSet::new(not_negative.num_dims, not_negative.num_symbols, constraints);
    let set = m.ctx.attr(AttrData::IntegerSet(Box::new(set)));
    let made = IfOp::build(&mut Builder::at(m, at), loc, &not_negative.operands, set, &[]);
    [made.then_region(m), made.else_region(m)].map(|region| {
        let block = m.add_block(region);
        YieldOp::build(&mut Builder::at_end(m, block), loc, &[], &[]);
        InsertPoint::Start(block)
    })
}

/// Clones the body of a nest into another.
fn copy_body(m: &mut Module, from: &[ForOp], to: &[ForOp]) {
    let pairs = from.iter().zip(to).map(|(&from, &to)| (induction_var(m, from), induction_var(m, to)));
    let mut map: ValueMap = pairs.collect();
    let (source, target) = (from[from.len() - 1].body(m), to[to.len() - 1].body(m));
    let (last, end) = (m.last_op(source), m.last_op(target));
    for op in m.block_ops(source).filter(|&op| Some(op) != last).collect::<Vec<_>>() {
        let copy = m.clone_op(op, &mut map);
        m.insert_op(target, copy, end);
    }
}

fn induction_var(m: &Module, this: ForOp) -> Value {
    m.block_args(this.body(m))[0]
}

/// A loop with its tile size.
struct TiledLoop {
    bounds: [AffineValueMap; 2],
    step: i64,
    size: u32,
    trips: Option<u64>,
    /// Whether all tiles have the same size.
    even: bool,
}

/// Largest extent of a tile: its end is a sum with the position where it starts.
const MAX_TILE: i64 = i64::MAX / 2;

impl TiledLoop {
    /// Returns `None` if the end of a tile may overflow.
    fn of(m: &Module, this: ForOp, size: u32) -> Option<TiledLoop> {
        let step = this.bounds(m)?.step;
        step.checked_mul(size.into()).filter(|&extent| extent <= MAX_TILE)?;
        let even = this.is_multiple(m, size.into());
        Some(TiledLoop { bounds: this.applied_bounds(m)?, step, size, trips: this.trip_count(m), even })
    }

    /// Whether all tiles have the same number of iterations.
    fn is_uniform(&self) -> bool {
        self.even || self.trips.is_some_and(|trips| trips < self.size.into())
    }

    /// Returns the bounds within the full tile at `tile`.
    fn full(&self, tile: Value) -> [AffineValueMap; 2] {
        let lower = AffineValueMap::map(&AffineMap::identity(1), &[tile]);
        let trips = self.trips.filter(|&trips| trips < self.size.into()).map_or(self.size.into(), |trips| trips as i64);
        [lower, AffineValueMap::shifted(tile, trips * self.step)]
    }

    /// Returns the bounds within the tile at `tile`.
    fn inside(&self, tile: Value) -> [AffineValueMap; 2] {
        let [lower, end] = self.full(tile);
        if self.is_uniform() {
            return [lower, end];
        }
        // The tile's dimension comes after those of the bound, its expression before.
        let mut all = self.bounds[1].and(&end);
        all.exprs.rotate_right(1);
        [lower, all]
    }
}
