//! Growing a function, op by op, while it is run.

use crate::grow::Program;
use crate::library::{Library, Part};
use crate::scope::{Place, Scope};
use gradus_check::{Inputs, Outcome, Random, run};
use gradus_ir::effects::is_speculatable;
use gradus_ir::rules::{Chooser, Signature};
use gradus_ir::verify::verify_op;
use gradus_ir::{
    Attr, Block, Builder, Context, InsertPoint, Loc, Module, Op, OpName, OpState, Traits, Type, Value, ValueMap,
};
use rustc_hash::FxHashMap;

/// So many parameters a function may have.
const MAX_PARAMETERS: usize = 10;
/// So many results a function may have.
const MAX_RESULTS: usize = 16;
/// So many values are young.
const YOUNG: usize = 6;
/// Ops that run longer are taken back.
const FUEL: u64 = 2000;
/// What is undefined on an input is tried again with other operands so many times.
const RETRIES: usize = 3;

/// A function that grows.
pub(crate) struct Growing<'p, 'a> {
    p: &'p mut Program<'a>,
    function: Op,
    /// Blocks that ops can be put into. Each has a terminator.
    blocks: Vec<Block>,
    /// The block before each that was split off.
    above: FxHashMap<Block, Block>,
    inputs: u64,
    /// Whether it must be defined on the inputs.
    checked: bool,
}

impl<'p, 'a> Growing<'p, 'a> {
    /// Grows a function by so many ops.
    pub(crate) fn run(p: &'p mut Program<'a>, number: u64, ops: usize, inputs: u64) {
        let checked = p.random.percent(98);
        let spliced = if p.random.percent(20) { splice(p, inputs) } else { None };
        let Some(function) = spliced.or_else(|| empty(p, number)) else { return };
        let mut growing = Growing { p, function, blocks: Vec::new(), above: FxHashMap::default(), inputs, checked };
        growing.note_blocks(function);
        let mut left = ops;
        for _ in 0..4 * ops {
            if left == 0 {
                break;
            }
            left -= growing.step().min(left);
        }
        if spliced.is_none() {
            growing.choose_results();
        }
        let function = growing.function;
        p.functions.push(function);
    }

    fn module(&mut self) -> &mut Module {
        &mut self.p.module
    }

    /// Notes the blocks inside an op.
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

    /// Tries to add something. Returns how many ops.
    fn step(&mut self) -> usize {
        let place = self.place();
        let before = self.p.module.num_ops();
        let done = match self.p.random.below(100) {
            0..30 => self.left_side(place),
            30..36 => self.again(place),
            36..40 => self.call(place),
            40..45 => self.branch(place),
            45..70 => self.use_young(place),
            _ => {
                let part = self.p.pick_part();
                self.part(part, None, place)
            }
        };
        if done && self.p.random.percent(40) {
            self.rewire(place);
        }
        usize::from(done).max(self.p.module.num_ops().saturating_sub(before).min(4))
    }

    /// Somewhere, mostly at the end of a block.
    fn place(&mut self) -> Place {
        let at = self.p.random.below(self.blocks.len() as u64) as usize;
        let block = if self.p.random.percent(40) { self.blocks[self.blocks.len() - 1] } else { self.blocks[at] };
        let m = &self.p.module;
        let last = m.last_op(block).expect("the block has a terminator");
        let ops = m.block_ops(block).count() as u64;
        if !self.p.random.percent(20) {
            return Place { block, before: last };
        }
        let skip = self.p.random.below(ops) as usize;
        let before = self.p.module.block_ops(block).nth(skip).unwrap_or(last);
        Place { block, before }
    }

    /// Adds a part that uses one of the youngest values: what ops do to each other's results is what patterns are about.
    fn use_young(&mut self, place: Place) -> bool {
        let m = &self.p.module;
        let young = m.block_ops(place.block).take_while(|&op| op != place.before).flat_map(|op| m.results(op));
        let young: Vec<Value> = young.filter(|&v| m.constant(v).is_none()).collect();
        let Some(young) = young.get(young.len().saturating_sub(YOUNG)..).filter(|young| !young.is_empty()) else {
            return false;
        };
        let value = self.p.random.pick(young);
        let library = self.p.library;
        let Some(parts) = library.by_input.get(&self.p.module.value_type(value)) else { return false };
        let part = self.p.random.pick(parts);
        self.part(part, Some(value), place)
    }

