//! The runtime: kernels of this machine, plans that run programs by them, artifact files, and tensor files.

pub mod artifact;
pub mod cpu;
pub mod gemm;
mod lines;
pub mod npy;
mod vector;
pub mod window;
pub mod workers;
