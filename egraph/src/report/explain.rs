//! The rule applications that lead from the program to the extracted nodes.

use super::{Step, node_id};
use crate::extract::Choice;
use crate::journal::By;
use crate::paths::Paths;
use crate::program::{Program, TraversalItem};
use egg::Id;
use gradus_ir::Op;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of steps.
const MAX_STEPS: usize = 5_000;

/// Returns the pairs of an original node and its chosen replacement: first the operands of ops that stay in place (their number is
/// returned), then those of chosen nodes.
pub fn replaced(program: &Program<'_>, choice: &Choice) -> (Vec<(Id, Id)>, usize) {
    let stays = |met: &TraversalItem| match met {
        TraversalItem::Op(op) if !program.nodes.contains(op) => Some(*op),
        _ => None,
    };
    let operands = |op: Op| program.m.operands(op).iter().filter_map(|&value| program.entered(value));
    let mut open: VecDeque<Id> = program.steps.iter().filter_map(stays).flat_map(operands).collect();
    let (mut seen, mut pairs, mut roots) = (FxHashSet::default(), Vec::new(), open.len());
    let mut results = 0;
    while let Some(have) = open.pop_front() {
        let is_root = roots > 0;
        roots -= usize::from(is_root);
        let class = program.graph.find(have);
        let Some(chosen) = choice.get(class) else { continue };
        let chosen = program.graph[class].nodes[chosen as usize].id;
        if seen.insert((have, chosen)) {
            pairs.push((have, chosen));
            results += usize::from(is_root);
            open.extend(&program.graph.nodes()[usize::from(chosen)].children);
        }
    }
    (pairs, results)
}

/// Returns the steps that make all pairs equal, in order, and whether the list is truncated.
pub fn steps(program: &Program<'_>, rules: &[String], pairs: &[(Id, Id)]) -> (Vec<Step>, bool) {
    let journal = &program.graph.analysis.journal;
    let mut paths = Paths::new(&program.graph);
    let mut open: Vec<u32> = pairs.iter().flat_map(|&(a, b)| paths.steps(a, b)).collect();
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    while let Some(step) = open.pop() {
        if found.contains_key(&step) {
            continue;
        }
        if found.len() == MAX_STEPS || paths.is_exhausted() {
            return (listed(program, rules, &found), true);
        }
        let premises = journal.premises(step).iter();
        let needs: Vec<u32> = premises.flat_map(|&(a, b)| paths.steps(a, b)).collect();
        open.extend(&needs);
        found.insert(step, needs);
    }
    (listed(program, rules, &found), paths.is_exhausted())
}

fn listed(program: &Program<'_>, rules: &[String], found: &BTreeMap<u32, Vec<u32>>) -> Vec<Step> {
    let places: BTreeMap<u32, usize> = found.keys().enumerate().map(|(place, &step)| (step, place)).collect();
    let one = |(&step, needs): (&u32, &Vec<u32>)| {
        let made = program.graph.analysis.journal.steps[step as usize];
        let mut needs: Vec<usize> = needs.iter().filter_map(|step| places.get(step).copied()).collect();
        needs.sort_unstable();
        needs.dedup();
        Step {
            rule: match made.by {
                By::Rule(rule) => rules[rule as usize].clone(),
                By::Other(name) => name.to_owned(),
            },
            iteration: if let By::Rule(_) = made.by { made.iteration + 1 } else { 0 },
            left: node_id(made.left),
            right: node_id(made.right),
            needs,
        }
    };
    found.iter().map(one).collect()
}
