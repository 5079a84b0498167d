//! Conversion patterns.

use super::matching::{Match, Operands};
use super::rewriter::ConversionRewriter;
use super::types::TypeConverter;
use crate::module::Op;
use crate::traits::Traits;

/// The root ops that a pattern matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Root {
    Op(&'static str),
    Traits(Traits),
    Any,
}

type Run<'a> = dyn Fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Match + 'a;

/// A rewrite of illegal ops to legal ones, or to ops that other patterns legalize.
pub struct ConversionPattern<'a> {
    /// The name, for reports.
    pub name: &'static str,
    pub(super) root: Root,
    pub(super) benefit: u16,
    pub(super) generated: &'static [&'static str],
    pub(super) bounded: bool,
    pub(super) types: Option<&'a TypeConverter>,
    pub(super) run: Box<Run<'a>>,
}

impl<'a> ConversionPattern<'a> {
    /// Creates a pattern for ops of one name. `run` changes the program only through the rewriter. It replaces, erases
    /// or modifies the op, or returns a match failure; the changes before a failure are rolled back.
    pub fn new(
        name: &'static str,
        root: &'static str,
        run: impl Fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Match + 'a,
    ) -> Self {
        Self::rooted(name, Root::Op(root), run)
    }

    /// Creates a pattern for all ops.
    pub fn any(name: &'static str, run: impl Fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Match + 'a) -> Self {
        Self::rooted(name, Root::Any, run)
    }

    /// Creates a pattern for ops that declare these traits.
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

    /// Sets the benefit, 1 by default. Among patterns of equal legalization depth, those of greater benefit are tried
    /// first, then those listed first.
    pub fn benefit(mut self, benefit: u16) -> Self {
        self.benefit = benefit;
        self
    }

    /// Declares the ops that the pattern generates. The pattern is skipped if one of them cannot become legal, and
    /// patterns of smaller legalization depth are tried first.
    pub fn generates(mut self, ops: &'static [&'static str]) -> Self {
        self.generated = ops;
        self
    }

    /// Sets the type converter of the operands. Without one, the pattern gets the latest replacement of each operand,
    /// of any type.
    pub fn with_types(mut self, types: &'a TypeConverter) -> Self {
        self.types = Some(types);
        self
    }

    /// Allows the pattern to be applied to ops that it generated: its recursion is bounded.
    pub fn with_bounded_recursion(mut self) -> Self {
        self.bounded = true;
        self
    }
}
