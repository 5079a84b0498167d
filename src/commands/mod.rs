//! One file per subcommand, and shared helpers.

pub mod bench;
pub mod check;
pub mod compile;
pub mod completions;
pub mod doc;
pub mod filecheck;
pub mod fuzz;
pub mod import;
pub mod inspect;
pub mod list;
pub mod model;
pub mod opt;
pub mod ready;
pub mod reduce;
pub mod rules;
pub mod run;
pub mod update_checks;
