//! Structured programs: loop nests with remainders and without iterations, conditions, and memory with views.

use super::writer::{INTS, ProgramWriter};
use gradus_ir::random::Random;

/// Elements of a buffer.
const LENGTH: u64 = 8;
/// Type of a buffer, of a slot, and of a slot with one element per dimension.
const BUFFER: &str = "memref<8xi32>";
const SLOTS: [&str; 3] = ["memref<i32>", "memref<1xi32>", "memref<1x1xi32>"];
/// Type of a table of addresses of slots.
const TABLE: &str = "memref<2xmemref<i32>>";
/// Types of views of a part of a buffer and of every second element.
const PART: &str = "memref<4xi32, strided<[1], offset: 2>>";
const SPARSE: &str = "memref<4xi32, strided<[2]>>";

/// Percentages of statements: loops, conditions, and memory; the rest computes.
struct Mix {
    loops: u64,
    conditions: u64,
    memory: u64,
    /// Whether a private function that stores may be called.
    is_called: bool,
}

pub(super) fn arithmetic(random: &mut Random) -> String {
    program(random, &Mix { loops: 3, conditions: 7, memory: 0, is_called: false })
}

pub(super) fn loops(random: &mut Random) -> String {
    program(random, &Mix { loops: 30, conditions: 8, memory: 12, is_called: false })
}

pub(super) fn memory(random: &mut Random) -> String {
    let is_called = random.percent(30);
    program(random, &Mix { loops: 8, conditions: 14, memory: 60, is_called })
}

fn program(random: &mut Random, mix: &Mix) -> String {
    let mut w = ProgramWriter::new(random);
    if mix.is_called {
        w.function("func.func private @made0", &["i32", "index", BUFFER], &[]);
        store(&mut w);
        w.line("return\n}");
    }
    let results = w.types(4);
    let mut parameters = vec!["i32", "i32", "index", "i1"];
    parameters.extend([w.random.pick(&INTS), "f32"]);
    if mix.memory > 0 {
        parameters.extend([BUFFER, BUFFER]);
    }
    w.function(&format!("func.func @made{}", u8::from(mix.is_called)), &parameters, &results);
    let count = 4 + w.random.below(8);
    statements(&mut w, mix, count, 2);
    let values = w.picks(&results).join(", ");
    w.line(&format!("return {values} : {}\n}}", results.join(", ")));
    w.text
}

fn statements(w: &mut ProgramWriter<'_>, mix: &Mix, count: u64, depth: u64) {
    for _ in 0..count {
        let kind = w.random.below(100);
        let nested = mix.loops + mix.conditions;
        if kind < nested && depth > 0 {
            match (kind < mix.loops, w.random.below(4)) {
                (true, 0) if w.random.percent(40) => permute(w),
                (true, 0) => repeat_while(w, mix, depth - 1),
                (true, _) => counted(w, mix, depth - 1),
                (false, 0) if w.random.percent(40) => execute(w, mix, depth - 1),
                (false, 0) => switch(w, mix, depth - 1),
                (false, 1) => conditions(w, mix, depth - 1),
                (false, _) => {
                    let flag = if w.random.percent(50) { w.compute("i1") } else { w.pick("i1") };
                    condition(w, mix, depth - 1, flag);
                }
            }
        } else if kind < nested + mix.memory {
            access(w, mix);
        } else {
            let ty = w.random.pick(&["i32", "i32", "i32", "i8", "i64", "index", "f32", "i1"]);
            w.compute(ty);
        }
    }
}

/// Writes the statements of a region that yields values of types.
fn body(w: &mut ProgramWriter<'_>, mix: &Mix, depth: u64, types: &[&str]) {
    let mark = w.enter();
    let count = 1 + w.random.below(4);
    statements(w, mix, count, depth);
    let values = w.yields(types);
    yielded(w, &values, types);
    w.leave(mark);
}

