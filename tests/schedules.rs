//! Generated schedules: they mean what the tensors meant, and the verifier finds each planted mistake.

use crate::support::parse;
use gradus::Tool;
use gradus::dialects::memref::{AllocOp, CopyOp};
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::pass::{Pipeline, RunOptions, Watch};
use gradus::ir::random::Random;
use gradus::ir::{Builder, Context, DType, Module, Op, OpDecl, OpState, Type, Value, verify};
use gradus::networks::sched::{
    ArenaOp, BufferOp, BufferView, StepOp, TransferOp, WaitOp, accesses, is_access, may_be_in_place, root,
    size_in_bytes,
};
use gradus::runtime::cpu::CompiledFunction;
use std::sync::Arc;

/// Number of schedules of each kind.
const COUNT: u64 = if cfg!(debug_assertions) { 100 } else { 500 };

/// A program on matrices in the making.
struct Text {
    lines: String,
    /// Names and extents of all values.
    values: Vec<(String, [usize; 2])>,
    inputs: usize,
}

impl Text {
    fn push(&mut self, extents: [usize; 2], line: impl FnOnce(&str) -> String) {
        let name = format!("%v{}", self.values.len());
        let line = line(&name);
        self.lines += &format!("  {line} loc(\"op{}\")\n", self.values.len());
        self.values.push((name, extents));
    }

    /// Appends a random op on random values.
    fn op(&mut self, random: &mut Random) {
        let pick = |values: &[(String, [usize; 2])], random: &mut Random| {
            values[random.below(values.len() as u64) as usize].clone()
        };
        let (x, [rows, columns]) = pick(&self.values, random);
        let ty = |[r, c]: [usize; 2]| format!("tensor<{r}x{c}xf32>");
        let own = ty([rows, columns]);
        match random.below(6) {
            0 | 1 => {
                let op = ["relu", "neg", "abs"][random.below(3) as usize];
                self.push([rows, columns], |y| format!("{y} = graph.{op} {x} : {own}"));
            }
            2 => {
                let equal: Vec<_> = self.values.iter().filter(|(_, e)| *e == [rows, columns]).cloned().collect();
                let (z, _) = pick(&equal, random);
                self.push([rows, columns], |y| format!("{y} = graph.add {x}, {z} : ({own}, {own}) -> {own}"));
            }
            3 | 4 => {
                let axis = random.below(2) as usize;
                let fits: Vec<_> =
                    self.values.iter().filter(|(_, e)| e[1 - axis] == [rows, columns][1 - axis]).cloned().collect();
                let parts: Vec<_> = (0..1 + random.below(3)).map(|_| pick(&fits, random)).collect();
                let mut extents = parts[0].1;
                extents[axis] = parts.iter().map(|(_, e)| e[axis]).sum();
                if extents[axis] > 40 {
                    return;
                }
                let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
                let types: Vec<String> = parts.iter().map(|&(_, e)| ty(e)).collect();
                self.push(extents, |y| {
                    let (names, types) = (names.join(", "), types.join(", "));
                    format!("{y} = graph.concat {names} {{axis = {axis} : i64}} : ({types}) -> {}", ty(extents))
                });
            }
            _ => self.push([columns, rows], |y| {
                format!("{y} = graph.transpose {x} {{perm = array<i64: 1, 0>}} : ({own}) -> {}", ty([columns, rows]))
            }),
        }
    }

    /// Returns the function that returns the last values.
    fn function(&self, random: &mut Random) -> String {
        let ty = |[r, c]: [usize; 2]| format!("tensor<{r}x{c}xf32>");
        let (inputs, made) = self.values.split_at(self.inputs);
        let count = made.len().min(1 + random.below(3) as usize);
        let results = &made[made.len() - count..];
        let parameters: Vec<String> = inputs.iter().map(|(name, e)| format!("{name}: {}", ty(*e))).collect();
        let types: Vec<String> = results.iter().map(|&(_, e)| ty(e)).collect();
        let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
        format!(
            "func.func @main({}) -> ({}) {{\n{}  return {} : {}\n}}\n",
            parameters.join(", "),
            types.join(", "),
            self.lines,
            names.join(", "),
            types.join(", ")
        )
    }
}

