//! Limits and action handlers of the greedy pattern driver, with patterns for tests only.

use gradus_ir::greedy::GreedyOptions;
use gradus_ir::pass::{Action, Actions, Observer};
use gradus_ir::{
    Context, Dialect, Module, Op, OpDecl, ParseOptions, Pattern, PrintOptions, Rewriter, TypeConstraint, op,
    parse_module,
};
use std::sync::{Arc, Mutex};

const ANY: TypeConstraint = TypeConstraint { summary: "any type", check: |_, _| true, only: None };

/// Counts down in its attribute, in steps of one or two.
#[op("t.count", patterns = &[TWO, ONE], effects = gradus_ir::Effects::Unknown)]
struct Count {
    /// An unused result.
    result: OpResult<ANY>,
}

const TWO: Pattern = Pattern { name: "by-two", run: |r, op| down(r, op, 2) };
const ONE: Pattern = Pattern { name: "by-one", run: |r, op| down(r, op, 1) };

fn down(r: &mut Rewriter<'_>, op: Op, by: i64) -> bool {
    let ctx = r.module().ctx.clone();
    let n = r.module().attr(op, ctx.str("n")).and_then(|a| ctx.as_int(a)).unwrap_or(0);
    if n < by {
        return false;
    }
    let attr = ctx.int_attr(gradus_ir::Type::I64, n - by);
    r.modify(op, |m| m.set_attr(op, "n", Some(attr)));
    true
}

const T: Dialect = Dialect { name: "t", doc: "", ops: &[Count::INFO], attrs: &[], constant: None, ..Dialect::DEFAULT };

fn program(numbers: &[i64]) -> Module {
    let ops: String = numbers.iter().map(|n| format!("%{n} = \"t.count\"() {{n = {n}}} : () -> i32\n")).collect();
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    parse_module(&Context::new(&[&T]), "test", ops, options).unwrap_or_else(|_| panic!("the test is IR"))
}

/// Returns the numbers that remain.
fn numbers(m: &Module) -> Vec<i64> {
    let key = m.ctx.str("n");
    m.block_ops(m.body()).map(|op| m.attr(op, key).and_then(|a| m.ctx.as_int(a)).unwrap_or(0)).collect()
}

#[track_caller]
fn check(options: &GreedyOptions, converged: bool, left: [i64; 2]) {
    let mut m = program(&[7, 4]);
    let root = m.root();
    assert_eq!(options.run(&mut m, root, None).converged, converged);
    assert_eq!(numbers(&m), left);
}

#[test]
fn a_pass_can_bring_its_own_patterns() {
    check(&GreedyOptions { patterns: Some(&[TWO]), ..GreedyOptions::default() }, true, [1, 0]);
    check(&GreedyOptions { patterns: Some(&[]), ..GreedyOptions::default() }, true, [7, 4]);
}

#[test]
fn patterns_can_be_chosen_by_name() {
    let options = GreedyOptions::default();
    check(&options, true, [0, 0]);
    let (by_one, by_two) = (vec!["by-one".to_owned()], vec!["by-two".to_owned()]);
    check(&GreedyOptions { disabled: by_one.clone(), ..options.clone() }, true, [1, 0]);
    check(&GreedyOptions { enabled: by_two.clone(), ..options.clone() }, true, [1, 0]);
    check(&GreedyOptions { enabled: by_two.clone(), disabled: by_two, ..options.clone() }, true, [7, 4]);
}

#[test]
fn rounds_and_rewrites_have_limits() {
    let options = GreedyOptions { max_rewrites: Some(2), max_iterations: Some(1), ..GreedyOptions::default() };
    check(&options, false, [3, 4]);
    check(&GreedyOptions { top_down: false, ..options.clone() }, false, [7, 0]);
    check(&GreedyOptions { max_iterations: Some(2), ..options.clone() }, false, [0, 4]);
    check(&GreedyOptions { max_iterations: None, ..options.clone() }, true, [0, 0]);
    check(&GreedyOptions { max_iterations: Some(0), ..options }, true, [7, 4]);
}

/// Records all actions.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Observer for Notes {
    fn before(&mut self, action: &Action<'_>, runs: bool) {
        let mark = if runs { "" } else { "not: " };
        self.0.lock().unwrap().push(format!("{mark}{} {action} {}", action.rewrites, action.unit_text()));
    }

    fn after(&mut self, tag: &'static str, _: bool) {
        self.0.lock().unwrap().push(format!("end {tag}"));
    }
}

#[test]
fn rewrites_are_numbered_and_may_be_forbidden() {
    let mut m = program(&[3]);
    let (root, notes, mut actions) = (m.root(), Notes::default(), Actions::new());
    actions.watch(Box::new(notes.clone()));
    actions.set_counters("rewrite-count=1").unwrap();
    GreedyOptions::default().run(&mut m, root, Some(&mut actions));
    assert_eq!(numbers(&m), [1]);
    let notes = notes.0.lock().unwrap();
    assert_eq!(
        *notes,
        [
            "0 GreedyPatternRewriteIteration(1) Region #0 for op \"builtin.module\"() ({...}) : () -> ()",
            "0 `apply-pattern pattern: by-two %0 = \"t.count\"() {n = 3 : i64} : () -> i32",
            "end apply-pattern",
            "not: 1 `apply-pattern pattern: by-two %0 = \"t.count\"() {n = 1 : i64} : () -> i32",
            "not: 2 `apply-pattern pattern: by-one %0 = \"t.count\"() {n = 1 : i64} : () -> i32",
            "end GreedyPatternRewriteIteration",
        ]
    );
    assert!(m.to_text(PrintOptions::default()).contains("n = 1"));
}
