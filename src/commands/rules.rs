//! Loading of rules: `--rules FILE`.

use crate::io::{self, report};
use crate::{Failure, Streams};
use clap::{Arg, ArgAction, ArgMatches};
use gradus_dialects::rewrite::rules_of;
use gradus_ir::rules::{CompiledRule, RuleSet};
use gradus_ir::{Context, Loc, ParseOptions, verify};
use std::sync::Arc;

/// Returns the argument `--rules FILE`.
pub(super) fn rules_arg(help: &'static str) -> Arg {
    Arg::new("rules").long("rules").value_name("FILE").action(ArgAction::Append).help(help)
}

/// Adds the rules of the given files to the context.
pub(super) fn load(ctx: &Arc<Context>, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let mut rules = Vec::new();
    for path in matches.get_many::<String>("rules").into_iter().flatten() {
        rules.extend(read(ctx, path, streams)?.into_iter().map(|(_, rule)| rule));
    }
    if !rules.is_empty() {
        ctx.load_rules(RuleSet::new(rules));
    }
    Ok(())
}

/// Returns the rules of a file with their locations.
pub(super) fn read(
    ctx: &Arc<Context>,
    path: &str,
    streams: &mut Streams<'_>,
) -> Result<Vec<(Loc, CompiledRule)>, Failure> {
    let m = io::parse(ctx, &io::text(path, streams)?, ParseOptions::default(), streams)?;
    verify(&m).map_err(|errors| report(ctx, &errors, streams))?;
    let rules = rules_of(&m).map_err(|error| report(ctx, &[error], streams))?;
    if rules.is_empty() {
        return Err(Failure::Input(format!("'{path}' contains no rules")));
    }
    Ok(rules.into_iter().map(|(op, rule)| (m.loc(op), rule)).collect())
}
