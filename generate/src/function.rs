//! Generation of a function, op by op, while it is executed on sample inputs.

use crate::library::{Fragment, FragmentInput};
use crate::program_builder::ProgramBuilder;
use crate::samples::{SampleValues, draw, is_defined};
use crate::scope::{InsertionPoint, Scope};
use crate::variation::border;
use gradus_check::Inputs;
use gradus_ir::effects::is_speculatable;
use gradus_ir::random::Random;
use gradus_ir::verify::verify_op;
use gradus_ir::{
    Attr, Block, Builder, Context, InsertPoint, Loc, Module, Op, OpState, Traits, Type, TypeData, Value, ValueMap,
};
use rustc_hash::FxHashMap;

/// Maximum number of parameters of a function.
const MAX_PARAMETERS: usize = 10;
/// Number of most recent values that count as young.
const YOUNG: usize = 6;
/// Number of attempts with other operands when an op is undefined on an input.
const RETRIES: usize = 3;

/// Maximum length of a chain of fragments.
const DEPTH: usize = 4;

/// Percentage of uses of a recent value by a fragment that is adapted to its type.
const ADAPTED: u64 = 50;

/// The source of a fragment's operands.
#[derive(Clone, Copy)]
enum OperandSource {
    /// Any available value.
    Free,
    /// Any available values, one of which is this.
    Of(Value),
    /// Fragments that define the operands in the source program, inserted recursively up to this depth.
    Chain(usize),
}

/// A function under construction.
pub(crate) struct GrowingFunction<'p, 'a> {
    pub(crate) p: &'p mut ProgramBuilder<'a>,
    pub(crate) function: Op,
    /// Blocks into which ops are inserted. Each has a terminator.
    pub(crate) blocks: Vec<Block>,
    /// The dominating block of each block that was split off.
    pub(crate) above: FxHashMap<Block, Block>,
    pub(crate) inputs: u64,
    /// Whether the function's type is fixed because the program refers to it.
    sealed: bool,
    /// Whether the function must be defined on the sample inputs.
    pub(crate) checked: bool,
    pub(crate) samples: SampleValues,
}

impl<'p, 'a> GrowingFunction<'p, 'a> {
    /// Grows a new function by `ops` ops.
    pub(crate) fn run(p: &mut ProgramBuilder<'a>, number: u64, ops: usize, inputs: u64) {
        let spliced = if p.random.percent(20) { splice(p, inputs) } else { None };
        let Some((function, sealed)) = spliced.or_else(|| Some((empty(p, number)?, false))) else { return };
        GrowingFunction::resume(&mut *p, function, sealed, ops, inputs);
        p.functions.push(function);
    }

    /// Grows a function by `ops` ops. `sealed`: whether its type is fixed.
    pub(crate) fn resume(p: &'p mut ProgramBuilder<'a>, function: Op, sealed: bool, ops: usize, inputs: u64) {
        let checked = p.random.percent(98);
        let mut growing = GrowingFunction {
            p,
            function,
            sealed,
            blocks: Vec::new(),
            above: FxHashMap::default(),
            inputs,
            checked,
            samples: SampleValues::default(),
        };
        growing.note_blocks(function);
        // A program that is undefined from the start stays so.
        let is_defined = growing.is_defined();
        growing.checked &= is_defined;
        let mut left = ops;
        for _ in 0..4 * ops {
            if left == 0 {
                break;
            }
            left -= growing.step().min(left);
        }
        if !sealed {
            growing.choose_results();
        }
    }

    pub(crate) fn module(&mut self) -> &mut Module {
        &mut self.p.module
    }

    /// Records the blocks inside an op.
    fn note_blocks(&mut self, op: Op) {
        let m = &self.p.module;
        for inner in m.ops_under(op) {
            let isolated = inner != op && m.has_trait(inner, Traits::ISOLATED);
            for block in m.regions(inner).iter().filter(|_| !isolated).flat_map(|&r| m.region_blocks(r)) {
                if m.terminator(block).is_some() && !m.has_trait(inner, Traits::MASKING) {
                    self.blocks.push(block);
                }
            }
        }
    }

