//! Rewrite rules as one line of text each, declared beside the ops that they are about:
//!
//! ```text
//! xori(a, xori(a, b)) => b
//! andi(extsi(a: T), extsi(b: T)) => extsi(andi(a, b)): R
//! select(c, 1, 0): R => extui(c): R          if not_i1(R)
//! addi(addi(x, C), D) => addi(x, addi(C, D))
//! ```
//!
//! | in a rule | stands for |
//! |---|---|
//! | `name(...)`, `dialect.name(...)` | an op with these operands; of commutative ops in any order |
//! | `name{attr = word}(...)` | the op's attribute, as its custom form spells it; `attr = P` is a variable for it, and on the right `attr = f(P)` a computation by name |
//! | `name{* = P}(...)` | a variable for all attributes that are not mentioned otherwise; `* = f(P)` on the right |
//! | `f(C)` on the right | a constant that is computed by name |
//! | `x`, `x: T` | a value; the same letter, the same value; `T` is its type |
//! | `x: f32`, `1: i32` | a value, or a number, of this type |
//! | `C`, `C: T` | a constant, or on the right an equal one |
//! | `1`, `-1`, `2.0` | a constant that is this number everywhere; on the right of the root's type, or `1: T` |
//! | `x @ name(...)` | an op's result that has a name, for conditions |
//! | `if test(x, T), ...` | conditions by name; see [`Native`] |
//!
//! Attributes that the left side does not mention can be anything, and are dropped: on the right they have their defaults.
//! An op of constants on the right is folded at once. Several ops on the left, with commas between them, are replaced by as
//! many values on the right.
//!
//! A rule's result may be used wherever the original was, so the right side must *refine* the left: equal for all values
//! for which the left is defined and not poison.
//!
//! Both this text and others, such as IR, are read into one form, [`Compiled`]: a [`RuleSet`] of them is what drivers apply.

mod apply;
mod bindings;
mod builder;
mod instance;
mod matcher;
mod mutate;
mod parse;
mod price;
mod shape;

pub(crate) use apply::apply;
pub use apply::{apply_at, matches_at};
pub use bindings::Bindings;
pub use builder::{RightSideBuilder, build_right_side};
pub use instance::{Chooser, Signature, build_left_side};
pub use matcher::{Anchor, Match, MatchGraph, MatchIn, Matcher, Premises};
pub use mutate::{Mistake, Mutant};
pub use price::Price;

use crate::context::Context;
use crate::intern::{Attr, OpName, Str, Type};
use crate::module::{Module, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A rule as declared.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// For reports and debugging.
    pub name: &'static str,
    /// `left => right if conditions`
    pub text: &'static str,
    /// Whether floats may come out otherwise than before, a little.
    pub approx: bool,
}

/// Names a rule: `rule("xor-xor", "xori(a, xori(a, b)) => b")`.
pub const fn rule(name: &'static str, text: &'static str) -> Rule {
    Rule { name, text, approx: false }
}

/// Names a rule after which floats may come out otherwise than before, a little.
pub const fn approx(name: &'static str, text: &'static str) -> Rule {
    Rule { name, text, approx: true }
}

/// Rules that are used together where somebody asks for them, as `saturate` does, and that do not canonicalize.
#[derive(Clone, Copy, Debug)]
pub struct RuleGroup {
    /// What it is asked for by.
    pub name: &'static str,
    /// What the rules are for, in a line.
    pub doc: &'static str,
    /// The rules.
    pub rules: &'static [Rule],
}

/// A condition or computation that rules call by name.
pub struct Native {
    /// Its name in rules.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// What it is about.
    pub args: &'static [ArgKind],
    /// Names of the attributes that it takes besides. They come after the others.
    pub params: &'static [&'static str],
    /// Its meaning.
    pub run: NativeFn,
}

impl Native {
    /// A condition on these.
    pub const fn test(
        name: &'static str,
        doc: &'static str,
        args: &'static [ArgKind],
        run: fn(&Module, &[Arg]) -> bool,
    ) -> Native {
        Native { name, doc, args, params: &[], run: NativeFn::Test(run) }
    }

