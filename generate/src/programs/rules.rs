//! Programs with rules of their own, for passes that apply these, and instances of their left sides.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// The ops of a rule before and after `match`, and the ops of its left side on values `X`, `Y` and `Z` of type `T`, each of
/// which a name precedes.
struct Law {
    rule: &'static [&'static str],
    left: &'static [(&'static str, &'static str)],
}

/// Laws of integers. Operands of commutative ops match in any order.
const LAWS: &[Law] = &[
    Law {
        rule: &["%d = op \"arith.subi\"(%x, %y)", "%s = op \"arith.addi\"(%d, %y)", "match %s", "replace %x"],
        left: &[("d", "arith.subi X, Y"), ("s", "arith.addi %d, Y")],
    },
    Law {
        rule: &["%o = op \"arith.ori\"(%x, %y)", "%a = op \"arith.andi\"(%o, %x)", "match %a", "replace %x"],
        left: &[("o", "arith.ori X, Y"), ("a", "arith.andi X, %o")],
    },
    Law {
        rule: &[
            "%p = op \"arith.muli\"(%x, %z)",
            "%q = op \"arith.muli\"(%y, %z)",
            "%s = op \"arith.addi\"(%p, %q)",
            "match %s",
            "%t = op \"arith.addi\"(%x, %y)",
            "%r = op \"arith.muli\"(%t, %z)",
            "replace %r",
        ],
        left: &[("p", "arith.muli X, Z"), ("q", "arith.muli Z, Y"), ("s", "arith.addi %p, %q")],
    },
    Law {
        rule: &[
            "%a = op \"arith.andi\"(%x, %y)",
            "%o = op \"arith.ori\"(%x, %y)",
            "match %a, %o",
            "%e = op \"arith.xori\"(%x, %y)",
            "%r = op \"arith.xori\"(%a, %e)",
            "replace %a, %r",
        ],
        left: &[("a", "arith.andi X, Y"), ("o", "arith.ori Y, X")],
    },
    Law {
        rule: &[
            "%c = constant",
            "%q = op \"arith.divui\"(%x, %c)",
            "match %q",
            "%e = compute \"log2\"(%c)",
            "%n = constant(%e)",
            "%r = op \"arith.shrui\"(%x, %n)",
            "replace %r",
        ],
        left: &[("c", "arith.constant 16"), ("q", "arith.divui X, %c")],
    },
];

/// Percentage of operands that are other values than the left side has.
const MISSES: u64 = 10;

/// Draws one to three rules, and a function with instances of their left sides, some of which miss by an operand.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let laws: Vec<&Law> =
        (0..1 + w.random.below(3)).map(|_| &LAWS[w.random.below(LAWS.len() as u64) as usize]).collect();
    for (i, law) in laws.iter().enumerate() {
        w.line(&format!("rewrite.rule @law{i} {{"));
        for name in ["x", "y", "z"] {
            if law.rule.iter().any(|op| op.contains(&format!("(%{name}")) || op.contains(&format!(", %{name}"))) {
                w.line(&format!("%{name} = value"));
            }
        }
        law.rule.iter().for_each(|op| w.line(op));
        w.line("}");
    }
    let ty = w.random.pick(&["i8", "i32", "i64", "index"]);
    let count = 2 + w.random.below(3) as usize;
    w.function("func.func @made0", &[ty; 3], &vec![ty; count]);
    for _ in 0..count {
        let law = w.random.pick(&laws);
        instance(&mut w, law, ty);
    }
    let results = w.yields(&vec![ty; count]);
    w.line(&format!("return {} : {}\n}}", results.join(", "), vec![ty; count].join(", ")));
    w.text
}

/// Writes the ops of a left side.
fn instance(w: &mut ProgramWriter<'_>, law: &Law, ty: &str) {
    let values: Vec<String> = (0..3).map(|_| format!("%v{}", w.pick(ty))).collect();
    let mut names: Vec<(&str, u32)> = Vec::new();
    for (name, op) in law.left {
        let mut text = (*op).to_owned();
        for (letter, value) in ["X", "Y", "Z"].iter().zip(&values) {
            let value = if w.random.percent(MISSES) { format!("%v{}", w.pick(ty)) } else { value.clone() };
            text = text.replace(letter, &value);
        }
        for (name, value) in &names {
            text = text.replace(&format!("%{name}"), &format!("%v{value}"));
        }
        names.push((name, w.op(ty, &format!("{text} : {ty}"))));
    }
}
