//! Reduction: a smaller program of which something is still so.
//!
//! [`reduce`] makes a program smaller by moves, from coarse ones (whole functions) to fine ones (a constant), and keeps what
//! an oracle finds interesting. Each move says where it can be made, and is made in many places at once, then in halves of
//! them, then in single ones (delta debugging: Zeller and Hildebrandt, 2002). A move asks declarations for facts and knows
//! no dialect, so programs of any dialect are reduced, and unregistered ops too.
//!
//! A candidate costs no text: it is a copy of the arena, linear and without allocations for most ops, that the move then
//! changes. Candidates that are not smaller, not valid, or known already are never shown to the oracle.
//!
//! ```
//! use gradus_ir::{Context, ParseOptions, parse_module};
//! use gradus_reduce::{End, Options, reduce};
//!
//! let ctx = Context::new(&[]);
//! let text = r#"%a = "t.x"() : () -> i32
//! %b = "t.y"(%a) : (i32) -> i32
//! "t.z"(%b) : (i32) -> ()"#;
//! let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
//! let m = parse_module(&ctx, "x.mlir", text.to_owned(), options).unwrap();
//! let has_x = |m: &gradus_ir::Module| m.ops_under(m.root()).iter().any(|&op| m.name_text(op) == "t.x");
//! let reduced = reduce(&m, &mut { has_x }, &Options::default());
//! assert_eq!((reduced.end, reduced.module.num_ops()), (End::Minimal, 2));
//! ```

mod args;
mod attrs;
mod blocks;
mod copy;
mod engine;
mod ops;
mod regions;
mod size;
mod substitute;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

pub use copy::compact;
pub use engine::{End, Options, Oracle, Reduced, Step, reduce, reduce_watched};
pub use size::{Size, ops_in_bodies};
