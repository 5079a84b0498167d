//! Errors in pipelines and counters that users write.

/// An error in a pipeline: its syntax, an unknown pass, an option of a pass, or a pass on ops that it does not run on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineError {
    /// The byte of the pipeline's text at which it is; 0 for a pass that is added without such a text.
    pub offset: usize,
    /// The message, in MLIR's words where it has some.
    pub message: String,
}

impl PipelineError {
    pub(super) fn at(offset: usize, message: impl Into<String>) -> PipelineError {
        PipelineError { offset, message: message.into() }
    }
}

impl From<String> for PipelineError {
    fn from(message: String) -> PipelineError {
        PipelineError { offset: 0, message }
    }
}

crate::message_error!(PipelineError.message);

/// An error in the text of debug counters, in MLIR's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterError(String);

crate::message_error!(CounterError);
