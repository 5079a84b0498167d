//! The values available at an insertion point.

use gradus_ir::{Block, Module, Op, Traits, Type, Value};
use rustc_hash::FxHashMap;

/// An insertion point: before an op of a block.
#[derive(Clone, Copy)]
pub(crate) struct InsertionPoint {
    pub(crate) block: Block,
    pub(crate) before: Op,
}

/// Values that dominate an insertion point, outermost first.
pub(crate) struct Scope {
    values: Vec<(Type, Value)>,
}

impl Scope {
    /// Collects the values; `above` maps blocks to a dominating block where one is known.
    pub(crate) fn at(m: &Module, place: InsertionPoint, above: &FxHashMap<Block, Block>) -> Scope {
        let mut levels: Vec<(Block, Option<Op>)> = Vec::new();
        let mut at = Some((place.block, Some(place.before)));
        while let Some((block, before)) = at {
            levels.push((block, before));
            at = outside(m, block, above);
        }
        let mut values = Vec::new();
        for (block, before) in levels.into_iter().rev() {
            values.extend(m.block_args(block).iter().map(|&v| (m.value_type(v), v)));
            let ops = m.block_ops(block).take_while(|&op| Some(op) != before);
            values.extend(ops.flat_map(|op| m.results(op)).map(|v| (m.value_type(v), v)));
        }
        Scope { values }
    }

    /// Returns the values of a type.
    pub(crate) fn of(&self, ty: Type) -> Vec<Value> {
        self.values.iter().filter(|(t, _)| *t == ty).map(|(_, v)| *v).collect()
    }

    /// Returns all values.
    pub(crate) fn all(&self) -> &[(Type, Value)] {
        &self.values
    }
}

/// Returns the nearest enclosing block whose values are available, with the op before which they are defined.
fn outside(m: &Module, block: Block, above: &FxHashMap<Block, Block>) -> Option<(Block, Option<Op>)> {
    if let Some(&dominator) = above.get(&block) {
        return Some((dominator, None));
    }
    let region = m.parent_region(block)?;
    // The entry block dominates all blocks of its region.
    if let Some(entry) = m.entry(region).filter(|&entry| entry != block) {
        return Some((entry, None));
    }
    let around = m.region_op(region).filter(|&op| !m.has_trait(op, Traits::ISOLATED))?;
    Some((m.parent_block(around)?, Some(around)))
}
