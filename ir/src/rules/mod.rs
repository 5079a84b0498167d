//! Rewrite rules as one line of text each, declared beside the ops that they rewrite:
//!
//! ```text
//! xori(a, xori(a, b)) => b
//! andi(extsi(a: T), extsi(b: T)) => extsi(andi(a, b)): R
//! select(c, 1, 0): R => extui(c): R          if not_i1(R)
//! addi(addi(x, C), D) => addi(x, addi(C, D))
//! ```
//!
//! | in a rule | meaning |
//! |---|---|
//! | `name(...)`, `dialect.name(...)` | an op with these operands; commutative ops match in any order |
//! | `name{attr = word}(...)` | an attribute of the op, as its custom form spells it; `attr = P` binds a variable, and on the right `attr = f(P)` calls a function |
//! | `name{operandSegmentSizes = S}(...)` | a variable for which optional operands are given; otherwise the first ones |
//! | `name{* = P}(...)` | a variable for all attributes that are not mentioned; `* = f(P)` on the right |
//! | `f(C)` on the right | a constant computed by a function |
//! | `x`, `x: T` | a value; each occurrence is the same value; `T` is its type |
//! | `x: f32`, `1: i32` | a value or number of this type |
//! | `C`, `C: T` | a constant, or on the right an equal one |
//! | `1`, `-1`, `2.0` | a constant with this number in all elements; on the right of the root's type, or `1: T` |
//! | `x @ name(...)` | a name for an op's result, for conditions |
//! | `if test(x, T), ...` | conditions, called by name; see [`RuleFunction`] |
//!
//! Attributes that the left side does not mention match any value and are dropped: on the right they have their
//! defaults. New ops with constant operands are folded at once. Several comma-separated ops on the left are replaced by
//! as many values on the right.
//!
//! The right side must *refine* the left: it is equal for all values for which the left is defined and not poison.
//!
//! This text and other notations, such as IR, are parsed into one form, [`CompiledRule`]; drivers apply a [`RuleSet`] of
//! them.

mod apply;
mod bindings;
mod builder;
mod error;
mod instance;
mod matcher;
mod mutate;
mod parse;
mod profit;
mod shape;

pub(crate) use apply::apply;
pub use apply::{apply_at, matches_at};
pub use bindings::Bindings;
pub use builder::{RightSideBuilder, build_right_side};
pub use error::RuleError;
pub use instance::{Chooser, OpSignature, build_left_side};
pub use matcher::{Anchor, Match, MatchGraph, MatchIn, Matcher, Premises};
pub use mutate::{Mistake, Mutant};
pub use profit::CostFn;

use crate::context::Context;
use crate::declaration_error::{DeclarationError, Declared};
use crate::intern::{Attr, OpName, Str, Type};
use crate::module::{Module, Value};
use crate::op_info::Dialect;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A rule as declared.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The name, for reports and debugging.
    pub name: &'static str,
    /// `left => right if conditions`
    pub text: &'static str,
    /// Whether results of float ops may differ slightly (fast-math).
    pub approx: bool,
    /// Whether they are right to a percent only.
    pub coarse: bool,
}

/// Declares a rule: `rule("xor-xor", "xori(a, xori(a, b)) => b")`.
pub const fn rule(name: &'static str, text: &'static str) -> Rule {
    Rule { name, text, approx: false, coarse: false }
}

/// Declares an approximate rule: results of float ops may differ slightly (fast-math).
pub const fn approx(name: &'static str, text: &'static str) -> Rule {
    Rule { name, text, approx: true, coarse: false }
}

/// Declares a coarse rule: an approximation that is right to a percent.
pub const fn coarse(name: &'static str, text: &'static str) -> Rule {
    Rule { name, text, approx: true, coarse: true }
}

/// A group of rules that passes such as `saturate` apply on request, apart from canonicalization.
#[derive(Clone, Copy, Debug)]
pub struct RuleGroup {
    /// The name by which passes select the group.
    pub name: &'static str,
    /// A one-line description of the rules' purpose.
    pub doc: &'static str,
    /// The rules.
    pub rules: &'static [Rule],
}

/// A function that rules call by name: a condition, or the computation of an attribute.
pub struct RuleFunction {
    /// The function's name in rules.
    pub name: &'static str,
    /// A one-line description.
    pub doc: &'static str,
    /// The kinds of the arguments.
    pub args: &'static [ArgKind],
    /// The names of additional attribute parameters, which follow the arguments.
    pub params: &'static [&'static str],
    /// The implementation.
    pub run: RuleFn,
}

impl RuleFunction {
    /// Declares a condition with these arguments.
    pub const fn test(
        name: &'static str,
        doc: &'static str,
        args: &'static [ArgKind],
        run: fn(&Module, &[Arg]) -> bool,
    ) -> RuleFunction {
        RuleFunction { name, doc, args, params: &[], run: RuleFn::Test(run) }
    }

