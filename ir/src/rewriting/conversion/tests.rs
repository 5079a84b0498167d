//! A dialect for tests, and tests of the driver: legalization and reports.

mod materialize;
mod order;
mod rewrites;
mod types;

use super::*;
use crate::{Arity, Value};
use crate::{
    AttrKind, AttrSpec, AttrText, Context, Diagnostic, Dialect, GroupSpec, OpInfo, OpState, ParseOptions,
    PatternRewriter, PrintOptions, Traits, Type, TypeConstraint, ValueSpec, parse_module, verify,
};
use insta::assert_snapshot;
use std::sync::Arc;

static ANY: TypeConstraint = TypeConstraint { summary: "any type", check: |_, _| true, only: None };
static ATTR: AttrKind = AttrKind { summary: "any attribute", check: |_, _| true, text: AttrText::Full };

const fn attr(name: &'static str) -> AttrSpec {
    AttrSpec { name, doc: "", optional: true, kind: &ATTR, default: None }
}

const fn values(name: &'static str) -> ValueSpec {
    ValueSpec { name, doc: "", arity: Arity::Variadic, ty: &ANY }
}

static FUNC: OpInfo = OpInfo {
    name: "t.func",
    attrs: &[attr("sym_name"), attr("function_type"), attr("sym_visibility"), attr("arg_attrs"), attr("res_attrs")],
    regions: &[GroupSpec { name: "body", doc: "", arity: Arity::One }],
    traits: Traits::FUNCTION.and(Traits::SYMBOL).and(Traits::ISOLATED),
    format: Some("custom<Function>"),
    default_dialect: "t",
    ..OpInfo::DEFAULT
};
static RETURN: OpInfo = OpInfo {
    name: "t.return",
    operands: &[values("operands")],
    traits: Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    ..OpInfo::DEFAULT
};
static CALL: OpInfo = OpInfo {
    name: "t.call",
    operands: &[values("operands")],
    results: &[values("results")],
    attrs: &[attr("callee"), attr("arg_attrs"), attr("res_attrs")],
    traits: Traits::CALL,
    ..OpInfo::DEFAULT
};
/// A branch to one of two blocks, with operands for each.
static BRANCH: OpInfo = OpInfo {
    name: "t.cond_br",
    operands: &[values("on_true"), values("on_false")],
    successors: &[GroupSpec { name: "to", doc: "", arity: Arity::Variadic }],
    traits: Traits::TERMINATOR.and(Traits::OPERAND_SEGMENTS),
    ..OpInfo::DEFAULT
};
/// x + 0 = x
static ADD: OpInfo = OpInfo {
    name: "t.add",
    operands: &[ValueSpec { arity: Arity::One, ..values("a") }, ValueSpec { arity: Arity::One, ..values("b") }],
    results: &[ValueSpec { arity: Arity::One, ..values("sum") }],
    traits: Traits::SAME_TYPE,
    fold: Some(|args, constants| match constants {
        [None, Some(zero)] if args.ctx().as_int(*zero) == Some(0) => Some(args.operands[0].into()),
        [Some(a), Some(b)] => {
            let (a, b) = (args.ctx().as_int(*a)?, args.ctx().as_int(*b)?);
            Some(args.ctx().int_attr(args.operand_type(0), a + b).into())
        }
        _ => None,
    }),
    ..OpInfo::DEFAULT
};
static CONSTANT: OpInfo = OpInfo {
    name: "t.constant",
    results: &[ValueSpec { arity: Arity::One, ..values("result") }],
    attrs: &[attr("value")],
    traits: Traits::CONSTANT_LIKE,
    ..OpInfo::DEFAULT
};
static DIALECT: Dialect = Dialect {
    name: "t",
    doc: "",
    ops: &[&FUNC, &RETURN, &CALL, &BRANCH, &ADD, &CONSTANT],
    constant: Some("t.constant"),
    ..Dialect::DEFAULT
};

fn context() -> Arc<Context> {
    Context::new(&[&DIALECT])
}

fn parse(ctx: &Arc<Context>, text: &str) -> Module {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    parse_module(ctx, "t.mlir", text.to_owned(), options).expect("the test's program parses")
}

