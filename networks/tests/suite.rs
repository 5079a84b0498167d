//! The tests of the crate in one program: they share the cores and are linked once.

mod addr;
mod graph;
mod layout;
