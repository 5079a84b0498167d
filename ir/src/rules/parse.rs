//! Reading rules.

use super::{AttrTerm, Call, Compiled, Native, OpTerm, Rule, Term, Var};
use crate::context::{Attr, Context};
use crate::op_info::{AttrSpec, AttrText, Dialect, OpInfo, Traits};

/// Reads a rule of a dialect. Errors say what is wrong and where.
pub(super) fn compile(ctx: &Context, dialect: &Dialect, rule: Rule) -> Result<Compiled, String> {
    let mut reader = Reader { ctx, dialect, rest: rule.text, names: Vec::new() };
    let Term::Op(left) = reader.term()? else { return Err("the left side must be an op".into()) };
    let bound = reader.names.len();
    reader.expect("=>")?;
    let right = reader.term()?;
    let mut conditions = Vec::new();
    if reader.eat("if ") {
        loop {
            let name = reader.word();
            conditions.push(reader.call(&name)?);
            if !reader.eat(",") {
                break;
            }
        }
    }
    reader.rest = reader.rest.trim_start();
    if !reader.rest.is_empty() {
        return Err(reader.error("expected the end"));
    }
    if let Some(unbound) = reader.names.get(bound) {
        return Err(format!("'{unbound}' is not on the left side"));
    }
    Ok(Compiled { name: rule.name, left, right, conditions, variables: bound })
}

struct Reader<'a> {
    ctx: &'a Context,
    dialect: &'a Dialect,
    rest: &'a str,
    names: Vec<String>,
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&format!("expected '{token}'"))) }
    }

    fn error(&self, message: &str) -> String {
        format!("{message} at '{}'", self.rest)
    }

    fn word(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word.to_owned()
    }

    fn var(&mut self, name: String) -> Var {
        self.names.iter().position(|n| *n == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn type_var(&mut self) -> Option<Var> {
        if !self.eat(":") {
            return None;
        }
        let name = self.word();
        // Types and values are named apart.
        Some(self.var(format!(":{name}")))
    }

    fn term(&mut self) -> Result<Term, String> {
        self.rest = self.rest.trim_start();
        let number =
            self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-.".contains(c)).len();
        if number > 0 {
            let (text, rest) = self.rest.split_at(number);
            self.rest = rest;
            let value = text.parse().map_err(|_| format!("'{text}' is no number"))?;
            return Ok(Term::Number { value, ty: self.type_var() });
        }
        let name = self.word();
        if name.is_empty() {
            return Err(self.error("expected a value, constant or op"));
        }
        if self.eat("@") {
            let result = self.var(name);
            let Term::Op(op) = self.term()? else { return Err(self.error("expected an op after '@'")) };
            return Ok(Term::Op(OpTerm { result: Some(result), ..op }));
        }
        if self.rest.starts_with(['(', '{']) {
            return self.op(&name).map(Term::Op);
        }
        let constant = name.starts_with(|c: char| c.is_ascii_uppercase());
        let var = self.var(name);
        let ty = self.type_var();
        Ok(if constant { Term::Constant { var, ty } } else { Term::Value { var, ty } })
    }

    fn op(&mut self, name: &str) -> Result<OpTerm, String> {
        let full = if name.contains('.') { name.to_owned() } else { format!("{}.{name}", self.dialect.name) };
        let name = self.ctx.op_name(&full);
        let Some(info) = self.ctx.op_info(name) else { return Err(format!("'{full}' is not registered")) };
        let mut attrs = Vec::new();
        if self.eat("{") {
            while !self.eat("}") {
                attrs.push(self.attr(info)?);
                self.eat(",");
            }
        }
        self.expect("(")?;
        let mut operands = Vec::new();
        while !self.eat(")") {
            operands.push(self.term()?);
            self.eat(",");
        }
        let ty = self.type_var();
        let commutative = info.traits.has(Traits::COMMUTATIVE) && operands.len() == 2;
        Ok(OpTerm { name, commutative, attrs, operands, ty, result: None })
    }

    fn attr(&mut self, info: &OpInfo) -> Result<(crate::context::Str, AttrTerm), String> {
        let key = self.word();
        let Some(spec) = info.attr(&key) else { return Err(format!("'{}' has no attribute '{key}'", info.name)) };
        self.expect("=")?;
        let word = self.word();
        let term = if self.rest.starts_with('(') {
            AttrTerm::Call(self.call(&word)?)
        } else if word.starts_with(|c: char| c.is_ascii_uppercase()) {
            AttrTerm::Var(self.var(word))
        } else {
            AttrTerm::Is(self.spelled(spec, &word)?)
        };
        Ok((self.ctx.str(&key), term))
    }

    /// The attribute that a word stands for in the custom form.
    fn spelled(&self, spec: &AttrSpec, word: &str) -> Result<Attr, String> {
        match spec.kind.text {
            AttrText::Cases(ty, cases) => {
                let case = cases.iter().find(|c| c.0 == word);
                case.map(|c| self.ctx.int_attr(ty, c.1))
                    .ok_or_else(|| format!("'{word}' is no value of '{}'", spec.name))
            }
            AttrText::Words { dialect, mnemonic, .. } => self.ctx.parse_attr(&format!("#{dialect}.{mnemonic}<{word}>")),
            _ => self.ctx.parse_attr(word),
        }
    }

    fn call(&mut self, name: &str) -> Result<Call, String> {
        let native = self.native(name)?;
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.eat(")") {
            let word = self.word();
            let as_type = format!(":{word}");
            let known = self.names.iter().position(|n| *n == as_type || *n == word);
            args.push(known.ok_or_else(|| format!("'{word}' is not on the left side"))?);
            self.eat(",");
        }
        Ok(Call { native, args })
    }

    fn native(&self, name: &str) -> Result<&'static Native, String> {
        let all = self.ctx.dialects().iter().flat_map(|d| d.natives);
        all.copied().find(|n| n.name == name).ok_or_else(|| format!("nothing is called '{name}'"))
    }
}
