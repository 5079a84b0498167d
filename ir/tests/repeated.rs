//! Scalability: every repeatable element of a text is repeated a hundred thousand times, so quadratic time times out.

use gradus_ir::{Context, Module, ParseOptions, PrintOptions, parse_module, verify};
use std::fmt::Display;

const N: usize = 100_000;

/// Returns `N` comma-separated items.
fn list<T: Display>(item: impl Fn(usize) -> T) -> String {
    (0..N).map(|i| item(i).to_string()).collect::<Vec<_>>().join(", ")
}

/// Parses, verifies, prints and parses again a program of unregistered ops.
fn round_trip(text: String) -> Module {
    let parse = |text: String| {
        let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
        parse_module(&Context::new(&[]), "t", text, options).expect("IR")
    };
    let m = parse(text);
    verify(&m).expect("valid");
    let printed = m.to_text(PrintOptions::default());
    assert_eq!(parse(printed.clone()).to_text(PrintOptions::default()), printed);
    m
}

#[test]
fn keys() {
    let m = round_trip(format!("\"t.a\"() {{{}}} : () -> ()", list(|i| format!("k{i} = {i}"))));
    let op = m.first_op(m.body()).expect("one op");
    assert_eq!(m.ctx.dict_entries(m.attrs(op)).len(), N);
}

#[test]
fn operands_and_results() {
    let types = list(|_| "i32");
    let define = format!("%0:{N} = \"t.def\"() : () -> ({types})\n");
    let m = round_trip(define + &format!("\"t.use\"({}) : ({types}) -> ()", list(|i| format!("%0#{i}"))));
    let last = m.last_op(m.body()).expect("two ops");
    assert_eq!(m.operands(last).len(), N);
}

#[test]
fn groups_of_results() {
    let define = format!("{} = \"t.def\"() : () -> ({})\n", list(|i| format!("%{i}:2")), list(|_| "i32, i32"));
    let m = round_trip(define + &(0..N).map(|i| format!("\"t.use\"(%{i}#1) : (i32) -> ()\n")).collect::<String>());
    let text = m.to_text(PrintOptions::default());
    assert!(text.contains(&format!("%0:{} = ", 2 * N)) && text.contains(&format!("(%0#{})", 2 * N - 1)));
}