/// Returns the converted program, or all errors.
fn convert(
    mode: ConversionMode,
    m: &mut Module,
    target: &ConversionTarget<'_>,
    patterns: &[ConversionPattern<'_>],
) -> String {
    let (ctx, root) = (m.ctx.clone(), m.root());
    let rendered = |errors: Vec<Diagnostic>| errors.iter().map(|d| d.render(&ctx)).collect::<String>();
    match apply_conversion(m, root, target, patterns, ConversionConfig { mode, ..ConversionConfig::PARTIAL }) {
        Ok(_) => verify(m).map_or_else(rendered, |()| body(m)),
        Err(errors) => rendered(errors.into()),
    }
}

/// Returns the text of the program without the enclosing module.
fn body(m: &Module) -> String {
    let text = m.to_text(PrintOptions::default());
    let lines: Vec<&str> = text.lines().map(|l| l.strip_prefix("  ").unwrap_or(l)).collect();
    lines[1..lines.len() - 1].join("\n")
}

fn partially(text: &str, target: &ConversionTarget<'_>, patterns: &[ConversionPattern<'_>]) -> String {
    convert(ConversionMode::Partial, &mut parse(&context(), text), target, patterns)
}

fn fully(text: &str, target: &ConversionTarget<'_>, patterns: &[ConversionPattern<'_>]) -> String {
    convert(ConversionMode::Full, &mut parse(&context(), text), target, patterns)
}

/// Returns an op `name` with the result types of `op`.
fn like(m: &Module, op: Op, name: &str, operands: &[Value]) -> OpState {
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.operands.extend_from_slice(operands);
    state.result_types.extend(m.results(op).map(|v| m.value_type(v)));
    state
}

