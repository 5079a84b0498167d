//! Reconciliation of casts: chains of casts that lead back to their original types are removed.

use crate::entity::SideTable;
use crate::intern::Type;
use crate::module::{Module, Op, ValueList};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

type Types = SmallVec<[Type; 2]>;

/// Replaces the results of each cast whose result types equal its own operand types, or those of an earlier cast in its
/// chain, by those operands, erases dead casts, and returns the remaining ones. Casts that are not listed are ordinary
/// users. O(casts + uses).
pub fn reconcile_casts(m: &mut Module, casts: &[Op]) -> Vec<Op> {
    let mut chains = Chains { m, listed: SideTable::new(false), path: FxHashMap::default(), returning: Vec::new() };
    for &op in casts {
        chains.listed[op] = true;
    }
    for &op in casts {
        if chains.before(op).is_none() {
            chains.walk(op);
        }
    }
    let Chains { listed, returning, .. } = chains;
    // Casts are listed before the casts that use them, so an origin's operands are final here.
    for (op, origin) in returning {
        let values: ValueList = m.operands(origin).into();
        let results: ValueList = m.results(op).collect();
        for (result, value) in results.into_iter().zip(values) {
            m.replace_all_uses(result, value);
        }
    }
    erase_dead(m, casts, &listed)
}

/// The forest of casts: each child casts all results of its parent.
struct Chains<'m> {
    m: &'m Module,
    listed: SideTable<Op, bool>,
    /// The casts on the path from the root, by operand types, innermost last.
    path: FxHashMap<Types, Vec<Op>>,
    /// Casts back to the operand types of an ancestor, each with the nearest such ancestor.
    returning: Vec<(Op, Op)>,
}

impl Chains<'_> {
    fn before(&self, op: Op) -> Option<Op> {
        let def = self.m.defining_op(*self.m.operands(op).first()?)?;
        (self.listed[def] && self.m.results(def).eq(self.m.operands(op).iter().copied())).then_some(def)
    }

    /// Walks the tree under `root` in preorder.
    fn walk(&mut self, root: Op) {
        let m = self.m;
        let types = |values: &mut dyn Iterator<Item = crate::Value>| values.map(|v| m.value_type(v)).collect::<Types>();
        let mut stack = vec![(root, true)];
        while let Some((op, enters)) = stack.pop() {
            let start = self.path.entry(types(&mut m.operands(op).iter().copied())).or_default();
            if !enters {
                start.pop();
                continue;
            }
            start.push(op);
            if let Some(&origin) = self.path.get(&types(&mut m.results(op))).and_then(|ops| ops.last()) {
                self.returning.push((op, origin));
            }
            stack.push((op, false));
            let Some(first) = m.results(op).next() else { continue };
            let users = m.uses(first).filter(|&(user, i)| i == 0 && self.listed[user]);
            stack.extend(users.filter(|&(user, _)| self.before(user) == Some(op)).map(|(user, _)| (user, true)));
        }
        self.path.clear();
    }
}

/// Erases the casts without users other than dead casts, and returns the remaining ones.
fn erase_dead(m: &mut Module, casts: &[Op], listed: &SideTable<Op, bool>) -> Vec<Op> {
    let needed = |&op: &Op| m.results(op).any(|v| m.uses(v).any(|(user, _)| !listed[user]));
    let mut todo: Vec<Op> = casts.iter().copied().filter(needed).collect();
    let mut live = SideTable::new(false);
    while let Some(op) = todo.pop() {
        if !live[op] {
            live[op] = true;
            let defs = m.operands(op).iter().filter_map(|&v| m.defining_op(v));
            todo.extend(defs.filter(|&def| listed[def]));
        }
    }
    let (left, dead): (Vec<Op>, Vec<Op>) = casts.iter().partition(|&&op| live[op]);
    for &op in &dead {
        m.set_operands(op, &[]);
    }
    for op in dead {
        m.erase_op(op);
    }
    left
}
