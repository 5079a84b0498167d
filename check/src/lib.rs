//! Checking by execution: whether a program after a transformation may stand for the one before.
//!
//! Both are run by the reference interpreter on the same inputs ([`input`]), and what comes of it is compared
//! ([`outcome`]): after *refines* before when each run of it does what the other did, or when the other was undefined
//! there. Calls of functions without a body are events ([`event`]), so that dropped, doubled and reordered calls show.
//! [`Reference`] remembers what the program did before; [`bisect`] finds the pass and the rewrite that changed it,
//! [`reproduce`] a small program in which it does so again.
//!
//! The relation and its corner cases follow Alive2 (Lopes et al., PLDI 2021): undefined behaviour, then poison, then values.

pub mod bisect;
mod compare;
mod draw;
mod event;
mod floats;
mod global;
mod input;
mod inputs;
mod options;
mod outcome;
mod random;
pub mod reproduce;
mod seen;
mod show;
mod slice;
mod witness;

pub use compare::{Reference, Verdict};
pub use event::Event;
pub use floats::widened;
pub use input::Input;
pub use inputs::Inputs;
pub use options::{Floats, Options};
pub use outcome::{Difference, Outcome, Relation, Runner, run};
pub use random::Random;
pub use seen::{Seen, refines};
