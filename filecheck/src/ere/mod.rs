//! POSIX extended regular expressions as in LLVM's `Regex`: on bytes, leftmost-longest, with back-references. FileCheck
//! patterns and `expected-error-re` use them; a crate with Perl semantics (first matching alternative, no
//! back-references) would match and capture differently.
//!
//! A pattern is a list of [`RegexNode`]s, from [`parse`] or built directly. Matching takes time O(text length · pattern
//! size) apart from back-references, and fails with [`TooComplex`] above a step limit.

mod matcher;
mod parse;

pub use matcher::{Captures, Regex, TooComplex};
pub use parse::parse;

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Set([u64; 4]);

impl Set {
    /// The empty set.
    pub const EMPTY: Set = Set([0; 4]);

    /// Adds a byte.
    pub fn add(&mut self, b: u8) {
        self.0[usize::from(b >> 6)] |= 1 << (b & 63);
    }

    /// Removes a byte.
    pub fn remove(&mut self, b: u8) {
        self.0[usize::from(b >> 6)] &= !(1 << (b & 63));
    }

    /// Whether the set contains a byte.
    #[inline]
    pub fn has(&self, b: u8) -> bool {
        self.0[usize::from(b >> 6)] >> (b & 63) & 1 == 1
    }

    /// Returns the complement.
    #[must_use]
    pub fn inverted(self) -> Set {
        Set(self.0.map(|word| !word))
    }

    /// Returns the closure under change of case.
    #[must_use]
    pub fn both_cases(mut self) -> Set {
        for b in b'a'..=b'z' {
            if self.has(b) || self.has(b.to_ascii_uppercase()) {
                self.add(b);
                self.add(b.to_ascii_uppercase());
            }
        }
        self
    }

    fn union(&mut self, other: Set) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }
}

/// A zero-width assertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assert {
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// `[[:<:]]`
    WordStart,
    /// `[[:>:]]`
    WordEnd,
}

/// A part of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegexNode {
    /// These bytes; the empty list matches the empty text.
    Literal(Vec<u8>),
    /// Any one byte of a set.
    Byte(Set),
    /// A zero-width assertion.
    Assert(Assert),
    /// A group with its 1-based number.
    Group(u32, Box<RegexNode>),
    /// A sequence.
    Concat(Vec<RegexNode>),
    /// Alternatives.
    Alt(Vec<RegexNode>),
    /// One or more repetitions.
    Plus(Box<RegexNode>),
    /// A back-reference.
    Back(u32),
}

impl RegexNode {
    /// The expression that matches the empty text.
    pub const EMPTY: RegexNode = RegexNode::Literal(Vec::new());

    /// Whether a group in this expression satisfies a condition; a back-reference counts as its group.
    fn mentions(&self, is: &impl Fn(u32) -> bool) -> bool {
        match self {
            RegexNode::Literal(_) | RegexNode::Byte(_) | RegexNode::Assert(_) => false,
            RegexNode::Group(n, inner) => is(*n) || inner.mentions(is),
            RegexNode::Concat(list) | RegexNode::Alt(list) => list.iter().any(|n| n.mentions(is)),
            RegexNode::Plus(inner) => inner.mentions(is),
            RegexNode::Back(n) => is(*n),
        }
    }
}

/// Options of parsing.
#[derive(Clone, Copy, Default, Debug)]
pub struct Flags {
    /// Letters stand for both cases.
    pub ignore_case: bool,
    /// `^` and `$` match at every line, and `.` and `[^...]` do not match a newline.
    pub newline: bool,
}

#[cfg(test)]
mod tests;
