//! The reference interpreter: runs programs by the meaning that each op's declaration gives. It is for checking and for
//! small inputs, not for speed.

mod code;
mod control;
mod execute;

use code::Code;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{Diagnostic, Module, Op, OpArgs, Traits};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Calls nested deeper than this are an error, not a stack overflow.
const MAX_CALLS: usize = 256;

/// After so many ops somebody is told, even if none takes long.
const NOW_AND_THEN: u64 = 1 << 12;

/// What happens where the program calls what it has no body of: an external function, or an op that nobody declared. Gets
/// the op and its operands.
pub type External<'m> = Box<dyn FnMut(&'m Module, Op, &[Datum], &mut Memory) -> Result<Vec<Datum>, Trap> + 'm>;

/// The results of an op by other means than its declaration, such as the kernels of a machine; `None` where there are none
/// for it. Gets the op and its operands. Constants and ops with effects never get here.
pub type OpKernels<'m> = Box<dyn FnMut(&OpArgs<'_>, &[Datum]) -> Option<Result<Vec<Datum>, Trap>> + 'm>;

/// Why a call has no results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// The op that could not go on.
    pub op: Op,
    /// The reason.
    pub trap: Trap,
}

impl Stop {
    /// An error that points at the op.
    pub fn diagnostic(&self, m: &Module) -> Diagnostic {
        Diagnostic::error(m.loc(self.op), format!("'{}' {}", m.name_text(self.op), self.trap))
    }
}

/// Runs functions of one program. What is called often is prepared once, so one interpreter for many runs is quicker than one
/// for each.
pub struct Interpreter<'m> {
    module: &'m Module,
    /// What the program allocated and wrote.
    pub memory: Memory,
    /// Called now and then with how many ops have run; for progress.
    on_op: Option<Box<dyn FnMut(u64) + 'm>>,
    external: Option<External<'m>>,
    kernels: Option<OpKernels<'m>>,
    /// The number of evaluations that `kernels` declined, by op name.
    declined: FxHashMap<&'static str, u64>,
    /// The functions that were called.
    functions: FxHashMap<Op, Arc<Code>>,
    /// Operands and results that are under way, those of inner ops last.
    stack: Vec<Datum>,
    executed: u64,
    /// The elements of tensors that ops made, counted as ops.
    made: u64,
    fuel: u64,
    depth: usize,
}

impl<'m> Interpreter<'m> {
    /// An interpreter of a program, which must be valid.
    pub fn new(module: &'m Module) -> Self {
        Interpreter {
            module,
            memory: Memory::default(),
            on_op: None,
            external: None,
            kernels: None,
            declined: FxHashMap::default(),
            functions: FxHashMap::default(),
            stack: Vec::new(),
            executed: 0,
            made: 0,
            fuel: u64::MAX,
            depth: 0,
        }
    }

    /// The program.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Calls `f` with the number of ops executed so far, before each op that may take a while, and now and then.
    pub fn on_op(mut self, f: impl FnMut(u64) + 'm) -> Self {
        self.on_op = Some(Box::new(f));
        self
    }

    /// What happens at external calls, which otherwise cannot be executed.
    pub fn on_external(mut self, external: External<'m>) -> Self {
        self.external = Some(external);
        self
    }

    /// Evaluates ops by these kernels, and by their declarations where there is no kernel.
    pub fn with_kernels(mut self, kernels: OpKernels<'m>) -> Self {
        self.kernels = Some(kernels);
        self
    }

    /// The number of reference evaluations of ops for which the kernels had nothing, by op name, in all calls.
    pub fn declined(&self) -> &FxHashMap<&'static str, u64> {
        &self.declined
    }

    /// Gives up after that many ops. Every 256 elements of tensors that are made count as an op.
    pub fn fuel(mut self, ops: u64) -> Self {
        self.fuel = ops;
        self
    }

    /// The function of that name in the outermost symbol table.
    pub fn function(&mut self, name: &str) -> Option<Op> {
        let found = self.memory.symbols.lookup(self.module, self.module.root(), self.module.ctx.str(name))?;
        self.module.has_trait(found, Traits::FUNCTION).then_some(found)
    }

    /// How many ops were executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Begins anew: with no memory, and with all the fuel.
    pub fn reset(&mut self) {
        self.memory.reset();
        (self.executed, self.made) = (0, 0);
    }

    /// Calls a function.
    pub fn call(&mut self, function: Op, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        let start = self.stack.len();
        self.stack.extend(args);
        let done = self.call_with(function, start);
        let results = self.stack.drain(start..).collect();
        done.map(|()| results)
    }

    /// Calls a function with what is on the stack from `start` on. Its results are there afterwards.
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
        Stop { op, trap: Trap::Limit(format!("still running after {} ops", self.fuel)) }
    }

    /// Lets somebody outside do what the program has no body of, with the operands on the stack from `start` on.
    fn outside(&mut self, op: Op, start: usize, otherwise: &str) -> Result<Vec<Datum>, Stop> {
        let m = self.module;
        match &mut self.external {
            Some(external) if m.regions(op).is_empty() => {
                external(m, op, &self.stack[start..], &mut self.memory).map_err(|trap| Stop { op, trap })
            }
            _ => Err(Stop { op, trap: Trap::unsupported(otherwise) }),
        }
    }
}

#[cfg(test)]
mod tests;