    /// Adds a part of the library, which uses a value if one is given. What is undefined on an input is tried again with other operands.
    fn part(&mut self, number: usize, given: Option<Value>, place: Place) -> bool {
        let library = self.p.library;
        let part = &library.parts[number];
        if !self.p.bring_symbols(part) {
            return false;
        }
        let source = &library.sources[part.source];
        let kind = library.ctx.op_name_text(source.name(part.op));
        for attempt in 0..RETRIES {
            let Some(op) = self.insert(part, given, place) else { return false };
            let valid = verify_op(&self.p.module, op).is_ok();
            if attempt == 0 {
                self.p.statistics.tried(kind, valid);
            }
            if valid && self.fits(place.block) && (!part.may_fail || self.is_defined()) {
                self.note_blocks(op);
                return true;
            }
            self.module().erase_op(op);
        }
        false
    }

    /// Whether the ops around a block allow what is in it.
    fn fits(&self, block: Block) -> bool {
        let m = &self.p.module;
        let around = std::iter::successors(m.block_op(block), |&op| m.parent_op(op));
        let outermost = around.take_while(|&op| op != self.function).last();
        outermost.is_none_or(|op| verify_op(m, op).is_ok())
    }

    /// Copies a part to a place, with operands for what it uses.
    fn insert(&mut self, part: &Part, mut given: Option<Value>, place: Place) -> Option<Op> {
        let source = &self.p.library.sources[part.source];
        let mut map = ValueMap::default();
        for &(value, constant) in &part.inputs {
            let ty = source.value_type(value);
            let operand = match given.take_if(|v| self.p.module.value_type(*v) == ty) {
                Some(given) => given,
                None => self.supply(ty, constant, place)?,
            };
            map.insert(value, operand);
        }
        let op = self.p.module.clone_op_of(source, part.op, &mut map);
        self.p.module.insert_op(place.block, op, Some(place.before));
        Some(op)
    }

