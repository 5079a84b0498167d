//! Applying all rules to an e-graph until nothing new is equal, or a limit is reached.

use crate::apply::{Applied, apply};
use crate::equation::Equations;
use crate::graph::Kind;
use crate::known::Known;
use crate::program::Program;
use crate::search::{Match, pairs, search};
use crate::touched::{Touched, depth};
use egg::Id;
use gradus_ir::OpName;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::time::{Duration, Instant};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often all rules are tried.
    pub iterations: usize,
    /// How many different nodes there may be.
    pub nodes: usize,
    /// How many matches of a rule are used in an iteration.
    pub matches: usize,
    /// How long it may take, if that is bounded.
    pub time: Option<Duration>,
    /// Compares with what is found by looking everywhere.
    pub compares: bool,
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
    /// After so many iterations only rules that match too often could say more.
    Matches(usize),
    /// It took too long, after so many iterations.
    Time(usize),
    /// Rules make equal what is not: one is wrong.
    Conflict,
    /// A rule, by its number, matches where nothing had changed: the search is wrong.
    Missed(usize),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Saturated(n) => write!(f, "saturated after {n} iterations"),
            End::Iterations(n) => write!(f, "ended by the limit of {n} iterations"),
            End::Nodes(n) => write!(f, "ended by the limit of nodes after {n} iterations"),
            End::Matches(n) => write!(f, "ended by the limit of matches after {n} iterations"),
            End::Time(n) => write!(f, "ended by the limit of time after {n} iterations"),
            End::Conflict => f.write_str("ended by rules that make different constants or types equal"),
            End::Missed(_) => f.write_str("ended by a match that was overlooked"),
        }
    }
}

/// A rule that matches too often rests for so many iterations, the next time for twice as many.
const REST: usize = 2;

/// Nodes that became equal to others take up memory too: there may be so many times more of both.
const STALE: usize = 8;

/// So many matches are applied between two looks at the clock.
const BETWEEN_LOOKS: usize = 16;

/// How a rule fared.
#[derive(Clone, Copy, Default, Debug)]
pub struct Record {
    /// Its matches.
    pub matches: usize,
    /// Those that made something equal that was not.
    pub applied: usize,
    /// Those for which there is no right side.
    pub refused: usize,
    /// How often it had too many matches, which were left alone.
    pub rests: u32,
    /// The iteration from which on it is tried again.
    rests_until: usize,
    /// When it last looked everywhere.
    looked: u32,
    /// How deep it looks.
    depth: Option<usize>,
}

/// What came of an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    /// The different nodes after it.
    pub nodes: usize,
    /// Their classes.
    pub classes: usize,
    /// The matches of all rules.
    pub matches: usize,
}

/// How it went.
pub struct Exploration {
    /// Why it ended.
    pub end: End,
    /// Its iterations; the first is what there was before.
    pub iterations: Vec<Iteration>,
    /// Of each rule.
    pub rules: Vec<Record>,
}

/// Applies the rules.
pub fn explore(program: &mut Program<'_>, equations: &Equations, limits: &Limits) -> Exploration {
    let record = |rule| Record { depth: depth(rule), ..Record::default() };
    let rules: Vec<Record> = equations.rules.iter().map(record).collect();
    let taken = vec![FxHashSet::default(); rules.len()];
    let deepest = rules.iter().filter_map(|record| record.depth).max().unwrap_or(0);
    let mut explorer = Explorer {
        program,
        equations,
        limits,
        rules,
        iterations: Vec::new(),
        touched: Touched::new(deepest),
        deadline: limits.time.and_then(|time| Instant::now().checked_add(time)),
        known: limits.compares.then(Known::default),
        taken,
    };
    explorer.count(0);
    explorer.touched.update(&explorer.program.graph, 1);
    let end = (0..limits.iterations).find_map(|iteration| explorer.iteration(iteration));
    let end = end.unwrap_or(End::Iterations(limits.iterations));
    Exploration { end, iterations: explorer.iterations, rules: explorer.rules }
}

/// Notes that nodes are put together; `false` if one of them is already.
fn take(taken: &mut FxHashSet<Id>, nodes: &[Id]) -> bool {
    let free = nodes.iter().all(|node| !taken.contains(node));
    taken.extend(nodes.iter().filter(|_| free));
    free
}

/// Matches of rules, by their numbers.
type Found = Vec<(usize, Vec<Match>)>;

struct Explorer<'e, 'm> {
    program: &'e mut Program<'m>,
    equations: &'e Equations,
    limits: &'e Limits,
    rules: Vec<Record>,
    iterations: Vec<Iteration>,
    touched: Touched,
    deadline: Option<Instant>,
    known: Option<Known>,
    /// The nodes that each rule has put together with others, if it does that.
    taken: Vec<FxHashSet<Id>>,
}

