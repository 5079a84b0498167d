//! Conversion of `rewrite.rule` to rules that drivers apply.

use super::{AttributeOp, ComputeOp, ConstantOp, MatchOp, NumberOp, OpOp, ReplaceOp, RuleOp, TypeOp, ValueOp, WhereOp};
use gradus_ir::rules::{AttrTerm, Call, CompiledRule, OTHERS, OpTerm, Term, Var};
use gradus_ir::{Attr, Diagnostic, Module, Op, OpDecl, Str, Value, Violation, symbol_name};
use std::collections::{HashMap, HashSet};

/// Maximum number of ops in a rule; larger rules are rejected.
pub(super) const MAX_OPS: usize = 250;

/// Converts a verified `rewrite.rule`.
pub fn read(m: &Module, rule: Op) -> Result<CompiledRule, Diagnostic> {
    compile(m, rule).map_err(|why| Diagnostic::error(m.loc(rule), format!("'{}' op {why}", m.name_text(rule))))
}

/// Converts all top-level rules of a verified module, in order.
pub fn rules_of(m: &Module) -> Result<Vec<(Op, CompiledRule)>, Diagnostic> {
    m.block_ops(m.body()).filter(|&op| RuleOp::cast(m, op).is_some()).map(|op| Ok((op, read(m, op)?))).collect()
}

/// Converts a rule. The error describes the violated constraint.
pub(super) fn compile(m: &Module, rule: Op) -> Result<CompiledRule, Violation> {
    let this = RuleOp(rule);
    let Some(block) = m.entry(this.body(m)) else { return Err("has no body".into()) };
    if !m.block_args(block).is_empty() {
        return Err("takes no block arguments".into());
    }
    let ops: Vec<Op> = m.block_ops(block).take(MAX_OPS + 1).collect();
    if ops.len() > MAX_OPS {
        return Err(format!("has more than {MAX_OPS} ops").into());
    }
    let Some(at) = ops.iter().position(|&op| MatchOp::cast(m, op).is_some()) else {
        return Err("needs a 'rewrite.match'".into());
    };
    let end = *ops.last().expect("contains rewrite.match");
    if ReplaceOp::cast(m, end).is_none() {
        return Err("must end with 'rewrite.replace'".into());
    }
    let (left, right) = ops.split_at(at);
    let mut reader = RuleReader { m, vars: HashMap::new(), fixed: Vec::new(), seen: HashSet::new(), left };
    let mut roots = Vec::new();
    for &root in m.operands(right[0]) {
        let op = m.defining_op(root).ok_or("matches a value that is not an op result")?;
        if !reader.seen.insert(op) {
            return Err("matches an op twice, or lists an operand's op after its user".into());
        }
        roots.push(reader.op(op)?);
    }
    reader.check_all_matched()?;
    let conditions = left.iter().filter_map(|&op| WhereOp::cast(m, op)).map(|op| reader.condition(op)).collect();
    let computed = right.iter().filter_map(|&op| ComputeOp::cast(m, op)).map(|op| reader.computation(op)).collect();
    let values = m.operands(end).iter().map(|&value| reader.term(value)).collect::<Result<_, _>>()?;
    let benefit = this.benefit(m).and_then(|a| m.ctx.as_int(a)).unwrap_or(1);
    let rule = CompiledRule {
        name: symbol_name(m, rule).ok_or("has no name")?,
        benefit: u32::try_from(benefit)
            .map_err(|_| format!("has the benefit {benefit}, which must not be negative"))?,
        approx: this.approx(m).is_some(),
        roots,
        conditions,
        computed,
        right: values,
        fixed: reader.fixed,
        variables: reader.vars.len(),
    };
    Ok(rule.finish()?)
}

struct RuleReader<'m> {
    m: &'m Module,
    /// Variable of each handle.
    vars: HashMap<Value, Var>,
    fixed: Vec<(Var, gradus_ir::Type)>,
    /// Ops that have been read. A second use of their results is a reference to a bound value.
    seen: HashSet<Op>,
    /// Ops before `match`.
    left: &'m [Op],
}

