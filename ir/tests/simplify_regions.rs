//! Control-flow simplification by the pattern driver. The branches are declared as in MLIR's `cf`, and the results
//! equal those of mlir-opt where it performs the same rewrite.

use gradus_ir::greedy::{GreedyOptions, RegionSimplification};
use gradus_ir::{
    Context, Dialect, Effects, Module, Op, OpDecl, ParseOptions, PrintOptions, Traits, TypeConstraint, op,
    parse_module, verify,
};
use std::ops::Range;

const ANY: TypeConstraint = TypeConstraint { summary: "any type", check: |_, _| true, only: None };

/// Branches to a block.
#[op("cf.br", traits = Traits::TERMINATOR, successor_operands = all)]
struct Br {
    /// The arguments of the block.
    args: Operands<ANY>,
    /// The destination block.
    dest: Successor,
}

/// Branches to one of two blocks.
#[op("cf.cond_br", traits = Traits::TERMINATOR.and(Traits::OPERAND_SEGMENTS), successor_operands = either)]
struct CondBr {
    /// The condition.
    condition: Operand<ANY>,
    /// The arguments of the true destination.
    then_args: Operands<ANY>,
    /// The arguments of the false destination.
    else_args: Operands<ANY>,
    /// The true destination.
    then_dest: Successor,
    /// The false destination.
    else_dest: Successor,
}

/// A sum.
#[op("t.add", effects = Effects::Pure)]
struct Add {
    /// The addends.
    values: Operands<ANY>,
    /// The sum.
    sum: OpResult<ANY>,
}

fn all(m: &Module, op: Op, _: usize) -> Range<usize> {
    0..m.operands(op).len()
}

fn either(m: &Module, op: Op, i: usize) -> Range<usize> {
    let first = 1 + m.operand_group(op, 1).len();
    if i == 0 { 1..first } else { first..m.operands(op).len() }
}

const CF: Dialect =
    Dialect { name: "cf", doc: "", ops: &[Br::INFO, CondBr::INFO], attrs: &[], constant: None, ..Dialect::DEFAULT };
const T: Dialect = Dialect { name: "t", doc: "", ops: &[Add::INFO], attrs: &[], constant: None, ..Dialect::DEFAULT };

/// Simplifies the blocks of one op and prints them.
#[track_caller]
fn check(level: RegionSimplification, body: &str, expected: &str) {
    let ctx = Context::new(&[&CF, &T]);
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let parse = |body: &str| -> Module {
        let text = format!("\"u.f\"() ({{\n{body}\n}}) : () -> ()");
        parse_module(&ctx, "test", text, options).unwrap_or_else(|d| panic!("{}", d[0].render(&ctx)))
    };
    let mut m = parse(body);
    verify(&m).unwrap_or_else(|d| panic!("{}", d[0].render(&ctx)));
    let root = m.root();
    let done = GreedyOptions { regions: level, ..GreedyOptions::default() }.run(&mut m, root, None);
    assert!(done.converged);
    verify(&m).unwrap_or_else(|d| panic!("{}", d[0].render(&ctx)));
    let want = parse(expected).to_text(PrintOptions::default());
    assert_eq!(m.to_text(PrintOptions::default()), want);
}

#[test]
fn blocks_that_unknown_ops_branch_to_are_not_merged() {
    let body = r#"
^bb0:
  "u.switch"()[^bb1, ^bb2] : () -> ()
^bb1:
  "u.end"() : () -> ()
^bb2:
  "u.end"() : () -> ()"#;
    check(RegionSimplification::Aggressive, body, body);
}

const LOOP: &str = r#"
^bb0(%a: i32, %c: i1):
  "cf.br"(%a, %a, %a)[^bb1] : (i32, i32, i32) -> ()
^bb1(%self: i32, %dead: i32, %live: i32):
  %next = "t.add"(%dead, %dead) : (i32, i32) -> i32
  %y = "u.use"(%live) : (i32) -> i32
  "cf.cond_br"(%c, %self, %next, %y)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 3, 0>}> : (i1, i32, i32, i32) -> ()
