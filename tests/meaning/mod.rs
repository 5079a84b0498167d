//! The semantics of ops: corner cases, laws for every op, and second meanings: tables, explicit loops, other programs.

mod associative;
mod checking;
mod corners;
mod draw;
mod executions;
mod floats;
mod laws;
mod loops;
mod representations;
mod second;
mod tables;
