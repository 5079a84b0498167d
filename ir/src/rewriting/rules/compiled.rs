//! Rules in the form in which they are matched, and sets of them.

use super::declaration::RuleFunction;
use super::profit::CostFn;
use crate::intern::{Attr, OpName, Str, Type};
use rustc_hash::FxHashMap;

/// Maximum number of ops and values in a rule, which bounds the recursion of matching and building. Larger rules are
/// rejected.
pub(super) const MAX_TERMS: usize = 100;

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
pub(super) const SEGMENT_SIZES: &str = "operandSegmentSizes";

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
