//! The reference interpreter: executes programs by the semantics in each op's declaration. It serves checking and small
//! inputs, not speed.
//!
//! At its first call a function is compiled to slots of a frame and a list of instructions (`code.rs`), in which attributes,
//! types and symbols are resolved; `execute.rs` runs ops, `control.rs` regions. Scalar ops and loops do not allocate, and a
//! tensor is freed after its last use. The meaning of an op is in its declaration only: `scalar` and `access` for simple ops,
//! `counted` and `control` for regions, `eval` and `exec` otherwise.

mod code;
mod control;
mod execute;

use code::Code;
use gradus_ir::element_limit::with_element_limit;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{Diagnostic, Module, Op, OpArgs, Traits};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Elements of created tensors that count as an op.
const ELEMENTS_PER_OP: u64 = 256;

/// Maximum depth of nested calls, against stack overflow.
const MAX_CALLS: usize = 256;

/// Divisor of the fuel that gives the number of ops below which a run without fuel was not long, but made many elements.
const FEW_OPS: u64 = 16;

/// Number of ops between progress callbacks.
const NOW_AND_THEN: u64 = 1 << 12;

/// The handler of external functions and unregistered ops. Receives the op and its operands.
pub type External<'m> = Box<dyn FnMut(&'m Module, Op, &[Datum], &mut Memory) -> Result<Vec<Datum>, Trap> + 'm>;

/// Kernels that replace reference evaluation. Receive the op and its operands and return `None` if they do not
/// implement it. Constants and ops with effects are never passed.
pub type OpKernels<'m> = Box<dyn FnMut(&OpArgs<'_>, &[Datum]) -> Option<Result<Vec<Datum>, Trap>> + 'm>;

/// The handler of calls. Receives the callee and the arguments, and returns `None` for a function that is interpreted.
pub type Callees<'m> = Box<dyn FnMut(Op, &[Datum]) -> Option<Result<Vec<Datum>, Stop>> + 'm>;

/// The order in which the iterations of parallel loops run. Programs may not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IterationOrder {
    /// By induction variables, last dimension fastest.
    #[default]
    Sequential,
    /// The reverse.
    Reversed,
    /// Random, by this seed.
    Shuffled(u64),
}

/// An execution that ended without results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// The op that failed.
    pub op: Op,
    /// The reason.
    pub trap: Trap,
}

impl Stop {
    /// Returns an error at the op.
    pub fn diagnostic(&self, m: &Module) -> Diagnostic {
        Diagnostic::error(m.loc(self.op), format!("'{}' {}", m.name_text(self.op), self.trap))
    }
}

/// Memory and translated functions, which an interpreter passes on to the next one of the same program.
#[derive(Default)]
pub struct InterpreterState {
    memory: Memory,
    declined: FxHashMap<&'static str, u64>,
    functions: FxHashMap<Op, Arc<Code>>,
}

impl InterpreterState {
    /// Returns the number of reference evaluations that kernels declined, by op name, over all calls.
    pub fn declined(&self) -> &FxHashMap<&'static str, u64> {
        &self.declined
    }
}

/// An interpreter for the functions of one program. Functions are translated on first call, so reuse it for several
/// runs.
pub struct Interpreter<'m> {
    module: &'m Module,
    /// The memory of the program.
    pub memory: Memory,
    /// Progress callback with the number of executed ops.
    on_op: Option<Box<dyn FnMut(u64) + 'm>>,
    external: Option<External<'m>>,
    kernels: Option<OpKernels<'m>>,
    callees: Option<Callees<'m>>,
    /// Whether kernels evaluate ops on poison too.
    kernels_know_poison: bool,
    /// The number of evaluations that `kernels` declined, by op name.
    declined: FxHashMap<&'static str, u64>,
    /// Translated functions.
    functions: FxHashMap<Op, Arc<Code>>,
    /// Operands and results in flight, those of inner ops last.
    stack: Vec<Datum>,
    executed: u64,
    /// Fuel charged for tensor elements, in ops.
    made: u64,
    fuel: u64,
    elements_per_op: u64,
    depth: usize,
    /// The order of the iterations of parallel loops.
    pub order: IterationOrder,
}

impl<'m> Interpreter<'m> {
    /// Creates an interpreter of a valid program.
    pub fn new(module: &'m Module) -> Self {
        Interpreter::resume(module, InterpreterState::default())
    }

    /// Creates an interpreter of a valid program that goes on where another one of the same program ended.
    pub fn resume(module: &'m Module, state: InterpreterState) -> Self {
        let InterpreterState { memory, declined, functions } = state;
        Interpreter {
            module,
            memory,
            on_op: None,
            external: None,
            kernels: None,
            callees: None,
            kernels_know_poison: false,
            declined,
            functions,
            stack: Vec::new(),
            executed: 0,
            made: 0,
            fuel: u64::MAX,
            elements_per_op: ELEMENTS_PER_OP,
            depth: 0,
            order: IterationOrder::Sequential,
        }
    }

    /// Ends the interpreter, for another one to go on.
    pub fn into_state(self) -> InterpreterState {
        InterpreterState { memory: self.memory, declined: self.declined, functions: self.functions }
    }

    /// Returns the program.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Sets a callback with the number of executed ops, called before ops that may take long and at regular intervals.
    pub fn on_op(mut self, f: impl FnMut(u64) + 'm) -> Self {
        self.on_op = Some(Box::new(f));
        self
    }

