//! The machinery of the golden tests.

pub mod case;
pub mod expect;
pub mod meaning;
pub mod modes;
