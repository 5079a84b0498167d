//! Reductions: `reduction`, `multi_reduction`, `scan`.

mod patterns;

use super::data;
use super::masking::{surrounding, unmasked};
use super::memory_exec::stored;
use super::types::{KIND, RANKED_VECTOR, check, same_element, scalable, shape, vector_type, word};
use crate::arith::FASTMATH;
use crate::constraint::{ANY, I64, I64_LIST, VECTOR};
use crate::memref::types::BOOL;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::memory::Memory;
use gradus_ir::{Attr, Context, Module, Op, OpArgs, Tensor, Traits, Type, TypeRelation, Violation, declared_names, op};

/// Reduces a 1-D vector to a scalar, in order, starting from `acc` if present.
///
/// ```mlir
/// %0 = vector.reduction <add>, %v, %s : vector<4xf32> into f32
/// ```
#[op(
    "vector.reduction",
    relations = &[TypeRelation::Derived {
        to: "acc",
        from: "dest",
        of: |_, ty| Some(ty),
        summary: "dest and acc have the same type",
    }],
    verify = verify_reduction,
    eval = reduction,
    exec = reduction_under_mask,
    traits = Traits::SEES_POISON,
    patterns = patterns::REDUCTION,
    format = "$kind `,` $vector (`,` $acc^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($vector) `into` type($dest)"
)]
pub struct ReductionOp {
    /// Combining kind.
    kind: Attribute<KIND>,
    /// Reduced vector.
    vector: Operand<VECTOR>,
    /// Accumulator.
    acc: OptOperand<ANY>,
    /// Fast-math flags.
    #[default = "#arith.fastmath<none>"]
    fastmath: Attribute<FASTMATH>,
    /// Reduced value.
    dest: OpResult<ANY>,
}

/// Reduces a vector along dimensions, in order, starting from `acc`.
///
/// ```mlir
/// %0 = vector.multi_reduction <add>, %v, %acc [1] : vector<4x8xf32> to vector<4xf32>
/// ```
#[op(
    "vector.multi_reduction",
    relations = &[TypeRelation::Same(&["dest", "acc"])],
    verify = verify_multi_reduction,
    eval = multi_reduction,
    exec = multi_reduction_under_mask,
    traits = Traits::SEES_POISON,
    patterns = patterns::MULTI_REDUCTION,
    format = "$kind `,` $source `,` $acc attr-dict $reduction_dims `:` type($source) `to` type($dest)"
)]
pub struct MultiDimReductionOp {
    /// Combining kind.
    kind: Attribute<KIND>,
    /// Reduced vector.
    source: Operand<RANKED_VECTOR>,
    /// Accumulator.
    acc: Operand<ANY>,
    /// Reduced dimensions.
    reduction_dims: Attribute<I64_LIST>,
    /// Reduced vector or scalar.
    dest: OpResult<ANY>,
}

/// Scan along a dimension: combines each element with all preceding ones.
///
/// ```mlir
/// %0:2 = vector.scan <add>, %v, %s {inclusive = true, reduction_dim = 0 : i64} : vector<4x8xi32>, vector<8xi32>
/// ```
#[op(
    "vector.scan",
    traits = Traits::NO_CONSTANT_FOLDING,
    relations = &[
        TypeRelation::Same(&["source", "dest"]),
        TypeRelation::Same(&["initial_value", "accumulated_value"]),
    ],
    verify = verify_scan,
    eval = scan,
    result_names = declared_names,
    format = "$kind `,` $source `,` $initial_value attr-dict `:` type($source) `,` type($initial_value)"
)]
pub struct ScanOp {
    /// Combining kind.
    kind: Attribute<KIND>,
    /// Scanned vector.
    source: Operand<RANKED_VECTOR>,
    /// Initial value.
    initial_value: Operand<VECTOR>,
    /// Scanned dimension.
    reduction_dim: Attribute<I64>,
    /// Whether the scan is inclusive.
    inclusive: Attribute<BOOL>,
    /// Partial results.
    dest: OpResult<RANKED_VECTOR>,
    /// Final accumulator.
    accumulated_value: OpResult<VECTOR>,
}

/// Whether a kind supports an element type.
pub(super) fn is_supported(ctx: &Context, kind: &str, elem: Type) -> bool {
    let (int, float) = (ctx.int_width(elem).is_some(), ctx.float_kind(elem).is_some());
    match kind {
        "add" | "mul" => int || float,
        "minnumf" | "maxnumf" | "minimumf" | "maximumf" => float,
        _ => int,
    }
}

/// Returns the combining kind of an op.
pub(super) fn kind_of(m: &Module, op: Op) -> String {
    m.inherent_attr(op, "kind").map_or_else(|| "add".to_owned(), |a| word(&m.ctx, a))
}

