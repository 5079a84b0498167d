//! Random valid, executable programs from the declarations of ops.
//!
//! A program grows from [`library`] fragments: ops of other programs with their regions. Fragments come from the
//! examples in op documentation ([`examples`]), from operands, attributes and results drawn until the verifier accepts
//! them ([`declared`]) and varied by one step after another ([`neighbours`]), from the left sides of rewrite rules
//! ([`gradus_ir::rules`]), and from programs of the user. The operands of a fragment become available values, constants,
//! or new parameters ([`scope`]). A program may also begin as one of a family ([`programs`]), and ops are disturbed by
//! one step ([`disturb`]). With passes under test, all of this follows from what they rewrite ([`focus`]).
//!
//! During growth the program runs on a few sample inputs, and an op that is undefined on one of them is removed
//! ([`grow`]), as in YARPGen (Livinskii, Babokin and Regehr, OOPSLA 2020). All choices come from one tape, so the same
//! tape gives the same program on every machine.

mod adapt;
mod branch;
pub mod campaign;
pub mod coverage;
pub mod declarations;
mod declared;
mod disturb;
mod domain;
pub mod examples;
mod focus;
mod function;
mod grow;
mod left_side;
mod library;
mod neighbours;
mod options;
mod program_builder;
pub mod programs;
mod results;
pub mod rule;
mod sample_values;
mod samples;
mod scope;
pub mod survey;
mod threads;
mod variation;

pub use grow::{Grown, Limits, grow};
pub use library::Library;
