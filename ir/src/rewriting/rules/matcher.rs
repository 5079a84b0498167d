//! Matching of the left sides of rules.
//!
//! [`Matcher`] is the single traversal of patterns. It enumerates the substitutions under which a rule's left side
//! matches in a [`MatchGraph`], by backtracking over the candidates that the graph offers for each op of the pattern:
//! one in a program, where a value has one definition; several in an e-graph, where a class has several e-nodes.
//!
//! Operands are matched from left to right in preorder: the definition of each before the next operand. The remaining
//! goals are a linked list on the stack, and bindings are undone on backtracking, so no state is copied.

use super::bindings::Bindings;
use super::{Arg, AttrTerm, Call, CompiledRule, OpTerm, RuleFn, Term, Var};
use crate::intern::{Attr, Type};
use crate::module::{Module, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Pairs of different values that must be equal for a match, such as an operand and the e-node found in its class.
pub type Premises<V> = SmallVec<[(V, V); 4]>;

/// A graph in which rules are matched: a program or an e-graph.
pub trait MatchGraph {
    /// A value, or an e-node that represents its class.
    type Value: Copy + PartialEq;
    /// A candidate for an op pattern: an op or an e-node.
    type Node: Copy;
    /// Whether the operands of commutative ops are tried in the opposite order first.
    const SWAPPED_FIRST: bool = false;

    /// Returns the module, for conditions and interned data.
    fn module(&self) -> &Module;

    /// Whether two values are known to be equal.
    fn is_same(&self, a: Self::Value, b: Self::Value) -> bool;

    /// Returns the type of a value.
    fn value_type(&self, value: Self::Value) -> Type;

    /// Returns the constant to which a value is known to be equal, and the value that this constant defines.
    fn constant(&self, value: Self::Value) -> Option<(Attr, Self::Value)>;

    /// Returns the value that is passed to conditions and computations.
    fn representative(&self, value: Self::Value) -> Option<Value>;

    /// Returns the candidates that define `value` as result `index` and have the name and number of operands of the
    /// pattern; each with the equalities on which it depends.
    fn definitions(
        &self,
        value: Self::Value,
        pattern: &OpTerm,
        index: usize,
    ) -> impl Iterator<Item = (Self::Node, Premises<Self::Value>)>;

    /// Returns the candidates for a further root, near a bound value, that have the name and number of operands of the
    /// pattern. `matched` are the roots before it.
    fn further_roots(
        &self,
        pattern: &OpTerm,
        anchor: Anchor<Self::Value>,
        matched: &[Self::Node],
    ) -> impl Iterator<Item = Self::Node>;

    /// Returns the operands of a candidate.
    fn operands(&self, node: Self::Node) -> &[Self::Value];

    /// Returns the results of a candidate; `None` unless there are `count` and all are known.
    fn results(&self, node: Self::Node, count: usize) -> Option<SmallVec<[Self::Value; 2]>>;

    /// Returns the inherent attributes of a candidate.
    fn props(&self, node: Self::Node) -> Attr;

    /// Whether a pattern that does not mention some of these attributes may match.
    fn allows_unmentioned(&self, pattern: &OpTerm, props: Attr) -> bool;
}

/// A bound value from which a further root is reached.
#[derive(Clone, Copy, Debug)]
pub enum Anchor<V> {
    /// The root defines the value, as the result of this index.
    Result(usize, V),
    /// The root uses the value.
    Operand(V),
}

/// A match of a rule.
#[derive(Clone)]
pub struct Match<N, V> {
    /// The candidate matched by each root.
    pub roots: SmallVec<[N; 2]>,
    /// The substitution.
    pub bindings: Bindings<V>,
    /// The equalities on which the match depends.
    pub premises: Premises<V>,
}

/// A match in a graph.
pub type MatchIn<G> = Match<<G as MatchGraph>::Node, <G as MatchGraph>::Value>;

/// An enumerator of the matches of one rule in one graph.
pub struct Matcher<'g, G: MatchGraph> {
    graph: &'g G,
    rule: &'g CompiledRule,
    /// Number of candidates that may still be tried. Swapped operands make the number of matches exponential.
    fuel: usize,
    state: MatchIn<G>,
    /// The bound variables in binding order.
    trail: SmallVec<[Var; 8]>,
    /// Conditions on one value, by their number in the rule, that hold or not. Some walk through all that the value is computed from.
    tested: FxHashMap<(usize, Value), bool>,
}

/// The remaining goals: the operands of one op from index `next` on, then `outer`.
struct Goals<'s, V> {
    terms: &'s [Term],
    values: &'s [V],
    is_swapped: bool,
    next: usize,
    outer: Option<&'s Goals<'s, V>>,
}

impl<'s, V: Copy> Goals<'s, V> {
    /// Returns the next pattern and the value to match it with.
    fn first(&self) -> Option<(&'s Term, V)> {
        let term = self.terms.get(self.next)?;
        let at = if self.is_swapped { self.values.len() - 1 - self.next } else { self.next };
        Some((term, self.values[at]))
    }
}

