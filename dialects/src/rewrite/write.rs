//! Conversion of rules to `rewrite.rule`.

use super::{AttributeOp, ComputeOp, ConstantOp, MatchOp, NumberOp, OpOp, ReplaceOp, RuleOp, TypeOp, ValueOp, WhereOp};
use gradus_ir::rules::{ArgKind, AttrTerm, Call, CompiledRule, OpTerm, Term, Var};
use gradus_ir::{Attr, Block, Builder, Context, Loc, Module, Op, OpDecl, OpState, Type, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Appends a rule to a module as a `rewrite.rule`.
pub fn write(m: &mut Module, rule: &CompiledRule) -> Op {
    let ctx = m.ctx.clone();
    let mut state = OpState::new(&ctx, RuleOp::INFO.name, Loc::UNKNOWN);
    state.inherent(&ctx, "sym_name", Some(ctx.string_attr(ctx.text(rule.name))));
    let benefit = (rule.benefit != 1).then(|| ctx.int_attr(Type::I64, i64::from(rule.benefit)));
    state.inherent(&ctx, "benefit", benefit);
    state.inherent(&ctx, "approx", rule.approx.then_some(Attr::UNIT));
    state.regions = 1;
    let body = m.body();
    let op = Builder::at_end(m, body).create(state);
    let region = m.regions(op)[0];
    let block = m.add_block(region);
    let mut writer = RuleWriter { m, ctx, block, handles: HashMap::new(), rule };
    writer.write_rule();
    op
}

struct RuleWriter<'a> {
    m: &'a mut Module,
    ctx: Arc<Context>,
    block: Block,
    /// Handle of each variable.
    handles: HashMap<Var, Value>,
    rule: &'a CompiledRule,
}

impl RuleWriter<'_> {
    fn write_rule(&mut self) {
        let rule = self.rule;
        for (var, kind) in rule.kinds().into_iter().enumerate() {
            if kind == Some(ArgKind::Type) {
                let fixed = rule.fixed.iter().find(|(known, _)| *known == var);
                let is = fixed.map(|(_, ty)| ("is", self.ctx.type_attr(*ty)));
                self.define(var, TypeOp::INFO.name, &[], is);
            }
        }
        let roots: Vec<Value> = rule.roots.iter().map(|root| self.op(root, true, 0)).collect();
        for call in &rule.conditions {
            self.call(WhereOp::INFO.name, call);
        }
        self.create(MatchOp::INFO.name, &[&roots], None);
        for (var, call) in &rule.computed {
            let op = self.call(ComputeOp::INFO.name, call);
            self.handles.insert(*var, self.m.result(op, 0));
        }
        let values: Vec<Value> = rule.right.iter().map(|term| self.term(term, false)).collect();
        self.create(ReplaceOp::INFO.name, &[&values], None);
    }

    fn create(&mut self, name: &str, groups: &[&[Value]], attr: Option<(&str, Attr)>) -> Op {
        let mut state = OpState::new(&self.ctx, name, Loc::UNKNOWN);
        groups.iter().for_each(|group| state.operand_group(group));
        if let Some((key, attr)) = attr {
            state.inherent(&self.ctx, key, Some(attr));
        }
        Builder::at_end(self.m, self.block).create(state)
    }

    /// Returns the handle of a variable, creating the op that defines it on first use.
    fn define(&mut self, var: Var, name: &str, groups: &[&[Value]], attr: Option<(&str, Attr)>) -> Value {
        if let Some(&known) = self.handles.get(&var) {
            return known;
        }
        let op = self.create(name, groups, attr);
        let handle = self.m.result(op, 0);
        self.handles.insert(var, handle);
        handle
    }

    fn ty(&self, var: Option<Var>) -> Vec<Value> {
        var.map(|var| self.handles[&var]).into_iter().collect()
    }

    fn term(&mut self, term: &Term, left: bool) -> Value {
        match term {
            Term::Value { var, ty } => {
                let ty = self.ty(*ty);
                self.define(*var, ValueOp::INFO.name, &[&ty], None)
            }
            Term::Constant { var, ty } if left => {
                let ty = self.ty(*ty);
                self.define(*var, ConstantOp::INFO.name, &[&[], &ty], None)
            }
            Term::Constant { var, ty } => {
                let (known, ty) = (self.handles[var], self.ty(*ty));
                if self.m.value_type(known) == super::value_type(&self.ctx) {
                    return known;
                }
                let op = self.create(ConstantOp::INFO.name, &[&[known], &ty], None);
                self.m.result(op, 0)
            }
            Term::Number { value, ty } => {
                let number = self.ctx.float_attr(Type::F64, *value);
                let ty = self.ty(*ty);
                let op = self.create(NumberOp::INFO.name, &[&ty], Some(("number", number)));
                self.m.result(op, 0)
            }
            Term::Op { op, result } => self.op(op, left, *result),
        }
    }

    fn op(&mut self, term: &OpTerm, left: bool, result: usize) -> Value {
        let ctx = self.ctx.clone();
        let (mut names, mut values, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for &(key, attr) in &term.attrs {
            match attr {
                AttrTerm::Var(var) | AttrTerm::Others(var) => {
                    names.push(ctx.string_attr(ctx.text(key)));
                    values.push(self.define(var, AttributeOp::INFO.name, &[], None));
                }
                AttrTerm::Is(attr) => others.push((key, attr)),
            }
        }
        let args: Vec<Value> = term.operands.iter().map(|operand| self.term(operand, left)).collect();
        let types = self.types(term, left);
        let mut state = OpState::new(&ctx, OpOp::INFO.name, Loc::UNKNOWN);
        [&args, &values, &types].into_iter().for_each(|group| state.operand_group(group));
        state.inherent(&ctx, "name", Some(ctx.string_attr(ctx.op_name_text(term.name))));
        state.inherent(&ctx, "attribute_names", (!names.is_empty()).then(|| ctx.array_attr(&names)));
        state.inherent(&ctx, "attributes", (!others.is_empty()).then(|| ctx.dict_attr(others)));
        let op = Builder::at_end(self.m, self.block).create(state);
        for (i, var) in term.results.iter().enumerate() {
            if let Some(var) = var {
                self.handles.insert(*var, self.m.result(op, i));
            }
        }
        self.m.result(op, result)
    }

    /// Returns handles for an op's result types: none, or one per result, with new variables for unconstrained types.
    fn types(&mut self, term: &OpTerm, left: bool) -> Vec<Value> {
        let named = term.types.iter().any(Option::is_some);
        if !named && (!left || term.types.len() == 1) {
            return Vec::new();
        }
        let handle = |writer: &mut Self, var: &Option<Var>| match var {
            Some(var) => writer.handles[var],
            None => {
                let op = writer.create(TypeOp::INFO.name, &[], None);
                writer.m.result(op, 0)
            }
        };
        term.types.iter().map(|var| handle(self, var)).collect()
    }

    fn call(&mut self, name: &str, call: &Call) -> Op {
        let ctx = self.ctx.clone();
        let args: Vec<Value> = call.args.iter().map(|var| self.handles[var]).collect();
        let params = call.function.params.iter().zip(&call.params).map(|(key, &attr)| (ctx.str(key), attr));
        let params: Vec<_> = params.collect();
        let mut state = OpState::new(&ctx, name, Loc::UNKNOWN);
        state.operand_group(&args);
        state.inherent(&ctx, "name", Some(ctx.string_attr(call.function.name)));
        state.inherent(&ctx, "params", (!params.is_empty()).then(|| ctx.dict_attr(params)));
        Builder::at_end(self.m, self.block).create(state)
    }
}
