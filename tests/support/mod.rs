//! What several test programs use: the command line in process, and the files of a folder.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::path::{Path, PathBuf};

/// What a command did.
pub struct Output {
    /// The exit status.
    pub code: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs `gradus ARGS...` in this process.
pub fn gradus<S: AsRef<str>>(args: &[S]) -> Output {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let line = std::iter::once("gradus").chain(args.iter().map(AsRef::as_ref)).map(Into::into);
    let code = gradus::run(line, &mut gradus::Streams::new(&mut out, &mut err));
    let text = |bytes| String::from_utf8(bytes).expect("gradus prints UTF-8");
    Output { code, out: text(out), err: text(err) }
}

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files under a folder that end in `.extension`, sorted, so that tests run and report in one order.
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
