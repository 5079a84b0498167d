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
mod print;
mod rules;
mod semi;
mod set;
#[cfg(test)]
mod tests;

pub use expr::{AffineBinOp, AffineBinary, AffineExpr, NoValue};
pub use flat::{Linear, MAX_SIZE, Range};
pub use map::AffineMap;
pub use set::IntegerSet;

use crate::attrs::AttrData;
use crate::module::{Module, Op};

/// Whether an op has a map or a set among its attributes. Some such ops take only some values as operands, so that it
/// matters where these come from.
pub fn has_map(m: &Module, op: Op) -> bool {
    let mapped = |attr| matches!(m.ctx.attr_data(attr), AttrData::AffineMap(_) | AttrData::IntegerSet(_));
    let mut all = [m.props(op), m.attrs(op)].into_iter().flat_map(|dict| m.ctx.dict_entries(dict));
    all.any(|&(_, attr)| mapped(attr))
}
