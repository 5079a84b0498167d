//! Mistakes in declarations that are found by running ops: semantics, inferred types and custom forms.

use crate::declared::Trial;
use crate::rule::types;
use gradus_check::{Inputs, refines};
use gradus_ir::declarations::{DeclarationError, Declared, op_error, param_error};
use gradus_ir::eval::{Datum, Trap, check_results};
use gradus_ir::memory::Memory;
use gradus_ir::random::Random;
use gradus_ir::rewrite::fold_given;
use gradus_ir::verify::verify_op;
use gradus_ir::{
    Arity, Attr, Context, Folded, Module, Op, OpInfo, PrintOptions, Traits, Type, TypeInfo, TypeRelation, ValueSpec,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Attempts to draw an op.
const TRIES: usize = 40;
/// Valid instances of an op that are run.
const INSTANCES: usize = 4;
/// Runs of an instance.
const RUNS: usize = 3;
/// Elements of memory that a run may allocate.
const MEMORY: usize = 1 << 12;

/// Draws each op without regions a few times, runs it and prints it, and looks for types for each rule.
///
/// The mistakes: rules that apply to no types, or whose conditions are false for the only ones; types that a trait or a relation makes equal though no type satisfies all constraints; `infer`, `fold` or
/// the meaning with another number of values than the op has results; a meaning with values of another type or shape; a
/// custom form that loses attributes.
pub fn check(ctx: &Arc<Context>) -> Vec<DeclarationError> {
    let mut trial = Trial::new(ctx);
    let mut errors = Vec::new();
    let mut dialect_of: FxHashMap<&str, &'static str> = FxHashMap::default();
    for dialect in ctx.dialects() {
        for info in dialect.types {
            let mistake = type_mistake(ctx, info);
            errors.extend(mistake.map(|mistake| param_error(Declared::Type, dialect.name, &info.decl, mistake)));
        }
        for info in dialect.ops {
            let mistake = contradiction(&mut trial, info).or_else(|| drawn_mistake(&mut trial, info));
            errors.extend(mistake.map(|mistake| op_error(dialect.name, info, mistake)));
        }
        let grouped = dialect.rule_groups.iter().flat_map(|group| group.rules);
        dialect_of.extend(dialect.rules.iter().chain(grouped).map(|rule| (rule.name, dialect.name)));
    }
    errors.extend(ctx.all_rules().filter_map(|rule| {
        let (mistake, name) = (types::contradiction(&mut trial, rule)?, ctx.text(rule.name));
        Some(DeclarationError::new(Declared::Rule, dialect_of[name], name, mistake))
    }));
    errors
}

/// Returns the mistake of a type: it draws a value that it does not contain, or a constant or a representation has another value.
fn type_mistake(ctx: &Context, info: &'static TypeInfo) -> Option<String> {
    let mut random = Random::of(info.decl.name);
    let examples = info.decl.examples.iter().map(|body| info.decl.example('!', body));
    examples.filter_map(|text| ctx.parse_type(&text).ok()).find_map(|ty| {
        (0..RUNS).find_map(|_| {
            let (value, shown) = (Inputs::draw_value(ctx, ty, &mut random)?, ctx.display_type(ty));
            if !ctx.is_value(ty, &value) {
                return Some(format!("its 'draw' gives {}, which is no value of '{shown}'", value.kind()));
            }
            if let Some(mistake) = representation_mistake(ctx, ty, &value) {
                return Some(mistake);
            }
            let again = ctx.attr_datum(ctx.datum_attr(ty, &value)?);
            (!again.is_some_and(|again| refines(&value, &again)))
                .then(|| format!("its 'constant' of {} of type '{shown}' has another value", value.kind()))
        })
    })
}

/// Returns the mistake of a representation that loses a value, or gives another number of values than types.
fn representation_mistake(ctx: &Context, ty: Type, value: &Datum) -> Option<String> {
    ctx.representations().find_map(|declared| {
        let (types, values) = ((declared.types)(ctx, ty)?, (declared.encode)(ctx, ty, value)?);
        let (name, found, wanted) = (declared.name, values.len(), types.len());
        if found != wanted {
            return Some(format!("its representation '{name}' gives {found} values for {wanted} types"));
        }
        let again = (declared.decode)(ctx, ty, &values);
        (again.as_ref() != Some(value)).then(|| format!("its representation '{name}' loses {}", value.kind()))
    })
}

/// Returns the error of groups that a relation gives one type that not all constraints allow.
fn contradiction(trial: &mut Trial, info: &'static OpInfo) -> Option<String> {
    let all = || info.operands.iter().chain(info.results);
    let mut sets: Vec<(&str, Vec<&'static ValueSpec>)> = Vec::new();
    if info.traits.has(Traits::SAME_TYPE) {
        sets.push(("the trait SAME_TYPE", all().collect()));
    }
    for relation in info.relations {
        match relation {
            TypeRelation::Same(names) => {
                sets.push(("a type relation", all().filter(|spec| names.contains(&spec.name)).collect()));
            }
            TypeRelation::SameOperands => sets.push(("a type relation", info.operands.iter().collect())),
            TypeRelation::Derived { .. } => {}
        }
    }
    sets.into_iter().find_map(|(by, specs)| {
        let types: Vec<_> = specs.iter().map(|spec| trial.choices(spec.ty)).collect();
        let (first, others) = types.split_first()?;
        // A constraint that accepts no sample type may accept types of a dialect.
        let sampled = types.iter().all(|types| !types.is_empty());
        let common = first.iter().any(|(ty, _)| others.iter().all(|types| types.iter().any(|(other, _)| other == ty)));
        let names: Vec<String> = specs.iter().map(|spec| format!("'{}'", spec.name)).collect();
        (sampled && !common)
            .then(|| format!("{by} makes the types of {} equal, but no type fits all", names.join(", ")))
    })
}

/// Returns the first mistake that an instance shows.
fn drawn_mistake(trial: &mut Trial, info: &'static OpInfo) -> Option<String> {
    if !info.regions.is_empty() || !info.successors.is_empty() {
        return None;
    }
    let mut valid = 0;
    for _ in 0..TRIES {
        let Some(op) = trial.attempt(info) else { continue };
        let mut found = inference_mistake(&trial.module, op, info);
        if found.is_none() && verify_op(&trial.module, op).is_ok() {
            valid += 1;
            found = instance_mistake(&mut trial.module, op, info);
        }
        trial.module.erase_op(op);
        if found.is_some() || valid == INSTANCES {
            return found;
        }
    }
    None
}

fn inference_mistake(m: &Module, op: Op, info: &OpInfo) -> Option<String> {
    let needed = info.results.iter().filter(|spec| spec.arity == Arity::One).count();
    let most = if info.results.iter().any(|s| s.arity == Arity::Variadic) { usize::MAX } else { info.results.len() };
    let found = m.num_results(op);
    let wrong = info.infer.is_some() && !(needed..=most).contains(&found);
    wrong.then(|| format!("its 'infer' gives {found} types for {} results", info.results.len()))
}

fn instance_mistake(m: &mut Module, op: Op, info: &OpInfo) -> Option<String> {
    let mut random = Random::of(info.name);
    let runs = (0..if has_static_operands(m, op) { RUNS } else { 0 }).find_map(|_| {
        let types = m.operands(op).iter().map(|&v| m.value_type(v));
        let data: Option<Vec<Datum>> = types.map(|ty| Inputs::draw_view(&m.ctx, ty, &mut random)).collect();
        data.and_then(|data| run_mistake(m, op, info, &data))
    });
    runs.or_else(|| fold_mistake(m, op)).or_else(|| lost_attribute(m, op, info))
}

/// Runs the op's meaning on operands.
fn run_mistake(m: &Module, op: Op, info: &OpInfo, data: &[Datum]) -> Option<String> {
    let mut memory = Memory::default();
    memory.limit = MEMORY;
    m.with_args(op, |args| {
        let results = match (info.exec, info.eval) {
            (Some(exec), _) => exec(args, data, &mut memory),
            (None, Some(eval)) => eval(args, data),
            (None, None) => return None,
        };
        // What it refuses is a matter of operands.
        let results = results.ok()?;
        match check_results(args, &results) {
            Err(Trap::Unsupported(mistake)) => Some(mistake),
            _ if shape_follows(m, op, info) => wrong_shape(m, op, &results),
            _ => None,
        }
    })?
}

/// Whether the types of all operands give their extents. Operands of open extents need not go together.
fn has_static_operands(m: &Module, op: Op) -> bool {
    let mut types = m.operands(op).iter().map(|&v| m.value_type(v));
    types.all(|ty| !m.ctx.is_shaped(ty) || m.ctx.static_shape(ty).is_some())
}

/// Whether the extents of results follow from those of operands alone: no operand is an integer that could be an extent.
fn shape_follows(m: &Module, op: Op, info: &OpInfo) -> bool {
    let mut types = m.operands(op).iter().map(|&v| m.value_type(v));
    let alike = [Traits::SAME_TYPE, Traits::ELEMENTWISE].into_iter().any(|on| info.traits.has(on));
    alike || types.all(|ty| m.ctx.float_kind(m.ctx.element_type(ty)).is_some())
}

fn wrong_shape(m: &Module, op: Op, results: &[Datum]) -> Option<String> {
    let ctx = &m.ctx;
    m.results(op).zip(results).find_map(|(value, result)| {
        let (Datum::Tensor(tensor), ty) = (result, m.value_type(value)) else { return None };
        let (have, shown) = (tensor.shape(), ctx.display_type(ty));
        (!ctx.has_shape(ty, result))
            .then(|| format!("its semantics give extents {have:?} for a result of type '{shown}'"))
    })
}

fn fold_mistake(m: &Module, op: Op) -> Option<String> {
    let unknown: Vec<Option<Attr>> = vec![None; m.operands(op).len()];
    let Some(Folded::Results(results)) = fold_given(m, op, &unknown) else { return None };
    let (found, wanted) = (results.len(), m.num_results(op));
    (found != wanted).then(|| format!("its 'fold' gives {found} values for {wanted} results"))
}

/// Returns the error if the custom form loses a discardable attribute.
fn lost_attribute(m: &mut Module, op: Op, info: &OpInfo) -> Option<String> {
    const NAME: &str = "declarations.kept";
    info.format?;
    m.set_attr(op, NAME, Some(Attr::UNIT));
    let text = m.op_text(op, PrintOptions::default());
    (!text.contains(NAME)).then(|| "its custom form loses attributes that it does not spell".to_owned())
}
