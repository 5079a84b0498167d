//! Neighbours of known ops: attributes, extents, element types and constant operands drawn anew, one step at a time.
//!
//! Examples and trials show few geometries of ops with odd constraints, such as convolutions. A walk over instances that
//! the verifier accepts reaches the others.

use crate::domain::Domains;
use crate::variation::{Renaming, beside, other};
use gradus_ir::random::Random;
use gradus_ir::verify::verify_op;
use gradus_ir::{Attr, Block, Builder, Context, Loc, Module, Op, OpInfo, OpName, OpState, Traits, Type, Value};
use std::sync::Arc;

/// Number of steps per op; more for ops with several attributes.
const STEPS: usize = 12;
const STEPS_PER_ATTRIBUTE: usize = 8;

/// An op apart from a program.
pub(crate) struct OpInstance {
    /// Types of the operands, with their constant values.
    operands: Vec<(Type, Option<Attr>)>,
    props: Attr,
    results: Vec<Type>,
}

impl OpInstance {
    pub(crate) fn of(m: &Module, op: Op) -> OpInstance {
        OpInstance {
            operands: m.operands(op).iter().map(|&v| (m.value_type(v), m.constant(v))).collect(),
            props: m.props(op),
            results: m.results(op).map(|v| m.value_type(v)).collect(),
        }
    }
}

/// Returns a program with neighbours of known instances of ops.
pub(crate) fn neighbours(
    ctx: &Arc<Context>,
    domains: &Domains,
    ops: impl Iterator<Item = (OpName, Vec<OpInstance>)>,
) -> Module {
    let mut random = Random::of("neighbours");
    let mut m = Module::new(ctx.clone());
    let mut state = OpState::new(ctx, "trial.function", Loc::UNKNOWN);
    state.regions = 1;
    let function = m.create_op(state);
    let (body, region) = (m.body(), m.regions(function)[0]);
    m.append_op(body, function);
    let block = m.add_block(region);
    for (name, mut known) in ops {
        let Some(info) = ctx.op_info(name).filter(|info| can_vary(info)) else { continue };
        for _ in 0..STEPS + STEPS_PER_ATTRIBUTE * info.attrs.len() {
            if known.is_empty() {
                break;
            }
            let from = &known[random.below(known.len() as u64) as usize];
            let made = step(&mut m, block, domains, info, from, &mut random);
            known.extend(made.map(|op| OpInstance::of(&m, op)));
        }
    }
    m
}

fn can_vary(info: &OpInfo) -> bool {
    let fixed = [Traits::CONSTANT_LIKE, Traits::CALL].into_iter().any(|t| info.traits.has(t));
    info.regions.is_empty() && !fixed && info.operands.len() + info.attrs.len() > 0
}

/// Creates a neighbour of an op, if the verifier accepts it.
fn step(
    m: &mut Module,
    block: Block,
    domains: &Domains,
    info: &OpInfo,
    from: &OpInstance,
    random: &mut Random,
) -> Option<Op> {
    let ctx = m.ctx.clone();
    let mut props = from.props;
    let mut operands = from.operands.clone();
    let mut results = from.results.clone();
    let constants: Vec<usize> = (0..operands.len()).filter(|&i| operands[i].1.is_some()).collect();
    match random.below(10) {
        0..5 if !info.attrs.is_empty() => props = varied(m, domains, info, props, random)?,
        5 if !constants.is_empty() => {
            let (ty, constant) = &mut operands[random.pick(&constants)];
            *constant = Some(beside(&ctx, (*constant)?, *ty, random)?);
        }
        _ => {
            let types: Vec<Type> = operands.iter().map(|(ty, _)| *ty).chain(results.iter().copied()).collect();
            let renaming = Renaming::draw(&ctx, &types, random)?;
            for (ty, constant) in &mut operands {
                let new = renaming.of(&ctx, *ty)?;
                if new != *ty {
                    (*ty, *constant) = (new, None);
                }
            }
            results = results.iter().map(|&ty| renaming.of(&ctx, ty)).collect::<Option<_>>()?;
        }
    }
    let mut state = OpState::new(&ctx, info.name, Loc::UNKNOWN);
    for (ty, constant) in operands {
        let value = constant.and_then(|attr| Builder::at_end(m, block).constant(attr, ty, "", Loc::UNKNOWN));
        let value: Value = value.unwrap_or_else(|| m.add_block_arg(block, ty, Loc::UNKNOWN));
        state.operands.push(value);
    }
    state.props = ctx.dict_entries(props).to_vec();
    if info.infer.is_none() {
        state.result_types = results.into();
    }
    let op = Builder::at_end(m, block).try_create(state).ok()?;
    if verify_op(m, op).is_ok() {
        return Some(op);
    }
    m.erase_op(op);
    None
}

/// Draws one of an op's attributes anew.
fn varied(m: &Module, domains: &Domains, info: &OpInfo, props: Attr, random: &mut Random) -> Option<Attr> {
    let ctx = &m.ctx;
    let specs: Vec<_> = info.attrs.iter().collect();
    let spec = random.pick(&specs);
    let key = ctx.str(spec.name);
    let old = ctx.dict_get(props, key);
    let new = other(ctx, domains, spec.kind, old, random)?;
    let mut entries = ctx.dict_entries(props).to_vec();
    entries.retain(|(name, _)| *name != key);
    if !(old.is_some() && spec.optional && spec.default.is_none() && random.percent(25)) {
        entries.push((key, new));
    }
    Some(ctx.dict_attr(entries))
}
