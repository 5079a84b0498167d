//! The saturation loop: applies all rules until nothing new is equal or a limit is reached.

use crate::apply::{Applied, apply};
use crate::equation::Equations;
use crate::graph::{NodeKind, rebuild};
use crate::known::KnownMatches;
use crate::program::Program;
use crate::search::{Match, pairs, search};
use crate::touched::{Touched, depth};
use egg::Id;
use gradus_ir::pass::{ActionUnit, Actions, PATTERN};
use gradus_ir::{Op, OpName};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::time::{Duration, Instant};

/// Limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Maximum number of distinct e-nodes.
    pub nodes: usize,
    /// Maximum number of matches of a rule per iteration.
    pub matches: usize,
    /// Time limit, if any.
    pub time: Option<Duration>,
    /// Whether incremental search is compared with exhaustive search.
    pub compares: bool,
}

/// The reason why the search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Saturated after this number of iterations.
    Saturated(usize),
    /// The iteration limit.
    Iterations(usize),
    /// The node limit, after this number of iterations.
    Nodes(usize),
    /// The match limit, after this number of iterations: only rules with too many matches remain.
    Matches(usize),
    /// The time limit, after this number of iterations.
    Time(usize),
    /// Two different constants or types became equal, so a rule is wrong.
    Conflict,
    /// The rule with this index matches in an unchanged class, so incremental search is wrong.
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

/// Number of iterations for which a rule with too many matches is skipped (backoff); doubled each time.
const REST: usize = 2;

/// Maximum ratio of all e-nodes, including merged duplicates, to distinct ones.
const STALE: usize = 8;

/// Number of applications between checks of the time limit.
const BETWEEN_LOOKS: usize = 16;

/// Statistics of a rule.
#[derive(Clone, Copy, Default, Debug)]
pub struct Record {
    /// Number of matches.
    pub matches: usize,
    /// Number of matches that made something new equal.
    pub applied: usize,
    /// Number of matches whose right side is ill-typed.
    pub refused: usize,
    /// Number of times that the rule was skipped for having too many matches.
    pub rests: u32,
    /// The iteration from which on it is tried again.
    rests_until: usize,
    /// Time of its last complete search.
    looked: u32,
    /// Depth of its pattern.
    depth: Option<usize>,
}

/// Statistics of an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    /// Number of distinct e-nodes after it.
    pub nodes: usize,
    /// Number of e-classes after it.
    pub classes: usize,
    /// Number of matches of all rules.
    pub matches: usize,
}

/// The result of the search.
pub struct Exploration {
    /// The reason why it ended.
    pub end: End,
    /// Its iterations; the first entry is the initial state.
    pub iterations: Vec<Iteration>,
    /// Statistics per rule.
    pub rules: Vec<Record>,
}

/// Applies the rules. Each application is a rewrite that `actions` number and may skip.
pub fn explore(
    program: &mut Program<'_>,
    scope: Op,
    equations: &Equations,
    limits: &Limits,
    actions: Option<&mut Actions>,
) -> Exploration {
    let record = |rule| Record { depth: depth(rule), ..Record::default() };
    let rules: Vec<Record> = equations.rules.iter().map(record).collect();
    let merged = vec![FxHashSet::default(); rules.len()];
    let deepest = rules.iter().filter_map(|record| record.depth).max().unwrap_or(0);
    let mut explorer = Explorer {
        program,
        scope,
        actions,
        equations,
        limits,
        rules,
        iterations: Vec::new(),
        touched: Touched::new(deepest),
        deadline: limits.time.and_then(|time| Instant::now().checked_add(time)),
        known: limits.compares.then(KnownMatches::default),
        merged,
    };
    explorer.count(0);
    explorer.touched.update(&explorer.program.graph, 1);
    let end = (0..limits.iterations).find_map(|iteration| explorer.iteration(iteration));
    let end = end.unwrap_or(End::Iterations(limits.iterations));
    Exploration { end, iterations: explorer.iterations, rules: explorer.rules }
}

