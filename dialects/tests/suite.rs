//! The tests of the crate in one program: they share the cores and are linked once.

mod a64;
mod addr;
mod arith;
mod cluster;
mod cluster_kernels;
mod graph;
mod layout;
mod npu;
mod random_ops;
mod readers;
mod tensor;
mod views;
mod x64;
