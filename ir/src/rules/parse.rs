//! Parsing of rules.

use super::{AttrTerm, Call, CompiledRule, OTHERS, OpTerm, Rule, Term, Var};
use crate::constraint::{AttrSpec, AttrText};
use crate::context::Context;
use crate::diag::hint;
use crate::intern::{Attr, Type};
use crate::op_info::{Arity, Dialect, OpInfo};

/// Parses a rule of a dialect. Errors give the cause and the rest of the text.
pub(super) fn compile(ctx: &Context, dialect: &Dialect, rule: Rule) -> Result<CompiledRule, String> {
    let mut reader = Reader {
        ctx,
        dialect,
        rest: rule.text,
        names: Vec::new(),
        bound: None,
        computed: Vec::new(),
        fixed: Vec::new(),
    };
    let mut roots = Vec::new();
    for term in reader.terms()? {
        let Term::Op { op, .. } = term else { return Err("the left side must be an op".into()) };
        roots.push(op);
    }
    reader.bound = Some(reader.names.len());
    reader.expect("=>")?;
    let right = reader.terms()?;
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
    CompiledRule {
        name: ctx.str(rule.name),
        benefit: 1,
        approx: rule.approx,
        roots,
        conditions,
        computed: reader.computed,
        right,
        fixed: reader.fixed,
        variables: reader.names.len(),
    }
    .finish()
}

