//! Parsing of expressions. The messages are LLVM's.

use super::{Assert, Flags, RegexNode, Set};

/// Maximum nesting depth of parentheses, against stack overflow.
const MAX_DEPTH: u32 = 200;
/// The largest count in braces.
const MAX_COUNT: u32 = 255;
/// Maximum number of nodes; counted repetitions are expanded.
const MAX_SIZE: usize = 1 << 16;

type Result<T> = std::result::Result<T, &'static str>;

/// Parses an expression whose first group has the number `first_group`. Returns it with its number of groups.
///
/// A back-reference has to name a complete group of this text, counted from 1; it is kept as written.
pub fn parse(text: &[u8], first_group: u32, flags: Flags) -> Result<(RegexNode, u32)> {
    let mut p = RegexParser { text, pos: 0, first_group, groups: 0, complete: Vec::new(), depth: 0, size: 0, flags };
    let node = p.alternatives(None)?;
    Ok((node, p.groups))
}

struct RegexParser<'a> {
    text: &'a [u8],
    pos: usize,
    first_group: u32,
    groups: u32,
    /// For each group, whether its closing parenthesis was parsed.
    complete: Vec<bool>,
    depth: u32,
    /// Number of nodes so far.
    size: usize,
    flags: Flags,
}

impl RegexParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let b = self.peek()?;
        self.pos += 1;
        Some(b)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.text[self.pos..].starts_with(text.as_bytes());
        self.pos += if found { text.len() } else { 0 };
        found
    }

    /// Whether a repetition operator follows: `{` is one only before a digit.
    fn at_repetition(&self) -> bool {
        match self.peek() {
            Some(b'*' | b'+' | b'?') => true,
            Some(b'{') => self.text.get(self.pos + 1).is_some_and(u8::is_ascii_digit),
            _ => false,
        }
    }

    fn alternatives(&mut self, stop: Option<u8>) -> Result<RegexNode> {
        let mut all = Vec::new();
        loop {
            let mut list = Vec::new();
            while self.peek().is_some_and(|b| b != b'|' && Some(b) != stop) {
                let node = self.repeated()?;
                push(&mut list, node);
            }
            if list.is_empty() {
                return Err("empty (sub)expression");
            }
            all.push(concat(list));
            if !self.eat("|") {
                return Ok(if all.len() == 1 { all.remove(0) } else { RegexNode::Alt(all) });
            }
        }
    }

    fn repeated(&mut self) -> Result<RegexNode> {
        let before = self.size;
        let is_start = self.peek() == Some(b'^');
        let node = self.atom()?;
        if !self.at_repetition() {
            return Ok(node);
        }
        if is_start {
            return Err("repetition-operator operand invalid");
        }
        let unit = self.size - before;
        let node = match self.next() {
            Some(b'*') => repeat(node, 0, None),
            Some(b'+') => repeat(node, 1, None),
            Some(b'?') => repeat(node, 0, Some(1)),
            _ => {
                let (min, max) = self.counts()?;
                self.grow(unit * max.unwrap_or(min).max(1) as usize)?;
                repeat(node, min, max)
            }
        };
        if self.at_repetition() { Err("repetition-operator operand invalid") } else { Ok(node) }
    }

    fn grow(&mut self, by: usize) -> Result<()> {
        self.size += by;
        if self.size > MAX_SIZE { Err("regular expression too big") } else { Ok(()) }
    }

    fn counts(&mut self) -> Result<(u32, Option<u32>)> {
        let min = self.count()?;
        let mut max = Some(min);
        if self.eat(",") {
            max = if self.peek().is_some_and(|b| b.is_ascii_digit()) { Some(self.count()?) } else { None };
        }
        if max.is_some_and(|max| max < min) {
            return Err("invalid repetition count(s)");
        }
        if self.eat("}") {
            return Ok((min, max));
        }
        let closed = self.text[self.pos..].contains(&b'}');
        Err(if closed { "invalid repetition count(s)" } else { "braces not balanced" })
    }

    fn count(&mut self) -> Result<u32> {
        let mut n = 0;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            n = n * 10 + u32::from(digit - b'0');
            self.pos += 1;
            if n > MAX_COUNT {
                return Err("invalid repetition count(s)");
            }
        }
        Ok(n)
    }

    fn atom(&mut self) -> Result<RegexNode> {
        self.grow(1)?;
        Ok(match self.next() {
            None => RegexNode::EMPTY,
            Some(b'(') => return self.group(),
            Some(b')') => return Err("parentheses not balanced"),
            Some(b'^') => RegexNode::Assert(Assert::LineStart),
            Some(b'$') => RegexNode::Assert(Assert::LineEnd),
            Some(b'*' | b'+' | b'?') => return Err("repetition-operator operand invalid"),
            Some(b'.') => RegexNode::Byte(self.all_but(Set::EMPTY)),
            Some(b'[') => return self.bracket(),
            Some(b'\\') => match self.next() {
                None => return Err("trailing backslash (\\)"),
                Some(digit @ b'1'..=b'9') => {
                    let n = u32::from(digit - b'0');
                    if !self.complete.get(n as usize - 1).is_some_and(|c| *c) {
                        return Err("invalid backreference number");
                    }
                    RegexNode::Back(n)
                }
                Some(b) => self.literal(b),
            },
            Some(b'{') if self.peek().is_some_and(|b| b.is_ascii_digit()) => {
                return Err("repetition-operator operand invalid");
            }
            Some(b) => self.literal(b),
        })
    }

    fn literal(&self, b: u8) -> RegexNode {
        if self.flags.ignore_case && b.is_ascii_alphabetic() {
            let mut set = Set::EMPTY;
            set.add(b);
            return RegexNode::Byte(set.both_cases());
        }
        RegexNode::Literal(vec![b])
    }

    fn all_but(&self, set: Set) -> Set {
        let mut rest = set.inverted();
        if self.flags.newline {
            rest.remove(b'\n');
        }
        rest
    }

    fn group(&mut self) -> Result<RegexNode> {
        if self.peek().is_none() || self.depth == MAX_DEPTH {
            return Err(if self.depth == MAX_DEPTH {
                "parentheses nested too deeply"
            } else {
                "parentheses not balanced"
            });
        }
        let local = self.groups as usize;
        self.groups += 1;
        self.complete.push(false);
        self.depth += 1;
        let inner = if self.peek() == Some(b')') { RegexNode::EMPTY } else { self.alternatives(Some(b')'))? };
        self.depth -= 1;
        if !self.eat(")") {
            return Err("parentheses not balanced");
        }
        self.complete[local] = true;
        Ok(RegexNode::Group(self.first_group + local as u32, Box::new(inner)))
    }

    fn bracket(&mut self) -> Result<RegexNode> {
        if self.eat("[:<:]]") {
            return Ok(RegexNode::Assert(Assert::WordStart));
        }
        if self.eat("[:>:]]") {
            return Ok(RegexNode::Assert(Assert::WordEnd));
        }
        let mut set = Set::EMPTY;
        let inverted = self.eat("^");
        if self.eat("]") {
            set.add(b']');
        } else if self.eat("-") {
            set.add(b'-');
        }
        while self.peek().is_some_and(|b| b != b']') && !self.text[self.pos..].starts_with(b"-]") {
            self.bracket_term(&mut set)?;
        }
        if self.eat("-") {
            set.add(b'-');
        }
        if !self.eat("]") {
            return Err("brackets ([ ]) not balanced");
        }
        if self.flags.ignore_case {
            set = set.both_cases();
        }
        Ok(RegexNode::Byte(if inverted { self.all_but(set) } else { set }))
    }

    fn bracket_term(&mut self, set: &mut Set) -> Result<()> {
        if self.eat("[:") {
            let name = self.until(":]", "invalid character class")?;
            set.union(class(name).ok_or("invalid character class")?);
            return Ok(());
        }
        if self.eat("[=") {
            set.add(single(self.until("=]", "invalid collating element")?)?);
            return Ok(());
        }
        if self.peek() == Some(b'-') {
            return Err("invalid character range");
        }
        let first = self.bracket_symbol()?;
        let is_range = self.peek() == Some(b'-') && self.text.get(self.pos + 1).is_some_and(|b| *b != b']');
        let last = if is_range {
            self.pos += 1;
            self.bracket_symbol()?
        } else {
            first
        };
        // LLVM compares signed characters.
        if (first as i8) > (last as i8) {
            return Err("invalid character range");
        }
        (first as i8..=last as i8).for_each(|b| set.add(b as u8));
        Ok(())
    }

    fn bracket_symbol(&mut self) -> Result<u8> {
        if self.eat("[.") {
            return single(self.until(".]", "invalid collating element")?);
        }
        self.next().ok_or("brackets ([ ]) not balanced")
    }

    /// Returns the text before `end` and consumes both.
    fn until(&mut self, end: &str, message: &'static str) -> Result<&[u8]> {
        let rest = &self.text[self.pos..];
        let Some(n) = rest.windows(2).position(|w| w == end.as_bytes()) else {
            return Err(if rest.is_empty() { "brackets ([ ]) not balanced" } else { message });
        };
        self.pos += n + 2;
        Ok(&rest[..n])
    }
}

