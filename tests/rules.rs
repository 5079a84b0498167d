//! Rules as IR, and the rule checker: declared rules are sound, unsound ones are found.

#![allow(clippy::print_stdout, reason = "counts, which the harness shows with --nocapture or a failure")]

use crate::support::{files, gradus, root};
use gradus::Tool;
use gradus::dialects::rewrite::{rules_of, write};
use gradus::generate::rule::{RuleChecker, RuleOptions, RuleReport, Soundness};
use gradus::ir::rules::CompiledRule;
use gradus::ir::{Context, Module, PrintOptions, parse_module, verify};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns the rules of a program.
fn read(ctx: &Arc<Context>, text: String) -> Vec<CompiledRule> {
    let m =
        parse_module(ctx, "rules.mlir", text, Default::default()).unwrap_or_else(|d| panic!("{}", d[0].render(ctx)));
    verify(&m).unwrap_or_else(|d| panic!("{}", d[0].render(ctx)));
    let rules = rules_of(&m).unwrap_or_else(|d| panic!("{}", d.render(ctx)));
    rules.into_iter().map(|(_, rule)| rule).collect()
}

fn checker(ctx: &Arc<Context>, instances: u64) -> RuleChecker {
    RuleChecker::new(ctx, RuleOptions { instances, ..RuleOptions::default() })
}

/// Whether all mutants are checked: `GRADUS_CAMPAIGN=1 cargo test --release --test suite rules::`.
fn is_campaign() -> bool {
    std::env::var_os("GRADUS_CAMPAIGN").is_some()
}

#[test]
fn rules_are_the_same_as_ir() {
    let ctx = Tool::gradus().context();
    assert_eq!(ctx.rule_errors(), &[]);
    let rules: Vec<CompiledRule> = ctx.all_rules().cloned().collect();
    assert!(rules.len() > 60, "{}", rules.len());
    for generic in [false, true] {
        let mut m = Module::new(ctx.clone());
        for rule in &rules {
            write(&mut m, rule);
        }
        let again = read(&ctx, m.to_text(PrintOptions { generic, ..PrintOptions::default() }));
        for (rule, again) in rules.iter().zip(&again) {
            assert_eq!(rule, again, "{}", ctx.text(rule.name));
        }
        assert_eq!(rules.len(), again.len());
    }
}

/// Parsing and printing a rule round-trips.
#[test]
fn rules_of_files_are_the_same_when_they_are_written() {
    let ctx = Tool::gradus().context();
    for path in files(&root().join("tests/rules"), "mlir") {
        let rules = read(&ctx, std::fs::read_to_string(&path).expect("it can be read"));
        let mut m = Module::new(ctx.clone());
        for rule in &rules {
            write(&mut m, rule);
        }
        assert_eq!(rules, read(&ctx, m.to_text(PrintOptions::default())), "{}", path.display());
    }
}

#[test]
fn declared_rules_are_sound() {
    let ctx = Tool::gradus().context();
    let mut checker = checker(&ctx, 200);
    for rule in ctx.all_rules() {
        let found = checker.check(rule);
        let name = ctx.text(rule.name);
        if let Soundness::Wrong(wrong) = &found.soundness {
            panic!("{name}: {}\n{}", wrong.error.render(&ctx), wrong.before.to_text(PrintOptions::default()));
        }
        let RuleReport { instances, inputs, .. } = found;
        assert!(found.is_sound(), "{name}: {instances} instances, {inputs} inputs");
    }
}

#[test]
fn wrong_rules_are_refused_and_right_ones_are_not() {
    let mut seen = [0, 0];
    for (i, folder) in ["sound", "unsound"].into_iter().enumerate() {
        for path in files(&root().join("tests/rules").join(folder), "mlir") {
            let path = path.display().to_string();
            let output = gradus(&["check", "--rules", &path]);
            assert_eq!(usize::from(output.code), i, "{path}\n{}{}", output.out, output.err);
            assert_eq!(output.err.contains("changes the meaning of a program"), i == 1, "{path}\n{}", output.err);
            seen[i] += 1;
        }
    }
    assert_eq!(seen, [6, 6]);
}