    /// A value of a type for a place: one that is there, a constant, or a new parameter.
    fn supply(&mut self, ty: Type, hint: Option<Attr>, place: Place) -> Option<Value> {
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

    /// One of some values; the youngest is the likeliest.
    fn young(&mut self, values: &[Value]) -> Value {
        let n = values.len() as u64;
        let back = self.p.random.below(n).min(self.p.random.below(n)) as usize;
        values[values.len() - 1 - back]
    }

    /// A value of a type for a place that is not constant, if that is possible.
    fn supply_variable(&mut self, ty: Type, place: Place) -> Option<Value> {
        let m = &self.p.module;
        let mut known = Scope::at(m, place, &self.above).of(ty);
        known.retain(|&v| m.constant(v).is_none());
        if known.is_empty() || self.p.random.percent(20) {
            let made = self.parameter(ty).or_else(|| self.producer(ty, place));
            return made.or_else(|| self.supply(ty, None, place));
        }
        Some(self.young(&known))
    }

    /// The result of a new op that gives a value of a type.
    fn producer(&mut self, ty: Type, place: Place) -> Option<Value> {
        let library = self.p.library;
        let part = &library.parts[self.p.random.pick(library.by_result.get(&ty)?)];
        let constant = library.sources[part.source].info(part.op).is_some_and(|i| i.traits.has(Traits::CONSTANT_LIKE));
        if part.may_fail || constant || !self.p.bring_symbols(part) {
            return None;
        }
        let op = self.insert(part, None, place)?;
        let result = self.p.module.results(op).find(|&v| self.p.module.value_type(v) == ty);
        if result.is_none() || verify_op(&self.p.module, op).is_err() {
            self.module().erase_op(op);
            return None;
        }
        result
    }

    fn constant(&mut self, attr: Attr, ty: Type, place: Place) -> Option<Value> {
        let value =
            Builder::at(self.module(), InsertPoint::Before(place.before)).constant(attr, ty, "", Loc::UNKNOWN)?;
        let op = self.p.module.defining_op(value)?;
        if verify_op(&self.p.module, op).is_err() {
            self.module().erase_op(op);
            return None;
        }
        Some(value)
    }

    /// A new parameter, if the function is not called yet and there can be inputs of the type.
    fn parameter(&mut self, ty: Type) -> Option<Value> {
        let m = &self.p.module;
        let entry = m.entry(m.regions(self.function)[0])?;
        let described = m.inherent_attr(self.function, "arg_attrs").is_some();
        if described || m.block_args(entry).len() >= MAX_PARAMETERS || !Inputs::has_values(&m.ctx, ty) {
            return None;
        }
        let value = self.module().add_block_arg(entry, ty, Loc::UNKNOWN);
        self.set_type(None);
        Some(value)
    }

    /// Notes the function's type; without `results` those stay.
    fn set_type(&mut self, results: Option<&[Type]>) {
        let m = &mut self.p.module;
        let old = m.inherent_attr(self.function, "function_type").and_then(|a| m.ctx.as_type(a));
        let old_results = old.and_then(|ty| m.ctx.function_parts(ty)).map_or(&[][..], |(_, results)| results).to_vec();
        let entry = m.entry(m.regions(self.function)[0]).expect("it has a body");
        let inputs: Vec<Type> = m.block_args(entry).iter().map(|&v| m.value_type(v)).collect();
        let ty = m.ctx.type_attr(m.ctx.function_type(&inputs, results.unwrap_or(&old_results)));
        m.set_attr(self.function, "function_type", Some(ty));
    }

    /// Whether the function comes to its end on the inputs.
    fn is_defined(&self) -> bool {
        !self.checked || is_defined(&self.p.module, self.function, self.inputs)
    }

    /// Adds what the left side of a rule matches, if its conditions hold.
    fn left_side(&mut self, place: Place) -> bool {
        let ctx = self.p.module.ctx.clone();
        let of = |dialect: &&'static gradus_ir::Dialect| self.p.library.allows(dialect.name);
        let rules: Vec<&'static str> =
            ctx.dialects().iter().filter(|d| of(d)).flat_map(|d| d.rules).map(|rule| rule.name).collect();
        if rules.is_empty() {
            return false;
        }
        let rule = self.p.random.pick(&rules);
        let mut module = std::mem::replace(&mut self.p.module, Module::new(ctx.clone()));
        let mut leaves = Leaves { growing: self, place };
        let built = ctx.build_left_side(rule, &mut module, place.before, &mut leaves);
        self.p.module = module;
        built.is_some()
    }

    /// Adds an op once more.
    fn again(&mut self, place: Place) -> bool {
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
        true
    }

    /// Adds a call of a function made before.
    fn call(&mut self, place: Place) -> bool {
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
        let right = verify_op(&self.p.module, op).is_ok() && self.fits(place.block) && self.is_defined();
        if !right {
            self.module().erase_op(op);
        }
        right
    }

    /// Lets a terminator carry a new value.
    fn rewire(&mut self, place: Place) {
        let m = &self.p.module;
        let Some(terminator) = m.terminator(place.block) else { return };
        if m.operands(terminator).is_empty() || m.block_op(place.block) == Some(self.function) {
            return;
        }
        let i = self.p.random.below(self.p.module.operands(terminator).len() as u64) as usize;
        let m = &self.p.module;
        let old = m.operands(terminator)[i];
        let at_end = Place { block: place.block, before: terminator };
        let known = Scope::at(m, at_end, &self.above).of(m.value_type(old));
        let Some(&new) = known.last() else { return };
        self.module().set_operand(terminator, i, new);
        let around = self.p.module.block_op(place.block).expect("a block is in an op");
        if verify_op(&self.p.module, around).is_err() || !self.is_defined() {
            self.module().set_operand(terminator, i, old);
        }
    }

    /// Lets a block end at a place with a branch to one or two new blocks, and go on after them.
    fn branch(&mut self, place: Place) -> bool {
        let m = &self.p.module;
        let single = m.block_op(place.block).is_some_and(|op| m.has_trait(op, Traits::SINGLE_BLOCK));
        if single || m.block_op(place.block) != Some(self.function) {
            return false;
        }
        let scope = Scope::at(m, place, &self.above);
        let Some((jump, choice)) = branches(self.p.library) else { return false };
        let conditions = scope.of(Type::I1);
        if scope.all().is_empty() || conditions.is_empty() {
            return false;
        }
        let condition = self.p.random.pick(&conditions);
        let carried = self.p.random.pick(scope.all());
        let like = scope.of(carried.0);
        let after = self.module().split_block(place.before);
        let region = self.p.module.parent_region(place.block).expect("a block is in a region");
        let arg = self.module().add_block_arg(after, carried.0, Loc::UNKNOWN);
        self.above.insert(after, place.block);
        let mut sides = Vec::new();
        for _ in 0..2 {
            let value = self.p.random.pick(&like);
            let next = self.p.module.next_block(place.block);
            let side = self.module().create_block();
            self.module().insert_block(region, side, next);
            self.end_with(side, jump, &[], &[(after, value)]);
            self.above.insert(side, place.block);
            sides.push(side);
        }
        self.end_with_choice(place.block, choice, condition, &sides);
        let uses: Vec<(Op, usize)> = self.p.module.uses(carried.1).collect();
        for (user, i) in uses {
            let inside = self.p.module.parent_block(user) == Some(after);
            if inside && self.p.random.percent(50) {
                self.module().set_operand(user, i, arg);
            }
        }
        self.blocks.extend(sides);
        self.blocks.push(after);
        true
    }

    fn end_with(&mut self, block: Block, name: OpName, operands: &[Value], to: &[(Block, Value)]) {
        let mut state = OpState::of(name, Loc::UNKNOWN);
        state.operand_group(operands);
        state.operands.extend(to.iter().map(|(_, v)| *v));
        state.successors = to.iter().map(|(block, _)| *block).collect();
        let op = self.module().create_op(state);
        self.module().append_op(block, op);
    }

    fn end_with_choice(&mut self, block: Block, name: OpName, condition: Value, to: &[Block]) {
        let mut state = OpState::of(name, Loc::UNKNOWN);
        state.operand_group(&[condition]);
        to.iter().for_each(|_| state.operand_group(&[]));
        state.successors = to.into();
        Builder::at_end(self.module(), block).create(state);
    }

    /// Lets the function return some of the values at its end, of which none is poison on all inputs.
    fn choose_results(&mut self) {
        let m = &self.p.module;
        let Some(&region) = m.regions(self.function).first() else { return };
        let ends = |b: &Block| m.terminator(*b).is_some_and(|t| m.successors(t).is_empty());
        let last = m.region_blocks(region).rev().find(ends);
        let Some((block, end)) = last.and_then(|b| Some((b, m.terminator(b)?))) else { return };
        let place = Place { block, before: end };
        let scope = Scope::at(m, place, &self.above);
        let unused = |v: Value| m.is_unused(v) && m.defining_op(v).is_some() && m.constant(v).is_none();
        let mut chosen: Vec<(Type, Value)> = scope.all().iter().copied().filter(|(_, v)| unused(*v)).collect();
        let wanted = MAX_RESULTS - self.p.random.below(MAX_RESULTS as u64 / 2) as usize;
        self.give_results(end, &chosen);
        if !self.p.keeps_poison && self.checked {
            let clean = self.clean_results(chosen.len());
            chosen = chosen.into_iter().zip(clean).filter(|(_, clean)| *clean).map(|(value, _)| value).collect();
        }
        while chosen.len() > wanted {
            let at = self.p.random.below(chosen.len() as u64) as usize;
            chosen.swap_remove(at);
        }
        self.give_results(end, &chosen);
    }

    fn give_results(&mut self, end: Op, values: &[(Type, Value)]) {
        let operands: Vec<Value> = values.iter().map(|(_, v)| *v).collect();
        self.module().set_operands(end, &operands);
        let types: Vec<Type> = values.iter().map(|(ty, _)| *ty).collect();
        self.set_type(Some(&types));
    }

    /// Which of the results are poison on no input.
    fn clean_results(&mut self, count: usize) -> Vec<bool> {
        let m = &self.p.module;
        let mut clean = vec![true; count];
        let Some(inputs) = Inputs::of(m, self.function).map(Inputs::without_poison) else { return clean };
        for number in 0..self.inputs {
            let Ok(input) = inputs.draw(&mut Random::of(("grow", number))) else { return clean };
            if let Outcome::Returned { results, .. } = run(m, self.function, &input, FUEL) {
                clean.iter_mut().zip(&results).for_each(|(clean, seen)| *clean &= !seen.is_poison());
            }
        }
        clean
    }
}

/// Whether a function comes to its end on so many inputs.
fn is_defined(m: &Module, function: Op, inputs: u64) -> bool {
    let Some(drawn) = Inputs::of(m, function).map(Inputs::without_poison) else { return false };
    (0..inputs).all(|number| {
        let Ok(input) = drawn.draw(&mut Random::of(("grow", number))) else { return false };
        matches!(run(m, function, &input, FUEL), Outcome::Returned { .. } | Outcome::Aborted(..))
    })
}

/// The attribute of a random value of a type: integers often small.
fn draw_constant(ctx: &Context, ty: Type, random: &mut Random) -> Option<Attr> {
    if ty == Type::INDEX && random.percent(90) {
        return Some(ctx.int_attr(ty, random.below(11) as i64 - 2));
    }
    let datum = Inputs::draw_value(ctx, ty, random)?;
    ctx.datum_attr(ty, &datum)
}

/// The declared branch that always goes to one block, and the one that chooses among two by a condition.
fn branches(library: &Library) -> Option<(OpName, OpName)> {
    let ctx = &library.ctx;
    let infos = || {
        ctx.dialects()
            .iter()
            .filter(|d| library.allows(d.name))
            .flat_map(|d| d.ops)
            .filter(|info| info.successor_sizes.is_none())
    };
    let shaped = |successors: usize, operands: usize| {
        infos().find(|info| info.successors.len() == successors && info.operands.len() == operands)
    };
    Some((ctx.op_name(shaped(1, 1)?.name), ctx.op_name(shaped(2, 3)?.name)))
}

/// An empty function that returns nothing.
fn empty(p: &mut Program<'_>, number: u64) -> Option<Op> {
    let types = crate::domain::types(&p.library.ctx);
    let inputs: Vec<Type> = (0..1 + p.random.below(3)).map(|_| p.random.pick(&types)).collect();
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

/// A function of the library's programs that can be called from outside and comes to its end on so many inputs.
fn splice(p: &mut Program<'_>, inputs: u64) -> Option<Op> {
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
    if is_defined(&p.module, op, inputs) {
        return Some(op);
    }
    p.module.erase_op(op);
    None
}

/// What rules leave open is chosen here.
struct Leaves<'g, 'p, 'a> {
    growing: &'g mut Growing<'p, 'a>,
    place: Place,
}

impl Chooser for Leaves<'_, '_, '_> {
    fn value(&mut self, m: &mut Module, ty: Type) -> Option<Value> {
        std::mem::swap(m, &mut self.growing.p.module);
        let value = self.growing.supply_variable(ty, self.place);
        std::mem::swap(m, &mut self.growing.p.module);
        value
    }

    fn constant(&mut self, ctx: &Context, ty: Type) -> Option<Attr> {
        draw_constant(ctx, ty, self.growing.p.random)
    }

    fn signature(&mut self, op: OpName, results: &[Option<Type>], operands: &[Option<Type>]) -> Option<Signature> {
        let library = self.growing.p.library;
        let signature = |number: usize| {
            let part = &library.parts[number];
            let m = &library.sources[part.source];
            let types = m.operands(part.op).iter().map(|&v| m.value_type(v)).collect();
            let results = m.results(part.op).map(|v| m.value_type(v)).collect();
            Signature { operands: types, results, props: m.props(part.op) }
        };
        let all = self.growing.p.parts_of(op).iter().map(|&n| signature(n));
        let mut all: Vec<Signature> = all.filter(|s| s.fits(results, operands)).collect();
        if all.is_empty() {
            return None;
        }
        let at = self.growing.p.random.below(all.len() as u64) as usize;
        Some(all.swap_remove(at))
    }
}
