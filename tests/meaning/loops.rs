//! Ops against explicit loops, in `loops/*.mlir`: a function with the op, and one that computes the same element by
//! element.

use gradus::Tool;
use gradus::check::{Floats, Options, Reference, Verdict};
use gradus::ir::{Module, ParseOptions, parse_module, verify};
use std::path::PathBuf;

/// The programs, with their names.
fn files() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/meaning/loops");
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder can be listed").path())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("the file can be read")))
        .collect();
    files.sort();
    files
}

fn parsed(ctx: &std::sync::Arc<gradus::ir::Context>, name: &str, text: &str) -> Module {
    let m =
        parse_module(ctx, name, text.to_owned(), ParseOptions::default()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    verify(&m).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    m
}

#[test]
fn ops_are_as_explicit_loops() {
    let ctx = Tool::gradus().context();
    for (name, text) in files() {
        let (op, loops) = text.split_once("// -----").expect("two programs");
        let (op, loops) = (parsed(&ctx, &name, op), parsed(&ctx, &name, loops));
        let options = Options { inputs: 300, floats: Floats::Exact, ..Options::default() };
        let reference = Reference::new(&op, options);
        for (function, _, verdict) in reference.compare(&loops) {
            match verdict {
                Verdict::Same { inputs, .. } => assert!(inputs >= 100, "{name}: {inputs} inputs"),
                Verdict::Different(difference) => {
                    let error = reference.error(function, &difference, "in loops");
                    panic!("{name}: {}", error.render(&ctx));
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

/// The ops of dialects other than those that loops are written in.
pub fn ops() -> Vec<String> {
    let text: String = files().into_iter().map(|(_, text)| text).collect();
    let is_named =
        |word: &&str| ["addr.", "graph.", "layout.", "sparse."].iter().any(|dialect| word.starts_with(dialect));
    text.split_whitespace().filter(is_named).map(str::to_owned).collect()
}
