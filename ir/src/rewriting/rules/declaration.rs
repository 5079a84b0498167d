//! Rules as dialects declare them: text, and the functions that it calls.

use crate::intern::{Attr, Type};
use crate::module::{Module, Value};

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