    /// Attempts one insertion and returns the number of inserted ops.
    fn step(&mut self) -> usize {
        let place = self.place();
        let before = self.p.module.num_ops();
        let rules = if self.p.library.focus.has_rules() { 30 } else { 3 };
        let done = match self.p.random.below(100) {
            n if n < rules => self.left_side(place),
            0..30 => self.disturb(place),
            30..36 => self.again(place),
            36..40 => self.call(place),
            40..45 => self.branch(place),
            45..58 => self.use_young(place),
            58..78 => self.chain(place),
            _ => {
                let part = self.p.pick_part();
                self.part(part, OperandSource::Free, place)
            }
        };
        if done && self.p.random.percent(40) {
            self.disturb(place);
        }
        usize::from(done).max(self.p.module.num_ops().saturating_sub(before).min(4))
    }

    /// Draws an insertion point, usually at the end of a block.
    fn place(&mut self) -> InsertionPoint {
        let at = self.p.random.below(self.blocks.len() as u64) as usize;
        let block = if self.p.random.percent(40) { self.blocks[self.blocks.len() - 1] } else { self.blocks[at] };
        let m = &self.p.module;
        let last = m.last_op(block).expect("the block has a terminator");
        let ops = m.block_ops(block).count() as u64;
        if !self.p.random.percent(20) {
            return InsertionPoint { block, before: last };
        }
        let skip = self.p.random.below(ops) as usize;
        let before = self.p.module.block_ops(block).nth(skip).unwrap_or(last);
        InsertionPoint { block, before }
    }

    /// Inserts a fragment that uses a recent value: patterns match ops that use each other's results.
    fn use_young(&mut self, place: InsertionPoint) -> bool {
        let m = &self.p.module;
        let young = m.block_ops(place.block).take_while(|&op| op != place.before).flat_map(|op| m.results(op));
        let young: Vec<Value> = young.filter(|&v| m.constant(v).is_none()).collect();
        let Some(young) = young.get(young.len().saturating_sub(YOUNG)..).filter(|young| !young.is_empty()) else {
            return false;
        };
        let value = self.p.random.pick(young);
        if self.p.random.percent(ADAPTED) && self.adapt(value, place) {
            return true;
        }
        let library = self.p.library;
        let Some(parts) = library.by_input.get(&self.p.module.value_type(value)) else { return false };
        let part = self.p.random.pick(parts);
        self.part(part, OperandSource::Of(value), place)
    }

    /// Inserts a fragment after the fragments that define its operands in the source program.
    fn chain(&mut self, place: InsertionPoint) -> bool {
        self.p.pick_chain().is_some_and(|part| self.part(part, OperandSource::Chain(DEPTH), place))
    }

    /// Inserts a fragment of the library. If it is undefined on a sample input, other operands are tried.
    fn part(&mut self, number: usize, with: OperandSource, place: InsertionPoint) -> bool {
        let library = self.p.library;
        let part = &library.parts[number];
        if !self.p.bring_symbols(part) {
            return false;
        }
        let source = &library.sources[part.source];
        let kind = library.ctx.op_name_text(source.name(part.op));
        for attempt in 0..RETRIES {
            let Some(op) = self.insert(part, with, place) else { return false };
            let valid = verify_op(&self.p.module, op).is_ok();
            if attempt == 0 {
                self.p.statistics.tried(kind, valid);
            }
            if valid
                && self.fits(place.block)
                && self.suits_operands(op)
                && (!part.may_fail || self.is_defined_with(op))
            {
                self.note_blocks(op);
                return true;
            }
            self.module().erase_op(op);
        }
        false
    }

    /// Whether the ops around a block, inside the function, allow its contents.
    pub(crate) fn fits(&self, block: Block) -> bool {
        let m = &self.p.module;
        let around = std::iter::successors(m.block_op(block), |&op| m.parent_op(op));
        around.take_while(|&op| op != self.function).all(|op| verify_op(m, op).is_ok())
    }

