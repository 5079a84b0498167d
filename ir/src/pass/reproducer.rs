//! Reproducers: a program with its pipeline in one file, compatible with mlir-opt.

use super::PassInfo;
use super::dump::symbol;
use super::pipeline::Pipeline;
use crate::module::{Module, Op, Resource};
use crate::text::PrintOptions;
use std::path::PathBuf;

/// Options of crash reproducers.
#[derive(Clone, Debug)]
pub struct CrashReproducer {
    /// Path of the file.
    pub path: PathBuf,
    /// Whether the reproducer has only the failed pass and its input, which requires printing the program before each
    /// pass.
    pub local: bool,
}

/// The data of a reproducer besides the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reproducer {
    /// The pipeline, as text.
    pub pipeline: String,
    /// Whether threading was disabled.
    pub disable_threading: bool,
    /// Whether the program was verified after each pass.
    pub verify_each: bool,
}

const SECTION: &str = "external_resources";
const GROUP: &str = "mlir_reproducer";

impl Reproducer {
    /// Formats the file.
    pub fn to_text(&self, m: &mut Module) -> String {
        let saved = m.resources.clone();
        let group = m.resources.entry(SECTION.into()).or_default().entry(GROUP.into()).or_default();
        group.clear();
        group.insert("pipeline".into(), Resource::Text(self.pipeline.as_str().into()));
        group.insert("disable_threading".into(), Resource::Flag(self.disable_threading));
        group.insert("verify_each".into(), Resource::Flag(self.verify_each));
        let text = m.to_text(PrintOptions::default());
        m.resources = saved;
        text
    }

    /// Extracts the reproducer data of a parsed file.
    pub fn take(m: &mut Module) -> Option<Reproducer> {
        let sections = m.resources.get_mut(SECTION)?;
        let group = sections.shift_remove(GROUP)?;
        let flag = |name: &str| matches!(group.get(name), Some(Resource::Flag(true)));
        let (disable_threading, verify_each) = (flag("disable_threading"), flag("verify_each"));
        match group.get("pipeline") {
            Some(Resource::Text(text)) => {
                Some(Reproducer { pipeline: text.to_string(), disable_threading, verify_each })
            }
            _ => None,
        }
    }
}

impl Pipeline {
    /// Formats the pipeline as in MLIR's crash reproducers, with blanks between top-level passes.
    pub(super) fn reproducer_text(&self) -> String {
        let steps: Vec<String> = self.steps.iter().map(ToString::to_string).collect();
        format!("{}({})", self.anchor, steps.join(", "))
    }
}

/// Returns the pipeline that runs one pass on ops at this nesting.
pub(super) fn local_pipeline(m: &Module, op: Op, pass: &str) -> String {
    let (mut text, mut at) = (pass.to_owned(), Some(op));
    while let Some(op) = at {
        text = format!("{}({text})", m.name_text(op));
        at = m.parent_op(op);
    }
    text
}

/// Formats `` `CSE` on 'func.func' operation: @f ``.
pub(super) fn place(info: &PassInfo, m: &Module, op: Op) -> String {
    format!("`{}` on '{}' operation{}", info.class_name(), m.name_text(op), symbol(m, op))
}
