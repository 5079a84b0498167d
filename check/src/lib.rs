//! Checking by execution: whether a transformed program refines the original.
//!
//! Both programs run in the reference interpreter on the same inputs ([`input`]), and the outcomes are compared
//! ([`outcome`]). Calls of functions without a body are events ([`event`]), so that dropped, duplicated and reordered
//! calls are detected. [`Reference`] holds the original program with its outcomes; [`bisect`] finds the pass and the
//! rewrite that changed the meaning, and [`reproduce`] a small program that shows it.
//!
//! The refinement relation follows Alive2 (Lopes et al., PLDI 2021): undefined behavior, then poison, then values.

pub mod bisect;
mod blame;
mod compare;
mod draw;
mod event;
mod executed;
mod execution;
mod floats;
mod global;
mod input;
mod inputs;
mod narrowing;
mod options;
mod outcome;
mod representing;
pub mod reproduce;
mod rounding;
mod seen;
mod show;
mod signature;
mod slice;
mod stages;
mod subject;
mod tolerance;
mod transformed;
mod translation;
mod wide;
mod witness;

pub use compare::{Reference, Verdict};
pub use event::ExternalCall;
pub use execution::Execution;
pub use input::Input;
pub use inputs::Inputs;
pub use options::{Floats, Options};
pub use outcome::{Difference, Outcome, Relation, Runner, run};
pub use seen::{Seen, refines};
pub use stages::Stages;
pub use wide::widened;