    /// A computation from these.
    pub const fn attr(
        name: &'static str,
        doc: &'static str,
        args: &'static [ArgKind],
        run: fn(&Module, &[Arg]) -> Option<Attr>,
    ) -> Native {
        Native { name, doc, args, params: &[], run: NativeFn::Attr(run) }
    }

    /// Whether it is a condition.
    pub fn is_test(&self) -> bool {
        matches!(self.run, NativeFn::Test(_))
    }
}

/// What an argument of a [`Native`] can be.
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
    /// Whether it takes what a variable of a kind stands for.
    pub fn takes(self, kind: ArgKind) -> bool {
        self == ArgKind::Any || self == kind
    }

    /// What it is called.
    pub fn word(self) -> &'static str {
        match self {
            ArgKind::Value => "value",
            ArgKind::Attr => "attribute or constant",
            ArgKind::Type => "type",
            ArgKind::Any => "value, constant or type",
        }
    }
}

/// The meaning of a [`Native`].
#[derive(Clone, Copy)]
pub enum NativeFn {
    /// Whether a rule may fire.
    Test(fn(&Module, &[Arg]) -> bool),
    /// An attribute from attributes; `None`: the rule does not fire.
    Attr(fn(&Module, &[Arg]) -> Option<Attr>),
}

/// The binding of a variable of a rule. `V` is a value of what the rule is matched in.
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
    /// The value. Panics on others: a mistake in a rule.
    pub fn value(self) -> Value {
        match self {
            Arg::Value(v) => v,
            other => panic!("a rule passes {other:?} for a value"),
        }
    }

    /// The attribute. Panics on others: a mistake in a rule.
    pub fn attr(self) -> Attr {
        match self {
            Arg::Attr(a) => a,
            other => panic!("a rule passes {other:?} for an attribute"),
        }
    }

    /// The type. Panics on others: a mistake in a rule.
    pub fn ty(self) -> Type {
        match self {
            Arg::Type(t) => t,
            other => panic!("a rule passes {other:?} for a type"),
        }
    }
}

/// A variable, by number.
pub type Var = usize;

/// A rule, read. Readers call [`Compiled::finish`], after which equal rules are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// For reports and debugging.
    pub name: Str,
    /// Of several rules that fit, those with more of it are tried first.
    pub benefit: u32,
    /// Whether floats may come out otherwise than before, a little.
    pub approx: bool,
    /// The ops that it replaces. Matching begins with the first; others use or define what those before them do.
    pub roots: Vec<OpTerm>,
    /// Conditions, once all is matched.
    pub conditions: Vec<Call>,
    /// Attributes that are computed, once the conditions hold.
    pub computed: Vec<(Var, Call)>,
    /// What replaces each result of each root.
    pub right: Vec<Term>,
    /// Type variables that stand for one type only.
    pub fixed: Vec<(Var, Type)>,
    /// How many variables there are.
    pub variables: usize,
}

/// Something that a value can be.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// Any value, or one that is known.
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
    /// A constant that is a number everywhere.
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
        /// Which result.
        result: usize,
    },
}

/// An op.
#[derive(Clone, Debug, PartialEq)]
pub struct OpTerm {
    /// Its name.
    pub name: OpName,
    /// Whether two operands may be swapped.
    pub commutative: bool,
    /// The attributes that matter.
    pub attrs: Vec<(Str, AttrTerm)>,
    /// Its operands.
    pub operands: Vec<Term>,
    /// The types of its results.
    pub types: Vec<Option<Var>>,
    /// Variables for its results.
    pub results: Vec<Option<Var>>,
}

/// An attribute of an op.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrTerm {
    /// A variable for it.
    Var(Var),
    /// This one.
    Is(Attr),
    /// Not one attribute, but a variable for the dictionary of all that are not mentioned. The name is [`OTHERS`].
    Others(Var),
}

