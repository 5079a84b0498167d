//! Patterns of directives: text, `{{regular expressions}}`, `[[variables]]`, `[[#numbers]]`.

use crate::Options;
use crate::directive::DirectiveKind;
use crate::ere::{self, Assert, Captures, Flags, Regex, RegexNode, Set};
use crate::format::NumberFormat;
use crate::number::{self, EvalError, Expr};
use crate::source::{Message, SourcePosition, Sources};
use crate::variables::{NumberId, Variables};

/// Maximum group number of back-references in LLVM's regular expressions.
const MAX_BACK_REFERENCE: u32 = 9;

/// The position of a pattern and its directive.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub kind: DirectiveKind,
    pub literal: bool,
    pub prefix: &'a str,
    /// The first byte of the pattern.
    pub place: SourcePosition,
    /// The byte behind it.
    pub end: usize,
    /// The 1-based line of the directive, for `@LINE`.
    pub line: usize,
}

/// A pattern.
pub struct Pattern {
    parts: Vec<PatternPart>,
    /// The variables that a match defines, with their groups; the last definition of a name wins.
    strings: Vec<(String, u32)>,
    numbers: Vec<(String, NumberId, NumberFormat, u32)>,
    /// The compiled expression, if it needs no substitution.
    ready: Option<Regex>,
    /// The text, if the pattern is nothing else: most are.
    text: Option<Vec<u8>>,
    ignore_case: bool,
    /// Length of the newline before an empty line, which is matched but not part of the match.
    skip: usize,
    /// The first byte of the pattern.
    pub place: SourcePosition,
    line: usize,
}

enum PatternPart {
    Node(RegexNode),
    /// A string variable, by name.
    String(SourcePosition, String),
    /// A computed number.
    Number(NumericPart),
}

/// A numeric block, with the group that captures it.
struct NumericPart {
    place: SourcePosition,
    text: String,
    expr: Expr,
    format: NumberFormat,
    group: Option<u32>,
}

/// The position of a match.
#[derive(Clone, Copy, Debug)]
pub struct MatchRange {
    pub start: usize,
    pub len: usize,
}

impl Pattern {
    /// Parses a pattern. Errors are those of LLVM's tool.
    pub fn parse(
        site: Site<'_>,
        options: &Options,
        sources: &Sources,
        variables: &mut Variables,
    ) -> Result<Pattern, Message> {
        let text = &sources.get(site.place.source).bytes;
        let mut end = site.end;
        if !(options.strict_whitespace && options.match_full_lines) {
            end -= text[site.place.offset..end].iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        }
        let mut pattern = Pattern {
            parts: Vec::new(),
            strings: Vec::new(),
            numbers: Vec::new(),
            ready: None,
            text: None,
            ignore_case: options.ignore_case,
            skip: usize::from(site.kind == DirectiveKind::Empty),
            place: site.place,
            line: site.line,
        };
        let is_empty = site.place.offset == end;
        if is_empty != (site.kind == DirectiveKind::Empty) {
            let what = if is_empty { "empty check string" } else { "non-empty check string for empty check" };
            return Err(Message::error(site.place, format!("found {what} with prefix '{}:'", site.prefix)));
        }
        if is_empty {
            pattern.parts = vec![
                PatternPart::Node(RegexNode::Literal(b"\n".to_vec())),
                PatternPart::Node(RegexNode::Assert(Assert::LineEnd)),
            ];
        } else if site.literal {
            pattern.literal(&text[site.place.offset..end]);
        } else {
            let mut reader = PatternParser { pattern: &mut pattern, text, at: site.place, end, groups: 0, variables };
            reader.lines(options, site.kind)?;
        }
        if pattern.substitutes() {
            return Ok(pattern);
        }
        let nodes = pattern.nodes(variables).map_err(|mut m| m.remove(0))?;
        let text = |node: &RegexNode| if let RegexNode::Literal(text) = node { Some(text.clone()) } else { None };
        pattern.text = nodes.iter().map(text).collect::<Option<Vec<_>>>().map(|parts| parts.concat());
        pattern.ready = Some(pattern.compile(&nodes)?);
        Ok(pattern)
    }

    /// Returns a pattern that matches only at the end of the input.
    pub fn at_end(place: SourcePosition) -> Pattern {
        let (parts, strings, numbers) = (Vec::new(), Vec::new(), Vec::new());
        Pattern { parts, strings, numbers, ready: None, text: None, ignore_case: false, skip: 0, place, line: 0 }
    }

