//! What is tested of a chunk besides its meaning.

use super::case::Case;
use super::expect::compare;
use crate::support::gradus;
use std::path::Path;

/// How to accept what changed on purpose.
const UPDATE: &str = "to accept the new output: cargo insta review, or INSTA_UPDATE=always cargo test --test golden";

/// The command fails with the expected errors and prints nothing else.
pub fn errors(case: &Case) -> Result<(), String> {
    let output = gradus(&case.command());
    compare(&case.expected, &output.err, &case.input.display().to_string())?;
    match output.code {
        0 => Err("errors are expected, but the exit status is 0".into()),
        _ if !output.out.is_empty() => Err(format!("a failing command printed a result:\n{}", output.out)),
        _ => Ok(()),
    }
}

/// The command succeeds, and all it prints is as in the snapshot.
pub fn snapshot(case: &Case) -> Result<(), String> {
    let output = gradus(&case.command());
    if output.code != 0 {
        return Err(format!("exit status {}\n{}", output.code, output.err));
    }
    let mut text = output.out;
    if !output.err.is_empty() {
        text += &format!("// ---- standard error\n{}", output.err);
    }
    // Where temporary files are differs from run to run; what the golden file is called does not.
    let name = case.file.file_name().expect("is a file").to_string_lossy();
    let text = text.replace(&case.input.display().to_string(), &name);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(case.file.parent().unwrap_or(Path::new("/")));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_input_file(&case.file);
    let check = || settings.bind(|| insta::assert_snapshot!(case.snapshot_name(), text));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).map_err(|_| UPDATE.to_owned())
}

/// Printing, parsing and printing again gives the same text.
pub fn roundtrip(case: &Case) -> Result<(), String> {
    let first = opt(case, &case.input, &[])?;
    same("printed again", &first, &opt_text(case, &first, &[])?)
}

/// The same in generic form; and the generic form means the same program.
pub fn generic(case: &Case) -> Result<(), String> {
    let first = opt(case, &case.input, &["--mlir-print-op-generic"])?;
    same("printed again", &first, &opt_text(case, &first, &["--mlir-print-op-generic"])?)?;
    same("printed from the generic form", &opt(case, &case.input, &[])?, &opt_text(case, &first, &[])?)
}

/// The program is valid after every pass, and checking it changes nothing.
pub fn verify_each(case: &Case) -> Result<(), String> {
    let run = |value: &str| {
        let output = gradus(&[case.command(), vec![format!("--verify-each={value}")]].concat());
        if output.code == 0 { Ok(output.out) } else { Err(output.err) }
    };
    same("printed with --verify-each", &run("false")?, &run("true")?)
}

/// What `gradus opt` makes of a file with these flags and no passes.
pub fn opt(case: &Case, file: &Path, flags: &[&str]) -> Result<String, String> {
    let file = file.to_str().expect("temporary files have plain names").to_owned();
    let flags = flags.iter().map(|&f| f.to_owned());
    let args: Vec<String> = ["opt".to_owned(), file].into_iter().chain(case.reading_flags()).chain(flags).collect();
    let output = gradus(&args);
    if output.code == 0 { Ok(output.out) } else { Err(format!("gradus {}\n{}", args.join(" "), output.err)) }
}

fn opt_text(case: &Case, text: &str, flags: &[&str]) -> Result<String, String> {
    let file = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
    std::fs::write(file.path(), text).map_err(|e| e.to_string())?;
    opt(case, file.path(), flags).map_err(|e| format!("{e}\nin the printed text:\n{text}"))
}

fn same(what: &str, first: &str, second: &str) -> Result<(), String> {
    if first == second {
        return Ok(());
    }
    let line = first.lines().zip(second.lines()).position(|(a, b)| a != b).unwrap_or(0);
    Err(format!("differs when {what}, from line {} on\n---- first\n{first}\n---- second\n{second}", line + 1))
}
