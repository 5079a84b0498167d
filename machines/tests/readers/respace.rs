//! Moves white space, comments and line breaks between tokens, which changes nothing that a text means.

use gradus_ir::random::Random;

/// Comments that look like code. mlir-opt counts their brackets in the body of a dialect's attribute.
pub const COMMENTS: [&str; 2] = [" // a comment: (}<\" -> #x = %y\n", "\n// : tensor<2xf32> loc(\n"];

/// Blanks between two tokens.
const BLANKS: [&str; 9] = [" ", "\n", "  ", "\t", "\r\n", "\n\n  ", COMMENTS[0], "//\n", COMMENTS[1]];

/// Attributes whose body is read as tokens.
const ENUMERATIONS: [&str; 3] = ["#arith.fastmath", "#arith.overflow", "#vector.kind"];

/// Punctuation of several characters.
const LONG: [&str; 8] = ["->", "::", "...", ">=", "<=", "==", "{-#", "#-}"];

/// Percentage of the places between two tokens that change.
const CHANGED: [u64; 3] = [5, 30, 100];

/// Returns the text with other blanks between its tokens.
pub fn respaced(text: &str, random: &mut Random) -> String {
    let (mut out, mut rest) = (String::new(), text);
    let changed = random.pick(&CHANGED);
    let mut before = "";
    loop {
        let begin = rest.len() - skip_blanks(rest).len();
        let (gap, tail) = rest.split_at(begin);
        if tail.is_empty() {
            return out + gap;
        }
        let token = &tail[..token_len(tail)];
        let is_glued = gap.is_empty() && (before.is_empty() || is_one_name(before, token));
        if is_glued || !random.percent(changed) {
            out.push_str(gap);
        } else if gap.is_empty() || random.percent(80) || are_words(before, token) {
            out.push_str(random.pick(&BLANKS));
        }
        push_token(token, random.percent(changed / 5), random, &mut out);
        (before, rest) = (token, &tail[token.len()..]);
    }
}

/// Appends a token, of which the extents of a shape are tokens of their own if `apart` is set.
fn push_token(token: &str, apart: bool, random: &mut Random, out: &mut String) {
    let mut rest = token;
    while apart
        && !rest.starts_with("0x")
        && let Some((extent, tail)) = rest.split_once('x')
        && !extent.is_empty()
        && extent.bytes().all(|b| b.is_ascii_digit())
    {
        out.push_str(&[extent, random.pick(&BLANKS), "x", random.pick(&BLANKS)].concat());
        rest = tail;
    }
    out.push_str(rest);
}

/// Whether two tokens without a blank between them are read as one.
fn is_one_name(before: &str, token: &str) -> bool {
    // `%0#1`; the body of a dialect's type or attribute.
    before.starts_with('%') && token.starts_with('#') || before.starts_with(['#', '!']) && token.starts_with('<')
}

/// Whether two tokens need a blank between them.
fn are_words(before: &str, token: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_.$-\"".contains(c);
    before.ends_with(is_word) && token.starts_with(is_word)
        || before.ends_with(['%', '#', '!', '^', '@', '-', ':', '/'])
        || token.starts_with(['<', ':', '#', '>', '='])
}

/// Returns the text without leading blanks and comments.
fn skip_blanks(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches([' ', '\t', '\n', '\r']);
        if !text.starts_with("//") {
            return text;
        }
        text = text.find('\n').map_or("", |end| &text[end..]);
    }
}

/// Returns the length of the token at the start of a text. The body of a dialect's type or attribute is part of it, since
/// dialects keep it as text.
fn token_len(text: &str) -> usize {
    let word = |from: usize, more: &str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || more.contains(c);
        from + text[from..].find(|c| !is_word(c)).unwrap_or(text.len() - from)
    };
    if let Some(long) = LONG.iter().find(|token| text.starts_with(**token)) {
        return long.len();
    }
    let first = text.chars().next().unwrap_or(' ');
    match first {
        '"' => string_len(text),
        '@' if text[1..].starts_with('"') => 1 + string_len(&text[1..]),
        '@' => word(1, "$."),
        '%' | '^' => word(1, "$.-"),
        '#' | '!' => {
            let name = word(1, "$.-");
            let is_dialect = text[name..].starts_with('<') && !ENUMERATIONS.contains(&&text[..name]);
            name + if is_dialect { bracketed_len(&text[name..]) } else { 0 }
        }
        c if c.is_ascii_digit() => number_len(text).unwrap_or_else(|| word(0, "$.")),
        c if c.is_ascii_alphabetic() || c == '_' => word(0, "$."),
        _ => first.len_utf8(),
    }
}

/// Returns the length of the float at the start of a text.
fn number_len(text: &str) -> Option<usize> {
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    if !text[whole..].starts_with('.') {
        return None;
    }
    let end = digits(whole + 1);
    let exponent = text[end..].strip_prefix(['e', 'E']).map_or(end, |rest| {
        let sign = usize::from(rest.starts_with(['+', '-']));
        if rest[sign..].starts_with(|c: char| c.is_ascii_digit()) { digits(end + 1 + sign) } else { end }
    });
    Some(exponent)
}

fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Returns the length of the bracketed body at the start of a text.
fn bracketed_len(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < text.len() {
        let rest = &text[at..];
        at += match rest.as_bytes()[0] {
            b'"' => string_len(rest),
            b'-' if rest.starts_with("->") => 2,
            b'<' | b'(' | b'[' | b'{' => {
                depth += 1;
                1
            }
            b'>' | b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        if depth == 0 {
            return at;
        }
    }
    text.len()
}
