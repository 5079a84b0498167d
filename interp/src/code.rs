//! The executable form of functions: values are slots of a frame, and everything static is resolved.

use gradus_ir::access::ElementAccess;
use gradus_ir::branch::carried_ranges;
use gradus_ir::entity::SideTable;
use gradus_ir::eval::{Datum, eval_op};
use gradus_ir::scalar::Scalar;
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{Block, Module, Op, OpArgs, OpInfo, Region, Traits, Type, Value};
use gradus_ir::{CountedFn, JumpFn};
use std::ops::Range;

/// The executable form of a function. Regions, blocks and ops refer to each other by index.
pub(super) struct Code {
    /// Number of slots in a frame.
    pub places: usize,
    /// The regions; the function body is the first.
    pub regions: Vec<RegionCode>,
    pub blocks: Vec<BlockCode>,
    pub ops: Vec<OpCode>,
    reads: Vec<Read>,
    writes: Vec<u32>,
    /// The types of results.
    types: Vec<Type>,
}

pub(super) struct RegionCode {
    /// Index of the entry block; `None` for an empty region.
    pub entry: Option<usize>,
    /// Whether stack allocations live until the region ends.
    pub is_scope: bool,
}

pub(super) struct BlockCode {
    args: Range<usize>,
    pub ops: Range<usize>,
}

pub(super) struct OpCode {
    pub op: Op,
    reads: Range<usize>,
    writes: Range<usize>,
    pub does: ExecutionKind,
}

