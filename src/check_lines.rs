//! Generation of `CHECK` lines that accept exactly the output of a command, up to the names of values and aliases.
//!
//! A function begins with a label; its other lines use `CHECK-NEXT`. Names are captured at their first occurrence:
//! `[[V0:%.*]] = arith.addi [[A]], [[B]]`. The `module` wrapper is omitted.

use gradus_filecheck::ere::{self, Flags, Regex, RegexNode};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of captures in a line to which FileCheck can refer.
const MAX_CAPTURES: usize = 9;
/// The expression of a capture, and the stricter one for lines in which it matches too much.
const LOOSE: &str = ".*";
const STRICT: &str = "[a-zA-Z0-9_$.-]+";

/// Words with a meaning for lit, FileCheck or the tool in the file that receives the lines.
const SPECIAL: [&str; 8] = ["RUN:", "XFAIL:", "REQUIRES:", "UNSUPPORTED:", "DEFINE:", "END.", "// -----", "expected-"];

/// The lines for one function, or for the text between functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckBlock {
    /// Name of the function.
    pub symbol: Option<String>,
    /// The lines, `// CHECK...`, without newlines.
    pub lines: Vec<String>,
}

/// Returns the function defined in a line: `func.func @f` or, in generic form, `sym_name = "f"`.
pub fn symbol(line: &str) -> Option<String> {
    let line = line.trim_start();
    let op = line.split([' ', '(']).next().unwrap_or("").trim_matches('"');
    if !op.ends_with("func") {
        return None;
    }
    let name = |rest: &str| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or("").to_owned(),
        None => rest.chars().take_while(|c| is_name(*c)).collect(),
    };
    let generic = || Some(name(line.split_once("sym_name = ")?.1));
    let plain = || Some(name(line.split_once('@')?.1));
    if line.starts_with('"') { generic() } else { plain() }
}

/// Settings shared by all lines.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Prefix of the directives.
    pub prefix: &'a str,
    /// All prefixes of the file that receives the lines.
    pub prefixes: &'a [String],
    /// Name of the temporary file in the output, which differs between runs.
    pub file: &'a str,
}

/// Returns the blocks for the output of one program.
pub fn blocks(printed: &str, settings: Settings<'_>) -> Vec<CheckBlock> {
    let (names, blocks) = (CaptureNames::default(), Vec::new());
    let mut writer = CheckWriter { settings, aliases: aliases(printed), names, blocks, follows: false, indent: 0 };
    for line in printed.lines() {
        writer.line(line);
    }
    writer.blocks
}

/// Returns the names defined by `#alias = ...` and `!alias = ...`, with their sigils.
fn aliases(printed: &str) -> BTreeSet<String> {
    let defined = |line: &str| {
        let (name, _) = line.split_once(" = ")?;
        let good = name.starts_with(['#', '!']) && name[1..].chars().all(is_name);
        good.then(|| name.to_owned())
    };
    printed.lines().filter_map(defined).collect()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')
}

/// A piece of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
enum LinePiece<'a> {
    Text(&'a str),
    /// `%name`, `#alias` or `!alias`.
    Name(&'a str),
    /// The name of the temporary file.
    File,
}

/// The capture variables: of values per function, of aliases per program.
#[derive(Default)]
struct CaptureNames {
    variables: BTreeMap<String, String>,
    used: BTreeSet<String>,
}

impl CaptureNames {
    /// Clears the variables of values.
    fn next_function(&mut self) {
        self.variables.retain(|name, _| !name.starts_with('%'));
        self.used.retain(|variable| variable.starts_with('$'));
    }

    /// Returns the variable for a name, and whether it is new.
    fn variable(&mut self, name: &str) -> (String, bool) {
        if let Some(known) = self.variables.get(name) {
            return (known.clone(), false);
        }
        let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let plain: String = name[1..].chars().map(letter).collect();
        let plain = if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("V{plain}") } else { plain };
        let global = if name.starts_with('%') { "" } else { "$" };
        let numbered = (1..).map(|n| format!("{global}{plain}_{n}"));
        let mut candidates = std::iter::once(format!("{global}{plain}")).chain(numbered);
        let variable = candidates.find(|v| !self.used.contains(v)).expect("some number is free");
        self.used.insert(variable.clone());
        self.variables.insert(name.to_owned(), variable.clone());
        (variable, true)
    }
}

