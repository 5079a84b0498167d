//! Pass options, declared with kind and default, and written in MLIR's syntax.
//!
//! Options are `name=value` pairs separated by blanks. A value with blanks is in quotes or braces. A list is `a,b,{c
//! d}` and accumulates if its option is repeated; other repeated options take the last value. A boolean may be a bare
//! name.

use super::error::PipelineError;
use crate::text::diag::hint;
use std::fmt::{self, Write};

/// The declaration of a pass option.
pub struct PassOption {
    /// Name in `--pass="name=value"`.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Kind and default value.
    pub kind: OptionKind,
}

/// The kind of an option's value, with its default.
#[derive(Clone, Copy)]
pub enum OptionKind {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// Any text.
    Text(&'static str),
    /// An enumeration: the default, and all cases with descriptions.
    Word(&'static str, &'static [(&'static str, &'static str)]),
    /// A list of texts, empty by default.
    List,
}

impl OptionKind {
    /// Returns the placeholder in help texts.
    pub fn placeholder(&self) -> String {
        match self {
            OptionKind::Bool(_) => "<bool>".into(),
            OptionKind::Int(_) => "<long>".into(),
            OptionKind::Float(_) => "<number>".into(),
            OptionKind::Text(_) => "<string>".into(),
            OptionKind::Word(_, words) => words.iter().map(|w| w.0).collect::<Vec<_>>().join("|"),
            OptionKind::List => "<string>,...".into(),
        }
    }

    /// Returns the default as text; empty for none.
    pub fn default_text(&self) -> String {
        Setting::default_of(*self).to_string()
    }
}

/// The value of an option.
#[derive(Clone, PartialEq, Debug)]
enum Setting {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<String>),
}

impl Setting {
    fn default_of(kind: OptionKind) -> Setting {
        match kind {
            OptionKind::Bool(b) => Setting::Bool(b),
            OptionKind::Int(n) => Setting::Int(n),
            OptionKind::Float(x) => Setting::Float(x),
            OptionKind::Text(s) | OptionKind::Word(s, _) => Setting::Text(s.into()),
            OptionKind::List => Setting::List(Vec::new()),
        }
    }

    /// Parses a value; lists accumulate.
    fn set(&mut self, option: &PassOption, value: Option<&str>) -> Result<(), String> {
        let fail = |what: String| Err(format!("for the --{} option: {what}", option.name));
        let Some(value) = value.or(matches!(self, Setting::Bool(_)).then_some("true")) else {
            return fail("requires a value!".into());
        };
        match (self, option.kind) {
            (Setting::Bool(b), _) => match value {
                "true" | "TRUE" | "True" | "1" | "" => *b = true,
                "false" | "FALSE" | "False" | "0" => *b = false,
                _ => return fail(format!("'{value}' is invalid value for boolean argument! Try 0 or 1")),
            },
            (Setting::Int(n), _) => match value.parse() {
                Ok(value) => *n = value,
                Err(_) => return fail(format!("'{value}' value invalid for long argument!")),
            },
            (Setting::Float(x), _) => match value.parse() {
                Ok(value) => *x = value,
                Err(_) => return fail(format!("'{value}' value invalid for floating point argument!")),
            },
            (Setting::Text(_), OptionKind::Word(_, words)) if !words.iter().any(|w| w.0 == value) => {
                return fail(format!("Cannot find option named '{value}'!"));
            }
            (Setting::Text(text), _) => value.clone_into(text),
            (Setting::List(items), _) => split_list(value, items, 0),
        }
        Ok(())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Bool(b) => write!(f, "{b}"),
            Setting::Int(n) => write!(f, "{n}"),
            Setting::Float(x) => f.write_str(&scientific(*x)),
            Setting::Text(text) => word(f, text, ""),
            Setting::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    word(f, item, ",")?;
                }
                Ok(())
            }
        }
    }
}

/// Formats a text, in braces if it contains a delimiter.
fn word(f: &mut fmt::Formatter<'_>, text: &str, ends: &str) -> fmt::Result {
    if text.contains(|c: char| c.is_whitespace() || "{}'\"".contains(c) || ends.contains(c)) {
        return write!(f, "{{{text}}}");
    }
    f.write_str(text)
}