struct Reader<'a> {
    ctx: &'a Context,
    dialect: &'a Dialect,
    rest: &'a str,
    names: Vec<String>,
    /// Number of names on the left side, once it is parsed.
    bound: Option<usize>,
    computed: Vec<(Var, Call)>,
    /// Type variables with a fixed type.
    fixed: Vec<(Var, Type)>,
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

    /// Returns the variable of a name. On the left side, an unknown name creates one; on the right side, it is an
    /// error.
    fn var(&mut self, name: String) -> Result<Var, String> {
        if let Some(known) = self.names.iter().position(|n| *n == name) {
            return Ok(known);
        }
        if self.bound.is_some() {
            return Err(format!("'{name}' is not on the left side"));
        }
        Ok(self.new_var(name))
    }

    fn new_var(&mut self, name: String) -> Var {
        self.names.push(name);
        self.names.len() - 1
    }

    fn type_var(&mut self) -> Result<Option<Var>, String> {
        if !self.eat(":") {
            return Ok(None);
        }
        let name = self.word();
        // Types and values have separate namespaces.
        let key = format!(":{name}");
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || self.names.contains(&key) {
            return self.var(key).map(Some);
        }
        let ty = self.ctx.parse_type(&name).map_err(|e| e.message)?;
        let var = self.new_var(key);
        self.fixed.push((var, ty));
        Ok(Some(var))
    }

    /// Parses comma-separated terms.
    fn terms(&mut self) -> Result<Vec<Term>, String> {
        let mut terms = vec![self.term()?];
        while self.eat(",") {
            terms.push(self.term()?);
        }
        Ok(terms)
    }

    fn term(&mut self) -> Result<Term, String> {
        self.rest = self.rest.trim_start();
        let number =
            self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-.".contains(c)).len();
        if number > 0 {
            let (text, rest) = self.rest.split_at(number);
            self.rest = rest;
            let value = text.parse().map_err(|_| format!("'{text}' is no number"))?;
            return Ok(Term::Number { value, ty: self.type_var()? });
        }
        let name = self.word();
        if name.is_empty() {
            return Err(self.error("expected a value, constant or op"));
        }
        if self.eat("@") {
            let result = if self.bound.is_some() { self.new_var(name) } else { self.var(name)? };
            let Term::Op { mut op, .. } = self.term()? else { return Err(self.error("expected an op after '@'")) };
            op.results[0] = Some(result);
            return Ok(Term::Op { op, result: 0 });
        }
        if self.rest.starts_with(['(', '{']) {
            return self.op_or_computed(&name);
        }
        let constant = name.starts_with(|c: char| c.is_ascii_uppercase());
        let var = self.var(name)?;
        let ty = self.type_var()?;
        Ok(if constant { Term::Constant { var, ty } } else { Term::Value { var, ty } })
    }

    /// Parses an op, or on the right side a computed constant.
    fn op_or_computed(&mut self, name: &str) -> Result<Term, String> {
        let computes = self.ctx.rule_function(name).is_some_and(|function| !function.is_test());
        if self.bound.is_some() && computes {
            let var = self.computed(name)?;
            return Ok(Term::Constant { var, ty: self.type_var()? });
        }
        self.op(name).map(|op| Term::Op { op, result: 0 })
    }

    /// Parses a call and creates the variable of its result.
    fn computed(&mut self, name: &str) -> Result<Var, String> {
        let call = self.call(name)?;
        let var = self.new_var(String::new());
        self.computed.push((var, call));
        Ok(var)
    }

    fn op(&mut self, name: &str) -> Result<OpTerm, String> {
        let full = if name.contains('.') { name.to_owned() } else { format!("{}.{name}", self.dialect.name) };
        let name = self.ctx.op_name(&full);
        let Some(info) = self.ctx.op_info(name) else {
            let known = self.ctx.dialects().iter().flat_map(|d| d.ops).map(|info| info.name);
            return Err(format!("'{full}' is not a registered op{}", hint(&full, known)));
        };
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
        check_arity(info, operands.len())?;
        let ty = self.type_var()?;
        Ok(OpTerm::new(self.ctx, name, attrs, operands, vec![ty]))
    }

    fn attr(&mut self, info: &OpInfo) -> Result<(crate::intern::Str, AttrTerm), String> {
        if self.eat(OTHERS) {
            self.expect("=")?;
            let word = self.word();
            let var = if self.rest.starts_with('(') { self.computed(&word)? } else { self.var(word)? };
            return Ok((self.ctx.str(OTHERS), AttrTerm::Others(var)));
        }
        let key = self.word();
        let Some(spec) = info.attr(&key) else {
            let near = hint(&key, info.attrs.iter().map(|a| a.name));
            return Err(format!("'{}' has no attribute '{key}'{near}", info.name));
        };
        self.expect("=")?;
        let word = self.word();
        let term = if self.rest.starts_with('(') {
            AttrTerm::Var(self.computed(&word)?)
        } else if word.starts_with(|c: char| c.is_ascii_uppercase()) {
            AttrTerm::Var(self.var(word)?)
        } else {
            AttrTerm::Is(self.spelled(spec, &word)?)
        };
        Ok((self.ctx.str(&key), term))
    }

    /// Parses an attribute as the custom form spells it.
    fn spelled(&self, spec: &AttrSpec, word: &str) -> Result<Attr, String> {
        match spec.kind.text {
            AttrText::Cases(ty, cases) => {
                let case = cases.iter().find(|c| c.0 == word);
                case.map(|c| self.ctx.int_attr(ty, c.1)).ok_or_else(|| {
                    let near = hint(word, cases.iter().map(|case| case.0));
                    format!("'{word}' is not a value of '{}'{near}", spec.name)
                })
            }
            AttrText::Words { dialect, mnemonic, .. } => {
                self.ctx.parse_attr(&format!("#{dialect}.{mnemonic}<{word}>")).map_err(|e| e.message)
            }
            AttrText::Declared(name) => self.ctx.parse_attr(&format!("#{name}<{word}>")).map_err(|e| e.message),
            _ => self.ctx.parse_attr(word).map_err(|e| e.message),
        }
    }

    fn call(&mut self, name: &str) -> Result<Call, String> {
        let function = self.ctx.rule_function(name).ok_or_else(|| {
            let near = hint(name, self.ctx.rule_functions().map(|function| function.name));
            format!("no condition or computation is called '{name}'{near}")
        })?;
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.eat(")") {
            let word = self.word();
            let as_type = format!(":{word}");
            let known = self.names.iter().position(|n| *n == as_type || *n == word);
            args.push(known.ok_or_else(|| format!("'{word}' is not on the left side"))?);
            self.eat(",");
        }
        Ok(Call { function, args, params: Vec::new() })
    }
}

/// Checks that an op can have so many operands and one result.
fn check_arity(info: &OpInfo, operands: usize) -> Result<(), String> {
    let needed = info.operands.iter().filter(|spec| spec.arity == Arity::One).count();
    let most = match info.operands.iter().any(|spec| spec.arity == Arity::Variadic) {
        true => usize::MAX,
        false => info.operands.len(),
    };
    if needed == most && operands != needed {
        return Err(format!("'{}' takes {needed} operands, not {operands}", info.name));
    }
    if operands < needed {
        return Err(format!("'{}' takes {needed} operands or more, not {operands}", info.name));
    }
    if operands > most {
        return Err(format!("'{}' takes {most} operands at most, not {operands}", info.name));
    }
    match info.results.iter().filter(|spec| spec.arity == Arity::One).count() {
        0 if info.results.is_empty() => Err(format!("'{}' has no result", info.name)),
        0 | 1 => Ok(()),
        results => Err(format!("'{}' has {results} results, and a rule of one line replaces one", info.name)),
    }
}
