//! Ops drawn from their declarations: operands, attributes and result types are tried until the verifier accepts them.

use crate::domain::{self, Domains};
use gradus_ir::random::Random;
use gradus_ir::rules::OpSignature;
use gradus_ir::{
    Arity, Attr, AttrSpec, Block, Builder, Context, Loc, Module, Op, OpInfo, OpState, Str, Traits, Type,
    TypeConstraint, TypeRelation, Value, ValueSpec, verify,
};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Number of attempts per op.
const TRIES: usize = 160;
/// Sufficient number of instances per op.
const ENOUGH: usize = 48;

/// Returns a program with instances of all usable ops without regions.
pub(crate) fn instances(ctx: &Arc<Context>) -> Module {
    let mut trial = Trial::new(ctx);
    for info in ctx.dialects().iter().flat_map(|d| d.ops) {
        let constant_or_call = [Traits::CONSTANT_LIKE, Traits::CALL].into_iter().any(|t| info.traits.has(t));
        if is_usable(info) && info.regions.is_empty() && !constant_or_call {
            trial.explore(info);
        }
    }
    trial.module
}

/// Number of attempts to find the signatures of an op, and the number that suffices; more attempts are made where few
/// are valid.
const SIGNATURE_TRIES: usize = 10_000;
const SIGNATURES: usize = 400;
const FEW: usize = 200;
const MORE_TRIES: usize = 100_000;
/// Number of signatures below which operands of equal shapes are tried.
const RARE: usize = 16;
/// Number of attribute combinations tried for each operand list, and number of operand lists: rare combinations seldom
/// appear by chance.
const CROSSINGS: usize = 24;
const CROSSED: usize = 100;

/// Percentage of results whose type is an operand's type with another element type.
const AKIN: u64 = 60;

/// Returns valid signatures (types and attributes) of an op with operands of the given types.
pub(crate) fn signatures(ctx: &Arc<Context>, info: &'static OpInfo, types: &[Type]) -> Vec<OpSignature> {
    let mut trial = Trial::of(ctx, types);
    let mut found = IndexSet::new();
    trial.search(info, &mut found);
    if found.len() < RARE {
        trial.repeats_shapes = true;
        trial.search(info, &mut found);
    }
    if info.attrs.len() > 1 {
        let lists: IndexSet<_> = found.iter().map(|signature| signature.operands.clone()).collect();
        let needed = info.operands.iter().filter(|spec| spec.arity == Arity::One).count();
        let tails: IndexSet<Vec<Type>> = lists.iter().map(|operands| operands[needed..].to_vec()).collect();
        for operands in lists.iter().take(CROSSED).flat_map(|operands| [operands; CROSSINGS]) {
            let crossed = trial.crossed(info, operands, &tails, &found);
            found.extend(crossed);
        }
    }
    found.into_iter().collect()
}

fn signature(m: &Module, op: Op) -> OpSignature {
    let operands = m.operands(op).iter().map(|&v| m.value_type(v)).collect();
    let results = m.results(op).map(|v| m.value_type(v)).collect();
    OpSignature { operands, results, props: m.props(op) }
}

/// A function that holds candidate ops. It has one parameter of each type.
pub(crate) struct Trial {
    pub(crate) module: Module,
    block: Block,
    values: Vec<(Type, Value)>,
    types_of: FxHashMap<*const TypeConstraint, Arc<[(Type, Value)]>>,
    domains: Domains,
    random: Random,
    /// Whether operands often have the shape of an earlier one with another element type.
    repeats_shapes: bool,
}

impl Trial {
    /// Adds valid signatures, found by trial.
    fn search(&mut self, info: &'static OpInfo, found: &mut IndexSet<OpSignature>) {
        for i in 0..MORE_TRIES {
            if found.len() >= if i < SIGNATURE_TRIES { SIGNATURES } else { FEW } {
                break;
            }
            let Some(op) = self.attempt(info) else { continue };
            if verify::verify_op(&self.module, op).is_ok() {
                let all = signature(&self.module, op);
                let needed = info.results.iter().filter(|spec| spec.arity == Arity::One).count();
                if needed < all.results.len() {
                    let fewer = all.results[..needed].iter().copied().collect();
                    found.extend(self.verified(info, &OpSignature { results: fewer, ..all.clone() }));
                }
                found.insert(all);
            }
            self.module.erase_op(op);
        }
    }

    pub(crate) fn new(ctx: &Arc<Context>) -> Trial {
        Trial::of(ctx, &domain::types(ctx))
    }

