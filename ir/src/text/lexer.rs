//! Tokens of the short texts in declarations: assembly formats and rules.

/// A text that is read from left to right.
#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    rest: &'a str,
    /// The characters of a word besides letters and digits.
    in_words: &'static str,
}

/// A literal of a format.
pub(crate) enum Literal<'a> {
    Text(&'a str),
    /// An explicit blank (`true`), or no blank (`false`), in place of the default spacing.
    Space(bool),
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, in_words: &'static str) -> Lexer<'a> {
        Lexer { rest: text.trim(), in_words }
    }

    /// Whether nothing but blanks is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.is_empty()
    }

    /// Whether `token` is next, after blanks.
    pub(crate) fn next_is(&self, token: &str) -> bool {
        self.rest.trim_start().starts_with(token)
    }

    /// Whether one of these characters follows without a blank.
    pub(crate) fn follows(&self, characters: &[char]) -> bool {
        self.rest.starts_with(characters)
    }

    /// Consumes `token` if it is next, after blanks.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&format!("expected '{token}'"))) }
    }

    pub(crate) fn error(&self, message: &str) -> String {
        format!("{message} at '{}'", self.rest)
    }

    /// Consumes the characters, after blanks, that `is_part` accepts.
    pub(crate) fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        self.rest = self.rest.trim_start();
        let (part, rest) = self.rest.split_at(self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        part
    }

    /// Consumes a word; empty without one.
    pub(crate) fn word(&mut self) -> &'a str {
        let in_words = self.in_words;
        self.take_while(|c| c.is_ascii_alphanumeric() || in_words.contains(c))
    }

    /// Consumes a literal in backquotes; `None` if no backquote is next.
    pub(crate) fn literal(&mut self) -> Result<Option<Literal<'a>>, String> {
        self.rest = self.rest.trim_start();
        let Some(after) = self.rest.strip_prefix('`') else { return Ok(None) };
        let Some(len) = after.find('`') else { return Err(self.error("expected '`'")) };
        self.rest = &after[len + 1..];
        Ok(Some(match &after[..len] {
            "" => Literal::Space(false),
            " " => Literal::Space(true),
            text => Literal::Text(text),
        }))
    }
}
