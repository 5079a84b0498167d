//! One file per subcommand.

pub mod check;
pub mod completions;
pub mod doc;
pub mod filecheck;
pub mod fuzz;
pub mod import;
pub mod list;
pub mod model;
pub mod opt;
pub mod reduce;
pub mod run;
pub mod update_checks;
