//! Outputs of a running pipeline.

use crate::text::diag::Diagnostic;
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
    /// The progress of a long pass, which runs on this thread.
    Progress {
        /// The pass.
        pass: &'static str,
        /// How many are done.
        done: u64,
        /// The counted things, such as `candidates`.
        what: &'static str,
    },
}
