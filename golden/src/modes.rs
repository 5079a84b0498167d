//! The other tests of a file or chunk.

use crate::case::Case;
use crate::file::Golden;
use crate::run;
use gradus::runline::Output;
use std::path::Path;

/// Hint in failures of snapshots.
const UPDATE: &str = "to accept the new output: cargo insta review, or INSTA_UPDATE=always cargo test --test golden";

/// Checks that every RUN line of the file succeeds, as under lit.
pub fn run_lines(golden: &Golden) -> Result<(), String> {
    let path = golden.path.to_str().expect("golden files have plain names");
    for run in &golden.runs {
        let Output { status, err, .. } = run.run(&golden.tool, path);
        if status != 0 {
            let (text, line) = (&run.text, run.line);
            return Err(format!("line {line}: {text}\nexit status {status}\n{}", String::from_utf8_lossy(&err)));
        }
    }
    Ok(())
}

/// Checks that `gradus update-checks` would not change the file.
pub fn up_to_date(golden: &Golden) -> Result<(), String> {
    let path = golden.path.to_str().expect("golden files have plain names");
    let output = run(&golden.tool, &["update-checks", "--check", path]);
    if output.code == 0 {
        Ok(())
    } else {
        Err(format!("{}to accept: {} update-checks FILE", output.err, golden.tool.name))
    }
}

/// Checks that the command emits exactly the expected diagnostics, and prints nothing else if one of them is an error.
pub fn diagnostics(case: &Case) -> Result<(), String> {
    let verified = run(&case.tool, &case.command_verifying(true));
    if verified.code != 0 {
        let printed = run(&case.tool, &case.command_verifying(false)).err;
        return Err(format!("{}\nprinted without --verify-diagnostics:\n{printed}", verified.err));
    }
    let text = std::fs::read_to_string(&case.input).map_err(|e| e.to_string())?;
    let output = run(&case.tool, &case.command_verifying(false));
    match output.code {
        0 if text.contains("expected-error") => Err("errors are expected, but the exit status is 0".into()),
        1.. if !output.out.is_empty() => Err(format!("a failing command printed a result:\n{}", output.out)),
        _ => Ok(()),
    }
}

/// Checks that the RUN lines succeed and their output equals the snapshot.
pub fn snapshot(case: &Case) -> Result<(), String> {
    let mut text = String::new();
    for run in &case.runs {
        let output = run.run(&case.tool, case.input_name());
        let err = String::from_utf8_lossy(&output.err);
        if output.status != 0 {
            return Err(format!("{}\nexit status {}\n{err}", run.text, output.status));
        }
        if case.runs.len() > 1 {
            text += &format!("// ---- {}\n", run.text);
        }
        text += &String::from_utf8_lossy(&output.out);
        if !err.is_empty() {
            text += &format!("// ---- standard error\n{err}");
        }
    }
    // Replaces the path of the temporary file, which differs between runs.
    let name = case.file.file_name().expect("is a file").to_string_lossy();
    let text = text.replace(case.input_name(), &name);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(case.file.parent().unwrap_or(Path::new("/")));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_input_file(&case.file);
    let check = || settings.bind(|| insta::assert_snapshot!(case.snapshot_name(), text));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).map_err(|_| UPDATE.to_owned())
}

/// Checks print(parse(print(x))) = print(x).
pub fn roundtrip(case: &Case) -> Result<(), String> {
    let first = opt(case, &case.input, &[])?;
    same("printed again", &first, &opt_text(case, &first, &[])?)
}

/// Checks the same in generic form, and that the generic form parses to the same program.
pub fn generic(case: &Case) -> Result<(), String> {
    let first = opt(case, &case.input, &["--mlir-print-op-generic"])?;
    same("printed again", &first, &opt_text(case, &first, &["--mlir-print-op-generic"])?)?;
    same("printed from the generic form", &opt(case, &case.input, &[])?, &opt_text(case, &first, &[])?)
}

/// Checks that the program is valid after every pass and that verification does not change the result.
pub fn verify_each(case: &Case) -> Result<(), String> {
    let verifying = |value: &str| {
        let output = run(&case.tool, &[case.command(), vec![format!("--verify-each={value}")]].concat());
        if output.code == 0 { Ok(output.out) } else { Err(output.err) }
    };
    same("printed with --verify-each", &verifying("false")?, &verifying("true")?)
}

/// Runs `gradus opt` on a file with these flags and no passes.
pub fn opt(case: &Case, file: &Path, flags: &[&str]) -> Result<String, String> {
    let file = file.to_str().expect("temporary files have plain names").to_owned();
    let flags = flags.iter().map(|&f| f.to_owned());
    let args: Vec<String> = ["opt".to_owned(), file].into_iter().chain(case.reading_flags()).chain(flags).collect();
    let output = run(&case.tool, &args);
    if output.code == 0 {
        Ok(output.out)
    } else {
        Err(format!("{} {}\n{}", case.tool.name, args.join(" "), output.err))
    }
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