    fn of(ctx: &Arc<Context>, types: &[Type]) -> Trial {
        let mut module = Module::new(ctx.clone());
        let mut state = OpState::new(ctx, "trial.function", Loc::UNKNOWN);
        state.regions = 1;
        let function = module.create_op(state);
        let (body, region) = (module.body(), module.regions(function)[0]);
        module.append_op(body, function);
        let block = module.add_block(region);
        let values = types.iter().map(|&ty| (ty, module.add_block_arg(block, ty, Loc::UNKNOWN))).collect();
        let (types_of, domains) = Default::default();
        Trial { module, block, values, types_of, domains, random: Random::of("declared"), repeats_shapes: false }
    }

    fn explore(&mut self, info: &'static OpInfo) {
        let mut found = 0;
        for _ in 0..TRIES {
            let Some(op) = self.attempt(info) else { continue };
            if verify::verify_op(&self.module, op).is_err() {
                self.module.erase_op(op);
                continue;
            }
            found += 1;
            if found == ENOUGH {
                return;
            }
        }
    }

    /// Creates an op that satisfies the declared constraints and relations.
    pub(crate) fn attempt(&mut self, info: &'static OpInfo) -> Option<Op> {
        let ctx = self.module.ctx.clone();
        let mut state = OpState::new(&ctx, info.name, Loc::UNKNOWN);
        let mut groups: Vec<Vec<Type>> = Vec::new();
        for spec in info.operands {
            let group = self.operands(info, spec, &groups)?;
            state.operand_group(&group.iter().map(|(_, v)| *v).collect::<Vec<_>>());
            groups.push(group.into_iter().map(|(ty, _)| ty).collect());
        }
        for spec in info.attrs {
            if (spec.optional || spec.default.is_some()) && self.random.percent(60) {
                continue;
            }
            let attrs = self.attrs(spec);
            if attrs.is_empty() {
                return None;
            }
            state.props.push((ctx.str(spec.name), self.random.pick(&attrs)));
        }
        let explicit = info.infer.is_none() && !info.results.is_empty();
        if explicit && self.random.percent(70) {
            state.result_types = self.results(info, &groups)?.into();
        }
        Builder::at_end(&mut self.module, self.block).try_create(state).ok()
    }

    /// Combines the operands of a signature, with optional ones redrawn, with several rare attributes. Returns `None`
    /// unless the verifier accepts the op.
    fn crossed(
        &mut self,
        info: &OpInfo,
        operands: &[Type],
        tails: &IndexSet<Vec<Type>>,
        known: &IndexSet<OpSignature>,
    ) -> Option<OpSignature> {
        let one = known.get_index(self.random.below(known.len() as u64) as usize)?;
        let tail = tails.get_index(self.random.below(tails.len() as u64) as usize)?;
        let needed = info.operands.iter().filter(|spec| spec.arity == Arity::One).count();
        let rest = if self.random.percent(50) { tail } else { &operands[needed..] };
        let operands: SmallVec<[Type; 4]> = operands[..needed].iter().chain(rest).copied().collect();
        let results = if info.infer.is_some() { Default::default() } else { one.results.clone() };
        let like = |props: Attr| OpSignature { operands: operands.clone(), results: results.clone(), props };
        let ctx = self.module.ctx.clone();
        let is_free = |spec: &&AttrSpec| spec.optional || spec.default.is_some();
        let free: Vec<Str> = info.attrs.iter().filter(is_free).map(|spec| ctx.str(spec.name)).collect();
        let mut entries = ctx.dict_entries(one.props).to_vec();
        entries.retain(|(key, _)| !free.contains(key));
        let mut found = None;
        for spec in info.attrs.iter().filter(is_free) {
            if self.random.percent(50) {
                continue;
            }
            // The first value, from a random start, that is valid together with the attributes chosen before.
            let (values, key) = (self.attrs(spec), ctx.str(spec.name));
            let start = self.random.below(values.len().max(1) as u64) as usize;
            let fitting = (0..values.len()).find_map(|i| {
                let entry = (key, values[(start + i) % values.len()]);
                let props = ctx.dict_attr(entries.iter().copied().chain([entry]).collect());
                Some((entry, self.verified(info, &like(props))?))
            });
            if let Some((entry, signature)) = fitting {
                entries.push(entry);
                found = Some(signature);
            }
        }
        found
    }

    /// Returns the candidate values of an attribute.
    fn attrs(&self, spec: &AttrSpec) -> Arc<[Attr]> {
        self.domains.of(&self.module.ctx, spec.kind)
    }

    /// Builds an op like `like` and returns its signature if the verifier accepts it. Result types are inferred if
    /// `like` has none.
    fn verified(&mut self, info: &OpInfo, like: &OpSignature) -> Option<OpSignature> {
        let ctx = self.module.ctx.clone();
        let value = |ty: &Type| self.values.iter().find(|(known, _)| known == ty).map(|(_, value)| *value);
        let operands: Option<Vec<Value>> = like.operands.iter().map(value).collect();
        let mut state = OpState::new(&ctx, info.name, Loc::UNKNOWN);
        state.operands.extend(operands?);
        state.props = ctx.dict_entries(like.props).to_vec();
        state.result_types = like.results.iter().copied().collect();
        let op = Builder::at_end(&mut self.module, self.block).try_create(state).ok()?;
        let found = verify::verify_op(&self.module, op).is_ok().then(|| signature(&self.module, op));
        self.module.erase_op(op);
        found
    }

