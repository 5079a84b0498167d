//! The runtime: kernels of this machine, plans that run programs by them, and artifact files.

pub mod artifact;
pub mod cpu;
pub mod gemm;
mod lines;
mod vector;
pub mod window;
pub mod workers;
