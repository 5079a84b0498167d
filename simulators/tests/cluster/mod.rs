//! The simulator of clusters: values, cycles, synchronization, and programs that are not trusted.

#![allow(clippy::print_stdout)]

mod accesses;
mod binaries;
mod faults;
mod hazards;
mod layers;
mod plain;
mod programs;
mod random;
mod speed;
mod timing;
mod values;
mod walk;
