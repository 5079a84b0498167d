//! Where rules match in an e-graph: all ways, up to a limit.

use crate::equation::{Equations, Usual};
use crate::graph::{Children, Graph, Key, Node};
use crate::journal::Premises;
use crate::program::Program;
use egg::Id;
use gradus_ir::rules::{Arg, AttrTerm, Call, Compiled, NativeFn, OpTerm, Term, Var};
use gradus_ir::{Attr, Module, Type};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::cell::Cell;

/// What a variable stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bound {
    /// All that is equal to a node.
    Class(Id),
    /// An attribute.
    Attr(Attr),
    /// A type.
    Type(Type),
}

/// What the variables of a rule stand for.
pub type Bindings = SmallVec<[Option<Bound>; 8]>;

/// A way in which a rule matches.
#[derive(Clone, Debug)]
pub struct Match {
    /// The nodes of the results of its roots.
    pub results: SmallVec<[Id; 2]>,
    /// What its variables stand for.
    pub bindings: Bindings,
    /// What is equal, without which it would not match.
    pub premises: Premises,
}

/// One search looks at so many nodes for each match that it may find, and some more.
const FUEL_PER_MATCH: usize = 50;

/// The ways in which a rule matches in classes that hold nodes of its root's name; at most so many. Says whether there may
/// be more.
pub fn search(
    program: &Program<'_>,
    equations: &Equations,
    rule: &Compiled,
    taken: &FxHashSet<Id>,
    classes: impl IntoIterator<Item = Id>,
    most: usize,
) -> (Vec<Match>, bool) {
    let root = &rule.roots[0];
    let search = Search {
        m: program.m,
        graph: &program.graph,
        equations,
        rule,
        taken: Some(taken).filter(|_| pairs(rule)),
        fuel: Cell::new(FUEL_PER_MATCH * most + program.graph.number_of_classes()),
        most,
    };
    let mut found = Vec::new();
    for class in classes {
        let mut bindings: Bindings = smallvec::smallvec![None; rule.variables];
        rule.fixed.iter().for_each(|&(var, ty)| bindings[var] = Some(Bound::Type(ty)));
        let state = State { bindings, roots: 1, ..State::default() };
        search.ops(root, Place { class, operand: None }, &state, &mut found);
    }
    let more = found.len() > most || search.fuel.get() == 0;
    found.truncate(most);
    (found, more)
}

/// Whether a rule puts two ops of a kind together. Those that it does are not put together with others, but what they
/// become is: so of `n` ops there are `n - 1` pairs at most, and not all subsets of them.
pub fn pairs(rule: &Compiled) -> bool {
    match &rule.roots[..] {
        [a, b] => a.name == b.name && a.results.len() == 1 && !rule.keeps(0) && !rule.keeps(1),
        _ => false,
    }
}

/// What is still to be matched, and by which node's class.
type Goals<'r> = SmallVec<[(&'r Term, Id); 4]>;

#[derive(Clone, Default)]
struct State<'r> {
    goals: Goals<'r>,
    bindings: Bindings,
    results: SmallVec<[Id; 2]>,
    premises: Premises,
    /// How many roots are matched, or are being matched.
    roots: usize,
}

/// Where an op is looked for.
#[derive(Clone, Copy)]
struct Place {
    class: Id,
    /// The node that is used there; of roots, there is none.
    operand: Option<Id>,
}

struct Search<'r> {
    m: &'r Module,
    graph: &'r Graph,
    equations: &'r Equations,
    rule: &'r Compiled,
    /// Of a rule that puts two ops together, those that it has already put into a pair.
    taken: Option<&'r FxHashSet<Id>>,
    fuel: Cell<usize>,
    most: usize,
}

impl<'r> Search<'r> {
    /// Whether there is enough.
    fn is_done(&self, found: &[Match]) -> bool {
        found.len() > self.most || self.fuel.get() == 0
    }

    /// The nodes of an op's results: of its only result, the op itself.
    fn results_of(&self, node: &Node, class: Id, term: &OpTerm) -> SmallVec<[Id; 2]> {
        if term.results.len() == 1 {
            return smallvec::smallvec![node.id];
        }
        let one = |i: usize| {
            let result = self.graph.lookup(Node::result(i as u32, class))?;
            let is_it = |n: &&Node| n.key == Key::Result(i as u32) && self.graph.find(n.children[0]) == class;
            self.graph[result].iter().find(is_it).map(|node| node.id)
        };
        (0..term.results.len()).map_while(one).collect()
    }

