//! The runtime: kernels of this machine, machine code, plans that run programs by them, and files of programs and tables.

mod aligned_bytes;
pub mod artifact;
pub mod code;
pub mod cpu;
mod elementwise_epilogue;
pub mod gemm;
mod kernel_error;
mod lookup;
mod sparse_rows;
pub mod stored_program;
pub mod table_file;
mod transpose;
mod vector;
pub mod window;
pub mod workers;

pub use elementwise_epilogue::ElementwiseEpilogue;
pub use kernel_error::KernelError;