fn verify_reduction(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (ReductionOp(op), &m.ctx);
    same_element(m, this.vector(m), this.dest(m), "source operand and result")?;
    let rank = shape(ctx, m.value_type(this.vector(m))).len();
    check(rank <= 1, || format!("unsupported reduction rank: {rank}"))?;
    let (kind, ty) = (kind_of(m, op), m.value_type(this.dest(m)));
    check(is_supported(ctx, &kind, ty), || {
        format!("unsupported reduction type ''{}'' for kind '{kind}'", ctx.display_type(ty))
    })
}

/// Returns the type of a vector without some dimensions.
fn reduced(ctx: &Context, ty: Type, dims: &[i64]) -> Type {
    let (extents, flags) = (shape(ctx, ty), scalable(ctx, ty));
    let kept: Vec<usize> = (0..extents.len()).filter(|&i| !dims.contains(&(i as i64))).collect();
    if kept.is_empty() {
        return ctx.element_type(ty);
    }
    let (extents, flags): (Vec<i64>, Vec<bool>) = kept.iter().map(|&i| (extents[i], flags[i])).unzip();
    vector_type(ctx, &extents, &flags, ctx.element_type(ty))
}

fn verify_multi_reduction(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (MultiDimReductionOp(op), &m.ctx);
    same_element(m, this.source(m), this.dest(m), "source operand and result")?;
    let [from, to] = [this.source(m), this.dest(m)].map(|v| m.value_type(v));
    let want = reduced(ctx, from, &super::types::ints(m, op, "reduction_dims"));
    check(want == to, || {
        let (from, to) = (ctx.display_type(from), ctx.display_type(to));
        format!("destination type '{to}' is incompatible with source type '{from}'")
    })
}

fn verify_scan(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (ScanOp(op), &m.ctx);
    let (source, initial) = (m.value_type(this.source(m)), m.value_type(this.initial_value(m)));
    let dim = m.inherent_attr(op, "reduction_dim").and_then(|a| ctx.as_int(a)).unwrap_or(0);
    let (rank, have) = (shape(ctx, source).len() as i64, shape(ctx, initial).len() as i64);
    check(dim < rank, || format!("reduction dimension {dim} has to be less than {rank}"))?;
    check(have == rank - 1, || format!("initial value rank {have} has to be equal to {}", rank - 1))?;
    let rest = shape(ctx, source).iter().enumerate().filter(|(i, _)| *i as i64 != dim).map(|(_, d)| d);
    check(rest.eq(shape(ctx, initial)), || "incompatible input/initial value shapes".into())?;
    let (kind, elem) = (kind_of(m, op), ctx.element_type(initial));
    check(is_supported(ctx, &kind, elem), || {
        format!("unsupported reduction type '{}' for kind '{kind}'", ctx.display_type(elem))
    })
}

/// Returns the combining kind of an executed op.
fn declared_kind(args: &OpArgs<'_>) -> String {
    args.attr("kind").map_or_else(|| "add".to_owned(), |a| word(args.ctx(), a))
}

/// Returns the kind of an executed op, as `addf` and `mulf` for floats.
pub(super) fn kind_at_run_time(args: &OpArgs<'_>, ty: Type) -> String {
    let ctx = args.ctx();
    let kind = declared_kind(args);
    let float = ctx.float_kind(ctx.element_type(ty)).is_some();
    if float && (kind == "add" || kind == "mul") { kind + "f" } else { kind }
}

/// Whether the kind of an executed op combines numbers of a type: as that of MLIR, the verifier of `multi_reduction` accepts others.
fn has_meaning(args: &OpArgs<'_>, ty: Type) -> bool {
    is_supported(args.ctx(), &declared_kind(args), args.ctx().element_type(ty))
}

/// Returns the fast-math flags, whose violation yields poison.
fn fastmath_flags(args: &OpArgs<'_>) -> Attr {
    let ctx = args.ctx();
    let flags = args.attr("fastmath");
    ctx.dict_attr(flags.map(|f| (ctx.str("fastmath"), f)).into_iter().collect())
}

fn reduction(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    unmasked(args)?;
    let elements = stored(&data[0], data::extents(args.ctx(), args.operand_type(0))?.iter().product())?;
    combine_all(args, data.get(1).cloned().into_iter().chain(elements))
}

/// Combines values in order.
fn combine_all(args: &OpArgs<'_>, mut all: impl Iterator<Item = Datum>) -> Result<Vec<Datum>, Trap> {
    let ty = args.result_types[0];
    let kind = kind_at_run_time(args, ty);
    let mut acc = all.next().ok_or_else(|| Trap::unsupported("a reduction of nothing"))?;
    let float = args.ctx().float_kind(ty).is_some();
    let props = if float { fastmath_flags(args) } else { Attr::EMPTY_DICT };
    for element in all {
        acc = data::combine_with(args, props, ty, &kind, acc, element)?;
    }
    Ok(vec![acc])
}

