//! Affine expressions, maps and integer sets.
//!
//! They are immutable values with structural equality. Expressions are simplified as they are built, by MLIR's local
//! rules, so that a parsed and reprinted file shows MLIR's text. Simplification of whole expressions is in
//! [`AffineExpr::simplify`], range analysis in [`AffineExpr::range`].
//!
//! A sum of a hundred thousand terms is a tree of that depth. Each node therefore caches the subtree properties that
//! the rules need, and traversals use an explicit stack.

mod dividends;
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

pub use expr::{AffineBinOp, AffineBinary, AffineExpr, NoValue, NonAffine};
pub use flat::{Linear, MAX_SIZE, Range};
pub use map::AffineMap;
pub use set::IntegerSet;
