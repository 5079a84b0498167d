//! In place of `saturation.rs` in tools without the pass `saturate`: no flags and no reports.

use crate::{Failure, Streams};
use clap::{Arg, ArgMatches};
use std::any::Any;

/// No reports.
#[derive(Default)]
pub struct Reports {}

/// Returns no flags.
pub fn arguments() -> [Arg; 0] {
    []
}

/// Returns no names of reports.
pub fn wanted(_: &ArgMatches) -> Vec<&'static str> {
    Vec::new()
}

/// Accepts all flags.
pub fn check(_: &ArgMatches) -> Result<(), Failure> {
    Ok(())
}

impl Reports {
    /// Drops a report.
    pub fn add(&mut self, _: Box<dyn Any>) {}

    /// Writes nothing.
    pub fn write(&self, _: &ArgMatches, _: &mut Streams<'_>) -> Result<(), Failure> {
        Ok(())
    }
}
