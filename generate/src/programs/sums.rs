//! Sums of one associative op, with repeated and shared operands.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// Associative and commutative ops.
const OPS: [&str; 6] = ["addi", "addi", "muli", "andi", "xori", "maxsi"];

/// Percentage of ops with overflow flags, in programs with flags.
const FLAGS: u64 = 40;

/// Draws several sums over few values: operands are repeated within a sum, and sums have parts in common.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let ty = w.random.pick(&["i32", "i8", "i64", "i1"]);
    let count = 2 + w.random.below(4) as usize;
    let parameters = vec![ty; 2 + w.random.below(3) as usize];
    w.function("func.func @made0", &parameters, &vec![ty; count]);
    let mut operands = w.known(ty);
    if w.random.percent(30) {
        operands.push(w.constant(ty));
    }
    let op = w.random.pick(&OPS);
    let flags = if w.random.percent(25) { FLAGS } else { 0 };
    let sums: Vec<String> = (0..count).map(|_| format!("%v{}", sum(&mut w, op, ty, &operands, flags))).collect();
    w.line(&format!("return {} : {}\n}}", sums.join(", "), vec![ty; count].join(", ")));
    w.text
}

/// Writes one sum, from left to right or of two halves.
fn sum(w: &mut ProgramWriter<'_>, op: &str, ty: &str, operands: &[u32], flags: u64) -> u32 {
    let mut terms: Vec<u32> = (0..2 + w.random.below(4)).map(|_| w.random.pick(operands)).collect();
    while terms.len() > 1 {
        let a = terms.remove(0);
        let b = terms.remove(0);
        let flag = if w.random.percent(flags) { w.overflow(op) } else { "" };
        let made = w.op(ty, &format!("arith.{op} %v{a}, %v{b}{flag} : {ty}"));
        let at = if w.random.percent(70) { 0 } else { terms.len() };
        terms.insert(at, made);
    }
    terms[0]
}
