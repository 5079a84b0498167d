//! The targets of a tool: the flags `--target` and `--machine`, and compilation.

use crate::io::{self, report};
use crate::progress::PassProgress;
use crate::refusals::Refusals;
#[cfg(feature = "cpu")]
use crate::stopwatch::Stopwatch;
use crate::{Failure, Streams, Tool};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use gradus_cost::{Machine, load_machine, loaded_machine};
use gradus_ir::declarations::{DeclarationError, Declared};
use gradus_ir::diag::hint;
use gradus_ir::pass::{IrPrinting, PassEvent, Pipeline, RunOptions, Watch};
use gradus_ir::{Context, Module, verify};
#[cfg(feature = "cpu")]
use gradus_runtime::artifact::CompiledFor;
use gradus_targets::Target;
use std::any::Any;
use std::sync::Arc;

/// Returns the argument `--machine`.
pub fn machine_arg() -> Arg {
    Arg::new("machine").long("machine").value_name("FILE").help(
        "A machine description (.toml) in place of the embedded one of its target; 'gradus doc TARGET' shows that",
    )
}

/// Returns the arguments `--target`, `--machine` and `--tune`, where there is something to compile for.
pub fn target_args(tool: &Tool) -> impl Iterator<Item = Arg> {
    let names = PossibleValuesParser::new(tool.targets.iter().map(|target| target.cost.name));
    let help = "Compile the program for a machine, and run it by kernels of that; without it, by the reference meaning of its ops";
    let target = Arg::new("target").long("target").value_name("NAME").value_parser(names).help(help);
    let tune = Arg::new("tune").long("tune").action(ArgAction::SetTrue);
    let tune = tune
        .help("Choose among forms of products and convolutions by measuring them while compiling, not by estimates");
    cfg!(feature = "cpu").then_some([target, machine_arg(), tune]).into_iter().flatten()
}

/// Returns the arguments `--target`, which must be given, and `--machine`.
#[cfg(feature = "cpu")]
pub fn required_target_args(tool: &Tool) -> impl Iterator<Item = Arg> {
    let args = target_args(tool).filter(|arg| arg.get_id() != "tune");
    args.map(|arg| if arg.get_id() == "target" { arg.required(true) } else { arg })
}

/// Returns the argument `--precision`.
pub fn precision_arg(tool: &Tool) -> impl Iterator<Item = Arg> {
    let mut names: Vec<&str> = tool.targets.iter().flat_map(|target| target.precisions).map(|of| of.name).collect();
    names.sort_unstable();
    names.dedup();
    let help = "Compute networks of f32 in a narrower type, with sums of f32, where the target does";
    let arg = Arg::new("precision").long("precision").value_name("TYPE").help(help);
    (!names.is_empty()).then(|| arg.value_parser(PossibleValuesParser::new(names))).into_iter()
}

/// The options of a command line for compilation, besides the machine.
#[derive(Clone, Default)]
struct CompileSettings {
    /// The precision of networks of f32.
    precision: Option<String>,
    /// The target for which forms of products are measured.
    #[cfg_attr(not(feature = "cpu"), expect(dead_code, reason = "there is no target to measure"))]
    tuned: Option<&'static Target>,
}

impl CompileSettings {
    /// Adds the settings to a context.
    #[cfg_attr(not(feature = "cpu"), expect(unused_variables, reason = "there is no target to measure"))]
    fn add_to(self, tool: &Tool, ctx: &Context) -> Result<(), Failure> {
        #[cfg(feature = "cpu")]
        if let Some(target) = self.tuned {
            Stopwatch::new(tool, target)?.tune(ctx);
        }
        ctx.extend(self);
        Ok(())
    }
}

/// Returns the precision that a command line chooses.
fn precision(ctx: &Context) -> Option<&str> {
    ctx.extension::<CompileSettings>()?.precision.as_deref()
}

/// Creates a context with the machine and the settings of another one.
#[cfg(feature = "cpu")]
pub fn context_like(tool: &Tool, ctx: &Context) -> Result<Arc<Context>, Failure> {
    let new = tool.context();
    if let Some(machine) = loaded_machine(ctx) {
        load_machine(&new, machine.clone());
    }
    ctx.extension::<CompileSettings>().cloned().unwrap_or_default().add_to(tool, &new)?;
    Ok(new)
}

/// Returns the value of an argument that not all commands have.
fn argument<'a>(matches: &'a ArgMatches, name: &str) -> Option<&'a str> {
    matches.try_get_one::<String>(name).ok().flatten().map(String::as_str)
}

/// Returns the target that a command line names.
pub fn named(tool: &Tool, matches: &ArgMatches) -> Result<Option<&'static Target>, Failure> {
    Ok(argument(matches, "target").map(|name| tool.target(name)).transpose()?)
}

