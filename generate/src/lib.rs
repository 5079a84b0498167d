//! Random programs that are valid and mean something, made from the declarations of ops and nothing else.
//!
//! A program grows by [`library`] parts: ops as they stand in other programs, with all that they hold. Parts come from
//! the examples in ops' documentation ([`examples`]), from operands, attributes and results tried until the verifier
//! agrees ([`declared`]), from the left sides of rewrite rules ([`gradus_ir::rules`]), and from programs that the user
//! has. A part's operands become values that are there, constants, or new parameters ([`scope`]).
//!
//! While a program grows it is run on a few inputs, and what is undefined on one of them is taken back ([`grow`]), as
//! YARPGen does (Livinskii, Babokin and Regehr, OOPSLA 2020). All choices come from one tape, so that the same tape
//! gives the same program everywhere.

mod branch;
pub mod campaign;
pub mod coverage;
mod declared;
mod domain;
pub mod examples;
mod function;
mod grow;
mod known;
mod left_side;
mod library;
mod results;
pub mod rule;
mod scope;

pub use grow::{Grown, Limits, grow};
pub use library::Library;
