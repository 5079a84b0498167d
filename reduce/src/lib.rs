//! Test-case reduction for IR.
//!
//! [`reduce`] shrinks a program while an oracle finds it interesting, by delta debugging (Zeller and Hildebrandt,
//! 2002): a list of reductions from coarse (whole functions) to fine (a constant), each applied at all of its sites at
//! once, then at halves of them, down to single sites. Reductions query declarations and name no op, so programs of
//! any dialect are reduced, unregistered ops included. Of attributes they know those of MLIR's function and symbol interfaces,
//! such as `function_type` and `sym_visibility`.
//!
//! A candidate is a copy of the arena, in linear time and without text. Candidates that are not smaller, not valid, or
//! already tested never reach the oracle.
//!
//! ```
//! use gradus_ir::{Context, ParseOptions, parse_module};
//! use gradus_reduce::{ReduceOptions, StopReason, reduce};
//!
//! let ctx = Context::new(&[]);
//! let text = r#"%a = "t.x"() : () -> i32
//! %b = "t.y"(%a) : (i32) -> i32
//! "t.z"(%b) : (i32) -> ()"#;
//! let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
//! let m = parse_module(&ctx, "x.mlir", text.to_owned(), options).unwrap();
//! let has_x = |m: &gradus_ir::Module| m.ops_under(m.root()).iter().any(|&op| m.name_text(op) == "t.x");
//! let reduced = reduce(&m, &mut { has_x }, &ReduceOptions::default());
//! assert_eq!((reduced.stop_reason, reduced.module.num_ops()), (StopReason::Minimal, 2));
//! ```

mod args;
mod attrs;
mod blocks;
mod copy;
mod engine;
mod ops;
mod reduction;
mod regions;
mod size;
mod substitute;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

pub use copy::compact;
pub use engine::{Oracle, Progress, ReduceOptions, Reduced, StopReason, reduce, reduce_watched};
pub use size::{Size, ops_in_bodies};
