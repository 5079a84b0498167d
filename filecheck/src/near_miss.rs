//! Detection of misspelt directives. LLVM's tool treats such a line as a comment, so the test checks nothing.
//!
//! At the start of a comment or line, these are near misses of the prefix `CHECK`:
//!
//! - `CHECK foo`, `CHECK-NEXT foo`, `CHECK :`: missing or misplaced colon;
//! - `CHECK_NEXT:`, `CHECK-NXT:`, `CHECKNEXT:`, `CHECK-NEXT{LITRAL}:`: invalid suffix;
//! - `CHEKC:`, `CHCK-NEXT:`: edit distance 1 from the prefix.
//!
//! Prefixes of other runs of the file and text after a comment prefix (`COM:`) are not near misses.

use crate::Options;
use crate::directive::{SUFFIXES, lines_with_directives};
use crate::source::{CHECKS, Message, SourcePosition, SourceText};
use strsim::osa_distance;

/// Returns all near misses.
pub fn find(options: &Options, source: &SourceText) -> Vec<Message> {
    let taken = lines_with_directives(options, source);
    let known = known_prefixes(options, source);
    let mut errors = Vec::new();
    for line in (0..source.num_lines()).filter(|l| !taken.contains(l)) {
        let text = source.line(line);
        for start in comment_starts(text) {
            if let Some(message) = near_miss(options, &known, &text[start..]) {
                let len = word(&text[start..]).len();
                let place = SourcePosition { source: CHECKS, offset: source.start_of(line) + start };
                errors.push(Message::error(place, message).over(len));
            }
        }
    }
    errors
}

/// Returns the starts of comments in a line, and of the line itself, after blanks.
fn comment_starts(line: &[u8]) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::new();
    let marks = (0..line.len()).filter(|&i| line[i..].starts_with(b"//") || matches!(line[i], b'#' | b';'));
    for mark in std::iter::once(0).chain(marks) {
        let skipped = line[mark..].iter().take_while(|b| matches!(b, b'/' | b'#' | b';' | b' ' | b'\t' | b'*')).count();
        if starts.last() != Some(&(mark + skipped)) {
            starts.push(mark + skipped);
        }
    }
    starts
}

fn word(text: &[u8]) -> &[u8] {
    let len = text.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
    &text[..len]
}

/// Returns the error about the word at the start of a comment, if it is a near miss.
fn near_miss(options: &Options, known: &[String], text: &[u8]) -> Option<String> {
    let word = std::str::from_utf8(word(text)).expect("ASCII");
    let after = text[word.len()..].trim_ascii_start();
    let upper = |w: &str| !w.is_empty() && !w.contains(|c: char| c.is_ascii_lowercase());
    if !upper(word) {
        return None;
    }
    let base = without_suffix(word);
    if options.comments().contains(&word) {
        return None;
    }
    for prefix in options.prefixes() {
        let Some(rest) = word.strip_prefix(prefix) else { continue };
        if rest.is_empty() || (rest.starts_with(['-', '_']) && base == prefix) {
            return Some(missing_colon(word, after));
        }
        // The prefix of another run may start with this one.
        if known.iter().any(|k| k == word || k == base) {
            return None;
        }
        let suffix = rest.trim_start_matches(['-', '_']);
        let is_known = SUFFIXES.iter().any(|s| s.0 == suffix);
        if rest.starts_with(['-', '_']) || is_known {
            return Some(unknown_suffix(prefix, word, suffix));
        }
    }
    let directive_like = text[word.len()..].starts_with(b":") || after.starts_with(b":");
    if !directive_like || base.len() < 4 || known.iter().any(|k| k == word || k == base) {
        return None;
    }
    let near = options.prefixes().into_iter().find(|prefix| osa_distance(base, prefix) == 1)?;
    Some(format!("'{word}:' is no directive; did you mean '{near}{}:'?", &word[base.len()..]))
}

fn missing_colon(word: &str, after: &[u8]) -> String {
    if after.starts_with(b":") {
        return format!("'{word} :' is no directive: the colon must follow at once");
    }
    if after.starts_with(b"{") {
        return format!("'{word}{{' is no directive: the only modifier is {{LITERAL}}, and a colon must follow");
    }
    format!("'{word}' is no directive without a colon; write COM: in front of a comment that mentions it")
}

fn unknown_suffix(prefix: &str, word: &str, suffix: &str) -> String {
    let names = SUFFIXES.iter().map(|s| s.0).chain(["COUNT-1"]);
    let limit = (suffix.len() / 3).max(1).min(suffix.len().saturating_sub(1));
    match names.map(|name| (osa_distance(suffix, name), name)).filter(|(slips, _)| *slips <= limit).min() {
        Some((_, near)) => format!("'{word}' is no directive; did you mean '{prefix}-{near}:'?"),
        None => format!("'{word}' is no directive, and no RUN line has it as a prefix"),
    }
}

/// Returns the word without its directive suffix.
fn without_suffix(word: &str) -> &str {
    let names = SUFFIXES.iter().map(|s| s.0);
    let ending = names.filter_map(|name| word.strip_suffix(name)?.strip_suffix('-')).next();
    let count = || {
        let (base, n) = word.rsplit_once("-COUNT-")?;
        n.bytes().all(|b| b.is_ascii_digit()).then_some(base)
    };
    ending.or_else(count).unwrap_or(word)
}

/// Returns the prefixes of this run, and those of RUN lines in the file.
fn known_prefixes(options: &Options, source: &SourceText) -> Vec<String> {
    let mut known: Vec<String> = options.prefixes().into_iter().map(str::to_owned).collect();
    let mut commands = String::new();
    for line in 0..source.num_lines() {
        let text = String::from_utf8_lossy(source.line(line)).into_owned();
        if let Some((_, command)) = text.split_once("RUN:") {
            commands.push_str(command.trim_end().trim_end_matches('\\'));
            commands.push(if text.trim_end().ends_with('\\') { ' ' } else { '|' });
        }
    }
    for command in commands.split('|').filter(|c| c.to_ascii_lowercase().contains("filecheck")) {
        let before = known.len();
        let mut words = command.split([' ', '=']);
        while let Some(word) = words.next() {
            if matches!(word.trim_start_matches('-'), "check-prefix" | "check-prefixes") {
                known.extend(words.next().unwrap_or("").split(',').map(str::to_owned));
            }
        }
        if known.len() == before {
            known.push("CHECK".into());
        }
    }
    known
}
