//! Refusals: why a pass leaves an op as it is.

use crate::module::{Module, Op, Value};
use crate::op_info::segment;
use crate::text::diag::{Diagnostic, Refused};
use std::fmt;

/// The reason why a pass does not take an op: a rule of the pass or of its machine that does not hold. It costs a few words until
/// somebody asks for its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The operand, result or attribute that violates the rule.
    pub concern: Concern,
    /// The violation as a noun phrase, such as `a batch of {} images`, with `{}` in the places of the numbers.
    pub rule: &'static str,
    /// The numbers, in order.
    pub numbers: [u64; 3],
}

/// The part of an op that a refusal concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Concern {
    /// The op as a whole.
    Op,
    /// An operand or a result.
    Value(Value),
    /// An inherent attribute.
    Attr(&'static str),
    /// Another op, without which this one would not be refused.
    Other(Op),
}

impl Refusal {
    /// Creates the refusal of an op because of one of its operands or results.
    pub const fn of(value: Value, rule: &'static str) -> Refusal {
        Refusal { concern: Concern::Value(value), rule, numbers: [0; 3] }
    }

    /// Creates the refusal of an op because of one of its attributes.
    pub const fn of_attr(name: &'static str, rule: &'static str) -> Refusal {
        Refusal { concern: Concern::Attr(name), rule, numbers: [0; 3] }
    }

    /// Creates the refusal of an op because of another one.
    pub const fn of_other(op: Op, rule: &'static str) -> Refusal {
        Refusal { concern: Concern::Other(op), rule, numbers: [0; 3] }
    }

    /// Sets the numbers of the rule, at most three.
    #[must_use]
    pub fn with<const N: usize>(mut self, numbers: [usize; N]) -> Refusal {
        self.numbers.iter_mut().zip(numbers).for_each(|(place, n)| *place = n as u64);
        self
    }

    /// Returns what tools count: that `op` stays in a place.
    pub fn refused(&self, m: &Module, op: Op, stays: &'static str) -> Refused {
        Refused { op: m.name_text(op).to_owned(), stays, rule: self.to_string() }
    }

    /// Returns the remark that `op` stays in a place.
    pub(super) fn remark(&self, m: &Module, op: Op, stays: &'static str) -> Diagnostic {
        let message = format!("'{}' stays {stays}: {self}{}", m.name_text(op), self.concern.text(m, op));
        Diagnostic { refused: Some(Box::new(self.refused(m, op, stays))), ..Diagnostic::remark(m.loc(op), message) }
    }
}

/// The refusal of an op as a whole.
impl From<&'static str> for Refusal {
    fn from(rule: &'static str) -> Refusal {
        Refusal { concern: Concern::Op, rule, numbers: [0; 3] }
    }
}

/// The rule with its numbers.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.rule.split("{}");
        f.write_str(parts.next().unwrap_or_default())?;
        parts.zip(self.numbers).try_for_each(|(part, n)| write!(f, "{n}{part}"))
    }
}

impl Concern {
    /// Returns the name of the part of `op` in parentheses; empty for the op as a whole.
    fn text(self, m: &Module, op: Op) -> String {
        match self {
            Concern::Attr(name) => format!(" (attribute '{name}')"),
            Concern::Value(value) => value_name(m, op, value).map(|name| format!(" ({name})")).unwrap_or_default(),
            Concern::Other(other) if other != op => format!(" ('{}')", m.name_text(other)),
            Concern::Op | Concern::Other(_) => String::new(),
        }
    }
}

/// Returns the name of the declared group of an operand or result.
fn value_name(m: &Module, op: Op, value: Value) -> Option<String> {
    let info = m.info(op)?;
    let Some(at) = m.operands(op).iter().position(|&operand| operand == value) else {
        let at = m.results(op).position(|result| result == value)?;
        return info.results.get(at).map(|spec| format!("result '{}'", spec.name));
    };
    let range = |group| segment(&m.ctx, info, m.props(op), m.operands(op).len(), group);
    let group = (0..info.operands.len()).find(|&group| range(group).contains(&at))?;
    Some(format!("operand '{}'", info.operands[group].name))
}
