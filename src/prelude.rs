//! The names that a tool with dialects and passes of its own uses: `use gradus::prelude::*`.

pub use crate::Tool;
pub use gradus_ir::prelude::*;
