//! Calls of private functions with several results, some with several blocks and returns.

use super::blocks::graph;
use super::writer::Writer;
use gradus_ir::random::Random;

pub(super) fn draw(random: &mut Random) -> String {
    let mut w = Writer::new(random);
    let count = 1 + w.random.below(3) as usize;
    let mut callees: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for number in 0..count {
        let (parameters, results) = (w.types(3), w.types(3));
        let visibility = if w.random.percent(75) { "private " } else { "" };
        let header = format!("func.func {visibility}@made{number}");
        if w.random.percent(40) {
            let parameters = [&parameters[..], &["i1", "i32"]].concat();
            graph(&mut w, &header, &parameters, &results, false);
            callees.push((parameters, results));
            continue;
        }
        w.function(&header, &parameters, &results);
        calls(&mut w, &callees);
        end(&mut w, &results);
        callees.push((parameters, results));
    }
    let results = w.types(4);
    w.function(&format!("func.func @made{count}"), &["i32", "i32", "i1", "i8"], &results);
    calls(&mut w, &callees);
    calls(&mut w, &callees);
    end(&mut w, &results);
    w.text
}

/// Writes computations and calls of earlier functions; the results of a call are used.
fn calls(w: &mut Writer<'_>, callees: &[(Vec<&str>, Vec<&str>)]) {
    for _ in 0..1 + w.random.below(4) {
        if callees.is_empty() || w.random.percent(50) {
            let ty = w.random.pick(&["i32", "i8", "i1", "index"]);
            w.compute(ty);
            continue;
        }
        let number = w.random.below(callees.len() as u64) as usize;
        let (parameters, results) = &callees[number];
        let operands = w.picks(parameters).join(", ");
        let names = w.results(results);
        w.line(&format!(
            "func.call @made{number}({operands}) : ({}) -> ({})",
            parameters.join(", "),
            results.join(", ")
        ));
        w.bind_all(&names, results);
    }
}

fn end(w: &mut Writer<'_>, results: &[&str]) {
    let values = w.picks(results).join(", ");
    w.line(&format!("return {values} : {}\n}}", results.join(", ")));
}