    /// Whether an inserted op is valid, and with it the ops around and those whose results and memory it uses.
    pub(crate) fn is_valid(&self, op: Op, block: Block) -> bool {
        verify_op(&self.p.module, op).is_ok() && self.fits(block) && self.suits_operands(op)
    }

    /// Whether the ops with effects that define the operands of an op are valid with it, such as a transfer that is waited for;
    /// so are those that define memory which the operands view.
    fn suits_operands(&self, op: Op) -> bool {
        let m = &self.p.module;
        let is_memref = |&v: &Value| matches!(m.ctx.type_data(m.value_type(v)), TypeData::MemRef { .. });
        m.operands(op).iter().all(|&operand| {
            let viewed = |&v: &Value| m.operands(m.defining_op(v)?).first().copied().filter(is_memref);
            let views = std::iter::successors(Some(operand), viewed).take(DEPTH);
            let mut made = views.filter_map(|v| m.defining_op(v)).filter(|&def| !is_speculatable(m, def));
            made.all(|def| verify_op(m, def).is_ok())
        })
    }

    /// Copies a fragment to an insertion point, with operands for its inputs.
    fn insert(&mut self, part: &Fragment, with: OperandSource, place: InsertionPoint) -> Option<Op> {
        let source = &self.p.library.sources[part.source];
        let mut map = ValueMap::default();
        let mut given = if let OperandSource::Of(value) = with { Some(value) } else { None };
        for input in &part.inputs {
            let ty = input.ty;
            let operand = match (input.fixed, given.take_if(|v| self.p.module.value_type(*v) == ty)) {
                (Some(fixed), _) => self.constant(fixed, ty, place)?,
                (None, Some(given)) => given,
                (None, None) => match self.replay(input, with, place) {
                    Some(value) => value,
                    None => self.supply(ty, input.constant, place)?,
                },
            };
            map.insert(input.value, operand);
        }
        let op = self.p.module.clone_op_of(source, part.op, &mut map);
        self.p.module.insert_op(place.block, op, Some(place.before));
        Some(op)
    }

    /// Recreates an input of a chain as in the source program: usually the same constant, or the same defining op.
    fn replay(&mut self, input: &FragmentInput, with: OperandSource, place: InsertionPoint) -> Option<Value> {
        let OperandSource::Chain(depth) = with else { return None };
        let ty = input.ty;
        match (input.constant, input.made_by) {
            (Some(constant), _) if self.p.random.percent(80) => self.constant(constant, ty, place),
            (None, Some((maker, result))) if depth > 0 && self.p.random.percent(90) => {
                let op = self.maker(maker, OperandSource::Chain(depth - 1), place)?;
                Some(self.p.module.result(op, result))
            }
            _ => None,
        }
    }

    /// Inserts a fragment that defines a value, unless it may be undefined.
    fn maker(&mut self, number: usize, with: OperandSource, place: InsertionPoint) -> Option<Op> {
        let part = &self.p.library.parts[number];
        if !self.p.bring_symbols(part) {
            return None;
        }
        let op = self.insert(part, with, place)?;
        if self.is_valid(op, place.block) && (!part.may_fail || self.is_defined_with(op)) {
            self.note_blocks(op);
            return Some(op);
        }
        self.module().erase_op(op);
        None
    }

    /// Returns a value of a type: an available one, a constant, or a new parameter.
    pub(crate) fn supply(&mut self, ty: Type, hint: Option<Attr>, place: InsertionPoint) -> Option<Value> {
        if let Some(attr) = hint
            && self.p.random.percent(60)
        {
            return self.constant(attr, ty, place);
        }
        let known = Scope::at(&self.p.module, place, &self.above).of(ty);
        if !known.is_empty() && self.p.random.percent(80) {
            return Some(self.young(&known));
        }
        if self.p.random.percent(60)
            && let Some(attr) = draw_constant(&self.p.module.ctx, ty, self.p.random)
            && let Some(value) = self.constant(attr, ty, place)
        {
            return Some(value);
        }
        self.parameter(ty).or(known.last().copied())
    }

