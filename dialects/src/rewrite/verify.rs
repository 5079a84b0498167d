//! Verifiers of `rewrite` ops.

use super::{AttributeOp, ComputeOp, ConstantOp, MatchOp, NumberOp, OpOp, TypeOp, WhereOp, read};
use gradus_ir::diag::hint;
use gradus_ir::rules::{ArgKind, OTHERS, RuleFunction};
use gradus_ir::{Arity, Attr, Module, Op, OpDecl, OpInfo, Value, ValueSpec, Violation};

/// Verifies the rule as a whole.
pub(super) fn rule(m: &Module, op: Op) -> Result<(), Violation> {
    read::compile(m, op).map(drop)
}

/// Whether an op of a rule comes after `match`.
fn is_new(m: &Module, op: Op) -> bool {
    let before = std::iter::successors(m.prev_op(op), |&op| m.prev_op(op));
    before.take(read::MAX_OPS).any(|op| MatchOp::cast(m, op).is_some())
}

/// Verifies that an op precedes `match`.
pub(super) fn matched(m: &Module, op: Op) -> Result<(), Violation> {
    match is_new(m, op) {
        true => Err("must precede 'rewrite.match', which ends the pattern".into()),
        false => Ok(()),
    }
}

pub(super) fn constant(m: &Module, op: Op) -> Result<(), Violation> {
    match (is_new(m, op), ConstantOp(op).of(m).is_some()) {
        (false, true) => Err("takes no attribute before 'rewrite.match', where constants are matched".into()),
        (true, false) => Err("needs an attribute as value after 'rewrite.match', where constants are created".into()),
        _ => Ok(()),
    }
}

pub(super) fn number(m: &Module, op: Op) -> Result<(), Violation> {
    let number = NumberOp(op).number(m).and_then(|a| m.ctx.as_float(a)).unwrap_or(f64::NAN);
    if number.is_finite() { Ok(()) } else { Err("needs a finite number".into()) }
}

pub(super) fn roots(m: &Module, op: Op) -> Result<(), Violation> {
    if is_new(m, op) {
        return Err("must occur once in a rule".into());
    }
    let is_op = |v: Value| m.defining_op(v).is_some_and(|op| OpOp::cast(m, op).is_some());
    match m.operands(op).iter().all(|&v| is_op(v)) {
        _ if m.operands(op).is_empty() => Err("needs an op to replace".into()),
        true => Ok(()),
        false => Err("needs results of 'rewrite.op'".into()),
    }
}

/// Verifies the op's name, its attributes, and the numbers of operands and results.
pub(super) fn op(m: &Module, op: Op) -> Result<(), Violation> {
    let this = OpOp(op);
    let name = this.name(m).and_then(|a| m.ctx.as_str(a)).unwrap_or_default();
    let Some(info) = m.ctx.op_info(m.ctx.op_name(name)) else {
        let all = m.ctx.dialects().iter().flat_map(|d| d.ops).map(|info| info.name);
        return Err(unknown("op", name, all).into());
    };
    let names = this.attribute_names(m).and_then(|a| m.ctx.as_array(a)).unwrap_or_default();
    let handles = names.iter().filter_map(|&n| m.ctx.as_str(n));
    let others = this.attributes(m).map_or(&[][..], |dict| m.ctx.dict_entries(dict));
    if names.len() != this.attribute_values(m).len() {
        return Err(format!("has {} names for {} attributes", names.len(), this.attribute_values(m).len()).into());
    }
    for key in handles.clone().chain(others.iter().map(|(key, _)| m.ctx.text(*key))) {
        let others_by_handle = key == OTHERS && handles.clone().any(|name| name == key);
        if !info.is_inherent(key) && !others_by_handle {
            return Err(format!("'{name}' has {}", unknown("attribute", key, info.attrs.iter().map(|a| a.name))).into());
        }
        if handles.clone().chain(others.iter().map(|(key, _)| m.ctx.text(*key))).filter(|k| *k == key).count() > 1 {
            return Err(format!("lists the attribute '{key}' twice").into());
        }
    }
    for &(key, attr) in others {
        check_attr(m, info, m.ctx.text(key), attr)?;
    }
    check_count(info, "operand", info.operands, this.args(m).len())?;
    check_count(info, "result", info.results, m.num_results(op))?;
    let types = this.types(m).len();
    match types.max(1) == m.num_results(op) {
        true => Ok(()),
        false => Err(format!("names {types} types for {} results", m.num_results(op)).into()),
    }
}

