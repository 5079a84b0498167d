//! The outcome of a match, and the operands that a pattern gets.

use crate::module::{Module, Op, Value, ValueList};
use crate::op_info::segment;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Why a pattern does not apply or an op is not legal: a sentence without a full stop, for the report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchFailure(pub Cow<'static, str>);

impl From<&'static str> for MatchFailure {
    fn from(why: &'static str) -> Self {
        MatchFailure(Cow::Borrowed(why))
    }
}

impl From<String> for MatchFailure {
    fn from(why: String) -> Self {
        MatchFailure(Cow::Owned(why))
    }
}

impl std::fmt::Display for MatchFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a pattern or a legality check found.
pub type Match<T = ()> = Result<T, MatchFailure>;

/// The operands of an op as its pattern gets them: converted to the types that the pattern's converter asks for. An
/// operand may have become any number of values.
#[derive(Clone, Default, Debug)]
pub struct Operands {
    values: ValueList,
    /// Where the values of each operand end.
    ends: SmallVec<[u32; 4]>,
}

impl Operands {
    pub(super) fn push(&mut self, values: &[Value]) {
        self.values.extend_from_slice(values);
        self.ends.push(self.values.len() as u32);
    }

    /// How many operands the op has.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the op has no operands.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What operand `i` became. Panics when there is none: a caller's bug.
    pub fn get(&self, i: usize) -> &[Value] {
        self.range(i..i + 1)
    }

    /// What operand `i` became, when that is one value.
    pub fn one(&self, i: usize) -> Match<Value> {
        match self.get(i) {
            &[value] => Ok(value),
            many => Err(format!("operand #{i} was converted to {} values", many.len()).into()),
        }
    }

    /// What these operands became, one after the other.
    pub fn range(&self, operands: std::ops::Range<usize>) -> &[Value] {
        let end = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.values[end(operands.start)..end(operands.end)]
    }

    /// What the operands of declared group `group` of `op` became.
    pub fn group(&self, m: &Module, op: Op, group: usize) -> &[Value] {
        let Some(info) = m.info(op) else { return &[] };
        self.range(segment(&m.ctx, info, m.props(op), self.len(), group))
    }

    /// What all operands became, one after the other.
    pub fn all(&self) -> &[Value] {
        &self.values
    }
}
