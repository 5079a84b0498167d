//! Reports of failures; verdicts are tested against LLVM's tool in `tests/filecheck`.

use super::*;

/// Returns the report of a check, preceded by the verdict.
fn report(checks: &str, input: &str) -> String {
    let text = |name, text: &'static str| Text { name, bytes: text.as_bytes() };
    let leak = |s: &str| -> &'static str { Box::leak(s.to_owned().into_boxed_str()) };
    let outcome = check(&Options::default(), text("f.mlir", leak(checks)), text("<stdin>", leak(input)));
    format!("{:?}\n{}", outcome.verdict, outcome.report)
}

#[test]
fn what_is_missing_is_said_with_where_and_what_is_near() {
    let checks = "// CHECK-LABEL: func @f\n// CHECK: [[V:%.*]] = add\n// CHECK: return [[V]], [[#@LINE]]\n";
    let input = "func @f {\n  %0 = add\n  %1 = mul\n  return %1\n}\n";
    insta::assert_snapshot!(report(checks, input), @r#"
    Fail
    f.mlir:3:11: error: CHECK: expected string not found in input
    // CHECK: return [[V]], [[#@LINE]]
              ^
    <stdin>:2:10: note: scanning from here
     %0 = add
             ^
    <stdin>:2:10: note: with "V" equal to "%0"
     %0 = add
             ^
    <stdin>:2:10: note: with "@LINE" equal to "3"
     %0 = add
             ^
    <stdin>:4:2: note: possible intended match here
     return %1
     ^

    Input file: <stdin>
    Check file: f.mlir

    Input was:
    <<<<<<
           1: func @f {
           2:  %0 = add
    check:3            X error: no match found from here on
           3:  %1 = mul
           4:  return %1
    check:3    ? possible intended match
           5: }
    >>>>>>
    "#);
}

#[test]
fn wrong_lines_and_excluded_strings_are_shown() {
    let checks = "CHECK-LABEL: f\nCHECK: a\nCHECK-NEXT: c\nCHECK-LABEL: g\nCHECK-NOT: bad\nCHECK: end\n";
    insta::assert_snapshot!(report(checks, "f\na\nb\nc\ng\nso bad\nend\n"), @r"
    Fail
    f.mlir:3:13: error: CHECK-NEXT: is not on the line after the previous match
    CHECK-NEXT: c
                ^
    <stdin>:4:1: note: 'next' match was here
    c
    ^
    <stdin>:2:2: note: previous match ended here
    a
     ^
    <stdin>:3:1: note: non-matching line after previous match is here
    b
    ^
    f.mlir:5:12: error: CHECK-NOT: excluded string found in input
    CHECK-NOT: bad
               ^
    <stdin>:6:4: note: found here
    so bad
       ^~~

    Input file: <stdin>
    Check file: f.mlir

    Input was:
    <<<<<<
           1: f
           2: a
           3: b
           4: c
    next:3    ! error: match on wrong line
           5: g
           6: so bad
    not:5        !~~ error: no match expected
           7: end
    >>>>>>
    ");
}

#[test]
fn near_misses_are_all_named() {
    let checks = "// CHECK: a\n// CHECK-NXT: b\n// CHECK-NEXT b\n// CHEKC: b\n// CHECK : b\nThe CHECK lines, COM: CHECK here\n\
                  // COM: CHECK-NXT: b\n// RUN: x | FileCheck --check-prefix CHECK-ALT\n// CHECK-ALT-NEXT: c\n";
    insta::assert_snapshot!(report(checks, "a\n"), @r"
    Unusable
    f.mlir:2:4: error: 'CHECK-NXT' is no directive; did you mean 'CHECK-NEXT:'?
    // CHECK-NXT: b
       ^~~~~~~~~
    f.mlir:3:4: error: 'CHECK-NEXT' is no directive without a colon; write COM: in front of a comment that mentions it
    // CHECK-NEXT b
       ^~~~~~~~~~
    f.mlir:4:4: error: 'CHEKC:' is no directive; did you mean 'CHECK:'?
    // CHEKC: b
       ^~~~~
    f.mlir:5:4: error: 'CHECK :' is no directive: the colon must follow at once
    // CHECK : b
       ^~~~~
    ");
}

#[test]
fn only_what_is_around_errors_is_shown() {
    let input: String = (1..40).map(|i| format!("line {i}\n")).collect();
    let text = report("CHECK: line 20\nCHECK-SAME: line 21\n", &input);
    let dump = text.split("<<<<<<\n").nth(1).unwrap_or("");
    insta::assert_snapshot!(dump, @r"
         ...
          16: line 16
          17: line 17
          18: line 18
          19: line 19
          20: line 20
          21: line 21
    same:2    !~~~~~~ error: match on wrong line
          22: line 22
          23: line 23
          24: line 24
          25: line 25
          26: line 26
         ...
    >>>>>>
    ");
}

#[test]
fn thousands_of_plain_texts_are_searched_quickly() {
    const N: usize = 5_000;
    let input: String = (0..N).map(|i| format!("line {i} value\n")).collect();
    let dag: String = (0..N).rev().map(|i| format!("CHECK-DAG: line {i} value\n")).collect();
    let not: String = (0..N).map(|i| format!("CHECK-NOT: no such line {i}\n")).collect();
    for checks in [dag, not] {
        let text = |name, text: &str| -> Text<'static> {
            Text { name, bytes: Box::leak(text.to_owned().into_boxed_str()).as_bytes() }
        };
        let outcome = check(&Options::default(), text("f", &checks), text("<stdin>", &input));
        assert!(outcome.report.is_empty(), "{}", outcome.report);
    }
}