/// Creates the context of a command line, with the machine description that it names.
pub fn context(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<Arc<Context>, Failure> {
    let ctx = tool.context();
    if let Some(path) = argument(matches, "machine") {
        let machine = read_machine(tool, &ctx, path, streams)?;
        load_machine(&ctx, machine);
    }
    let is_tuned = matches!(matches.try_get_one("tune"), Ok(Some(true)));
    let tuned = if is_tuned { named(tool, matches)? } else { None };
    if is_tuned && tuned.is_none() {
        return Err(Failure::Usage("--tune needs --target".into()));
    }
    let precision = argument(matches, "precision").map(str::to_owned);
    CompileSettings { precision, tuned }.add_to(tool, &ctx)?;
    Ok(ctx)
}

/// Returns the machine that a command line names, or the embedded one of the target.
#[cfg(feature = "cpu")]
pub fn machine(
    tool: &Tool,
    ctx: &Context,
    target: &Target,
    matches: &ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<Machine, Failure> {
    match argument(matches, "machine") {
        Some(path) => read_machine(tool, ctx, path, streams),
        None => target.cost.embedded(ctx).map_err(|d| report(ctx, &d, streams)),
    }
}

/// Checks that the machine description of a command line is that of the target.
pub fn check_machine(ctx: &Context, target: Option<&Target>) -> Result<(), Failure> {
    if target.is_none() && precision(ctx).is_some() {
        return Err(Failure::Usage("--precision needs a target: give --target".into()));
    }
    match (loaded_machine(ctx), target) {
        (Some(_), None) => Err(Failure::Usage("--machine needs a target: give --target, or a compiled program".into())),
        (Some(machine), Some(target)) if machine.name != target.cost.name => {
            let (machine, target) = (&machine.name, target.cost.name);
            Err(Failure::Usage(format!("--machine describes '{machine}', but the target is '{target}'")))
        }
        _ => Ok(()),
    }
}

/// Reads the description of a machine, in which the numbers that the file lacks are those of the first one that its target embeds.
fn read_machine(tool: &Tool, ctx: &Context, path: &str, streams: &mut Streams<'_>) -> Result<Machine, Failure> {
    let chunk = io::text(path, streams)?;
    let machine = Machine::read(ctx, &chunk.name, &chunk.text).map_err(|d| report(ctx, &d, streams))?;
    let embedded = tool.target(&machine.name)?.cost.descriptions(ctx).map_err(|d| report(ctx, &d, streams))?;
    embedded[0].read_like(ctx, &chunk.name, &chunk.text).map_err(|d| report(ctx, &d, streams))
}

impl Tool {
    /// Returns the target of a name.
    pub(crate) fn target(&self, name: &str) -> Result<&'static Target, String> {
        self.targets.iter().copied().find(|target| target.cost.name == name).ok_or_else(|| {
            let names = || self.targets.iter().map(|target| target.cost.name);
            format!(
                "there is no target '{name}'{}; there are {}",
                hint(name, names()),
                names().collect::<Vec<_>>().join(", ")
            )
        })
    }

    /// Returns the pipeline of a target for the machine of a context.
    pub(crate) fn target_pipeline(&self, target: &Target, ctx: &Context) -> Result<Pipeline, String> {
        let machine = target.cost.machine(ctx)?;
        let text = match precision(ctx) {
            Some(precision) => target.pipeline_in(&machine, precision),
            None => target.pipeline(&machine),
        }?;
        Pipeline::parse(&text, &self.passes).map_err(|e| format!("the pipeline of target '{}': {e}", target.cost.name))
    }
}

/// Sets an option, `name=value`, of all passes of a name in the pipeline of a target.
#[cfg(feature = "cpu")]
pub fn set_option(pipeline: &mut Pipeline, target: &Target, pass: &str, option: &str) -> Result<(), Failure> {
    if pipeline.passes().iter().all(|info| info.name != pass) {
        let name = target.cost.name;
        return Err(Failure::Usage(format!("the pipeline of target '{name}' has no pass '{pass}': {pipeline:#}")));
    }
    let set = pipeline.set_options(&mut |info, _| if info.name == pass { option } else { "" }.to_owned());
    set.map_err(|e| Failure::Input(format!("in {pipeline:#}: {e}")))
}

/// Runs the pipeline of a target on the only program of its context, with dumps between its passes. Returns the refused ops.
pub fn compile(
    tool: &Tool,
    m: &mut Module,
    target: &Target,
    printing: IrPrinting,
    streams: &mut Streams<'_>,
) -> Result<Refusals, Failure> {
    check_machine(&m.ctx, Some(target))?;
    run_pipeline(tool.target_pipeline(target, &m.ctx)?, m, printing, streams)
}

/// Runs a pipeline on the only program of its context, with dumps between its passes. Constants that the program no longer
/// uses are freed. The final program is verified, those between passes are not. Returns the refused ops.
pub fn run_pipeline(
    pipeline: Pipeline,
    m: &mut Module,
    printing: IrPrinting,
    streams: &mut Streams<'_>,
) -> Result<Refusals, Failure> {
    run_with_reports(pipeline, m, RunOptions { printing, ..RunOptions::default() }, &mut |_| (), streams)
}

/// Runs a pipeline as [`run_pipeline`] does, and calls `receive` with the reports that the options request.
pub fn run_with_reports(
    mut pipeline: Pipeline,
    m: &mut Module,
    options: RunOptions,
    receive: &mut dyn FnMut(Box<dyn Any + Send>),
    streams: &mut Streams<'_>,
) -> Result<Refusals, Failure> {
    let (mut said, mut unwritten, mut shown) = (Vec::new(), None, PassProgress::default());
    let mut watch = Watch::new(|event| match event {
        PassEvent::Diagnostic(d) => said.push(d),
        PassEvent::Text(text) => drop(streams.err.write_all(text.as_bytes())),
        PassEvent::File { path, text } => {
            unwritten = io::write_file(&path, &text, streams).err().or(unwritten.take());
        }
        PassEvent::Report(report) => receive(report),
        PassEvent::Progress { pass, done, what } => shown.show(pass, done, what),
    });
    // Weights in the form before a pass would stay in the context otherwise.
    watch.after_pass = Some(Box::new(|passed| {
        passed.module.ctx.release_unused_constants(passed.module);
        Ok(())
    }));
    let done = pipeline.run(m, &RunOptions { verify_each: false, ..options }, &mut watch);
    drop(watch);
    done.map_err(|_| report(&m.ctx, &said, streams))?;
    verify(m).map_err(|errors| report(&m.ctx, &errors, streams))?;
    unwritten.map_or_else(|| Ok(Refusals::of(said)), Err)
}

/// Returns the header of programs that are compiled for a target and for the machine of a context.
#[cfg(feature = "cpu")]
pub fn header(target: &Target, ctx: &Context) -> Result<CompiledFor, Failure> {
    let machine = target.cost.machine(ctx)?.hash();
    Ok(CompiledFor { target: target.cost.name.to_owned(), version: target.version, machine })
}

/// Returns the target for which a file was compiled, by its header.
///
/// # Errors
/// It is not the requested one, or the target's version or machine is not that of this tool.
#[cfg(feature = "cpu")]
pub fn compiled_for(
    tool: &Tool,
    ctx: &Context,
    file: &str,
    found: &CompiledFor,
    requested: Option<&Target>,
) -> Result<&'static Target, Failure> {
    if precision(ctx).is_some() {
        return Err(Failure::Usage(format!("'{file}' is compiled: --precision must be given to 'compile'")));
    }
    let name = &found.target;
    let target = tool.target(name).map_err(|why| format!("'{file}' was compiled for '{name}': {why}"))?;
    if let Some(requested) = requested.filter(|requested| requested.cost.name != name) {
        return Err(Failure::Usage(format!("'{file}' was compiled for '{name}', not for '{}'", requested.cost.name)));
    }
    if found.version != target.version {
        let (was, is) = (found.version, target.version);
        let message =
            format!("'{file}' was compiled for version {was} of target '{name}', but this tool has version {is}");
        return Err(Failure::Input(message));
    }
    check_machine(ctx, Some(target))?;
    let machine = header(target, ctx)?.machine;
    let is_embedded = || {
        let all = target.cost.descriptions(ctx).unwrap_or_default();
        loaded_machine(ctx).is_none() && all.iter().any(|machine| machine.hash() == found.machine)
    };
    if found.machine != machine && !is_embedded() {
        return Err(Failure::Input(format!(
            "'{file}' was compiled for the machine description of '{name}' with hash {:016x}, not for this one with hash \
             {machine:016x}: compile it again, or give its description by --machine",
            found.machine
        )));
    }
    Ok(target)
}

/// Returns the mistakes in declarations of targets.
pub fn mistakes(tool: &Tool) -> Vec<DeclarationError> {
    let ctx = tool.context();
    let mut errors = Vec::new();
    for target in &tool.targets {
        let mut add = |why: String| errors.push(DeclarationError::new(Declared::Target, "", target.cost.name, why));
        match target.cost.embedded(&ctx) {
            Err(all) => all.iter().for_each(|error| add(error.render(&ctx).trim_end().to_owned())),
            Ok(machine) if machine.name != target.cost.name => add(format!("its machine is '{}'", machine.name)),
            Ok(_) => {
                let pipeline = (!target.pipeline.is_empty()).then(|| tool.target_pipeline(target, &ctx).err());
                let cost = target.cost.cost_fn(&ctx).err().map(String::from);
                cost.into_iter().chain(pipeline.flatten()).for_each(add);
            }
        }
    }
    errors
}
