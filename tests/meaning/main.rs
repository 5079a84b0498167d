//! The semantics of ops: corner cases, and laws for every op.

mod associative;
mod corners;
mod draw;
mod laws;
