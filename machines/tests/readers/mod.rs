//! The two readers accept the same texts, build the same programs, and find the first error on the same line: on the
//! golden files, on MLIR's own tests, and on mutations of both.
//!
//! `GRADUS_MUTATIONS=1000000 cargo test --release --workspace --test suite mutated` tries that many mutated texts, and
//! `GRADUS_RESPACED=100000 cargo test --release --workspace --test suite respaced` moves the blanks of that many.

mod mutate;
mod respace;

use gradus_ir::random::Random;
use gradus_ir::{Context, ParseOptions, PrintOptions, Reader, disagreement, parse_source};
use gradus_machines::context;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Number of texts read with one context, whose tables only grow.
const PER_CONTEXT: usize = 500;

/// Maximum length in bytes of texts that are mutated.
const MAX_MUTATED: usize = 1500;

/// Number of mutated texts, unless `GRADUS_MUTATIONS` says another.
const MUTATIONS: usize = 4000;

/// Number of texts with other blanks, unless `GRADUS_RESPACED` says another, and how many of them mlir-opt reads.
const RESPACED: usize = 2000;
const BY_MLIR_OPT: usize = 100;

const OPTIONS: ParseOptions = ParseOptions { allow_unregistered: true, threads: 1, reader: Reader::Fast };

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Named texts: the parts of the golden files.
fn golden() -> Vec<(String, String)> {
    let (mut open, mut texts) = (vec![root().join("tests/golden")], Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("the folder can be read");
            open.extend(entries.map(|entry| entry.expect("the folder can be read").path()));
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let parts = text.split("// -----").enumerate();
            texts.extend(parts.map(|(i, part)| (format!("{}:{i}", path.display()), part.to_owned())));
        }
    }
    texts.sort();
    assert!(texts.len() > 400, "golden files are missing");
    texts
}

/// Named texts: MLIR's own tests, valid and invalid, in both forms.
fn conformance() -> Vec<(String, String)> {
    let file = std::fs::File::open(root().join("tests/conformance/mlir-dev.tar.gz")).expect("the archive exists");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut texts = Vec::new();
    for entry in archive.entries().expect("the archive can be read") {
        let mut entry = entry.expect("the archive is whole");
        let name = entry.path().expect("paths are plain").display().to_string();
        let mut text = String::new();
        if name.ends_with(".mlir") && entry.read_to_string(&mut text).is_ok() {
            texts.push((name, text));
        }
    }
    assert!(texts.len() > 8000, "tests are missing");
    texts
}

/// Compares the readers on `count` texts, on two threads.
fn compare(count: usize, text: impl Fn(usize) -> (String, String) + Sync) {
    run(count, |ctx, i| {
        let (name, text) = text(i);
        disagreement(ctx, &text, OPTIONS).map(|why| format!("{name}: {why}\n{text}\n"))
    });
}

