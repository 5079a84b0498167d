//! A callable function, interpreted or compiled, as used by `run` and `bench`.

#[cfg(feature = "cpu")]
use crate::open_shapes::has_open_parameters;
#[cfg(feature = "cpu")]
use crate::specialized::SpecializedFunction;
use crate::{Failure, Tool};
use clap::{Arg, ArgMatches, value_parser};
use gradus_interp::Interpreter;
use gradus_ir::Module;
#[cfg(feature = "cpu")]
use gradus_targets::Signature;
use gradus_targets::{Executable, InterpretedFunction, Target};

/// Returns the arguments that [`prepare`] reads.
pub fn arguments() -> impl Iterator<Item = Arg> {
    let function = Arg::new("function").long("function").value_name("NAME").default_value("main");
    let threads = Arg::new("threads").long("threads").value_name("N").value_parser(value_parser!(u16).range(1..));
    let threads = threads.help("Number of threads of a compiled program [default: all cores]");
    std::iter::once(function.help("Name of the function to call")).chain(cfg!(feature = "cpu").then_some(threads))
}

/// Prepares the function that a command line names: for a target, or for evaluation by reference with a progress
/// callback, which receives the number of executed ops.
#[cfg_attr(not(feature = "cpu"), expect(unused_variables, reason = "programs are specialized on the cpu only"))]
pub fn prepare<'m>(
    tool: &Tool,
    module: &'m Module,
    file: &str,
    matches: &ArgMatches,
    target: Option<&'static Target>,
    on_op: impl FnMut(u64) + 'm,
) -> Result<Box<dyn Executable + 'm>, Failure> {
    let name: &String = matches.get_one("function").expect("has a default");
    let mut interpreter = Interpreter::new(module);
    let function = interpreter.function(name).ok_or_else(|| format!("'{file}' has no function '@{name}'"))?;
    let Some(target) = target else {
        return Ok(Box::new(InterpretedFunction::new(interpreter.on_op(on_op), function)));
    };
    let all = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads: usize = matches.try_get_one::<u16>("threads").ok().flatten().map_or_else(all, |&n| n.into());
    #[cfg(feature = "cpu")]
    if has_open_parameters(&module.ctx, &Signature::of(module, function))
        && let Some(specialized) = SpecializedFunction::new(tool, module, function, name, target, threads)
    {
        return Ok(Box::new(specialized));
    }
    Ok(target.load(module, function, &target.cost.machine(&module.ctx)?, threads)?)
}
