//! Affine programs: nests with constant bounds of few iterations, bounds that depend on outer loops and symbols, sets, and
//! accesses that overlap between iterations.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// Buffers of which each iteration of a parallel loop stores an element of its own, by number of dimensions.
const CELLS: [&str; 2] = ["memref<12xi32>", "memref<12x12xi32>"];
const CELL_EXTENT: i64 = 12;

/// Reductions of parallel loops, with their types.
const REDUCTIONS: [(&str, &[&str]); 8] = [
    ("addi", &["i32", "i32", "i8", "i64"]),
    ("muli", &["i32", "i8"]),
    ("andi", &["i32", "i8"]),
    ("ori", &["i32", "i64"]),
    ("addf", &["f32"]),
    ("mulf", &["f32"]),
    ("maximumf", &["f32"]),
    ("minimumf", &["f32"]),
];

/// Types of buffers, with their extents.
const BUFFERS: [(&str, &[i64]); 2] = [("memref<8xi32>", &[8]), ("memref<5x6xi32>", &[5, 6])];

/// Types of the parameters of the private function.
const CALLEE: [&str; 4] = ["index", "i32", BUFFERS[0].0, BUFFERS[1].0];

/// The values of affine expressions in scope.
#[derive(Clone)]
struct AffineScope {
    /// Induction variables, outermost first.
    dims: Vec<u32>,
    symbols: Vec<u32>,
    /// Whether a private function may be called.
    is_called: bool,
    /// Whether the statements are in a parallel loop, where they store nothing that another iteration reads or stores.
    is_parallel: bool,
}

pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let is_called = w.random.percent(40);
    if is_called {
        callee(&mut w);
    }
    let results = w.types(3);
    let [first, second] = BUFFERS.map(|buffer| buffer.0);
    let parameters = ["index", "index", "i32", "f32", "i1", first, first, second, CELLS[0], CELLS[1]];
    w.function(&format!("func.func @made{}", u8::from(is_called)), &parameters, &results);
    let mut names = AffineScope { dims: Vec::new(), symbols: w.known("index"), is_called, is_parallel: false };
    for _ in 0..1 + w.random.below(3) {
        match w.random.below(10) {
            0 | 1 => nest(&mut w, &mut names),
            2 => stencil(&mut w),
            3..5 => parallel(&mut w, &mut names, 1),
            _ => statements(&mut w, &mut names, 2),
        }
    }
    let values = w.picks(&results).join(", ");
    w.line(&format!("return {values} : {}\n}}", results.join(", ")));
    w.text
}

/// Writes a private function that uses its index as a symbol, which its callers may not.
fn callee(w: &mut ProgramWriter<'_>) {
    w.function("func.func private @made0", &CALLEE, &["i32"]);
    let mut names = AffineScope { dims: Vec::new(), symbols: w.known("index"), is_called: false, is_parallel: false };
    statements(w, &mut names, 1);
    access(w, &names);
    let value = w.pick("i32");
    w.line(&format!("return %v{value} : i32\n}}"));
}

/// Calls the private function.
fn call(w: &mut ProgramWriter<'_>) {
    let (operands, types) = (w.picks(&CALLEE).join(", "), CALLEE.join(", "));
    w.op("i32", &format!("func.call @made0({operands}) : ({types}) -> i32"));
}

/// Writes a perfect nest without carried values.
fn nest(w: &mut ProgramWriter<'_>, names: &mut AffineScope) {
    let (mark, depth) = (w.enter(), 1 + w.random.below(3));
    for _ in 0..depth {
        let (header, dim) = header(w, names);
        w.line(&format!("affine.for {header} {{"));
        w.bind(dim, "index");
        names.dims.push(dim);
    }
    for _ in 0..2 + w.random.below(4) {
        access(w, names);
    }
    for _ in 0..depth {
        w.line("}");
        names.dims.pop();
    }
    w.leave(mark);
}

