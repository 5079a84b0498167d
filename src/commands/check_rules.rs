//! Checking of rules: `gradus check --rules`.

use super::comparison::numeric_options;
use super::rules::read;
use crate::io::{self, report};
use crate::{Failure, Streams, Tool};
use clap::ArgMatches;
use gradus_generate::rule::{RuleChecker, RuleOptions, RuleReport, Soundness};
use gradus_ir::diag::hint;
use gradus_ir::rules::CompiledRule;
use gradus_ir::{Context, Diagnostic, Loc, PrintOptions};
use std::fmt::Write as _;
use std::sync::Arc;

/// The file name that stands for the declared rules.
const BUILTIN: &str = "builtin";

/// Checks the selected rules.
pub(super) fn check(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let ctx = tool.context();
    let rules = chosen(&ctx, matches, streams)?;
    let default = RuleOptions::default();
    let instances = matches.get_one::<u64>("instances").copied().unwrap_or(default.instances);
    let how = RuleOptions { instances, options: numeric_options(matches, default.options) };
    let mut checker = RuleChecker::new(&ctx, how);
    let mut bad = 0;
    for (loc, rule) in &rules {
        let found = checker.check(rule);
        bad += usize::from(!found.is_sound());
        let text = describe(ctx.text(rule.name), &found);
        io::write("-", streams, |out| out.write_all(text.as_bytes()))?;
        tell(&ctx, *loc, ctx.text(rule.name), found, streams);
    }
    match bad {
        0 => Ok(()),
        bad => Err(Failure::Input(format!("{bad} of {} rules are unsound or inconclusive", rules.len()))),
    }
}

/// Returns the rules of the files, or the declared rules, restricted to the given names.
fn chosen(
    ctx: &Arc<Context>,
    matches: &ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<Vec<(Loc, CompiledRule)>, Failure> {
    let mut rules = Vec::new();
    for path in matches.get_many::<String>("rules").into_iter().flatten() {
        match path.as_str() {
            BUILTIN => rules.extend(ctx.all_rules().map(|rule| (Loc::UNKNOWN, rule.clone()))),
            path => rules.extend(read(ctx, path, streams)?),
        }
    }
    let names: Vec<&String> =
        ["FILE", "AFTER"].iter().flat_map(|id| matches.get_many(id).into_iter().flatten()).collect();
    for name in &names {
        let mut known = rules.iter().map(|(_, rule)| ctx.text(rule.name));
        if known.clone().any(|known| known == *name) {
            continue;
        }
        let hint = hint(name, &mut known);
        return Err(Failure::Input(format!("unknown rule '{name}'{hint}")));
    }
    rules.retain(|(_, rule)| names.is_empty() || names.iter().any(|name| *name == ctx.text(rule.name)));
    Ok(rules)
}

/// Formats the result for a rule in one line, with remarks on its conditions.
fn describe(name: &str, found: &RuleReport) -> String {
    let RuleReport { instances, repeated, refused, unmade, open, inputs, .. } = found;
    let verdict = match &found.soundness {
        Soundness::Sound => format!("no difference in {instances} instances on {inputs} inputs"),
        Soundness::Vacuous => "vacuous: it applies to no instance".to_owned(),
        Soundness::Unknown(why) => format!("inconclusive: {why}"),
        Soundness::Wrong(_) => format!("unsound, counterexample in instance {}", instances + 1),
    };
    let mut rest = format!("{refused} refused");
    for (count, what) in [(unmade, "without a right side"), (open, "inconclusive"), (repeated, "repeated")] {
        if *count > 0 {
            let _ = write!(rest, ", {count} {what}");
        }
    }
    let mut text = format!("{name}: {verdict} ({rest})\n");
    for condition in &found.never_false {
        let _ = writeln!(text, "  condition '{condition}' was never the only false one");
    }
    for condition in &found.needless {
        let _ = writeln!(text, "  condition '{condition}' made no difference");
    }
    text
}

/// Prints the counterexample of a rule.
fn tell(ctx: &Arc<Context>, loc: Loc, name: &str, found: RuleReport, streams: &mut Streams<'_>) {
    match found.soundness {
        Soundness::Sound => {}
        Soundness::Vacuous => {
            let message = format!("rule '{name}' applies to no instance of its left side");
            report(ctx, &[Diagnostic::error(loc, message)], streams);
        }
        Soundness::Unknown(why) => {
            report(ctx, &[Diagnostic::error(loc, format!("rule '{name}' could not be checked: {why}"))], streams);
        }
        Soundness::Wrong(wrong) => {
            let mut error = Diagnostic::error(loc, format!("rule '{name}' changes the meaning of a program"));
            error = error.note(loc, wrong.error.message);
            for (_, note) in wrong.error.notes {
                error = error.note(loc, note);
            }
            report(ctx, &[error], streams);
            let [before, after] = [&wrong.before, &wrong.after].map(|m| m.to_text(PrintOptions::default()));
            let _ = write!(streams.err, "before:\n{before}\nafter:\n{after}\n");
        }
    }
}
