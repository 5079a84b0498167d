//! Formatting of failures: messages, hints, and the annotated input.

use crate::check_file::Directive;
use crate::directive::DirectiveKind;
use crate::source::{CHECKS, INPUT, Message, SourceText, Sources};
use crate::{Dump, Filter, Options};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Number of bytes after the start of a search that are compared for a similar line.
const NEAR_BYTES: usize = 16 << 10;
/// Number of bytes of a line and of a pattern that are compared.
const NEAR_LINE: usize = 200;

/// The meaning of an annotation in the dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    Found,
    NotFound,
    Invalid,
    Near,
    WrongLine,
    Excluded,
}

impl Mark {
    fn text(self) -> (char, &'static str) {
        match self {
            Mark::Found => ('^', ""),
            Mark::NotFound => ('X', "error: no match found from here on"),
            Mark::Invalid => ('X', "error: match failed for invalid pattern"),
            Mark::Near => ('?', "possible intended match"),
            Mark::WrongLine => ('!', "error: match on wrong line"),
            Mark::Excluded => ('!', "error: no match expected"),
        }
    }
}

/// An annotation of the input.
struct Annotation {
    label: String,
    start: usize,
    end: usize,
    mark: Mark,
}

/// The report of a run.
#[derive(Default)]
pub struct Report {
    /// The messages so far.
    pub text: String,
    annotations: Vec<Annotation>,
}

impl Report {
    /// Adds a message with its line.
    pub fn say(&mut self, sources: &Sources, message: &Message) {
        let source = sources.get(message.place.source);
        let (line, col) = source.line_col(message.place.offset);
        let Message { severity, text, .. } = message;
        let _ = writeln!(self.text, "{}:{}:{}: {severity}: {text}", source.name, line + 1, col + 1);
        let bytes = source.line(line);
        let shown = shown(bytes);
        let before = String::from_utf8_lossy(&bytes[..col.min(bytes.len())]).chars().count();
        let width = message.len.min(bytes.len().saturating_sub(col)).saturating_sub(1);
        let _ = writeln!(self.text, "{shown}\n{:before$}^{:~<width$}", "", "");
    }

    /// Adds an annotation of the input.
    pub fn mark(&mut self, directive: &Directive, (start, end): (usize, usize), mark: Mark) {
        let kind = match directive.kind {
            DirectiveKind::Plain(1) => "check".into(),
            DirectiveKind::End => "eof".into(),
            kind => kind.suffix().trim_start_matches('-').to_ascii_lowercase(),
        };
        self.annotations.push(Annotation { label: format!("{kind}:{}", directive.line), start, end, mark });
    }

    /// Appends the annotated input, restricted by the filter.
    pub fn dump(&mut self, options: &Options, sources: &Sources) {
        let input = sources.get(INPUT);
        let default = if options.dump_input == Dump::Always { Filter::All } else { Filter::Error };
        let filter = options.dump_input_filter.unwrap_or(default);
        let context = options.dump_input_context;
        let mut by_line: BTreeMap<usize, Vec<&Annotation>> = BTreeMap::new();
        for a in &self.annotations {
            by_line.entry(input.line_col(a.start).0).or_default().push(a);
        }
        let counts = |a: &&Annotation| filter == Filter::Annotation || a.mark != Mark::Found;
        let errors = by_line.iter().filter(|(_, list)| list.iter().any(counts));
        let errors: Vec<usize> = errors.map(|(line, _)| *line).collect();
        let near = |line: usize| {
            let next = errors.partition_point(|e| e + context < line);
            errors.get(next).is_some_and(|e| *e <= line + context)
        };
        let width = self.annotations.iter().map(|a| a.label.len()).max().unwrap_or(0).max(8);
        let mut out = String::new();
        let mut left_out = false;
        // One line beyond the last, for annotations at the end.
        for line in 0..=input.num_lines() {
            let marks = by_line.get(&line).map(Vec::as_slice).unwrap_or_default();
            if (line == input.num_lines() && marks.is_empty()) || !(filter == Filter::All || near(line)) {
                left_out |= line < input.num_lines();
                continue;
            }
            if std::mem::take(&mut left_out) {
                out += &format!("{:>width$}\n", "...");
            }
            dump_line(input, line, marks, width, &mut out);
        }
        if left_out {
            out += &format!("{:>width$}\n", "...");
        }
        let (name, checks) = (&input.name, &sources.get(CHECKS).name);
        let _ = write!(self.text, "\nInput file: {name}\nCheck file: {checks}\n\nInput was:\n<<<<<<\n{out}>>>>>>\n");
    }
}

fn dump_line(input: &SourceText, line: usize, marks: &[&Annotation], width: usize, out: &mut String) {
    let bytes = if line < input.num_lines() { input.line(line) } else { b"" };
    let _ = writeln!(out, "{:>width$}: {}", line + 1, shown(bytes));
    for a in marks {
        let col = input.line_col(a.start).1.min(bytes.len());
        let before = String::from_utf8_lossy(&bytes[..col]).chars().count();
        let tail = (a.end - a.start).min(bytes.len() - col).saturating_sub(1);
        let (mark, note) = a.mark.text();
        let drawn = format!("{:before$}{mark}{:~<tail$} {note}", "", "");
        let _ = writeln!(out, "{:<width$}  {}", a.label, drawn.trim_end());
    }
}

/// Returns a line with unprintable bytes replaced.
fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).replace(|c: char| c.is_control(), " ")
}

/// Returns the start of the most similar line after `from`, if any line is similar.
pub fn most_like(example: &str, input: &[u8], from: usize, to: usize) -> Option<usize> {
    let want: Vec<u8> = example.trim().bytes().take(NEAR_LINE).collect();
    let end = to.min(from + NEAR_BYTES);
    let mut best: Option<(usize, usize)> = None;
    let mut start = from;
    while start < end && want.len() > 1 {
        let len = input[start..end].iter().position(|b| *b == b'\n').unwrap_or(end - start);
        let line = &input[start..start + len];
        let blanks = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let distance = distance(&want, &line[blanks..line.len().min(blanks + NEAR_LINE)]);
        if best.is_none_or(|b| distance < b.0) {
            best = Some((distance, start + blanks));
        }
        start += len + 1;
    }
    best.filter(|(distance, _)| distance * 2 < want.len()).map(|(_, at)| at)
}

/// Returns the edit distance in which missing bytes of `want` cost 1 and extra bytes of `line` 1/2.
fn distance(want: &[u8], line: &[u8]) -> usize {
    // Twice the distance to each prefix of the line.
    let mut row: Vec<usize> = vec![0; line.len() + 1];
    for (i, w) in want.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = 2 * (i + 1);
        for (j, b) in line.iter().enumerate() {
            let same = if w == b { diagonal } else { diagonal + 2 };
            diagonal = row[j + 1];
            row[j + 1] = same.min(row[j + 1] + 2).min(row[j] + 1);
        }
    }
    // The rest of the line is free.
    row.into_iter().min().unwrap_or(0) / 2
}
