//! Ops in diagnostics.

use super::options::PrintOptions;
use crate::diag::Diagnostic;
use crate::module::Module;

/// Constants of more elements are left out where a diagnostic shows an op.
const MAX_SHOWN_ELEMENTS: usize = 16;

impl Diagnostic {
    /// Adds a note that shows the op that it is about, in generic form if it is an error. The op must still be there.
    pub fn show_op(&mut self, m: &Module) {
        let Some(op) = self.op else { return };
        let (local_scope, elide_elements) = (true, Some(MAX_SHOWN_ELEMENTS));
        let options = PrintOptions { generic: self.is_error(), local_scope, elide_elements, ..PrintOptions::default() };
        let text = m.op_text(op, options);
        let separator = if text.contains('\n') { "\n" } else { "" };
        self.notes.insert(0, (m.loc(op), format!("see current operation: {separator}{text}")));
    }
}