/// Formats a number like C's `%e`.
fn scientific(x: f64) -> String {
    let text = format!("{x:.6e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// The values of a pass's options, given or default. They are equal if the values are.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Names with values, sorted by name.
    values: Vec<(&'static str, Setting)>,
    /// The names of those that were given.
    given: Vec<&'static str>,
}

impl PartialEq for Options {
    fn eq(&self, other: &Options) -> bool {
        self.values == other.values
    }
}

impl Options {
    /// Parses `a=1 b={x y}`. Errors name the option.
    pub fn parse(declared: &'static [PassOption], text: &str) -> Result<Options, PipelineError> {
        let mut values: Vec<_> = declared.iter().map(|o| (o.name, Setting::default_of(o.kind))).collect();
        values.sort_by_key(|row| row.0);
        Options { values, given: Vec::new() }.with(declared, text)
    }

    /// Parses further options of the same pass.
    pub(super) fn with(mut self, declared: &'static [PassOption], mut text: &str) -> Result<Options, PipelineError> {
        while let Some(argument) = next_argument(&mut text) {
            let name = argument.0;
            let Some(option) = declared.iter().find(|o| o.name == name) else {
                let hint = hint(name, declared.iter().map(|o| o.name));
                return Err(format!("<Pass-Options-Parser>: no such option {name}{hint}").into());
            };
            let row = self.values.iter_mut().find(|row| row.0 == name).expect("all that are declared are there");
            row.1.set(option, argument.1)?;
            if !self.given.contains(&option.name) {
                self.given.push(option.name);
            }
        }
        Ok(self)
    }

    /// Whether an option was given, rather than left to its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// Whether a boolean option is set. Panics if it is not declared as such, which is a bug in the pass.
    pub fn bool(&self, name: &str) -> bool {
        match self.setting(name) {
            Setting::Bool(b) => *b,
            other => panic!("option '{name}' is {other:?}"),
        }
    }

    /// Returns the value of an integer option. Panics if it is not declared as such.
    pub fn int(&self, name: &str) -> i64 {
        match self.setting(name) {
            Setting::Int(n) => *n,
            other => panic!("option '{name}' is {other:?}"),
        }
    }

    /// Returns the value of a float option. Panics if it is not declared as such.
    pub fn float(&self, name: &str) -> f64 {
        match self.setting(name) {
            Setting::Float(x) => *x,
            other => panic!("option '{name}' is {other:?}"),
        }
    }

    /// Returns the value of a text or enumeration option. Panics if it is not declared as such.
    pub fn text(&self, name: &str) -> &str {
        match self.setting(name) {
            Setting::Text(text) => text,
            other => panic!("option '{name}' is {other:?}"),
        }
    }

    /// Returns the value of a list option. Panics if it is not declared as such.
    pub fn list(&self, name: &str) -> &[String] {
        match self.setting(name) {
            Setting::List(items) => items,
            other => panic!("option '{name}' is {other:?}"),
        }
    }

    fn setting(&self, name: &str) -> &Setting {
        let row = self.values.iter().find(|row| row.0 == name);
        &row.unwrap_or_else(|| panic!("option '{name}' is not declared")).1
    }
}

/// Formats `{a=1 b={x y}}` with all options, as MLIR does: an empty list leaves only its blank. Empty without options. `{:#}` leaves out
/// those that were not given.
impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_short = f.alternate();
        let shown = self.values.iter().filter(|row| !is_short || self.is_given(row.0));
        let is_empty = shown.clone().next().is_none();
        for (i, (name, setting)) in shown.enumerate() {
            f.write_char(if i == 0 { '{' } else { ' ' })?;
            match setting {
                Setting::List(items) if items.is_empty() => {}
                Setting::List(_) => write!(f, "{name}={{{setting}}}")?,
                _ => write!(f, "{name}={setting}")?,
            }
        }
        f.write_str(if is_empty { "" } else { "}" })
    }
}

/// Consumes the next `name` or `name=value`.
fn next_argument<'t>(rest: &mut &'t str) -> Option<(&'t str, Option<&'t str>)> {
    *rest = rest.trim_ascii_start();
    if rest.is_empty() {
        return None;
    }
    let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
    let (name, tail) = rest.split_at(end);
    let Some(value) = tail.strip_prefix('=') else {
        *rest = tail;
        return Some((name, None));
    };
    let end = end_of_value(value, |c| c.is_ascii_whitespace());
    *rest = &value[end..];
    Some((name, Some(unquoted(&value[..end]))))
}

/// Returns the end of the value at the start of the text: the first byte that `ends` outside quotes and braces. An
/// unclosed quote or brace is an ordinary character.
fn end_of_value(text: &str, ends: impl Fn(u8) -> bool) -> usize {
    let closing = closing_braces(text);
    let mut at = 0;
    while at < text.len() && !ends(text.as_bytes()[at]) {
        at += match text.as_bytes()[at] {
            quote @ (b'"' | b'\'') => text[at + 1..].find(char::from(quote)).map_or(1, |n| n + 2),
            b'{' => closing[at].map_or(1, |close| close + 1 - at),
            _ => 1,
        };
    }
    at
}

