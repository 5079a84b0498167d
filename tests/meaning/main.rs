//! What ops mean: corner cases that are decided once, and laws that hold for the meaning of every op.

mod associative;
mod corners;
mod draw;
mod laws;
