//! Irregular control flow: blocks with arguments, several joins, loops, switches and returns; a slot is stored in
//! branches and loaded at joins.

use super::statements::{negated, rearranged};
use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// Percentage of programs with slots.
const SLOTS: u64 = 60;

/// The arguments of a block, by type and name.
struct BlockArguments {
    types: Vec<&'static str>,
    names: Vec<u32>,
}

pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let results = w.types(3);
    let parameters = ["i32", "i32", "i1", "i1", "i8", "index"];
    graph(&mut w, "func.func @made0", (&parameters, &results), true, &|_| ());
    w.text
}

/// Writes a function of several blocks. `statements` writes more into a block.
pub(super) fn graph(
    w: &mut ProgramWriter<'_>,
    header: &str,
    (parameters, results): (&[&str], &[&str]),
    loops: bool,
    statements: &dyn Fn(&mut ProgramWriter<'_>),
) {
    let count = 3 + w.random.below(5) as usize;
    let mut blocks: Vec<BlockArguments> =
        (0..count).map(|_| BlockArguments { types: block_types(w), names: Vec::new() }).collect();
    blocks[0].types.clear();
    w.function(header, parameters, results);
    let slots = if w.random.percent(SLOTS) { allocate(w) } else { Default::default() };
    // Counts the branches backwards, which end when it is 0.
    let fuel = w.op("memref<i8>", "memref.alloca() : memref<i8>");
    let some = w.op("i8", "arith.constant 3 : i8");
    w.line(&format!("memref.store %v{some}, %v{fuel}[] : memref<i8>"));
    let mark = w.enter();
    for number in 0..count {
        w.leave(mark);
        if number > 0 {
            let BlockArguments { types, names } = &mut blocks[number];
            *names = types.iter().map(|ty| w.value(ty)).collect();
            let args: Vec<String> = names.iter().zip(types).map(|(name, ty)| format!("%v{name}: {ty}")).collect();
            let list = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
            w.line(&format!("^bb{number}{list}:"));
        }
        for _ in 0..w.random.below(3) {
            let ty = w.random.pick(&["i32", "i32", "i1", "i8", "index"]);
            w.compute(ty);
        }
        statements(w);
        for &slot in &slots {
            access(w, slot);
        }
        terminate(w, &blocks, number, results, loops.then_some(fuel));
    }
    w.line("}");
}

fn block_types(w: &mut ProgramWriter<'_>) -> Vec<&'static str> {
    match w.random.below(10) {
        0..5 => w.types(2),
        5..7 => vec![w.random.pick(&["i32", "i8"]); 2 + w.random.below(2) as usize],
        _ => Vec::new(),
    }
}

fn allocate(w: &mut ProgramWriter<'_>) -> Vec<u32> {
    let count = 1 + w.random.below(2);
    let slots: Vec<u32> = (0..count).map(|_| w.op("memref<i32>", "memref.alloca() : memref<i32>")).collect();
    for slot in &slots {
        if w.random.percent(85) {
            let value = w.pick("i32");
            w.line(&format!("memref.store %v{value}, %v{slot}[] : memref<i32>"));
        }
    }
    slots
}

/// Loads or stores a slot, or both, or neither.
fn access(w: &mut ProgramWriter<'_>, slot: u32) {
    if w.random.percent(40) {
        w.op("i32", &format!("memref.load %v{slot}[] : memref<i32>"));
    }
    if w.random.percent(45) {
        let value = w.pick("i32");
        w.line(&format!("memref.store %v{value}, %v{slot}[] : memref<i32>"));
    }
    if w.random.percent(25) {
        w.op("i32", &format!("memref.load %v{slot}[] : memref<i32>"));
    }
}

/// Ends a block with a return, a branch, a conditional branch or a switch, mostly forwards.
fn terminate(w: &mut ProgramWriter<'_>, blocks: &[BlockArguments], number: usize, results: &[&str], fuel: Option<u32>) {
    let is_last = number + 1 == blocks.len();
    if is_last || number > 0 && w.random.percent(12) {
        let values = w.yields(results).join(", ");
        return w.line(&format!("return {values} : {}", results.join(", ")));
    }
    if let Some(fuel) = fuel.filter(|_| number > 0 && w.random.percent(25)) {
        return backwards(w, blocks, number, fuel);
    }
    match w.random.below(10) {
        0 | 1 => {
            let to = target(w, blocks, number);
            w.line(&format!("cf.br {to}"));
        }
        2..7 => {
            // Two branches often have the same condition, or one has the negation of the other's.
            let first = w.known("i1").first().copied();
            let condition = match (first, w.random.below(10)) {
                (Some(first), 0..2) => first,
                (Some(first), 2) => negated(w, first),
                (_, 3..7) => w.pick("i1"),
                _ => w.compute("i1"),
            };
            let (yes, no) = (target(w, blocks, number), target(w, blocks, number));
            w.line(&format!("cf.cond_br %v{condition}, {yes}, {no}"));
        }
        _ => switches(w, blocks, number),
    }
}

/// Ends a block with a switch, one case of which often leads to a block of its own that switches on the same flag.
fn switches(w: &mut ProgramWriter<'_>, blocks: &[BlockArguments], number: usize) {
    let ty = w.random.pick(&["i32", "i32", "i8"]);
    // Two switches often have the same flag.
    let flag = if w.random.percent(70) { w.known(ty).first().copied() } else { None };
    let flag = flag.unwrap_or_else(|| w.pick(ty));
    let inner = w.random.percent(40).then(|| blocks.len() + number);
    switch(w, blocks, number, (flag, ty), inner);
    if let Some(inner) = inner {
        w.line(&format!("^bb{inner}:"));
        switch(w, blocks, number, (flag, ty), None);
    }
}

/// Writes a switch on a flag; one of its destinations is `inner`.
fn switch(
    w: &mut ProgramWriter<'_>,
    blocks: &[BlockArguments],
    number: usize,
    (flag, ty): (u32, &str),
    inner: Option<usize>,
) {
    let cases = 1 + w.random.below(3);
    let chosen = w.random.below(cases + 1);
    let dest = |w: &mut ProgramWriter<'_>, i: u64| match inner {
        Some(inner) if i == chosen => format!("^bb{inner}"),
        _ => target(w, blocks, number),
    };
    let mut line = format!("cf.switch %v{flag} : {ty}, [\n default: {}", dest(w, cases));
    let first = w.random.below(3) as i64 - 1;
    for case in 0..cases {
        line += &format!(",\n {}: {}", first + case as i64, dest(w, case));
    }
    w.line(&(line + "\n]"));
}

/// Branches to an earlier block while the counter is positive.
fn backwards(w: &mut ProgramWriter<'_>, blocks: &[BlockArguments], number: usize, fuel: u32) {
    let left = w.op("i8", &format!("memref.load %v{fuel}[] : memref<i8>"));
    let (one, zero) = (w.op("i8", "arith.constant 1 : i8"), w.op("i8", "arith.constant 0 : i8"));
    let less = w.op("i8", &format!("arith.subi %v{left}, %v{one} : i8"));
    w.line(&format!("memref.store %v{less}, %v{fuel}[] : memref<i8>"));
    let more = w.op("i1", &format!("arith.cmpi sgt, %v{left}, %v{zero} : i8"));
    let earlier = if w.random.percent(40) { number } else { 1 + w.random.below(number as u64) as usize };
    let BlockArguments { types, names } = &blocks[earlier];
    let is_uniform = types.len() > 1 && types.iter().all(|ty| *ty == types[0]);
    let back = if earlier == number && is_uniform && w.random.percent(70) {
        to_with(&rearranged(w, names), types, earlier)
    } else {
        to(w, blocks, earlier)
    };
    let on = target(w, blocks, number);
    w.line(&format!("cf.cond_br %v{more}, {back}, {on}"));
}

/// Returns a later block with operands, often one of the next.
fn target(w: &mut ProgramWriter<'_>, blocks: &[BlockArguments], number: usize) -> String {
    let left = (blocks.len() - number - 1) as u64;
    let number = number + 1 + w.random.below(left).min(w.random.below(left)) as usize;
    to(w, blocks, number)
}

fn to(w: &mut ProgramWriter<'_>, blocks: &[BlockArguments], number: usize) -> String {
    let types = &blocks[number].types;
    to_with(&w.picks(types), types, number)
}

/// Returns a block with the values of its arguments.
fn to_with(values: &[String], types: &[&str], number: usize) -> String {
    match types {
        [] => format!("^bb{number}"),
        _ => format!("^bb{number}({} : {})", values.join(", "), types.join(", ")),
    }
}
