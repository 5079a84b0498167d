//! A text cursor for the lexical level: blanks, comments, words and balanced brackets.

use super::options::Reader;
use super::type_attr_parser::{MAX_DEPTH, Rule, bracketed_len, token_len, too_deep};

/// A cursor that moves over a text from left to right. Positions are byte offsets.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    /// Offset of the next byte.
    pub(crate) pos: usize,
    /// Whether tokens are found by the rules of the grammar, not by hand.
    by_grammar: bool,
}

/// The byte classes of bracket matching.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum ByteClass {
    Other,
    Open,
    Close,
    Quote,
    Dash,
    Slash,
}

const CLASSES: [ByteClass; 256] = {
    let mut table = [ByteClass::Other; 256];
    table[b'(' as usize] = ByteClass::Open;
    table[b'[' as usize] = ByteClass::Open;
    table[b'{' as usize] = ByteClass::Open;
    table[b'<' as usize] = ByteClass::Open;
    table[b')' as usize] = ByteClass::Close;
    table[b']' as usize] = ByteClass::Close;
    table[b'}' as usize] = ByteClass::Close;
    table[b'>' as usize] = ByteClass::Close;
    table[b'"' as usize] = ByteClass::Quote;
    table[b'-' as usize] = ByteClass::Dash;
    table[b'/' as usize] = ByteClass::Slash;
    table
};

