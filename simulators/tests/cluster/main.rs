//! The simulator of clusters: values, cycles, synchronization, and programs that are not trusted.

mod binaries;
mod random;
