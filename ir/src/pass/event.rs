//! Outputs of a running pipeline.

use crate::diag::Diagnostic;
use std::any::Any;
use std::path::PathBuf;

/// An output of a running pipeline, in order.
#[derive(Debug)]
pub enum PassEvent {
    /// A diagnostic.
    Diagnostic(Diagnostic),
    /// Printed text.
    Text(String),
    /// A file to write; its folders may not exist.
    File {
        /// Its path.
        path: PathBuf,
        /// Its contents.
        text: String,
    },
    /// A requested report.
    Report(Box<dyn Any + Send>),
}