struct CheckWriter<'a> {
    settings: Settings<'a>,
    aliases: BTreeSet<String>,
    names: CaptureNames,
    blocks: Vec<CheckBlock>,
    /// Whether the previous line was written, so that the next one can use `CHECK-NEXT`.
    follows: bool,
    /// Indentation of the line relative to its function.
    indent: usize,
}

impl CheckWriter<'_> {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        let frame = ["module {", "\"builtin.module\"() ({", "}", "}) : () -> ()"].contains(&line.trim_end());
        if text.is_empty() || frame {
            self.follows = false;
            return;
        }
        let symbol = symbol(line);
        self.indent = (line.len() - line.trim_start().len()).saturating_sub(2);
        if symbol.is_some() {
            self.names.next_function();
            self.blocks.push(CheckBlock { symbol, lines: Vec::new() });
            self.function(text);
        } else {
            if self.blocks.is_empty() {
                self.blocks.push(CheckBlock { symbol: None, lines: Vec::new() });
            }
            let pieces = self.pieces(text);
            self.forget_results(&pieces);
            self.patterns(&pieces, if self.follows { "-NEXT" } else { "" });
        }
        self.follows = true;
    }

    /// Forgets the names that an op defines, since another region may define the same names.
    fn forget_results(&mut self, pieces: &[LinePiece<'_>]) {
        let equals = |p: &LinePiece<'_>| matches!(p, LinePiece::Text(t) if t.contains(" = "));
        let Some(end) = pieces.iter().position(equals) else { return };
        let list = |p: &LinePiece<'_>| {
            matches!(p, LinePiece::Name(_)) || matches!(p, LinePiece::Text(t) if !t.contains(['(', '"']))
        };
        if !pieces[..end].iter().all(list) {
            return;
        }
        for piece in &pieces[..end] {
            if let LinePiece::Name(name) = piece
                && let Some(variable) = self.names.variables.remove(*name)
            {
                self.names.used.remove(&variable);
            }
        }
    }

    /// Writes a label, which ends before the first name because a label must not capture.
    fn function(&mut self, text: &str) {
        let pieces = self.pieces(text);
        let end = pieces.iter().position(|p| !matches!(p, LinePiece::Text(_))).unwrap_or(pieces.len());
        if end == 0 {
            return self.patterns(&pieces, "");
        }
        let label = self.pattern(&pieces[..end], LOOSE);
        self.push("-LABEL", &label);
        if end < pieces.len() {
            self.patterns(&pieces[end..], "-SAME");
        }
    }

    fn push(&mut self, suffix: &str, pattern: &str) {
        let head = format!("// {}{suffix}:", self.settings.prefix);
        let width = self.settings.prefix.len() + "// -LABEL: ".len() + self.indent;
        let block = self.blocks.last_mut().expect("a block was begun");
        block.lines.push(format!("{head:<width$}{}", pattern.trim()));
    }

    /// Splits a line at names.
    fn pieces<'t>(&self, text: &'t str) -> Vec<LinePiece<'t>> {
        let (mut pieces, mut start, mut at, mut quoted) = (Vec::new(), 0, 0, false);
        while let Some(c) = text[at..].chars().next() {
            let name: usize = 1 + text[at + c.len_utf8()..].chars().take_while(|c| is_name(*c)).count();
            let special = match c {
                _ if !self.settings.file.is_empty() && text[at..].starts_with(self.settings.file) => {
                    Some((LinePiece::File, self.settings.file.len()))
                }
                _ if quoted => None,
                '%' if name > 1 => Some((LinePiece::Name(&text[at..at + name]), name)),
                '#' | '!' if self.aliases.contains(&text[at..at + name]) => {
                    Some((LinePiece::Name(&text[at..at + name]), name))
                }
                _ => None,
            };
            match c {
                '"' => quoted = !quoted,
                '\\' if quoted => at += 1,
                _ => {}
            }
            let len = special.as_ref().map_or(c.len_utf8(), |s| s.1);
            if let Some((piece, _)) = special {
                pieces.extend((start < at).then(|| LinePiece::Text(&text[start..at])).into_iter().chain([piece]));
                start = at + len;
            }
            at += len;
            at = (at..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
        }
        pieces.extend((start < text.len()).then(|| LinePiece::Text(&text[start..])));
        pieces
    }

    /// Writes the pieces of a line, as several directives if it has too many captures.
    fn patterns(&mut self, pieces: &[LinePiece<'_>], suffix: &str) {
        let mut suffix = suffix;
        let mut rest = pieces;
        while !rest.is_empty() {
            let mut fresh = BTreeSet::new();
            let is_fresh =
                |p: &LinePiece<'_>| matches!(p, LinePiece::Name(n) if !self.names.variables.contains_key(*n));
            let mut end = rest.len();
            for (i, piece) in rest.iter().enumerate().filter(|(_, p)| is_fresh(p)) {
                fresh.insert(if let LinePiece::Name(n) = piece { *n } else { "" });
                if fresh.len() > MAX_CAPTURES {
                    end = i;
                    break;
                }
            }
            let class = if self.is_exact(rest, end) { LOOSE } else { STRICT };
            let pattern = self.pattern(&rest[..end], class);
            self.push(suffix, &pattern);
            (suffix, rest) = ("-SAME", &rest[end..]);
        }
    }

    /// Whether loose captures in the first `end` pieces match exactly the names.
    fn is_exact(&self, pieces: &[LinePiece<'_>], end: usize) -> bool {
        let (mut text, mut nodes, mut groups) = (String::new(), Vec::new(), BTreeMap::new());
        let mut spans = Vec::new();
        for (i, piece) in pieces.iter().enumerate() {
            let start = text.len();
            let (shown, node) = match piece {
                LinePiece::Text(t) => (*t, RegexNode::Literal(t.as_bytes().to_vec())),
                LinePiece::File => (self.settings.file, any()),
                LinePiece::Name(n) if self.names.variables.contains_key(*n) => {
                    (*n, RegexNode::Literal(n.as_bytes().to_vec()))
                }
                LinePiece::Name(n) => match groups.get(n) {
                    Some(group) => (*n, RegexNode::Back(*group)),
                    None => {
                        let group = groups.len() as u32 + 1;
                        groups.insert(*n, group);
                        spans.push((i, group, start, start + n.len()));
                        let sign = RegexNode::Literal(n.as_bytes()[..1].to_vec());
                        (*n, RegexNode::Group(group, Box::new(RegexNode::Concat(vec![sign, any()]))))
                    }
                },
            };
            text += shown;
            if i < end {
                nodes.push(node);
            }
        }
        spans.retain(|s| s.0 < end);
        let wanted: Vec<u32> = spans.iter().map(|s| s.1).collect();
        let Ok(regex) = Regex::new(&nodes, &wanted, true) else { return false };
        let Ok(Some(found)) = regex.find(text.as_bytes()) else { return false };
        found.whole().0 == 0 && spans.iter().all(|(_, group, from, to)| found.get(*group) == Some((*from, *to)))
    }

    fn pattern(&mut self, pieces: &[LinePiece<'_>], class: &str) -> String {
        let mut out = String::new();
        for piece in pieces {
            match piece {
                LinePiece::Text(text) => out += &self.escaped(text),
                LinePiece::File => out += "{{.*}}",
                LinePiece::Name(name) => {
                    let (variable, new) = self.names.variable(name);
                    let sign = &name[..1];
                    out += &if new { format!("[[{variable}:{sign}{class}]]") } else { format!("[[{variable}]]") };
                }
            }
        }
        out
    }

    /// Escapes text so that it matches itself and means nothing to other readers of the file.
    fn escaped(&self, text: &str) -> String {
        let mut out = text.replace("{{", "{{\\{\\{}}").replace("[[", "{{\\[\\[}}");
        let others = self.settings.prefixes.iter().filter(|p| *p != self.settings.prefix).map(String::as_str);
        for word in SPECIAL.into_iter().chain(others) {
            if out.contains(word) {
                out = out.replace(word, &format!("{{{{{}}}}}{}", &word[..1], &word[1..]));
            }
        }
        out
    }
}

/// Returns an expression for any text without a newline.
fn any() -> RegexNode {
    let flags = Flags { newline: true, ignore_case: false };
    ere::parse(LOOSE.as_bytes(), 1, flags).map_or(RegexNode::EMPTY, |parsed| parsed.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gradus_filecheck::{Options, Text, Verdict};

    /// Returns the lines for a text and asserts that they accept it.
    fn lines(printed: &str) -> String {
        let prefixes = ["CHECK".to_owned(), "OTHER".to_owned()];
        let settings = Settings { prefix: "CHECK", prefixes: &prefixes, file: "some/f.mlir" };
        let lines: Vec<String> = blocks(printed, settings).into_iter().flat_map(|b| b.lines).collect();
        let checks = lines.join("\n") + "\n";
        let options = Options { allow_near_misses: true, ..Options::default() };
        let input = Text { name: "input", bytes: printed.as_bytes() };
        let outcome = gradus_filecheck::check(&options, Text { name: "checks", bytes: checks.as_bytes() }, input);
        assert_eq!(outcome.verdict, Verdict::Pass, "{}\n{checks}", outcome.report);
        lines.iter().map(|l| l.trim_start_matches("// ").to_owned() + "\n").collect()
    }

    #[test]
    fn functions_are_labels_and_values_are_captured() {
        let text = "module {\n  func.func @f(%arg0: i32, %a: i32) {\n    %0:2 = \"t.x\"(%arg0) : (i32) -> (i32, i32)\n    \
                    \"t.y\"(%0#1, %a) : (i32, i32) -> ()\n  }\n}\n\n";
        insta::assert_snapshot!(lines(text), @r#"
        CHECK-LABEL: func.func @f(
        CHECK-SAME:  [[ARG0:%.*]]: i32, [[A:%.*]]: i32) {
        CHECK-NEXT:    [[V0:%.*]]:2 = "t.x"([[ARG0]]) : (i32) -> (i32, i32)
        CHECK-NEXT:    "t.y"([[V0]]#1, [[A]]) : (i32, i32) -> ()
        CHECK-NEXT:  }
        "#);
    }

    #[test]
    fn regions_define_names_again() {
        let text = "\"t.r\"() ({\n  %0 = t.a\n}, {\n  %0 = t.b %0\n})\n";
        insta::assert_snapshot!(lines(text), @r#"
        CHECK:       "t.r"() ({
        CHECK-NEXT:  [[V0:%.*]] = t.a
        CHECK-NEXT:  }, {
        CHECK-NEXT:  [[V0:%.*]] = t.b [[V0]]
        CHECK-NEXT:  })
        "#);
    }

    #[test]
    fn text_that_means_something_is_escaped() {
        let text = "a {{b}} [[c]] [%x] [[%y]] \"%z\" 100% RUN: cat // ----- OTHER: x some/f.mlir:1\n";
        insta::assert_snapshot!(lines(text), @r#"CHECK:       a {{\{\{}}b}} {{\[\[}}c]] [[[X:%.*]]] {{\[\[}}[[Y:%.*]]]] "%z" 100% {{R}}UN: cat {{/}}/ ----- {{O}}THER: x {{.*}}:1"#);
    }

    #[test]
    fn many_captures_take_several_lines() {
        let names: Vec<String> = (0..12).map(|i| format!("%{i}")).collect();
        let text = format!("t.x {} {}\n", names.join(", "), names.join(", "));
        insta::assert_snapshot!(lines(&text), @r"
        CHECK:       t.x [[V0:%[a-zA-Z0-9_$.-]+]], [[V1:%[a-zA-Z0-9_$.-]+]], [[V2:%[a-zA-Z0-9_$.-]+]], [[V3:%[a-zA-Z0-9_$.-]+]], [[V4:%[a-zA-Z0-9_$.-]+]], [[V5:%[a-zA-Z0-9_$.-]+]], [[V6:%[a-zA-Z0-9_$.-]+]], [[V7:%[a-zA-Z0-9_$.-]+]], [[V8:%[a-zA-Z0-9_$.-]+]],
        CHECK-SAME:  [[V9:%.*]], [[V10:%.*]], [[V11:%.*]] [[V0]], [[V1]], [[V2]], [[V3]], [[V4]], [[V5]], [[V6]], [[V7]], [[V8]], [[V9]], [[V10]], [[V11]]
        ");
    }

    #[test]
    fn functions_have_names_in_both_forms() {
        assert_eq!(symbol("  func.func private @f(i32)").as_deref(), Some("f"));
        assert_eq!(symbol("func.func @\"a b\"() {").as_deref(), Some("a b"));
        assert_eq!(symbol("\"func.func\"() <{sym_name = \"g\"}> ({").as_deref(), Some("g"));
        assert_eq!(symbol("call @f() : () -> ()"), None);
    }
}
