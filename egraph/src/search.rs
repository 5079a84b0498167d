//! E-matching: the matches of a rule in an e-graph, up to a limit.

use crate::equation::{Equations, Usual};
use crate::graph::{Graph, Key, Node};
use crate::journal::Premises;
use crate::program::Program;
use egg::Id;
use gradus_ir::rules::{Anchor, Bindings, CompiledRule, MatchGraph, MatchIn, Matcher, OpTerm};
use gradus_ir::{Attr, Module, Type, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::ControlFlow;

/// A match of a rule in the e-graph.
#[derive(Clone, Debug)]
pub struct Match {
    /// The nodes of the results of its roots.
    pub results: SmallVec<[Id; 2]>,
    /// The e-classes bound to its variables.
    pub bindings: Bindings<Id>,
    /// The equalities that the match relies on, for explanations.
    pub premises: Premises,
}

/// Limit of e-nodes visited per match of the match limit.
const FUEL_PER_MATCH: usize = 50;

/// Returns the matches of a rule in e-classes with nodes of its root op, up to a limit, and whether the limit was hit.
pub fn search(
    program: &Program<'_>,
    equations: &Equations,
    rule: &CompiledRule,
    merged: &FxHashSet<Id>,
    classes: impl IntoIterator<Item = Id>,
    most: usize,
) -> (Vec<Match>, bool) {
    let search = EGraphView {
        m: program.m,
        graph: &program.graph,
        equations,
        merged: Some(merged).filter(|_| pairs(rule)),
        found: Cell::new(0),
    };
    let fuel = FUEL_PER_MATCH * most + program.graph.number_of_classes();
    let mut matcher = Matcher::new(&search, rule, fuel);
    let mut matches = Vec::new();
    let mut keep = |found: &MatchIn<EGraphView<'_>>| {
        let results = rule.roots.iter().zip(&found.roots);
        let results = results.filter_map(|(root, &node)| search.results(node, root.results.len())).flatten().collect();
        let (bindings, premises) = (found.bindings.clone(), found.premises.clone());
        matches.push(Match { results, bindings, premises });
        search.found.set(matches.len());
        if matches.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut roots = classes.into_iter().flat_map(|class| search.roots(class, &rule.roots[0], None));
    let _ = roots.try_for_each(|root| matcher.at(root, &mut keep));
    let more = matches.len() > most || matcher.is_exhausted();
    matches.truncate(most);
    (matches, more)
}

/// Whether a rule merges two ops of the same name. An op takes part in at most one merge, but the merged op can be merged
/// again: `n` ops give at most `n - 1` merges instead of one for each subset.
pub fn pairs(rule: &CompiledRule) -> bool {
    match &rule.roots[..] {
        [a, b] => a.name == b.name && a.results.len() == 1 && !rule.keeps(0) && !rule.keeps(1),
        _ => false,
    }
}

/// An e-node that is an op, its class and its attributes.
#[derive(Clone, Copy)]
struct OpNode<'g> {
    node: &'g Node,
    class: Id,
    props: Attr,
}

/// The e-graph, as a rule's matcher sees it.
struct EGraphView<'g> {
    m: &'g Module,
    graph: &'g Graph,
    equations: &'g Equations,
    /// For a rule that merges two ops, the nodes that it has merged already.
    merged: Option<&'g FxHashSet<Id>>,
    /// Number of matches found.
    found: Cell<usize>,
}

impl<'g> EGraphView<'g> {
    /// Returns the nodes of a class that have the name and number of operands of a pattern.
    fn candidates(&self, class: Id, pattern: &OpTerm) -> impl Iterator<Item = OpNode<'g>> + use<'g> {
        let (wanted, operands) = (pattern.name, pattern.operands.len());
        self.graph[class].iter().filter_map(move |node| match node.key {
            Key::Op { name, props, .. } if name == wanted && node.children.len() == operands => {
                Some(OpNode { node, class, props })
            }
            _ => None,
        })
    }

    /// Returns the candidates of a class for a root. A rule that merges two ops finds each pair once, with the smaller id
    /// first, and skips nodes that it has merged.
    fn roots<'s>(
        &'s self,
        class: Id,
        pattern: &OpTerm,
        first: Option<Id>,
    ) -> impl Iterator<Item = OpNode<'g>> + use<'s, 'g> {
        let is_free = move |root: &OpNode<'_>| {
            let id = root.node.id;
            self.merged.is_none_or(|taken| !taken.contains(&id) && first.is_none_or(|first| id > first))
        };
        self.candidates(class, pattern).filter(is_free)
    }

    /// Returns the operands that a node was entered with.
    fn entered(&self, node: &Node) -> &'g [Id] {
        &self.graph.nodes()[usize::from(node.id)].children
    }

    /// Returns the projections to result `index` in a class.
    fn results_in(&self, class: Id, index: usize) -> impl Iterator<Item = &'g Node> + use<'g> {
        self.graph[class].iter().filter(move |node| node.key == Key::Result(index as u32))
    }
}

