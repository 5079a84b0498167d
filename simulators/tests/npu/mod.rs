//! The simulator of the npu: values, cycles, hazards, and programs that are not trusted.

#![allow(clippy::print_stdout)]

mod binaries;
mod faults;
mod hazards;
mod random;
mod reference;
mod values;