/// Generates a program and its schedule.
fn generated(ctx: &Arc<Context>, tool: &Tool, random: &mut Random) -> (Module, Module) {
    let mut text = Text { lines: String::new(), values: Vec::new(), inputs: 1 + random.below(2) as usize };
    for i in 0..text.inputs {
        text.values.push((format!("%v{i}"), [1 + random.below(5) as usize, 1 + random.below(5) as usize]));
    }
    let ops = 1 + random.below(14);
    while ((text.values.len() - text.inputs) as u64) < ops {
        text.op(random);
    }
    let text = text.function(random);
    let program = parse(ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
    let mut schedule = program.clone();
    let fuse = random.below(2) == 0;
    let alignment = [1, 4, 32][random.below(3) as usize];
    let in_place = random.below(4) > 0;
    let plan = format!("alignment={} in-place={in_place}", alignment.max(4));
    let run = |pipeline: String, schedule: &mut Module| {
        let mut pipeline = Pipeline::parse(&pipeline, &tool.passes).expect("it is a pipeline");
        let run = pipeline.run(schedule, &RunOptions::default(), &mut Watch::new(|_| {}));
        assert!(run.is_ok(), "{text}");
    };
    let group = 1 + random.below(4);
    run(format!("builtin.module(form-steps{{fuse={fuse} group={group}}})"), &mut schedule);
    for _ in 0..random.below(3) {
        offload(&mut schedule, random);
    }
    run(format!("builtin.module(plan-memory{{{plan}}},plan-memory{{{plan} arena=sram}})"), &mut schedule);
    (program, schedule)
}

/// Lets a step read a buffer of another memory, to which a transfer brings the elements.
fn offload(m: &mut Module, random: &mut Random) -> Option<()> {
    let ops: Vec<Op> = m.ops_under(m.root()).into_iter().filter(|&op| is_access(m, op)).collect();
    let all = |op: Op| accesses(m, op).expect("they are known");
    let whole =
        |&(_, v): &(usize, Value)| AllocOp::defining(m, v).is_some() && m.ctx.memory_space(m.value_type(v)).is_none();
    let reads = ops.iter().enumerate().filter(|(_, op)| StepOp::cast(m, **op).is_some());
    let reads = reads.flat_map(|(at, &op)| all(op)[0].clone().into_iter().map(move |v| (at, v)));
    let reads: Vec<(usize, Value)> = reads.filter(whole).collect();
    let (reader, from) = *reads.get(random.below(reads.len().max(1) as u64) as usize)?;
    let writes = |op: &Op| all(*op)[1].iter().any(|&v| root(m, v) == from);
    let last = ops[..reader].iter().rposition(writes)?;
    let start = last + 1 + random.below((reader - last) as u64) as usize;
    let end = start + random.below((reader - start + 1) as u64) as usize;
    let (shape, space) = (m.ctx.shape(m.value_type(from))?.to_vec(), m.ctx.string_attr("sram"));
    let ty = m.ctx.memref_type(&shape, m.ctx.element_type(m.value_type(from)), None, Some(space));
    let ctx = m.ctx.clone();
    let mut create = |name, operands: &[Value], ty: Option<Type>, before: Op| {
        let mut state = OpState::new(&ctx, name, m.loc(before));
        if name == AllocOp::INFO.name {
            state.operand_group(&[]);
            state.operand_group(&[]);
        }
        state.operands.extend(operands.iter().copied());
        state.result_types.extend(ty);
        let op = Builder::before(m, before).create(state);
        m.results(op).next()
    };
    let to = create(AllocOp::INFO.name, &[], Some(ty), ops[start])?;
    let token = gradus::networks::sched::TokenType::get(&ctx).ok()?.0;
    let token = create(TransferOp::INFO.name, &[from, to], Some(token), ops[start])?;
    create(WaitOp::INFO.name, &[token], None, ops[end]);
    let operands: Vec<Value> = m.operands(ops[reader]).iter().map(|&v| if v == from { to } else { v }).collect();
    let written = StepOp(ops[reader]).writes(m).len();
    // Only reads move; a step does not write what it reads here.
    assert!(operands[operands.len() - written..].iter().all(|&v| v != to));
    m.set_operands(ops[reader], &operands);
    Some(())
}

fn inputs(m: &Module, random: &mut Random) -> Vec<Datum> {
    let main = Interpreter::new(m).function("main").expect("there is a function");
    let entry = m.entry(m.regions(main)[0]).expect("it has a body");
    let tensor = |&v: &Value| {
        let extents: Vec<usize> =
            m.ctx.static_shape(m.value_type(v)).expect("it is static").iter().map(|&d| d as usize).collect();
        let count = extents.iter().product();
        let numbers = (0..count).map(|_| random.below(200) as f64 / 8.0 - 12.0).collect();
        Datum::Tensor(floats_to_tensor(DType::F32, &extents, numbers))
    };
    m.block_args(entry).iter().map(tensor).collect()
}

#[test]
fn schedules_mean_what_the_tensors_meant() {
    let (tool, mut random) = (Tool::gradus(), Random::of("schedules"));
    let ctx = tool.context();
    for _ in 0..COUNT {
        let (program, schedule) = generated(&ctx, &tool, &mut random);
        let text = schedule.to_text(Default::default());
        assert!(verify(&schedule).is_ok(), "{text}");
        let inputs = inputs(&program, &mut random);
        let run = |m: &Module| {
            let mut interpreter = Interpreter::new(m);
            let main = interpreter.function("main").expect("there is a function");
            interpreter.call(main, inputs.clone()).unwrap_or_else(|stop| panic!("{stop:?} in {text}"))
        };
        let wanted = run(&program);
        assert_eq!(run(&schedule), wanted, "{text}");
        let main = Interpreter::new(&schedule).function("main").expect("there is a function");
        let mut compiled = CompiledFunction::new(&schedule, main);
        // Transfers have no implementation on cpu yet.
        let is_interpreted = !text.contains("sched.step") || text.contains("sched.transfer");
        assert!(compiled.usage().is_some() || is_interpreted, "it is not executed as a schedule: {text}");
        for _ in 0..2 {
            assert_eq!(compiled.call(inputs.clone()).expect("it runs"), wanted, "{text}");
        }
    }
}

/// A mistake in a schedule: it changes the program, if there is a place for it.
type Mistake = fn(&mut Module, &mut Random) -> Option<()>;

const MISTAKES: [(&str, Mistake); 9] = [
    ("overlap", overlap),
    ("wrong size", wrong_size),
    ("short lifetime", short_lifetime),
    ("missing copy", missing_copy),
    ("swapped steps", swapped_steps),
    ("overwritten input", overwritten_input),
    ("missing wait", missing_wait),
    ("late wait", late_wait),
    ("overwritten source", overwritten_source),
];

#[test]
fn every_planted_mistake_is_found() {
    let (tool, mut random) = (Tool::gradus(), Random::of("mistakes"));
    let ctx = tool.context();
    let mut planted = [0; MISTAKES.len()];
    while planted.iter().sum::<u64>() < COUNT {
        let (_, schedule) = generated(&ctx, &tool, &mut random);
        let kind = planted.iter().enumerate().min_by_key(|(_, count)| **count).map_or(0, |(i, _)| i);
        let (name, plant) = MISTAKES[kind];
        let mut wrong = schedule.clone();
        if plant(&mut wrong, &mut random).is_none() {
            continue;
        }
        planted[kind] += 1;
        let text = wrong.to_text(Default::default());
        let Err(errors) = verify(&wrong) else { panic!("{name} is not found in {text}") };
        let message: String = errors.iter().map(|d| d.render(&ctx)).collect();
        let named = ["step 'op", "(access ", "sched.buffer", "sched.step"].iter().any(|part| message.contains(part));
        assert!(named, "{name}: {message}");
    }
}

/// A buffer of an arena, and the numbers of the accesses that first write it and last read it.
struct Life {
    buffer: BufferOp,
    first: usize,
    last: usize,
}

/// Returns the ops that access memory, in order, and the lives of the arena's buffers.
fn lives(m: &Module) -> (Vec<Op>, Vec<Life>) {
    let ops: Vec<Op> = m.ops_under(m.root()).into_iter().filter(|&op| is_access(m, op)).collect();
    let mut all: Vec<Life> = Vec::new();
    for (at, &op) in ops.iter().enumerate() {
        let [reads, writes] = accesses(m, op).expect("they are known");
        let buffer = |&value: &Value| BufferOp::defining(m, root(m, value));
        for buffer in reads.iter().filter_map(buffer) {
            all.iter_mut().filter(|life| life.buffer == buffer).for_each(|life| life.last = at);
        }
        for buffer in writes.iter().filter_map(buffer) {
            if all.iter().all(|life| life.buffer != buffer) {
                all.push(Life { buffer, first: at, last: 0 });
            }
        }
    }
    (ops, all)
}

fn share_arena(m: &Module, a: &Life, b: &Life) -> bool {
    a.buffer != b.buffer && a.buffer.arena(m) == b.buffer.arena(m)
}

fn offset(m: &Module, buffer: BufferOp) -> i64 {
    buffer.offset(m).and_then(|a| m.ctx.as_int(a)).expect("it has an offset")
}

fn move_to(m: &mut Module, buffer: BufferOp, offset: i64) {
    let offset = m.ctx.int_attr(Type::I64, offset);
    m.set_attr(buffer.0, "offset", Some(offset));
}

/// Moves a buffer to bytes of another that is live when it is written and read afterwards.
fn overlap(m: &mut Module, random: &mut Random) -> Option<()> {
    let (_, lives) = lives(m);
    let pairs: Vec<(&Life, &Life)> = lives
        .iter()
        .flat_map(|a| lives.iter().map(move |b| (a, b)))
        .filter(|(a, b)| share_arena(m, a, b) && a.first < b.first && b.first < a.last)
        .collect();
    let (old, new) = *pairs.get(random.below(pairs.len().max(1) as u64) as usize)?;
    let size = |life: &Life| size_in_bytes(&m.ctx, m.value_type(life.buffer.buffer(m))).unwrap_or(0) as i64;
    let arena = size_in_bytes(&m.ctx, m.value_type(new.buffer.arena(m)))? as i64;
    let shift = random.below(size(old) as u64 / 4) as i64 * 4;
    let to = (offset(m, old.buffer) + shift).min(arena - size(new));
    (to + size(new) > offset(m, old.buffer)).then_some(())?;
    move_to(m, new.buffer, to);
    Some(())
}

/// Moves a buffer to the place of one that is read for the last time one step later than this buffer is written.
fn short_lifetime(m: &mut Module, random: &mut Random) -> Option<()> {
    let (_, lives) = lives(m);
    let pairs: Vec<(&Life, &Life)> = lives
        .iter()
        .flat_map(|a| lives.iter().map(move |b| (a, b)))
        .filter(|(a, b)| share_arena(m, a, b) && a.first < b.first && b.first + 1 == a.last)
        .collect();
    let (old, new) = *pairs.get(random.below(pairs.len().max(1) as u64) as usize)?;
    let size = size_in_bytes(&m.ctx, m.value_type(new.buffer.buffer(m)))? as i64;
    let arena = size_in_bytes(&m.ctx, m.value_type(new.buffer.arena(m)))? as i64;
    let to = offset(m, old.buffer).min(arena - size);
    move_to(m, new.buffer, to);
    Some(())
}

/// Makes the arena smaller than a buffer needs.
fn wrong_size(m: &mut Module, _: &mut Random) -> Option<()> {
    let arena = m.ops_under(m.root()).into_iter().find_map(|op| ArenaOp::cast(m, op))?;
    let (_, lives) = lives(m);
    let end = |life: &Life| {
        offset(m, life.buffer) + size_in_bytes(&m.ctx, m.value_type(life.buffer.buffer(m))).unwrap_or(0) as i64
    };
    let end = lives.iter().filter(|life| life.buffer.arena(m) == arena.memory(m)).map(end).max()?;
    let memory = arena.memory(m);
    let ty = m.ctx.memref_type(&[end - 1], Type::I8, None, m.ctx.memory_space(m.value_type(memory)));
    m.set_value_type(memory, ty);
    Some(())
}

/// Erases a copy, or else a step that writes a buffer of the arena.
fn missing_copy(m: &mut Module, random: &mut Random) -> Option<()> {
    let (ops, _) = lives(m);
    let is_needed = |op: &&Op| {
        let [_, writes] = accesses(m, **op).expect("they are known");
        let is_erasable = StepOp::cast(m, **op).is_some() || CopyOp::cast(m, **op).is_some();
        let mut writes = writes.into_iter().filter(|_| is_erasable);
        writes.any(|v| BufferOp::defining(m, root(m, v)).is_some_and(|buffer| is_read_later(m, &ops, **op, buffer)))
    };
    let all: Vec<Op> = ops.iter().filter(is_needed).copied().collect();
    let copies: Vec<Op> = all.iter().copied().filter(|&op| CopyOp::cast(m, op).is_some()).collect();
    let from = if copies.is_empty() { all } else { copies };
    let op = *from.get(random.below(from.len().max(1) as u64) as usize)?;
    m.erase_op(op);
    Some(())
}

fn is_read_later(m: &Module, ops: &[Op], op: Op, buffer: BufferOp) -> bool {
    let later = ops.iter().skip_while(|&&other| other != op).skip(1);
    let mut reads = later.flat_map(|&other| accesses(m, other).expect("they are known")[0].clone());
    reads.any(|v| BufferOp::defining(m, root(m, v)) == Some(buffer))
}

/// Swaps a step and the next, which reads what it writes.
fn swapped_steps(m: &mut Module, random: &mut Random) -> Option<()> {
    let (ops, _) = lives(m);
    let is_dependent = |pair: &&[Op]| {
        let [first, second] = [accesses(m, pair[0]), accesses(m, pair[1])].map(|all| all.expect("they are known"));
        let buffers =
            |values: &[Value]| values.iter().filter_map(|&v| BufferOp::defining(m, root(m, v))).collect::<Vec<_>>();
        let (written, read) = (buffers(&first[1]), buffers(&second[0]));
        written.iter().any(|buffer| read.contains(buffer))
    };
    let pairs: Vec<[Op; 2]> = ops.windows(2).filter(is_dependent).map(|pair| [pair[0], pair[1]]).collect();
    let [first, second] = *pairs.get(random.below(pairs.len().max(1) as u64) as usize)?;
    // Views of memory between the two stay before both.
    m.move_before(first, m.next_op(second)?);
    Some(())
}

/// Moves a buffer to the place of an input of the step that writes it, where the step must not overwrite that: by an element
/// if its ops are elementwise.
fn overwritten_input(m: &mut Module, random: &mut Random) -> Option<()> {
    let (ops, lives) = lives(m);
    let is_read = |op: Op, life: &Life| StepOp(op).reads(m).contains(&life.buffer.buffer(m));
    let is_written = |op: Op, life: &Life| StepOp(op).writes(m).contains(&life.buffer.buffer(m));
    let pairs: Vec<(&Life, &Life)> = lives
        .iter()
        .flat_map(|a| lives.iter().map(move |b| (a, b)))
        .filter(|(a, b)| share_arena(m, a, b) && a.last == b.first && StepOp::cast(m, ops[b.first]).is_some())
        .filter(|(a, b)| is_read(ops[b.first], a) && is_written(ops[b.first], b))
        .collect();
    let (old, new) = *pairs.get(random.below(pairs.len().max(1) as u64) as usize)?;
    let [read, write] = [old, new].map(|life| BufferView::of(m, life.buffer.buffer(m)).expect("it is static"));
    let shift = if may_be_in_place(m, ops[new.first], &read, &write) { 4 } else { 0 };
    let size = |life: &Life| size_in_bytes(&m.ctx, m.value_type(life.buffer.buffer(m))).unwrap_or(0) as i64;
    let arena = size_in_bytes(&m.ctx, m.value_type(new.buffer.arena(m)))? as i64;
    let to = offset(m, old.buffer) + shift;
    (size(old) > shift && to + size(new) <= arena).then_some(())?;
    move_to(m, new.buffer, to);
    Some(())
}

/// The first transfer, its wait, and the first access of its target after that.
fn transfer(m: &Module) -> Option<(TransferOp, Op, Op)> {
    let (ops, _) = lives(m);
    let transfer = ops.iter().find_map(|&op| TransferOp::cast(m, op))?;
    let (wait, _) = m.uses(transfer.token(m)).next()?;
    let reads = |op: &&Op| accesses(m, **op).expect("they are known")[0].contains(&transfer.target(m));
    Some((transfer, wait, *ops.iter().find(reads)?))
}

fn missing_wait(m: &mut Module, _: &mut Random) -> Option<()> {
    let (_, wait, _) = transfer(m)?;
    m.erase_op(wait);
    Some(())
}

/// Moves a wait behind the step that reads what was transferred.
fn late_wait(m: &mut Module, _: &mut Random) -> Option<()> {
    let (_, wait, reader) = transfer(m)?;
    m.move_before(wait, m.next_op(reader)?);
    Some(())
}

/// Writes the source of a transfer, once more, before the wait.
fn overwritten_source(m: &mut Module, _: &mut Random) -> Option<()> {
    let (transfer, wait, _) = transfer(m)?;
    let (ops, _) = lives(m);
    let source = transfer.source(m);
    let writes =
        |op: &&Op| StepOp::cast(m, **op).is_some() && accesses(m, **op).expect("they are known")[1].contains(&source);
    let writer = *ops.iter().take_while(|&&op| op != transfer.0).filter(writes).last()?;
    let again = m.clone_op(writer, &mut Default::default());
    m.move_before(again, wait);
    Some(())
}
