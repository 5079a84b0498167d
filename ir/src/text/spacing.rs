//! MLIR's spacing of elements that are printed by a format.

/// Whether the last element was punctuation, and whether a blank may precede the next one.
pub(super) struct Spacing {
    pub(super) punctuation: bool,
    pub(super) wanted: bool,
}

impl Spacing {
    /// Appends a literal of a format, after a blank where MLIR prints one.
    pub(super) fn literal(&mut self, text: &str, out: &mut String) {
        let single = text.len() == 1 || text == "->";
        let before = match (single, self.punctuation) {
            (false, _) => true,
            (true, true) => !text.starts_with(['>', ')', '}', ']', ',']),
            (true, false) => !text.starts_with(['<', '>', '(', ')', '{', '}', '[', ']', ',']),
        };
        if self.wanted && before {
            out.push(' ');
        }
        out.push_str(text);
        self.punctuation = !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        self.wanted = text.len() != 1 || !text.starts_with(['<', '(', '{', '[']);
    }

    /// Appends what the format says in place of the default spacing: a blank or none.
    pub(super) fn space(&mut self, blank: bool, out: &mut String) {
        if blank {
            out.push(' ');
        }
        (self.wanted, self.punctuation) = (false, true);
    }

    /// Appends the blank before a value.
    pub(super) fn value(&mut self, out: &mut String) {
        if self.wanted || !self.punctuation {
            out.push(' ');
        }
        (self.wanted, self.punctuation) = (true, false);
    }
}
