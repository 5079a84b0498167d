//! A reduction, and the places at which it applies.

use gradus_ir::{Attr, Block, Module, Op, Type};

/// A place at which a reduction applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Site {
    /// An op.
    Op(Op),
    /// A numbered part of an op: an operand, result, region or successor.
    Part(Op, usize),
    /// An attribute of an op and its replacement.
    Attr(Op, gradus_ir::Str, Option<Attr>),
    /// A block.
    Block(Block),
    /// An argument of a block.
    Arg(Block, usize),
    /// A type and its replacement everywhere.
    Type(Type, Type),
    /// A dimension extent and its replacement everywhere.
    Extent(i64, i64),
}

/// A transformation that makes a program smaller.
pub(crate) struct Reduction {
    /// Its name in reports.
    pub name: &'static str,
    /// Returns the sites at which it applies, in the order in which they are tried.
    pub sites: fn(&Module) -> Vec<Site>,
    /// Applies it at these sites where possible; the result may be invalid.
    pub apply: fn(&mut Module, &[Site]),
    /// Whether sites are tried one by one because they are alternatives to each other.
    pub one_at_a_time: bool,
}

impl Reduction {
    /// Declares a reduction that is applied at many sites at once.
    pub(crate) const fn new(
        name: &'static str,
        sites: fn(&Module) -> Vec<Site>,
        apply: fn(&mut Module, &[Site]),
    ) -> Reduction {
        Reduction { name, sites, apply, one_at_a_time: false }
    }

    /// Declares a reduction that is applied at one site at a time.
    pub(crate) const fn one_at_a_time(self) -> Reduction {
        Reduction { one_at_a_time: true, ..self }
    }
}
