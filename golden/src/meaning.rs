//! The same meaning: what a chunk's functions compute is not changed by its passes.
//!
//! Every public function is run on random and on extreme inputs, before the passes and after: see `gradus::check`. A chunk
//! that runs no pass is canonicalized, so that a file that is only about text checks its ops' folding too. The inputs
//! depend on nothing but the function's name. Functions that cannot be compared are passed over. Floats are compared bit by bit,
//! unless a pass is asked to be approximate about them.

use crate::case::Case;
use crate::run;
use gradus::check::{Floats, Options, Reference, Verdict};
use gradus::ir::{Context, Module, ParseOptions, parse_module};
use std::sync::Arc;

/// Fewer inputs of all that there are than users get: there are thousands of chunks.
const OPTIONS: Options =
    Options { inputs: 100, exhaustive: 256, fuel: 4096, seed: 0, opaque: true, floats: Floats::Bits };

/// Whether there is a function with a body.
pub fn has_functions(case: &Case) -> bool {
    let ctx = case.tool.context();
    read(case, &ctx).is_ok_and(|m| !Reference::new(&m, OPTIONS).is_empty())
}

/// Whether any function of the chunk can be executed.
pub fn can_execute(case: &Case) -> bool {
    let ctx = case.tool.context();
    read(case, &ctx).is_ok_and(|m| Reference::new(&m, Options { inputs: 5, ..OPTIONS }).can_run())
}

/// Compares before and after.
pub fn check(case: &Case) -> Result<(), String> {
    let mut command = case.command();
    if !case.has_passes() {
        command.extend(["--canonicalize", "--cse"].map(str::to_owned));
    }
    let output = run(&case.tool, &command);
    if output.code != 0 {
        return Err(output.err);
    }
    let ctx = case.tool.context();
    let before = read(case, &ctx)?;
    let after = load(&ctx, &output.out)?;
    let approximate = command.iter().any(|word| word.contains("floats=approx"));
    let rounds = |word: &String| case.tool.passes.iter().any(|pass| pass.rounds && word.contains(pass.name));
    let floats = match approximate {
        true => Floats::Approximate,
        false if command.iter().any(rounds) => Floats::Exact,
        false => OPTIONS.floats,
    };
    let reference = Reference::new(&before, Options { floats, ..OPTIONS });
    for (name, _, verdict) in reference.compare(&after) {
        match verdict {
            Verdict::Different(difference) => {
                return Err(reference.error(name, &after, &difference, "after the passes").render(&ctx));
            }
            Verdict::Lost(why) => return Err(format!("@{name} cannot be executed after the passes: {why}")),
            Verdict::Same { .. } | Verdict::Unchanged | Verdict::Inconclusive(_) => {}
        }
    }
    Ok(())
}

fn read(case: &Case, ctx: &Arc<Context>) -> Result<Module, String> {
    load(ctx, &std::fs::read_to_string(&case.input).map_err(|e| e.to_string())?)
}

fn load(ctx: &Arc<Context>, text: &str) -> Result<Module, String> {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let all = |d: Vec<gradus::ir::Diagnostic>| d.iter().map(|d| d.render(ctx)).collect::<String>();
    parse_module(ctx, "chunk", text.to_owned(), options).map_err(all)
}
