//! Equality saturation: the pass `saturate` chooses the cheapest of the programs that rules make equal.
//!
//! | file | contents |
//! |---|---|
//! | `graph.rs` | e-graph, e-nodes and class facts |
//! | `by_class.rs` | dense maps from e-classes |
//! | `program.rs` | translation of a program into an e-graph |
//! | `equation.rs` | selection of equations among rules |
//! | `search.rs`, `apply.rs` | matching and application of rules |
//! | `explore.rs`, `touched.rs` | the saturation loop, incremental by changed classes |
//! | `journal.rs` | the record of merges, for explanations |
//! | `known.rs` | a check that incremental search misses no match |
//! | `associate/` | associativity without rules |
//! | `extract/` | extraction of the cheapest nodes |
//! | `report/` | reports for people and tools |
//! | `write_back.rs` | translation of the chosen nodes into a program |

use gradus_ir::PassInfo;

mod apply;
mod associate;
mod by_class;
mod equation;
mod explore;
mod extract;
mod graph;
mod journal;
mod known;
mod paths;
mod program;
pub mod report;
mod saturate;
mod search;
mod touched;
mod write_back;

/// All passes.
pub const PASSES: &[&PassInfo] = &[&saturate::INFO];
