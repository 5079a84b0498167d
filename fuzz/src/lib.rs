//! The fuzz targets: each function reads arbitrary bytes and panics on a defect, and only then.
//!
//! The engine, libFuzzer, keeps inputs that reach new code. Targets that need programs take the bytes as the tape of
//! choices from which the generator grows one.

use bytes::Bytes;
use gradus::Tool;
use gradus::check::bisect::{Checked, Subject};
use gradus::check::Options;
use gradus::generate::coverage::Statistics;
use gradus::generate::{Library, Limits, grow};
use gradus::ir::pass::{Pipeline, RunOptions};
use gradus::ir::random::Random;
use gradus::ir::{
    Context, Module, ParseOptions, PrintOptions, disagreement, first_difference, parse_module, read_again, verify,
};
use gradus::lowering::onnx_to_graph::{ImportOptions, Imported, import};
use gradus::plan::csv::Table;
use gradus::plan::{Budget, Pool, Problem, plan, validate};
use gradus::runtime::artifact::{self, Artifact};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Number of inputs read with one context, whose tables only grow.
const PER_CONTEXT: u32 = 2000;

const OPTIONS: ParseOptions = ParseOptions { allow_unregistered: true, threads: 1, reader: gradus::ir::Reader::Fast };

/// Calls `run` with a context that several inputs share.
fn with_context(run: impl FnOnce(&Arc<Context>)) {
    thread_local!(static SHARED: RefCell<Option<(Arc<Context>, u32)>> = const { RefCell::new(None) });
    SHARED.with_borrow_mut(|shared| {
        let (ctx, uses) = shared.get_or_insert_with(|| (Tool::gradus().context(), 0));
        *uses += 1;
        run(ctx);
        if *uses >= PER_CONTEXT {
            *shared = None;
        }
    });
}

/// Parses a text, verifies the program, and reads again what is printed of it.
pub fn reader(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    with_context(|ctx| {
        let Ok(m) = parse_module(ctx, "input", text.to_owned(), OPTIONS) else { return };
        if verify(&m).is_err() {
            return;
        }
        let print = PrintOptions { generic: true, debug_info: true, ..PrintOptions::default() };
        let again = read_again(&m, print, OPTIONS);
        let again = again.unwrap_or_else(|d| panic!("{}\n{}", d[0].render(ctx), m.to_text(print)));
        let difference = first_difference(&m, &again, print);
        assert!(difference.is_none(), "read again: {difference:?}");
    });
}

/// Compares the two readers on a text.
pub fn readers(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    with_context(|ctx| {
        let found = disagreement(ctx, text, OPTIONS);
        assert!(found.is_none(), "{}", found.unwrap_or_default());
    });
}

/// Imports an ONNX model, and verifies the program.
pub fn onnx(bytes: &[u8]) {
    let bytes = Bytes::copy_from_slice(bytes);
    with_context(|ctx| {
        if let Ok(Imported { module: m, .. }) = import(ctx, bytes, "input", &ImportOptions::default()) {
            let errors = verify(&m).err();
            assert!(
                errors.is_none(),
                "the importer made an invalid program:\n{}",
                errors.unwrap_or_default()[0].render(ctx)
            );
        }
    });
}

/// Reads a compiled program: the bytes as they are, and as sections whose checksums are right.
pub fn artifact(bytes: &[u8]) {
    let sections: Vec<&[u8]> = bytes.split(|&b| b == 0xFF).collect();
    with_context(|ctx| {
        for file in [bytes.to_vec(), container(&sections)] {
            let _ = Artifact::open("input", file.into()).and_then(|artifact| artifact.read(ctx));
        }
    });
}

/// Returns a compiled program with the given sections; see [`artifact`](mod@artifact) for the format.
fn container(sections: &[&[u8]]) -> Vec<u8> {
    let head = 72 + 24 * sections.len();
    // The version and machine of a target named 'cpu' precede the entries.
    let mut checked = [&[0; 12][..], b"cpu", &[0; 29]].concat();
    let (mut body, mut at) = (Vec::new(), head);
    for section in sections {
        let start = at.next_multiple_of(64);
        body.resize(body.len() + start - at, 0);
        body.extend_from_slice(section);
        checked.extend_from_slice(&(start as u64).to_le_bytes());
        checked.extend_from_slice(&(section.len() as u64).to_le_bytes());
        checked.extend_from_slice(&crc32fast::hash(section).to_le_bytes());
        checked.extend_from_slice(&[0; 4]);
        at = start + section.len();
    }
    let mut file = artifact::MAGIC.to_vec();
    file.extend_from_slice(&artifact::VERSION.to_le_bytes());
    file.extend_from_slice(&(sections.len() as u32).to_le_bytes());
    file.extend_from_slice(&(at as u64).to_le_bytes());
    file.extend_from_slice(&crc32fast::hash(&checked).to_le_bytes());
    file.extend_from_slice(&checked);
    file.extend_from_slice(&body);
    file
}

