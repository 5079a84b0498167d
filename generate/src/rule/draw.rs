//! Instances of left sides of rules, as functions of the operands that the rule leaves open.

use super::integers::Integers;
use super::signatures::Signatures;
use gradus_check::Inputs;
use gradus_ir::eval::{Datum, floats_to_tensor};
use gradus_ir::random::Random;
use gradus_ir::rules::{Chooser, CompiledRule, OpSignature, build_left_side};
use gradus_ir::{
    Attr, Block, Builder, Context, InsertPoint, Loc, Module, Op, OpInfo, OpName, OpState, Tensor, Traits, Type, Value,
    verify,
};
use std::sync::Arc;

/// Name of the function of an instance.
pub(super) const FUNCTION: &str = "instance";

/// Percentage of open operands that repeat another operand, and percentage that are constant.
const AGAIN: u64 = 12;
const CONSTANT: u64 = 8;
/// Percentage of ops on scalars, whose counterexamples are easier to read.
const SCALAR: u64 = 60;
/// Percentages of integer lists that are the extents of a result or of another tensor; small positions; a repeated
/// list.
const EXTENTS: u64 = 60;
const POSITIONS: u64 = 15;
const LISTS: u64 = 15;
/// Percentage of constant tensors that are mostly zero.
const HOLES: u64 = 30;
/// Percentage of instances whose float constants are around zero, of both signs: bounds that meet there differ in the sign of
/// zeros only.
const AROUND_ZERO: u64 = 40;
/// Percentage of constant tensors that are splats.
const UNIFORM: u64 = 75;

/// Percentage of ops drawn uniformly over attributes rather than over signatures.
const ATTRIBUTES: u64 = 60;
/// For rules that seldom apply, the percentage of ops with the types of an instance to which the rule applied.
const FITTING: u64 = 50;

/// A valid program with one function that returns the results of the roots.
pub(super) struct RuleInstance {
    pub(super) module: Module,
    /// The first root.
    pub(super) root: Op,
    /// The signatures drawn for its ops.
    pub(super) signatures: Vec<(OpName, OpSignature)>,
    /// Whether a constant was drawn from a domain too large for all its values to be drawn.
    pub(super) is_open: bool,
}

/// Draws an instance of a rule's left side. `fitting` are the signatures of an instance to which the rule applied, for
/// rules that seldom apply; `plain` prefers scalars. Returns `None` if the drawn parts are incompatible.
pub(super) fn instance(
    ctx: &Arc<Context>,
    rule: &CompiledRule,
    signatures: &mut Signatures,
    fitting: &[(OpName, OpSignature)],
    plain: bool,
    random: &mut Random,
) -> Option<RuleInstance> {
    let mut module = Module::new(ctx.clone());
    let (function, block, end) = blank(&mut module)?;
    let (moderate, scalar) = (rule.approx, if plain { 100 } else { SCALAR });
    let (chosen, lists) = Default::default();
    let integers = Integers::new(ctx, rule, random);
    let around_zero = random.percent(AROUND_ZERO);
    let mut leaves = Leaves {
        module: &mut module,
        signatures,
        fitting,
        scalar,
        chosen,
        random,
        block,
        end,
        lists,
        integers,
        moderate,
        around_zero,
    };
    let roots = build_left_side(rule, end, &mut leaves)?;
    let (chosen, is_open) = (leaves.chosen, leaves.integers.is_open);
    let results: Vec<Value> = roots.iter().flat_map(|&root| module.results(root)).collect();
    module.set_operands(end, &results);
    let types = |m: &Module, values: &[Value]| values.iter().map(|&v| m.value_type(v)).collect::<Vec<_>>();
    let (inputs, outputs) = (types(&module, module.block_args(block)), types(&module, &results));
    let ty = ctx.type_attr(ctx.function_type(&inputs, &outputs));
    module.set_attr(function, "function_type", Some(ty));
    verify(&module).ok()?;
    Some(RuleInstance { module, root: roots[0], signatures: chosen, is_open })
}

