//! Parsing and printing give the same result for any number of threads.

use gradus_ir::{Context, Dialect, Effects, Module, OpDecl, ParseOptions, PrintOptions, Traits, op, parse_module};
use std::fmt::Write as _;

/// A function.
#[op("t.func", traits = Traits::ISOLATED.and(Traits::FUNCTION).and(Traits::NO_TERMINATOR), effects = Effects::Unknown)]
struct Func {
    /// The body.
    body: Region,
}

const T: Dialect = Dialect { name: "t", ops: &[Func::INFO], ..Dialect::DEFAULT };

/// Returns a text of functions that begin with the op `first`, long enough for several threads.
fn functions(first: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0..700 {
        let _ = writeln!(text, "\"t.func\"() ({{\n^bb0(%a: i32):\n  {}", first(i));
        for j in 0..20 {
            let _ = writeln!(text, "  %{j} = \"u.op\"(%a) {{k = {} : i32}} : (i32) -> i32", i % 7);
        }
        let _ = writeln!(text, "}}) {{sym_name = \"f{i}\"}} : () -> ()");
    }
    text
}

/// Parses a text with `threads` threads; the error is the rendered diagnostics.
fn read(text: &str, threads: usize) -> Result<Module, String> {
    let ctx = Context::new(&[&T]);
    let options = ParseOptions { allow_unregistered: true, threads, ..ParseOptions::default() };
    parse_module(&ctx, "t", text.to_owned(), options)
        .map_err(|errors| errors.iter().map(|d| d.render(&ctx)).collect::<String>())
}

fn print(m: &Module, threads: usize) -> String {
    let generic = PrintOptions { threads, generic: true, debug_info: true, ..PrintOptions::default() };
    m.to_text(generic) + &m.to_text(PrintOptions { threads, ..PrintOptions::default() })
}

#[track_caller]
fn check(text: &str, valid: bool) {
    assert!(text.len() > 512 << 10, "too short to be divided");
    let one = read(text, 1);
    assert_eq!(one.is_ok(), valid, "{:?}", one.err());
    let printed = one.as_ref().map(|m| print(m, 1));
    for threads in [2, 5] {
        let several = read(text, threads);
        assert_eq!(several.as_ref().map(|m| print(m, 1)), printed);
        if let Ok(m) = several {
            assert_eq!(print(&m, threads), print(&m, 1));
        }
    }
}

fn plain(i: usize) -> String {
    format!("\"u.first\"() {{i = {i}}} : () -> ()")
}

#[test]
fn functions_are_read_and_printed() {
    check(&functions(plain), true);
    check(&format!("\"builtin.module\"() ({{\n{}}}) : () -> ()", functions(plain)), true);
}

#[test]
fn resources_and_distinct_attributes_stay_shared() {
    // Aliases before and after, a resource, and distinct attributes.
    let text = functions(|i| {
        format!(
            "\"u.first\"() {{a = #a{}, d = distinct[{}]<>, r = dense_resource<big> : tensor<1xi8>}} : () -> ()",
            i % 3,
            i % 5
        )
    });
    let resources = "{-# dialect_resources: { builtin: { big: \"0x0400000001\" } } #-}";
    check(&format!("#a0 = #u.x<1>\n{text}#a1 = #u.x<1>\n#a2 = #u.x<#a1>\n{resources}\n"), true);
}

#[test]
fn values_beside_functions_are_seen_by_all() {
    let used = "\"u.use\"(%0) : (i32) -> ()";
    let text = functions(plain);
    let defined = "%0 = \"u.def\"() : () -> i32";
    check(&format!("{defined}\n{text}{used}\n"), true);
    check(&format!("{text}{used}\n{defined}\n{text}"), true);
    check(&format!("{text}{used}\n{text}"), false);
    check(&format!("{defined}\n{text}{defined}\n{text}"), false);
    check(&format!("{text}{defined}\n{text}{defined}\n"), false);
}

#[test]
fn guesses_may_be_wrong() {
    // Lines that look like functions, inside comments, nested regions and dictionaries.
    let comment = functions(|_| "// a comment\n\"t.func\"() is no op here".to_owned());
    check(&comment, false);
    let inner = functions(|_| "\"u.inner\"() ({\n\"t.func\"() ({\n}) : () -> ()\n}) : () -> ()".to_owned());
    check(&inner, true);
    let escaped = functions(|i| format!("\"u.first\"() {{\n\"t.func\" = {i}}} : () -> ()"));
    check(&escaped, true);
}

#[test]
fn errors_are_those_of_one_thread() {
    for wrong in [3, 400] {
        check(&functions(|i| if i == wrong { "\"u.use\"(%x) : (i32) -> ()".to_owned() } else { plain(i) }), false);
        check(&functions(|i| if i == wrong { "\"u.use\"(%a : (i32) -> ()".to_owned() } else { plain(i) }), false);
        check(&functions(|i| if i == wrong { "}".to_owned() } else { plain(i) }), false);
        check(&functions(|i| if i == wrong { "\"u.open\"() ({".to_owned() } else { plain(i) }), false);
    }
    check(&(functions(plain) + "^bb1:\n" + &functions(plain)), false);
    check(&(functions(plain) + "\"u.br\"()[^bb1] : () -> ()\n" + &functions(plain)), true);
}