/// The name under which a rule mentions all other attributes of an op.
pub const OTHERS: &str = "*";

/// A condition or computation.
#[derive(Clone)]
pub struct Call {
    /// Which.
    pub native: &'static Native,
    /// On what.
    pub args: Vec<Var>,
    /// The attributes that it takes besides.
    pub params: Vec<Attr>,
}

impl PartialEq for Call {
    fn eq(&self, other: &Call) -> bool {
        self.native.name == other.native.name && self.args == other.args && self.params == other.params
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?}, {:?})", self.native.name, self.args, self.params)
    }
}

/// Rules that are applied together, found by the op at their first root.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Compiled>,
    by_root: FxHashMap<OpName, Vec<usize>>,
    /// What ops cost, if rules are applied only where the program then costs less.
    pub price: Option<Price>,
}

impl RuleSet {
    /// Those of more benefit come first, otherwise the order stays.
    pub fn new(mut rules: Vec<Compiled>) -> RuleSet {
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.benefit));
        let mut by_root: FxHashMap<OpName, Vec<usize>> = FxHashMap::default();
        for (i, rule) in rules.iter().enumerate() {
            by_root.entry(rule.roots[0].name).or_default().push(i);
        }
        RuleSet { rules, by_root, price: None }
    }

    /// All.
    pub fn rules(&self) -> &[Compiled] {
        &self.rules
    }

    /// Those whose first root is such an op.
    pub fn of(&self, root: OpName) -> impl Iterator<Item = &Compiled> {
        self.by_root.get(&root).into_iter().flatten().map(|&i| &self.rules[i])
    }
}

/// The rules of a context's dialects.
pub(crate) struct RuleTable {
    pub(crate) set: RuleSet,
    groups: Vec<(&'static RuleGroup, Vec<Compiled>)>,
    errors: Vec<String>,
}

impl RuleTable {
    pub(crate) fn new(ctx: &Context) -> RuleTable {
        let mut errors = Vec::new();
        let mut read = |dialect, rules: &[Rule]| -> Vec<Compiled> {
            let one = |&rule: &Rule| {
                let compiled = parse::compile(ctx, dialect, rule);
                compiled.map_err(|why| errors.push(format!("rule '{}': {why}", rule.name))).ok()
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
    /// The rules of all dialects, read once.
    fn rules(&self) -> &RuleTable {
        self.extensions.get_or_init(|| RuleTable::new(self))
    }

    /// What is wrong with declared rules; empty in a correct program. Wrong rules never fire.
    pub fn rule_errors(&self) -> &[String] {
        &self.rules().errors
    }

    /// The rules of dialects that canonicalize.
    pub fn declared_rules(&self) -> &RuleSet {
        &self.rules().set
    }

    /// The rules of dialects that are used where somebody asks for them.
    pub fn rule_groups(&self) -> impl Iterator<Item = (&'static RuleGroup, &[Compiled])> {
        self.rules().groups.iter().map(|(group, rules)| (*group, rules.as_slice()))
    }

    /// All rules of dialects.
    pub fn all_rules(&self) -> impl Iterator<Item = &Compiled> {
        self.declared_rules().rules().iter().chain(self.rule_groups().flat_map(|(_, rules)| rules))
    }

    /// Gives the context rules that no dialect declares, for passes that ask for them. `false` if it has such rules already.
    pub fn load_rules(&self, rules: RuleSet) -> bool {
        self.extensions.set(Arc::new(rules))
    }

    /// The rules that were given to the context.
    pub fn loaded_rules(&self) -> Option<&Arc<RuleSet>> {
        self.extensions.get()
    }

    /// The condition or computation of that name.
    pub fn native(&self, name: &str) -> Option<&'static Native> {
        self.natives().find(|native| native.name == name)
    }

    /// All conditions and computations.
    pub fn natives(&self) -> impl Iterator<Item = &'static Native> + '_ {
        self.dialects().iter().flat_map(|d| d.natives).copied()
    }
}
