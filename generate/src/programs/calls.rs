//! Calls of private functions with several results, some with several blocks and returns; calls in regions.

use super::blocks::graph;
use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// A function that later ones call.
struct Callee {
    parameters: Vec<&'static str>,
    results: Vec<&'static str>,
}

pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let count = 1 + w.random.below(3) as usize;
    let mut callees: Vec<Callee> = Vec::new();
    for number in 0..count {
        let (mut parameters, results) = (w.types(3), w.types(3));
        let visibility = if w.random.percent(75) { "private " } else { "" };
        let header = format!("func.func {visibility}@made{number}");
        if w.random.percent(40) {
            parameters.extend(["i1", "i32"]);
            let sometimes = |w: &mut ProgramWriter<'_>| {
                if w.random.percent(30) {
                    statement(w, &callees, 0);
                }
            };
            graph(&mut w, &header, (&parameters, &results), false, &sometimes);
        } else {
            w.function(&header, &parameters, &results);
            statements(&mut w, &callees, 1);
            end(&mut w, &results);
        }
        callees.push(Callee { parameters, results });
    }
    let results = w.types(4);
    w.function(&format!("func.func @made{count}"), &["i32", "i32", "i1", "i8"], &results);
    statements(&mut w, &callees, 2);
    statements(&mut w, &callees, 2);
    end(&mut w, &results);
    w.text
}

fn statements(w: &mut ProgramWriter<'_>, callees: &[Callee], depth: u64) {
    for _ in 0..1 + w.random.below(4) {
        statement(w, callees, depth);
    }
}

/// Writes a computation, a region, or a call of an earlier function.
fn statement(w: &mut ProgramWriter<'_>, callees: &[Callee], depth: u64) {
    if depth > 0 && w.random.percent(25) {
        return region(w, callees, depth - 1);
    }
    if callees.is_empty() || w.random.percent(40) {
        let ty = w.random.pick(&["i32", "i8", "i1", "index"]);
        w.compute(ty);
        return;
    }
    let number = w.random.below(callees.len() as u64) as usize;
    let Callee { parameters, results } = &callees[number];
    let operands = if w.random.percent(25) { w.constants(parameters) } else { w.yields(parameters) }.join(", ");
    let ty = format!("({}) -> ({})", parameters.join(", "), results.join(", "));
    // A function whose address is taken has unknown callers.
    let address = w.random.percent(15).then(|| w.op("function", &format!("func.constant @made{number} : {ty}")));
    let names = w.results(results);
    let callee = address.map_or_else(|| format!("func.call @made{number}"), |at| format!("func.call_indirect %v{at}"));
    w.line(&format!("{callee}({operands}) : {ty}"));
    w.bind_all(&names, results);
}

/// Writes a condition or a loop of a few iterations around statements.
fn region(w: &mut ProgramWriter<'_>, callees: &[Callee], depth: u64) {
    let types = w.types(2);
    let list = types.join(", ");
    if w.random.percent(60) {
        let condition = w.pick("i1");
        let names = w.results(&types);
        w.line(&format!("scf.if %v{condition} -> ({list}) {{"));
        yielding(w, callees, depth, &types);
        w.line("} else {");
        yielding(w, callees, depth, &types);
        w.line("}");
        return w.bind_all(&names, &types);
    }
    let (zero, one, trips) = (w.index(0), w.index(1), w.random.below(4) as i64);
    let end = match w.random.percent(40) {
        true => {
            // A number that may be known at first and not later: an argument, or a value that an outer loop carries.
            let (some, mask) = (w.pick("index"), w.index(3));
            w.op("index", &format!("arith.andi %v{some}, %v{mask} : index"))
        }
        false => w.index(trips),
    };
    let inits = w.picks(&types);
    let names = w.results(&types);
    let (mark, counter) = (w.enter(), w.value("index"));
    let carried: Vec<String> =
        types.iter().zip(&inits).map(|(ty, init)| format!("%v{} = {init}", w.value(ty))).collect();
    let carried = carried.join(", ");
    w.line(&format!("scf.for %v{counter} = %v{zero} to %v{end} step %v{one} iter_args({carried}) -> ({list}) {{"));
    yielding(w, callees, depth, &types);
    w.leave(mark);
    w.line("}");
    w.bind_all(&names, &types);
}

/// Writes the statements of a region that yields values of types.
fn yielding(w: &mut ProgramWriter<'_>, callees: &[Callee], depth: u64, types: &[&str]) {
    let mark = w.enter();
    statements(w, callees, depth);
    let values = w.yields(types).join(", ");
    w.line(&format!("scf.yield {values} : {}", types.join(", ")));
    w.leave(mark);
}

fn end(w: &mut ProgramWriter<'_>, results: &[&str]) {
    let values = w.yields(results).join(", ");
    w.line(&format!("return {values} : {}\n}}", results.join(", ")));
}
