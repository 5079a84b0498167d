//! Parsing of directives in a check file.

use crate::near_miss;
use crate::number;
use crate::pattern::{Pattern, Site};
use crate::source::{CHECKS, Message, SourcePosition, SourceText, Sources};
use crate::variables::Variables;
use crate::{Options, Text};
use std::collections::BTreeSet;

/// The kind of a directive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectiveKind {
    /// `CHECK:`, or `CHECK-COUNT-n:` for repetitions: anywhere after the previous match.
    Plain(u32),
    /// On the next line.
    Next,
    /// On the same line.
    Same,
    /// Absent between the previous and the next match.
    Not,
    /// In any order with adjacent directives of this kind.
    Dag,
    /// Splits the input into parts that are checked independently.
    Label,
    /// The next line is empty.
    Empty,
    /// The end of the input.
    End,
}

/// The suffixes of directives, and the names of their annotations in the dump.
pub const SUFFIXES: [(&str, DirectiveKind); 6] = [
    ("NEXT", DirectiveKind::Next),
    ("SAME", DirectiveKind::Same),
    ("NOT", DirectiveKind::Not),
    ("DAG", DirectiveKind::Dag),
    ("LABEL", DirectiveKind::Label),
    ("EMPTY", DirectiveKind::Empty),
];

impl DirectiveKind {
    /// Returns the suffix such as `-NEXT`; empty for the plain kind.
    pub fn suffix(self) -> String {
        match self {
            DirectiveKind::Plain(1) => String::new(),
            DirectiveKind::Plain(_) => "-COUNT".into(),
            DirectiveKind::End => "implicit EOF".into(),
            kind => SUFFIXES.iter().find(|s| s.1 == kind).map_or(String::new(), |s| format!("-{}", s.0)),
        }
    }
}

/// A directive.
pub struct Directive {
    pub kind: DirectiveKind,
    /// Name such as `CHECK-NEXT{LITERAL}`.
    pub name: String,
    pub pattern: Pattern,
    /// 1-based line in the check file; for an implicit check, its 1-based number.
    pub line: usize,
}

/// A positional directive, with the preceding directives that have no position of their own (`-NOT`, `-DAG`).
pub struct PositionalDirective {
    pub before: Vec<usize>,
    pub directive: usize,
}

/// A parsed check file.
pub struct CheckFile {
    pub directives: Vec<Directive>,
    pub steps: Vec<PositionalDirective>,
    pub variables: Variables,
}

/// The text between a prefix and the pattern.
enum Head {
    Comment,
    Directive(DirectiveKind, bool),
    Misspelled,
    BadNot,
    BadCount,
}

/// A directive in the text: `start` of its prefix, and `end` of the text before its pattern.
struct Hit {
    prefix: usize,
    head: Head,
    start: usize,
    end: usize,
}

/// Parses the check file and the definitions on the command line.
pub fn read(options: &Options, sources: &mut Sources) -> Result<CheckFile, Vec<Message>> {
    if !options.allow_near_misses {
        let errors = near_miss::find(options, sources.get(CHECKS));
        if !errors.is_empty() {
            return Err(errors);
        }
    }
    let mut file = CheckFile { directives: Vec::new(), steps: Vec::new(), variables: Variables::new() };
    define_on_command_line(options, sources, &mut file.variables)?;
    file.implicit_nots(options, sources).map_err(|m| vec![m])?;
    file.directives(options, sources).map_err(|m| vec![m])?;
    Ok(file)
}