    /// Sets the handler of external calls; without it they are unsupported.
    pub fn on_external(mut self, external: External<'m>) -> Self {
        self.external = Some(external);
        self
    }

    /// Evaluates ops by kernels where there are any and no operand has poison.
    pub fn with_kernels(mut self, kernels: OpKernels<'m>) -> Self {
        self.kernels = Some(kernels);
        self
    }

    /// Passes calls to a handler first.
    pub fn with_callees(mut self, callees: Callees<'m>) -> Self {
        self.callees = Some(callees);
        self
    }

    /// Evaluates ops by a function, also on operands with poison.
    pub fn with_evaluation(mut self, evaluate: OpKernels<'m>) -> Self {
        self.kernels_know_poison = true;
        self.with_kernels(evaluate)
    }

    /// Returns the number of reference evaluations that the kernels declined, by op name, over all calls.
    pub fn declined(&self) -> &FxHashMap<&'static str, u64> {
        &self.declined
    }

    /// Limits the number of ops; by default, every 256 elements of created tensors count as an op.
    pub fn fuel(mut self, ops: u64) -> Self {
        self.fuel = ops;
        self
    }

    /// Sets the number of elements of created tensors that count as an op.
    pub fn elements_per_op(mut self, elements: u64) -> Self {
        self.elements_per_op = elements.max(1);
        self
    }

    /// Returns the function of that name in the outermost symbol table.
    pub fn function(&mut self, name: &str) -> Option<Op> {
        let found = self.memory.symbols.lookup(self.module, self.module.root(), self.module.ctx.str(name))?;
        self.module.has_trait(found, Traits::FUNCTION).then_some(found)
    }

    /// Returns the number of executed ops.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Returns the number of executed ops, and of those that created elements count as.
    pub fn spent(&self) -> u64 {
        self.executed + self.made
    }

    /// Resets memory and fuel.
    pub fn reset(&mut self) {
        self.memory.reset();
        (self.executed, self.made) = (0, 0);
    }

    /// Calls a function.
    pub fn call(&mut self, function: Op, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        let start = self.stack.len();
        self.stack.extend(args);
        let elements = usize::try_from(self.fuel.saturating_mul(self.elements_per_op)).unwrap_or(usize::MAX);
        let (mut done, is_exceeded) = with_element_limit(elements, || self.call_with(function, start));
        if let Err(stop) = &mut done
            && is_exceeded
        {
            *stop = self.gives_up(stop.op);
        }
        let results = self.stack.drain(start..).collect();
        done.map(|()| results)
    }

    /// Calls a function with its arguments on the stack from `start` on. The results replace them.
    fn call_with(&mut self, function: Op, start: usize) -> Result<(), Stop> {
        let m = self.module;
        let fail = |trap: Trap| Stop { op: function, trap };
        let Some(block) = m.regions(function).first().and_then(|&r| m.entry(r)) else {
            return Err(fail(Trap::unsupported("the function has no body")));
        };
        let (want, given) = (m.block_args(block).len(), self.stack.len() - start);
        if given != want {
            let reason = format!("the function takes {want} arguments, but {given} were given");
            return Err(fail(Trap::unsupported(reason)));
        }
        if self.depth >= MAX_CALLS {
            return Err(fail(Trap::Limit(format!("calls nested deeper than {MAX_CALLS}"))));
        }
        let code = self.code(function);
        let mut frame: Vec<Option<Datum>> = std::iter::repeat_with(|| None).take(code.places).collect();
        self.depth += 1;
        let done = self.region(&code, &mut frame, 0, start);
        self.depth -= 1;
        done
    }

    fn code(&mut self, function: Op) -> Arc<Code> {
        let (module, symbols) = (self.module, &mut self.memory.symbols);
        self.functions.entry(function).or_insert_with(|| Arc::new(Code::of(module, function, symbols))).clone()
    }

    #[inline]
    fn count(&mut self, op: Op, steps: u64) -> Result<(), Stop> {
        let before = self.executed;
        self.executed = before.saturating_add(steps).min(u64::MAX / 2);
        if before / NOW_AND_THEN != self.executed / NOW_AND_THEN {
            self.tell();
        }
        if self.executed + self.made > self.fuel {
            return Err(self.gives_up(op));
        }
        Ok(())
    }

    fn tell(&mut self) {
        if let Some(on_op) = &mut self.on_op {
            on_op(self.executed);
        }
    }

    #[cold]
    fn gives_up(&self, op: Op) -> Stop {
        // Few ops that make many elements say nothing about whether the program comes to its end.
        if self.executed < self.fuel / FEW_OPS {
            return Stop { op, trap: Trap::unknown("so many elements") };
        }
        Stop { op, trap: Trap::Limit(format!("still running after {} ops", self.fuel)) }
    }

    /// Passes an op to the external handler, with its operands on the stack from `start` on.
    fn outside(&mut self, op: Op, start: usize, otherwise: &str) -> Result<Vec<Datum>, Stop> {
        let m = self.module;
        match &mut self.external {
            Some(external) if m.regions(op).is_empty() => {
                external(m, op, &self.stack[start..], &mut self.memory).map_err(|trap| Stop { op, trap })
            }
            _ => Err(Stop { op, trap: Trap::unknown(otherwise) }),
        }
    }
}

#[cfg(test)]
mod tests;