/// Returns a collating element; those of several letters are not supported.
fn single(name: &[u8]) -> Result<u8> {
    if let [b] = name { Ok(*b) } else { Err("invalid collating element") }
}

fn class(name: &[u8]) -> Option<Set> {
    let is: fn(u8) -> bool = match name {
        b"alnum" => |b| b.is_ascii_alphanumeric(),
        b"alpha" => |b| b.is_ascii_alphabetic(),
        b"blank" => |b| b == b' ' || b == b'\t',
        b"cntrl" => |b| b.is_ascii_control() && b != 0,
        b"digit" => |b| b.is_ascii_digit(),
        b"graph" => |b| b.is_ascii_graphic(),
        b"lower" => |b| b.is_ascii_lowercase(),
        b"print" => |b| b.is_ascii_graphic() || b == b' ',
        b"punct" => |b| b.is_ascii_punctuation(),
        b"space" => |b| matches!(b, b'\t'..=b'\r' | b' '),
        b"upper" => |b| b.is_ascii_uppercase(),
        b"xdigit" => |b| b.is_ascii_hexdigit(),
        _ => return None,
    };
    let mut set = Set::EMPTY;
    (0..=255).filter(|b| is(*b)).for_each(|b| set.add(b));
    Some(set)
}

/// Appends a node and merges literals.
fn push(list: &mut Vec<RegexNode>, node: RegexNode) {
    match (list.last_mut(), node) {
        (Some(RegexNode::Literal(text)), RegexNode::Literal(more)) => text.extend(more),
        (_, node) => list.push(node),
    }
}

fn concat(mut list: Vec<RegexNode>) -> RegexNode {
    if list.len() == 1 { list.remove(0) } else { RegexNode::Concat(list) }
}

fn repeat(node: RegexNode, min: u32, max: Option<u32>) -> RegexNode {
    let optional = |node| RegexNode::Alt(vec![node, RegexNode::EMPTY]);
    let Some(max) = max else {
        if min == 0 {
            return optional(RegexNode::Plus(Box::new(node)));
        }
        let mut list = vec![node.clone(); min as usize - 1];
        list.push(RegexNode::Plus(Box::new(node)));
        return concat(list);
    };
    // x{1,3} is x(x(x)?)?
    let mut tail = None;
    for _ in min..max {
        tail = Some(optional(concat(std::iter::once(node.clone()).chain(tail).collect())));
    }
    let mut list = vec![node; min as usize];
    list.extend(tail);
    if list.is_empty() { RegexNode::EMPTY } else { concat(list) }
}
