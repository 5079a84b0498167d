//! Ops in diagnostics.

use super::options::PrintOptions;
use crate::module::Module;
use crate::text::diag::Diagnostic;

/// Number of elements above which a constant is elided in a diagnostic.
const MAX_SHOWN_ELEMENTS: usize = 16;

impl Diagnostic {
    /// Adds a note with the text of the op at fault; for errors in generic form. The op must still exist.
    pub fn show_op(&mut self, m: &Module) {
        let Some(op) = self.op else { return };
        let (local_scope, elide_elements) = (true, Some(MAX_SHOWN_ELEMENTS));
        let options = PrintOptions { generic: self.is_error(), local_scope, elide_elements, ..PrintOptions::default() };
        let text = m.op_text(op, options);
        let separator = if text.contains('\n') { "\n" } else { "" };
        self.notes.insert(0, (m.loc(op), format!("see current operation: {separator}{text}")));
    }
}
