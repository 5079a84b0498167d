//! What a conversion is to reach: which ops are legal, and who says so.

use super::matching::{Match, MatchFailure};
use super::pattern::{ConversionPattern, Root};
use crate::context::Context;
use crate::intern::OpName;
use crate::module::{Module, Op};

/// What a rule is about.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Scope {
    Op(&'static str),
    Dialect(&'static str),
    Unknown,
}

/// Whether an op is legal, or why it is not.
pub type LegalityFn<'a> = dyn Fn(&Module, Op) -> Match + 'a;

enum Action<'a> {
    Legal,
    Illegal,
    Unknown,
    Dynamic(Box<LegalityFn<'a>>),
}

/// A rule of a [`ConversionTarget`].
pub struct Rule<'a> {
    scope: Scope,
    action: Action<'a>,
    recursive: bool,
    reason: &'static str,
}

impl Rule<'_> {
    /// Why, for the report.
    pub fn because(&mut self, reason: &'static str) -> &mut Self {
        self.reason = reason;
        self
    }

    /// When such an op is legal, so is everything in its regions.
    pub fn recursively(&mut self) -> &mut Self {
        self.recursive = true;
        self
    }

    /// What the rule is about, in words.
    fn subject(&self) -> String {
        match &self.scope {
            Scope::Op(name) => format!("op '{name}'"),
            Scope::Dialect(name) => format!("dialect '{name}'"),
            Scope::Unknown => "ops that it does not name".to_owned(),
        }
    }
}

/// What a target says of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Legality {
    /// It may stay; whether also everything in its regions.
    Legal {
        /// Everything in its regions may stay too.
        recursively: bool,
    },
    /// It must go; why, when a rule's condition says so.
    Illegal(Option<MatchFailure>),
    /// No rule is about it.
    Unknown,
}

/// What a conversion is to reach. A rule for an op beats one for its dialect, which beats the one for unknown ops; of two
/// rules for the same thing the later one holds.
pub struct ConversionTarget<'a> {
    /// For reports: who forbids and allows.
    pub name: &'static str,
    rules: Vec<Rule<'a>>,
}

impl<'a> ConversionTarget<'a> {
    /// A target that says nothing of any op.
    pub fn new(name: &'static str) -> Self {
        ConversionTarget { name, rules: Vec::new() }
    }

    fn rule(&mut self, scope: Scope, action: Action<'a>) -> &mut Rule<'a> {
        self.rules.retain(|r| r.scope != scope);
        self.rules.push(Rule { scope, action, recursive: false, reason: "" });
        self.rules.last_mut().expect("was pushed")
    }

    /// The op may stay.
    pub fn legal_op(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Op(name), Action::Legal)
    }

    /// The op must go.
    pub fn illegal_op(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Op(name), Action::Illegal)
    }

    /// The op is converted where a pattern applies, and a partial conversion leaves it elsewhere, whatever other rules say.
    pub fn unknown_op(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Op(name), Action::Unknown)
    }

    /// The ops that these patterns are for must go, of those that are for ops of one name.
    pub fn illegal_roots(&mut self, patterns: &[ConversionPattern<'_>]) {
        for pattern in patterns {
            if let Root::Op(name) = pattern.root {
                self.illegal_op(name);
            }
        }
    }

    /// The op may stay when `check` finds nothing against it.
    pub fn dynamic_op(&mut self, name: &'static str, check: impl Fn(&Module, Op) -> Match + 'a) -> &mut Rule<'a> {
        self.rule(Scope::Op(name), Action::Dynamic(Box::new(check)))
    }

    /// The dialect's ops may stay.
    pub fn legal_dialect(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Dialect(name), Action::Legal)
    }

    /// The dialect's ops must go.
    pub fn illegal_dialect(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Dialect(name), Action::Illegal)
    }

    /// The dialect's ops may stay when `check` finds nothing against them.
    pub fn dynamic_dialect(&mut self, name: &'static str, check: impl Fn(&Module, Op) -> Match + 'a) -> &mut Rule<'a> {
        self.rule(Scope::Dialect(name), Action::Dynamic(Box::new(check)))
    }

    /// Ops that no other rule is about may stay.
    pub fn legal_unknown(&mut self) -> &mut Rule<'a> {
        self.rule(Scope::Unknown, Action::Legal)
    }

    /// Ops that no other rule is about may stay when `check` finds nothing against them.
    pub fn dynamic_unknown(&mut self, check: impl Fn(&Module, Op) -> Match + 'a) -> &mut Rule<'a> {
        self.rule(Scope::Unknown, Action::Dynamic(Box::new(check)))
    }

    /// What the target says of `op`. Looks the rule up by name: the driver does so once for each name.
    pub fn legality(&self, m: &Module, op: Op) -> Legality {
        self.judge(self.rule_for(&m.ctx, m.name(op)), m, op)
    }

    /// The number of the rule for an op name.
    pub(super) fn rule_for(&self, ctx: &Context, name: OpName) -> Option<u32> {
        let (text, dialect) = (ctx.op_name_text(name), ctx.op_dialect(name));
        let find = |wanted: &dyn Fn(&Scope) -> bool| self.rules.iter().position(|r| wanted(&r.scope));
        find(&|s| matches!(s, Scope::Op(n) if *n == text))
            .or_else(|| find(&|s| matches!(s, Scope::Dialect(n) if *n == dialect)))
            .or_else(|| find(&|s| *s == Scope::Unknown))
            .map(|i| i as u32)
    }

    /// What rule number `rule` says of `op`.
    pub(super) fn judge(&self, rule: Option<u32>, m: &Module, op: Op) -> Legality {
        let Some(rule) = rule.map(|i| &self.rules[i as usize]) else { return Legality::Unknown };
        let why_not = match &rule.action {
            Action::Legal => None,
            Action::Illegal => return Legality::Illegal(None),
            Action::Unknown => return Legality::Unknown,
            Action::Dynamic(check) => check(m, op).err(),
        };
        match why_not {
            None => Legality::Legal { recursively: rule.recursive },
            Some(why) => Legality::Illegal(Some(why)),
        }
    }

    /// Whether rule number `rule` may allow an op, and whether it may allow all in its regions.
    pub(super) fn may_allow(&self, rule: Option<u32>) -> (bool, bool) {
        let Some(rule) = rule.map(|i| &self.rules[i as usize]) else { return (false, false) };
        (!matches!(rule.action, Action::Illegal | Action::Unknown), rule.recursive)
    }

    /// Who forbids an op, and why: for a note of the report.
    pub(super) fn objection(&self, rule: Option<u32>, legality: &Legality) -> String {
        let target = self.name;
        let rule = rule.map(|i| &self.rules[i as usize]);
        let Some(rule) = rule.filter(|_| *legality != Legality::Unknown) else {
            return format!("target '{target}' says nothing of it");
        };
        let subject = rule.subject();
        let reason = if rule.reason.is_empty() { String::new() } else { format!(": {}", rule.reason) };
        match legality {
            Legality::Illegal(Some(why)) => {
                format!("target '{target}' allows {subject} under a condition only{reason}; here, {why}")
            }
            _ => format!("target '{target}' forbids {subject}{reason}"),
        }
    }
}
