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
mod compiled;
mod declaration;
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
pub use compiled::{AttrTerm, Call, CompiledRule, OTHERS, OpTerm, RuleSet, Term, Var};
pub use declaration::{Arg, ArgKind, Rule, RuleFn, RuleFunction, RuleGroup, approx, coarse, rule};
pub use error::RuleError;
pub use instance::{Chooser, OpSignature, build_left_side};
pub use matcher::{Anchor, Match, MatchGraph, MatchIn, Matcher, Premises};
pub use mutate::{Mistake, Mutant};
pub use profit::CostFn;

use crate::context::Context;
use crate::declaration_error::{DeclarationError, Declared};
use crate::op_info::Dialect;
use std::sync::Arc;

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