/// Whether a byte may continue an identifier: letters, digits, `_`, `$`, `.`. Callers add `-` for value names.
const fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b == b'.'
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        Cursor { text, pos: 0, by_grammar: false }
    }

    /// Creates a cursor at the start of `text` for a reader.
    pub(crate) fn of_reader(text: &'a str, reader: Reader) -> Self {
        Cursor { text, pos: 0, by_grammar: reader == Reader::Grammar }
    }

    /// Returns the whole text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Returns a cursor at the same offset of `text`, a longer or shorter prefix of the same file.
    pub(crate) fn within(&self, text: &'a str) -> Self {
        Cursor { text, ..*self }
    }

    /// Returns the text from `start` to the current position.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.pos]
    }

    /// Returns the text from the current position on.
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    /// Returns the current byte, 0 at the end.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    /// Returns the byte `n` bytes ahead, 0 beyond the end.
    #[inline]
    pub(crate) fn peek_at(&self, n: usize) -> u8 {
        self.text.as_bytes().get(self.pos + n).copied().unwrap_or(0)
    }

    /// Whether the text is exhausted.
    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    /// Skips blanks and comments.
    #[inline]
    pub(crate) fn skip_space(&mut self) {
        // Mostly there is one blank, or none.
        self.pos += usize::from(self.peek() == b' ');
        let next = self.peek();
        if next <= b' ' || next == b'/' {
            self.skip_blanks();
        }
    }

    #[inline(never)]
    fn skip_blanks(&mut self) {
        if self.by_grammar {
            self.token(Rule::space_token);
            return;
        }
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.pos) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.pos += 1,
                Some(b'/') if bytes.get(self.pos + 1) == Some(&b'/') => self.skip_line(),
                _ => return,
            }
        }
    }

    /// Skips blanks and comments, and returns the next byte; 0 at the end.
    #[inline]
    pub(crate) fn next_byte(&mut self) -> u8 {
        self.skip_space();
        self.peek()
    }

    /// Moves over tokens and bracketed texts up to `target`. Returns whether that is outside of brackets, strings and
    /// comments; nothing is outside of a bracket that is never closed.
    pub(crate) fn reaches(&mut self, target: usize) -> bool {
        while self.pos < target {
            match self.peek() {
                b'"' if self.skip_string() => {}
                b'/' if self.peek_at(1) == b'/' => self.skip_line(),
                b'{' | b'(' | b'[' | b'<' if !self.skip_balanced() => self.pos = self.text.len(),
                b'{' | b'(' | b'[' | b'<' => {}
                _ => self.pos += self.rest().chars().next().map_or(1, char::len_utf8),
            }
        }
        self.pos == target
    }

    /// Moves to the end of the line, or to the end of the last region that opens on it.
    pub(crate) fn skip_line_and_regions(&mut self) {
        while !self.at_end() && self.peek() != b'\n' {
            let skipped = match self.peek() {
                b'"' => self.skip_string(),
                b'{' => self.skip_balanced(),
                _ => false,
            };
            if self.rest().starts_with("//") {
                return self.skip_line();
            }
            if !skipped {
                self.pos += self.rest().chars().next().map_or(0, char::len_utf8);
            }
        }
    }

    /// Moves to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        self.pos = memchr::memchr(b'\n', &self.text.as_bytes()[self.pos..]).map_or(self.text.len(), |i| self.pos + i);
    }

    /// Consumes `token` if it is next, after blanks. Inlined, so that a constant token is compared without a call.
    #[inline(always)]
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let rest = self.text.as_bytes().get(self.pos..).unwrap_or(&[]);
        // `::` is a token of its own.
        let found = rest.starts_with(token.as_bytes()) && !(token == ":" && rest.get(1) == Some(&b':'));
        if found && self.by_grammar && self.clone().token(Rule::punctuation).len() > token.len() {
            return false;
        }
        if found {
            self.pos += token.len();
        }
        found
    }

    /// Consumes the token that a rule of the grammar finds here; empty if there is none.
    #[cold]
    fn token(&mut self, rule: Rule) -> &'a str {
        let start = self.pos;
        self.pos += token_len(rule, self.rest());
        self.since(start)
    }

    /// Consumes `word` if it is next, after blanks, and not the prefix of a longer word.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        self.skip_space();
        if self.by_grammar {
            let found = self.clone().token(Rule::ident) == word;
            self.pos += if found { word.len() } else { 0 };
            return found;
        }
        let found = self.rest().starts_with(word)
            && !self.text.as_bytes().get(self.pos + word.len()).is_some_and(|&b| is_word_byte(b));
        if found {
            self.pos += word.len();
        }
        found
    }

    /// Whether result names start here (`%a, %b:2 =`), which ends the operand list of the previous op.
    pub(crate) fn begins_op(&mut self) -> bool {
        loop {
            let named = self.eat("%") && !self.suffix_id().is_empty();
            if !named {
                return false;
            }
            if self.eat(":") {
                self.skip_space();
                return self.peek().is_ascii_digit();
            }
            if !self.eat(",") {
                return self.eat("=");
            }
        }
    }

    /// Consumes a bare identifier (`[A-Za-z_][A-Za-z0-9_$.]*`); empty if there is none. Blanks are not skipped.
    #[inline]
    pub(crate) fn word(&mut self) -> &'a str {
        if self.by_grammar {
            return self.token(Rule::ident);
        }
        let start = self.pos;
        if self.peek().is_ascii_alphabetic() || self.peek() == b'_' {
            self.skip_word_bytes();
        }
        self.since(start)
    }

    /// Consumes a bare identifier or a string, of which the inside is returned as it is written; empty if neither is next,
    /// after blanks.
    pub(crate) fn word_or_string(&mut self) -> &'a str {
        self.skip_space();
        let start = self.pos;
        if self.peek() == b'"' && self.skip_string() {
            return &self.text[start + 1..self.pos - 1];
        }
        self.word()
    }

    /// Consumes the identifier after a sigil (`%`, `^`, `#`, `!`, `@`): digits, or letters, digits and `$._-`. Empty if
    /// there is none.
    #[inline]
    pub(crate) fn suffix_id(&mut self) -> &'a str {
        if self.by_grammar {
            return self.token(Rule::suffix_token);
        }
        let (bytes, start) = (self.text.as_bytes(), self.pos);
        let mut at = start;
        if bytes.get(at).is_some_and(u8::is_ascii_digit) {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        } else if bytes.get(at).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$' | b'.' | b'-')) {
            while bytes.get(at).is_some_and(|&b| is_word_byte(b) || b == b'-') {
                at += 1;
            }
        }
        self.pos = at;
        self.since(start)
    }

    /// Consumes decimal digits; empty if there are none.
    pub(crate) fn digits(&mut self) -> &'a str {
        if self.by_grammar {
            return self.token(Rule::digits);
        }
        let start = self.pos;
        while self.peek().is_ascii_digit() {
            self.pos += 1;
        }
        self.since(start)
    }

    /// Consumes an unsigned number, decimal or hexadecimal; empty if there is none.
    pub(crate) fn number(&mut self) -> &'a str {
        if self.by_grammar {
            return self.token(Rule::number);
        }
        let start = self.pos;
        let hex_digits = self.rest().strip_prefix("0x").map_or("", |rest| digits_of(rest, u8::is_ascii_hexdigit));
        if !hex_digits.is_empty() {
            self.pos += 2 + hex_digits.len();
            return self.since(start);
        }
        if self.digits().is_empty() || self.peek() != b'.' {
            return self.since(start);
        }
        self.pos += 1;
        self.digits();
        // Only a number with a point has an exponent.
        if let Some(exponent) = self.rest().strip_prefix(['e', 'E']) {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let count = digits_of(digits, u8::is_ascii_digit).len();
            self.pos += if count == 0 { 0 } else { 1 + exponent.len() - digits.len() + count };
        }
        self.since(start)
    }

    /// Consumes a number, as [`Cursor::number`] does, with an optional minus sign before it, after blanks. Returns whether it
    /// is negative, and the number.
    pub(crate) fn signed_number(&mut self) -> (bool, &'a str) {
        let negative = self.eat("-");
        self.skip_space();
        (negative, self.number())
    }

    fn skip_word_bytes(&mut self) {
        while is_word_byte(self.peek()) {
            self.pos += 1;
        }
    }

    /// Skips the string literal that starts here. Returns `false`, without moving, if it is not closed on its line.
    pub(crate) fn skip_string(&mut self) -> bool {
        if self.by_grammar {
            return !self.token(Rule::string).is_empty();
        }
        let bytes = self.text.as_bytes();
        let mut at = self.pos + 1;
        while let Some(i) = memchr::memchr3(b'"', b'\\', b'\n', &bytes[at.min(bytes.len())..]) {
            at += i;
            match bytes[at] {
                b'"' => {
                    self.pos = at + 1;
                    return true;
                }
                // A backslash does not continue a string on the next line.
                b'\\' if bytes.get(at + 1) != Some(&b'\n') => at += 2,
                _ => return false,
            }
        }
        false
    }

    /// Skips the bracketed text that starts here, honoring strings and comments. Returns `false`, without moving, if
    /// none does or brackets do not match.
    ///
    /// `>` only closes a `<`, so that comparisons may stand in parentheses; `->` is no bracket.
    pub(crate) fn skip_balanced(&mut self) -> bool {
        self.skip_closed_by(close).is_ok()
    }

    /// Skips a bracketed text as the grammar has it, in which every `<` is closed by a `>`. Fails, without moving, if no
    /// bracket comes next, if it is never closed, or if brackets in it are nested too deep.
    pub(crate) fn skip_bracketed(&mut self) -> Result<(), String> {
        self.skip_closed_by(|stack, b| stack.pop() == Some(opening(b)))
    }

    /// Skips a bracketed text, whose brackets a function pops where they are closed; it returns `false` if none is.
    fn skip_closed_by(&mut self, close: impl Fn(&mut OpenBrackets, u8) -> bool) -> Result<(), String> {
        if !matches!(CLASSES[self.peek() as usize], ByteClass::Open) {
            return Err("expected a bracket".to_string());
        }
        let never_closed = || Err("this bracket is never closed".to_string());
        if self.by_grammar {
            let len = bracketed_len(self.rest())?;
            self.pos += len;
            return if len > 0 { Ok(()) } else { never_closed() };
        }
        let bytes = self.text.as_bytes();
        let start = self.pos;
        let mut stack = OpenBrackets::new();
        let mut at = start;
        while let Some(&b) = bytes.get(at) {
            match CLASSES[b as usize] {
                ByteClass::Other => {}
                ByteClass::Open if stack.len() == MAX_DEPTH => {
                    self.pos = start;
                    return Err(too_deep());
                }
                ByteClass::Open => stack.push(b),
                ByteClass::Close => {
                    if !close(&mut stack, b) {
                        break;
                    }
                    if stack.is_empty() {
                        self.pos = at + 1;
                        return Ok(());
                    }
                }
                ByteClass::Dash => at += usize::from(bytes.get(at + 1) == Some(&b'>')),
                ByteClass::Quote => {
                    self.pos = at;
                    if !self.skip_string() {
                        break;
                    }
                    at = self.pos - 1;
                }
                ByteClass::Slash if bytes.get(at + 1) == Some(&b'/') => {
                    self.pos = at;
                    self.skip_line();
                    at = self.pos;
                    continue;
                }
                ByteClass::Slash => {}
            }
            at += 1;
        }
        self.pos = start;
        never_closed()
    }

    /// Skips a type: `!dialect.type<...>`, `(types) -> types`, `name<...>`. Returns whether there is one.
    pub(crate) fn skip_type(&mut self) -> bool {
        self.skip_space();
        match self.peek() {
            b'!' => {
                self.pos += 1;
                self.suffix_id();
                self.peek() != b'<' || self.skip_balanced()
            }
            b'(' => {
                if !self.skip_balanced() || !self.eat("->") {
                    return false;
                }
                // A function type that is a result is in parentheses.
                if self.next_byte() == b'(' { self.skip_balanced() } else { self.skip_type() }
            }
            b if b.is_ascii_alphabetic() => {
                self.word();
                self.peek() != b'<' || self.skip_balanced()
            }
            _ => false,
        }
    }

    /// Whether a type whose text comes before this place ends here: nothing follows that [`Cursor::skip_type`] could
    /// take for a part of it. Skips blanks.
    pub(crate) fn ends_type(&mut self) -> bool {
        let next = self.peek();
        let goes_on = is_word_byte(next) || matches!(next, b'-' | b'<');
        self.skip_space();
        !goes_on && self.peek() != b'-'
    }
}

/// Removes the blanks at the end that the grammar has: ASCII has others, such as form feeds.
pub(crate) fn trim_blanks_end(text: &str) -> &str {
    text.trim_end_matches([' ', '\t', '\n', '\r'])
}

/// Returns the prefix of a text whose bytes are digits.
fn digits_of(text: &str, is_digit: fn(&u8) -> bool) -> &str {
    &text[..text.bytes().take_while(is_digit).count()]
}

/// The brackets that are open, outermost first.
type OpenBrackets = smallvec::SmallVec<[u8; 32]>;

/// Returns the bracket that another one closes.
fn opening(b: u8) -> u8 {
    match b {
        b')' => b'(',
        b']' => b'[',
        b'}' => b'{',
        _ => b'<',
    }
}

/// Pops the innermost bracket that `b` closes. An unmatched `>`, and a `<` that another bracket closes, are
/// comparisons. Returns `false` if `b` closes no bracket.
fn close(stack: &mut OpenBrackets, b: u8) -> bool {
    if b == b'>' {
        if stack.last() == Some(&b'<') {
            stack.pop();
        }
        return true;
    }
    while stack.last() == Some(&b'<') {
        stack.pop();
    }
    stack.pop() == Some(opening(b))
}