    /// The operands that a node was entered with.
    fn operands(&self, node: &Node) -> &'r Children {
        &self.graph.nodes()[usize::from(node.id)].children
    }

    /// Matches each node of a class that fits, and then the other goals.
    fn ops(&self, term: &'r OpTerm, place: Place, state: &State<'r>, found: &mut Vec<Match>) {
        for node in self.graph[place.class].iter() {
            let Key::Op { name, props, .. } = node.key else { continue };
            if name != term.name || node.children.len() != term.operands.len() || self.is_done(found) {
                continue;
            }
            if place.operand.is_none() && !self.is_free(node, state) {
                continue;
            }
            self.fuel.set(self.fuel.get() - 1);
            let mut state = state.clone();
            let results = self.results_of(node, place.class, term);
            let fits = results.len() == term.results.len()
                && self.bind_results(term, &results, &mut state)
                && self.attrs(term, props, &mut state.bindings);
            if !fits {
                continue;
            }
            match place.operand {
                Some(operand) => suppose(&mut state.premises, operand, node.id),
                None => state.results.extend(results),
            }
            let operands = self.operands(node).iter().copied();
            if term.commutative && node.children.len() == 2 && node.children[0] != node.children[1] {
                let mut swapped = state.clone();
                swapped.goals.extend(term.operands.iter().rev().zip(operands.clone()));
                self.solve(swapped, found);
            }
            state.goals.extend(term.operands.iter().zip(operands).rev());
            self.solve(state, found);
        }
    }

    /// Whether a node may be a root. Each pair is found from one of its two, and none is in two pairs.
    fn is_free(&self, node: &Node, state: &State<'_>) -> bool {
        self.taken
            .is_none_or(|taken| !taken.contains(&node.id) && state.results.first().is_none_or(|&first| node.id > first))
    }

    fn bind_results(&self, term: &OpTerm, results: &[Id], state: &mut State<'_>) -> bool {
        results.iter().zip(term.types.iter().zip(&term.results)).all(|(&node, (&ty, &var))| {
            bind(&mut state.bindings, ty, Bound::Type(self.graph[node].data.ty)) && self.bind_node(state, var, node)
        })
    }

    /// Makes a variable stand for what is equal to a node, or checks that it already does.
    fn bind_node(&self, state: &mut State<'_>, var: Option<Var>, node: Id) -> bool {
        let Some(var) = var else { return true };
        match *state.bindings[var].get_or_insert(Bound::Class(node)) {
            Bound::Class(other) if self.graph.find(other) == self.graph.find(node) => {
                suppose(&mut state.premises, other, node);
                true
            }
            _ => false,
        }
    }

    /// Attributes that the rule has no variable for must be what they are on ops that it makes: it would drop them, and with
    /// them promises, which is no equation.
    fn attrs(&self, term: &OpTerm, props: Attr, b: &mut Bindings) -> bool {
        let others = |var| bind(b, Some(var), Bound::Attr(term.not_mentioned(&self.m.ctx, props)));
        if !term.others().is_none_or(others) {
            return false;
        }
        self.equations.specs(term.name).iter().all(|spec| {
            let have = self.m.ctx.dict_get(props, spec.key);
            let want = term.attrs.iter().find(|(key, _)| *key == spec.key);
            match (want, have) {
                (Some((_, AttrTerm::Is(attr))), have) => have == Some(*attr),
                (Some((_, AttrTerm::Var(var))), Some(have)) => bind(b, Some(*var), Bound::Attr(have)),
                (Some(_), _) => false,
                (None, _) if term.others().is_some() => true,
                (None, None) => true,
                (None, Some(have)) => match spec.usual {
                    Usual::Is(usual) => usual == have,
                    Usual::Absent => false,
                    Usual::Any => true,
                },
            }
        })
    }

    fn solve(&self, mut state: State<'r>, found: &mut Vec<Match>) {
        if self.is_done(found) {
            return;
        }
        let Some((term, operand)) = state.goals.pop() else {
            match state.roots < self.rule.roots.len() {
                true => self.next_root(&state, found),
                false => self.done(state, found),
            }
            return;
        };
        let fact = &self.graph[operand].data;
        let ty = Bound::Type(fact.ty);
        let fits = match term {
            Term::Op { op, result } => return self.source(op, *result, operand, &state, found),
            Term::Value { var, ty: t } => {
                bind(&mut state.bindings, *t, ty) && self.bind_node(&mut state, Some(*var), operand)
            }
            Term::Constant { var, ty: t } => fact.constant.is_some_and(|attr| {
                suppose(&mut state.premises, operand, fact.node);
                bind(&mut state.bindings, *t, ty) && bind(&mut state.bindings, Some(*var), Bound::Attr(attr))
            }),
            Term::Number { value, ty: t } => {
                suppose(&mut state.premises, operand, fact.node);
                bind(&mut state.bindings, *t, ty)
                    && fact.constant.is_some_and(|attr| self.m.ctx.is_uniform(attr, *value))
            }
        };
        if fits {
            self.solve(state, found);
        }
    }

    /// Matches an op by one of its results, which is equal to an operand.
    fn source(&self, op: &'r OpTerm, result: usize, operand: Id, state: &State<'r>, found: &mut Vec<Match>) {
        let class = self.graph.find(operand);
        if op.results.len() == 1 {
            return self.ops(op, Place { class, operand: Some(operand) }, state, found);
        }
        for node in self.graph[class].iter() {
            if node.key == Key::Result(result as u32) {
                let all = self.operands(node)[0];
                let mut state = state.clone();
                suppose(&mut state.premises, operand, node.id);
                self.ops(op, Place { class: self.graph.find(all), operand: Some(all) }, &state, found);
            }
        }
    }

    /// Matches the next root: one that uses or makes what is known.
    fn next_root(&self, state: &State<'r>, found: &mut Vec<Match>) {
        let root = &self.rule.roots[state.roots];
        let known = |var: Var| match state.bindings[var] {
            Some(Bound::Class(node)) => Some(self.graph.find(node)),
            _ => None,
        };
        let made = root.results.iter().enumerate().find_map(|(i, var)| Some((i, known((*var)?)?)));
        let used = root.operands.iter().find_map(|operand| match operand {
            Term::Value { var, .. } => known(*var),
            _ => None,
        });
        let mut classes: Vec<Id> = match (made, used) {
            (Some((_, class)), _) if root.results.len() == 1 => vec![class],
            (Some((i, class)), _) => {
                let of = |node: &&Node| node.key == Key::Result(i as u32);
                self.graph[class].iter().filter(of).map(|node| self.graph.find(node.children[0])).collect()
            }
            (None, Some(class)) => self.graph[class].parents().map(|id| self.graph.find(id)).collect(),
            (None, None) => Vec::new(),
        };
        classes.sort_unstable();
        classes.dedup();
        let before = found.len();
        for class in classes {
            if self.taken.is_some() && found.len() > before {
                break;
            }
            let next = State { roots: state.roots + 1, ..state.clone() };
            self.ops(root, Place { class, operand: None }, &next, found);
        }
    }

    /// All is matched: the conditions must hold, and what is computed must exist.
    fn done(&self, mut state: State<'r>, found: &mut Vec<Match>) {
        let holds = |call: &Call| match call.native.run {
            NativeFn::Test(test) => self.args_of(call, &state.bindings).is_some_and(|args| test(self.m, &args)),
            NativeFn::Attr(_) => false,
        };
        if !self.rule.conditions.iter().all(holds) {
            return;
        }
        for (var, call) in &self.rule.computed {
            let NativeFn::Attr(compute) = call.native.run else { return };
            let Some(attr) = self.args_of(call, &state.bindings).and_then(|args| compute(self.m, &args)) else {
                return;
            };
            state.bindings[*var] = Some(Bound::Attr(attr));
        }
        found.push(Match { results: state.results, bindings: state.bindings, premises: state.premises });
    }

    fn args_of(&self, call: &Call, b: &Bindings) -> Option<SmallVec<[Arg; 4]>> {
        let params = call.params.iter().map(|&attr| Some(Arg::Attr(attr)));
        let arg = |&var: &Var| match b[var]? {
            Bound::Class(node) => self.graph[node].data.value.map(Arg::Value),
            Bound::Attr(attr) => Some(Arg::Attr(attr)),
            Bound::Type(ty) => Some(Arg::Type(ty)),
        };
        call.args.iter().map(arg).chain(params).collect()
    }
}

/// Makes a variable stand for something, or checks that it already does.
fn bind(b: &mut Bindings, var: Option<Var>, to: Bound) -> bool {
    let Some(var) = var else { return true };
    *b[var].get_or_insert(to) == to
}

/// Notes that it matters that two nodes are equal.
fn suppose(premises: &mut Premises, a: Id, b: Id) {
    if a != b {
        premises.push((a, b));
    }
}