/// Writes a perfect nest that sums neighbours in place: its dependences have small distances, of any signs, in each loop.
fn stencil(w: &mut ProgramWriter<'_>) {
    let rank = w.random.pick(&[1, 2, 2, 2]);
    let (mark, ty) = (w.enter(), CELLS[rank - 1]);
    let memory = w.known(ty)[0];
    let mut dims = Vec::new();
    for _ in 0..rank {
        let (dim, first, last) = (w.name(), 1 + w.random.below(3), CELL_EXTENT as u64 - 1 - w.random.below(5));
        w.line(&format!("affine.for %v{dim} = {first} to {last} {{"));
        w.bind(dim, "index");
        dims.push(dim);
    }
    // Columns of the transposed loops, sometimes.
    if w.random.percent(25) {
        dims.reverse();
    }
    let near = |w: &mut ProgramWriter<'_>| {
        let places: Vec<String> =
            dims.iter().map(|dim| format!("%v{dim} + {}", w.random.below(3) as i64 - 1)).collect();
        places.join(", ")
    };
    let mut sum = w.compute("i32");
    for _ in 0..1 + w.random.below(2) {
        let place = near(w);
        let value = w.op("i32", &format!("affine.load %v{memory}[{place}] : {ty}"));
        sum = w.op("i32", &format!("arith.addi %v{sum}, %v{value} : i32"));
    }
    let place = near(w);
    w.line(&format!("affine.store %v{sum}, %v{memory}[{place}] : {ty}"));
    for _ in 0..rank {
        w.line("}");
    }
    w.leave(mark);
}

fn statements(w: &mut ProgramWriter<'_>, names: &mut AffineScope, depth: u64) {
    for _ in 0..1 + w.random.below(4) {
        match w.random.below(10) {
            0..2 if depth > 0 => carried_loop(w, names, depth - 1),
            2 if depth > 0 => parallel(w, names, depth - 1),
            3 if depth > 0 => condition(w, names, depth - 1),
            0..5 => access(w, names),
            5 if names.is_called && !names.is_parallel => call(w),
            6 | 7 => index(w, names),
            _ => {
                let ty = w.random.pick(&["i32", "i32", "i8", "i1", "index"]);
                w.compute(ty);
            }
        }
    }
}

/// Draws the induction variable, bounds and step of a loop. Returns them as text, and the variable.
fn header(w: &mut ProgramWriter<'_>, names: &AffineScope) -> (String, u32) {
    let dim = w.name();
    let (first, step) = (w.random.below(6) as i64 - 2, 1 + w.random.below(3) as i64);
    // None, one or two iterations, or more, often with a remainder.
    let trips = if w.random.percent(50) { w.random.below(3) } else { w.random.below(6) } as i64;
    let last = first + trips * step - w.random.below(step as u64) as i64;
    let varies = w.random.percent(30);
    let lower = if varies { bound(w, names, "max", first) } else { first.to_string() };
    let upper = if varies { bound(w, names, "min", last) } else { last.to_string() };
    let step = if step == 1 { String::new() } else { format!(" step {step}") };
    (format!("%v{dim} = {lower} to {upper}{step}"), dim)
}

/// Draws a bound near `number`: of an outer loop, a symbol, or the larger or smaller of both.
fn bound(w: &mut ProgramWriter<'_>, names: &AffineScope, several: &str, number: i64) -> String {
    let outer = names.dims.last().copied();
    let symbol = w.random.pick(&names.symbols);
    let mut exprs = vec![w.random.pick(&["s0 mod 5", "s0 mod 3 + 1", "(s0 floordiv 2) mod 4"]).to_owned()];
    if outer.is_some() {
        let shift = w.random.below(5) as i64 - 1;
        exprs[0] =
            w.random.pick(&["d0", "d0 floordiv 2", "d0 * 2", "-d0", "d0 mod 3"]).to_owned() + &format!(" + {shift}");
    }
    let (dims, operands) = outer.map_or(("", String::new()), |outer| ("d0", format!("%v{outer}")));
    if w.random.percent(40) {
        exprs.push(number.to_string());
    }
    let keyword = if exprs.len() > 1 { several } else { "" };
    format!("{keyword} affine_map<({dims})[s0] -> ({})>({operands})[%v{symbol}]", exprs.join(", "))
}

