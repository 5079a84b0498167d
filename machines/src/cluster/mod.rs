//! `cluster`: records of a processor of clusters, programs, and their calls.
//!
//! Each cluster has several cores and a memory of its own. A program is a list of records for each cluster: transfers,
//! synchronization, and compute functions with their arguments. Events alone order the clusters. `cluster.call` runs it on tensors.
//!
//! | file | contents |
//! |---|---|
//! | `fields.rs` | fields of records as attributes |
//! | `text.rs` | fields in custom forms |
//! | `record.rs` | the records as ops, and as data |
//! | `choice.rs` | the choices for layers as attributes |
//! | `program.rs` | programs as ops, as data, and as binaries |
//! | `call.rs` | calls; execution by the simulator |
//! | `schedule.rs` | tasks, and the features and constants that they need |
//!
//! The fields are declared in `gradus_simulators::cluster` only: attributes and text are visitors of that declaration.

mod call;
mod choice;
mod fields;
mod program;
mod record;
pub mod schedule;
mod text;

pub use call::CallOp;
pub use choice::{LayerSplit, Reads};
pub use program::{NewProgram, Program, ProgramOp};
pub use record::{OPS, push, record};

use gradus_ir::{AttrDecl, Dialect, OpDecl, OpInfo};

const ALL: &[&OpInfo] = &{
    const OWN: [&OpInfo; 6] = [
        ProgramOp::INFO,
        CallOp::INFO,
        record::PackedRecordsOp::INFO,
        schedule::FeatureOp::INFO,
        schedule::ParametersOp::INFO,
        schedule::TaskOp::INFO,
    ];
    let mut all = [CallOp::INFO; OWN.len() + OPS.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < OPS.len() { OPS[i] } else { OWN[i - OPS.len()] };
        i += 1;
    }
    all
};

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "cluster",
    doc: "Records of a processor of clusters, programs, and their calls.",
    ops: ALL,
    attrs: &[choice::SplitAttr::INFO, choice::ReadsAttr::INFO],
    ..Dialect::DEFAULT
};
