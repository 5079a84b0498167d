//! The comments of `--mlir-print-value-users`, in mlir-opt's form.

use super::number::push_number;
use super::printer::Printer;
use crate::module::{Block, Op, Value};

/// Prints ` // users: %1, %2` after an op with results, and ` // id: %3`, the number that identifies it as a user,
/// after one without.
pub(crate) fn of_op(p: &mut Printer<'_>, op: Op) {
    let m = p.m;
    let n = m.num_results(op);
    if n == 0 && !m.operands(op).is_empty() {
        p.out.push_str(" // id: ");
        return op_id(p, op);
    }
    let all: Vec<Op> = m.results(op).flat_map(|v| users(p, v)).collect();
    match &all[..] {
        _ if n == 0 => return,
        [] => return p.out.push_str(" // unused"),
        [only] if n == 1 && m.num_results(*only) <= 1 => {
            p.out.push_str(" // user: ");
        }
        _ => p.out.push_str(" // users: "),
    }
    for (i, value) in m.results(op).enumerate() {
        p.comma(i);
        p.out.push_str(if n > 1 { "(" } else { "" });
        list(p, value);
        p.out.push_str(if n > 1 { ")" } else { "" });
    }
}

/// Prints `// %arg0 is used by %1`, one line per block argument.
pub(crate) fn of_args(p: &mut Printer<'_>, block: Block) {
    for &arg in p.m.block_args(block) {
        p.newline();
        p.out.push_str("// ");
        p.value(arg);
        if p.m.is_unused(arg) {
            p.out.push_str(" is unused");
        } else {
            p.out.push_str(" is used by ");
            list(p, arg);
        }
    }
}

/// Returns the users of a value, without duplicates.
fn users(p: &Printer<'_>, value: Value) -> Vec<Op> {
    let mut seen = rustc_hash::FxHashSet::default();
    p.m.uses(value).map(|(op, _)| op).filter(|&op| seen.insert(op)).collect()
}

fn list(p: &mut Printer<'_>, value: Value) {
    let users = users(p, value);
    if users.is_empty() {
        p.out.push_str("unused");
    }
    for (i, user) in users.into_iter().enumerate() {
        p.comma(i);
        if p.m.num_results(user) == 0 {
            op_id(p, user);
        }
        for (i, result) in p.m.results(user).enumerate() {
            p.comma(i);
            p.value(result);
        }
    }
}

fn op_id(p: &mut Printer<'_>, op: Op) {
    p.out.push('%');
    push_number(p.numbers.op_number(op), &mut p.out);
}