    /// Picks one of some values, recent ones with higher probability.
    pub(crate) fn young(&mut self, values: &[Value]) -> Value {
        let n = values.len() as u64;
        let back = self.p.random.below(n).min(self.p.random.below(n)) as usize;
        values[values.len() - 1 - back]
    }

    /// Returns a value of a type that is not constant, if possible.
    pub(crate) fn supply_variable(&mut self, ty: Type, place: InsertionPoint) -> Option<Value> {
        let m = &self.p.module;
        let mut known = Scope::at(m, place, &self.above).of(ty);
        known.retain(|&v| m.constant(v).is_none());
        if known.is_empty() || self.p.random.percent(20) {
            let made = self.parameter(ty).or_else(|| self.producer(ty, place));
            return made.or_else(|| self.supply(ty, None, place));
        }
        Some(self.young(&known))
    }

    /// Returns the result of a new op that defines a value of a type.
    fn producer(&mut self, ty: Type, place: InsertionPoint) -> Option<Value> {
        let library = self.p.library;
        let part = &library.parts[self.p.random.pick(library.by_result.get(&ty)?)];
        let constant = library.sources[part.source].info(part.op).is_some_and(|i| i.traits.has(Traits::CONSTANT_LIKE));
        if part.may_fail || constant || !self.p.bring_symbols(part) {
            return None;
        }
        let op = self.insert(part, OperandSource::Free, place)?;
        let result = self.p.module.results(op).find(|&v| self.p.module.value_type(v) == ty);
        if result.is_none() || !self.is_valid(op, place.block) {
            self.module().erase_op(op);
            return None;
        }
        result
    }

    pub(crate) fn constant(&mut self, attr: Attr, ty: Type, place: InsertionPoint) -> Option<Value> {
        Builder::at(self.module(), InsertPoint::Before(place.before)).constant(attr, ty, "", Loc::UNKNOWN)
    }

    /// Adds a parameter, if the function has no callers and the type has inputs.
    fn parameter(&mut self, ty: Type) -> Option<Value> {
        let m = &self.p.module;
        let entry = m.entry(m.regions(self.function)[0])?;
        let described = m.inherent_attr(self.function, "arg_attrs").is_some();
        if self.sealed || described || m.block_args(entry).len() >= MAX_PARAMETERS || !Inputs::has_values(&m.ctx, ty) {
            return None;
        }
        let value = self.module().add_block_arg(entry, ty, Loc::UNKNOWN);
        self.set_type(None);
        Some(value)
    }

    /// Updates the function's type; without `results` the result types stay.
    pub(crate) fn set_type(&mut self, results: Option<&[Type]>) {
        let m = &mut self.p.module;
        let old = m.inherent_attr(self.function, "function_type").and_then(|a| m.ctx.as_type(a));
        let old_results = old.and_then(|ty| m.ctx.function_parts(ty)).map_or(&[][..], |(_, results)| results).to_vec();
        let entry = m.entry(m.regions(self.function)[0]).expect("it has a body");
        let inputs: Vec<Type> = m.block_args(entry).iter().map(|&v| m.value_type(v)).collect();
        let ty = m.ctx.type_attr(m.ctx.function_type(&inputs, results.unwrap_or(&old_results)));
        m.set_attr(self.function, "function_type", Some(ty));
    }

    /// Duplicates an op.
    fn again(&mut self, place: InsertionPoint) -> bool {
        let m = &self.p.module;
        let usable = |op: Op| m.regions(op).is_empty() && is_speculatable(m, op) && m.num_results(op) > 0;
        let ops: Vec<Op> =
            m.block_ops(place.block).take_while(|&op| op != place.before).filter(|&op| usable(op)).collect();
        if ops.is_empty() {
            return false;
        }
        let op = self.p.random.pick(&ops);
        let copy = self.module().clone_op(op, &mut ValueMap::default());
        self.module().insert_op(place.block, copy, Some(place.before));
        if self.p.random.percent(30) {
            self.disturb_one(&[copy], place);
        }
        true
    }

