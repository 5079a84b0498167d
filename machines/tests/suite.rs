//! The tests of the crate in one program: they share the cores and are linked once.

mod a64;
mod cluster;
mod cluster_kernels;
mod npu;
mod random_ops;
mod readers;
mod x64;
