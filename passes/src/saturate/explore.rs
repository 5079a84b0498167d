//! Applying all rules to an e-graph until nothing new is equal, or a limit is reached.

use super::apply::apply;
use super::equation::Equations;
use super::program::Program;
use super::search::search;
use std::fmt;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often all rules are tried.
    pub iterations: usize,
    /// How many different nodes there may be.
    pub nodes: usize,
    /// How many matches of a rule are used in an iteration.
    pub matches: usize,
}

/// Why it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Nothing new is equal, after so many iterations.
    Saturated(usize),
    /// All iterations were used.
    Iterations(usize),
    /// There were too many nodes, after so many iterations.
    Nodes(usize),
    /// Rules make equal what is not: one is wrong.
    Conflict,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Saturated(n) => write!(f, "saturated after {n} iterations"),
            End::Iterations(n) => write!(f, "ended by the limit of {n} iterations"),
            End::Nodes(n) => write!(f, "ended by the limit of nodes after {n} iterations"),
            End::Conflict => f.write_str("ended by rules that make different constants or types equal"),
        }
    }
}

/// A rule that matches too often rests for so many iterations, the next time for twice as many.
const REST: usize = 2;

/// How a rule fares.
#[derive(Clone, Copy, Default)]
struct Record {
    /// How often it had too many matches.
    excesses: u32,
    /// The iteration from which on it is tried again.
    rests_until: usize,
}

/// Applies the rules.
pub fn explore(program: &mut Program<'_>, equations: &Equations, limits: &Limits) -> End {
    let mut records = vec![Record::default(); equations.rules.len()];
    for iteration in 0..limits.iterations {
        let mut found = Vec::new();
        let mut all_tried = true;
        for (rule, record) in records.iter_mut().enumerate() {
            if iteration < record.rests_until {
                all_tried = false;
                continue;
            }
            let most = limits.matches << record.excesses.min(20);
            let (matches, more) = search(program, equations, rule, most);
            if more {
                record.rests_until = iteration + 1 + (REST << record.excesses.min(20));
                record.excesses += 1;
                all_tried = false;
            } else if !matches.is_empty() {
                found.push((rule, matches));
            }
        }
        let mut changed = false;
        for (rule, matches) in found {
            for one in matches {
                changed |= apply(program, &equations.rules[rule], one);
            }
            if program.graph.total_size() > 4 * limits.nodes {
                break;
            }
        }
        program.graph.rebuild();
        if program.graph.analysis.conflict.is_some() {
            return End::Conflict;
        }
        if !changed && all_tried {
            return End::Saturated(iteration + 1);
        }
        if program.num_nodes() > limits.nodes {
            return End::Nodes(iteration + 1);
        }
    }
    End::Iterations(limits.iterations)
}