/// Returns the position of the closing brace for each opening brace.
fn closing_braces(text: &str) -> Vec<Option<usize>> {
    let (mut closing, mut open) = (vec![None; text.len()], Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open.push(at),
            b'}' => drop(open.pop().map(|start| closing[start] = Some(at))),
            _ => {}
        }
    }
    closing
}

fn unquoted(value: &str) -> &str {
    let pairs = [('{', '}'), ('"', '"'), ('\'', '\'')];
    let inside = pairs.iter().find_map(|&(open, close)| value.strip_prefix(open)?.strip_suffix(close));
    inside.unwrap_or(value)
}

/// Maximum nesting depth of lists; deeper ones are text.
const MAX_NESTING: usize = 16;

/// Splits a list; braces around several items are ignored.
fn split_list(text: &str, items: &mut Vec<String>, depth: usize) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = end_of_value(rest, |c| c == b',');
        let item = &rest[..end];
        let inner = unquoted(item);
        if inner.len() < item.len() && item.starts_with('{') && inner.contains(',') && depth < MAX_NESTING {
            split_list(inner, items, depth + 1);
        } else {
            items.push(inner.to_owned());
        }
        rest = rest.get(end + 1..).unwrap_or("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[PassOption] = &[
        PassOption { name: "top-down", doc: "", kind: OptionKind::Bool(true) },
        PassOption { name: "max", doc: "", kind: OptionKind::Int(10) },
        PassOption { name: "cost", doc: "", kind: OptionKind::Float(0.3) },
        PassOption { name: "mode", doc: "", kind: OptionKind::Word("greedy", &[("greedy", ""), ("lazy", "")]) },
        PassOption { name: "label", doc: "", kind: OptionKind::Text("") },
        PassOption { name: "off", doc: "", kind: OptionKind::List },
    ];

    fn parse(text: &str) -> Result<Options, String> {
        Options::parse(DECLARED, text).map_err(|e| e.message)
    }

    #[test]
    fn values_are_typed_and_the_last_counts() {
        let o = parse("  max={3}  top-down=0 cost=2 mode='lazy' max=\"4\" label={x y}").unwrap();
        assert_eq!((o.int("max"), o.bool("top-down"), o.float("cost")), (4, false, 2.0));
        assert_eq!((o.text("mode"), o.text("label")), ("lazy", "x y"));
        assert_eq!(o.to_string(), "{cost=2.000000e+00 label={x y} max=4 mode=lazy  top-down=false}");
        assert!(parse("top-down=false top-down").unwrap().bool("top-down"));
        assert_eq!(parse("").unwrap().to_string(), "{cost=3.000000e-01 label= max=10 mode=greedy  top-down=true}");
    }

    #[test]
    fn given_options_are_known() {
        let o = parse("max=10 label={x y} max=10").unwrap();
        assert!(o.is_given("max") && !o.is_given("cost"));
        assert_eq!(format!("{o:#}"), "{label={x y} max=10}");
        assert_eq!(format!("{:#}", parse("").unwrap()), "");
        assert_eq!(parse("max=10").unwrap(), parse("").unwrap());
    }

    #[test]
    fn lists_grow_and_are_flat() {
        let o = parse(r#"off={a,{b,c},"d e"} off=q off={x y}"#).unwrap();
        assert_eq!(o.list("off"), ["a", "b", "c", "d e", "q", "x y"]);
        let again = format!("off={{{}}}", "a,b,c,{d e},q,{x y}");
        assert!(o.to_string().contains(&again), "{o}");
        assert_eq!(parse(&again).unwrap().list("off"), o.list("off"));
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text: &str| parse(text).unwrap_err();
        assert_eq!(message("maxx=1"), "<Pass-Options-Parser>: no such option maxx; did you mean 'max'?");
        assert_eq!(message("max=x"), "for the --max option: 'x' value invalid for long argument!");
        assert_eq!(message("max"), "for the --max option: requires a value!");
        assert_eq!(
            message("top-down=no,max=1"),
            "for the --top-down option: 'no,max=1' is invalid value for boolean argument! Try 0 or 1"
        );
        assert_eq!(message("mode=eager"), "for the --mode option: Cannot find option named 'eager'!");
        assert_eq!(message("off=\"a b"), "<Pass-Options-Parser>: no such option b");
        let hostile = format!("label={}", "{".repeat(1 << 16));
        assert_eq!(parse(&hostile).unwrap().text("label").len(), 1 << 16);
    }
}