impl<'g> MatchGraph for EGraphView<'g> {
    type Value = Id;
    type Node = OpNode<'g>;
    const SWAPPED_FIRST: bool = true;

    fn module(&self) -> &Module {
        self.m
    }

    fn is_same(&self, a: Id, b: Id) -> bool {
        self.graph.find(a) == self.graph.find(b)
    }

    fn value_type(&self, value: Id) -> Type {
        self.graph[value].data.ty
    }

    fn constant(&self, value: Id) -> Option<(Attr, Id)> {
        let fact = &self.graph[value].data;
        fact.constant.map(|attr| (attr, fact.node))
    }

    fn representative(&self, value: Id) -> Option<Value> {
        self.graph[value].data.value
    }

    fn definitions(&self, value: Id, pattern: &OpTerm, index: usize) -> impl Iterator<Item = (OpNode<'g>, Premises)> {
        let class = self.graph.find(value);
        let is_one = pattern.results.len() == 1;
        let one = is_one.then(|| self.candidates(class, pattern)).into_iter().flatten();
        let one = one.map(move |found| (found, smallvec::smallvec![(value, found.node.id)]));
        let several = (!is_one).then(|| self.results_in(class, index)).into_iter().flatten();
        let several = several.flat_map(move |result| {
            let all = self.entered(result)[0];
            self.candidates(self.graph.find(all), pattern)
                .map(move |found| (found, smallvec::smallvec![(value, result.id), (all, found.node.id)]))
        });
        one.chain(several)
    }

    fn further_roots(
        &self,
        pattern: &OpTerm,
        anchor: Anchor<Id>,
        matched: &[OpNode<'g>],
    ) -> impl Iterator<Item = OpNode<'g>> {
        let mut classes: Vec<Id> = match anchor {
            Anchor::Result(_, value) if pattern.results.len() == 1 => vec![self.graph.find(value)],
            Anchor::Result(i, value) => {
                self.results_in(self.graph.find(value), i).map(|node| self.graph.find(node.children[0])).collect()
            }
            Anchor::Operand(value) => self.graph[value].parents().map(|id| self.graph.find(id)).collect(),
        };
        classes.sort_unstable();
        classes.dedup();
        let (first, before) = (Some(matched[0].node.id), self.found.get());
        // One partner is enough.
        let is_wanted = move |_: &Id| self.merged.is_none() || self.found.get() == before;
        classes.into_iter().take_while(is_wanted).flat_map(move |class| self.roots(class, pattern, first))
    }

    fn operands(&self, root: OpNode<'g>) -> &[Id] {
        self.entered(root.node)
    }

    /// Returns the node of the first result; the node of a single result is the op itself.
    fn results(&self, OpNode { node, class, .. }: OpNode<'g>, count: usize) -> Option<SmallVec<[Id; 2]>> {
        if count == 1 {
            return Some(smallvec::smallvec![node.id]);
        }
        let one = |i: usize| {
            let all = self.graph.lookup(Node::result(i as u32, class))?;
            let is_it = |result: &&Node| self.graph.find(result.children[0]) == class;
            self.results_in(all, i).find(is_it).map(|node| node.id)
        };
        (0..count).map(one).collect()
    }

    fn props(&self, root: OpNode<'g>) -> Attr {
        root.props
    }

    /// Whether the attributes that the pattern does not mention have their defaults. The right side creates ops with the
    /// defaults, so that another value, such as `overflow<nsw>`, would be lost.
    fn allows_unmentioned(&self, pattern: &OpTerm, props: Attr) -> bool {
        let mentions = |key| pattern.attrs.iter().any(|(known, _)| *known == key);
        let is_usual = |usual: &Usual, have: Attr| match usual {
            Usual::Is(usual) => *usual == have,
            Usual::Absent => false,
            Usual::Any => true,
        };
        pattern.others().is_some()
            || self.equations.specs(pattern.name).iter().all(|spec| {
                let have = self.m.ctx.dict_get(props, spec.key);
                mentions(spec.key) || have.is_none_or(|have| is_usual(&spec.usual, have))
            })
    }
}