/// Writes the terminator of a region.
fn yielded(w: &mut ProgramWriter<'_>, values: &[String], types: &[&str]) {
    match types {
        [] => w.line("scf.yield"),
        _ => w.line(&format!("scf.yield {} : {}", values.join(", "), types.join(", "))),
    }
}

/// Writes a counted loop: signed or unsigned, of any integer type, with any bounds.
fn counted(w: &mut ProgramWriter<'_>, mix: &Mix, depth: u64) {
    let ty = w.random.pick(&["index", "index", "i32", "i8"]);
    let unsigned = w.random.percent(20);
    let first = w.random.below(7) as i64 - if unsigned { 0 } else { 3 };
    let step = 1 + w.random.below(4) as i64;
    // Passes treat loops of a known number of iterations, such as none or one, on their own.
    let few = w.random.percent(40);
    let span = match few {
        true => w.random.below(3) as i64 * step - w.random.below(step as u64) as i64,
        false => w.random.below(11) as i64 - 2,
    };
    let last = if unsigned { (first + span).max(0) } else { first + span };
    let mut bounds: Vec<String> = Vec::new();
    for number in [first, last, step] {
        bounds.push(format!("%v{}", w.op(ty, &format!("arith.constant {number} : {ty}"))));
    }
    // Bounds that are not constant, but small.
    for bound in &mut bounds[..2] {
        if !few && w.random.percent(25) {
            let (x, mask) = (w.pick(ty), w.op(ty, &format!("arith.constant 7 : {ty}")));
            *bound = format!("%v{}", w.op(ty, &format!("arith.andi %v{x}, %v{mask} : {ty}")));
        }
    }
    let rotates = w.random.percent(20);
    let types = match w.random.percent(75) {
        true if rotates => vec![w.random.pick(&INTS); 2 + w.random.below(2) as usize],
        true => w.types(3),
        false => Vec::new(),
    };
    let inits = w.picks(&types);
    let names = w.results(&types);
    let mark = w.enter();
    let var = w.value(ty);
    let arguments: Vec<u32> = types.iter().map(|ty| w.value(ty)).collect();
    let carried: Vec<String> = arguments.iter().zip(&inits).map(|(name, init)| format!("%v{name} = {init}")).collect();
    let keyword = if unsigned { "scf.for unsigned" } else { "scf.for" };
    let mut header = format!("{keyword} %v{var} = {} to {} step {}", bounds[0], bounds[1], bounds[2]);
    if !types.is_empty() {
        header += &format!(" iter_args({}) -> ({})", carried.join(", "), types.join(", "));
    }
    if ty != "index" {
        header += &format!(" : {ty}");
    }
    w.line(&(header + " {"));
    if rotates && !types.is_empty() {
        let count = w.random.below(3);
        statements(w, mix, count, depth);
        let values = rearranged(w, &arguments);
        yielded(w, &values, &types);
    } else {
        body(w, mix, depth, &types);
    }
    w.leave(mark);
    w.line("}");
    w.bind_all(&names, &types);
}

/// A `while` loop of which the last carried value, an i32, counts the trips that are left.
struct CountedWhile {
    /// Its results.
    names: Vec<u32>,
    /// The types of the carried values, as text.
    list: String,
    /// The arguments of the first region.
    before: Vec<u32>,
    mark: usize,
}

impl CountedWhile {
    /// Writes the loop up to its first region, with fewer than `trips` trips.
    fn begin(w: &mut ProgramWriter<'_>, types: &[&str], trips: u64) -> CountedWhile {
        let mut inits = w.picks(&types[..types.len() - 1]);
        let trips = w.random.below(trips);
        inits.push(format!("%v{}", w.op("i32", &format!("arith.constant {trips} : i32"))));
        let names = w.results(types);
        let (mark, list) = (w.enter(), types.join(", "));
        let before: Vec<u32> = types.iter().map(|ty| w.value(ty)).collect();
        let carried: Vec<String> = before.iter().zip(&inits).map(|(name, init)| format!("%v{name} = {init}")).collect();
        w.line(&format!("scf.while ({}) : ({list}) -> ({list}) {{", carried.join(", ")));
        CountedWhile { names, list, before, mark }
    }
}