^bb2:
  "u.end"(%a) : (i32) -> ()"#;

#[test]
fn arguments_that_only_feed_themselves_go() {
    let expected = r#"
^bb0(%a: i32, %c: i1):
  "cf.br"(%a)[^bb1] : (i32) -> ()
^bb1(%live: i32):
  %y = "u.use"(%live) : (i32) -> i32
  "cf.cond_br"(%c, %y)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
^bb2:
  "u.end"(%a) : (i32) -> ()"#;
    check(RegionSimplification::Normal, LOOP, expected);
    check(RegionSimplification::Disabled, LOOP, LOOP);
}

#[test]
fn unreachable_blocks_go_even_if_they_use_each_other() {
    let body = r#"
^bb0(%a: i32):
  "u.end"(%a) : (i32) -> ()
^bb1(%u: i32):
  "u.never"(%v) ({
    "u.inner"(%v, %u) : (i32, i32) -> ()
  }) : (i32) -> ()
  "cf.br"()[^bb2] : () -> ()
^bb2:
  %v = "u.def"(%u) : (i32) -> i32
  "cf.br"(%v)[^bb1] : (i32) -> ()"#;
    check(RegionSimplification::Normal, body, "^bb0(%a: i32):\n \"u.end\"(%a) : (i32) -> ()");
}

#[test]
fn branches_to_one_block_twice_lose_both_operands() {
    let body = r#"
^bb0(%a: i32, %c: i1):
  "cf.cond_br"(%c, %a, %a, %a, %a)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 2, 2>}> : (i1, i32, i32, i32, i32) -> ()
^bb1(%dead: i32, %live: i32):
  "u.end"(%live) : (i32) -> ()"#;
    let expected = r#"
^bb0(%a: i32, %c: i1):
  "cf.cond_br"(%c, %a, %a)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, i32, i32) -> ()
^bb1(%live: i32):
  "u.end"(%live) : (i32) -> ()"#;
    check(RegionSimplification::Normal, body, expected);
}

#[test]
fn operands_forwarded_by_unregistered_branches_are_kept() {
    let body = r#"
^bb0(%a: i32):
  "u.br"(%a)[^bb1] : (i32) -> ()
^bb1(%dead: i32):
  "cf.br"(%a)[^bb1] : (i32) -> ()"#;
    check(RegionSimplification::Normal, body, body);
}

#[test]
fn equal_blocks_are_merged_and_constant_arguments_replaced() {
    let body = r#"
^bb0(%a: i32, %c: i1):
  "cf.cond_br"(%c, %a, %a)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, i32, i32) -> ()
^bb1(%x: i32):
  %0 = "u.def"(%x) : (i32) -> i32
  "u.use"(%0) : (i32) -> ()
  "cf.br"(%a)[^bb3] : (i32) -> ()
^bb2(%y: i32):
  %1 = "u.def"(%y) : (i32) -> i32
  "u.use"(%1) : (i32) -> ()
  "cf.br"(%a)[^bb3] : (i32) -> ()
^bb3(%z: i32):
  %2 = "u.def"(%z) : (i32) -> i32
  "cf.cond_br"(%c, %z)[^bb3, ^bb4] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
^bb4:
  "u.end"(%2) : (i32) -> ()"#;
    let expected = r#"
^bb0(%a: i32, %c: i1):
  "cf.cond_br"(%c)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^bb1:
  %0 = "u.def"(%a) : (i32) -> i32
  "u.use"(%0) : (i32) -> ()
  "cf.br"()[^bb2] : () -> ()
^bb2:
  %1 = "u.def"(%a) : (i32) -> i32
  "cf.cond_br"(%c)[^bb2, ^bb3] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^bb3:
  "u.end"(%1) : (i32) -> ()"#;
    check(RegionSimplification::Aggressive, body, expected);
    check(RegionSimplification::Normal, body, body);
}
