//! Gradus's runtime: what executes programs, and what reads and writes their data.
//!
//! [`interpreter`] runs a program by the reference meaning of each op. It is for checking and for small inputs, not for
//! speed.

pub mod artifact;
pub mod cpu;
pub mod gemm;
pub mod interpreter;
mod lines;
pub mod npy;
mod vector;
pub mod window;
pub mod workers;