    /// Declares a computation with these arguments.
    pub const fn attr(
        name: &'static str,
        doc: &'static str,
        args: &'static [ArgKind],
        run: fn(&Module, &[Arg]) -> Option<Attr>,
    ) -> RuleFunction {
        RuleFunction { name, doc, args, params: &[], run: RuleFn::Attr(run) }
    }

    /// Whether the function is a condition.
    pub fn is_test(&self) -> bool {
        matches!(self.run, RuleFn::Test(_))
    }
}

/// The kind of an argument of a [`RuleFunction`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgKind {
    /// A value.
    Value,
    /// An attribute, or the value of a constant.
    Attr,
    /// A type.
    Type,
    /// Anything that has a type.
    Any,
}

impl ArgKind {
    /// Whether an argument of this kind accepts a variable of kind `kind`.
    pub fn takes(self, kind: ArgKind) -> bool {
        self == ArgKind::Any || self == kind
    }

    /// Returns the name of the kind in messages.
    pub fn word(self) -> &'static str {
        match self {
            ArgKind::Value => "value",
            ArgKind::Attr => "attribute or constant",
            ArgKind::Type => "type",
            ArgKind::Any => "value, constant or type",
        }
    }
}

/// The implementation of a [`RuleFunction`].
#[derive(Clone, Copy)]
pub enum RuleFn {
    /// A condition on which the rule fires.
    Test(fn(&Module, &[Arg]) -> bool),
    /// A computation of an attribute; the rule does not fire on `None`.
    Attr(fn(&Module, &[Arg]) -> Option<Attr>),
}

/// The binding of a variable of a rule. `V` is the value type of the graph in which the rule is matched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Arg<V = Value> {
    /// A value.
    Value(V),
    /// An attribute, or the value of a constant.
    Attr(Attr),
    /// A type.
    Type(Type),
}

impl Arg {
    /// Returns the value. Panics on other kinds, a bug in the declaration of a rule function.
    pub fn value(self) -> Value {
        match self {
            Arg::Value(v) => v,
            other => panic!("a rule passes {other:?} for a value"),
        }
    }

    /// Returns the attribute. Panics on other kinds, a bug in the declaration of a rule function.
    pub fn attr(self) -> Attr {
        match self {
            Arg::Attr(a) => a,
            other => panic!("a rule passes {other:?} for an attribute"),
        }
    }

    /// Returns the type. Panics on other kinds, a bug in the declaration of a rule function.
    pub fn ty(self) -> Type {
        match self {
            Arg::Type(t) => t,
            other => panic!("a rule passes {other:?} for a type"),
        }
    }
}

/// The index of a variable of a rule.
pub type Var = usize;

/// A parsed rule. Parsers call [`CompiledRule::finish`], which brings it into normal form.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledRule {
    /// The name, for reports and debugging.
    pub name: Str,
    /// The benefit: among matching rules, those of greater benefit are tried first.
    pub benefit: u32,
    /// Whether results of float ops may differ slightly (fast-math).
    pub approx: bool,
    /// The root ops, which are replaced. Matching begins with the first; each further root uses or defines a value of
    /// an earlier one.
    pub roots: Vec<OpTerm>,
    /// The conditions, checked after matching.
    pub conditions: Vec<Call>,
    /// The computed attributes, evaluated once the conditions hold.
    pub computed: Vec<(Var, Call)>,
    /// The replacement of each result of each root.
    pub right: Vec<Term>,
    /// Type variables with a fixed type.
    pub fixed: Vec<(Var, Type)>,
    /// Number of variables.
    pub variables: usize,
}

/// A pattern for a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// Any value, or the value to which the variable is bound.
    Value {
        /// The value.
        var: Var,
        /// Its type.
        ty: Option<Var>,
    },
    /// A constant.
    Constant {
        /// The attribute that is its value.
        var: Var,
        /// Its type.
        ty: Option<Var>,
    },
    /// A constant with this number in all elements.
    Number {
        /// The number.
        value: f64,
        /// Its type.
        ty: Option<Var>,
    },
    /// A result of an op.
    Op {
        /// The op.
        op: OpTerm,
        /// Index of the result.
        result: usize,
    },
}

/// A pattern for an op.
#[derive(Clone, Debug, PartialEq)]
pub struct OpTerm {
    /// Its name.
    pub name: OpName,
    /// Whether the two operands may be swapped.
    pub commutative: bool,
    /// The attributes that the pattern mentions.
    pub attrs: Vec<(Str, AttrTerm)>,
    /// The operands.
    pub operands: Vec<Term>,
    /// The type variables of the results.
    pub types: Vec<Option<Var>>,
    /// The value variables of the results.
    pub results: Vec<Option<Var>>,
}

/// A pattern for an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrTerm {
    /// A variable for the attribute.
    Var(Var),
    /// A fixed attribute.
    Is(Attr),
    /// A variable for the dictionary of all attributes that the pattern does not mention; its key is [`OTHERS`].
    Others(Var),
}

