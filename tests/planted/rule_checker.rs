//! Rules that only related constants refute, or that apply to too few inputs: the rule checker accepts none.

use gradus::Tool;
use gradus_golden::run;

/// Rules with the beginning of the verdict. Independent draws of each constant accept all of them.
const REFUSED: &[(&str, &str)] = &[
    // wrong for one input, next to a number of the rule
    (
        r#"rewrite.rule @number_of_the_rule {
  %x = value
  %type = type : i32
  %limit = number 1000.0 : %type
  %less = op "arith.cmpi"(%x, %limit) {predicate = ult}
  match %less
  %new = op "arith.cmpi"(%x, %limit) {predicate = ule}
  replace %new
}"#,
        "unsound",
    ),
    // wrong at the border of the condition
    (
        r#"rewrite.rule @border_of_the_condition {
  %c = constant
  %limit = number 1000.0
  %greater = op "arith.cmpi"(%c, %limit) {predicate = sgt}
  where "at_least"(%c) with {limit = 1000 : i64}
  match %greater
  %true = number 1.0
  replace %true
}"#,
        "unsound",
    ),
    // wrong if all constants are equal
    (
        r#"rewrite.rule @equal_constants {
  %type = type : index
  %a = constant : %type
  %b = constant : %type
  %c = constant : %type
  %d = constant : %type
  %e = constant : %type
  %ab = op "arith.xori"(%a, %b)
  %bc = op "arith.xori"(%b, %c)
  %cd = op "arith.xori"(%c, %d)
  %de = op "arith.xori"(%d, %e)
  %abc = op "arith.ori"(%ab, %bc)
  %cde = op "arith.ori"(%cd, %de)
  %all = op "arith.ori"(%abc, %cde)
  %zero = number 0.0
  %differ = op "arith.cmpi"(%all, %zero) {predicate = ne}
  match %differ
  %true = number 1.0
  replace %true
}"#,
        "unsound",
    ),
    // applies to few constants, too few to know that it is sound
    (
        r#"rewrite.rule @few_inputs {
  %c = constant
  %equal = op "arith.cmpi"(%c, %c) {predicate = eq}
  where "at_least"(%c) with {limit = 4000000000000000000 : i64}
  match %equal
  %true = number 1.0
  replace %true
}"#,
        "inconclusive: tried on ",
    ),
];

#[test]
fn rules_that_single_constants_do_not_refute_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (i, (rule, verdict)) in REFUSED.iter().enumerate() {
        let file = folder.path().join(format!("{i}.mlir")).display().to_string();
        std::fs::write(&file, rule).expect("a file can be written");
        let output = run(&Tool::gradus(), &["check", "--rules", &file]);
        let name = rule.split(['@', ' ']).nth(2).expect("the rule has a name");
        assert_eq!(output.code, 1, "{}{}", output.out, output.err);
        assert!(output.out.starts_with(&format!("{name}: {verdict}")), "{}{}", output.out, output.err);
    }
}
