//! The simulator of the npu: values, cycles, hazards, and programs that are not trusted.

mod random;
mod reference;
mod values;