#[test]
fn vacuous_rules_are_errors_and_needless_conditions_are_told() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("rules.mlir");
    let text = r#"rewrite.rule @impossible {
  %t = type
  %x = value : %t
  %wide = op "arith.extsi"(%x) : %t
  match %wide
  replace %x
}
rewrite.rule @needless {
  %t = type
  %x = value : %t
  %same = op "arith.subi"(%x, %x)
  where "not_i1"(%t)
  match %same
  %zero = number 0.0
  replace %zero
}
"#;
    std::fs::write(&file, text).expect("it can be written");
    let output = gradus(&["check", "--rules", &file.display().to_string()]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains("impossible: vacuous"), "{}", output.out);
    assert!(output.out.contains("condition 'not_i1' made no difference"), "{}", output.out);
    let output = gradus(&["check", "--rules", &file.display().to_string(), "needles"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("unknown rule 'needles'; did you mean 'needless'?"), "{}", output.err);
}

/// Mutants that are equivalent to the rule.
#[rustfmt::skip]
const EQUIVALENT: &[(&str, &str)] = &[
    // The operands of a comparison with `eq` and `ne` may be swapped.
    ("select-eq", "left: operands 0 and 1 of 'arith.cmpi' swapped"),
    ("select-eq-swapped", "left: operands 0 and 1 of 'arith.cmpi' swapped"),
    ("select-ne", "left: operands 0 and 1 of 'arith.cmpi' swapped"),
    ("select-ne-swapped", "left: operands 0 and 1 of 'arith.cmpi' swapped"),
    ("extsi-ne-zero", "left: operands 0 and 1 of 'arith.cmpi' swapped"),
    ("extui-ne-zero", "left: operands 0 and 1 of 'arith.cmpi' swapped"),
    ("i1-eq-true", "left: operands 0 and 1 of 'arith.cmpi' swapped"),
    ("i1-ne-false", "left: operands 0 and 1 of 'arith.cmpi' swapped"),
    // These also hold for booleans.
    ("select-i1", "left: operands 0 and 1 of 'arith.select' swapped"),
    ("select-eq", "left: operands 0 and 1 of 'arith.select' swapped"),
    ("select-eq-swapped", "left: operands 0 and 1 of 'arith.select' swapped"),
    ("extsi-ne-zero", "left: 'predicate' of 'arith.cmpi' one more"),
    ("i1-ne-false", "left: 'predicate' of 'arith.cmpi' one more"),
    // Other types are refused anyway: the new op would be ill-typed, or differ in type from the root.
    ("select-to-extui", "without the condition 'wider_int'"),
    ("select-to-extui", "without the condition 'same_shape'"),
    ("select-to-ext-not", "without the condition 'wider_int'"),
    ("select-to-ext-not", "without the condition 'same_shape'"),
    ("extsi-ne-zero", "without the condition 'i1'"),
    ("extui-ne-zero", "without the condition 'i1'"),
    ("i1-eq-true", "without the condition 'i1'"),
    ("i1-ne-false", "without the condition 'i1'"),
    ("trunci-extsi-wider", "without the condition 'wider_int'"),
    ("trunci-extui-wider", "without the condition 'wider_int'"),
    ("trunci-extsi-narrower", "without the condition 'wider_int'"),
    ("trunci-extui-narrower", "without the condition 'wider_int'"),
    // The left side has only these types.
    ("select-i1", "without the condition 'i1'"),
    ("select-to-not", "without the condition 'i1'"),
    ("index-cast-extsi", "without the condition 'index'"),
    ("index-castui-extui", "without the condition 'index'"),
    // The condition prevents rules from undoing each other, and -1 from being 1.
    ("compare-constant-left", "without the condition 'variable'"),
    ("add-negated", "without the condition 'not_i1'"),
    // The condition prevents all regroupings of sums.
    ("factor-through", "without the condition 'independent_of'"),
    ("factor-one-through", "without the condition 'independent_of'"),
    // With two matrices, a product of three is associative even if the third operand is a vector or batched.
    ("matmul-left", "without the condition 'matrices'"),
    ("matmul-right", "without the condition 'matrices'"),
    // With two matrices, the other operands are matrices too, since ranks must match.
    ("matmul-concat", "without the condition 'matrices'"),
    ("concat-matmul", "without the condition 'matrices'"),
    // Along another axis the type differs from the root's.
    ("concat-matmul", "without the condition 'last_axis'"),
    ("concat-conv", "left: 'axis' of 'graph.concat' forgotten"),
    ("concat-conv-bias", "left: 'axis' of 'graph.concat' forgotten"),
    // Factors come in any order.
    ("matmul-scaled", "arguments 0 and 1 of 'scaled' swapped"),
    // With one channel, both convolutions are the same.
    ("mul-as-conv", "right: operands 0 and 1 of 'graph.conv' swapped"),
    ("mul-as-conv", "right: 'group' of 'graph.conv' forgotten"),
    ("mul-as-integer-conv", "right: operands 0 and 1 of 'graph.conv_integer' swapped"),
    ("mul-as-integer-conv", "right: 'group' of 'graph.conv_integer' forgotten"),
    // Such a convolution exists only if both numbers, or both shapes, are equal.
    ("matmul-as-conv", "'as_filters' instead of 'as_pixels'"),
    // Of the other operand, there is no such convolution, or the same one.
    ("mul-as-conv", "arguments 0 and 1 of 'factor_groups' swapped"),
    ("mul-as-conv", "arguments 0 and 1 of 'as_factors' swapped"),
    ("mul-as-integer-conv", "arguments 0 and 1 of 'factor_groups' swapped"),
    ("mul-as-integer-conv", "arguments 0 and 1 of 'as_features' swapped"),
    ("mul-as-integer-conv", "arguments 0 and 1 of 'as_factors' swapped"),
    // Any expansion is right that leaves the type of the product.
    ("mul-expanded", "arguments 0 and 1 of 'expansion' swapped"),
    ("mul-expanded", "'end_after_rows' instead of 'expansion'"),
    // Every nonzero number allows zeros.
    ("mul-dynamic-as-conv", "right: 'allowzero' of 'graph.reshape' one more"),
    ("mul-dynamic-as-integer-conv", "right: 'allowzero' of 'graph.reshape' one more"),
    // The condition prevents needless choices.
    ("mul-dynamic-as-conv", "without the condition 'decided_at_run_time'"),
    ("mul-dynamic-as-integer-conv", "without the condition 'decided_at_run_time'"),
    // The operands of instances have no poison elements.
    ("mul-as-conv", "without the condition 'unpoisoned'"),
    ("mul-as-integer-conv", "without the condition 'unpoisoned'"),
    ("mul-dynamic-as-conv", "without the condition 'unpoisoned'"),
    ("mul-dynamic-as-integer-conv", "without the condition 'unpoisoned'"),
    ("concat-matmul", "without the condition 'unpoisoned'"),
    ("concat-conv", "without the condition 'unpoisoned'"),
    ("concat-conv-bias", "without the condition 'unpoisoned'"),
    ("matmul-pair", "without the condition 'unpoisoned'"),
    ("matmul-pair-of-rows", "without the condition 'unpoisoned'"),
    ("conv-pair", "without the condition 'unpoisoned'"),
    ("conv-bias-pair", "without the condition 'unpoisoned'"),
    // The number of operands says which they are.
    ("slice-whole", "left: 'operandSegmentSizes' of 'graph.slice' forgotten"),
    ("slice-slice", "left: 'operandSegmentSizes' of 'graph.slice' forgotten"),
    ("slice-relu", "left: 'operandSegmentSizes' of 'graph.slice' forgotten"),
    ("slice-sigmoid", "left: 'operandSegmentSizes' of 'graph.slice' forgotten"),
    ("slice-tanh", "left: 'operandSegmentSizes' of 'graph.slice' forgotten"),
    ("slice-add", "left: 'operandSegmentSizes' of 'graph.slice' forgotten"),
    ("slice-mul", "left: 'operandSegmentSizes' of 'graph.slice' forgotten"),
    ("relu-clip", "left: 'operandSegmentSizes' of 'graph.clip' forgotten"),
    ("clip-relu", "left: 'operandSegmentSizes' of 'graph.clip' forgotten"),
    ("clip-clip", "left: 'operandSegmentSizes' of 'graph.clip' forgotten"),
    ("conv-pad", "left: 'operandSegmentSizes' of 'graph.pad' forgotten"),
    ("conv-bias-pad", "left: 'operandSegmentSizes' of 'graph.pad' forgotten"),
    ("diagonal-filters", "left: 'operandSegmentSizes' of 'graph.matmul_integer' forgotten"),
    ("dense-filters", "left: 'operandSegmentSizes' of 'graph.matmul_integer' forgotten"),
    ("diagonal-filters-zeros", "left: 'operandSegmentSizes' of 'graph.matmul_integer' forgotten"),
    ("dense-filters-zeros", "left: 'operandSegmentSizes' of 'graph.matmul_integer' forgotten"),
    ("left-dots", "left: 'operandSegmentSizes' of 'graph.matmul_integer' forgotten"),
    ("left-dots-zeros", "left: 'operandSegmentSizes' of 'graph.matmul_integer' forgotten"),
    ("right-dots", "left: 'operandSegmentSizes' of 'graph.matmul_integer' forgotten"),
    ("right-dots-zeros", "left: 'operandSegmentSizes' of 'graph.matmul_integer' forgotten"),
    // The operand and the lower bound of a clamp may be swapped if both are scalars; other types do not match.
    ("relu-clip", "left: operands 0 and 1 of 'graph.clip' swapped"),
    ("clip-clip", "left: operands 0 and 1 of 'graph.clip' swapped"),
    ("clip-clip", "right: operands 0 and 1 of 'graph.clip' swapped"),
    ("clip-low-clip", "left: operands 0 and 1 of 'graph.clip' swapped"),
    ("clip-low-clip", "right: operands 0 and 1 of 'graph.clip' swapped"),
    ("clip-clip-low", "left: operands 0 and 1 of 'graph.clip' swapped"),
    ("clip-clip-low", "right: operands 0 and 1 of 'graph.clip' swapped"),
    ("clip-low-clip-low", "left: operands 0 and 1 of 'graph.clip' swapped"),
    ("clip-low-clip-low", "right: operands 0 and 1 of 'graph.clip' swapped"),
    // An approximation that is off by one bit is also within one percent.
    ("fast-inverse-sqrt", "right: 1597466889 instead of 1597466888"),
    // The algorithm does not affect the result, nor do omitted zeros in sums of finite products.
    ("diagonal-filters", "right: 'mapping' of 'nna.matmul' one more"),
    ("diagonal-filters-zero", "right: 'mapping' of 'nna.matmul' one more"),
    ("diagonal-filters-zeros", "right: 'mapping' of 'nna.matmul' one more"),
    ("left-unrolled", "right: 'form' of 'sparse.matmul' one more"),
    ("left-patterns", "right: 'form' of 'sparse.matmul' one more"),
    ("right-unrolled", "right: 'form' of 'sparse.matmul' one more"),
    ("right-patterns", "right: 'form' of 'sparse.matmul' one more"),
    ("right-unrolled", "right: 'right' of 'sparse.matmul' forgotten"),
    ("right-patterns", "right: 'right' of 'sparse.matmul' forgotten"),
    ("right-csr", "right: 'right' of 'sparse.matmul' forgotten"),
    ("right-dots", "right: 'right' of 'sparse.matmul_integer' forgotten"),
    ("right-dots-zero", "right: 'right' of 'sparse.matmul_integer' forgotten"),
    ("right-dots-zeros", "right: 'right' of 'sparse.matmul_integer' forgotten"),
    ("left-unrolled", "without the condition 'suits_code'"),
    ("left-patterns", "without the condition 'mostly_zeros'"),
    ("left-csr", "without the condition 'mostly_zeros'"),
    ("right-unrolled", "without the condition 'suits_code'"),
    ("right-patterns", "without the condition 'mostly_zeros'"),
    ("right-csr", "without the condition 'mostly_zeros'"),
    ("left-dots", "without the condition 'mostly_zeros'"),
    ("left-dots-zero", "without the condition 'mostly_zeros'"),
    ("left-dots-zeros", "without the condition 'mostly_zeros'"),
    ("right-dots", "without the condition 'mostly_zeros'"),
    ("right-dots-zero", "without the condition 'mostly_zeros'"),
    ("right-dots-zeros", "without the condition 'mostly_zeros'"),
    // The new op takes only matrices.
    ("left-unrolled", "without the condition 'matrices'"),
    ("left-patterns", "without the condition 'matrices'"),
    ("left-csr", "without the condition 'matrices'"),
    ("right-unrolled", "without the condition 'matrices'"),
    ("right-patterns", "without the condition 'matrices'"),
    ("right-csr", "without the condition 'matrices'"),
    ("left-dots", "without the condition 'matrices'"),
    ("left-dots-zero", "without the condition 'matrices'"),
    ("left-dots-zeros", "without the condition 'matrices'"),
    ("right-dots", "without the condition 'matrices'"),
    ("right-dots-zero", "without the condition 'matrices'"),
    ("right-dots-zeros", "without the condition 'matrices'"),
    // Sums and products are commutative, and the condition says when the sparse form pays.
    ("left-schur", "right: operands 0 and 1 of 'sparse.mul' swapped"),
    ("left-schur", "without the condition 'mostly_zeros'"),
    ("right-schur", "right: operands 0 and 1 of 'sparse.mul' swapped"),
    ("right-schur", "without the condition 'mostly_zeros'"),
    ("left-sum", "right: operands 0 and 1 of 'sparse.add' swapped"),
    ("left-sum", "without the condition 'mostly_zeros'"),
    ("right-sum", "right: operands 0 and 1 of 'sparse.add' swapped"),
    ("right-sum", "without the condition 'mostly_zeros'"),
    ("difference", "without the condition 'mostly_zeros'"),
];