/// The key for all attributes of an op that a rule does not mention.
pub const OTHERS: &str = "*";

/// The key for the sizes of an op's operand groups. A term that does not mention it has optional groups filled from first
/// to last.
const SEGMENT_SIZES: &str = "operandSegmentSizes";

/// A call of a condition or computation.
#[derive(Clone)]
pub struct Call {
    /// The function.
    pub function: &'static RuleFunction,
    /// The arguments.
    pub args: Vec<Var>,
    /// The attribute parameters.
    pub params: Vec<Attr>,
}

impl PartialEq for Call {
    fn eq(&self, other: &Call) -> bool {
        self.function.name == other.function.name && self.args == other.args && self.params == other.params
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?}, {:?})", self.function.name, self.args, self.params)
    }
}

/// Rules that are applied together, indexed by the op name of their first root.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<CompiledRule>,
    by_root: FxHashMap<OpName, Vec<usize>>,
    /// The cost of ops, if rules are applied only where they are profitable.
    pub cost_fn: Option<CostFn>,
}

impl RuleSet {
    /// Creates a set of rules, sorted by descending benefit; the sort is stable.
    pub fn new(mut rules: Vec<CompiledRule>) -> RuleSet {
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.benefit));
        let mut by_root: FxHashMap<OpName, Vec<usize>> = FxHashMap::default();
        for (i, rule) in rules.iter().enumerate() {
            by_root.entry(rule.roots[0].name).or_default().push(i);
        }
        RuleSet { rules, by_root, cost_fn: None }
    }

    /// Returns all rules.
    pub fn rules(&self) -> &[CompiledRule] {
        &self.rules
    }

    /// Returns the rules whose first root is an op of this name.
    pub fn of(&self, root: OpName) -> impl Iterator<Item = &CompiledRule> {
        self.by_root.get(&root).into_iter().flatten().map(|&i| &self.rules[i])
    }
}

/// The rules of a context's dialects.
pub(crate) struct RuleTable {
    pub(crate) set: RuleSet,
    groups: Vec<(&'static RuleGroup, Vec<CompiledRule>)>,
    errors: Vec<DeclarationError>,
}

impl RuleTable {
    pub(crate) fn new(ctx: &Context) -> RuleTable {
        let mut errors = Vec::new();
        let mut read = |dialect: &'static Dialect, rules: &[Rule]| -> Vec<CompiledRule> {
            let one = |&rule: &Rule| {
                let compiled = parse::compile(ctx, dialect, rule);
                let error = |why: String| DeclarationError::new(Declared::Rule, dialect.name, rule.name, why);
                compiled.map_err(|why| errors.push(error(why))).ok()
            };
            rules.iter().filter_map(one).collect()
        };
        let dialects = || ctx.dialects().iter();
        let canonical = dialects().flat_map(|dialect| read(dialect, dialect.rules)).collect();
        let groups = dialects().flat_map(|dialect| dialect.rule_groups.iter().map(move |group| (dialect, group)));
        let groups = groups.map(|(dialect, group)| (group, read(dialect, group.rules))).collect();
        RuleTable { set: RuleSet::new(canonical), groups, errors }
    }
}

impl Context {
    /// Returns the rules of all dialects, parsed on first use.
    fn rules(&self) -> &RuleTable {
        self.extensions.get_or_init(|| RuleTable::new(self))
    }

    /// Returns the errors in declared rules. Invalid rules never fire.
    pub fn rule_errors(&self) -> &[DeclarationError] {
        &self.rules().errors
    }

    /// Returns the canonicalization rules of all dialects.
    pub fn declared_rules(&self) -> &RuleSet {
        &self.rules().set
    }

    /// Returns the rule groups of all dialects.
    pub fn rule_groups(&self) -> impl Iterator<Item = (&'static RuleGroup, &[CompiledRule])> {
        self.rules().groups.iter().map(|(group, rules)| (*group, rules.as_slice()))
    }

    /// Returns all rules of all dialects.
    pub fn all_rules(&self) -> impl Iterator<Item = &CompiledRule> {
        self.declared_rules().rules().iter().chain(self.rule_groups().flat_map(|(_, rules)| rules))
    }

    /// Adds rules that no dialect declares to the context, for passes that request them. Returns `false` if rules were
    /// already added.
    pub fn load_rules(&self, rules: RuleSet) -> bool {
        self.extensions.set(Arc::new(rules))
    }

    /// Returns the rules that were added to the context.
    pub fn loaded_rules(&self) -> Option<&Arc<RuleSet>> {
        self.extensions.get()
    }

    /// Returns the rule function of a name.
    pub fn rule_function(&self, name: &str) -> Option<&'static RuleFunction> {
        self.rule_functions().find(|function| function.name == name)
    }

    /// Returns all rule functions.
    pub fn rule_functions(&self) -> impl Iterator<Item = &'static RuleFunction> + '_ {
        self.dialects().iter().flat_map(|d| d.rule_functions).copied()
    }
}
