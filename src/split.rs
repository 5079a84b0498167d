//! `--split-input-file` and `--verify-diagnostics`: processing a file as several programs with expected diagnostics.

use crate::commands::model::is_model;
use crate::expected::{Level, Verifier};
use crate::io::{self, Chunk, write};
use crate::{Failure, Streams};
use clap::{Arg, ArgMatches};
use gradus_ir::diag::Severity;
use gradus_ir::{Context, Diagnostic, Loc};
use std::sync::Arc;

/// The separator between two programs.
pub const MARKER: &str = "// -----";
/// Number of missing trailing bytes up to which a line counts as a misspelt marker.
const NEAR: usize = 2;

/// Returns the flags.
pub fn args() -> [Arg; 3] {
    let optional = |name: &'static str| Arg::new(name).long(name).num_args(0..=1).require_equals(true);
    [
        optional("split-input-file")
            .value_name("MARKER")
            .default_missing_value(MARKER)
            .help("Take what is between lines of '// -----' as programs of their own"),
        Arg::new("output-split-marker")
            .long("output-split-marker")
            .value_name("TEXT")
            .default_value(MARKER)
            .help("What is printed between two programs of a file"),
        optional("verify-diagnostics")
            .value_name("LEVEL")
            .default_missing_value("all")
            .value_parser(["", "all", "only-expected"])
            .help("Compare diagnostics with the comments 'expected-error {{...}}' in the program"),
    ]
}

/// Whether expected diagnostics are verified.
pub fn verifies(matches: &ArgMatches) -> bool {
    matches.contains_id("verify-diagnostics")
}

/// Calls `one` for each program of the input file, with the output path. Fails if one of the calls fails, or if
/// diagnostics are verified and differ from the expected ones.
pub(crate) fn each(
    matches: &ArgMatches,
    threads: usize,
    streams: &mut Streams<'_>,
    mut one: impl FnMut(&Chunk, &str, &mut Streams<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let option = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let output = option("output").expect("has a default");
    let path = option("FILE").expect("has a default");
    if is_model(path) {
        // A binary file is passed on by name.
        return one(&Chunk { name: path.to_owned(), text: Arc::default(), start: (1, 1) }, output, streams);
    }
    let whole = io::text_on(path, threads, streams)?;
    match chunks(&whole, option("split-input-file"), streams)? {
        Some(chunks) => several(matches, &chunks, &whole, streams, one),
        None if option("verify-diagnostics").is_some() => {
            several(matches, std::slice::from_ref(&whole), &whole, streams, one)
        }
        None => one(&whole, output, streams),
    }
}

/// Returns the programs of the file, if it is split.
fn chunks(whole: &Chunk, marker: Option<&str>, streams: &mut Streams<'_>) -> Result<Option<Vec<Chunk>>, Failure> {
    let marker = match marker {
        None => return Ok(None),
        Some("") => MARKER,
        Some(marker) => marker,
    };
    if marker.len() <= NEAR || !marker.is_ascii() {
        return Err(Failure::Usage(format!("the marker '{marker}' is too short, or not ASCII")));
    }
    let (chunks, near_misses) = split(whole, marker);
    near_misses.into_iter().for_each(|at| warn(whole, at, streams));
    Ok(Some(chunks))
}

fn several(
    matches: &ArgMatches,
    chunks: &[Chunk],
    whole: &Chunk,
    streams: &mut Streams<'_>,
    mut one: impl FnMut(&Chunk, &str, &mut Streams<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let option = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let level =
        option("verify-diagnostics").map(|l| if l == "only-expected" { Level::OnlyExpected } else { Level::All });
    let mut verifier = level.map(|level| Verifier::new(&whole.name, &whole.text, level));
    let (mut printed, mut failed) = (Vec::new(), false);
    for (i, chunk) in chunks.iter().enumerate() {
        if i > 0 {
            printed.extend_from_slice(option("output-split-marker").expect("has a default").as_bytes());
            printed.push(b'\n');
        }
        let mut part =
            Streams { expected: verifier.as_mut(), input: streams.input, ..Streams::new(&mut printed, streams.err) };
        match (one(chunk, "-", &mut part), &mut part.expected) {
            (Ok(()), _) => {}
            (Err(Failure::Reported), _) => failed = true,
            (Err(Failure::Input(message) | Failure::Usage(message)), Some(verifier)) => {
                verifier.process(&Context::new(&[]), &Diagnostic::error(Loc::UNKNOWN, message));
            }
            (Err(other), _) => return Err(other),
        }
    }
    if let Some(verifier) = verifier {
        let (good, report) = verifier.finish();
        let _ = streams.err.write_all(report.as_bytes());
        failed = !good;
    }
    // The output file is written only if all programs succeed, as for a single program.
    let output = option("output").expect("has a default");
    if output == "-" || !failed {
        write(output, streams, |out| out.write_all(&printed))?;
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

fn warn(whole: &Chunk, at: usize, streams: &mut Streams<'_>) {
    let ctx = Context::new(&[]);
    let place = Loc::source(ctx.add_source(&whole.name, whole.text.clone()), at);
    let mut warning = Diagnostic::error(place, "near miss with file split marker");
    warning.severity = Severity::Warning;
    let _ = streams.err.write_all(warning.render(&ctx).as_bytes());
}

/// Splits a text at markers, and returns the positions of misspelt ones. A marker may stand anywhere in a line.
pub fn split(whole: &Chunk, marker: &str) -> (Vec<Chunk>, Vec<usize>) {
    let text = whole.text.as_str();
    let (stem, rest) = marker.split_at(marker.len() - NEAR);
    let (mut chunks, mut near_misses) = (Vec::new(), Vec::new());
    let (mut from, mut place) = (0, whole.start);
    let mut add = |from: usize, to: usize, chunks: &mut Vec<Chunk>| {
        let part = Arc::new(text[from..to].to_owned());
        chunks.push(Chunk { name: whole.name.clone(), text: part, start: place });
        place = after(place, &text[from..(to + marker.len()).min(text.len())]);
    };
    for (at, _) in text.match_indices(stem) {
        let behind = &text[at + stem.len()..];
        // As in mlir-opt, a marker at the end of the text does not start a program.
        if behind.starts_with(rest) && behind.len() > rest.len() {
            add(from, at, &mut chunks);
            from = at + marker.len();
        } else {
            near_misses.push(at + stem.len());
        }
    }
    if from < text.len() {
        add(from, text.len(), &mut chunks);
    }
    (chunks, near_misses)
}

/// Returns the line and column after a text that starts at `place`.
fn after((line, column): (u32, u32), text: &str) -> (u32, u32) {
    match text.rsplit_once('\n') {
        None => (line, column.saturating_add(text.len() as u32)),
        Some((before, last)) => {
            let lines = 1 + before.bytes().filter(|b| *b == b'\n').count();
            (line.saturating_add(lines as u32), last.len() as u32 + 1)
        }
    }
}
