//! Numeric substitution blocks: `[[#%x,VAR:]]`, `[[#VAR+1]]`, `[[@LINE-1]]`.

use crate::format::{NumberFormat, Style};
use crate::variables::{NumberId, Variables};

/// Maximum nesting depth of parentheses in expressions.
const MAX_DEPTH: u32 = 100;
/// Maximum precision of a format, which is the largest repetition count of regular expressions.
const MAX_PRECISION: u32 = 255;

/// A binary operation; `None` for overflow and division by zero.
type Binary = fn(i128, i128) -> Option<i128>;

/// An element of an expression in postfix notation.
#[derive(Clone, Debug)]
enum PostfixTerm {
    Value(i128),
    Variable { id: NumberId, name: String, offset: usize },
    Binary(Binary),
}

/// A numeric expression.
#[derive(Clone, Debug)]
pub struct Expr(Vec<PostfixTerm>);

/// The reason why an expression has no value.
pub enum EvalError {
    /// Undefined variables with their positions.
    Undefined(Vec<(usize, String)>),
    Overflow,
}

impl Expr {
    pub fn eval(&self, variables: &Variables) -> Result<i128, EvalError> {
        let (mut stack, mut undefined) = (Vec::new(), Vec::new());
        for step in &self.0 {
            let value = match step {
                PostfixTerm::Value(v) => Some(*v),
                PostfixTerm::Variable { id, name, offset } => {
                    let value = variables.number(*id).value;
                    if value.is_none() {
                        undefined.push((*offset, name.clone()));
                    }
                    value
                }
                PostfixTerm::Binary(f) => {
                    let (b, a): (Option<i128>, Option<i128>) = (stack.pop().flatten(), stack.pop().flatten());
                    a.zip(b).and_then(|(a, b)| f(a, b))
                }
            };
            stack.push(value);
        }
        match stack.pop().flatten() {
            _ if !undefined.is_empty() => Err(EvalError::Undefined(undefined)),
            Some(value) => Ok(value),
            None => Err(EvalError::Overflow),
        }
    }
}

/// A numeric block: optional expression, format, and the variable that it defines.
#[derive(Debug)]
pub struct NumericBlock {
    pub expr: Option<Expr>,
    pub format: NumberFormat,
    pub define: Option<(String, NumberId)>,
}

/// Parses a name: its length, and whether it starts with `@`. An error is an offset and a message.
pub fn name(text: &[u8]) -> Result<(usize, bool), (usize, &'static str)> {
    let Some(first) = text.first() else { return Err((0, "empty variable name")) };
    let pseudo = *first == b'@';
    let start = usize::from(pseudo || *first == b'$');
    match text.get(start) {
        None => return Err((start, if pseudo { "empty pseudo variable name" } else { "empty global variable name" })),
        Some(b) if !b.is_ascii_alphabetic() && *b != b'_' => return Err((0, "invalid variable name")),
        Some(_) => {}
    }
    let rest = text[start..].iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_');
    Ok((rest.map_or(text.len(), |n| start + n), pseudo))
}

/// Parses the block `text[start..end]`, without brackets and `#`. `line` is the line of the directive, or `None` for a
/// definition on the command line; a `legacy` block is `@LINE` plus or minus a number. An error is an offset and a
/// message.
pub fn block(
    text: &[u8],
    (start, end): (usize, usize),
    legacy: bool,
    line: Option<usize>,
    variables: &mut Variables,
) -> Result<NumericBlock, (usize, String)> {
    let mut p =
        NumericParser { text: &text[..end], pos: start, line, variables, steps: Vec::new(), conflict: None, depth: 0 };
    let find = |b: u8| text[start..end].iter().position(|c| *c == b).map(|i| start + i);
    let mut explicit = NumberFormat::default();
    if let Some(comma) = find(b',')
        && find(b'(').is_none_or(|paren| comma < paren)
    {
        explicit = p.format(comma)?;
        p.pos = comma + 1;
    }
    let from = p.pos;
    let colon = text[from..end].iter().position(|b| *b == b':').map(|i| from + i);
    p.pos = colon.map_or(from, |c| c + 1);
    let implicit = p.constraint_and_expr(legacy)?;
    let has_expr = !p.steps.is_empty();
    let mut format = explicit;
    if format.style == Style::None {
        if let Some(conflict) = p.conflict.take() {
            return Err(conflict);
        }
        format = implicit;
    }
    if format.style == Style::None {
        format = NumberFormat { precision: explicit.precision, ..NumberFormat::UNSIGNED };
    }
    let expr = has_expr.then(|| Expr(std::mem::take(&mut p.steps)));
    let define = colon.map(|colon| p.definition(from, colon, format)).transpose()?;
    Ok(NumericBlock { expr, format, define })
}

