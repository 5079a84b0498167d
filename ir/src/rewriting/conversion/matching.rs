//! Match results and the converted operands of a pattern.

use crate::module::{Module, Op, Value, ValueList};
use crate::op_info::segment;
use crate::pass::Refusal;
use crate::typing::InferError;
use smallvec::SmallVec;
use std::borrow::Cow;

/// The reason why a pattern does not apply or an op is illegal: a sentence without a full stop, for the report.
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

impl From<Refusal> for MatchFailure {
    fn from(refusal: Refusal) -> Self {
        refusal.to_string().into()
    }
}

impl From<InferError> for MatchFailure {
    fn from(error: InferError) -> Self {
        error.message.into()
    }
}

impl std::fmt::Display for MatchFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of a pattern or legality check.
pub type Match<T = ()> = Result<T, MatchFailure>;

/// The operands of an op as its pattern gets them: converted to the types of the pattern's type converter. An operand
/// may be replaced by any number of values (1:N conversion).
#[derive(Clone, Default, Debug)]
pub struct Operands {
    values: ValueList,
    /// End index of the values of each operand.
    ends: SmallVec<[u32; 4]>,
}

impl Operands {
    pub(super) fn push(&mut self, values: &[Value]) {
        self.values.extend_from_slice(values);
        self.ends.push(self.values.len() as u32);
    }

    /// Returns the number of operands of the op.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the op has no operands.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the values that replace operand `i`. Panics if the op has no such operand.
    pub fn get(&self, i: usize) -> &[Value] {
        self.range(i..i + 1)
    }

    /// Returns the value that replaces operand `i`; a match failure unless it is exactly one.
    pub fn one(&self, i: usize) -> Match<Value> {
        match self.get(i) {
            &[value] => Ok(value),
            many => Err(format!("operand #{i} was converted to {} values", many.len()).into()),
        }
    }

    /// Returns the values that replace a range of operands, concatenated.
    pub fn range(&self, operands: std::ops::Range<usize>) -> &[Value] {
        let end = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.values[end(operands.start)..end(operands.end)]
    }

    /// Returns the values that replace the operands in declared group `group` of `op`.
    pub fn group(&self, m: &Module, op: Op, group: usize) -> &[Value] {
        let Some(info) = m.info(op) else { return &[] };
        self.range(segment(&m.ctx, info, m.props(op), self.len(), group))
    }

    /// Returns the values that replace all operands, concatenated.
    pub fn all(&self) -> &[Value] {
        &self.values
    }
}