    fn operands(&mut self, info: &OpInfo, spec: &ValueSpec, before: &[Vec<Type>]) -> Option<Vec<(Type, Value)>> {
        let count = match spec.arity {
            Arity::One => 1,
            Arity::Optional => self.random.below(2),
            Arity::Variadic => self.random.below(4),
        };
        let choices = self.choices(spec.ty);
        if choices.is_empty() {
            return (count == 0).then(Vec::new);
        }
        let same = related(info, spec.name, info.operands, before);
        let mut group = Vec::new();
        for i in 0..count as usize {
            let known: Vec<Type> = before.iter().flatten().copied().collect();
            let any = (!known.is_empty()).then(|| self.random.pick(&known));
            let like = same.or(group.first().map(|(ty, _)| *ty)).or(any);
            let chance = if same.is_some() {
                100
            } else if i > 0 {
                80
            } else {
                50
            };
            let equal = like.and_then(|like| choices.iter().find(|(ty, _)| *ty == like));
            let of_shape = |like: Type| choices.iter().find(|(ty, _)| self.repeats_shapes && self.is_akin(*ty, like));
            let equal = equal.or_else(|| like.and_then(of_shape));
            group.push(match equal.filter(|_| self.random.percent(chance)) {
                Some(&equal) => equal,
                None => self.random.pick(&choices),
            });
        }
        Some(group)
    }

    fn results(&mut self, info: &OpInfo, operands: &[Vec<Type>]) -> Option<Vec<Type>> {
        let mut types = Vec::new();
        for spec in info.results {
            let count = if spec.arity == Arity::One { 1 } else { self.random.below(3) };
            let choices = self.choices(spec.ty);
            let like = related(info, spec.name, info.operands, operands).or(operands.iter().flatten().next().copied());
            let equal = like.filter(|like| choices.iter().any(|(ty, _)| ty == like));
            let akin: Vec<Type> = match like {
                Some(like) => choices.iter().map(|c| c.0).filter(|&ty| self.is_akin(ty, like)).collect(),
                None => Vec::new(),
            };
            for _ in 0..count {
                if !akin.is_empty() && self.random.percent(AKIN) {
                    types.push(self.random.pick(&akin));
                    continue;
                }
                types.push(match equal.filter(|_| self.random.percent(40)) {
                    Some(equal) => equal,
                    None if choices.is_empty() => return None,
                    None => self.random.pick(&choices).0,
                });
            }
        }
        Some(types)
    }

    /// Whether two types differ only in their element type.
    fn is_akin(&self, a: Type, b: Type) -> bool {
        let ctx = &self.module.ctx;
        ctx.with_element(a, Type::I1) == ctx.with_element(b, Type::I1)
    }

    /// Returns the parameters whose types satisfy a constraint.
    pub(crate) fn choices(&mut self, constraint: &'static TypeConstraint) -> Arc<[(Type, Value)]> {
        let (ctx, values) = (&self.module.ctx, &self.values);
        let fits = || values.iter().copied().filter(|(ty, _)| (constraint.check)(ctx, *ty)).collect();
        self.types_of.entry(std::ptr::from_ref(constraint)).or_insert_with(fits).clone()
    }
}

/// Returns the type of a group that follows from a type relation with an earlier group.
fn related(info: &OpInfo, name: &str, specs: &[ValueSpec], known: &[Vec<Type>]) -> Option<Type> {
    let first = || known.iter().flatten().next().copied();
    if info.traits.has(Traits::SAME_TYPE) {
        return first();
    }
    let of = |group: &str| specs.iter().zip(known).find(|(s, _)| s.name == group)?.1.first().copied();
    info.relations.iter().find_map(|relation| match relation {
        TypeRelation::SameOperands if specs.iter().any(|s| s.name == name) => first(),
        TypeRelation::Same(names) if names.contains(&name) => names.iter().find_map(|n| of(n)),
        _ => None,
    })
}

/// Whether ops of the declaration can be inserted anywhere and executed.
pub(crate) fn is_usable(info: &OpInfo) -> bool {
    let means = info.eval.is_some() || info.exec.is_some() || info.runs_regions();
    let bound = [Traits::TERMINATOR, Traits::SYMBOL, Traits::COMBINING, Traits::VERIFIES_USES]
        .into_iter()
        .any(|t| info.traits.has(t));
    (means || info.traits.has(Traits::CALL)) && !bound && info.parents.is_empty() && info.successors.is_empty()
}
