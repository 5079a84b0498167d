//! The integer ops of `arith` against tables of another program, `data/arith.py`: all operands of `i4` and `i8`.

use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, Trap};
use gradus::ir::{ParseOptions, parse_module, verify};

/// Lines of a statement, its result type, the results for `i4`, and the hash of those for `i8`.
const TABLE: &str = include_str!("data/arith.txt");

/// Returns the results for all operands of a width, comma-separated, in the spelling of the table.
fn results(statement: &str, result: &str, width: u32) -> String {
    let ctx = Tool::gradus().context();
    let ty = format!("i{width}");
    let with_type = |text: &str| {
        text.split_whitespace().map(|word| if word == "T" { &ty } else { word }).collect::<Vec<_>>().join(" ")
    };
    let body: Vec<String> = statement.split("\\n").map(|line| with_type(&line.replace("T,", "T ,"))).collect();
    let (body, result) = (body.join("\n"), with_type(result));
    let text = format!("func.func @f(%a: {ty}, %b: {ty}) -> {result} {{\n{body}\nreturn %r : {result}\n}}\n");
    let m = parse_module(&ctx, statement, text, ParseOptions::default()).unwrap_or_else(|e| panic!("{body}: {e:?}"));
    verify(&m).unwrap_or_else(|e| panic!("{body}: {e:?}"));
    let mut interpreter = Interpreter::new(&m);
    let function = interpreter.function("f").expect("is there");
    let end = 1i64 << (width - 1);
    let others = if statement.contains("%b") { -end..end } else { 0..1 };
    let mut all = Vec::new();
    for a in -end..end {
        for b in others.clone() {
            let called = interpreter.call(function, vec![Datum::Int(a), Datum::Int(b)]);
            all.push(match called.map(|values| values.into_iter().next()) {
                Ok(Some(Datum::Int(value))) => value.to_string(),
                Ok(Some(Datum::Poison)) => "P".to_owned(),
                Err(stop) if matches!(stop.trap, Trap::Ub(_)) => "U".to_owned(),
                other => panic!("{body} of {a}, {b}: {other:?}"),
            });
        }
    }
    all.join(",")
}

/// The 64-bit FNV-1a hash.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

#[test]
fn integers_are_as_in_the_tables() {
    let mut wrong = Vec::new();
    for line in TABLE.lines() {
        let parts: Vec<&str> = line.split(" ; ").collect();
        let &[statement, result, narrow, wide] = &parts[..] else { panic!("four parts: {line}") };
        let have = results(statement, result, 4);
        if have != narrow {
            let at = have.split(',').zip(narrow.split(',')).position(|(a, b)| a != b);
            wrong.push(format!("{statement}, i4, at {at:?}"));
        } else if format!("{:016x}", fnv(&results(statement, result, 8))) != wide {
            wrong.push(format!("{statement}, i8"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The ops that the tables have.
pub fn ops() -> impl Iterator<Item = &'static str> {
    TABLE
        .lines()
        .flat_map(|line| line.split(" ; ").next().unwrap_or("").split_whitespace())
        .filter(|word| word.starts_with("arith."))
}
