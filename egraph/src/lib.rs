//! The e-graph: `saturate`, a pass that chooses the cheapest of the programs that rules make equal.
//!
//! | file | what it is |
//! |---|---|
//! | `graph.rs` | the e-graph: nodes, and what is known of their classes |
//! | `by_class.rs` | what is known of each class |
//! | `program.rs` | a program's values as an e-graph |
//! | `equation.rs` | which rules may be used |
//! | `search.rs`, `apply.rs` | where a rule matches, and what it makes equal |
//! | `explore.rs`, `touched.rs` | applying all rules, within limits, where something changed |
//! | `journal.rs` | which rule made what equal, and why two nodes are |
//! | `known.rs` | checking that nothing is overlooked |
//! | `associate/` | what is equal because ops are associative |
//! | `saturate.rs` | the pass |
//! | `extract/` | which nodes are cheapest together |
//! | `report/` | what came of it, for people and tools |
//! | `write_back.rs` | chosen nodes as a program again |

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
mod program;
pub mod report;
mod saturate;
mod search;
mod touched;
mod write_back;

/// All passes.
pub const PASSES: &[&PassInfo] = &[&saturate::INFO];