/// Writes a loop with carried values.
fn carried_loop(w: &mut ProgramWriter<'_>, names: &mut AffineScope, depth: u64) {
    let types = if w.random.percent(85) { w.types(2) } else { Vec::new() };
    let inits = w.picks(&types);
    let (header, dim) = header(w, names);
    let results = w.results(&types);
    let mark = w.enter();
    w.bind(dim, "index");
    let carried: Vec<String> =
        types.iter().zip(&inits).map(|(ty, init)| format!("%v{} = {init}", w.value(ty))).collect();
    let carried = match types.is_empty() {
        true => String::new(),
        false => format!(" iter_args({}) -> ({})", carried.join(", "), types.join(", ")),
    };
    w.line(&format!("affine.for {header}{carried} {{"));
    names.dims.push(dim);
    body(w, names, depth, &types);
    names.dims.pop();
    w.leave(mark);
    w.line("}");
    w.bind_all(&results, &types);
}

/// Writes a parallel loop of one to three dimensions, with the larger or smaller of several bounds, and reductions.
fn parallel(w: &mut ProgramWriter<'_>, names: &mut AffineScope, depth: u64) {
    let rank = w.random.pick(&[1, 1, 2, 2, 2, 3]);
    let (mut dims, mut lists): (Vec<u32>, [Vec<String>; 3]) = Default::default();
    for _ in 0..rank {
        let (first, step, trips) = (w.random.below(4) as i64, 1 + w.random.below(3) as i64, w.random.below(5) as i64);
        let last = first + trips * step - w.random.below(step as u64) as i64;
        dims.push(w.name());
        lists[0].push(extreme(w, names, "max", first));
        lists[1].push(extreme(w, names, "min", last.min(CELL_EXTENT)));
        lists[2].push(step.to_string());
    }
    let kinds: Vec<(&str, &str)> = (0..w.random.below(4))
        .map(|_| {
            let (kind, types) = w.random.pick(&REDUCTIONS);
            (kind, w.random.pick(types))
        })
        .collect();
    let types: Vec<&str> = kinds.iter().map(|kind| kind.1).collect();
    let words: Vec<String> = kinds.iter().map(|kind| format!("\"{}\"", kind.0)).collect();
    let results = w.results(&types);
    let reduced = match types.is_empty() {
        true => String::new(),
        false => format!(" reduce ({}) -> ({})", words.join(", "), types.join(", ")),
    };
    let variables: Vec<String> = dims.iter().map(|dim| format!("%v{dim}")).collect();
    let (variables, [first, last, step]) = (variables.join(", "), lists.map(|list| list.join(", ")));
    w.line(&format!("affine.parallel ({variables}) = ({first}) to ({last}) step ({step}){reduced} {{"));
    let (mark, outer) = (w.enter(), names.clone());
    dims.iter().for_each(|&dim| w.bind(dim, "index"));
    names.dims.extend(&dims);
    // Iterations of a loop around this one would store the same elements.
    if !outer.is_parallel && rank <= CELLS.len() && w.random.percent(60) {
        let (value, cells) = (w.compute("i32"), CELLS[rank - 1]);
        let memory = w.known(cells).first().copied();
        memory
            .into_iter()
            .for_each(|memory| w.line(&format!("affine.store %v{value}, %v{memory}[{variables}] : {cells}")));
    }
    names.is_parallel = true;
    body(w, names, depth, &types);
    *names = outer;
    w.leave(mark);
    w.line("}");
    w.bind_all(&results, &types);
}

/// Draws a bound of a parallel loop: `number`, or the larger or smaller of it and one or two others.
fn extreme(w: &mut ProgramWriter<'_>, names: &AffineScope, several: &str, number: i64) -> String {
    let mut exprs = vec![number.to_string()];
    for _ in 0..w.random.pick(&[0, 0, 1, 1, 2]) {
        let shift = w.random.below(6) as i64 - 1;
        let other = match names.dims.last() {
            Some(outer) if w.random.percent(50) => {
                format!("%v{outer}{} + {shift}", w.random.pick(&["", " floordiv 2", " * 2"]))
            }
            _ => format!("symbol(%v{}) mod {} + {shift}", w.random.pick(&names.symbols), 2 + w.random.below(4)),
        };
        let at = w.random.below(exprs.len() as u64 + 1) as usize;
        exprs.insert(at, other);
    }
    if exprs.len() == 1 { exprs.remove(0) } else { format!("{several}({})", exprs.join(", ")) }
}