fn reduction_under_mask(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let Some(around) = surrounding(args, memory)? else { return eval_op(args, data) };
    let Some(elements) = data::elements(&data[0])? else { return Ok(vec![Datum::Poison]) };
    let kept = elements.into_iter().zip(around.mask).filter(|(_, mask)| *mask).map(|(element, _)| element);
    combine_all(args, data.get(1).cloned().into_iter().chain(kept))
}

/// Returns the sub-vectors along the dimensions `dims`, in order.
fn slices<'a>(
    ctx: &'a Context,
    source: &'a Tensor,
    dims: &'a [i64],
    part: Type,
) -> impl Iterator<Item = Result<Datum, Trap>> + 'a {
    let is_reduced = |i: &usize| dims.contains(&(*i as i64));
    let (out, kept): (Vec<usize>, Vec<usize>) = (0..source.rank()).partition(is_reduced);
    let extents = |dims: &[usize]| dims.iter().map(|&i| source.shape()[i]).collect::<Vec<usize>>();
    let (outer, inner) = (extents(&out), extents(&kept));
    let steps: Vec<Vec<usize>> = data::indices(&outer).collect();
    steps.into_iter().map(move |step| {
        let mut index = vec![0; source.rank()];
        out.iter().zip(step).for_each(|(&dim, i)| index[dim] = i);
        let numbers = data::indices(&inner).map(|own| {
            kept.iter().zip(own).for_each(|(&dim, i)| index[dim] = i);
            data::linear_index(source.shape(), index.iter().copied())
        });
        data::pick(ctx, part, source, numbers)
    })
}

fn multi_reduction_under_mask(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    match surrounding(args, memory)? {
        None => eval_op(args, data),
        Some(around) => reduce_elements(args, data, Some(&around.mask)),
    }
}

/// Reduces element by element, without the elements at which `mask` is false.
fn reduce_elements(args: &OpArgs<'_>, data: &[Datum], mask: Option<&[bool]>) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let (from, out) = (data::extents(ctx, args.operand_type(0))?, data::extents(ctx, ty)?);
    let source = stored(&data[0], from.iter().product())?;
    let mut sums = stored(&data[1], out.iter().product())?;
    let (kind, elem) = (kind_at_run_time(args, ty), ctx.element_type(ty));
    if !has_meaning(args, ty) {
        return Ok(vec![ctx.poison_of(ty)]);
    }
    let dims = args.ints("reduction_dims").unwrap_or_default();
    for (n, index) in data::indices(&from).enumerate().filter(|(n, _)| mask.is_none_or(|mask| mask[*n])) {
        let kept = index.into_iter().enumerate().filter(|(i, _)| !dims.contains(&(*i as i64))).map(|(_, at)| at);
        let to = data::linear_index(&out, kept);
        sums[to] = data::combine(args, elem, &kind, sums[to].clone(), source[n].clone())?;
    }
    data::value_of(ctx, ty, &sums).map(|v| vec![v])
}

fn multi_reduction(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    unmasked(args)?;
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    if data.iter().any(Datum::has_poison) || !has_meaning(args, ty) {
        return reduce_elements(args, data, None);
    }
    let kind = kind_at_run_time(args, ty);
    let dims = args.ints("reduction_dims").unwrap_or_default();
    let mut acc = data[1].clone();
    for slice in slices(ctx, data[0].tensor()?, &dims, ty) {
        acc = data::combine(args, ty, &kind, acc, slice?)?;
    }
    Ok(vec![acc])
}

fn scan(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[1]);
    if ctx.element_type(ty) != ctx.element_type(args.result_types[0]) {
        return Err(Trap::unsupported("a scan whose elements and initial value differ in type"));
    }
    let kind = kind_at_run_time(args, ty);
    let (source, inclusive) = (data[0].tensor()?, args.flag("inclusive"));
    let dim = args.int("reduction_dim").unwrap_or(0);
    let mut inputs = Vec::new();
    for slice in slices(ctx, source, &[dim], ty) {
        inputs.push(slice?);
    }
    let mut last = if inclusive { inputs[0].clone() } else { data[1].clone() };
    let mut outputs = vec![last.clone()];
    for i in 1..inputs.len() {
        let next = inputs[if inclusive { i } else { i - 1 }].clone();
        last = data::combine(args, ty, &kind, last, next)?;
        outputs.push(last.clone());
    }
    if last.has_poison() {
        return Ok(vec![Datum::Poison, Datum::Poison]);
    }
    let dim = usize::try_from(dim).unwrap_or(0);
    let lists: Vec<Vec<Datum>> = outputs.iter().map(|o| o.elements().unwrap_or_default()).collect();
    let at = |mut index: Vec<usize>| {
        let step = index.remove(dim);
        let inner = source.shape().iter().enumerate().filter(|(i, _)| *i != dim).map(|(_, &d)| d);
        let n = inner.zip(index).fold(0, |n, (d, i)| n * d + i);
        lists[step][n].clone()
    };
    let all: Vec<Datum> = data::indices(source.shape()).map(at).collect();
    Ok(vec![data::value_of(ctx, args.result_types[0], &all)?, last])
}
