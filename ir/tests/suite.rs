//! The tests of the crate in one program: they share the cores and are linked once.

mod declared_types;
mod greedy;
mod op_paths;
mod pass_manager;
mod repeated;
mod simplify_regions;
mod threads;