/// Returns a pattern that renames ops.
fn rename(name: &'static str, from: &'static str, to: &'static str) -> ConversionPattern<'static> {
    ConversionPattern::new(name, from, move |r, op, operands| {
        let state = like(r.module(), op, to, operands.all());
        r.replace_with(op, state)?;
        Ok(())
    })
}

/// Returns a pattern that always fails to match.
fn refuse(name: &'static str, root: &'static str, why: &'static str) -> ConversionPattern<'static> {
    ConversionPattern::new(name, root, move |_, _, _| Err(why.into()))
}

/// Returns a target with legal dialect `l` and illegal dialect `i`.
fn target() -> ConversionTarget<'static> {
    let mut target = ConversionTarget::new("l");
    target.legal_dialect("l");
    target.illegal_dialect("i").because("it is not for machines");
    target
}

#[test]
fn an_op_becomes_another() {
    let out = partially(
        r#"
        %0 = "i.a"() : () -> i32
        "u.use"(%0) : (i32) -> ()
        "#,
        &target(),
        &[rename("a-to-b", "i.a", "l.b")],
    );
    assert_snapshot!(out, @r#"
%0 = "l.b"() : () -> i32
"u.use"(%0) : (i32) -> ()
"#);
}

#[test]
fn several_patterns_lead_to_legal_ops() {
    let patterns = [rename("c-to-d", "i.c", "l.d"), rename("b-to-c", "i.b", "u.c"), rename("u-to-c", "u.c", "i.c")];
    let out = partially(r#"%0 = "i.b"() : () -> i32"#, &target(), &patterns);
    assert_snapshot!(out, @r#"%0 = "l.d"() : () -> i32"#);
}

#[test]
fn a_failing_pattern_is_rolled_back_and_the_next_one_tried() {
    let patterns = [rename("a-to-x", "i.a", "i.x"), rename("a-to-b", "i.a", "l.b")];
    assert_snapshot!(partially(r#"%0 = "i.a"() : () -> i32"#, &target(), &patterns), @r#"%0 = "l.b"() : () -> i32"#);
}

#[test]
fn patterns_that_go_in_a_circle_end() {
    let patterns = [rename("a-to-b", "i.a", "i.b"), rename("b-to-a", "i.b", "i.a")];
    assert_snapshot!(partially(r#"%0 = "i.a"() : () -> i32"#, &target(), &patterns), @r#"
t.mlir:1:6: error: failed to legalize operation 'i.a' that was explicitly marked illegal
%0 = "i.a"() : () -> i32
     ^
t.mlir:1:6: note: target 'l' forbids dialect 'i': it is not for machines
t.mlir:1:6: note: pattern 'a-to-b' led to 'i.b', which could not be legalized:
t.mlir:1:6: note:   target 'l' forbids dialect 'i': it is not for machines
t.mlir:1:6: note:   pattern 'b-to-a' led to 'i.a', which could not be legalized:
t.mlir:1:6: note:     target 'l' forbids dialect 'i': it is not for machines
t.mlir:1:6: note:     pattern 'a-to-b' refused: it is already being applied, and its recursion is not bounded
"#);
}

#[test]
fn patterns_with_bounded_recursion_are_applied_recursively() {
    let count_down = ConversionPattern::new("count-down", "i.count", |r, op, _| {
        let m = r.module();
        let n = m.attr(op, m.ctx.str("n")).and_then(|a| m.ctx.as_int(a)).ok_or("it has no 'n'")?;
        let name = if n == 0 { "l.zero" } else { "i.count" };
        let mut state = like(m, op, name, &[]);
        state.attrs.push((m.ctx.str("n"), m.ctx.int_attr(Type::I64, n - 1)));
        r.replace_with(op, state)?;
        Ok(())
    });
    let patterns = [count_down.with_bounded_recursion()];
    assert_snapshot!(partially(r#""i.count"() {n = 3} : () -> ()"#, &target(), &patterns), @r#""l.zero"() {n = -1 : i64} : () -> ()"#);
    let out = partially(r#""i.count"() {n = 300} : () -> ()"#, &target(), &patterns);
    assert!(out.contains("more than 64 nested pattern applications"), "{out}");
    assert!(out.contains("more lines like these"), "{out}");
}

#[test]
fn shorter_ways_come_before_greater_benefit_before_earlier_patterns() {
    let long = || rename("long", "i.a", "i.b").generates(&["i.b"]).benefit(9);
    let patterns = || vec![long(), rename("b-to-c", "i.b", "l.c"), rename("first", "i.a", "l.first")];
    let a = r#"%0 = "i.a"() : () -> i32"#;
    assert_snapshot!(partially(a, &target(), &patterns()), @r#"%0 = "l.first"() : () -> i32"#);
    let mut more = patterns();
    more.push(rename("greater", "i.a", "l.greater").benefit(2));
    assert_snapshot!(partially(a, &target(), &more), @r#"%0 = "l.greater"() : () -> i32"#);
    assert_snapshot!(partially(a, &target(), &patterns()[..2]), @r#"%0 = "l.c"() : () -> i32"#);
}

#[test]
fn attempts_that_multiply_are_bounded() {
    const NAMES: [&str; 17] = [
        "i.0", "i.1", "i.2", "i.3", "i.4", "i.5", "i.6", "i.7", "i.8", "i.9", "i.10", "i.11", "i.12", "i.13", "i.14",
        "i.15", "i.16",
    ];
    let pairs = NAMES.windows(2).flat_map(|w| [rename("one", w[0], w[1]), rename("other", w[0], w[1])]);
    let out = partially(r#""i.0"() : () -> ()"#, &target(), &pairs.collect::<Vec<_>>());
    assert!(out.contains("failed to legalize operation 'i.0'"), "{out}");
}

#[test]
fn partial_conversion_keeps_ops_without_a_rule() {
    let text = r#"
        %0 = "u.a"() : () -> i32
        %1 = "i.a"(%0) : (i32) -> i32
        %2 = "u.b"(%1) : (i32) -> i32
    "#;
    // The changes of one pattern to `u.a` before its failure are rolled back.
    let patterns = [rename("a-to-b", "i.a", "l.b"), rename("u-to-x", "u.a", "u.x")];
    assert_snapshot!(partially(text, &target(), &patterns), @r#"
%0 = "u.a"() : () -> i32
%1 = "l.b"(%0) : (i32) -> i32
%2 = "u.b"(%1) : (i32) -> i32
"#);
    let mut m = parse(&context(), text);
    let root = m.root();
    let report = apply_partial_conversion(&mut m, root, &target(), &patterns).expect("converts");
    assert_eq!((report.converted, report.left), (1, 2));
    let remarks: String = report.first_left.iter().map(|i| i.remark(&m.ctx).render(&m.ctx)).collect();
    assert_snapshot!(remarks, @r#"
t.mlir:2:14: remark: op 'u.a' is not legalizable
        %0 = "u.a"() : () -> i32
             ^
t.mlir:2:14: note: target 'l' has no rule for it
t.mlir:2:14: note: pattern 'u-to-x' led to 'u.x', which could not be legalized:
t.mlir:2:14: note:   target 'l' has no rule for it
t.mlir:2:14: note:   no pattern is for 'u.x'
t.mlir:4:14: remark: op 'u.b' is not legalizable
        %2 = "u.b"(%1) : (i32) -> i32
             ^
t.mlir:4:14: note: target 'l' has no rule for it
t.mlir:4:14: note: no pattern is for 'u.b'
"#);
}

#[test]
fn full_conversion_wants_every_op_legal() {
    let text = r#"
        %0 = "u.a"() : () -> i32
        %1 = "i.a"(%0) : (i32) -> i32
        %2 = "i.z"(%1) : (i32) -> i32
    "#;
    let patterns = [rename("a-to-b", "i.a", "l.b"), rename("u-to-x", "u.a", "u.x")];
    assert_snapshot!(fully(text, &target(), &patterns), @r#"
t.mlir:2:14: error: failed to legalize operation 'u.a'
        %0 = "u.a"() : () -> i32
             ^
t.mlir:2:14: note: target 'l' has no rule for it
t.mlir:2:14: note: pattern 'u-to-x' led to 'u.x', which could not be legalized:
t.mlir:2:14: note:   target 'l' has no rule for it
t.mlir:2:14: note:   no pattern is for 'u.x'
t.mlir:4:14: error: failed to legalize operation 'i.z'
        %2 = "i.z"(%1) : (i32) -> i32
             ^
t.mlir:4:14: note: target 'l' forbids dialect 'i': it is not for machines
t.mlir:4:14: note: no pattern is for 'i.z'
"#);
    let mut lenient = target();
    lenient.legal_unknown();
    assert_snapshot!(fully(r#"%0 = "u.a"() : () -> i32"#, &lenient, &patterns), @r#"%0 = "u.a"() : () -> i32"#);
}

#[test]
fn the_report_names_the_patterns_tried_and_the_rule_violated() {
    let patterns = [
        refuse("lower-a", "i.a", "it has no operand of type 'i32'"),
        rename("a-to-b", "i.a", "i.b"),
        rename("a-to-z", "i.a", "i.z").generates(&["i.z"]),
        refuse("lower-b", "i.b", "it is too wide"),
        ConversionPattern::new("idle", "i.b", |_, _, _| Ok(())),
    ];
    let text = r#"
        %0 = "i.a"() : () -> i32
        "i.c"(%0) : (i32) -> ()
    "#;
    assert_snapshot!(partially(text, &target(), &patterns), @r#"
t.mlir:2:14: error: failed to legalize operation 'i.a' that was explicitly marked illegal
        %0 = "i.a"() : () -> i32
             ^
t.mlir:2:14: note: target 'l' forbids dialect 'i': it is not for machines
t.mlir:2:14: note: pattern 'lower-a' refused: it has no operand of type 'i32'
t.mlir:2:14: note: pattern 'a-to-b' led to 'i.b', which could not be legalized:
t.mlir:2:14: note:   target 'l' forbids dialect 'i': it is not for machines
t.mlir:2:14: note:   pattern 'lower-b' refused: it is too wide
t.mlir:2:14: note:   pattern 'idle' refused: it neither replaced nor modified the op
t.mlir:2:14: note: pattern 'a-to-z' was not tried: nothing makes its 'i.z' legal
t.mlir:3:9: error: failed to legalize operation 'i.c' that was explicitly marked illegal
        "i.c"(%0) : (i32) -> ()
        ^
t.mlir:3:9: note: target 'l' forbids dialect 'i': it is not for machines
t.mlir:3:9: note: no pattern is for 'i.c'
"#);
}

#[test]
fn many_errors_are_counted() {
    let mut m = parse(&context(), &"\"i.a\"() : () -> ()\n".repeat(3));
    let root = m.root();
    let errors = apply_partial_conversion(&mut m, root, &target(), &[]).expect_err("nothing converts them");
    assert_eq!(errors.diagnostics().len(), 3);
    let one: Diagnostic = errors.into();
    assert_eq!(one.notes.iter().filter(|n| n.1.starts_with("failed to legalize operation 'i.a'")).count(), 2);
    let out = partially(&"\"i.a\"() : () -> ()\n".repeat(30), &target(), &[]);
    assert_eq!(out.matches("error: failed to legalize operation 'i.a'").count(), 20);
    assert!(out.contains("note: and 10 more errors"), "{out}");
}

#[test]
fn legality_may_depend_on_the_op() {
    let mut target = ConversionTarget::new("even");
    target.dynamic_op("u.a", |m, op| match m.operands(op).len() % 2 {
        0 => Ok(()),
        _ => Err(format!("it has {} operands", m.operands(op).len()).into()),
    });
    target.dynamic_unknown(|_, _| Err("only 'u.a' is known".into()));
    target.legal_op("u.b").because("all know it");
    let text = r#"
        %0 = "u.b"() : () -> i32
        "u.a"(%0, %0) : (i32, i32) -> ()
        "u.a"(%0) : (i32) -> ()
        "u.c"() : () -> ()
    "#;
    assert_snapshot!(partially(text, &target, &[]), @r#"
t.mlir:4:9: error: failed to legalize operation 'u.a' that was explicitly marked illegal
        "u.a"(%0) : (i32) -> ()
        ^
t.mlir:4:9: note: target 'even' allows op 'u.a' conditionally; here, it has 1 operands
t.mlir:4:9: note: no pattern is for 'u.a'
t.mlir:5:9: error: failed to legalize operation 'u.c' that was explicitly marked illegal
        "u.c"() : () -> ()
        ^
t.mlir:5:9: note: target 'even' allows unknown ops conditionally; here, only 'u.a' is known
t.mlir:5:9: note: no pattern is for 'u.c'
"#);
    let double = ConversionPattern::new("double", "u.a", |r, op, operands| {
        let twice = [operands.all(), operands.all()].concat();
        r.modify(op, |m| m.set_operands(op, &twice));
        Ok(())
    });
    assert_snapshot!(partially(text, &target, &[double, rename("c-to-b", "u.c", "u.b")]), @r#"
%0 = "u.b"() : () -> i32
"u.a"(%0, %0) : (i32, i32) -> ()
"u.a"(%0, %0) : (i32, i32) -> ()
"u.b"() : () -> ()
"#);
}

#[test]
fn ops_inside_recursively_legal_ops_are_not_visited() {
    let mut target = target();
    target.legal_op("u.box").recursively();
    let text = r#"
        "u.box"() ({
          "i.a"() : () -> ()
          "u.box"() ({ "i.b"() : () -> () }) : () -> ()
        }) : () -> ()
    "#;
    assert_snapshot!(partially(text, &target, &[]), @r#"
"u.box"() ({
  "i.a"() : () -> ()
  "u.box"() ({
    "i.b"() : () -> ()
  }) : () -> ()
}) : () -> ()
"#);
}

#[test]
fn ops_fold_before_patterns_are_tried() {
    let text = r#"
        %0 = "l.a"() : () -> i32
        %1 = "t.constant"() <{value = 0 : i32}> : () -> i32
        %2 = "t.constant"() <{value = 2 : i32}> : () -> i32
        %3 = "t.add"(%0, %1) : (i32, i32) -> i32
        %4 = "t.add"(%2, %2) : (i32, i32) -> i32
        "l.use"(%3, %4) : (i32, i32) -> ()
    "#;
    let mut target = target();
    target.illegal_op("t.add");
    // The constant that folding creates must be legalized too.
    assert_snapshot!(partially(text, &target, &[rename("add", "t.add", "l.add")]), @r#"
%0 = "l.a"() : () -> i32
%1 = "t.constant"() <{value = 0 : i32}> : () -> i32
%2 = "t.constant"() <{value = 2 : i32}> : () -> i32
%3 = "l.add"(%2, %2) : (i32, i32) -> i32
"l.use"(%0, %3) : (i32, i32) -> ()
"#);
    target.legal_op("t.constant");
    assert_snapshot!(partially(text, &target, &[rename("add", "t.add", "l.add")]), @r#"
%0 = "l.a"() : () -> i32
%1 = "t.constant"() <{value = 0 : i32}> : () -> i32
%2 = "t.constant"() <{value = 2 : i32}> : () -> i32
%3 = "t.constant"() <{value = 4 : i32}> : () -> i32
"l.use"(%0, %3) : (i32, i32) -> ()
"#);
}

#[test]
fn ops_are_visited_before_those_that_they_dominate() {
    let text = r#"
        "u.region"() ({
            "u.br"()[^c] : () -> ()
          ^b:
            "i.use"(%0) : (i32) -> ()
            "u.end"() : () -> ()
          ^c:
            %0 = "i.def"() : () -> i32
            "u.br"()[^b] : () -> ()
          ^unreachable:
            %1 = "i.def"() : () -> i32
            "u.end"() : () -> ()
        }) : () -> ()
    "#;
    let uses_converted = ConversionPattern::new("use", "i.use", |r, op, operands| {
        let def = r.module().defining_op(operands.one(0)?).ok_or("no op defines it")?;
        if r.module().name_text(def) != "l.def" {
            return Err("what it uses was not converted".into());
        }
        let state = like(r.module(), op, "l.use", operands.all());
        r.replace_with(op, state)?;
        Ok(())
    });
    assert_snapshot!(partially(text, &target(), &[rename("def", "i.def", "l.def"), uses_converted]), @r#"
"u.region"() ({
  "u.br"()[^bb2] : () -> ()
^bb1:  // pred: ^bb2
  "l.use"(%0) : (i32) -> ()
  "u.end"() : () -> ()
^bb2:  // pred: ^bb0
  %0 = "l.def"() : () -> i32
  "u.br"()[^bb1] : () -> ()
^bb3:  // no predecessors
  %1 = "l.def"() : () -> i32
  "u.end"() : () -> ()
}) : () -> ()
"#);
}