fn check_attr(m: &Module, info: &OpInfo, key: &str, attr: Attr) -> Result<(), Violation> {
    match info.attr(key) {
        Some(spec) if !(spec.kind.check)(&m.ctx, attr) => {
            Err(format!("attribute '{key}' of '{}' failed to satisfy constraint: {}", info.name, spec.kind.summary)
                .into())
        }
        _ => Ok(()),
    }
}

fn check_count(info: &OpInfo, what: &str, specs: &[ValueSpec], have: usize) -> Result<(), Violation> {
    let least = specs.iter().filter(|spec| spec.arity == Arity::One).count();
    let most = if specs.iter().any(|spec| spec.arity == Arity::Variadic) { usize::MAX } else { specs.len() };
    match () {
        () if have < least => Err(format!("'{}' has at least {least} {what}s, not {have}", info.name).into()),
        () if have > most => Err(format!("'{}' has at most {most} {what}s, not {have}", info.name).into()),
        () => Ok(()),
    }
}

pub(super) fn condition(m: &Module, op: Op) -> Result<(), Violation> {
    matched(m, op)?;
    let this = WhereOp(op);
    call(m, this.name(m), &this.args(m), this.params(m), true)
}

pub(super) fn computation(m: &Module, op: Op) -> Result<(), Violation> {
    if !is_new(m, op) {
        return Err("must come after 'rewrite.match'".into());
    }
    let this = ComputeOp(op);
    call(m, this.name(m), &this.args(m), this.params(m), false)
}

fn call(m: &Module, name: Option<Attr>, args: &[Value], params: Option<Attr>, is_test: bool) -> Result<(), Violation> {
    let name = name.and_then(|a| m.ctx.as_str(a)).unwrap_or_default();
    let what = if is_test { "condition" } else { "computation" };
    let of_kind = || m.ctx.rule_functions().filter(|function| function.is_test() == is_test);
    let Some(function) = of_kind().find(|function| function.name == name) else {
        return Err(unknown(what, name, of_kind().map(|function| function.name)).into());
    };
    let fits = |(&arg, want): (&Value, &ArgKind)| kind_of(m, arg).is_some_and(|kind| want.takes(kind));
    if args.len() != function.args.len() || !args.iter().zip(function.args).all(fits) {
        let wanted: Vec<&str> = function.args.iter().map(|kind| kind.word()).collect();
        return Err(format!("'{name}' takes ({})", wanted.join("; ")).into());
    }
    check_params(m, function, params)
}

fn check_params(m: &Module, function: &RuleFunction, params: Option<Attr>) -> Result<(), Violation> {
    let given: Vec<&str> =
        params.map_or(&[][..], |dict| m.ctx.dict_entries(dict)).iter().map(|(key, _)| m.ctx.text(*key)).collect();
    if let Some(key) = given.iter().find(|key| !function.params.contains(key)) {
        return Err(
            format!("'{}' has {}", function.name, unknown("parameter", key, function.params.iter().copied())).into()
        );
    }
    match function.params.iter().find(|key| !given.contains(key)) {
        Some(missing) => Err(format!("'{}' needs the parameter '{missing}'", function.name).into()),
        None => Ok(()),
    }
}

/// Returns the argument kind of a handle in conditions and computations.
fn kind_of(m: &Module, handle: Value) -> Option<ArgKind> {
    let op = m.defining_op(handle)?;
    let is_attr = [AttributeOp::INFO.name, ComputeOp::INFO.name, ConstantOp::INFO.name].contains(&m.name_text(op));
    Some(match () {
        () if is_attr => ArgKind::Attr,
        () if TypeOp::cast(m, op).is_some() => ArgKind::Type,
        () if NumberOp::cast(m, op).is_some() => return None,
        () => ArgKind::Value,
    })
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!("no {what} '{name}'{}", hint(name, known))
}
