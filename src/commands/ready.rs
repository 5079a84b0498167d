//! A callable function, interpreted or compiled, as used by `run` and `bench`.

use crate::Failure;
use clap::{Arg, ArgMatches, value_parser};
use gradus_interp::{Interpreter, Stop};
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, Type};
#[cfg(feature = "cpu")]
use gradus_runtime::{cpu::Program, workers::Workers};

/// A callable function of a program.
pub struct Ready<'m> {
    /// The program.
    pub module: &'m Module,
    function: Op,
    how: How<'m>,
}

enum How<'m> {
    Reference(Box<Interpreter<'m>>),
    #[cfg(feature = "cpu")]
    Kernels(Box<Program<'m>>),
}

impl<'m> Ready<'m> {
    /// The arguments that [`new`](Ready::new) reads.
    pub fn arguments() -> impl Iterator<Item = Arg> {
        let function = Arg::new("function").long("function").value_name("NAME").default_value("main");
        let threads = Arg::new("threads").long("threads").value_name("N").value_parser(value_parser!(u16).range(1..));
        let threads = threads.help("Number of threads of cpu kernels [default: all cores]");
        std::iter::once(function.help("Name of the function to call")).chain(cfg!(feature = "cpu").then_some(threads))
    }

    /// Prepares the function that a command line names.
    pub fn new(module: &'m Module, file: &str, matches: &ArgMatches, on_cpu: bool) -> Result<Ready<'m>, Failure> {
        let name: &String = matches.get_one("function").expect("has a default");
        let mut interpreter = Interpreter::new(module);
        let function = interpreter.function(name).ok_or_else(|| format!("'{file}' has no function '@{name}'"))?;
        #[cfg_attr(not(feature = "cpu"), allow(clippy::match_single_binding, reason = "no kernels"))]
        let how = match on_cpu {
            #[cfg(feature = "cpu")]
            true => How::Kernels(Box::new(Program::new(module, function).on(workers(matches)?))),
            _ => How::Reference(Box::new(interpreter)),
        };
        Ok(Ready { module, function, how })
    }

    /// Names and types of parameters and results.
    pub fn signature(&self) -> Signature {
        Signature::of(self.module, self.function)
    }

    /// Sets a progress callback, which receives the number of executed ops; only the interpreter calls it.
    pub fn on_op(self, f: impl FnMut(u64) + 'm) -> Ready<'m> {
        let how = match self.how {
            How::Reference(interpreter) => How::Reference(Box::new(interpreter.on_op(f))),
            #[cfg(feature = "cpu")]
            How::Kernels(program) => How::Kernels(program),
        };
        Ready { how, ..self }
    }

    /// Calls the function.
    pub fn call(&mut self, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        match &mut self.how {
            How::Reference(interpreter) => interpreter.call(self.function, args),
            #[cfg(feature = "cpu")]
            How::Kernels(program) => program.call(args),
        }
    }

    /// The compiled program, if the function is compiled.
    #[cfg(feature = "cpu")]
    pub fn program(&self) -> Option<&Program<'m>> {
        match &self.how {
            How::Reference(_) => None,
            How::Kernels(program) => Some(program),
        }
    }
}

/// The threads that a command line asks for.
#[cfg(feature = "cpu")]
fn workers(matches: &ArgMatches) -> Result<Workers, String> {
    let all = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Workers::new(matches.get_one::<u16>("threads").map_or_else(all, |&n| n.into()))
}

/// Names and types of the parameters and results of a function.
pub struct Signature {
    pub(super) inputs: Vec<(String, Type)>,
    pub(super) outputs: Vec<(String, Type)>,
}

impl Signature {
    pub(super) fn of(m: &Module, function: Op) -> Signature {
        let ctx = &m.ctx;
        let ty = m.inherent_attr(function, "function_type").and_then(|a| ctx.as_type(a));
        let (inputs, outputs) = ty.and_then(|t| ctx.function_parts(t)).unwrap_or((&[], &[]));
        let names = |attr: &str, default: &str, types: &[Type]| {
            let list = m.inherent_attr(function, attr).and_then(|a| ctx.as_array(a)).unwrap_or(&[]);
            let name = |i: usize| {
                let dict = *list.get(i)?;
                ctx.as_str(ctx.dict_get(dict, ctx.str("graph.name"))?).map(str::to_owned)
            };
            types.iter().enumerate().map(|(i, &t)| (name(i).unwrap_or(format!("{default}{i}")), t)).collect()
        };
        Signature { inputs: names("arg_attrs", "arg", inputs), outputs: names("res_attrs", "result", outputs) }
    }
}