/// Records that nodes are merged by a rule with several roots; `false` if one of them already was.
fn take(merged: &mut FxHashSet<Id>, nodes: &[Id]) -> bool {
    let free = nodes.iter().all(|node| !merged.contains(node));
    merged.extend(nodes.iter().filter(|_| free));
    free
}

/// Matches per rule index.
type Found = Vec<(usize, Vec<Match>)>;

struct Explorer<'e, 'm> {
    program: &'e mut Program<'m>,
    scope: Op,
    actions: Option<&'e mut Actions>,
    equations: &'e Equations,
    limits: &'e Limits,
    rules: Vec<Record>,
    iterations: Vec<Iteration>,
    touched: Touched,
    deadline: Option<Instant>,
    known: Option<KnownMatches>,
    /// For each rule with several roots, the nodes that it has merged.
    merged: Vec<FxHashSet<Id>>,
}

impl Explorer<'_, '_> {
    /// Runs one iteration. Returns the reason to stop, if any.
    fn iteration(&mut self, iteration: usize) -> Option<End> {
        let (found, all_tried) = match self.search(iteration) {
            Ok(found) => found,
            Err(end) => return Some(end),
        };
        let matches = found.iter().map(|(_, matches)| matches.len()).sum();
        let (changed, stopped) = self.apply(iteration, found);
        rebuild(&mut self.program.graph);
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
        // Only skipped rules can still match, so all are tried again.
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

    /// Searches all rules in the classes touched since their last search. Returns whether no rule was skipped.
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
            let all = classes.entry(name).or_insert_with(|| self.program.classes_of(NodeKind::Op(name)));
            let touched = |class: &Id| self.touched.is_after(record.looked, *class, record.depth);
            let most = self.limits.matches << record.rests.min(20);
            let some = all.iter().copied().filter(touched);
            let (matches, more) = search(self.program, self.equations, rule, &self.merged[number], some, most);
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
                let (every, more) = search(self.program, self.equations, rule, &self.merged[number], all, most);
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

    /// Applies the matches. Returns whether anything new is equal, and the limit that was reached, if any.
    fn apply(&mut self, iteration: usize, found: Found) -> (bool, Option<End>) {
        let mut changed = false;
        // The number of distinct nodes is exact after a rebuild; in between, added nodes are counted.
        let mut counted = (self.program.num_nodes(), self.program.graph.nodes().len());
        let all = found.into_iter().flat_map(|(rule, matches)| matches.into_iter().map(move |one| (rule, one)));
        for (i, (rule, one)) in all.enumerate() {
            if i % BETWEEN_LOOKS == 0 && self.is_late() {
                return (changed, Some(End::Time(iteration + 1)));
            }
            let rules = &self.equations.rules;
            if pairs(&rules[rule]) && !take(&mut self.merged[rule], &one.results) {
                continue;
            }
            let name = self.program.m.ctx.text(rules[rule].name);
            let root = self.program.graph.nodes()[usize::from(one.results[0])].op.unwrap_or(self.scope);
            if let Some(actions) = &mut self.actions
                && !actions.begin(PATTERN, name, ActionUnit::Op(root), self.program.m)
            {
                continue;
            }
            let applied = apply(self.program, rules, rule, iteration, one);
            if let Some(actions) = &mut self.actions {
                actions.end(PATTERN, applied == Applied::New);
            }
            self.rules[rule].applied += usize::from(applied == Applied::New);
            self.rules[rule].refused += usize::from(applied == Applied::Refused);
            changed |= applied == Applied::New;
            let graph = &mut self.program.graph;
            if graph.analysis.conflict.is_some() {
                return (changed, Some(End::Conflict));
            }
            let nodes = graph.nodes().len();
            if counted.0 + (nodes - counted.1) > self.limits.nodes + self.limits.nodes / 16 + 16 {
                rebuild(graph);
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