impl<'g, G: MatchGraph> Matcher<'g, G> {
    /// Creates a matcher that tries at most `fuel` candidates.
    pub fn new(graph: &'g G, rule: &'g CompiledRule, fuel: usize) -> Matcher<'g, G> {
        let state = Match { roots: SmallVec::new(), bindings: Bindings::of(rule), premises: Premises::new() };
        Matcher { graph, rule, fuel, state, trail: SmallVec::new(), tested: FxHashMap::default() }
    }

    /// Whether the enumeration stopped because the fuel was used up.
    pub fn is_exhausted(&self) -> bool {
        self.fuel == 0
    }

    /// Calls `found` with each match whose first root is `node`, until it breaks or the fuel is used up. `node` has the
    /// name and number of operands of the first root.
    pub fn at<F>(&mut self, node: G::Node, found: &mut F) -> ControlFlow<()>
    where
        F: FnMut(&MatchIn<G>) -> ControlFlow<()>,
    {
        self.root(&self.rule.roots[0], node, found)
    }

    fn root<F>(&mut self, pattern: &OpTerm, node: G::Node, found: &mut F) -> ControlFlow<()>
    where
        F: FnMut(&MatchIn<G>) -> ControlFlow<()>,
    {
        self.state.roots.push(node);
        self.op(pattern, node, Premises::new(), None, found)?;
        self.state.roots.pop();
        ControlFlow::Continue(())
    }

    /// Matches an op against a candidate, then the remaining goals.
    fn op<F>(
        &mut self,
        pattern: &OpTerm,
        node: G::Node,
        premises: Premises<G::Value>,
        goals: Option<&Goals<'_, G::Value>>,
        found: &mut F,
    ) -> ControlFlow<()>
    where
        F: FnMut(&MatchIn<G>) -> ControlFlow<()>,
    {
        self.fuel = self.fuel.saturating_sub(1);
        if self.fuel == 0 {
            return ControlFlow::Break(());
        }
        let mark = self.mark();
        premises.into_iter().for_each(|(a, b)| self.suppose(a, b));
        if self.results(pattern, node) && self.attrs(pattern, node) {
            let graph = self.graph;
            let (terms, values) = (&pattern.operands[..], graph.operands(node));
            let may_swap = pattern.commutative && !graph.is_same(values[0], values[1]);
            for is_swapped in [G::SWAPPED_FIRST, !G::SWAPPED_FIRST] {
                if may_swap || !is_swapped {
                    self.solve(Some(&Goals { terms, values, is_swapped, next: 0, outer: goals }), found)?;
                }
            }
        }
        self.undo(mark);
        ControlFlow::Continue(())
    }

    fn results(&mut self, pattern: &OpTerm, node: G::Node) -> bool {
        let Some(results) = self.graph.results(node, pattern.results.len()) else { return false };
        let variables = pattern.types.iter().zip(&pattern.results);
        results
            .into_iter()
            .zip(variables)
            .all(|(value, (&ty, &var))| self.bind_type(ty, value) && self.bind(var, || Arg::Value(value)))
    }

    fn attrs(&mut self, pattern: &OpTerm, node: G::Node) -> bool {
        let (graph, props) = (self.graph, self.graph.props(node));
        let ctx = &graph.module().ctx;
        let fits = pattern.attrs.iter().all(|(key, want)| match *want {
            AttrTerm::Is(attr) => ctx.dict_get(props, *key) == Some(attr),
            AttrTerm::Var(var) => {
                ctx.dict_get(props, *key).is_some_and(|attr| self.bind(Some(var), || Arg::Attr(attr)))
            }
            AttrTerm::Others(var) => self.bind(Some(var), || Arg::Attr(pattern.not_mentioned(ctx, props))),
        });
        fits && graph.allows_unmentioned(pattern, props)
    }

    /// Matches the remaining goals.
    fn solve<F>(&mut self, goals: Option<&Goals<'_, G::Value>>, found: &mut F) -> ControlFlow<()>
    where
        F: FnMut(&MatchIn<G>) -> ControlFlow<()>,
    {
        let Some(goals) = goals else {
            let all = self.state.roots.len() == self.rule.roots.len();
            return if all { self.done(found) } else { self.next_root(found) };
        };
        let Some((term, value)) = goals.first() else { return self.solve(goals.outer, found) };
        let rest = Goals { next: goals.next + 1, ..*goals };
        let (graph, mark) = (self.graph, self.mark());
        let fits = match term {
            Term::Op { op, result } => {
                for (node, premises) in graph.definitions(value, op, *result) {
                    self.op(op, node, premises, Some(&rest), found)?;
                }
                return ControlFlow::Continue(());
            }
            Term::Value { var, ty } => self.bind_type(*ty, value) && self.bind(Some(*var), || Arg::Value(value)),
            Term::Constant { var, ty } => {
                let constant = self.constant(value);
                constant.is_some_and(|attr| self.bind_type(*ty, value) && self.bind(Some(*var), || Arg::Attr(attr)))
            }
            Term::Number { value: number, ty } => {
                let constant = self.constant(value);
                constant.is_some_and(|attr| self.bind_type(*ty, value) && graph.module().ctx.is_uniform(attr, *number))
            }
        };
        if fits {
            self.solve(Some(&rest), found)?;
        }
        self.undo(mark);
        ControlFlow::Continue(())
    }

    fn constant(&mut self, value: G::Value) -> Option<Attr> {
        let (attr, known) = self.graph.constant(value)?;
        self.suppose(value, known);
        Some(attr)
    }

    /// Matches the next root: one that defines or uses a bound value.
    fn next_root<F>(&mut self, found: &mut F) -> ControlFlow<()>
    where
        F: FnMut(&MatchIn<G>) -> ControlFlow<()>,
    {
        let pattern = &self.rule.roots[self.state.roots.len()];
        let Some(anchor) = self.anchor(pattern) else { return ControlFlow::Continue(()) };
        let (graph, matched) = (self.graph, self.state.roots.clone());
        graph.further_roots(pattern, anchor, &matched).try_for_each(|node| self.root(pattern, node, found))
    }

    fn anchor(&self, pattern: &OpTerm) -> Option<Anchor<G::Value>> {
        let bound = |var: Var| self.state.bindings.value(var);
        let result = |(i, &var): (usize, &Option<Var>)| Some(Anchor::Result(i, bound(var?)?));
        let operand = |term: &Term| match term {
            Term::Value { var, .. } => bound(*var).map(Anchor::Operand),
            _ => None,
        };
        let results = || pattern.results.iter().enumerate().find_map(result);
        results().or_else(|| pattern.operands.iter().find_map(operand))
    }

    /// Completes a match: checks the conditions and evaluates the computations.
    fn done<F>(&mut self, found: &mut F) -> ControlFlow<()>
    where
        F: FnMut(&MatchIn<G>) -> ControlFlow<()>,
    {
        let mark = self.mark();
        if self.conditions() && self.computed() {
            found(&self.state)?;
        }
        self.undo(mark);
        ControlFlow::Continue(())
    }

    fn conditions(&mut self) -> bool {
        self.rule.conditions.iter().enumerate().all(|(number, call)| {
            let (RuleFn::Test(test), Some(args)) = (call.function.run, self.args_of(call)) else { return false };
            let holds = || test(self.graph.module(), &args);
            match args[..] {
                [Arg::Value(value)] => *self.tested.entry((number, value)).or_insert_with(holds),
                _ => holds(),
            }
        })
    }

    fn computed(&mut self) -> bool {
        self.rule.computed.iter().all(|(var, call)| {
            let RuleFn::Attr(compute) = call.function.run else { return false };
            let attr = self.args_of(call).and_then(|args| compute(self.graph.module(), &args));
            attr.is_some_and(|attr| self.bind(Some(*var), || Arg::Attr(attr)))
        })
    }

    fn args_of(&self, call: &Call) -> Option<SmallVec<[Arg; 4]>> {
        let params = call.params.iter().map(|&attr| Some(Arg::Attr(attr)));
        let arg = |&var: &Var| match self.state.bindings.get(var)? {
            Arg::Value(value) => self.graph.representative(value).map(Arg::Value),
            Arg::Attr(attr) => Some(Arg::Attr(attr)),
            Arg::Type(ty) => Some(Arg::Type(ty)),
        };
        call.args.iter().map(arg).chain(params).collect()
    }

    fn bind_type(&mut self, var: Option<Var>, value: G::Value) -> bool {
        let graph = self.graph;
        self.bind(var, || Arg::Type(graph.value_type(value)))
    }

    /// Binds a variable, or checks that it is bound to an equal value.
    fn bind(&mut self, var: Option<Var>, to: impl FnOnce() -> Arg<G::Value>) -> bool {
        let Some(var) = var else { return true };
        match (self.state.bindings.get(var), to()) {
            (None, to) => {
                self.state.bindings.set(var, Some(to));
                self.trail.push(var);
                true
            }
            (Some(Arg::Value(known)), Arg::Value(value)) => {
                let same = self.graph.is_same(known, value);
                if same {
                    self.suppose(known, value);
                }
                same
            }
            (Some(known), to) => known == to,
        }
    }

    /// Records that the match depends on the equality of two values.
    fn suppose(&mut self, a: G::Value, b: G::Value) {
        if a != b {
            self.state.premises.push((a, b));
        }
    }

    /// Returns the current choice point.
    fn mark(&self) -> (usize, usize) {
        (self.trail.len(), self.state.premises.len())
    }

    /// Undoes all bindings and premises since a choice point.
    fn undo(&mut self, (bound, premises): (usize, usize)) {
        for var in self.trail.drain(bound..) {
            self.state.bindings.set(var, None);
        }
        self.state.premises.truncate(premises);
    }
}