/// Creates a function without parameters and results: the function, its block, and its terminator.
fn blank(m: &mut Module) -> Option<(Op, Block, Op)> {
    let ctx = m.ctx.clone();
    let declared = |fits: &dyn Fn(&OpInfo) -> bool| ctx.dialects().iter().flat_map(|d| d.ops).find(|info| fits(info));
    let info = declared(&|info| info.traits.has(Traits::FUNCTION))?;
    let returns = declared(&|end| end.traits.has(Traits::RETURN_LIKE) && end.parents.contains(&info.name))?;
    let mut state = OpState::new(&ctx, info.name, Loc::UNKNOWN);
    state.inherent(&ctx, "sym_name", Some(ctx.string_attr(FUNCTION)));
    state.inherent(&ctx, "function_type", Some(ctx.type_attr(ctx.function_type(&[], &[]))));
    state.regions = 1;
    let body = m.body();
    let function = Builder::at_end(m, body).try_create(state).ok()?;
    let block = m.add_block(m.regions(function)[0]);
    let end = Builder::at_end(m, block).try_create(OpState::new(&ctx, returns.name, Loc::UNKNOWN)).ok()?;
    Some((function, block, end))
}

/// The choice of the parts that a rule leaves open, in an instance.
struct Leaves<'a> {
    module: &'a mut Module,
    signatures: &'a mut Signatures,
    fitting: &'a [(OpName, OpSignature)],
    /// Percentage of ops for which scalars are preferred.
    scalar: u64,
    chosen: Vec<(OpName, OpSignature)>,
    random: &'a mut Random,
    block: Block,
    end: Op,
    /// The integer lists drawn so far.
    lists: Vec<(Type, Attr)>,
    integers: Integers,
    moderate: bool,
    /// Whether float constants are zeros and their neighbours only.
    around_zero: bool,
}

impl Leaves<'_> {
    /// Prefers signatures with the types of an instance to which the rule applied, for rules that seldom apply.
    fn types_of_fitting<'s>(
        &mut self,
        all: &'s [OpSignature],
        op: OpName,
        results: &[Option<Type>],
        operands: &[Option<Type>],
    ) -> Vec<&'s OpSignature> {
        let fits = |(name, s): &&(OpName, OpSignature)| *name == op && s.fits(results, operands);
        let fitting: Vec<&OpSignature> = self.fitting.iter().filter(fits).map(|(_, s)| s).collect();
        if fitting.is_empty() || !self.random.percent(FITTING) {
            return Vec::new();
        }
        let like = self.random.pick(&fitting);
        all.iter().filter(|s| s.operands == like.operands && s.results == like.results).collect()
    }

    /// Draws an integer list that is meaningful for a tensor of rank `rank`.
    fn list(&mut self, ty: Type, rank: i64, result: Option<Type>) -> Option<Attr> {
        let ctx = self.module.ctx.clone();
        let numbers = match self.random.below(100) {
            n if n < EXTENTS => {
                let known = result.filter(|&ty| ctx.static_shape(ty).is_some_and(|d| d.len() as i64 == rank));
                let likely = known.map_or_else(|| self.signatures.tensors_of(rank), |ty| vec![ty]);
                let like = (!likely.is_empty()).then(|| self.random.pick(&likely))?;
                ctx.static_shape(like)?.to_vec()
            }
            n if n < EXTENTS + POSITIONS => {
                let most = 1 + 2 * self.random.below(2);
                (0..rank).map(|_| self.random.below(most) as i64).collect()
            }
            n if n < EXTENTS + POSITIONS + LISTS => {
                let same: Vec<Attr> = self.lists.iter().filter(|list| list.0 == ty).map(|list| list.1).collect();
                return (!same.is_empty()).then(|| self.random.pick(&same));
            }
            _ => return None,
        };
        let list = ctx.dense_attr(ty, &Tensor::from_vec(&[numbers.len()], numbers));
        self.lists.push((ty, list));
        Some(list)
    }

    /// Draws a float constant. Rules that round are tested away from overflow and underflow.
    fn float(&mut self) -> f64 {
        if self.around_zero {
            return self.random.pick(&FLOATS[..4]);
        }
        let number = if self.random.percent(80) { self.random.pick(&FLOATS) } else { self.random.float() };
        if !self.moderate || number.abs() < 1e6 && number.abs() > 1e-6 || number == 0.0 { number } else { 1.5 }
    }
}