/// Runs a test `count` times, on two threads. It returns what is wrong with its text.
fn run(count: usize, test: impl Fn(&Arc<Context>, usize) -> Option<String> + Sync) {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let start = next.fetch_add(PER_CONTEXT, Ordering::Relaxed);
            if start >= count {
                return;
            }
            let ctx = context();
            for i in start..count.min(start + PER_CONTEXT) {
                if let Some(why) = test(&ctx, i) {
                    found.lock().expect("no comparison panics").push(why);
                }
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let mut found = found.into_inner().expect("no comparison panics");
    found.sort_by_key(String::len);
    if let Ok(path) = std::env::var("GRADUS_DISAGREEMENTS") {
        std::fs::write(path, found.join("\n=====\n")).expect("the file can be written");
    }
    let shown = found.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(found.is_empty(), "{} of {count} texts are read differently:\n{shown}", found.len());
}

#[test]
fn golden_files_are_read_alike() {
    let texts = golden();
    compare(texts.len(), |i| texts[i].clone());
}

#[test]
fn conformance_tests_are_read_alike() {
    let texts = conformance();
    compare(texts.len(), |i| texts[i].clone());
}

/// Inputs on which fuzzing found a defect.
#[test]
fn regressions_are_read_alike() {
    let entries = std::fs::read_dir(root().join("fuzz/regressions/readers")).expect("the folder can be read");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let texts: Vec<_> =
        paths.filter_map(|path| Some((path.display().to_string(), std::fs::read_to_string(path).ok()?))).collect();
    assert!(!texts.is_empty(), "regressions are missing");
    compare(texts.len(), |i| texts[i].clone());
}

#[test]
fn mutated_texts_are_read_alike() {
    let count = std::env::var("GRADUS_MUTATIONS").map_or(MUTATIONS, |n| n.parse().expect("a number"));
    let texts = short_texts();
    compare(count, |i| {
        let mut random = Random::of(("mutations", i));
        let (name, text) = &texts[random.below(texts.len() as u64) as usize];
        (format!("mutation {i} of {name}"), mutate::mutated(text, &mut random))
    });
}

/// Returns the `i`-th text of those of at most `MAX_MUTATED` bytes, with its name and with other blanks between its tokens.
fn respaced(texts: &[(String, String)], i: usize) -> (String, &str, String) {
    let mut random = Random::of(("blanks", i));
    let (name, text) = &texts[random.below(texts.len() as u64) as usize];
    (format!("blanks {i} of {name}"), text, respace::respaced(text, &mut random))
}

fn short_texts() -> Vec<(String, String)> {
    let mut texts = golden();
    texts.extend(conformance());
    texts.retain(|(_, text)| text.len() <= MAX_MUTATED);
    texts
}

/// Returns the program that a reader finds in a text, in generic form, or the first error.
fn program(ctx: &Arc<Context>, text: &str, reader: Reader) -> Result<String, String> {
    let source = ctx.add_source("text", Arc::new(text.to_owned()));
    let module =
        parse_source(ctx, source, ParseOptions { reader, ..OPTIONS }).map_err(|errors| errors[0].render(ctx))?;
    Ok(module.to_text(PrintOptions { generic: true, ..PrintOptions::default() }))
}

#[test]
fn respaced_texts_mean_the_same() {
    let texts = short_texts();
    let count = std::env::var("GRADUS_RESPACED").map_or(RESPACED, |n| n.parse().expect("a number"));
    run(count, |ctx, i| {
        let (name, text, respaced) = respaced(&texts, i);
        let before = program(ctx, text, Reader::Fast).ok()?;
        [Reader::Fast, Reader::Grammar].into_iter().find_map(|reader| {
            let after = program(ctx, &respaced, reader).unwrap_or_else(|error| error);
            (after != before).then(|| format!("{name}, reader {reader:?}:\n{respaced}\n{after}\n"))
        })
    });
}

/// The command of mlir-opt, if it is installed.
fn mlir_opt() -> Option<&'static str> {
    ["mlir-opt-22", "mlir-opt"].into_iter().find(|command| Command::new(command).arg("--version").output().is_ok())
}

/// Returns what mlir-opt prints of a text; `None` if it rejects the text.
fn by_mlir_opt(command: &str, text: &str) -> Option<String> {
    let mut file = tempfile::NamedTempFile::new().expect("a file can be written");
    file.write_all(text.as_bytes()).expect("a file can be written");
    let mut call = Command::new(command);
    call.args(["--allow-unregistered-dialect", "--mlir-print-op-generic"]).arg(file.path());
    let output = call.output().expect("mlir-opt can be run");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The blanks that the tests move stand between tokens for mlir-opt, too.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped comparison says so")]
fn respaced_texts_mean_the_same_to_mlir_opt() {
    let Some(command) = mlir_opt() else {
        return eprintln!("skipped: there is no mlir-opt");
    };
    let texts = short_texts();
    run(BY_MLIR_OPT, |_, i| {
        let (name, text, mut respaced) = respaced(&texts, i);
        respace::COMMENTS.iter().for_each(|comment| respaced = respaced.replace(comment, " // a comment\n"));
        let before = by_mlir_opt(command, text)?;
        (by_mlir_opt(command, &respaced).as_ref() != Some(&before)).then(|| format!("{name}:\n{respaced}\n"))
    });
}