/// Parses `-DNAME=VALUE` and `-D#FORMAT,NAME=EXPR`.
fn define_on_command_line(options: &Options, sources: &mut Sources, vars: &mut Variables) -> Result<(), Vec<Message>> {
    let mut errors = Vec::new();
    for define in &options.defines {
        let source = sources.add(SourceText::new("command line", format!("-D{define}").into_bytes()));
        let fail = |offset: usize, text: String| Message::error(SourcePosition { source, offset }, text);
        let Some((name, value)) = define.split_once('=') else {
            errors.push(fail(2, "missing equal sign in global definition".into()));
            continue;
        };
        let result = if let Some(spec) = name.strip_prefix('#') {
            define_number(spec, value, vars)
        } else {
            define_string(name, value, vars)
        };
        errors.extend(result.err().map(|(offset, text)| fail(2 + offset, text)));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn define_string(name: &str, value: &str, vars: &mut Variables) -> Result<(), (usize, String)> {
    let (len, pseudo) = number::name(name.as_bytes()).map_err(|(o, m)| (o, m.to_owned()))?;
    if pseudo || len < name.len() {
        return Err((0, format!("invalid name in string variable definition '{name}'")));
    }
    if vars.find_number(name).is_some() {
        return Err((0, format!("numeric variable with name '{name}' already exists")));
    }
    vars.set_string(name, value.as_bytes());
    vars.declare_string(name);
    Ok(())
}

fn define_number(spec: &str, value: &str, vars: &mut Variables) -> Result<(), (usize, String)> {
    let text = format!("#{spec}:{value}");
    let block = number::block(text.as_bytes(), (1, text.len()), false, None, vars)?;
    let value = block.expr.map(|e| e.eval(vars));
    match (value, block.define) {
        (Some(Ok(value)), Some((name, id))) => {
            vars.set_number(&name, id, value);
            Ok(())
        }
        _ => Err((0, "this definition has no value".into())),
    }
}

impl CheckFile {
    fn add(&mut self, kind: DirectiveKind, prefix: &str, literal: bool, pattern: Pattern, line: usize) -> usize {
        let modifier = if literal { "{LITERAL}" } else { "" };
        let name =
            if kind == DirectiveKind::End { kind.suffix() } else { format!("{prefix}{}{modifier}", kind.suffix()) };
        self.directives.push(Directive { kind, name, pattern, line });
        self.directives.len() - 1
    }

    /// Adds `--implicit-check-not` directives, which come first.
    fn implicit_nots(&mut self, options: &Options, sources: &mut Sources) -> Result<(), Message> {
        for (i, text) in options.implicit_check_not.iter().enumerate() {
            let intro = "-implicit-check-not='";
            let source = sources.add(SourceText::new("command line", format!("{intro}{text}'").into_bytes()));
            let place = SourcePosition { source, offset: intro.len() };
            let (prefix, end) = ("IMPLICIT-CHECK", intro.len() + text.len());
            let site = Site { kind: DirectiveKind::Not, literal: false, prefix, place, end, line: i + 1 };
            let pattern = Pattern::parse(site, options, sources, &mut self.variables)?;
            self.add(DirectiveKind::Not, prefix, false, pattern, i + 1);
        }
        Ok(())
    }

    fn directives(&mut self, options: &Options, sources: &Sources) -> Result<(), Message> {
        let source = sources.get(CHECKS);
        let text = &source.bytes;
        let prefixes = options.prefixes();
        let implicit: Vec<usize> = (0..self.directives.len()).collect();
        let mut before = implicit.clone();
        let mut used = vec![false; prefixes.len()];
        for hit in hits(options, text) {
            let place = |offset| SourcePosition { source: CHECKS, offset };
            let Some(prefix) = prefixes.get(hit.prefix) else { continue };
            used[hit.prefix] = true;
            let fail = |offset: usize, text: String| Err(Message::error(place(offset), text));
            let (kind, literal) = match hit.head {
                Head::Directive(kind, literal) => (kind, literal),
                Head::Misspelled => {
                    let shown = String::from_utf8_lossy(&text[hit.start..hit.end]).into_owned();
                    return fail(hit.start, format!("misspelled directive '{shown}'"));
                }
                Head::BadNot => return fail(hit.end, format!("unsupported -NOT combo on prefix '{prefix}'")),
                Head::BadCount => {
                    return fail(hit.end, format!("invalid count in -COUNT specification on prefix '{prefix}'"));
                }
                Head::Comment => continue,
            };
            let (from, end) = pattern_range(options, text, hit.end);
            let line = source.line_col(hit.start).0 + 1;
            let site = Site { kind, literal, prefix, place: place(from), end, line };
            let pattern = Pattern::parse(site, options, sources, &mut self.variables)?;
            if kind == DirectiveKind::Label && pattern.has_variable() {
                return fail(hit.start, format!("found '{prefix}-LABEL:' with variable definition or use"));
            }
            if matches!(kind, DirectiveKind::Next | DirectiveKind::Same | DirectiveKind::Empty) && self.steps.is_empty()
            {
                let suffix = kind.suffix();
                return fail(hit.start, format!("found '{prefix}{suffix}' without previous '{prefix}: line"));
            }
            let directive = self.add(kind, prefix, literal, pattern, line);
            if matches!(kind, DirectiveKind::Dag | DirectiveKind::Not) {
                before.push(directive);
            } else {
                self.steps
                    .push(PositionalDirective { before: std::mem::replace(&mut before, implicit.clone()), directive });
            }
        }
        self.all_prefixes_used(options, &used)?;
        self.end(before, prefixes[0], text.len());
        Ok(())
    }

    /// Adds an end-of-input step for the remaining directives.
    fn end(&mut self, before: Vec<usize>, prefix: &str, offset: usize) {
        if before.is_empty() {
            return;
        }
        let pattern = Pattern::at_end(SourcePosition { source: CHECKS, offset });
        let directive = self.add(DirectiveKind::End, prefix, false, pattern, 0);
        self.steps.push(PositionalDirective { before, directive });
    }

    fn all_prefixes_used(&self, options: &Options, used: &[bool]) -> Result<(), Message> {
        let prefixes = options.prefixes();
        let missing: Vec<String> =
            prefixes.iter().zip(used).filter(|(_, used)| !**used).map(|(p, _)| format!("'{p}:'")).collect();
        let none = missing.len() == prefixes.len();
        let implicit_only = !options.implicit_check_not.is_empty() && options.check_prefixes.is_empty();
        if (!none && (missing.is_empty() || options.allow_unused_prefixes)) || implicit_only {
            return Ok(());
        }
        let es = if missing.len() > 1 { "es" } else { "" };
        let text = format!("no check strings found with prefix{es} {}", missing.join(", "));
        Err(Message::error(SourcePosition { source: CHECKS, offset: 0 }, text))
    }
}

/// Returns the range of the pattern: from after the blanks behind the colon to the end of the line.
fn pattern_range(options: &Options, text: &[u8], colon: usize) -> (usize, usize) {
    let len = text[colon..].iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(text.len() - colon);
    let end = colon + len;
    if options.strict_whitespace && options.match_full_lines {
        return (colon, end);
    }
    let blanks = text[colon..end].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    (colon + blanks, end)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'-' || b == b'_'
}

/// Returns all directives and comments in text order. Comment prefixes are numbered after the directive prefixes.
fn hits(options: &Options, text: &[u8]) -> Vec<Hit> {
    let (checks, comments) = (options.prefixes(), options.comments());
    let prefixes: Vec<&[u8]> = checks.iter().chain(&comments).map(|p| p.as_bytes()).collect();
    let mut found = Vec::new();
    let mut pos = 0;
    while pos < text.len() {
        // A prefix starts a word, so only word starts are tested.
        if !is_word(text[pos]) {
            pos += 1;
            continue;
        }
        let longest =
            prefixes.iter().enumerate().filter(|(_, p)| text[pos..].starts_with(p)).max_by_key(|(_, p)| p.len());
        let head = longest.and_then(|(i, p)| Some((i, head(text, pos + p.len(), i >= checks.len())?)));
        let Some((prefix, (head, end))) = head else {
            pos += text[pos..].iter().take_while(|b| is_word(**b)).count();
            continue;
        };
        let is_error = matches!(head, Head::Misspelled | Head::BadNot | Head::BadCount);
        found.push(Hit { prefix, head, start: pos, end });
        if is_error {
            break;
        }
        pos = pattern_range(options, text, end).1;
    }
    found
}

/// Returns the directive head at `pos`, after a prefix, and its end.
fn head(text: &[u8], pos: usize, comment: bool) -> Option<(Head, usize)> {
    let rest = &text[pos..];
    if comment {
        return rest.starts_with(b":").then_some((Head::Comment, pos + 1));
    }
    if let Some((literal, len)) = modifiers(rest) {
        return Some((Head::Directive(DirectiveKind::Plain(1), literal), pos + len));
    }
    let misspelled = rest.starts_with(b"_");
    if !misspelled && !rest.starts_with(b"-") {
        return None;
    }
    let (head, end) = suffix(text, pos + 1)?;
    Some((if misspelled { Head::Misspelled } else { head }, end))
}

/// Returns the directive head at `pos`, after a prefix and a hyphen.
fn suffix(text: &[u8], pos: usize) -> Option<(Head, usize)> {
    let rest = &text[pos..];
    if let Some(count) = rest.strip_prefix(b"COUNT-") {
        let digits = count.iter().take_while(|b| b.is_ascii_digit()).count();
        let n = std::str::from_utf8(&count[..digits])
            .ok()
            .and_then(|d| d.parse().ok())
            .filter(|n| (1..1 << 31).contains(n));
        let end = pos + 6 + digits;
        let colon = matches!(count.get(digits), Some(b':' | b'{'));
        return match n {
            Some(n) if colon => {
                modifiers(&count[digits..]).map(|(l, len)| (Head::Directive(DirectiveKind::Plain(n), l), end + len))
            }
            _ => Some((Head::BadCount, end)),
        };
    }
    let combined = ["DAG", "NEXT", "SAME", "EMPTY"].iter().any(|other| {
        let is = |s: String| rest.starts_with(s.as_bytes());
        is(format!("{other}-NOT:")) || is(format!("NOT-{other}:"))
    });
    if combined {
        return Some((Head::BadNot, pos));
    }
    let (name, kind) = SUFFIXES.iter().find(|s| rest.starts_with(s.0.as_bytes()))?;
    let (literal, len) = modifiers(&rest[name.len()..])?;
    Some((Head::Directive(*kind, literal), pos + name.len() + len))
}

/// Parses `:` or `{LITERAL}:`; returns whether it is literal, and its length.
fn modifiers(rest: &[u8]) -> Option<(bool, usize)> {
    if rest.starts_with(b":") {
        return Some((false, 1));
    }
    let blanks = |i: usize| i + rest[i..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let mut i = 1;
    if !rest.starts_with(b"{") {
        return None;
    }
    loop {
        i = blanks(i);
        rest[i..].strip_prefix(b"LITERAL")?;
        i = blanks(i + 7);
        match rest.get(i)? {
            b',' => i += 1,
            _ => break,
        }
    }
    rest[i..].starts_with(b"}:").then_some((true, i + 2))
}

/// Returns the 0-based lines in which directives and comments of the run start.
pub fn lines_with_directives(options: &Options, source: &SourceText) -> BTreeSet<usize> {
    hits(options, &source.bytes).iter().map(|hit| source.line_col(hit.start).0).collect()
}

/// The position of a directive in a check file.
pub struct Location {
    /// 0-based line.
    pub line: usize,
    /// Byte offset of the prefix in its line.
    pub column: usize,
}

/// Returns the positions of the directives of a run, without comments.
pub fn directive_places(options: &Options, checks: Text<'_>) -> Vec<Location> {
    let exact = Options { strict_whitespace: true, ..options.clone() };
    let source = SourceText::read(checks, &exact);
    let directives = hits(options, &source.bytes).into_iter().filter(|hit| !matches!(hit.head, Head::Comment));
    let places = directives.map(|hit| source.line_col(hit.start));
    places.map(|(line, column)| Location { line, column }).collect()
}
