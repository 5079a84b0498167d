//! Runs programs by the meaning that every op's declaration gives.

use gradus_ir::control::{Event, Next};
use gradus_ir::entity::SideTable;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::memory::Memory;
use gradus_ir::{Block, Diagnostic, Module, Op, Region, Traits, Value};

/// Calls nested deeper than this are an error, not a stack overflow.
const MAX_CALLS: usize = 256;

/// What happens where the program calls what it has no body of: an external function, or an op that nobody declared. Gets
/// the op and its operands.
pub type External<'m> = Box<dyn FnMut(&'m Module, Op, &[Datum], &mut Memory) -> Result<Vec<Datum>, Trap> + 'm>;

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

/// Runs functions of one program.
pub struct Interpreter<'m> {
    module: &'m Module,
    /// What the program allocated and wrote.
    pub memory: Memory,
    /// Called before each op with how many ops have run; for progress.
    on_op: Box<dyn FnMut(u64) + 'm>,
    external: Option<External<'m>>,
    executed: u64,
    fuel: u64,
    depth: usize,
}

impl<'m> Interpreter<'m> {
    /// An interpreter of a program, which must be valid.
    pub fn new(module: &'m Module) -> Self {
        Interpreter {
            module,
            memory: Memory::default(),
            on_op: Box::new(|_| ()),
            external: None,
            executed: 0,
            fuel: u64::MAX,
            depth: 0,
        }
    }

    /// Calls `f` with the number of ops executed so far, before each op.
    pub fn on_op(mut self, f: impl FnMut(u64) + 'm) -> Self {
        self.on_op = Box::new(f);
        self
    }

    /// What happens at external calls, which otherwise cannot be executed.
    pub fn on_external(mut self, external: External<'m>) -> Self {
        self.external = Some(external);
        self
    }

    /// Gives up after that many ops.
    pub fn fuel(mut self, ops: u64) -> Self {
        self.fuel = ops;
        self
    }

    /// The function of that name in the outermost symbol table.
    pub fn function(&mut self, name: &str) -> Option<Op> {
        let found = self.memory.symbols.lookup(self.module, self.module.root(), self.module.ctx.str(name))?;
        self.module.has_trait(found, Traits::FUNCTION).then_some(found)
    }

    /// Calls a function.
    pub fn call(&mut self, function: Op, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        let m = self.module;
        let fail = |trap: Trap| Stop { op: function, trap };
        let body = m.regions(function).first().copied();
        let Some((body, block)) = body.and_then(|r| Some((r, m.entry(r)?))) else {
            return Err(fail(Trap::unsupported("the function has no body")));
        };
        if args.len() != m.block_args(block).len() {
            let want = m.block_args(block).len();
            let reason = format!("the function takes {want} arguments, but {} were given", args.len());
            return Err(fail(Trap::unsupported(reason)));
        }
        if self.depth >= MAX_CALLS {
            return Err(fail(Trap::Limit(format!("calls nested deeper than {MAX_CALLS}"))));
        }
        self.depth += 1;
        let mut frame = Frame { values: SideTable::new(None), uses_left: SideTable::new(0) };
        let result = self.region(&mut frame, body, args);
        self.depth -= 1;
        result
    }

    /// Runs a region until a terminator leaves it. Returns the terminator's operands.
    fn region(&mut self, frame: &mut Frame, region: Region, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        let scope = self.memory.scope();
        let result = self.blocks(frame, region, args);
        if self.module.region_op(region).is_some_and(|op| self.module.has_trait(op, Traits::ALLOCATION_SCOPE)) {
            self.memory.leave(scope);
        }
        result
    }