struct NumericParser<'a> {
    /// The text up to the end of the block.
    text: &'a [u8],
    pos: usize,
    line: Option<usize>,
    variables: &'a mut Variables,
    steps: Vec<PostfixTerm>,
    /// The first position at which operands have different formats.
    conflict: Option<(usize, String)>,
    depth: u32,
}

/// The operands that are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    Any,
    LineVariable,
    Literal,
}

/// The result of parsing; an error is an offset and a message.
type Parsed<T> = Result<T, (usize, String)>;

impl NumericParser<'_> {
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.text[self.pos..].starts_with(text.as_bytes());
        self.pos += if found { text.len() } else { 0 };
        found
    }

    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err((self.pos, message.into()))
    }

    /// Parses a format such as `%#.8X`, up to `end`.
    fn format(&mut self, end: usize) -> Parsed<NumberFormat> {
        self.blanks();
        if self.pos >= end || !self.eat("%") {
            return self.fail("invalid matching format specification in expression");
        }
        let flag = self.pos;
        let mut format = NumberFormat { alternate: self.eat("#"), ..NumberFormat::default() };
        if self.eat(".") {
            let n = self.digits(10).and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= MAX_PRECISION);
            let Some(n) = n else { return self.fail("invalid precision in format specifier") };
            format.precision = n;
        }
        if self.pos < end && !matches!(self.peek(), Some(b' ' | b'\t')) {
            format.style = match self.peek() {
                Some(b'u') => Style::Unsigned,
                Some(b'd') => Style::Signed,
                Some(b'x') => Style::HexLower,
                Some(b'X') => Style::HexUpper,
                _ => return self.fail("invalid format specifier in expression"),
            };
            self.pos += 1;
        }
        if format.alternate && !matches!(format.style, Style::HexLower | Style::HexUpper) {
            return Err((flag, "alternate form only supported for hex values".into()));
        }
        self.blanks();
        if self.pos < end {
            return self.fail("invalid matching format specification in expression");
        }
        Ok(format)
    }

    /// Parses `== expr` to the end of the block; returns the format of its operands.
    fn constraint_and_expr(&mut self, legacy: bool) -> Parsed<NumberFormat> {
        self.blanks();
        let constraint = self.eat("==");
        self.blanks();
        if self.pos == self.text.len() {
            return if constraint {
                self.fail("empty numeric expression should not have a constraint")
            } else {
                Ok(NumberFormat::default())
            };
        }
        let start = self.pos;
        let allowed = if legacy { Allowed::LineVariable } else { Allowed::Any };
        let mut format = self.operand(allowed, !constraint)?;
        self.blanks();
        while self.pos < self.text.len() {
            format = self.binary(start, format, legacy)?;
            self.blanks();
            if legacy && self.pos < self.text.len() {
                let rest = String::from_utf8_lossy(&self.text[self.pos..]).into_owned();
                return self.fail(format!("unexpected characters at end of expression '{rest}'"));
            }
        }
        Ok(format)
    }

    /// Parses an operator and its right operand.
    fn binary(&mut self, start: usize, left: NumberFormat, legacy: bool) -> Parsed<NumberFormat> {
        let left_end = self.pos;
        let operator: Binary = match self.peek() {
            Some(b'+') => i128::checked_add,
            Some(b'-') => i128::checked_sub,
            other => {
                let shown = String::from_utf8_lossy(&[other.unwrap_or(b' ')]).into_owned();
                return self.fail(format!("unsupported operation '{shown}'"));
            }
        };
        self.pos += 1;
        self.blanks();
        if self.pos == self.text.len() {
            return self.fail("missing operand in expression");
        }
        let right_start = self.pos;
        let right = self.operand(if legacy { Allowed::Literal } else { Allowed::Any }, false)?;
        self.steps.push(PostfixTerm::Binary(operator));
        Ok(self.joined(left, (start, left_end), right, (right_start, self.pos)))
    }

    /// Returns the format of an operation, from the formats of its operands.
    fn joined(
        &mut self,
        left: NumberFormat,
        l: (usize, usize),
        right: NumberFormat,
        r: (usize, usize),
    ) -> NumberFormat {
        let none = |f: NumberFormat| f.style == Style::None;
        if !none(left) && !none(right) && left != right && self.conflict.is_none() {
            let text =
                |(from, to): (usize, usize)| String::from_utf8_lossy(self.text[from..to].trim_ascii()).into_owned();
            let (l, r, start) = (text(l), text(r), l.0);
            let (lf, rf) = (left.name(), right.name());
            let message = format!(
                "implicit format conflict between '{l}' ({lf}) and '{r}' ({rf}), need an explicit format specifier"
            );
            self.conflict = Some((start, message));
        }
        if none(left) { right } else { left }
    }

    fn operand(&mut self, allowed: Allowed, maybe_constraint: bool) -> Parsed<NumberFormat> {
        if self.peek() == Some(b'(') {
            if allowed != Allowed::Any {
                return self.fail("parenthesized expression not permitted here");
            }
            return self.nested(Self::parenthesized);
        }
        if allowed != Allowed::Literal {
            match name(&self.text[self.pos..]) {
                Ok((len, pseudo)) => return self.variable_or_call(len, pseudo, allowed),
                Err((offset, message)) if allowed == Allowed::LineVariable => {
                    return Err((self.pos + offset, message.into()));
                }
                Err(_) => {}
            }
        }
        let start = self.pos;
        let negative = self.eat("-");
        match self.digits(if allowed == Allowed::Literal { 10 } else { 0 }) {
            Some(n) => {
                self.steps.push(PostfixTerm::Value(if negative { -n } else { n }));
                Ok(NumberFormat::default())
            }
            None => {
                let what = if maybe_constraint { "matching constraint or " } else { "" };
                Err((start, format!("invalid {what}operand format")))
            }
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return self.fail("expression nested too deeply");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Parses digits in a radix; 0 selects the radix by prefix. `None` without digits or on overflow.
    fn digits(&mut self, radix: u32) -> Option<i128> {
        let rest = &self.text[self.pos..];
        let (radix, skip) = match (radix, rest) {
            (0, [b'0', b'x' | b'X', ..]) => (16, 2),
            (0, [b'0', b'b' | b'B', ..]) => (2, 2),
            (0, [b'0', b'o', ..]) => (8, 2),
            (0, [b'0', b'0'..=b'9', ..]) => (8, 1),
            (0, _) => (10, 0),
            (radix, _) => (radix, 0),
        };
        let digits = rest.get(skip..)?.iter().take_while(|b| char::from(**b).is_digit(radix)).count();
        let text = std::str::from_utf8(&rest[skip..skip + digits]).ok()?;
        let value = if skip == 1 && digits == 0 { Some(0) } else { i128::from_str_radix(text, radix).ok() }?;
        self.pos += skip + digits;
        Some(value)
    }

    fn parenthesized(&mut self) -> Parsed<NumberFormat> {
        self.pos += 1;
        self.blanks();
        if self.pos == self.text.len() {
            return self.fail("missing operand in expression");
        }
        let start = self.pos;
        let mut format = self.operand(Allowed::Any, false)?;
        self.blanks();
        while self.pos < self.text.len() && self.peek() != Some(b')') {
            format = self.binary(start, format, false)?;
            self.blanks();
        }
        if self.eat(")") { Ok(format) } else { self.fail("missing ')' at end of nested expression") }
    }

    fn variable_or_call(&mut self, len: usize, pseudo: bool, allowed: Allowed) -> Parsed<NumberFormat> {
        let start = self.pos;
        let name = String::from_utf8_lossy(&self.text[start..start + len]).into_owned();
        self.pos += len;
        let after = self.pos;
        self.blanks();
        if self.peek() == Some(b'(') {
            if allowed != Allowed::Any {
                return Err((start, "unexpected function call".into()));
            }
            return self.call(&name, start);
        }
        self.pos = after;
        if pseudo && name != "@LINE" {
            return Err((start, format!("invalid pseudo numeric variable '{name}'")));
        }
        let known = self.variables.find_number(&name);
        let id = known.unwrap_or_else(|| self.variables.add_number(&name, NumberFormat::UNSIGNED, None));
        let variable = self.variables.number(id);
        if self.line.is_some() && variable.line == self.line {
            return Err((start, format!("numeric variable '{name}' defined earlier in the same CHECK directive")));
        }
        let format = variable.format;
        self.steps.push(PostfixTerm::Variable { id, name, offset: start });
        Ok(format)
    }

    /// Parses a call such as `add(a, b)` from its parenthesis on.
    fn call(&mut self, name: &str, start: usize) -> Parsed<NumberFormat> {
        let function: Binary = match name {
            "add" => i128::checked_add,
            "sub" => i128::checked_sub,
            "mul" => i128::checked_mul,
            "div" => i128::checked_div,
            "max" => |a, b| Some(a.max(b)),
            "min" => |a, b| Some(a.min(b)),
            _ => return Err((start, format!("call to undefined function '{name}'"))),
        };
        let (format, count) = self.nested(|p| p.arguments(function))?;
        if count == 2 {
            return Ok(format);
        }
        Err((start, format!("function '{name}' takes 2 arguments but {count} given")))
    }

    fn arguments(&mut self, function: Binary) -> Parsed<(NumberFormat, usize)> {
        self.pos += 1;
        self.blanks();
        let (mut format, mut count, first) = (NumberFormat::default(), 0, self.pos);
        while self.pos < self.text.len() && self.peek() != Some(b')') {
            if self.peek() == Some(b',') {
                return self.fail("missing argument");
            }
            let from = self.pos;
            let mut argument = self.operand(Allowed::Any, false)?;
            self.blanks();
            while self.pos < self.text.len() && !matches!(self.peek(), Some(b',' | b')')) {
                argument = self.binary(from, argument, false)?;
                self.blanks();
            }
            count += 1;
            format = if count == 1 { argument } else { self.joined(format, (first, from), argument, (from, self.pos)) };
            if count == 2 {
                self.steps.push(PostfixTerm::Binary(function));
            }
            if !self.eat(",") {
                break;
            }
            self.blanks();
            if self.peek() == Some(b')') {
                return self.fail("missing argument");
            }
        }
        if self.eat(")") { Ok((format, count)) } else { self.fail("missing ')' at end of call expression") }
    }

    /// Parses the name of the variable to define, from `start` to the colon.
    fn definition(&mut self, start: usize, colon: usize, format: NumberFormat) -> Parsed<(String, NumberId)> {
        self.pos = start;
        self.blanks();
        let (len, pseudo) = name(&self.text[self.pos..colon]).map_err(|(o, m)| (self.pos + o, m.to_owned()))?;
        let name = String::from_utf8_lossy(&self.text[self.pos..self.pos + len]).into_owned();
        if pseudo {
            return self.fail("definition of pseudo numeric variable unsupported");
        }
        if self.variables.is_string(&name) {
            return self.fail(format!("string variable with name '{name}' already exists"));
        }
        self.pos += len;
        self.blanks();
        if self.pos < colon {
            return self.fail("unexpected characters after numeric variable name");
        }
        match self.variables.find_number(&name) {
            Some(id) if self.variables.number(id).format != format => {
                self.fail("format different from previous variable definition")
            }
            Some(id) => Ok((name, id)),
            None => {
                let id = self.variables.add_number(&name, format, self.line);
                Ok((name, id))
            }
        }
    }
}
