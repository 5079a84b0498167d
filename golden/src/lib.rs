//! The golden-test harness of Gradus and of tools built on it: every chunk of every `.mlir` file in a folder is several
//! tests.
//!
//! The `tests/golden.rs` of a project is one line, with `harness = false` in `Cargo.toml`:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     gradus_golden::main(&gradus::Tool::gradus(), concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
//! }
//! ```
//!
//! A file begins with `// RUN: gradus opt %s ...` (or the name of the tool), a command to paste with the file for `%s`.
//! Lines `// -----` separate chunks, which are independent programs. A file makes its assertion in one of three ways:
//!
//! - `| FileCheck %s` at the end of its RUN lines: the output matches its `// CHECK` lines. The whole file runs once, as under lit, so several chunks need `--split-input-file`.
//! - Comments `// expected-error {{text}}` in a chunk: the command emits exactly these diagnostics, each on its line (the rules of `--verify-diagnostics`, which is implied).
//! - Otherwise the command succeeds, and its whole output equals the snapshot beside the file.
//!
//! A file whose RUN lines begin with `gradus check %s`, such as the output of `gradus check --reproducer`, is one
//! program whose meaning the passes must preserve.
//!
//! A chunk without expected diagnostics is also tested in four more ways: round trip, round trip in generic form,
//! verification after each pass, and execution before and after the passes. `cargo test --test golden -- cse` runs the
//! tests with `cse` in their names.

mod case;
mod file;
mod meaning;
mod modes;
#[cfg(test)]
mod tests;

use case::Case;
use file::Golden;
use gradus::{Streams, Tool};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The result of a command.
pub struct Output {
    /// The exit status.
    pub code: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs the tests of a folder that the process arguments select.
pub fn main(tool: &Tool, folder: impl AsRef<Path>) -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = folder.as_ref().to_owned();
    let work = tempfile::tempdir().expect("a folder for the chunks can be made");
    let (mut trials, mut snapshots) = (Vec::new(), BTreeSet::new());
    let tool = Arc::new(tool.clone());
    for file in files(&folder, "mlir") {
        match Golden::read(&tool, &folder, &file, work.path()) {
            Ok(golden) => {
                let compared = golden.cases.iter().filter(|c| !golden.is_checked() && !golden.is_run() && !c.expects);
                snapshots.extend(compared.map(Case::snapshot_path));
                trials.extend(file_tests(golden));
            }
            Err(why) => {
                let name = file.strip_prefix(&folder).expect("is inside").display().to_string();
                trials.push(Trial::test(name, move || Err(Failed::from(why))));
            }
        }
    }
    let declared = tool.clone();
    trials.push(Trial::test("declarations_have_no_mistakes", move || declarations(&declared)));
    trials.push(Trial::test("no_snapshot_is_left_over", move || left_over(&folder, &snapshots)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Checks that the tool's declarations have no mistakes.
fn declarations(tool: &Tool) -> Result<(), Failed> {
    let errors: Vec<String> = tool.check_declarations().iter().map(ToString::to_string).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n").into()) }
}

/// Runs a command of the tool in this process, given its arguments without the tool's name.
pub fn run<S: AsRef<str>>(tool: &Tool, args: &[S]) -> Output {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let line = std::iter::once(tool.name).chain(args.iter().map(AsRef::as_ref)).map(Into::into);
    let code = tool.run(line, &mut Streams::new(&mut out, &mut err));
    let text = |bytes| String::from_utf8(bytes).expect("tools print UTF-8");
    Output { code, out: text(out), err: text(err) }
}

/// Returns all files under a folder with the given extension, sorted for a deterministic order.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns a path relative to the folder of the tests' package.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// Returns the tests of one file.
fn file_tests(mut golden: Golden) -> Vec<Trial> {
    let (cases, checked) = (std::mem::take(&mut golden.cases), golden.is_checked() || golden.is_run());
    let mut trials = Vec::new();
    let golden = Arc::new(golden);
    let test = |mode: &str, run: fn(&Golden) -> Result<(), String>| {
        let (golden, name) = (golden.clone(), format!("{}{mode}", golden.name));
        Trial::test(name, move || run(&golden).map_err(|why| Failed::from(format!("{why}\n{}", golden.reproduce()))))
    };
    if checked {
        trials.push(test("", modes::run_lines));
    }
    if golden.is_generated() {
        trials.push(test("::up-to-date", modes::up_to_date));
    }
    trials.extend(cases.into_iter().flat_map(|case| chunk_tests(&Arc::new(case), checked)));
    trials
}

/// Returns the tests of one chunk.
fn chunk_tests(case: &Arc<Case>, checked: bool) -> Vec<Trial> {
    let test = |mode: &str, run: fn(&Case) -> Result<(), String>| {
        let (case, name) = (case.clone(), format!("{}{mode}", case.name));
        Trial::test(name, move || run(&case).map_err(|why| Failed::from(format!("{why}\n{}", case.reproduce()))))
    };
    let mut trials = Vec::new();
    match (case.expects, checked) {
        (false, true) => {}
        (false, false) => trials.push(test("", modes::snapshot)),
        (true, false) => trials.push(test("", modes::diagnostics)),
        (true, true) if case.is_good() => trials.push(test("::diagnostics", modes::diagnostics)),
        (true, true) => {}
    }
    if case.expects || !case.is_good() {
        return trials;
    }
    trials.extend([test("::roundtrip", modes::roundtrip), test("::generic", modes::generic)]);
    if case.is_run() {
        return trials;
    }
    trials.push(test("::verify-each", modes::verify_each));
    if meaning::has_functions(case) {
        // A chunk that cannot be executed is reported as ignored, so that it does not look checked.
        trials.push(test("::meaning", meaning::check).with_ignored_flag(!meaning::can_execute(case)));
    }
    trials
}

/// Reports snapshots whose chunk no longer exists.
fn left_over(folder: &Path, used: &BTreeSet<PathBuf>) -> Result<(), Failed> {
    let all = files(folder, "snap");
    let stray: Vec<String> = all.iter().filter(|p| !used.contains(*p)).map(|p| p.display().to_string()).collect();
    if stray.is_empty() { Ok(()) } else { Err(format!("delete these: no test uses them\n{}", stray.join("\n")).into()) }
}