impl Explorer<'_, '_> {
    /// Tries all rules. Says if that was the last time.
    fn iteration(&mut self, iteration: usize) -> Option<End> {
        let (found, all_tried) = match self.search(iteration) {
            Ok(found) => found,
            Err(end) => return Some(end),
        };
        let matches = found.iter().map(|(_, matches)| matches.len()).sum();
        let (changed, stopped) = self.apply(iteration, found);
        self.program.graph.rebuild();
        self.count(matches);
        self.touched.update(&self.program.graph, iteration as u32 + 2);
        if self.program.graph.analysis.conflict.is_some() {
            return Some(End::Conflict);
        }
        if stopped.is_some() {
            return stopped;
        }
        if changed {
            return None;
        }
        if all_tried {
            return Some(End::Saturated(iteration + 1));
        }
        // The others have nothing to say until those that rest are tried again.
        self.rules.iter_mut().for_each(|rule| rule.rests_until = 0);
        (iteration + 1 == self.limits.iterations).then_some(End::Matches(iteration + 1))
    }

    fn count(&mut self, matches: usize) {
        let (nodes, classes) = (self.program.num_nodes(), self.program.graph.number_of_classes());
        self.iterations.push(Iteration { nodes, classes, matches });
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The matches of all rules in what was touched since they last looked, and whether that is all that could be found.
    fn search(&mut self, iteration: usize) -> Result<(Found, bool), End> {
        let (mut found, mut all_tried) = (Found::new(), true);
        let mut classes: FxHashMap<OpName, Vec<Id>> = FxHashMap::default();
        for (number, rule) in self.equations.rules.iter().enumerate() {
            if self.is_late() {
                return Err(End::Time(iteration));
            }
            let record = &mut self.rules[number];
            if iteration < record.rests_until {
                all_tried = false;
                continue;
            }
            let name = rule.roots[0].name;
            let all = classes.entry(name).or_insert_with(|| self.program.classes_of(Kind::Op(name)));
            let touched = |class: &Id| self.touched.is_after(record.looked, *class, record.depth);
            let most = self.limits.matches << record.rests.min(20);
            let some = all.iter().copied().filter(touched);
            let (matches, more) = search(self.program, self.equations, rule, &self.taken[number], some, most);
            if more {
                record.rests_until = iteration + 1 + (REST << record.rests.min(20));
                record.rests += 1;
                all_tried = false;
                continue;
            }
            record.looked = iteration as u32 + 1;
            record.matches += matches.len();
            if let Some(known) = &mut self.known {
                let all = all.iter().copied();
                let (every, more) = search(self.program, self.equations, rule, &self.taken[number], all, most);
                if !known.includes(&self.program.graph, number, &matches, if more { &[] } else { &every }) {
                    return Err(End::Missed(number));
                }
            }
            if !matches.is_empty() {
                found.push((number, matches));
            }
        }
        Ok((found, all_tried))
    }

    /// Applies rules where they match. Says whether something new is equal, and why it was not done to the end.
    fn apply(&mut self, iteration: usize, found: Found) -> (bool, Option<End>) {
        let mut changed = false;
        // Nodes are counted where they are all different, and until then all that are added.
        let mut counted = (self.program.num_nodes(), self.program.graph.nodes().len());
        let all = found.into_iter().flat_map(|(rule, matches)| matches.into_iter().map(move |one| (rule, one)));
        for (i, (rule, one)) in all.enumerate() {
            if i % BETWEEN_LOOKS == 0 && self.is_late() {
                return (changed, Some(End::Time(iteration + 1)));
            }
            let rules = &self.equations.rules;
            if pairs(&rules[rule]) && !take(&mut self.taken[rule], &one.results) {
                continue;
            }
            let applied = apply(self.program, rules, rule, iteration, one);
            self.rules[rule].applied += usize::from(applied == Applied::New);
            self.rules[rule].refused += usize::from(applied == Applied::Refused);
            changed |= applied == Applied::New;
            let graph = &mut self.program.graph;
            if graph.analysis.conflict.is_some() {
                return (changed, Some(End::Conflict));
            }
            let nodes = graph.nodes().len();
            if counted.0 + (nodes - counted.1) > self.limits.nodes + self.limits.nodes / 16 + 16 {
                graph.rebuild();
                counted = (self.program.num_nodes(), nodes);
            }
            if counted.0 > self.limits.nodes || nodes > STALE.saturating_mul(self.limits.nodes).saturating_add(1 << 12)
            {
                return (changed, Some(End::Nodes(iteration + 1)));
            }
        }
        (changed, None)
    }
}
