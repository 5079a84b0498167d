//! The `::meaning` test: the passes of a chunk preserve the meaning of its functions.
//!
//! Every public function runs on random and extreme inputs before and after the passes (see `gradus::check`). A chunk
//! without passes is canonicalized, so that a file about text also checks the folders of its ops. The inputs depend
//! only on the function's name. Functions that cannot be executed are skipped. Floats are compared bit by bit, unless a
//! pass has an option that allows approximation.

use crate::case::Case;
use crate::run;
use gradus::check::{Floats, Options, Reference, Verdict};
use gradus::ir::{Context, Module, ParseOptions, parse_module, pass};
use std::sync::Arc;

/// Fewer inputs than the defaults of `gradus check`, since there are thousands of chunks.
const OPTIONS: Options = Options {
    inputs: 100,
    work: u64::MAX,
    exhaustive: 256,
    fuel: 4096,
    elements_per_op: 256,
    seed: 0,
    opaque: true,
    floats: Floats::Bits,
    strict_ub: false,
};

/// Whether the chunk has a function with a body.
pub fn has_functions(case: &Case) -> bool {
    let ctx = case.tool.context();
    read(case, &ctx).is_ok_and(|m| !Reference::new(&m, OPTIONS).is_empty())
}

/// Whether any function of the chunk can be executed.
pub fn can_execute(case: &Case) -> bool {
    let ctx = case.tool.context();
    read(case, &ctx).is_ok_and(|m| Reference::new(&m, Options { inputs: 5, ..OPTIONS }).can_run())
}

/// Whether an argument of the command runs a pass that changes floats by rounding.
fn rounds(case: &Case, word: &str) -> bool {
    let word = word.trim_start_matches('-');
    let (name, options) = word.split_once('=').unwrap_or((word, ""));
    let passes = &case.tool.passes;
    if name == "pass-pipeline" {
        return pass::Pipeline::parse(options, passes).is_ok_and(|pipeline| pipeline.rounds());
    }
    let pass = passes.iter().find(|pass| pass.name == name);
    pass.is_some_and(|pass| pass::Options::parse(pass.options, options).is_ok_and(|options| (pass.rounds)(&options)))
}

/// Runs the comparison.
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
    let floats = match approximate {
        true => Floats::Approximate,
        false if command.iter().any(|word| rounds(case, word)) => Floats::Exact,
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
