//! Affine expressions, maps and integer sets.
//!
//! They are plain values: equal structure compares equal. Expressions are simplified as they are built, by the same
//! local rules as in MLIR, so that a file read and printed again shows the text MLIR would print. What looks at a whole
//! expression is in [`AffineExpr::simplify`] and [`AffineExpr::range`].
//!
//! A sum of a hundred thousand terms is a tree of that depth. Each node therefore caches what the rules ask of whole
//! subtrees, and everything that walks a tree does so with a stack of its own instead of the thread's.

mod expr;
mod flat;
mod map;
mod operators;
mod print;
mod rules;
mod semi;
mod set;
mod simplify;
#[cfg(test)]
mod tests;

pub use expr::{AffineBinOp, AffineBinary, AffineExpr, NoValue};
pub use flat::{Linear, MAX_SIZE, Range};
pub use map::AffineMap;
pub use set::IntegerSet;
