//! Parsing of rules.

use super::compiled::SEGMENT_SIZES;
use super::{AttrTerm, Call, CompiledRule, OTHERS, OpTerm, Rule, Term, Var};
use crate::constraint::{AttrSpec, AttrText};
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::op_info::{Arity, Dialect, OpInfo};
use crate::text::diag::hint;
use crate::text::lexer::Lexer;
use crate::traits::Traits;

/// Parses a rule of a dialect. Errors give the cause and the rest of the text.
pub(super) fn compile(ctx: &Context, dialect: &Dialect, rule: Rule) -> Result<CompiledRule, String> {
    let mut parser = RuleParser {
        ctx,
        dialect,
        lexer: Lexer::new(rule.text, "_."),
        names: Vec::new(),
        bound: None,
        computed: Vec::new(),
        fixed: Vec::new(),
    };
    let mut roots = Vec::new();
    for term in parser.terms()? {
        let Term::Op { op, .. } = term else { return Err("the left side must be an op".into()) };
        roots.push(op);
    }
    parser.bound = Some(parser.names.len());
    parser.lexer.expect("=>")?;
    let right = parser.terms()?;
    let mut conditions = Vec::new();
    if parser.lexer.eat("if ") {
        loop {
            let name = parser.lexer.word();
            conditions.push(parser.call(name)?);
            if !parser.lexer.eat(",") {
                break;
            }
        }
    }
    if !parser.lexer.at_end() {
        return Err(parser.lexer.error("expected the end"));
    }
    let rule = CompiledRule {
        name: ctx.str(rule.name),
        benefit: 1,
        approx: rule.approx,
        roots,
        conditions,
        computed: parser.computed,
        right,
        fixed: parser.fixed,
        variables: parser.names.len(),
    };
    Ok(rule.finish()?)
}

struct RuleParser<'a> {
    ctx: &'a Context,
    dialect: &'a Dialect,
    lexer: Lexer<'a>,
    names: Vec<String>,
    /// Number of names on the left side, once it is parsed.
    bound: Option<usize>,
    computed: Vec<(Var, Call)>,
    /// Type variables with a fixed type.
    fixed: Vec<(Var, Type)>,
}

impl RuleParser<'_> {
    /// Returns the variable of a name. On the left side, an unknown name creates one; on the right side, it is an
    /// error.
    fn var(&mut self, name: &str) -> Result<Var, String> {
        if let Some(known) = self.names.iter().position(|n| *n == name) {
            return Ok(known);
        }
        if self.bound.is_some() {
            return Err(format!("'{name}' is not on the left side"));
        }
        Ok(self.new_var(name))
    }

    fn new_var(&mut self, name: &str) -> Var {
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    fn type_var(&mut self) -> Result<Option<Var>, String> {
        if !self.lexer.eat(":") {
            return Ok(None);
        }
        let name = self.lexer.word();
        // Types and values have separate namespaces.
        let key = format!(":{name}");
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || self.names.contains(&key) {
            return self.var(&key).map(Some);
        }
        let ty = self.ctx.parse_type(name).map_err(|e| e.message)?;
        let var = self.new_var(&key);
        self.fixed.push((var, ty));
        Ok(Some(var))
    }

    /// Parses comma-separated terms.
    fn terms(&mut self) -> Result<Vec<Term>, String> {
        let mut terms = vec![self.term()?];
        while self.lexer.eat(",") {
            terms.push(self.term()?);
        }
        Ok(terms)
    }

    fn term(&mut self) -> Result<Term, String> {
        let text = self.lexer.take_while(|c| c.is_ascii_digit() || "-.".contains(c));
        if !text.is_empty() {
            let value = text.parse().map_err(|_| format!("'{text}' is no number"))?;
            return Ok(Term::Number { value, ty: self.type_var()? });
        }
        let name = self.lexer.word();
        if name.is_empty() {
            return Err(self.lexer.error("expected a value, constant or op"));
        }
        if self.lexer.eat("@") {
            let result = if self.bound.is_some() { self.new_var(name) } else { self.var(name)? };
            let Term::Op { mut op, .. } = self.term()? else {
                return Err(self.lexer.error("expected an op after '@'"));
            };
            op.results[0] = Some(result);
            return Ok(Term::Op { op, result: 0 });
        }
        if self.lexer.follows(&['(', '{']) {
            return self.op_or_computed(name);
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
        let var = self.new_var("");
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
        if self.lexer.eat("{") {
            while !self.lexer.eat("}") {
                let (key, attr) = self.attr(info)?;
                if attrs.iter().any(|(known, _)| *known == key) {
                    return Err(format!("'{full}' has two attributes '{}'", self.ctx.text(key)));
                }
                attrs.push((key, attr));
                self.lexer.eat(",");
            }
        }
        self.lexer.expect("(")?;
        let mut operands = Vec::new();
        while !self.lexer.eat(")") {
            operands.push(self.term()?);
            self.lexer.eat(",");
        }
        check_arity(info, operands.len())?;
        let ty = self.type_var()?;
        Ok(OpTerm::new(self.ctx, name, attrs, operands, vec![ty]))
    }

    fn attr(&mut self, info: &OpInfo) -> Result<(crate::intern::Str, AttrTerm), String> {
        if self.lexer.eat(OTHERS) {
            self.lexer.expect("=")?;
            let word = self.lexer.word();
            let var = if self.lexer.follows(&['(']) { self.computed(word)? } else { self.var(word)? };
            return Ok((self.ctx.str(OTHERS), AttrTerm::Others(var)));
        }
        let key = self.lexer.word();
        if key == SEGMENT_SIZES && info.traits.has(Traits::OPERAND_SEGMENTS) {
            self.lexer.expect("=")?;
            let word = self.lexer.word();
            return Ok((self.ctx.str(key), AttrTerm::Var(self.var(word)?)));
        }
        let Some(spec) = info.attr(key) else {
            let near = hint(key, info.attrs.iter().map(|a| a.name));
            return Err(format!("'{}' has no attribute '{key}'{near}", info.name));
        };
        self.lexer.expect("=")?;
        let word = self.lexer.word();
        let term = if self.lexer.follows(&['(']) {
            AttrTerm::Var(self.computed(word)?)
        } else if word.starts_with(|c: char| c.is_ascii_uppercase()) {
            AttrTerm::Var(self.var(word)?)
        } else {
            AttrTerm::Is(self.spelled(spec, word)?)
        };
        Ok((self.ctx.str(key), term))
    }

    /// Parses an attribute as the custom form spells it.
    fn spelled(&self, spec: &AttrSpec, word: &str) -> Result<Attr, String> {
        let attr = self.attr_of(spec, word)?;
        if !(spec.kind.check)(self.ctx, attr) {
            return Err(format!("'{word}' is not a value of '{}': {}", spec.name, spec.kind.summary));
        }
        Ok(attr)
    }

    fn attr_of(&self, spec: &AttrSpec, word: &str) -> Result<Attr, String> {
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
        self.lexer.expect("(")?;
        let mut args = Vec::new();
        while !self.lexer.eat(")") {
            let word = self.lexer.word();
            let as_type = format!(":{word}");
            let known = self.names.iter().position(|n| *n == as_type || *n == word);
            args.push(known.ok_or_else(|| format!("'{word}' is not on the left side"))?);
            self.lexer.eat(",");
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
