//! Executable functions: compiled for a target, or evaluated by reference.

use gradus_dialects::func::{parameter_names, result_names};
use gradus_interp::Interpreter;
pub use gradus_interp::Stop;
use gradus_ir::diag::Refused;
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, Type};

/// A function that runs on tensors.
pub trait Executable {
    /// Names and types of the parameters and results.
    fn signature(&self) -> &Signature;

    /// Calls the function.
    ///
    /// # Errors
    /// The op that failed, with the reason.
    fn call(&mut self, args: Vec<Datum>) -> Result<Vec<Datum>, Stop>;

    /// Returns statistics, such as memory or simulated cycles; additive ones are averages over all calls so far.
    fn statistics(&self) -> Vec<Statistic> {
        Vec::new()
    }

    /// Returns the refused ops that are not known when a program is loaded, such as a function that is interpreted.
    fn refused(&self) -> Vec<Refused> {
        Vec::new()
    }

    /// Returns the program of the last call's ops, such as those of [`op_times`](Executable::op_times) and of [`Stop`]; `None` if it is the loaded one.
    fn module(&self) -> Option<&Module> {
        None
    }

    /// Returns the time of each op, or of the last of several ops that run as one, over all calls; `None` if it is not
    /// measured.
    fn op_times(&self) -> Option<OpTimes> {
        None
    }
}

/// A named number.
#[derive(Clone, PartialEq, Debug)]
pub struct Statistic {
    /// Name.
    pub name: String,
    /// Value.
    pub value: f64,
    /// Unit, such as `MiB` or `cycles`.
    pub unit: &'static str,
}

/// The name of the statistic of the cycles of all programs and of the ops of networks that the host computes between them.
pub const WITH_HOST: &str = "cycles with the host";

/// The time of each op.
#[derive(Clone, PartialEq, Debug)]
pub struct OpTimes {
    /// Unit: `ms`, or `cycles` of a simulator.
    pub unit: &'static str,
    /// The ops, each with its total over all calls.
    pub ops: Vec<(Op, f64)>,
}

/// Names and types of the parameters and results of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The parameters.
    pub inputs: Vec<(String, Type)>,
    /// The results.
    pub outputs: Vec<(String, Type)>,
}

impl Signature {
    /// Returns the signature of a function. Names are those of a model, or `arg0` and `result0`.
    pub fn of(m: &Module, function: Op) -> Signature {
        let ctx = &m.ctx;
        let ty = m.inherent_attr(function, "function_type").and_then(|a| ctx.as_type(a));
        let (inputs, outputs) = ty.and_then(|t| ctx.function_parts(t)).unwrap_or((&[], &[]));
        let named = |names: Vec<String>, types: &[Type]| names.into_iter().zip(types.iter().copied()).collect();
        Signature {
            inputs: named(parameter_names(m, function), inputs),
            outputs: named(result_names(m, function), outputs),
        }
    }
}

/// A function evaluated by the reference semantics of its ops.
pub struct InterpretedFunction<'m> {
    interpreter: Interpreter<'m>,
    function: Op,
    signature: Signature,
}

impl<'m> InterpretedFunction<'m> {
    /// Prepares a function.
    pub fn new(interpreter: Interpreter<'m>, function: Op) -> InterpretedFunction<'m> {
        let signature = Signature::of(interpreter.module(), function);
        InterpretedFunction { interpreter, function, signature }
    }
}

impl Executable for InterpretedFunction<'_> {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn call(&mut self, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        self.interpreter.call(self.function, args)
    }
}