/// The kind of execution of an op.
pub(super) enum ExecutionKind {
    /// A constant of at most [`MAX_CONSTANT`] elements.
    Constant(Datum),
    /// Scalar computation with at most [`MAX_NUMBERS`] operands.
    Scalar(Scalar),
    /// A load or store of one element.
    Access(ElementAccess),
    /// Evaluation through the declaration, and whether the op terminates its region.
    Declared(&'static OpInfo, bool),
    /// A reduction step with the accumulator in this slot.
    Combine(&'static OpInfo, Option<u32>),
    /// A terminator that yields its operands.
    Leave,
    /// A branch to one of these blocks, with the range of operands for each.
    Branch(&'static OpInfo, Option<JumpFn>, Box<[(usize, Range<usize>)]>),
    /// Structured control flow over these regions, and whether the terminator of the last one has regions.
    Control(&'static OpInfo, Box<[usize]>, bool),
    /// A counted loop.
    Count(&'static OpInfo, CountedFn, Option<usize>),
    /// A call; `None` if the callee does not exist.
    Call(Option<Op>),
    /// An op that the handler of external calls executes: an unregistered or observable one.
    External,
    /// An unregistered terminator with successors.
    UnregisteredBranch,
}

/// Maximum number of elements of a constant that is evaluated once and kept.
const MAX_CONSTANT: i64 = 1 << 12;

/// Maximum number of operands of a specialized scalar op.
pub(super) const MAX_NUMBERS: usize = 4;

/// An operand: its slot, and whether this is the last read.
#[derive(Clone, Copy)]
pub(super) struct Read(u32);

impl Read {
    const LAST: u32 = 1 << 31;

    pub fn place(self) -> usize {
        (self.0 & !Read::LAST) as usize
    }

    pub fn is_last(self) -> bool {
        self.0 & Read::LAST != 0
    }
}

/// The slot of an unused value.
const NOWHERE: u32 = u32::MAX;

/// The values of one call. A value used only in its own block is dropped at its last use, so that activations of a
/// network do not accumulate.
pub(super) type Frame = [Option<Datum>];

impl Code {
    /// Translates a function with a body.
    pub fn of(m: &Module, function: Op, symbols: &mut SymbolTables) -> Code {
        let code = Code {
            places: 0,
            regions: Vec::new(),
            blocks: Vec::new(),
            ops: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            types: Vec::new(),
        };
        let mut maker = Maker {
            m,
            symbols,
            code,
            places: SideTable::new(NOWHERE),
            numbers: SideTable::new(0),
            seen: SideTable::new(false),
            left: Vec::new(),
        };
        maker.regions(&m.regions(function)[..1]);
        while let Some((region, number)) = maker.left.pop() {
            maker.region(region, number);
        }
        maker.code
    }

    pub fn reads(&self, op: &OpCode) -> &[Read] {
        &self.reads[op.reads.clone()]
    }

    /// Calls `f` with the [`OpArgs`] of an op.
    pub fn with_args<R>(&self, m: &Module, op: &OpCode, info: &'static OpInfo, f: impl FnOnce(&OpArgs<'_>) -> R) -> R {
        f(&OpArgs {
            module: m,
            info,
            op: Some(op.op),
            operands: m.operands(op.op),
            props: m.props(op.op),
            result_types: &self.types[op.writes.clone()],
        })
    }

    /// Returns the number of an op's results.
    pub fn num_results(&self, op: &OpCode) -> usize {
        op.writes.len()
    }

    /// Writes an op's results to their slots.
    pub fn define(&self, frame: &mut Frame, op: &OpCode, results: &mut [Datum]) {
        write(&self.writes[op.writes.clone()], frame, results);
    }

    /// Writes an op's first result.
    #[inline]
    pub fn define_one(&self, frame: &mut Frame, op: &OpCode, result: Datum) {
        if let Some(&place) = self.writes.get(op.writes.start).filter(|&&place| place != NOWHERE) {
            frame[place as usize] = Some(result);
        }
    }

    /// Writes a block's arguments.
    pub fn enter(&self, frame: &mut Frame, block: usize, args: &mut [Datum]) {
        write(&self.writes[self.blocks[block].args.clone()], frame, args);
    }

    /// Writes the arguments of a loop body.
    pub fn enter_loop(&self, frame: &mut Frame, block: usize, number: i64, args: &mut [Datum]) {
        if let Some((first, others)) = self.writes[self.blocks[block].args.clone()].split_first() {
            write(std::slice::from_ref(first), frame, &mut [Datum::Int(number)]);
            write(others, frame, args);
        }
    }
}

fn write(places: &[u32], frame: &mut Frame, values: &mut [Datum]) {
    for (&place, value) in places.iter().zip(values) {
        if place != NOWHERE {
            frame[place as usize] = Some(take(value));
        }
    }
}

/// Moves a value out. Numbers are copied, which is faster.
#[inline]
fn take(datum: &mut Datum) -> Datum {
    match datum {
        Datum::Int(v) => Datum::Int(*v),
        Datum::Float(v) => Datum::Float(*v),
        other => std::mem::replace(other, Datum::Poison),
    }
}

/// The translation of one function.
struct Maker<'a> {
    m: &'a Module,
    symbols: &'a mut SymbolTables,
    code: Code,
    places: SideTable<Value, u32>,
    /// Block indices.
    numbers: SideTable<Block, u32>,
    /// Whether a later read was seen, in backward order.
    seen: SideTable<Value, bool>,
    /// Regions that are not translated yet, with their indices.
    left: Vec<(Region, usize)>,
}

impl Maker<'_> {
    /// Assigns indices to regions.
    fn regions(&mut self, regions: &[Region]) -> Box<[usize]> {
        let numbered = regions.iter().map(|&region| {
            let is_scope = self.m.region_op(region).is_some_and(|op| self.m.has_trait(op, Traits::ALLOCATION_SCOPE));
            self.code.regions.push(RegionCode { entry: None, is_scope });
            let number = self.code.regions.len() - 1;
            self.left.push((region, number));
            number
        });
        numbered.collect()
    }

    fn region(&mut self, region: Region, number: usize) {
        let m = self.m;
        let first = self.code.blocks.len();
        for block in m.region_blocks(region) {
            self.numbers[block] = self.code.blocks.len() as u32;
            let args = self.writes(m.block_args(block).iter().copied());
            self.code.blocks.push(BlockCode { args, ops: 0..0 });
            self.code.regions[number].entry = Some(first);
        }
        for (i, block) in m.region_blocks(region).enumerate() {
            let (ops, reads) = (self.code.ops.len(), self.code.reads.len());
            for op in m.block_ops(block) {
                let code = self.op(op);
                self.code.ops.push(code);
            }
            self.code.blocks[first + i].ops = ops..self.code.ops.len();
            self.mark_last_reads(block, reads);
        }
    }

    /// Marks last reads. A value that other blocks read lives until the call ends.
    fn mark_last_reads(&mut self, block: Block, reads: usize) {
        let m = self.m;
        let mut at = self.code.reads.len();
        for op in m.block_ops(block).rev() {
            for &value in m.operands(op).iter().rev() {
                at -= 1;
                if std::mem::replace(&mut self.seen[value], true) || m.def_block(value) != Some(block) {
                    continue;
                }
                if m.uses(value).all(|(user, _)| m.parent_block(user) == Some(block)) {
                    self.code.reads[at].0 |= Read::LAST;
                }
            }
        }
        debug_assert_eq!(at, reads);
    }

    fn place(&mut self, value: Value) -> u32 {
        if self.places[value] == NOWHERE {
            self.places[value] = self.code.places as u32;
            self.code.places += 1;
        }
        self.places[value]
    }

    fn writes(&mut self, values: impl Iterator<Item = Value>) -> Range<usize> {
        let start = self.code.writes.len();
        for value in values {
            let place = if self.m.uses(value).next().is_some() { self.place(value) } else { NOWHERE };
            self.code.writes.push(place);
            self.code.types.push(self.m.value_type(value));
        }
        start..self.code.writes.len()
    }

    fn op(&mut self, op: Op) -> OpCode {
        let start = self.code.reads.len();
        for &value in self.m.operands(op) {
            let place = self.place(value);
            self.code.reads.push(Read(place));
        }
        let reads = start..self.code.reads.len();
        let writes = self.writes(self.m.results(op));
        OpCode { op, reads, writes, does: self.does(op) }
    }

    fn does(&mut self, op: Op) -> ExecutionKind {
        let m = self.m;
        let Some(info) = m.info(op) else {
            return if m.successors(op).is_empty() {
                ExecutionKind::External
            } else {
                ExecutionKind::UnregisteredBranch
            };
        };
        if info.traits.has(Traits::OBSERVABLE) {
            return ExecutionKind::External;
        }
        if !m.successors(op).is_empty() {
            let carried = carried_ranges(m, op).into_iter().chain(std::iter::repeat(0..0));
            let to = m.successors(op).iter().zip(carried).map(|(&b, range)| (self.numbers[b] as usize, range));
            return ExecutionKind::Branch(info, info.jump, to.collect());
        }
        let leaves = info.traits.has(Traits::TERMINATOR);
        if leaves && !info.runs_regions() && info.eval.is_none() {
            return ExecutionKind::Leave;
        }
        if info.traits.has(Traits::CALL) {
            return ExecutionKind::Call(m.inherent_attr(op, "callee").and_then(|a| self.symbols.resolve(m, op, a)));
        }
        if let Some(counted) = info.counted {
            return ExecutionKind::Count(info, counted, self.regions(m.regions(op)).first().copied());
        }
        if info.runs_regions() {
            let own = m.regions(op);
            let ends = own.last().and_then(|&r| m.terminator(m.entry(r)?)).map_or(&[][..], |t| m.regions(t));
            return ExecutionKind::Control(info, self.regions(&[own, ends].concat()), leaves);
        }
        if info.traits.has(Traits::COMBINING) && !leaves {
            let dest = m.args(op).and_then(|args| args.opt_operand("dest"));
            return ExecutionKind::Combine(info, dest.map(|dest| self.place(dest)));
        }
        simple(m, op, info).filter(|_| !leaves).unwrap_or(ExecutionKind::Declared(info, leaves))
    }
}

/// Returns the specialized execution of a frequent, cheap op.
fn simple(m: &Module, op: Op, info: &'static OpInfo) -> Option<ExecutionKind> {
    let is_number = |value: Value| {
        let ty = m.value_type(value);
        m.ctx.int_width(ty).is_some() || m.ctx.float_kind(ty).is_some()
    };
    if let Some(access) = info.access {
        return m.with_args(op, access)?.ok().map(ExecutionKind::Access);
    }
    if m.num_results(op) != 1 || info.exec.is_some() {
        return None;
    }
    if info.traits.has(Traits::CONSTANT_LIKE) && m.operands(op).is_empty() {
        let shape = m.ctx.shape(m.value_type(m.result(op, 0))).unwrap_or(&[]);
        let elements = shape.iter().try_fold(1, |n: i64, &d| n.checked_mul(d));
        elements.filter(|elements| (0..=MAX_CONSTANT).contains(elements))?;
        return m.with_args(op, |args| eval_op(args, &[]))?.ok()?.pop().map(ExecutionKind::Constant);
    }
    let mut values = m.operands(op).iter().copied().chain(m.results(op));
    if m.operands(op).len() > MAX_NUMBERS || !values.all(is_number) {
        return None;
    }
    m.with_args(op, info.scalar?)?.ok().map(ExecutionKind::Scalar)
}
