//! `layout`: tiled tensor layouts and address computation.
//!
//! A [`TiledLayout`] is an order of loops over tiled dimensions. With sizes it becomes a [`Layout`], a map from indices
//! to offsets. On top of it, [`AccessFunction`] and [`AddressTable`] give the operand addresses of products,
//! [`Relayout`] the copies between layouts, and [`Sram`] addresses in block-addressed memory.
//!
//! The offset of an index is a sum with one term per dimension, so that every query is answered per dimension. An access
//! function maps the points of an iteration space to indices; `separability.rs` proves from extents, steps and tiles that
//! addresses are `base[m] + relative[k]`. A table is separable, as these two lists, or indirect, with one base per row and run.
//! Kernels compile tables to a form of their own (`gemm/addresses.rs`, `window/places.rs` of the runtime).

mod access_function;
mod address_table;
mod attr;
mod bands;
mod concrete_layout;
mod copy_nest;
mod copy_plan;
mod error;
mod pack;
mod separability;
mod slice;
mod sram;
mod tabulate;
mod tiled;

pub use access_function::{AccessFunction, AccessLoop, MAX_ENTRIES, ReductionOrder, SlidingWindow};
pub use address_table::{AddressTable, Addressing, Encoding, ZERO_PAGE, deltas, prefix_sums};
pub use attr::{IMAGES, RESULTS, Tiled, image_layout, result_layout};
pub use bands::{banded, bands, plane_letters};
pub use concrete_layout::{Axis, Digit, Index, Layout, LoopLevel};
pub use copy_nest::{CopyLoop, CopyNest};
pub use copy_plan::{CopyRun, CopyRuns, Relayout};
pub use error::LayoutError;
pub use pack::{MAX_PACKED_ELEMENTS, PackOp, UnpackOp, pack_layouts};
pub use sram::{BlockAddress, SliceCopy, Sram, TransferCost};
pub use tabulate::Derivation;
pub use tiled::{Level, TiledLayout};

use gradus_ir::rules::{Rule, rule};
use gradus_ir::{AttrDecl, Dialect, OpDecl};

#[rustfmt::skip]
const RULES: &[Rule] = &[
    rule("unpack-pack", "unpack{layout = L, axes = A}(pack{layout = L, axes = A}(x: T)): T => x"),
];

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "layout",
    doc: "Tiled tensor layouts: orders of loops over tiled dimensions.",
    ops: &[PackOp::INFO, UnpackOp::INFO],
    attrs: &[Tiled::INFO],
    rules: RULES,
    ..Dialect::DEFAULT
};
