//! The machinery of the golden tests.

pub mod case;
pub mod file;
pub mod meaning;
pub mod modes;
pub mod selftest;