/// Writes a `while` loop with several carried values, the last of which counts down.
fn repeat_while(w: &mut ProgramWriter<'_>, mix: &Mix, depth: u64) {
    let mut types = w.types(3);
    types.push("i32");
    let CountedWhile { names, list, before, mark } = CountedWhile::begin(w, &types, 5);
    let (count, zero) = (before[before.len() - 1], w.op("i32", "arith.constant 0 : i32"));
    let more = w.op("i1", &format!("arith.cmpi sgt, %v{count}, %v{zero} : i32"));
    let mut passed = w.picks(&types[..types.len() - 1]);
    passed.push(format!("%v{count}"));
    w.line(&format!("scf.condition(%v{more}) {} : {list}\n}} do {{", passed.join(", ")));
    w.leave(mark);
    let after: Vec<u32> = types.iter().map(|ty| w.value(ty)).collect();
    let args: Vec<String> = after.iter().zip(&types).map(|(name, ty)| format!("%v{name}: {ty}")).collect();
    w.line(&format!("^bb0({}):", args.join(", ")));
    let one = w.op("i32", "arith.constant 1 : i32");
    let less = w.op("i32", &format!("arith.subi %v{}, %v{one} : i32", after[after.len() - 1]));
    let inner = 1 + w.random.below(3);
    statements(w, mix, inner, depth);
    let mut yielded = w.picks(&types[..types.len() - 1]);
    yielded.push(format!("%v{less}"));
    w.line(&format!("scf.yield {} : {list}\n}}", yielded.join(", ")));
    w.leave(mark);
    w.bind_all(&names, &types);
}

/// Writes a `while` loop whose second region only permutes or repeats its arguments; the first region counts down.
fn permute(w: &mut ProgramWriter<'_>) {
    let ty = w.random.pick(&INTS);
    let mut types = vec![ty; 1 + w.random.below(3) as usize];
    types.push("i32");
    let last = types.len() - 1;
    let CountedWhile { names, list, before, mark } = CountedWhile::begin(w, &types, 4);
    let (one, zero) = (w.op("i32", "arith.constant 1 : i32"), w.op("i32", "arith.constant 0 : i32"));
    let more = w.op("i1", &format!("arith.cmpi sgt, %v{}, %v{zero} : i32", before[last]));
    let less = w.op("i32", &format!("arith.subi %v{}, %v{one} : i32", before[last]));
    let mut passed = rearranged(w, &before[..last]);
    passed.push(format!("%v{less}"));
    w.line(&format!("scf.condition(%v{more}) {} : {list}\n}} do {{", passed.join(", ")));
    w.leave(mark);
    let after: Vec<u32> = types.iter().map(|ty| w.value(ty)).collect();
    let args: Vec<String> = after.iter().zip(&types).map(|(name, ty)| format!("%v{name}: {ty}")).collect();
    w.line(&format!("^bb0({}):", args.join(", ")));
    let mut yielded = rearranged(w, &after[..last]);
    yielded.push(format!("%v{}", after[last]));
    w.line(&format!("scf.yield {} : {list}\n}}", yielded.join(", ")));
    w.leave(mark);
    w.bind_all(&names, &types);
}

/// Returns values as operands: as they are, rotated, or drawn one by one.
pub(super) fn rearranged(w: &mut ProgramWriter<'_>, values: &[u32]) -> Vec<String> {
    let by = w.random.below(values.len() as u64) as usize;
    let draws = w.random.percent(30);
    let at = |w: &mut ProgramWriter<'_>, i: usize| {
        if draws { w.random.pick(values) } else { values[(i + by) % values.len()] }
    };
    (0..values.len()).map(|i| format!("%v{}", at(w, i))).collect()
}

