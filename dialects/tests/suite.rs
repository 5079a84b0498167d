//! The tests of the crate in one program: they share the cores and are linked once.

mod arith;
mod tensor;
mod views;