impl RuleReader<'_> {
    fn var(&mut self, handle: Value) -> Var {
        let next = self.vars.len();
        let (m, mut new) = (self.m, false);
        let var = *self.vars.entry(handle).or_insert_with(|| {
            new = true;
            next
        });
        let known = m.defining_op(handle).and_then(|op| TypeOp::cast(m, op)).and_then(|ty| ty.is(m));
        if new && let Some(ty) = known.and_then(|attr| m.ctx.as_type(attr)) {
            self.fixed.push((var, ty));
        }
        var
    }

    fn term(&mut self, handle: Value) -> Result<Term, Violation> {
        let m = self.m;
        let op = m.defining_op(handle).ok_or("uses a value that is defined outside the rule")?;
        if OpOp::cast(m, op).is_some() {
            if !self.seen.insert(op) {
                return Ok(Term::Value { var: self.var(handle), ty: None });
            }
            let result = m.results(op).position(|v| v == handle).expect("is a result of its op");
            return Ok(Term::Op { op: self.op(op)?, result });
        }
        self.seen.insert(op);
        if let Some(constant) = ConstantOp::cast(m, op) {
            let var = self.var(constant.of(m).unwrap_or(handle));
            return Ok(Term::Constant { var, ty: constant.r#type(m).map(|ty| self.var(ty)) });
        }
        if let Some(number) = NumberOp::cast(m, op) {
            let value = number.number(m).and_then(|a| m.ctx.as_float(a)).ok_or("has an invalid number")?;
            return Ok(Term::Number { value, ty: number.r#type(m).map(|ty| self.var(ty)) });
        }
        match ValueOp::cast(m, op) {
            Some(value) => Ok(Term::Value { var: self.var(handle), ty: value.r#type(m).map(|ty| self.var(ty)) }),
            None => Err(format!("uses the result of '{}' as a value handle", m.name_text(op)).into()),
        }
    }

    fn op(&mut self, op: Op) -> Result<OpTerm, Violation> {
        let (m, this) = (self.m, OpOp(op));
        let name = m.ctx.op_name(this.name(m).and_then(|a| m.ctx.as_str(a)).unwrap_or_default());
        let names = this.attribute_names(m).and_then(|a| m.ctx.as_array(a)).unwrap_or_default();
        let mut attrs: Vec<(Str, AttrTerm)> = Vec::new();
        for (&name, &handle) in names.iter().zip(&this.attribute_values(m)) {
            self.seen.extend(m.defining_op(handle));
            let (name, var) = (m.ctx.as_str(name).unwrap_or_default(), self.var(handle));
            attrs.push((m.ctx.str(name), if name == OTHERS { AttrTerm::Others(var) } else { AttrTerm::Var(var) }));
        }
        let others = this.attributes(m).map_or(&[][..], |dict| m.ctx.dict_entries(dict));
        attrs.extend(others.iter().map(|&(key, attr)| (key, AttrTerm::Is(attr))));
        let operands = this.args(m).iter().map(|&v| self.term(v)).collect::<Result<Vec<_>, _>>()?;
        let named = this.types(m);
        let types = (0..m.num_results(op)).map(|i| named.get(i).map(|&ty| self.var(ty))).collect();
        let mut term = OpTerm::new(&m.ctx, name, attrs, operands, types);
        term.results = m.results(op).map(|v| Some(self.var(v))).collect();
        Ok(term)
    }

    /// Checks that every op before `match` is part of the pattern.
    fn check_all_matched(&self) -> Result<(), Violation> {
        let m = self.m;
        let loose = |&op: &Op| {
            let free = TypeOp::cast(m, op).is_some() || WhereOp::cast(m, op).is_some();
            !free && !self.seen.contains(&op)
        };
        match self.left.iter().copied().find(loose) {
            Some(op) if AttributeOp::cast(m, op).is_some() => {
                Err("has an attribute handle that no matched op uses".into())
            }
            Some(op) => Err(format!("has no matched op that uses the result of its '{}'", m.name_text(op)).into()),
            None => Ok(()),
        }
    }

    fn condition(&mut self, op: WhereOp) -> Call {
        let m = self.m;
        self.call(op.name(m), &op.args(m), op.params(m))
    }

    fn computation(&mut self, op: ComputeOp) -> (Var, Call) {
        let m = self.m;
        let call = self.call(op.name(m), &op.args(m), op.params(m));
        (self.var(op.result(m)), call)
    }

    fn call(&mut self, name: Option<Attr>, args: &[Value], params: Option<Attr>) -> Call {
        let ctx = &self.m.ctx;
        let function = name.and_then(|a| ctx.rule_function(ctx.as_str(a)?)).expect("the verifier knows it");
        let args = args.iter().map(|&arg| self.var(arg)).collect();
        let value = |key: &&str| ctx.dict_get(params?, ctx.str(key));
        Call { function, args, params: function.params.iter().filter_map(value).collect() }
    }
}