/// Writes several conditions on a flag and on its negation.
fn conditions(w: &mut ProgramWriter<'_>, mix: &Mix, depth: u64) {
    let flag = if w.random.percent(50) { w.compute("i1") } else { w.pick("i1") };
    for _ in 0..2 + w.random.below(3) {
        let flag = if w.random.percent(40) { negated(w, flag) } else { flag };
        condition(w, mix, depth, flag);
        if w.random.percent(20) {
            let ty = w.random.pick(&INTS);
            w.compute(ty);
        }
    }
}

/// Returns the negation of a flag.
pub(super) fn negated(w: &mut ProgramWriter<'_>, flag: u32) -> u32 {
    let ones = w.op("i1", "arith.constant true");
    w.op("i1", &format!("arith.xori %v{flag}, %v{ones} : i1"))
}

fn condition(w: &mut ProgramWriter<'_>, mix: &Mix, depth: u64, flag: u32) {
    let types = if w.random.percent(80) { w.types(2) } else { Vec::new() };
    let names = w.results(&types);
    let arrow = if types.is_empty() { String::new() } else { format!(" -> ({})", types.join(", ")) };
    w.line(&format!("scf.if %v{flag}{arrow} {{"));
    body(w, mix, depth, &types);
    if !types.is_empty() || w.random.percent(60) {
        w.line("} else {");
        body(w, mix, depth, &types);
    }
    w.line("}");
    w.bind_all(&names, &types);
}

/// Writes a region of several blocks, two or three of which yield.
fn execute(w: &mut ProgramWriter<'_>, mix: &Mix, depth: u64) {
    let types = w.types(2);
    let names = w.results(&types);
    w.line(&format!("scf.execute_region -> ({}) {{", types.join(", ")));
    let (mark, count) = (w.enter(), 2 + w.random.below(2));
    for block in 1..count {
        let condition = w.pick("i1");
        let next = block + count;
        w.line(&format!("cf.cond_br %v{condition}, ^bb{block}, ^bb{next}"));
        let inner = w.enter();
        w.line(&format!("^bb{block}:"));
        body(w, mix, depth, &types);
        w.leave(inner);
        w.line(&format!("^bb{next}:"));
    }
    body(w, mix, depth, &types);
    w.leave(mark);
    w.line("}");
    w.bind_all(&names, &types);
}

fn switch(w: &mut ProgramWriter<'_>, mix: &Mix, depth: u64) {
    let types = w.types(2);
    let flag = w.pick("index");
    let names = w.results(&types);
    w.line(&format!("scf.index_switch %v{flag} -> {}", types.join(", ")));
    for case in 0..1 + w.random.below(3) {
        w.line(&format!("case {case} {{"));
        body(w, mix, depth, &types);
        w.line("}");
    }
    w.line("default {");
    body(w, mix, depth, &types);
    w.line("}");
    w.bind_all(&names, &types);
}

/// Writes an allocation, a view, a load or a store. Loads are often repeated.
fn access(w: &mut ProgramWriter<'_>, mix: &Mix) {
    match w.random.below(11) {
        10 => address(w),
        0 => {
            let ty = if w.random.percent(60) { w.random.pick(&SLOTS) } else { BUFFER };
            let op = w.random.pick(&["memref.alloca", "memref.alloc"]);
            let slot = w.op(ty, &format!("{op}() : {ty}"));
            if w.random.percent(90) {
                let value = w.pick("i32");
                let at = place(w, ty);
                w.line(&format!("memref.store %v{value}, %v{slot}[{at}] : {ty}"));
            }
            // Used at once, so that it can often be promoted.
            for _ in 0..w.random.below(5) {
                let at = place(w, ty);
                if w.random.percent(50) {
                    w.op("i32", &format!("memref.load %v{slot}[{at}] : {ty}"));
                } else {
                    let value = w.pick("i32");
                    w.line(&format!("memref.store %v{value}, %v{slot}[{at}] : {ty}"));
                }
            }
        }
        1 => {
            let buffer = w.pick_buffer();
            let (ty, how) = w.random.pick(&[(PART, "[2] [4] [1]"), (SPARSE, "[0] [4] [2]")]);
            w.op(ty, &format!("memref.subview %v{buffer}{how} : {BUFFER} to {ty}"));
        }
        2..6 => {
            let (memory, ty) = target(w);
            let at = place(w, ty);
            let load = format!("memref.load %v{memory}[{at}] : {ty}");
            w.op("i32", &load);
            if w.random.percent(40) {
                if mix.is_called && w.random.percent(30) {
                    call(w);
                } else if w.random.percent(50) {
                    store(w);
                }
                w.op("i32", &load);
            }
        }
        _ if mix.is_called && w.random.percent(20) => call(w),
        _ => store(w),
    }
}

