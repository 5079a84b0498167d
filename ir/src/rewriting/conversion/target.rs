//! Conversion targets: the legality of ops.

use super::matching::{Match, MatchFailure};
use super::pattern::{ConversionPattern, Root};
use crate::context::Context;
use crate::intern::OpName;
use crate::module::{Module, Op};

/// The ops to which a rule applies.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Scope {
    Op(&'static str),
    Dialect(&'static str),
    Unknown,
}

/// A legality check: success, or the reason why an op is illegal.
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
    /// Sets the reason given in reports.
    pub fn because(&mut self, reason: &'static str) -> &mut Self {
        self.reason = reason;
        self
    }

    /// Makes the ops recursively legal: if such an op is legal, so are all ops in its regions.
    pub fn recursively(&mut self) -> &mut Self {
        self.recursive = true;
        self
    }

    /// Returns a description of the ops to which the rule applies.
    fn subject(&self) -> String {
        match &self.scope {
            Scope::Op(name) => format!("op '{name}'"),
            Scope::Dialect(name) => format!("dialect '{name}'"),
            Scope::Unknown => "unknown ops".to_owned(),
        }
    }
}

/// The legality of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Legality {
    /// The op is legal.
    Legal {
        /// Whether all ops in its regions are legal too.
        recursively: bool,
    },
    /// The op is illegal; the reason, if a legality check failed.
    Illegal(Option<MatchFailure>),
    /// No rule applies to the op.
    Unknown,
}

/// A conversion target: legality rules. A rule for an op name takes precedence over one for its dialect, and that over
/// one for unknown ops; a later rule replaces an earlier one of the same scope.
pub struct ConversionTarget<'a> {
    /// The target's name in reports.
    pub name: &'static str,
    rules: Vec<Rule<'a>>,
}

impl<'a> ConversionTarget<'a> {
    /// Creates a target without rules.
    pub fn new(name: &'static str) -> Self {
        ConversionTarget { name, rules: Vec::new() }
    }

    fn rule(&mut self, scope: Scope, action: Action<'a>) -> &mut Rule<'a> {
        self.rules.retain(|r| r.scope != scope);
        self.rules.push(Rule { scope, action, recursive: false, reason: "" });
        self.rules.last_mut().expect("was pushed")
    }

    /// Makes ops of one name legal.
    pub fn legal_op(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Op(name), Action::Legal)
    }

    /// Makes ops of one name illegal.
    pub fn illegal_op(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Op(name), Action::Illegal)
    }

    /// Makes the legality of ops of one name unknown, overriding other rules: they are converted where a pattern
    /// applies, and a partial conversion keeps the others.
    pub fn unknown_op(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Op(name), Action::Unknown)
    }

    /// Makes the root ops of these patterns illegal, for patterns that match ops of one name.
    pub fn illegal_roots(&mut self, patterns: &[ConversionPattern<'_>]) {
        for pattern in patterns {
            if let Root::Op(name) = pattern.root {
                self.illegal_op(name);
            }
        }
    }

    /// Makes ops of one name legal if `check` succeeds.
    pub fn dynamic_op(&mut self, name: &'static str, check: impl Fn(&Module, Op) -> Match + 'a) -> &mut Rule<'a> {
        self.rule(Scope::Op(name), Action::Dynamic(Box::new(check)))
    }

    /// Makes the ops of a dialect legal.
    pub fn legal_dialect(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Dialect(name), Action::Legal)
    }

    /// Makes the ops of a dialect illegal.
    pub fn illegal_dialect(&mut self, name: &'static str) -> &mut Rule<'a> {
        self.rule(Scope::Dialect(name), Action::Illegal)
    }

    /// Makes the ops of a dialect legal if `check` succeeds.
    pub fn dynamic_dialect(&mut self, name: &'static str, check: impl Fn(&Module, Op) -> Match + 'a) -> &mut Rule<'a> {
        self.rule(Scope::Dialect(name), Action::Dynamic(Box::new(check)))
    }

    /// Makes ops to which no other rule applies legal.
    pub fn legal_unknown(&mut self) -> &mut Rule<'a> {
        self.rule(Scope::Unknown, Action::Legal)
    }

    /// Makes ops to which no other rule applies legal if `check` succeeds.
    pub fn dynamic_unknown(&mut self, check: impl Fn(&Module, Op) -> Match + 'a) -> &mut Rule<'a> {
        self.rule(Scope::Unknown, Action::Dynamic(Box::new(check)))
    }

    /// Returns the legality of `op`. O(rules); the driver looks the rule up once per op name.
    pub fn legality(&self, m: &Module, op: Op) -> Legality {
        self.judge(self.rule_for(&m.ctx, m.name(op)), m, op)
    }

    /// Returns the index of the rule for an op name.
    pub(super) fn rule_for(&self, ctx: &Context, name: OpName) -> Option<u32> {
        let (text, dialect) = (ctx.op_name_text(name), ctx.op_dialect(name));
        let find = |wanted: &dyn Fn(&Scope) -> bool| self.rules.iter().position(|r| wanted(&r.scope));
        find(&|s| matches!(s, Scope::Op(n) if *n == text))
            .or_else(|| find(&|s| matches!(s, Scope::Dialect(n) if *n == dialect)))
            .or_else(|| find(&|s| *s == Scope::Unknown))
            .map(|i| i as u32)
    }

    /// Returns the legality of `op` under rule `rule`.
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

    /// Whether rule `rule` may make an op legal, and whether it does so recursively.
    pub(super) fn may_allow(&self, rule: Option<u32>) -> (bool, bool) {
        let Some(rule) = rule.map(|i| &self.rules[i as usize]) else { return (false, false) };
        (!matches!(rule.action, Action::Illegal | Action::Unknown), rule.recursive)
    }

    /// Returns the note that names the rule which makes an op illegal, and the reason.
    pub(super) fn objection(&self, rule: Option<u32>, legality: &Legality) -> String {
        let target = self.name;
        let rule = rule.map(|i| &self.rules[i as usize]);
        let Some(rule) = rule.filter(|_| *legality != Legality::Unknown) else {
            return format!("target '{target}' has no rule for it");
        };
        let subject = rule.subject();
        let reason = if rule.reason.is_empty() { String::new() } else { format!(": {}", rule.reason) };
        match legality {
            Legality::Illegal(Some(why)) => {
                format!("target '{target}' allows {subject} conditionally{reason}; here, {why}")
            }
            _ => format!("target '{target}' forbids {subject}{reason}"),
        }
    }
}
