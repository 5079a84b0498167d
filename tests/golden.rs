//! Golden tests: every chunk of every `.mlir` file under `tests/golden` is several tests.
//!
//! A file begins with `// RUN: gradus opt %s ...`, as a user would paste it with the file's name for `%s`; lines of
//! `// -----` divide it into chunks, which are independent programs. A chunk says what it expects in one of two ways:
//!
//! - comments `// expected-error {{text}}` (also `-note`, and `@+1`, `@-1`, `@below`, `@above`, `@unknown` after the
//!   word): the command fails with exactly these errors, each on its line;
//! - none: the command succeeds, and all it prints is the snapshot beside the file.
//!
//! A chunk of the second kind is a program, and is tested in four more ways; see [`harness::modes`] and
//! [`harness::meaning`]. So whoever adds a file gets five tests for one. `cargo test --test golden -- cse` runs those
//! with `cse` in their names.

mod harness;
mod support;

use harness::case::{Case, read_file};
use harness::{meaning, modes};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = support::root().join("tests/golden");
    let work = tempfile::tempdir().expect("a folder for the chunks can be made");
    let (mut trials, mut snapshots) = (Vec::new(), BTreeSet::new());
    for file in support::files(&folder, "mlir") {
        match read_file(&folder, &file, work.path()) {
            Ok(cases) => {
                snapshots.extend(cases.iter().filter(|c| c.expected.is_empty()).map(Case::snapshot_path));
                trials.extend(cases.into_iter().flat_map(|case| tests(&Arc::new(case))));
            }
            Err(why) => {
                let name = file.strip_prefix(&folder).expect("is inside").display().to_string();
                trials.push(Trial::test(name, move || Err(Failed::from(why))));
            }
        }
    }
    trials.push(Trial::test("no_snapshot_is_left_over", move || left_over(&folder, &snapshots)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The tests of one chunk.
fn tests(case: &Arc<Case>) -> Vec<Trial> {
    let test = |mode: &str, run: fn(&Case) -> Result<(), String>| {
        let (case, name) = (case.clone(), format!("{}{mode}", case.name));
        Trial::test(name, move || run(&case).map_err(|why| Failed::from(format!("{why}\n{}", case.reproduce()))))
    };
    if !case.expected.is_empty() {
        return vec![test("", modes::errors)];
    }
    let mut trials = vec![
        test("", modes::snapshot),
        test("::roundtrip", modes::roundtrip),
        test("::generic", modes::generic),
        test("::verify-each", modes::verify_each),
    ];
    if meaning::has_functions(case) {
        // A program of which nothing can be executed is shown as ignored: it must not look like one that was checked.
        trials.push(test("::meaning", meaning::check).with_ignored_flag(!meaning::can_execute(case)));
    }
    trials
}

/// Snapshots of chunks that are gone assert nothing.
fn left_over(folder: &std::path::Path, used: &BTreeSet<PathBuf>) -> Result<(), Failed> {
    let all = support::files(folder, "snap");
    let stray: Vec<String> = all.iter().filter(|p| !used.contains(*p)).map(|p| p.display().to_string()).collect();
    if stray.is_empty() { Ok(()) } else { Err(format!("delete these: no test uses them\n{}", stray.join("\n")).into()) }
}