    /// Whether a match depends on variables of other directives.
    fn substitutes(&self) -> bool {
        self.parts.iter().any(|p| !matches!(p, PatternPart::Node(_)))
    }

    /// Whether it defines a string variable or substitutes any, which labels must not.
    pub fn has_variable(&self) -> bool {
        self.substitutes() || !self.strings.is_empty()
    }

    fn literal(&mut self, text: &[u8]) {
        let node = literal(text, self.ignore_case);
        self.parts.push(PatternPart::Node(node));
    }

    fn compile(&self, nodes: &[RegexNode]) -> Result<Regex, Message> {
        let numbers = self.numbers.iter().map(|n| n.3);
        let wanted: Vec<u32> = self.strings.iter().map(|s| s.1).chain(numbers).collect();
        Regex::new(nodes, &wanted, true).map_err(|e| Message::error(self.place, format!("invalid regex: {e}")))
    }

    /// Returns the expression with the current values of variables.
    fn nodes(&self, variables: &Variables) -> Result<Vec<RegexNode>, Vec<Message>> {
        let (mut nodes, mut errors) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match part {
                PatternPart::Node(node) => nodes.push(node.clone()),
                PatternPart::String(place, name) => match variables.string(name) {
                    Some(value) => nodes.push(literal(value, self.ignore_case)),
                    None => errors.push(undefined(*place, name)),
                },
                PatternPart::Number(number) => match number.value(variables) {
                    Ok(text) => {
                        let node = literal(text.as_bytes(), self.ignore_case);
                        nodes.push(number.group.map_or(node.clone(), |n| RegexNode::Group(n, Box::new(node))));
                    }
                    Err(more) => errors.extend(more),
                },
            }
        }
        if errors.is_empty() { Ok(nodes) } else { Err(errors) }
    }

    /// Finds the first match in `buffer` and defines its variables.
    pub fn find(&self, buffer: &[u8], variables: &mut Variables) -> Result<Option<MatchRange>, Vec<Message>> {
        variables.set_line(self.line);
        if let Some(text) = self.text.as_ref().filter(|text| !text.is_empty()) {
            let found = memchr::memmem::find(buffer, text);
            return Ok(found.map(|start| MatchRange { start: start + self.skip, len: text.len() - self.skip }));
        }
        let fresh;
        let regex = match &self.ready {
            Some(regex) => regex,
            None => {
                let nodes = self.nodes(variables)?;
                if nodes.iter().all(|n| *n == RegexNode::EMPTY) {
                    // As in LLVM, a pattern that consists of an empty variable never matches.
                    return Ok(None);
                }
                fresh = self.compile(&nodes).map_err(|m| vec![m])?;
                &fresh
            }
        };
        let too_complex = |_| vec![Message::error(self.place, "this pattern takes too many steps to be found")];
        let Some(captures) = regex.find(buffer).map_err(too_complex)? else { return Ok(None) };
        self.define(buffer, &captures, variables)?;
        let (start, end) = captures.whole();
        Ok(Some(MatchRange { start: start + self.skip, len: end - start - self.skip }))
    }

    fn define(&self, buffer: &[u8], captures: &Captures, variables: &mut Variables) -> Result<(), Vec<Message>> {
        let text = |group| captures.get(group).map_or(&b""[..], |(a, b)| &buffer[a..b]);
        for (name, group) in &self.strings {
            variables.set_string(name, text(*group));
        }
        for (name, id, format, group) in &self.numbers {
            let Some(value) = format.read(text(*group)) else {
                let message = format!("the number for '{name}' does not fit into 128 bits");
                return Err(vec![Message::error(self.place, message)]);
            };
            variables.set_number(name, *id, value);
        }
        Ok(())
    }

    /// Returns the current substitutions, for messages: block text and value.
    pub fn substitutions(&self, variables: &Variables) -> Vec<(String, String)> {
        let mut list: Vec<(String, String)> = Vec::new();
        for part in &self.parts {
            let pair = match part {
                PatternPart::Node(_) => None,
                PatternPart::String(_, name) => {
                    let value = variables.string(name).map(|v| String::from_utf8_lossy(v).into_owned());
                    value.map(|v| (name.clone(), v))
                }
                PatternPart::Number(number) => number.value(variables).ok().map(|v| (number.text.clone(), v)),
            };
            list.extend(pair.filter(|p| !list.contains(p)));
        }
        list
    }

    /// Returns a text similar to a match, from the literal parts of the pattern.
    pub fn example(&self, variables: &Variables) -> String {
        let mut text = Vec::new();
        for part in &self.parts {
            match part {
                PatternPart::Node(RegexNode::Literal(literal)) => text.extend_from_slice(literal),
                PatternPart::String(_, name) => text.extend_from_slice(variables.string(name).unwrap_or_default()),
                _ => {}
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl NumericPart {
    /// Returns the current value, formatted.
    fn value(&self, variables: &Variables) -> Result<String, Vec<Message>> {
        let overflow = || {
            let text = "unable to substitute variable or numeric expression: overflow error";
            vec![Message::error(self.place, text)]
        };
        match self.expr.eval(variables) {
            Ok(value) => self.format.write(value).ok_or_else(overflow),
            Err(EvalError::Overflow) => Err(overflow()),
            Err(EvalError::Undefined(list)) => {
                let at = |offset| SourcePosition { offset, ..self.place };
                Err(list.into_iter().map(|(offset, name)| undefined(at(offset), &name)).collect())
            }
        }
    }
}

fn undefined(place: SourcePosition, name: &str) -> Message {
    Message::error(place, format!("undefined variable: {name}"))
}

fn literal(text: &[u8], ignore_case: bool) -> RegexNode {
    if !ignore_case {
        return RegexNode::Literal(text.to_vec());
    }
    let set = |b: &u8| {
        let mut set = Set::EMPTY;
        set.add(*b);
        RegexNode::Byte(set.both_cases())
    };
    RegexNode::Concat(text.iter().map(set).collect())
}

/// A parser of patterns.
struct PatternParser<'a> {
    pattern: &'a mut Pattern,
    text: &'a [u8],
    at: SourcePosition,
    end: usize,
    /// Number of groups so far.
    groups: u32,
    variables: &'a mut Variables,
}

impl PatternParser<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at.offset..self.end]
    }

    fn place(&self, offset: usize) -> SourcePosition {
        SourcePosition { offset, ..self.at }
    }

    fn error<T>(&self, offset: usize, message: impl Into<String>) -> Result<T, Message> {
        Err(Message::error(self.place(offset), message))
    }

    fn push(&mut self, node: RegexNode) {
        self.pattern.parts.push(PatternPart::Node(node));
    }

    /// Parses the pattern, anchored if whole lines have to match.
    fn lines(&mut self, options: &Options, kind: DirectiveKind) -> Result<(), Message> {
        let whole = options.match_full_lines && kind != DirectiveKind::Not;
        let blanks = || {
            let mut space = Set::EMPTY;
            space.add(b' ');
            RegexNode::Alt(vec![RegexNode::Plus(Box::new(RegexNode::Byte(space))), RegexNode::EMPTY])
        };
        if whole {
            self.push(RegexNode::Assert(Assert::LineStart));
            if !options.strict_whitespace {
                self.push(blanks());
            }
        }
        self.parts()?;
        if whole {
            if !options.strict_whitespace {
                self.push(blanks());
            }
            self.push(RegexNode::Assert(Assert::LineEnd));
        }
        Ok(())
    }

    fn parts(&mut self) -> Result<(), Message> {
        while self.at.offset < self.end {
            let rest = self.rest();
            if rest.starts_with(b"{{") {
                self.regex()?;
            } else if rest.starts_with(b"[[") && !rest.starts_with(b"[[[") {
                self.substitution()?;
            } else {
                let special = |w: &[u8]| w == b"{{" || w == b"[[";
                let len = rest.windows(2).skip(1).position(special).map_or(rest.len(), |n| n + 1);
                let text = rest[..len].to_vec();
                self.pattern.literal(&text);
                self.at.offset += len;
            }
        }
        Ok(())
    }

    fn parse(&mut self, from: usize, to: usize) -> Result<RegexNode, Message> {
        let flags = Flags { ignore_case: self.pattern.ignore_case, newline: true };
        match ere::parse(&self.text[from..to], self.groups + 1, flags) {
            Ok((node, groups)) => {
                self.groups += groups;
                Ok(node)
            }
            Err(e) => self.error(from, format!("invalid regex: {e}")),
        }
    }

    fn regex(&mut self) -> Result<(), Message> {
        let start = self.at.offset + 2;
        let Some(len) = self.text[start..self.end].windows(2).position(|w| w == b"}}") else {
            return self.error(self.at.offset, "found start of regex string with no end '}}'");
        };
        // LLVM adds a group around alternatives, which affects group numbers.
        let group = self.rest().contains(&b'|');
        self.groups += u32::from(group);
        let number = self.groups;
        let node = self.parse(start, start + len)?;
        self.push(if group { RegexNode::Group(number, Box::new(node)) } else { node });
        self.at.offset = start + len + 2;
        Ok(())
    }

    fn substitution(&mut self) -> Result<(), Message> {
        let open = self.at.offset;
        let start = open + 2;
        let Some(end) = self.block_end(start)? else {
            return self.error(open, "Invalid substitution block, no ]] found");
        };
        self.at.offset = end + 2;
        if self.text[start..end].starts_with(b"#") {
            self.numeric(start + 1, end, false)
        } else {
            self.string(start, end)
        }
    }

    /// Returns the `]]` that closes the block at `start`, outside brackets and not escaped.
    fn block_end(&self, start: usize) -> Result<Option<usize>, Message> {
        let (mut i, mut depth) = (start, 0);
        while i < self.end {
            match self.text[i] {
                b']' if depth == 0 && self.text[i..self.end].starts_with(b"]]") => return Ok(Some(i)),
                b']' if depth == 0 => return self.error(i, "missing closing \"]\" for regex variable"),
                b']' => depth -= 1,
                b'[' => depth += 1,
                b'\\' => i += 1,
                _ => {}
            }
            i += 1;
        }
        Ok(None)
    }

    fn string(&mut self, start: usize, end: usize) -> Result<(), Message> {
        let text = &self.text[start..end];
        let colon = text.iter().position(|b| *b == b':');
        let blank = text[..colon.unwrap_or(text.len())].iter().position(|b| matches!(b, b' ' | b'\t'));
        if let Some(blank) = blank {
            return self.error(start + blank, "unexpected whitespace");
        }
        let (len, pseudo) = match number::name(text) {
            Ok(name) => name,
            Err((offset, message)) => return self.error(start + offset, message),
        };
        let name = String::from_utf8_lossy(&text[..len]).into_owned();
        if pseudo && colon.is_none() {
            return self.numeric(start, end, true);
        }
        match colon {
            Some(colon) if pseudo || len != colon => self.error(start, "invalid name in string variable definition"),
            Some(_) if self.variables.find_number(&name).is_some() => {
                self.error(start, format!("numeric variable with name '{name}' already exists"))
            }
            Some(colon) => self.string_definition(name, start + colon + 1, end),
            None if len < text.len() => self.error(start, "invalid name in string variable use"),
            None => self.string_use(name, start),
        }
    }

    fn string_definition(&mut self, name: String, from: usize, to: usize) -> Result<(), Message> {
        self.groups += 1;
        let group = self.groups;
        self.variables.declare_string(&name);
        self.pattern.strings.push((name, group));
        let node = if from == to { RegexNode::EMPTY } else { self.parse(from, to)? };
        self.push(RegexNode::Group(group, Box::new(node)));
        Ok(())
    }

    fn string_use(&mut self, name: String, offset: usize) -> Result<(), Message> {
        let place = self.place(offset);
        match self.pattern.strings.iter().rev().find(|s| s.0 == name).map(|s| s.1) {
            Some(group) if group > MAX_BACK_REFERENCE => {
                return self.error(offset, format!("Can't back-reference more than {MAX_BACK_REFERENCE} variables"));
            }
            Some(group) => self.push(RegexNode::Back(group)),
            None => self.pattern.parts.push(PatternPart::String(place, name)),
        }
        Ok(())
    }

    fn numeric(&mut self, start: usize, end: usize, legacy: bool) -> Result<(), Message> {
        let line = Some(self.pattern.line);
        let block = match number::block(self.text, (start, end), legacy, line, self.variables) {
            Ok(block) => block,
            Err((offset, message)) => return self.error(offset, message),
        };
        let mut group = None;
        if let Some((name, id)) = block.define {
            self.groups += 1;
            group = Some(self.groups);
            self.pattern.numbers.push((name, id, block.format, self.groups));
        }
        if let Some(expr) = block.expr {
            let text = String::from_utf8_lossy(&self.text[start..end]).into_owned();
            let (place, format) = (self.place(start), block.format);
            self.pattern.parts.push(PatternPart::Number(NumericPart { place, text, expr, format, group }));
            return Ok(());
        }
        let flags = Flags { ignore_case: self.pattern.ignore_case, newline: true };
        let (node, groups) = match ere::parse(block.format.wildcard().as_bytes(), self.groups + 1, flags) {
            Ok(parsed) => parsed,
            Err(e) => return self.error(start, format!("invalid regex: {e}")),
        };
        self.groups += groups;
        self.push(group.map_or(node.clone(), |n| RegexNode::Group(n, Box::new(node))));
        Ok(())
    }
}
