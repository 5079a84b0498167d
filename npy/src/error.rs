//! Errors of reading and writing files.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file that cannot be read or written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NpyError {
    /// The file.
    pub path: PathBuf,
    /// The reason: an error of the file system, or a violation of the format.
    pub reason: String,
}

impl NpyError {
    pub(crate) fn new(path: &Path, reason: &impl ToString) -> NpyError {
        NpyError { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl Error for NpyError {}