    /// Inserts a call of an earlier function.
    fn call(&mut self, place: InsertionPoint) -> bool {
        if self.p.functions.is_empty() {
            return false;
        }
        let callee = self.p.random.pick(&self.p.functions);
        let m = &self.p.module;
        let ctx = m.ctx.clone();
        let ty = m.inherent_attr(callee, "function_type").and_then(|a| ctx.as_type(a));
        let Some((inputs, results)) = ty.and_then(|ty| ctx.function_parts(ty)) else { return false };
        let Some(info) = self.p.op_with(Traits::CALL) else { return false };
        let mut state = OpState::new(&ctx, info.name, Loc::UNKNOWN);
        let name = gradus_ir::symbol_name(&self.p.module, callee).map(|name| ctx.symbol_attr(ctx.text(name)));
        state.inherent(&ctx, "callee", name);
        for &ty in inputs {
            let Some(value) = self.supply(ty, None, place) else { return false };
            state.operands.push(value);
        }
        state.result_types = results.into();
        let op = Builder::at(self.module(), InsertPoint::Before(place.before)).create(state);
        let right = self.is_valid(op, place.block) && self.is_defined();
        if !right {
            self.module().erase_op(op);
        }
        right
    }
}

/// Draws a constant of a type as an attribute; integers are often small.
pub(crate) fn draw_constant(ctx: &Context, ty: Type, random: &mut Random) -> Option<Attr> {
    if ty == Type::INDEX && random.percent(90) {
        return Some(ctx.int_attr(ty, random.below(11) as i64 - 2));
    }
    if let Some(width) = ctx.int_width(ty).filter(|_| random.percent(60)) {
        let unused = 64 - width.clamp(1, 64);
        let number = border(width, random).wrapping_shl(unused) >> unused;
        return Some(
            ctx.int_attr(ty, if ctx.is_unsigned(ty) { number & (u64::MAX >> unused).cast_signed() } else { number }),
        );
    }
    let datum = Inputs::draw_value(ctx, ty, random)?;
    ctx.datum_attr(ty, &datum)
}

/// Creates a function that returns nothing.
fn empty(p: &mut ProgramBuilder<'_>, number: u64) -> Option<Op> {
    let types = &p.library.types;
    let inputs: Vec<Type> = (0..1 + p.random.below(3)).map(|_| p.random.pick(types)).collect();
    let op = p.function(&format!("fuzz{number}"), &inputs, &[], true)?;
    let returns = p.library.ctx.dialects().iter().flat_map(|d| d.ops).find(|info| {
        let name = p.module.name_text(op);
        info.traits.has(Traits::RETURN_LIKE) && info.parents.contains(&name)
    })?;
    let state = OpState::new(&p.library.ctx, returns.name, Loc::UNKNOWN);
    let block = p.module.entry(p.module.regions(op)[0])?;
    Builder::at_end(&mut p.module, block).try_create(state).ok()?;
    Some(op)
}

/// Copies a public function of the library that terminates on sample inputs. Returns it with whether other ops of its
/// program refer to it.
fn splice(p: &mut ProgramBuilder<'_>, inputs: u64) -> Option<(Op, bool)> {
    let library = p.library;
    let part = &library.functions[p.random.below(library.functions.len().max(1) as u64) as usize..].first()?;
    let source = &library.sources[part.source];
    let has_body = source.regions(part.op).first().is_some_and(|&r| source.entry(r).is_some());
    if !has_body || gradus_ir::symbols::is_private(source, part.op) || !p.bring_symbols(part) || !p.claim(part) {
        return None;
    }
    let op = p.module.clone_op_of(source, part.op, &mut ValueMap::default());
    let body = p.module.body();
    p.module.append_op(body, op);
    if draw(&p.module, op, inputs).is_some_and(|inputs| is_defined(&p.module, op, &inputs)) {
        return Some((op, part.is_named));
    }
    p.module.erase_op(op);
    None
}
