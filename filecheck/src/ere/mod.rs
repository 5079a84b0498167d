//! POSIX extended regular expressions as LLVM's `Regex` reads them: over bytes, leftmost, then longest, with
//! back-references. FileCheck's patterns and `expected-error-re` are made of these, so a crate with Perl's rules (the
//! first alternative that fits, no back-references) would accept and capture other things than LLVM does.
//!
//! A pattern is a list of [`Node`]s, which may come from [`parse`] or be put together by hand. Matching takes time in the
//! text's length times the pattern's size, except for what back-references cost, and gives up with [`TooComplex`] rather
//! than take forever.

mod matcher;
mod parse;

pub use matcher::{Captures, Regex, TooComplex};
pub use parse::parse;

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Set([u64; 4]);

impl Set {
    /// No byte.
    pub const EMPTY: Set = Set([0; 4]);

    /// Adds a byte.
    pub fn add(&mut self, b: u8) {
        self.0[usize::from(b >> 6)] |= 1 << (b & 63);
    }

    /// Takes a byte out.
    pub fn remove(&mut self, b: u8) {
        self.0[usize::from(b >> 6)] &= !(1 << (b & 63));
    }

    /// Whether the byte is in.
    #[inline]
    pub fn has(&self, b: u8) -> bool {
        self.0[usize::from(b >> 6)] >> (b & 63) & 1 == 1
    }

    /// All other bytes.
    #[must_use]
    pub fn inverted(self) -> Set {
        Set(self.0.map(|word| !word))
    }

    /// With each letter the same in the other case.
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

/// A condition on a place between bytes.
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
pub enum Node {
    /// These bytes; the empty list matches everywhere.
    Literal(Vec<u8>),
    /// Any one byte of a set.
    Byte(Set),
    /// Nothing, at certain places.
    Assert(Assert),
    /// Something whose place can be asked for or referred to, by its number from 1.
    Group(u32, Box<Node>),
    /// One after the other.
    Concat(Vec<Node>),
    /// The longest of these.
    Alt(Vec<Node>),
    /// Once or more.
    Plus(Box<Node>),
    /// The same text as a group before.
    Back(u32),
}

impl Node {
    /// What matches the empty text.
    pub const EMPTY: Node = Node::Literal(Vec::new());

    /// Whether any group in here, itself included, fulfils a condition; a back-reference counts as what it refers to.
    fn mentions(&self, is: &impl Fn(u32) -> bool) -> bool {
        match self {
            Node::Literal(_) | Node::Byte(_) | Node::Assert(_) => false,
            Node::Group(n, inner) => is(*n) || inner.mentions(is),
            Node::Concat(list) | Node::Alt(list) => list.iter().any(|n| n.mentions(is)),
            Node::Plus(inner) => inner.mentions(is),
            Node::Back(n) => is(*n),
        }
    }
}

/// How an expression is read.
#[derive(Clone, Copy, Default, Debug)]
pub struct Flags {
    /// Letters stand for both cases.
    pub ignore_case: bool,
    /// `^` and `$` match at every line, and `.` and `[^...]` do not match a newline.
    pub newline: bool,
}

#[cfg(test)]
mod tests;
