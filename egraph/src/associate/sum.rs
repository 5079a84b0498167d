//! Commutative associative ops: sorted operands, and common parts of sums.

use super::region::{Regions, Root};
use super::{LeftOut, is_constant, pair, unite};
use crate::program::Program;
use egg::Id;
use gradus_ir::{Op, OpName, Type};
use rustc_hash::FxHashMap;

/// Maximum number of sums with a common operand that a sum is compared with.
const MAX_COMPARED: usize = 16;

/// Maximum number of operands of sums that are grouped in all ways, so that rules see any two operands together; four
/// operands have 25 groupings.
const MAX_GROUPED: usize = 4;

/// Divisor of the node limit that gives the share of such groupings.
const GROUPED_PART: usize = 4;

/// A sum, product, minimum or the like, as a list of operands.
struct AssociativeChain {
    name: OpName,
    /// Node of the root.
    node: Id,
    ty: Type,
    /// Sorted, with constants last.
    operands: Vec<Operand>,
}

type Operand = (bool, Id);

/// Merges equal sums and splits sums at common parts, within the node budget. Returns the sums for which the budget was
/// too small. `roots` are in program order, so that sums of equal operands become equal.
pub fn merge(program: &mut Program<'_>, regions: &Regions, roots: &[Root], budget: &mut usize) -> Vec<LeftOut> {
    let (mut left_out, mut sums) = (Vec::new(), Vec::new());
    for root in roots {
        let nodes = root.operands;
        let sum = Some(root).filter(|_| nodes <= *budget).and_then(|root| sum_of(program, regions, root.op));
        let Some(sum) = sum else {
            left_out.push(LeftOut { op: root.op, operands: nodes, nodes });
            continue;
        };
        *budget -= nodes;
        if let Some(new) = add(program, sum.name, &sum.operands) {
            unite(program, sum.node, new);
            sums.push(sum);
        }
    }
    let mut for_groups = *budget / GROUPED_PART;
    for sum in &mut sums {
        sort(program, &mut sum.operands);
        let before = for_groups;
        group(program, sum, &mut for_groups);
        *budget -= before - for_groups;
    }
    for (a, b) in neighbours(&sums) {
        let common = common(&sums[a].operands, &sums[b].operands);
        let nodes = sums[a].operands.len() + sums[b].operands.len();
        if common.len() > 1 && nodes <= *budget {
            *budget -= nodes;
            divide(program, &sums[a], &common);
            divide(program, &sums[b], &common);
        }
    }
    left_out
}

/// Adds all groupings of few operands; constants are grouped together first, since they may round differently.
fn group(program: &mut Program<'_>, sum: &AssociativeChain, budget: &mut usize) {
    let constants = sum.operands.iter().position(|(constant, _)| *constant).unwrap_or(sum.operands.len());
    let (others, constants) = sum.operands.split_at(constants);
    let len = others.len() + usize::from(!constants.is_empty());
    if !(3..=MAX_GROUPED).contains(&len) {
        return;
    }
    let nodes = 3_usize.pow(len as u32) / 2 + 1 - (1 << len);
    let constant = add(program, sum.name, constants);
    let operands: Vec<Id> = others.iter().map(|&(_, id)| id).chain(constant).collect();
    if operands.len() < len || *budget < nodes {
        return;
    }
    *budget -= nodes;
    // Sets of operands as bit masks.
    let mut classes: Vec<Option<Id>> = vec![None; 1 << len];
    operands.iter().enumerate().for_each(|(i, &id)| classes[1 << i] = Some(id));
    for set in (3..1_usize << len).filter(|set| !set.is_power_of_two()) {
        let lowest = set & set.wrapping_neg();
        for part in (1..set).filter(|part| part & !set == 0 && part & lowest != 0) {
            let (Some(a), Some(b)) = (classes[part], classes[set ^ part]) else { continue };
            let Some(new) = pair(program, sum.name, a, b) else { continue };
            unite(program, *classes[set].get_or_insert(new), new);
        }
    }
    if let Some(whole) = classes[(1 << len) - 1] {
        unite(program, sum.node, whole);
    }
}

fn sum_of(program: &Program<'_>, regions: &Regions, root: Op) -> Option<AssociativeChain> {
    let result = program.m.result(root, 0);
    let mut operands: Vec<Operand> = regions.operands(program, root)?.into_iter().map(|id| (false, id)).collect();
    sort(program, &mut operands);
    Some(AssociativeChain {
        name: program.m.name(root),
        node: program.entered(result)?,
        ty: program.m.value_type(result),
        operands,
    })
}

fn sort(program: &Program<'_>, operands: &mut [Operand]) {
    operands.iter_mut().for_each(|(constant, id)| {
        *id = program.graph.find(*id);
        *constant = is_constant(program, *id);
    });
    operands.sort_unstable();
}

/// Returns the pairs of sums of the same kind with a common operand, each once.
fn neighbours(sums: &[AssociativeChain]) -> Vec<(usize, usize)> {
    let mut with: FxHashMap<(OpName, Type, Operand), Vec<usize>> = FxHashMap::default();
    let mut pairs = Vec::new();
    for (i, sum) in sums.iter().enumerate() {
        for &operand in &sum.operands {
            let others = with.entry((sum.name, sum.ty, operand)).or_default();
            pairs.extend(others.iter().rev().take(MAX_COMPARED).filter(|&&other| other != i).map(|&other| (other, i)));
            if others.last() != Some(&i) {
                others.push(i);
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Returns the multiset intersection of two sorted lists.
fn common(a: &[Operand], b: &[Operand]) -> Vec<Operand> {
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                all.push(a[i]);
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    all
}

/// Splits a sum into a part and the rest.
fn divide(program: &mut Program<'_>, sum: &AssociativeChain, part: &[Operand]) {
    let (mut rest, mut removed) = (Vec::new(), part.iter().peekable());
    for operand in &sum.operands {
        if removed.next_if_eq(&operand).is_none() {
            rest.push(*operand);
        }
    }
    let all_constant = part.iter().chain(&rest).all(|(constant, _)| *constant);
    if rest.is_empty() || all_constant {
        return;
    }
    let (Some(part), Some(rest)) = (add(program, sum.name, part), add(program, sum.name, &rest)) else { return };
    if let Some(whole) = pair(program, sum.name, part, rest) {
        unite(program, sum.node, whole);
    }
}

/// Returns the class of a sum, built left to right; constants enter only when all of them are together.
fn add(program: &mut Program<'_>, name: OpName, operands: &[Operand]) -> Option<Id> {
    let (constants, others): (Vec<Operand>, Vec<Operand>) = operands.iter().partition(|(constant, _)| *constant);
    let mut sum: Option<Id> = None;
    for part in [others, constants].iter().filter(|part| !part.is_empty()) {
        let mut own = part[0].1;
        for &(_, id) in &part[1..] {
            own = pair(program, name, own, id)?;
        }
        sum = Some(match sum {
            Some(sum) => pair(program, name, sum, own)?,
            None => own,
        });
    }
    sum
}
