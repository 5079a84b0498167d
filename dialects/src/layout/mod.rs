//! `layout`: tensors that have places.
//!
//! A [`TiledLayout`] is an order of loops over tiled dimensions; of given sizes it is a [`Layout`], which says where each
//! element is. Everything else asks it: [`Access`] and [`Tables`] where a product finds its operands, [`Relayout`] what moves
//! from one layout to another, [`Sram`] where that is in memory that is addressed by blocks.

mod access;
mod additive;
mod attr;
mod copy;
mod error;
mod moves;
mod pack;
mod placed;
mod sram;
mod table;
mod tiled;

pub use access::{Access, Loop, MAX_ENTRIES, Order, Window};
pub use attr::TILED;
pub use copy::{CopyLoop, CopyNest};
pub use error::LayoutError;
pub use moves::{Move, Moves, Relayout};
pub use pack::{MAX_PACKED, PackOp, UnpackOp, packing};
pub use placed::{Axis, Digit, Index, Layout, Nest};
pub use sram::{Place, SliceMove, Sram, Traffic};
pub use table::{Indirection, Tables, ZERO_PAGE, absolute, running};
pub use tiled::{Level, TiledLayout};

use gradus_ir::rules::{Rule, rule};
use gradus_ir::{Dialect, OpDecl};

#[rustfmt::skip]
const RULES: &[Rule] = &[
    rule("unpack-pack", "unpack{layout = L, axes = A}(pack{layout = L, axes = A}(x: T)): T => x"),
];

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "layout",
    doc: "Tensors whose elements have places: the order of loops over tiled dimensions.",
    ops: &[PackOp::INFO, UnpackOp::INFO],
    attrs: &[&TILED],
    rules: RULES,
    ..Dialect::DEFAULT
};
