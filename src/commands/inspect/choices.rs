//! The choices for the layers of a program, as a table.

use super::super::model::load;
use crate::columns::in_columns;
use crate::target::{self, named, run_with_reports};
use crate::{Failure, Streams, Tool};
use clap::ArgMatches;
use gradus_ir::pass::RunOptions;
use gradus_ir::{Module, ParseOptions};
use gradus_lowering::layers::{CHOICES, LayerTable};
use std::any::Any;

/// The pass of targets that makes choices for layers, and the one after it.
const CHOOSER: &str = "choose-layers";
const NEXT: &str = "schedule-layers";

/// Runs the pipeline of the target up to the choices for layers. Returns a table for each program.
pub(super) fn tables(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<String, Failure> {
    let mut tables: Vec<LayerTable> = Vec::new();
    let mut receive = |report: Box<dyn Any + Send>| tables.extend(report.downcast().ok().map(|table| *table));
    lowered_before(tool, matches, ["choices", CHOOSER, NEXT], &mut receive, streams)?;
    if tables.is_empty() {
        return Err(Failure::Input("there are no layers for which choices are made".into()));
    }
    Ok(tables.iter().map(|table| format!("{}\n{}", table.caption, in_columns(&table.rows))).collect())
}

/// Runs the pipeline of the target up to a pass that it must have, and to those before `next`, for an option. `receive` gets the tables of choices.
pub(super) fn lowered_before(
    tool: &Tool,
    matches: &ArgMatches,
    [option, pass, next]: [&str; 3],
    receive: &mut dyn FnMut(Box<dyn Any + Send>),
    streams: &mut Streams<'_>,
) -> Result<Module, Failure> {
    let file: &String = matches.get_one("FILE").expect("is required");
    let ctx = target::context(tool, matches, streams)?;
    let target = named(tool, matches)?.ok_or_else(|| Failure::Usage(format!("--{option} requires --target")))?;
    target::check_machine(&ctx, Some(target))?;
    let mut pipeline = tool.target_pipeline(target, &ctx)?;
    if pipeline.passes().iter().all(|of| of.name != pass) {
        let name = target.cost.name;
        return Err(Failure::Usage(format!("the pipeline of target '{name}' has no pass '{pass}'")));
    }
    pipeline.end_before(next);
    let mut m = load(&ctx, file, matches, ParseOptions::default(), streams)?;
    let options = RunOptions { reports: vec![CHOICES], ..RunOptions::default() };
    run_with_reports(pipeline, &mut m, options, receive, streams)?;
    Ok(m)
}