impl Chooser for Leaves<'_> {
    fn module(&self) -> &Module {
        self.module
    }

    fn module_mut(&mut self) -> &mut Module {
        self.module
    }

    fn value(&mut self, ty: Type) -> Option<Value> {
        let m = &self.module;
        let known: Vec<Value> = m.block_args(self.block).iter().copied().filter(|&v| m.value_type(v) == ty).collect();
        if !known.is_empty() && self.random.percent(AGAIN) {
            return Some(self.random.pick(&known));
        }
        if self.random.percent(CONSTANT) {
            let attr = self.constant(ty, None)?;
            return Builder::at(self.module, InsertPoint::Before(self.end)).constant(attr, ty, "", Loc::UNKNOWN);
        }
        let m = &mut *self.module;
        let drawn = Inputs::has_values(&m.ctx, ty).then(|| m.add_block_arg(self.block, ty, Loc::UNKNOWN));
        drawn.filter(|_| m.block_args(self.block).len() < 16)
    }

    fn constant(&mut self, ty: Type, result: Option<Type>) -> Option<Attr> {
        let ctx = self.module.ctx.clone();
        if let (Some(&[rank]), Type::I64) = (ctx.static_shape(ty), ctx.element_type(ty))
            && let Some(list) = self.list(ty, rank, result)
        {
            return Some(list);
        }
        let elem = ctx.element_type(ty);
        if ctx.shape(ty).is_some() && ctx.static_shape(ty).is_none() {
            return None;
        }
        let scalar = match ctx.int_width(elem) {
            Some(width) => ctx.int_attr(elem, self.integers.draw(width, ctx.is_unsigned(elem), self.random)),
            None if elem == Type::INDEX => ctx.int_attr(elem, self.integers.draw(64, false, self.random)),
            None => {
                ctx.float_kind(elem)?;
                self.integers.is_open = true;
                ctx.float_attr(elem, self.float())
            }
        };
        if !ctx.is_shaped(ty) {
            return Some(scalar);
        }
        if self.random.percent(UNIFORM) {
            return ctx.splat_attr(ty, scalar);
        }
        let mut datum = Inputs::draw_value(&ctx, ty, self.random)?;
        if let Datum::Tensor(tensor) = &datum
            && tensor.dtype().is_float()
        {
            let holes = if self.random.percent(HOLES) { 60 } else { 0 };
            let one = |_| if self.random.percent(holes) { 0.0 } else { self.float() };
            let all = (0..tensor.len()).map(one).collect();
            datum = Datum::Tensor(floats_to_tensor(tensor.dtype(), tensor.shape(), all));
        }
        ctx.datum_attr(ty, &datum)
    }

    fn coin(&mut self) -> bool {
        self.random.percent(50)
    }

    fn signature(&mut self, op: OpName, results: &[Option<Type>], operands: &[Option<Type>]) -> Option<OpSignature> {
        let all = self.signatures.of(op);
        let mut among = self.types_of_fitting(&all, op, results, operands);
        if among.is_empty() {
            among = all.iter().filter(|s| s.fits(results, operands)).collect();
            let is_scalar =
                |s: &&&OpSignature| !s.operands.iter().chain(&s.results).any(|&ty| self.signatures.is_shaped(ty));
            let scalars: Vec<&OpSignature> = among.iter().filter(is_scalar).copied().collect();
            if !scalars.is_empty() && self.random.percent(self.scalar) {
                among = scalars;
            }
        }
        let mut attributes: Vec<Attr> = among.iter().map(|s| s.props).collect();
        attributes.sort_unstable();
        attributes.dedup();
        if attributes.len() > 1 && self.random.percent(ATTRIBUTES) {
            let some = self.random.pick(&attributes);
            among.retain(|s| s.props == some);
        }
        let signature = (!among.is_empty()).then(|| self.random.pick(&among).clone())?;
        self.chosen.push((op, signature.clone()));
        Some(signature)
    }
}

/// Corner cases of floats; the first are around zero.
const FLOATS: [f64; 12] = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.25];
