//! One file per subcommand, and shared helpers.

#[cfg(feature = "cpu")]
pub mod bench;
#[cfg(feature = "cpu")]
mod calibrate;
#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "check")]
mod check_rules;
#[cfg(feature = "check")]
mod comparison;
#[cfg(feature = "cpu")]
pub mod compile;
pub mod completions;
#[cfg(feature = "cpu")]
mod device_binary;
pub mod doc;
pub mod filecheck;
#[cfg(feature = "check")]
pub mod fuzz;
#[cfg(feature = "networks")]
pub mod import;
mod inputs;
#[cfg(feature = "cpu")]
pub mod inspect;
pub mod list;
pub mod model;
pub mod opt;
pub mod plan;
pub mod ready;
#[cfg(feature = "check")]
pub mod reduce;
pub mod rules;
pub mod run;
#[cfg(feature = "cpu")]
pub mod sweep;
#[cfg(feature = "cpu")]
pub mod together;
pub mod update_checks;
