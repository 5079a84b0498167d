//! Reproducers: a program with the pipeline to run on it, in one file that mlir-opt reads, too.

use super::PassInfo;
use super::dump::symbol;
use super::pipeline::Pipeline;
use crate::module::{Module, Op, Resource};
use crate::text::PrintOptions;
use std::path::PathBuf;

/// Where to write a reproducer when a pass fails or panics.
#[derive(Clone, Debug)]
pub struct CrashReproducer {
    /// The file.
    pub path: PathBuf,
    /// Only the pass that failed, on the program as it was before. The program is printed before each pass for that.
    pub local: bool,
}

/// What a reproducer says besides the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reproducer {
    /// The pipeline, as text.
    pub pipeline: String,
    /// Whether it ran on one thread.
    pub disable_threading: bool,
    /// Whether the program was verified after each pass.
    pub verify_each: bool,
}

const SECTION: &str = "external_resources";
const GROUP: &str = "mlir_reproducer";

impl Reproducer {
    /// The text of the file.
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

    /// Takes what a file says out of the program that was read from it.
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
    /// The pipeline as MLIR writes it into crash reproducers, with blanks between the outermost steps.
    pub(super) fn reproducer_text(&self) -> String {
        let steps: Vec<String> = self.steps.iter().map(ToString::to_string).collect();
        format!("{}({})", self.anchor, steps.join(", "))
    }
}

/// The pipeline that runs one pass on the ops where it ran.
pub(super) fn local_pipeline(m: &Module, op: Op, pass: &str) -> String {
    let (mut text, mut at) = (pass.to_owned(), Some(op));
    while let Some(op) = at {
        text = format!("{}({text})", m.name_text(op));
        at = m.parent_op(op);
    }
    text
}

/// `` `CSE` on 'func.func' operation: @f ``
pub(super) fn place(info: &PassInfo, m: &Module, op: Op) -> String {
    format!("`{}` on '{}' operation{}", info.class_name(), m.name_text(op), symbol(m, op))
}
