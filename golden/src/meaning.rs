//! The `::meaning` test: the passes of a chunk preserve the meaning of its functions.
//!
//! Every public function runs on random and extreme inputs before and after the passes (see `gradus::check`). A chunk
//! without passes is canonicalized, so that a file about text also checks the folders of its ops. The inputs depend
//! only on the function's name. Functions that cannot be executed are skipped. Floats are compared as the passes declare.

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
    floats: Floats::Declared,
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

/// Returns the change of floats by the passes of an argument of the command.
fn float_change(case: &Case, word: &str) -> pass::FloatChange {
    let word = word.trim_start_matches('-');
    let (name, options) = word.split_once('=').unwrap_or((word, ""));
    let passes = &case.tool.passes;
    if name == "pass-pipeline" {
        return pass::Pipeline::parse(options, passes)
            .map_or_else(|_| Default::default(), |pipeline| pipeline.floats());
    }
    let pass = passes.iter().find(|pass| pass.name == name);
    let options = pass.and_then(|pass| pass::Options::parse(pass.options, options).ok());
    pass.zip(options).map_or_else(Default::default, |(pass, options)| (pass.floats)(&options))
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
    let change = command.iter().map(|word| float_change(case, word)).max().unwrap_or_default();
    let floats = OPTIONS.floats.allowing(change);
    let reference = Reference::new(&before, Options { floats, ..OPTIONS });
    for (name, _, verdict) in reference.compare(&after) {
        match verdict {
            Verdict::Different(difference) => {
                return Err(reference.error(name, &difference, "after the passes").render(&ctx));
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
