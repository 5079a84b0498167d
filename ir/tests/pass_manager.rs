//! Pipelines with passes that fail, panic, emit diagnostics or break the program: the diagnostics and actions observed,
//! on one thread and on several.

use gradus_ir::pass::{
    CrashReproducer, Display, Failed, PassContext, PassEvent, Pipeline, Reproducer, RunOptions, Watch,
};
use gradus_ir::{
    Context, Diagnostic, Dialect, Effects, Module, Op, OpDecl, ParseOptions, Pass, PassInfo, PrintOptions, Traits,
    TypeConstraint, op, parse_module, symbol_name,
};
use std::sync::Arc;

const ANY: TypeConstraint = TypeConstraint { summary: "any type", check: |_, _| true, only: None };

/// A program.
#[op(
    "builtin.module",
    traits = Traits::ISOLATED.and(Traits::SYMBOL_TABLE).and(Traits::NO_TERMINATOR).and(Traits::GRAPH_REGION),
    effects = Effects::Unknown
)]
struct ModuleOp {
    /// The contents.
    body: Region,
}

/// A function.
#[op("t.func", traits = Traits::ISOLATED.and(Traits::FUNCTION).and(Traits::NO_TERMINATOR), effects = Effects::Unknown)]
struct Func {
    /// The body.
    body: Region,
}

/// An op without semantics.
#[op("t.op", effects = Effects::Unknown)]
struct Nothing {
    /// The operands, of any type.
    operands: Operands<ANY>,
}

const BUILTIN: Dialect =
    Dialect { name: "builtin", doc: "", ops: &[ModuleOp::INFO], attrs: &[], constant: None, ..Dialect::DEFAULT };
const T: Dialect =
    Dialect { name: "t", doc: "", ops: &[Func::INFO, Nothing::INFO], attrs: &[], constant: None, ..Dialect::DEFAULT };

