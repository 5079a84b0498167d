//! `convert-f32-to-f16`: computes networks in f16.

use crate::emit::{Emitter, erase_dead};
use gradus_ir::effects::is_memory_free;
use gradus_ir::pass::{FloatChange, Rewrites};
use gradus_ir::verify::verify_op;
use gradus_ir::{
    Attr, Builder, Context, Diagnostic, InsertPoint, Module, Op, OpArgs, OpDecl, OpInfo, OpState, Pass, PassContext,
    PassInfo, Refusal, Type, Value,
};
use gradus_networks::graph::{
    AttentionOp, BatchNormalizationOp, BitCastOp, CastLikeOp, CastOp, DequantizeLinearOp, DynamicQuantizeLinearOp,
    RangeOp, ResizeOp,
};
use rustc_hash::FxHashMap;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-f32-to-f16",
    doc: "Compute networks in f16 instead of f32

# Before / After

```mlir
%w = graph.constant dense<...> : tensor<8x3x3x3xf32>      // becomes:
%y = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
return %y : tensor<1x8x6x6xf32>
                                // %w = graph.constant dense<...> : tensor<8x3x3x3xf16>
                                // %h = graph.cast %x to f16 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16>
                                // %0 = graph.conv %h, %w : (...) -> tensor<1x8x6x6xf16>
                                // %y = graph.cast %0 to f32 : (tensor<1x8x6x6xf16>) -> tensor<1x8x6x6xf32>
                                // return %y : tensor<1x8x6x6xf32>
```

# Does

Gives each `graph` op its f32 operands and results in f16, and rounds each constant once. `graph.cast` converts where a value
comes from or goes to something that stays f32: arguments and results of functions, which keep their signature, other dialects,
regions, and ops that are refused. Conversions of one value are one op; between two ops in f16 there is none.

An op in f16 multiplies and adds in f32 and rounds each element of its results once, half to even. `gradus check --floats=rounding` allows
one rounding to f16 for each op and constant; other modes report constants that f16 does not represent.

# Refuses

Ops without f32 results, such as comparisons; operands whose declaration does not accept f16; casts; dequantization,
whose scales need the range of f32; `graph.resize` and `graph.range`, whose operands decide extents; `graph.attention` with a mask of
integers, which may be outside the range of f16; and ops that read a constant outside
the range of f16: a finite element that would become infinite, or nonzero elements that would all become zero. A remark says why an
op on f32 tensors that is none of the former stays.

# Cost

Linear in the number of ops and the size of the constants. An activation above 65504 becomes infinite.",
    statistics: &[
        ("num-converted", "Number of operations in f16"),
        ("num-kept", "Number of operations on f32 tensors that stay f32"),
    ],
    stays: "in f32",
    rewrites: Rewrites::Tags(&[F16.rewrite]),
    floats: |_| FloatChange::Rounds,
    make: |_| Ok(Box::new(F32ToNarrow(&F16))),
    ..PassInfo::DEFAULT
};

/// A type of 16 bits in which networks are computed.
pub(crate) struct Narrow {
    ty: Type,
    /// The name of rewrites.
    pub(crate) rewrite: &'static str,
    /// Whether parameters of batch normalizations, which lowerings combine, stay f32.
    keeps_parameters: bool,
    /// Smallest magnitude that is rounded to infinity.
    overflow: f64,
    /// Largest magnitude that is rounded to zero: half of the smallest subnormal number.
    underflow: f64,
}

const F16: Narrow = Narrow {
    ty: Type::F16,
    rewrite: "f32-to-f16",
    keeps_parameters: false,
    overflow: 65520.0,
    underflow: 1.0 / (1 << 25) as f64,
};

/// bf16, whose largest number is (2 - 2^-7) * 2^127.
pub(crate) const BF16: Narrow = Narrow {
    ty: Type::BF16,
    rewrite: "f32-to-bf16",
    keeps_parameters: true,
    overflow: (2.0 - 1.0 / 256.0) * (1_u128 << 127) as f64,
    underflow: 1.0 / (1_u128 << 127) as f64 / 128.0,
};

