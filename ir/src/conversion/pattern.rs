//! Conversion patterns: what they are given and what they say when they do not apply.

use super::rewriter::ConversionRewriter;
use super::types::TypeConverter;
use crate::module::{Module, Op, Value, ValueList};
use crate::op_info::{Traits, segment};
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

/// The ops that a pattern is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Root {
    Op(&'static str),
    Traits(Traits),
    Any,
}

type Run<'a> = dyn Fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Match + 'a;

/// A rewrite that takes illegal ops to legal ones, or to ops that other patterns make legal.
pub struct ConversionPattern<'a> {
    /// For reports.
    pub name: &'static str,
    pub(super) root: Root,
    pub(super) benefit: u16,
    pub(super) generated: &'static [&'static str],
    pub(super) bounded: bool,
    pub(super) types: Option<&'a TypeConverter>,
    pub(super) run: Box<Run<'a>>,
}

impl<'a> ConversionPattern<'a> {
    /// A pattern for the ops of one name. It changes the program through the rewriter alone, and either replaces, erases
    /// or modifies the op, or says why it does not; what it did before it refused is undone.
    pub fn new(
        name: &'static str,
        root: &'static str,
        run: impl Fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Match + 'a,
    ) -> Self {
        Self::rooted(name, Root::Op(root), run)
    }

    /// A pattern for all ops.
    pub fn any(name: &'static str, run: impl Fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Match + 'a) -> Self {
        Self::rooted(name, Root::Any, run)
    }

    /// A pattern for the ops that are declared to have these traits.
    pub fn with_traits(
        name: &'static str,
        traits: Traits,
        run: impl Fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Match + 'a,
    ) -> Self {
        Self::rooted(name, Root::Traits(traits), run)
    }

    fn rooted(
        name: &'static str,
        root: Root,
        run: impl Fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Match + 'a,
    ) -> Self {
        let run = Box::new(run);
        ConversionPattern { name, root, benefit: 1, generated: &[], bounded: false, types: None, run }
    }

    /// Of patterns that are equally far from legal ops, those of greater benefit are tried first; then, those that are
    /// listed first. It is 1 when nothing is said.
    pub fn benefit(mut self, benefit: u16) -> Self {
        self.benefit = benefit;
        self
    }

    /// The ops that the pattern makes. A pattern is not tried when one of them cannot become legal, and patterns with
    /// fewer steps to legal ops are tried first.
    pub fn generates(mut self, ops: &'static [&'static str]) -> Self {
        self.generated = ops;
        self
    }

    /// Operands are converted by `types`. Without a converter they are the values that the operands became, of whatever
    /// types these have.
    pub fn with_types(mut self, types: &'a TypeConverter) -> Self {
        self.types = Some(types);
        self
    }

    /// The pattern may be applied to ops that it made itself: it comes to an end by its own means.
    pub fn with_bounded_recursion(mut self) -> Self {
        self.bounded = true;
        self
    }
}
