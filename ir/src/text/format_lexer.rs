//! Tokens of assembly formats.

/// A text of a format that is read from left to right.
#[derive(Clone)]
pub(super) struct FormatLexer<'a> {
    /// The name of the declaration, for messages.
    name: &'a str,
    rest: &'a str,
}

impl<'a> FormatLexer<'a> {
    pub(super) fn new(name: &'a str, text: &'a str) -> FormatLexer<'a> {
        FormatLexer { name, rest: text.trim() }
    }

    /// Whether nothing but blanks is left.
    pub(super) fn at_end(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.is_empty()
    }

    /// Whether `token` is next.
    pub(super) fn next_is(&self, token: &str) -> bool {
        self.rest.trim_start().starts_with(token)
    }

    /// Consumes `token` if it is next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&format!("expected '{token}'"))) }
    }

    pub(super) fn error(&self, message: &str) -> String {
        format!("format of '{}': {message} at '{}'", self.name, self.rest)
    }

    /// Consumes a word of letters, digits, `_` and `-`; empty if there is none.
    pub(super) fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let (word, rest) = self.rest.split_at(self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    /// Consumes a literal in backquotes and returns its text; `None` if none is next.
    pub(super) fn literal(&mut self) -> Result<Option<&'a str>, String> {
        self.rest = self.rest.trim_start();
        let Some(after) = self.rest.strip_prefix('`') else { return Ok(None) };
        let Some(len) = after.find('`') else { return Err(self.error("expected '`'")) };
        self.rest = &after[len + 1..];
        Ok(Some(&after[..len]))
    }
}