/// One of so many mutants is checked, unless all are.
const SHARE: usize = 4;

#[test]
fn mistakes_in_rules_are_noticed() {
    let ctx = Tool::gradus().context();
    let mut checker = checker(&ctx, 100);
    let (mut figures, mut equivalent, mut survivors) = (BTreeMap::<_, [usize; 2]>::new(), BTreeSet::new(), Vec::new());
    let (mut none, mut mutants) = (0, 0);
    for rule in ctx.all_rules() {
        let name = ctx.text(rule.name);
        for mutant in rule.mutants(&ctx) {
            if let Some(known) = EQUIVALENT.iter().find(|known| **known == (name, mutant.what.as_str())) {
                equivalent.insert(known);
                none += 1;
                continue;
            }
            mutants += 1;
            if !is_campaign() && mutants % SHARE != 0 {
                continue;
            }
            let [all, noticed] = figures.entry(mutant.mistake).or_default();
            *all += 1;
            if !checker.check(&mutant.rule).is_sound() {
                *noticed += 1;
                continue;
            }
            survivors.push(format!("(\"{name}\", \"{}\"),", mutant.what));
        }
    }
    for (mistake, [all, noticed]) in &figures {
        println!("{mistake}: {noticed} of {all} are noticed");
    }
    let all: usize = figures.values().map(|[all, _]| all).sum();
    println!("{} of {all} are noticed; {none} more are none", all - survivors.len());
    let gone: Vec<_> = EQUIVALENT.iter().filter(|known| !equivalent.contains(known)).collect();
    assert!(gone.is_empty(), "there are no such mutants any more: {gone:?}");
    assert!(mutants > 300, "only {mutants} mutants");
    assert!(survivors.len() * 20 <= all, "{} of {all} survive:\n{}", survivors.len(), survivors.join("\n"));
}
