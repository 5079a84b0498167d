//! Mutations of texts: tokens deleted, repeated, swapped and taken from elsewhere, bytes flipped, brackets and numbers
//! changed.

use gradus_ir::random::Random;
use std::ops::Range;

/// Brackets and punctuation, of which one takes the place of another.
const PUNCTUATION: [&str; 22] =
    ["(", ")", "[", "]", "{", "}", "<", ">", "->", ",", ":", "=", "::", "-", "#", "%", "^", "!", "@", "\"", "//", "\n"];

const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "00",
    "0x",
    "0xF",
    "1.",
    "1.5e3",
    "1e5",
    "2147483648",
    "4294967296",
    "9223372036854775808",
    "340282366920938463463374607431768211456",
    "1x",
];

/// Returns the text after one to three mutations.
pub fn mutated(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(3) {
        let tokens = tokens(&text);
        if tokens.is_empty() {
            return text;
        }
        let token = random.pick(&tokens);
        let other = random.pick(&tokens);
        text = mutate(&text, token, other, random);
    }
    text
}

fn mutate(text: &str, token: (usize, usize), other: (usize, usize), random: &mut Random) -> String {
    let (at, with) = (token.0..token.1, &text[other.0..other.1]);
    match random.below(9) {
        0 => replace(text, at, ""),
        1 => replace(text, token.1..token.1, &text[at.clone()]),
        2 => replace(text, token.1..token.1, &format!(" {}", &text[at.clone()])),
        3 => replace(text, at, with),
        4 => {
            let (first, second) = (token.min(other), token.max(other));
            let (a, b) = (&text[first.0..first.1], &text[second.0..second.1]);
            let swapped = replace(text, second.0..second.1, a);
            if first == second { swapped } else { replace(&swapped, first.0..first.1, b) }
        }
        5 => replace(text, at, random.pick(&PUNCTUATION)),
        6 => replace(text, token.0..token.0, random.pick(&PUNCTUATION)),
        7 => {
            let numbers: Vec<_> = tokens(text).into_iter().filter(|t| text.as_bytes()[t.0].is_ascii_digit()).collect();
            let number = if numbers.is_empty() { token } else { random.pick(&numbers) };
            replace(text, number.0..number.1, random.pick(&NUMBERS))
        }
        _ => {
            let mut bytes = text.as_bytes().to_vec();
            let i = random.below(bytes.len() as u64) as usize;
            bytes[i] = random.below(128) as u8;
            String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
        }
    }
}

fn replace(text: &str, at: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..at.start], &text[at.end..])
}

/// Returns the ranges of words and of other characters that are no blanks.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let mut tokens: Vec<(usize, usize)> = Vec::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match tokens.last_mut() {
            Some(last) if is_word(c) && is_word(before) => last.1 = at + 1,
            _ if c.is_whitespace() => {}
            _ => tokens.push((at, at + c.len_utf8())),
        }
        before = c;
    }
    tokens
}
