//! Non-commutative associative ops: all splits of each interval of operands.

use super::{is_constant, pair, unite};
use crate::program::Program;
use egg::Id;
use gradus_ir::Op;

/// Returns the number of nodes of all splits of `operands` operands, n³/6.
pub fn num_splits(operands: usize) -> usize {
    let n = operands as u128;
    usize::try_from(n.saturating_pow(3).saturating_sub(n) / 6).unwrap_or(usize::MAX)
}

/// Merges all parenthesizations of a root.
pub fn split(program: &mut Program<'_>, root: Op, operands: &[Id]) {
    let (name, len) = (program.m.name(root), operands.len());
    // `classes[from][size - 1]` is the product of `size` operands.
    let mut classes: Vec<Vec<Option<Id>>> = operands.iter().map(|&id| vec![Some(id)]).collect();
    let constants: Vec<bool> = operands.iter().map(|&id| is_constant(program, id)).collect();
    for size in 2..=len {
        for from in 0..=len - size {
            // Constants are folded in one order, since another may round differently.
            let only_constants = constants[from..from + size].iter().all(|&constant| constant);
            let splits = if only_constants { size - 1..size } else { 1..size };
            let mut class: Option<Id> = None;
            for left in splits {
                let (Some(a), Some(b)) = (classes[from][left - 1], classes[from + left][size - left - 1]) else {
                    continue;
                };
                let Some(new) = pair(program, name, a, b) else { continue };
                match class {
                    Some(old) => unite(program, old, new),
                    None => class = Some(new),
                }
            }
            classes[from].push(class);
        }
    }
    let own = program.entered(program.m.result(root, 0));
    if let (Some(own), Some(whole)) = (own, classes[0][len - 1]) {
        unite(program, own, whole);
    }
}
