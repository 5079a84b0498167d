//! A processor of clusters: several cores and a memory each, which records in that memory drive.

mod machine;
mod record;

pub use machine::Machine;
pub use record::*;