/// Reads the buffers of a CSV file, plans them, and validates the plan. The first byte chooses the capacity.
pub fn csv(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let Ok(table) = Table::parse(text, first & 1 != 0) else { return };
    let capacity = (first & 2 != 0).then_some(1 << (first >> 2));
    let Ok(problem) = Problem::new(table.buffers.clone(), vec![Pool { capacity }], Vec::new()) else { return };
    if let Ok(found) = plan(&problem, Budget::steps(20_000), &mut |_| ControlFlow::Continue(())) {
        assert_eq!(validate(&problem, &found), Ok(()));
    }
}

/// Runs one to three passes over a generated program, verified after each and checked by execution.
pub fn passes(bytes: &[u8]) {
    let tool = Tool::gradus();
    checked(bytes, &[], |random| {
        let mut pipeline = Pipeline::on("builtin.module");
        for _ in 0..=random.below(3) {
            let pass = random.pick(&tool.passes);
            // Some passes need options or run on other ops.
            let _ = pipeline.add(pass, "");
        }
        pipeline.to_string()
    });
}

/// Saturates a generated program with rules of all dialects, and checks the extracted program by execution.
pub fn rules(bytes: &[u8]) {
    checked(bytes, &["arith", "math", "graph", "func"], |random| {
        let model = random.pick(&["ops", "scalar", "flops", "arbitrary"]);
        format!("builtin.module(saturate{{target={model} max-iterations=4 max-nodes=2000 max-steps=5000}})")
    });
}

/// Grows a program of the dialects from a tape, draws a pipeline, and checks what it does.
fn checked(bytes: &[u8], dialects: &'static [&str], pipeline: impl FnOnce(&mut Random) -> String) {
    thread_local!(static LIBRARY: RefCell<Option<(Library, u32)>> = const { RefCell::new(None) });
    // Two bytes are a choice: few choices have more alternatives.
    let tape: Vec<u64> =
        bytes.chunks(2).map(|b| u64::from(b[0]) | b.get(1).map_or(0, |&b| u64::from(b) << 8)).collect();
    let (head, tail) = tape.split_at(tape.len().min(4));
    let pipeline = pipeline(&mut Random::replay(head.to_vec()));
    let program = LIBRARY.with_borrow_mut(|shared| {
        let (library, uses) = shared.get_or_insert_with(|| {
            let dialects: Vec<String> = dialects.iter().map(|&d| d.to_owned()).collect();
            (Library::new(&Tool::gradus().context(), &dialects), 0)
        });
        *uses += 1;
        let limits = Limits { ops: 12, inputs: 2 };
        let grown = grow(library, Random::replay(tail.to_vec()), limits, &mut Statistics::default()).module;
        if *uses >= PER_CONTEXT {
            *shared = None;
        }
        grown
    });
    check(&program, &pipeline);
}

fn check(program: &Module, pipeline: &str) {
    let tool = Tool::gradus();
    let render = |d: &[gradus::ir::Diagnostic]| d.iter().map(|d| d.render(&program.ctx)).collect::<String>();
    let parse = || Pipeline::parse(pipeline, &tool.passes);
    if parse().is_err() {
        return;
    }
    if verify(program).is_err() {
        // A mistake of the generator, which `gradus fuzz` reports.
        return;
    }
    let subject = Subject {
        program: &|| program.clone(),
        pipeline: &|| parse().expect("it was parsed before"),
        how: RunOptions { threads: 1, ..RunOptions::default() },
        options: Options { inputs: 4, exhaustive: 0, fuel: 1 << 10, ..Options::default() },
        executions: &[],
    };
    let checked = subject.check();
    if checked.errors().is_empty() || checked.is_refused() {
        return;
    }
    let found = render(checked.errors());
    panic!("{pipeline}\n{found}\n{}", program.to_text(PrintOptions::default()));
}