/// Calls the private function.
fn call(w: &mut ProgramWriter<'_>) {
    let buffer = w.pick_buffer();
    let operands = w.picks(&["i32", "index"]).join(", ");
    w.line(&format!("func.call @made0({operands}, %v{buffer}) : (i32, index, {BUFFER}) -> ()"));
}

/// Stores the address of a slot, and often loads it as another name of the slot.
fn address(w: &mut ProgramWriter<'_>) {
    let slots = w.known(SLOTS[0]);
    let slot = match slots.is_empty() {
        true => w.op(SLOTS[0], &format!("memref.alloca() : {}", SLOTS[0])),
        false => w.random.pick(&slots),
    };
    let tables = w.known(TABLE);
    let table = match tables.is_empty() {
        true => w.op(TABLE, &format!("memref.alloc() : {TABLE}")),
        false => w.random.pick(&tables),
    };
    let number = w.random.below(2) as i64;
    let at = w.index(number);
    w.line(&format!("memref.store %v{slot}, %v{table}[%v{at}] : {TABLE}"));
    if w.random.percent(60) {
        w.op(SLOTS[0], &format!("memref.load %v{table}[%v{at}] : {TABLE}"));
    }
}

fn store(w: &mut ProgramWriter<'_>) {
    let (memory, ty) = target(w);
    let value = if w.random.percent(30) { w.compute("i32") } else { w.pick("i32") };
    let at = place(w, ty);
    w.line(&format!("memref.store %v{value}, %v{memory}[{at}] : {ty}"));
}

/// Picks memory in scope.
fn target(w: &mut ProgramWriter<'_>) -> (u32, &'static str) {
    let all = [SLOTS[0], SLOTS[1], SLOTS[2], BUFFER, PART, SPARSE];
    let known: Vec<(u32, &'static str)> = all.iter().flat_map(|ty| w.known(ty).into_iter().map(|v| (v, *ty))).collect();
    if known.is_empty() { (w.pick_buffer(), BUFFER) } else { w.random.pick(&known) }
}

/// Creates the indices of an element of memory of a type, which is in bounds.
fn place(w: &mut ProgramWriter<'_>, ty: &str) -> String {
    match ty {
        "memref<i32>" => String::new(),
        "memref<1xi32>" => format!("%v{}", w.index(0)),
        "memref<1x1xi32>" => {
            let zero = w.index(0);
            format!("%v{zero}, %v{zero}")
        }
        _ => {
            let length = if ty == BUFFER { LENGTH } else { LENGTH / 2 };
            if w.random.percent(70) {
                let n = w.random.below(length.min(4)) as i64;
                return format!("%v{}", w.index(n));
            }
            let (at, mask) = (w.pick("index"), w.index(length as i64 - 1));
            format!("%v{}", w.op("index", &format!("arith.andi %v{at}, %v{mask} : index")))
        }
    }
}

impl ProgramWriter<'_> {
    /// Picks a buffer, or allocates one.
    fn pick_buffer(&mut self) -> u32 {
        let known = self.known(BUFFER);
        if known.is_empty() { self.op(BUFFER, &format!("memref.alloc() : {BUFFER}")) } else { self.random.pick(&known) }
    }
}
