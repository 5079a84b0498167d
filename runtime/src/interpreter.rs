//! Runs programs by the meaning that every op's declaration gives.

use gradus_ir::entity::SideTable;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{Diagnostic, Module, Op, Traits, Value};

/// Calls nested deeper than this are an error, not a stack overflow.
const MAX_CALLS: usize = 256;

/// Runs functions of one program.
pub struct Interpreter<'m> {
    module: &'m Module,
    symbols: SymbolTables,
    /// Called before each op with how many ops have run; for progress.
    on_op: Box<dyn FnMut(u64) + 'm>,
    executed: u64,
    depth: usize,
}

impl<'m> Interpreter<'m> {
    /// An interpreter of a program, which must be valid.
    pub fn new(module: &'m Module) -> Self {
        Interpreter { module, symbols: SymbolTables::default(), on_op: Box::new(|_| ()), executed: 0, depth: 0 }
    }

    /// Calls `f` with the number of ops executed so far, before each op.
    pub fn on_op(mut self, f: impl FnMut(u64) + 'm) -> Self {
        self.on_op = Box::new(f);
        self
    }

    /// The function of that name in the outermost symbol table.
    pub fn function(&mut self, name: &str) -> Option<Op> {
        let found = self.symbols.lookup(self.module, self.module.root(), self.module.ctx.str(name))?;
        self.module.has_trait(found, Traits::FUNCTION).then_some(found)
    }

    /// Calls a function. The error points at the op that could not go on.
    pub fn call(&mut self, function: Op, args: Vec<Datum>) -> Result<Vec<Datum>, Diagnostic> {
        let m = self.module;
        let fail = |message: String| Diagnostic::error(m.loc(function), message);
        let Some(block) = m.regions(function).first().and_then(|&body| m.entry(body)) else {
            return Err(fail("the function has no body to execute".into()));
        };
        if args.len() != m.block_args(block).len() {
            let want = m.block_args(block).len();
            return Err(fail(format!("the function takes {want} arguments, but {} were given", args.len())));
        }
        if self.depth >= MAX_CALLS {
            return Err(fail(format!("calls nested deeper than {MAX_CALLS}")));
        }
        self.depth += 1;
        let mut frame = Frame { values: SideTable::new(None), uses_left: SideTable::new(0) };
        for (&arg, datum) in m.block_args(block).iter().zip(args) {
            frame.define(m, arg, datum);
        }
        for op in m.block_ops(block) {
            let operands = frame.take_operands(m, op)?;
            if m.has_trait(op, Traits::RETURN_LIKE) {
                self.depth -= 1;
                return Ok(operands);
            }
            let results = self.step(op, operands)?;
            for (result, datum) in m.results(op).zip(results) {
                frame.define(m, result, datum);
            }
        }
        Err(fail("the function ended without returning".into()))
    }

    fn step(&mut self, op: Op, operands: Vec<Datum>) -> Result<Vec<Datum>, Diagnostic> {
        let m = self.module;
        (self.on_op)(self.executed);
        self.executed += 1;
        if m.has_trait(op, Traits::CALL) {
            let callee = m.inherent_attr(op, "callee").and_then(|a| self.symbols.resolve(m, op, a));
            let callee = callee.ok_or_else(|| Diagnostic::error(m.loc(op), "the callee does not exist"))?;
            return stacker::maybe_grow(128 << 10, 2 << 20, || self.call(callee, operands));
        }
        let results = m.with_args(op, |args| eval_op(args, &operands));
        let unregistered = || Err(Trap::Unsupported(format!("'{}' is not registered", m.name_text(op))));
        results
            .unwrap_or_else(unregistered)
            .map_err(|trap| Diagnostic::error(m.loc(op), format!("'{}' {trap}", m.name_text(op))))
    }
}

/// The values of one call. A value is dropped when its last use has read it, so that a network's activations do not pile
/// up.
struct Frame {
    values: SideTable<Value, Option<Datum>>,
    uses_left: SideTable<Value, u32>,
}

impl Frame {
    fn define(&mut self, m: &Module, value: Value, datum: Datum) {
        let uses = m.uses(value).count() as u32;
        if uses > 0 {
            self.uses_left[value] = uses;
            self.values[value] = Some(datum);
        }
    }

    fn take_operands(&mut self, m: &Module, op: Op) -> Result<Vec<Datum>, Diagnostic> {
        let take = |&value: &Value| {
            let left = &mut self.uses_left[value];
            *left = left.saturating_sub(1);
            let datum = if *left == 0 { self.values[value].take() } else { self.values[value].clone() };
            datum.ok_or_else(|| Diagnostic::error(m.loc(op), "an operand has no value here"))
        };
        m.operands(op).iter().map(take).collect()
    }
}