/// The conversion of networks from f32 to a narrower type.
pub(crate) struct F32ToNarrow(pub(crate) &'static Narrow);

impl Pass for F32ToNarrow {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let mut halves = Halves { to: self.0, known: FxHashMap::default() };
        for op in m.ops_under(root) {
            if !is_candidate(m, op) || !cx.allows(self.0.rewrite, m, op) {
                continue;
            }
            match convert(m, op, &mut halves) {
                Ok(()) => cx.count("num-converted", 1),
                Err(refusal) => {
                    cx.refuse(m, op, &refusal);
                    cx.count("num-kept", 1);
                }
            }
        }
        erase_dead(m, root);
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}

/// The rule of ops whose declaration does not accept the narrower type.
const NOT_NARROW: &str = "operands or results that cannot have the narrower type";

/// Ops that stay f32: conversions, and those with f32 operands that are scales of integers or decide extents.
const STAY: &[&OpInfo] = &[
    CastOp::INFO,
    CastLikeOp::INFO,
    BitCastOp::INFO,
    DequantizeLinearOp::INFO,
    DynamicQuantizeLinearOp::INFO,
    RangeOp::INFO,
    ResizeOp::INFO,
];

/// Whether an op computes f32 tensors from f32 tensors.
fn is_candidate(m: &Module, op: Op) -> bool {
    m.ctx.op_dialect(m.name(op)) == "graph"
        && m.regions(op).is_empty()
        && !m.is_one_of(op, STAY)
        && is_memory_free(m, op)
        && !adds_integers(m, op)
        && m.operands(op).iter().any(|&value| is_f32(m, value))
        && m.results(op).any(|value| is_f32(m, value))
}

/// Whether an op adds integers, which may be outside the range of a narrower type: the mask of an attention.
fn adds_integers(m: &Module, op: Op) -> bool {
    let mask = AttentionOp::cast(m, op).and_then(|attention| attention.attn_mask(m));
    let element = mask.map(|mask| m.ctx.element_type(m.value_type(mask)));
    element.is_some_and(|ty| m.ctx.float_kind(ty).is_none() && ty != Type::I1)
}

fn is_f32(m: &Module, value: Value) -> bool {
    let ty = m.value_type(value);
    m.ctx.is_shaped(ty) && m.ctx.element_type(ty) == Type::F32
}

/// The narrow versions of f32 values; `None` for constants outside the range of the type.
struct Halves {
    to: &'static Narrow,
    known: FxHashMap<Value, Option<Value>>,
}

impl Halves {
    /// Returns the narrow version of a value: the source of its conversion to f32, or its own conversion, after its definition.
    fn of(&mut self, m: &mut Module, value: Value) -> Option<Value> {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let half = converted_from(m, value, self.to).or_else(|| make_half(m, value, self.to));
        self.known.insert(value, half);
        half
    }

    /// Returns the operands of an op, those of f32 whose declaration accepts the narrow type in it.
    fn operands(&mut self, m: &mut Module, op: Op, info: &OpInfo) -> Result<Vec<Value>, Refusal> {
        let mut operands = Vec::with_capacity(m.operands(op).len());
        let stay = self.to.keeps_parameters && BatchNormalizationOp::cast(m, op).is_some();
        for (i, group) in info.operands.iter().enumerate() {
            for value in m.operand_group(op, i) {
                let accepts = is_f32(m, value)
                    && !(stay && i > 0)
                    && (group.ty.check)(&m.ctx, self.to.of(&m.ctx, m.value_type(value)));
                let narrow = if accepts { self.of(m, value) } else { Some(value) };
                operands
                    .push(narrow.ok_or(Refusal::of(value, "a constant outside of the range of the narrower type"))?);
            }
        }
        Ok(operands)
    }
}

impl Narrow {
    /// Returns a type with narrow elements.
    fn of(&self, ctx: &Context, ty: Type) -> Type {
        ctx.with_element(ty, self.ty)
    }
}

/// Returns the narrow tensor from which a value was converted.
fn converted_from(m: &Module, value: Value, to: &Narrow) -> Option<Value> {
    let x = CastOp::defining(m, value)?.x(m);
    (m.value_type(x) == to.of(&m.ctx, m.value_type(value))).then_some(x)
}

/// Creates the narrow constant or the conversion of a value.
fn make_half(m: &mut Module, value: Value, to: &Narrow) -> Option<Value> {
    let (ty, ctx) = (to.of(&m.ctx, m.value_type(value)), m.ctx.clone());
    let loc = m.value_loc(value);
    let constant = m.constant(value);
    let mut b = Builder::at(m, InsertPoint::after_value(m, value));
    match constant {
        Some(attr) => b.constant(half_constant(&ctx, attr, ty, to)?, ty, "graph", loc),
        None => Emitter::at(&mut b, loc).cast(value, ty),
    }
}

/// Returns a constant in the narrow type `ty`, if it is in the range of that.
fn half_constant(ctx: &Context, attr: Attr, ty: Type, to: &Narrow) -> Option<Attr> {
    let elements =
        ctx.as_uniform(attr).map(|number| vec![number]).or_else(|| Some(ctx.dense_tensor(attr)?.to_f64()))?;
    let magnitudes = elements.iter().map(|x| x.abs()).filter(|x| x.is_finite());
    let largest = magnitudes.fold(0.0, f64::max);
    let fits = largest < to.overflow && (largest == 0.0 || largest > to.underflow);
    if fits { ctx.convert_dense(attr, ty) } else { None }
}

/// Replaces an op by a narrow one.
fn convert(m: &mut Module, op: Op, halves: &mut Halves) -> Result<(), Refusal> {
    let info = m.info(op).ok_or(NOT_NARROW)?;
    let mut state = OpState::like(m, op);
    state.operands.extend(halves.operands(m, op, info)?);
    state
        .result_types
        .extend(result_types(m, op, info, &state, halves.to).ok_or("results that are f32 for operands of any type")?);
    let types = state.result_types.clone();
    let new = Builder::before(m, op).try_create(state).map_err(|_| NOT_NARROW)?;
    if verify_op(m, new).is_err() {
        m.erase_op(new);
        return Err(NOT_NARROW.into());
    }
    let loc = m.loc(op);
    for (i, &ty) in types.iter().enumerate() {
        let (old, mut result) = (m.result(op, i), m.result(new, i));
        let wide = m.value_type(old);
        if ty != wide {
            let half = result;
            result = Emitter::at(&mut Builder::before(m, op), loc).cast(half, wide).ok_or(NOT_NARROW)?;
            halves.known.insert(result, Some(half));
        }
        m.replace_all_uses(old, result);
    }
    Ok(())
}

/// Returns the result types of an op on the operands of `state`; `None` if none of f32 becomes narrow.
fn result_types(m: &Module, op: Op, info: &'static OpInfo, state: &OpState, to: &Narrow) -> Option<Vec<Type>> {
    let old: Vec<Type> = m.results(op).map(|value| m.value_type(value)).collect();
    let props = m.props(op);
    let args = OpArgs { module: m, info, op: None, operands: &state.operands, props, result_types: &old };
    let inferred = info.infer.map(|infer| infer(&args)).transpose().ok()?;
    let becomes_half = |i: usize| match &inferred {
        Some(types) => types.get(i).is_some_and(|&ty| m.ctx.element_type(ty) == to.ty),
        None => true,
    };
    let new_type = |(i, &ty): (usize, &Type)| match m.ctx.element_type(ty) == Type::F32 && becomes_half(i) {
        true => to.of(&m.ctx, ty),
        false => ty,
    };
    let new: Vec<Type> = old.iter().enumerate().map(new_type).collect();
    (new != old).then_some(new)
}
