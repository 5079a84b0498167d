//! Conversion patterns: what they are given and what they say when they do not apply.

use super::matching::{Match, Operands};
use super::rewriter::ConversionRewriter;
use super::types::TypeConverter;
use crate::module::Op;
use crate::traits::Traits;

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
