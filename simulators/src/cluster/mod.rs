//! A processor of clusters: several cores and a memory each, which records in that memory drive.
//!
//! | module | contents |
//! |---|---|
//! | `record.rs` | records and programs as data |
//! | `fields.rs` | the declaration of their fields, from which bytes and text follow |
//! | `words.rs` | static data blocks and binaries |
//! | `text.rs` | assembler and disassembler |
//! | `machine.rs` | parameters of the machine |

mod fields;
mod machine;
mod record;
pub mod text;
mod words;

pub use fields::FUNCTIONS;
pub use machine::{MAX_CLUSTERS, Machine};
pub use record::*;
pub use words::{NAME, decode, encode};
