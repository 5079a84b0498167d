//! The two readers accept the same texts, build the same programs, and find the first error on the same line: on the
//! golden files, on MLIR's own tests, and on mutations of both.
//!
//! `GRADUS_MUTATIONS=1000000 cargo test --release --workspace --test readers mutated` tries that many mutated texts.

mod mutate;

use gradus_dialects::context;
use gradus_ir::random::Random;
use gradus_ir::{ParseOptions, disagreement};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of texts read with one context, whose tables only grow.
const PER_CONTEXT: usize = 500;

/// Maximum length in bytes of texts that are mutated.
const MAX_MUTATED: usize = 1500;

/// Number of mutated texts, unless `GRADUS_MUTATIONS` says another.
const MUTATIONS: usize = 4000;

const OPTIONS: ParseOptions = ParseOptions { allow_unregistered: true, threads: 1, reader: gradus_ir::Reader::Fast };

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
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let start = next.fetch_add(PER_CONTEXT, Ordering::Relaxed);
            if start >= count {
                return;
            }
            let ctx = context();
            for i in start..count.min(start + PER_CONTEXT) {
                let (name, text) = text(i);
                if let Some(why) = disagreement(&ctx, &text, OPTIONS) {
                    found.lock().expect("no comparison panics").push(format!("{name}: {why}\n{text}\n"));
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
    let mut texts = golden();
    texts.extend(conformance());
    texts.retain(|(_, text)| text.len() <= MAX_MUTATED);
    compare(count, |i| {
        let mut random = Random::of(("mutations", i));
        let (name, text) = &texts[random.below(texts.len() as u64) as usize];
        (format!("mutation {i} of {name}"), mutate::mutated(text, &mut random))
    });
}
