//! The runtime: kernels of this machine, machine code, plans that run programs by them, and artifact files.

mod aligned_bytes;
pub mod artifact;
pub mod code;
pub mod cpu;
pub mod gemm;
mod vector;
pub mod window;
pub mod workers;
