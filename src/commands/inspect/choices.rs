//! The choices for the layers of a program, as a table.

use super::super::model::load;
use crate::columns::in_columns;
use crate::target::{self, named, run_with_reports};
use crate::{Failure, Streams, Tool};
use clap::ArgMatches;
use gradus_ir::ParseOptions;
use gradus_ir::pass::RunOptions;
use gradus_lowering::layers::{CHOICES, LayerTable};

/// The pass of targets that makes choices for layers, and the one that uses them.
const CHOOSER: &str = "choose-layers";
const USER: &str = "convert-layers-to-programs";

/// Runs the pipeline of the target up to the choices for layers. Returns a table for each program.
pub(super) fn tables(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<String, Failure> {
    let file: &String = matches.get_one("FILE").expect("is required");
    let ctx = target::context(tool, matches, streams)?;
    let target = named(tool, matches)?.ok_or_else(|| Failure::Usage("--choices requires --target".into()))?;
    target::check_machine(&ctx, Some(target))?;
    let mut pipeline = tool.target_pipeline(target, &ctx)?;
    if pipeline.passes().iter().all(|pass| pass.name != CHOOSER) {
        let name = target.cost.name;
        return Err(Failure::Usage(format!("the pipeline of target '{name}' has no pass '{CHOOSER}'")));
    }
    pipeline.end_before(USER);
    let mut m = load(&ctx, file, matches, ParseOptions::default(), streams)?;
    let options = RunOptions { reports: vec![CHOICES], ..RunOptions::default() };
    let mut tables: Vec<LayerTable> = Vec::new();
    let mut receive = |report: Box<dyn std::any::Any + Send>| tables.extend(report.downcast().ok().map(|table| *table));
    run_with_reports(pipeline, &mut m, options, &mut receive, streams)?;
    if tables.is_empty() {
        return Err(Failure::Input("there are no layers for which choices are made".into()));
    }
    Ok(tables.iter().map(|table| format!("{}\n{}", table.caption, in_columns(&table.rows))).collect())
}