/// A pass that runs a function on functions of given names.
struct Picky {
    names: Vec<String>,
    act: fn(&mut Module, Op, &mut PassContext<'_>) -> Result<(), Diagnostic>,
}

impl Pass for Picky {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for inner in m.ops_under(op) {
            let name = symbol_name(m, inner).map_or(String::new(), |name| m.ctx.text(name).to_owned());
            if self.names.contains(&name) {
                (self.act)(m, inner, cx)?;
            }
        }
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}

macro_rules! picky {
    ($name:ident, $text:literal, $act:expr) => {
        const $name: PassInfo = PassInfo {
            name: $text,
            statistics: &[("num-seen", "Functions")],
            options: &[gradus_ir::pass::PassOption {
                name: "in",
                doc: "Functions",
                kind: gradus_ir::pass::OptionKind::List,
            }],
            make: |options| Ok(Box::new(Picky { names: options.list("in").to_vec(), act: $act })),
            ..PassInfo::DEFAULT
        };
    };
}

picky!(REMARK, "remark", |m, op, cx| {
    cx.count("num-seen", 1);
    cx.emit(Diagnostic::remark(m.loc(op), format!("seen {}", m.ops_under(op).len())));
    Ok(())
});
picky!(FAIL, "fail", |m, op, cx| {
    cx.count("num-seen", 1);
    Err(Diagnostic::error(m.loc(op), "illegal operation").about(op))
});
picky!(PANIC, "panic", |m, op, _| {
    m.erase_block_arg(m.entry(m.regions(op)[0]).expect("a body"), 0);
    unreachable!("the argument is used")
});
picky!(BREAK, "break", |m, op, _| {
    let inner = m.ops_under(op)[1];
    let name = m.ctx.str("sym_name");
    m.set_props(inner, m.ctx.dict_attr(vec![(name, gradus_ir::Attr::UNIT)]));
    Ok(())
});
const PASSES: &[&PassInfo] = &[&REMARK, &FAIL, &PANIC, &BREAK];

/// Returns a program of functions `a`, `b`, ... with `ops` ops each.
fn program(ctx: &Arc<Context>, functions: usize, ops: usize) -> Module {
    let ops = "\"t.op\"(%x, %x) : (i32, i32) -> ()\n".repeat(ops);
    let function = |i: usize| {
        let name = char::from(b'a' + i as u8);
        format!("\"t.func\"() ({{\n^bb0(%x: i32):\n{ops}}}) {{sym_name = \"{name}\"}} : () -> ()\n")
    };
    let text: String = (0..functions).map(function).collect();
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    parse_module(ctx, "test", text, options).unwrap_or_else(|d| panic!("{}", d[0].render(ctx)))
}

/// Returns the result of a run and everything that it reports, one line each.
fn run(m: &mut Module, pipeline: &str, how: &RunOptions) -> (Result<(), Failed>, String) {
    let ctx = m.ctx.clone();
    let mut heard = String::new();
    let mut pipeline = Pipeline::parse(pipeline, PASSES).unwrap_or_else(|e| panic!("{e}"));
    let mut watch = Watch::new(|event| match event {
        PassEvent::Diagnostic(d) => {
            // The excerpts of the source are as long as the functions.
            let text = d.render(&ctx);
            heard.extend(text.lines().filter(|l| l.starts_with("test:")).map(|l| format!("{l}\n")));
        }
        PassEvent::Text(text) => heard += &text,
        PassEvent::File { path, text } => heard += &format!("file {}\n{text}", path.display()),
        PassEvent::Report(_) | PassEvent::Progress { .. } => {}
    });
    let result = pipeline.run(m, how, &mut watch);
    drop(watch);
    heard += &pipeline.statistics(Display::Nested);
    (result, heard)
}

fn context() -> Arc<Context> {
    Context::new(&[&BUILTIN, &T])
}

/// Runs on one thread and on several, expects equal reports, and returns them.
#[track_caller]
fn on_any_threads(pipeline: &str, how: &RunOptions) -> (Result<(), Failed>, String) {
    let ctx = context();
    let whole = |threads| {
        let mut m = program(&ctx, 9, 1500);
        let outcome = run(&mut m, pipeline, &RunOptions { threads, ..how.clone() });
        let text = outcome.0.map(|()| m.to_text(PrintOptions { generic: true, ..PrintOptions::default() }));
        (outcome, text)
    };
    // Source positions differ from parse to parse only in the number of the buffer.
    let (one, text) = whole(1);
    for threads in [2, 5, 0] {
        let (several, same_text) = whole(threads);
        assert_eq!(
            several.1.replace("disable_threading: false", "disable_threading: true"),
            one.1,
            "{threads} threads"
        );
        assert!(several.0 == one.0 && same_text == text, "{threads} threads");
    }
    one
}

#[test]
fn remarks_come_in_order() {
    let how = RunOptions::default();
    let (result, heard) = on_any_threads("builtin.module(t.func(remark{in=h,b,d}),remark{in=a,i})", &how);
    assert_eq!(result, Ok(()));
    let lines: Vec<&str> = heard.lines().filter_map(|l| l.split(' ').next()).filter(|l| l.ends_with(':')).collect();
    let places: Vec<u32> = lines.iter().map(|l| l.split(':').nth(1).unwrap().parse().unwrap()).collect();
    assert!(places.len() == 5 && places[..3].is_sorted() && places[3..].is_sorted(), "{heard}");
    assert!(
        heard.contains("'t.func' Pipeline\n  Remark\n    (S) 3 num-seen - Functions\nRemark\n  (S) 2 num-seen"),
        "{heard}"
    );
}

#[test]
fn a_function_that_fails_does_not_keep_the_others_from_running() {
    let how = RunOptions { op_on_diagnostic: true, ..RunOptions::default() };
    let (result, heard) = on_any_threads("builtin.module(t.func(fail{in=b,h},remark{in=a,b,i}),remark{in=a})", &how);
    assert_eq!(result, Err(Failed::Refused));
    assert_eq!(heard.matches("error: illegal operation").count(), 2, "{heard}");
    assert_eq!(heard.matches("note: see current operation").count(), 2, "{heard}");
    // Neither the rest of the pipeline runs on @b, nor the passes after the nested pipeline.
    assert_eq!(heard.matches("remark: seen").count(), 2, "{heard}");
}

#[test]
fn a_divided_pass_stops_where_it_would_on_one_thread() {
    let (result, heard) = on_any_threads("builtin.module(fail{in=d,h})", &RunOptions::default());
    assert_eq!((result, heard.matches("error: illegal operation").count()), (Err(Failed::Refused), 1), "{heard}");
    assert!(heard.contains("(S) 1 num-seen"), "{heard}");
}

#[test]
fn invalid_programs_are_detected_after_function_and_module_passes() {
    for pipeline in ["builtin.module(t.func(break{in=c,h}))", "builtin.module(break{in=c,h})"] {
        let (result, heard) = on_any_threads(pipeline, &RunOptions::default());
        assert_eq!((result, heard.matches("has no property 'sym_name'").count()), (Err(Failed::Invalid), 2), "{heard}");
        assert!(heard.contains("note: after pass 'break'"), "{heard}");
    }
    let unchecked = RunOptions { verify_each: false, ..RunOptions::default() };
    assert_eq!(on_any_threads("builtin.module(t.func(break{in=c,h}))", &unchecked).0, Ok(()));
}

#[test]
fn a_panic_is_an_error_with_advice() {
    let how = RunOptions::default();
    for pipeline in ["builtin.module(t.func(panic{in=h},remark{in=a}))", "builtin.module(panic{in=h})"] {
        let (result, heard) = on_any_threads(pipeline, &how);
        assert_eq!(result, Err(Failed::Panicked));
        assert!(heard.contains("error: pass 'panic' panicked: an erased block argument is still used"), "{heard}");
        assert!(heard.contains("with --mlir-pass-pipeline-crash-reproducer=FILE for a reproducer"), "{heard}");
    }
}

#[test]
fn a_reproducer_holds_the_program_as_it_was_and_the_pipeline() {
    let ctx = context();
    let before = program(&ctx, 2, 1).to_text(PrintOptions::default());
    let crash = |local| RunOptions {
        crash_reproducer: Some(CrashReproducer { path: "out.mlir".into(), local }),
        threads: 1,
        ..RunOptions::default()
    };
    for (pipeline, local, expected) in [
        (
            "builtin.module(remark,t.func(remark,panic{in=b}))",
            false,
            "builtin.module(remark{}, t.func(remark{},panic{in={b}}))",
        ),
        ("builtin.module(remark,t.func(remark,fail{in=b}))", true, "builtin.module(t.func(fail{in={b}}))"),
    ] {
        let (result, heard) = run(&mut program(&ctx, 2, 1), pipeline, &crash(local));
        assert_eq!(result, Err(if local { Failed::Refused } else { Failed::Panicked }));
        let name = if local { "Fail" } else { "Panic" };
        let place = format!("`{name}` on 't.func' operation: @b");
        let place = if local { place } else { format!("[{place}]") };
        let note = format!("note: Pipeline failed while executing {place}: reproducer generated at `out.mlir`");
        assert!(heard.contains(&note), "{heard}");
        let text = heard.split("file out.mlir\n").nth(1).and_then(|t| t.split("test:").next()).expect("a reproducer");
        let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
        let mut m = parse_module(&ctx, "out.mlir", text.to_owned(), options).expect("a reproducer is a program");
        let reproducer = Reproducer::take(&mut m).expect("it says what to run");
        assert_eq!(reproducer.pipeline, expected);
        assert!(reproducer.disable_threading && reproducer.verify_each);
        assert_eq!(m.to_text(PrintOptions::default()), before);
        assert!(Pipeline::parse(&reproducer.pipeline, PASSES).is_ok());
    }
}

#[test]
fn pipelines_run_on_ops_of_their_anchor() {
    let ctx = context();
    let message = |pipeline: &str| run(&mut program(&ctx, 1, 1), pipeline, &RunOptions::default()).1;
    assert!(message("t.func(remark)").contains("can't run 't.func' pass manager on 'builtin.module' op"));
    assert!(message("builtin.module(t.func(t.op(remark)))").contains("not marked as 'IsolatedFromAbove'"));
}
