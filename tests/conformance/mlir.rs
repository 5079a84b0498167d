//! MLIR's own tests, compared with the output of mlir-opt.

use super::corpus::{Corpus, all_good, in_parallel};
use gradus::ir::{Context, Diagnostic, Module, ParseOptions, PrintOptions, parse_module, verify};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

static CORPUS: LazyLock<Corpus> = LazyLock::new(|| Corpus::open("mlir-dev"));

/// Dialects whose custom forms equal mlir-opt's.
const CUSTOM_FORMS: [&str; 11] =
    ["affine", "arith", "builtin", "cf", "func", "math", "memref", "scf", "tensor", "ub", "vector"];

/// The folders of MLIR's tests of its IR and of these dialects.
const OUR_TESTS: [&str; 9] = [
    "IR/",
    "Dialect/Affine/",
    "Dialect/Arith/",
    "Dialect/Builtin/",
    "Dialect/ControlFlow/",
    "Dialect/Func/",
    "Dialect/MemRef/",
    "Dialect/SCF/",
    "Dialect/Tensor/",
];

struct Case {
    id: &'static str,
    source: &'static str,
    dialects: Vec<&'static str>,
}

/// Returns the cases of a kind, `valid` or `invalid`.
fn cases(kind: &str) -> Vec<Case> {
    let rows = CORPUS.index().into_iter().filter(|r| r[1] == kind);
    rows.map(|r| Case { id: r[0], source: r[3], dialects: r[7].split(',').collect() }).collect()
}

/// Parses and verifies a text.
fn read(ctx: &Arc<Context>, text: &str) -> Result<Module, Vec<Diagnostic>> {
    let m = parse_module(
        ctx,
        "case",
        text.to_owned(),
        ParseOptions { allow_unregistered: true, ..ParseOptions::default() },
    )?;
    verify(&m)?;
    Ok(m)
}

/// Whether a text, printed in generic form, is `generic/ID.mlir`.
fn gives_generic(id: &str, text: &str) -> Result<(), String> {
    let ctx = gradus::machines::context();
    let run = || read(&ctx, text).map(|m| m.to_text(PrintOptions { generic: true, ..PrintOptions::default() }));
    let have = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(text)) => text,
        Ok(Err(d)) => return Err(format!("{id}: {}", d[0].render(&ctx).lines().next().unwrap_or(""))),
        Err(_) => return Err(format!("{id}: panics")),
    };
    let want = CORPUS.text(&format!("generic/{id}.mlir")).trim();
    let lines = have.trim().lines().zip(want.lines()).enumerate();
    match lines.clone().find(|(_, (a, b))| a != b) {
        _ if have.trim() == want => Ok(()),
        Some((i, (a, b))) => Err(format!("{id}: line {}:\n  have {a}\n  want {b}", i + 1)),
        None => Err(format!("{id}: the lengths differ")),
    }
}

/// Checks `FOLDER/ID.mlir` of all cases, of which there must be `count`.
fn check(what: &str, folder: &str, cases: &[Case], count: usize) {
    assert!(cases.len() >= count, "cases are missing: {} of {count}", cases.len());
    let run = |c: &Case| gives_generic(c.id, CORPUS.text(&format!("{folder}/{}.mlir", c.id)));
    let failures: Vec<String> = in_parallel(cases, run).into_iter().filter_map(Result::err).collect();
    all_good(what, cases.len(), &failures);
}

#[test]
fn the_generic_form_is_a_fixpoint() {
    check("programs do not come out as they went in", "generic", &cases("valid"), 3244);
}

#[test]
fn custom_forms_are_those_of_mlir_opt() {
    let ours = |c: &Case| c.dialects.iter().all(|d| CUSTOM_FORMS.contains(d));
    let cases: Vec<Case> = cases("valid").into_iter().filter(ours).collect();
    check("custom forms are read differently", "pretty", &cases, 1221);
}

/// Returns the line of the first error in mlir-opt's words: `LINE:COL: error: ...`.
fn line_of_mlir_opt(id: &str) -> Option<u32> {
    CORPUS.text(&format!("invalid/{id}.err")).split(':').next()?.trim().parse().ok()
}

/// Returns the line of the first error of Gradus, if it has one.
fn our_line(text: &str) -> Option<u32> {
    let ctx = gradus::machines::context();
    let (file, offset) = read(&ctx, text).err()?.first()?.loc.as_source()?;
    Some(ctx.source(file).line_col(offset).0)
}

/// The list contains the programs among MLIR's tests of its IR and of our dialects that are rejected on the line that
/// mlir-opt blames. The others need another dialect.
#[test]
fn invalid_programs_are_rejected_on_the_right_line() {
    let cases = cases("invalid");
    let run = |c: &Case| {
        let text = std::str::from_utf8(CORPUS.get(&format!("invalid/{}.mlir", c.id)).expect("is there")).ok()?;
        Some(catch_unwind(|| our_line(text)).map_err(|_| c.id))
    };
    let results = in_parallel(&cases, run);
    let panics: Vec<_> = results.iter().flatten().filter_map(|r| r.err()).collect();
    assert!(panics.is_empty(), "these make the parser or verifier panic: {panics:?}");
    let in_scope = |c: &Case| OUR_TESTS.iter().any(|source| c.source.starts_with(source));
    let right = |(c, line): &(&Case, Option<u32>)| in_scope(c) && line.is_some() && *line == line_of_mlir_opt(c.id);
    let lines = results.into_iter().map(|r| r.and_then(Result::ok).flatten());
    let good: Vec<&str> = cases.iter().zip(lines).filter(right).map(|(c, _)| c.id).collect();
    let list = crate::support::root().join("tests/conformance/invalid_expected.txt");
    if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
        std::fs::write(&list, good.join("\n") + "\n").expect("the list can be written");
    }
    let expected = std::fs::read_to_string(&list).expect("the list is there");
    let worse: Vec<&str> = expected.lines().filter(|id| !good.contains(id)).collect();
    let better: Vec<&str> = good.iter().copied().filter(|id| !expected.lines().any(|e| e == *id)).collect();
    let in_scope = cases.iter().filter(|c| in_scope(c)).count();
    assert!(worse.is_empty(), "no longer rejected on the right line: {worse:?}");
    println!("{} of {in_scope} are rejected on the right line", good.len());
    if !better.is_empty() {
        println!("to list these too: INSTA_UPDATE=always cargo test --release --test suite conformance\n{better:?}");
    }
}
