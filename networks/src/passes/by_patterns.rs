//! Passes that consist of a list of patterns for the greedy driver.

use gradus_dialects::scf::drop_undefined_parallel;
use gradus_ir::greedy::GreedyOptions;
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, Pattern};

/// A pass that applies patterns until none matches, and counts `num-changes`.
pub(crate) struct ByPatterns(pub(crate) &'static [Pattern]);

/// Returns the names of patterns.
pub(crate) fn names(patterns: &[Pattern]) -> Vec<String> {
    patterns.iter().map(|pattern| pattern.name.to_owned()).collect()
}

impl Pass for ByPatterns {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let driver = GreedyOptions { patterns: Some(self.0), ..GreedyOptions::default() };
        let done = driver.run(m, op, cx.actions());
        drop_undefined_parallel(m, op);
        cx.count("num-changes", done.changes);
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}
