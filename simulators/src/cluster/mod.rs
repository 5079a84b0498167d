//! A processor of clusters: several cores and a memory each, which records in that memory drive.
//!
//! | module | contents |
//! |---|---|
//! | `record.rs`, `record/` | records and programs as data; a compute record in a file each: fields, ranges, accesses, values, work |
//! | `operands.rs` | tiles, transfers, stages and windows, with their fields, from which bytes and text follow |
//! | `compute.rs` | what the machine does with a compute record |
//! | `words.rs` | static data blocks and binaries |
//! | `text.rs` | assembler and disassembler |
//! | `access.rs` | the bytes that a record reads and writes |
//! | `graph.rs` | happens-before, as vector clocks; deadlocks |
//! | `shadow.rs` | the last accesses of each byte |
//! | `check.rs` | the static check of a program |
//! | `values/` | the memories, tiles and stages |
//! | `timing.rs`, `statistics.rs` | cycles and counts |
//! | `simulate.rs` | the simulator |
//! | `together.rs` | programs that run at once on disjoint clusters |
//! | `rules.rs` | ranges of fields that records have in common |
//! | `fault.rs` | reasons for which a program is rejected |
//! | `machine.rs` | parameters of the machine |

mod access;
mod bounds;
mod check;
mod compute;
mod fault;
mod graph;
mod machine;
mod operands;
mod record;
mod rules;
mod shadow;
mod simulate;
mod statistics;
pub mod text;
mod timing;
mod together;
mod values;
mod words;

pub use access::{RecordAccess, Runs, accesses};
pub use check::{MAX_PRODUCTS, MAX_RANGES, check};
pub use fault::{Fault, FaultClass, MemoryId, Position};
pub use machine::{ClusterMachine, MAX_CLUSTERS};
pub use operands::*;
pub use record::*;
pub use rules::MAX_TERMS;
pub use simulate::Simulator;
pub use statistics::{Busy, CycleBounds, Lane, Span, Statistics, Use};
pub use words::{NAME, decode, encode};
