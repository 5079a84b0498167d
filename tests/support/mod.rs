//! Helpers of several tests: the command line in process, and the files of a folder.

#![allow(dead_code, unused_imports, reason = "no test program uses all of it")]

use gradus::Tool;
use gradus::egraph::report::{GRAPH, REPORT, Report};
use gradus::ir::pass::{PassEvent, Pipeline, RunOptions, Watch};
use gradus::ir::{Context, Module, ParseOptions, parse_module, verify};
pub use gradus_golden::{Output, files};
use std::path::Path;
use std::sync::Arc;

/// Runs `gradus ARGS...` in this process.
pub fn gradus<S: AsRef<str>>(args: &[S]) -> Output {
    gradus_golden::run(&Tool::gradus(), args)
}

/// Returns the root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a file.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns a source text without its modules of tests.
pub fn without_tests(text: &str) -> String {
    let (mut kept, mut lines) = (String::new(), text.lines());
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.extend([line, "\n"]);
        } else if lines.next().is_some_and(|item| item.ends_with('{')) {
            let end = &line[..line.len() - line.trim_start().len()];
            lines.by_ref().find(|line| line.strip_prefix(end) == Some("}"));
        }
    }
    kept
}

/// Returns a path relative to the root of the repository, for messages.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Asserts that no file or declaration breaks a rule.
pub fn no_failures(rule: &str, failures: &[String]) {
    assert!(failures.is_empty(), "{rule}:\n{}", failures.join("\n"));
}

/// Returns the reports of `saturate`, or its errors.
pub fn reports(tool: &Tool, m: &mut Module, options: &str) -> Result<Vec<Report>, Vec<String>> {
    let text = format!("builtin.module(saturate{{{options}}})");
    let mut pipeline = Pipeline::parse(&text, &tool.passes).expect("the pipeline is right");
    let how = RunOptions { threads: 1, reports: vec![REPORT, GRAPH], ..RunOptions::default() };
    let (mut reports, mut said, ctx) = (Vec::new(), Vec::new(), m.ctx.clone());
    let mut watch = Watch::new(|event| match event {
        PassEvent::Report(report) => reports.extend(report.downcast::<Report>().ok().map(|report| *report)),
        PassEvent::Diagnostic(d) => said.push(d.render(&ctx)),
        _ => (),
    });
    let result = pipeline.run(m, &how, &mut watch);
    drop(watch);
    if result.is_ok() { Ok(reports) } else { Err(said) }
}

/// Returns the pipeline of a target, with the numbers of its embedded machine.
pub fn pipeline_of(tool: &Tool, target: &str) -> String {
    let target = tool.targets.iter().find(|t| t.cost.name == target).expect("there is such a target");
    let machine = target.cost.machine(&tool.context()).expect("its machine is valid");
    target.pipeline(&machine).expect("it has a pipeline")
}

/// Parses a program, if the text is one.
pub fn parse(ctx: &Arc<Context>, text: &str) -> Option<Module> {
    parse_module(ctx, "program.mlir", text.to_owned(), ParseOptions::default()).ok()
}

/// Size in bytes of the header of an artifact without the section entries.
pub const HEADER: usize = 72;
/// Size in bytes of a section entry.
pub const ENTRY: usize = 24;

/// Recomputes the checksums of an artifact. Sections that are not inside of the file keep theirs.
pub fn seal(bytes: &mut [u8]) {
    let long =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize;
    let count = u32::from_le_bytes(bytes[12..16].try_into().expect("four bytes")) as usize;
    let count = count.min((bytes.len() - HEADER) / ENTRY);
    for entry in (0..count).map(|i| HEADER + ENTRY * i) {
        let (start, len) = (long(bytes, entry), long(bytes, entry + 8));
        let Some(section) = start.checked_add(len).and_then(|end| bytes.get(start..end)) else { continue };
        let checksum = crc32fast::hash(section);
        bytes[entry + 16..entry + 20].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32fast::hash(&bytes[28..HEADER + ENTRY * count]);
    bytes[24..28].copy_from_slice(&checksum.to_le_bytes());
}

/// Lowers a program by a pipeline, and verifies the result.
pub fn lowered(tool: &Tool, m: &Module, pipeline: &str) -> Module {
    let mut m = m.clone();
    let mut pipeline = Pipeline::parse(pipeline, &tool.passes).expect("it is a pipeline");
    let (mut said, ctx) = (String::new(), m.ctx.clone());
    let mut watch = Watch::new(|event| {
        if let PassEvent::Diagnostic(d) = event {
            said += &d.render(&ctx);
        }
    });
    let run = pipeline.run(&mut m, &RunOptions::default(), &mut watch);
    drop(watch);
    assert!(run.is_ok(), "{said}\n{}", m.to_text(Default::default()));
    if let Err(errors) = verify(&m) {
        panic!("{}\n{}", errors[0].render(&m.ctx), m.to_text(Default::default()));
    }
    m
}
