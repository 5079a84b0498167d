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
//! | `x`, `x: T` | a value; the same letter, the same value; `T` is its type |
//! | `C`, `C: T` | a constant, or on the right an equal one |
//! | `1`, `-1`, `2.0` | a constant that is this number everywhere; on the right of the root's type, or `1: T` |
//! | `x @ name(...)` | an op's result that has a name, for conditions |
//! | `if test(x, T), ...` | conditions by name; see [`Native`] |
//!
//! Attributes that the left side does not mention can be anything, and are dropped: on the right they have their defaults.
//! An op of constants on the right is folded at once.
//!
//! A rule's result may be used wherever the original was, so the right side must *refine* the left: equal for all values
//! for which the left is defined and not poison.

mod apply;
mod instance;
mod parse;

pub(crate) use apply::apply;
pub use instance::{Chooser, Signature};

use crate::context::{Attr, Context, OpName, Str, Type};
use crate::module::{Module, Value};
use rustc_hash::FxHashMap;

/// A rule as declared.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// For reports and debugging.
    pub name: &'static str,
    /// `left => right if conditions`
    pub text: &'static str,
}

/// Names a rule: `rule("xor-xor", "xori(a, xori(a, b)) => b")`.
pub const fn rule(name: &'static str, text: &'static str) -> Rule {
    Rule { name, text }
}

/// A condition or computation that rules call by name.
pub struct Native {
    /// Its name in rules.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its meaning.
    pub run: NativeFn,
}

/// The meaning of a [`Native`].
#[derive(Clone, Copy)]
pub enum NativeFn {
    /// Whether a rule may fire.
    Test(fn(&Module, &[Arg]) -> bool),
    /// An attribute from attributes; `None`: the rule does not fire.
    Attr(fn(&Module, &[Arg]) -> Option<Attr>),
}

/// What a variable of a rule stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A value.
    Value(Value),
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
type Var = usize;

/// A rule, read.
pub(crate) struct Compiled {
    pub(crate) name: &'static str,
    left: OpTerm,
    right: Term,
    conditions: Vec<Call>,
    variables: usize,
}

/// Something that a value can be.
enum Term {
    Value { var: Var, ty: Option<Var> },
    Constant { var: Var, ty: Option<Var> },
    Number { value: f64, ty: Option<Var> },
    Op(OpTerm),
}

struct OpTerm {
    name: OpName,
    commutative: bool,
    attrs: Vec<(Str, AttrTerm)>,
    operands: Vec<Term>,
    /// The type of its result.
    ty: Option<Var>,
    /// The variable for its result.
    result: Option<Var>,
}

enum AttrTerm {
    Var(Var),
    Is(Attr),
    Call(Call),
}

struct Call {
    native: &'static Native,
    args: Vec<Var>,
}

/// The rules of a context's dialects, by the op at their root.
pub(crate) struct RuleTable {
    by_root: FxHashMap<OpName, Vec<Compiled>>,
    errors: Vec<String>,
}

impl RuleTable {
    pub(crate) fn new(ctx: &Context) -> RuleTable {
        let mut table = RuleTable { by_root: FxHashMap::default(), errors: Vec::new() };
        for dialect in ctx.dialects() {
            for &rule in dialect.rules {
                match parse::compile(ctx, dialect, rule) {
                    Ok(compiled) => table.by_root.entry(compiled.left.name).or_default().push(compiled),
                    Err(why) => table.errors.push(format!("rule '{}': {why}", rule.name)),
                }
            }
        }
        table
    }

    pub(crate) fn of(&self, root: OpName) -> &[Compiled] {
        self.by_root.get(&root).map_or(&[], Vec::as_slice)
    }
}

impl Context {
    /// What is wrong with declared rules; empty in a correct program. Wrong rules never fire.
    pub fn rule_errors(&self) -> &[String] {
        &self.rules().errors
    }
}