/// Writes the statements of a region that yields values of types.
fn body(w: &mut ProgramWriter<'_>, names: &mut AffineScope, depth: u64, types: &[&str]) {
    let mark = w.enter();
    statements(w, names, depth);
    let values = w.yields(types).join(", ");
    match types {
        [] => w.line("affine.yield"),
        _ => w.line(&format!("affine.yield {values} : {}", types.join(", "))),
    }
    w.leave(mark);
}

/// Writes a condition by a set of up to three constraints.
fn condition(w: &mut ProgramWriter<'_>, names: &mut AffineScope, depth: u64) {
    let types = if w.random.percent(80) { w.types(2) } else { Vec::new() };
    let symbol = w.random.pick(&names.symbols);
    let outer = names.dims.last().copied();
    let mut constraints = Vec::new();
    for _ in 0..1 + w.random.below(3) {
        let term = match (outer, w.random.percent(60)) {
            (Some(_), true) => w.random.pick(&["d0", "-d0", "d0 * 2", "d0 mod 2", "d0 floordiv 2"]),
            _ => w.random.pick(&["s0 mod 3", "s0 mod 2", "s0", "s0 floordiv 4"]),
        };
        let (number, relation) = (w.random.below(5) as i64 - 2, w.random.pick(&[">=", ">=", "=="]));
        constraints.push(format!("{term} + {number} {relation} 0"));
    }
    let (dims, operands) = outer.map_or(("", String::new()), |outer| ("d0", format!("%v{outer}")));
    let arrow = if types.is_empty() { String::new() } else { format!(" -> ({})", types.join(", ")) };
    let results = w.results(&types);
    let set = constraints.join(", ");
    w.line(&format!("affine.if affine_set<({dims})[s0] : ({set})>({operands})[%v{symbol}]{arrow} {{"));
    body(w, names, depth, &types);
    w.line("} else {");
    body(w, names, depth, &types);
    w.line("}");
    w.bind_all(&results, &types);
}

/// Draws a linear expression of induction variables and symbols.
fn expression(w: &mut ProgramWriter<'_>, names: &AffineScope) -> String {
    let mut terms: Vec<String> = Vec::new();
    for &dim in &names.dims {
        if w.random.percent(60) {
            let factor = w.random.pick(&["", "", " * 2", " * -1", " floordiv 2"]);
            terms.push(format!("%v{dim}{factor}"));
        }
    }
    if w.random.percent(20) {
        terms.push(format!("symbol(%v{})", w.random.pick(&names.symbols)));
    }
    terms.push((w.random.below(5) as i64 - 1).to_string());
    terms.join(" + ")
}

/// Writes a load, or a store of a computed or loaded value.
fn access(w: &mut ProgramWriter<'_>, names: &AffineScope) {
    let (ty, extents) = w.random.pick(&BUFFERS);
    let known = w.known(ty);
    let memory = w.random.pick(&known);
    let place: Vec<String> = extents.iter().map(|extent| format!("({}) mod {extent}", expression(w, names))).collect();
    let place = place.join(", ");
    if names.is_parallel || w.random.percent(50) {
        w.op("i32", &format!("affine.load %v{memory}[{place}] : {ty}"));
        return;
    }
    let value = if w.random.percent(50) { w.compute("i32") } else { w.pick("i32") };
    w.line(&format!("affine.store %v{value}, %v{memory}[{place}] : {ty}"));
}

/// Writes an index computed by a map.
fn index(w: &mut ProgramWriter<'_>, names: &AffineScope) {
    let symbol = w.random.pick(&names.symbols);
    let exprs = ["d0 floordiv 3 + s0", "d0 ceildiv 2", "d0 mod 4 - s0", "(d0 + s0) * 2", "-d0 + 5"];
    let (first, second) = (w.random.pick(&exprs), w.random.pick(&exprs));
    let (op, results) = match w.random.below(3) {
        0 => ("affine.min", format!("{first}, {second}")),
        1 => ("affine.max", format!("{first}, {second}")),
        _ => ("affine.apply", first.to_owned()),
    };
    // Outside of loops, the operands are symbols too.
    let operand = names.dims.last().copied().unwrap_or(symbol);
    w.op("index", &format!("{op} affine_map<(d0)[s0] -> ({results})>(%v{operand})[%v{symbol}]"));
}