    fn blocks(&mut self, frame: &mut Frame, region: Region, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        let m = self.module;
        let Some(mut block) = m.entry(region) else { return Ok(Vec::new()) };
        frame.enter(m, block, args);
        'blocks: loop {
            let mut combined = Vec::new();
            for op in m.block_ops(block) {
                let operands = frame.take_operands(m, op)?;
                if !m.successors(op).is_empty() {
                    let to = self.jump(op, &operands)?;
                    let carried = m.info(op).and_then(|i| i.successor_operands).map_or(0..0, |f| f(m, op, to));
                    block = m.successors(op)[to];
                    frame.enter(m, block, operands[carried].to_vec());
                    continue 'blocks;
                }
                let terminator = m.has_trait(op, Traits::TERMINATOR);
                if terminator && !has_control(m, op) && m.info(op).is_some_and(|i| i.eval.is_none()) {
                    return Ok(operands);
                }
                let results = self.step(frame, op, operands)?;
                if terminator {
                    return Ok(results);
                }
                if m.has_trait(op, Traits::COMBINING) {
                    frame.combine(m, op, &results);
                    combined.extend(results);
                    continue;
                }
                for (result, datum) in m.results(op).zip(results) {
                    frame.define(m, result, datum);
                }
            }
            // A block without a terminator ends its region.
            return Ok(combined);
        }
    }

    /// The number of the successor that a branch takes.
    fn jump(&mut self, op: Op, operands: &[Datum]) -> Result<usize, Stop> {
        self.count(op)?;
        let m = self.module;
        let jump = m.info(op).and_then(|info| info.jump);
        let Some(jump) = jump else { return Err(trapped(op, Trap::unsupported("this branch has no meaning"))) };
        let to = m.with_args(op, |args| jump(args, operands)).expect("the op is registered");
        to.map_err(|trap| trapped(op, trap))
    }

    fn count(&mut self, op: Op) -> Result<(), Stop> {
        (self.on_op)(self.executed);
        self.executed += 1;
        if self.executed > self.fuel {
            return Err(Stop { op, trap: Trap::Limit(format!("still running after {} ops", self.fuel)) });
        }
        Ok(())
    }

    fn step(&mut self, frame: &mut Frame, op: Op, operands: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        self.count(op)?;
        let m = self.module;
        if m.has_trait(op, Traits::CALL) {
            let callee = m.inherent_attr(op, "callee").and_then(|a| self.memory.symbols.resolve(m, op, a));
            let callee = callee.ok_or_else(|| trapped(op, Trap::unsupported("the callee does not exist")))?;
            if m.regions(callee).first().is_none_or(|&body| m.entry(body).is_none()) {
                return self.outside(op, &operands, "the callee has no body");
            }
            return stacker::maybe_grow(128 << 10, 2 << 20, || self.call(callee, operands));
        }
        let Some(info) = m.info(op) else {
            return self.outside(op, &operands, "the op is not registered");
        };
        if has_control(m, op) {
            return self.control(frame, op, &operands);
        }
        let memory = &mut self.memory;
        let results = m.with_args(op, |args| match info.exec {
            Some(exec) => exec(args, &operands, memory),
            None => eval_op(args, &operands),
        });
        results.expect("the op is registered").map_err(|trap| trapped(op, trap))
    }

    /// Lets somebody outside do what the program has no body of.
    fn outside(&mut self, op: Op, operands: &[Datum], otherwise: &str) -> Result<Vec<Datum>, Stop> {
        let m = self.module;
        match &mut self.external {
            Some(external) if m.regions(op).is_empty() => {
                external(m, op, operands, &mut self.memory).map_err(|trap| trapped(op, trap))
            }
            _ => Err(trapped(op, Trap::unsupported(otherwise))),
        }
    }

    /// Executes an op with regions.
    fn control(&mut self, frame: &mut Frame, op: Op, operands: &[Datum]) -> Result<Vec<Datum>, Stop> {
        let m = self.module;
        let own = m.regions(op);
        let ends = own.last().and_then(|&r| m.terminator(m.entry(r)?)).map_or(&[][..], |t| m.regions(t));
        let ask = |memory: &mut Memory, event: Event<'_>| {
            let next = m.with_args(op, |args| match (args.info.control, args.info.control_memory) {
                (Some(control), _) => control(args, operands, event),
                (None, Some(control)) => control(args, operands, event, memory),
                (None, None) => unreachable!("the caller checked"),
            });
            next.expect("the op is registered").map_err(|trap| trapped(op, trap))
        };
        let parallel = m.has_trait(op, Traits::PARALLEL);
        if parallel {
            self.memory.enter_parallel();
        }
        let mut next = ask(&mut self.memory, Event::Enter)?;
        loop {
            match next {
                Next::Done(results) => {
                    if parallel {
                        self.memory.leave_parallel();
                    }
                    return Ok(results);
                }
                Next::Region(region, args) => {
                    self.count(op)?;
                    if parallel && region == 0 {
                        self.memory.next_iteration();
                    }
                    let inner = own.get(region).or_else(|| ends.get(region - own.len())).copied();
                    let inner = inner.ok_or_else(|| trapped(op, Trap::unsupported("a region is missing")))?;
                    let entered = args.clone();
                    let yielded = stacker::maybe_grow(128 << 10, 2 << 20, || self.region(frame, inner, args))?;
                    next = ask(&mut self.memory, Event::Left { region, args: &entered, yielded: &yielded })?;
                }
            }
        }
    }
}

/// Whether the op moves control between itself and its regions.
fn has_control(m: &Module, op: Op) -> bool {
    m.info(op).is_some_and(|i| i.control.is_some() || i.control_memory.is_some())
}

fn trapped(op: Op, trap: Trap) -> Stop {
    Stop { op, trap }
}

/// The values of one call. A value that is used in its own block only is dropped when its last use has read it, so that a
/// network's activations do not pile up.
struct Frame {
    values: SideTable<Value, Option<Datum>>,
    uses_left: SideTable<Value, u32>,
}

/// The value stays until the call ends.
const KEPT: u32 = u32::MAX;

impl Frame {
    fn enter(&mut self, m: &Module, block: Block, args: Vec<Datum>) {
        for (&arg, datum) in m.block_args(block).iter().zip(args) {
            self.define(m, arg, datum);
        }
    }

    /// What a combining op works on is what it gave, from here on.
    fn combine(&mut self, m: &Module, op: Op, results: &[Datum]) {
        let dest = m.args(op).and_then(|args| args.opt_operand("dest"));
        if let (Some(dest), Some(datum)) = (dest, results.first()) {
            self.define(m, dest, datum.clone());
        }
    }

    fn define(&mut self, m: &Module, value: Value, datum: Datum) {
        let home = m.def_block(value);
        let mut uses = 0;
        for (user, _) in m.uses(value) {
            if m.parent_block(user) != home {
                uses = KEPT;
                break;
            }
            uses += 1;
        }
        if uses > 0 {
            self.uses_left[value] = uses;
            self.values[value] = Some(datum);
        }
    }

    fn take_operands(&mut self, m: &Module, op: Op) -> Result<Vec<Datum>, Stop> {
        let take = |&value: &Value| {
            let left = &mut self.uses_left[value];
            if *left != KEPT {
                *left = left.saturating_sub(1);
            }
            let datum = if *left == 0 { self.values[value].take() } else { self.values[value].clone() };
            datum.ok_or_else(|| trapped(op, Trap::unsupported("an operand has no value here")))
        };
        m.operands(op).iter().map(take).collect()
    }
}
