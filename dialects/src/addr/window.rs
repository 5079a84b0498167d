//! What windows over an image read, by tables: each channel by itself.

use super::quantized::quantized;
use super::{OFFSETS, RUN, check_inside, finish, infer_sums, is_inside, offsets, same, shape, span_of_runs, widened};
use crate::constraint::{F32, FLOAT_TENSOR, RANKED_TENSOR, kind};
use crate::graph::Inputs;
use gradus_ir::eval::{Datum, Trap, floats_to_tensor};
use gradus_ir::work::{Work, elements};
use gradus_ir::{AttrKind, AttrText, DType, DYNAMIC, Effects, OpArgs, Tensor, Traits, Type, op};
use gradus_reference_kernels::{self as kernels, Reduction};

/// What is made of the places of a window.
const KIND: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[("max", 0), ("sum", 1)]),
    ..kind("max or sum", |c, a| c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..2).contains(&v)))
};

/// The largest or the sum of runs of elements of a buffer: c[m, j] is that of `a[bases[m, t] + j]` for all t.
///
/// A run at -1 is left out; the largest of none is minus infinity. What is not in the buffer is undefined behavior.
///
/// ```mlir
/// %c = addr.pool max %a[%bases] run 4 : (tensor<1x4x4x4xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>
/// ```
#[op(
    "addr.pool",
    effects = Effects::MayUb,
    speculatable = is_inside,
    infer = infer_pool,
    work = work,
    eval = pool,
    format = "$kind $a `[` $bases `]` `run` $run attr-dict `:` functional-type(operands, results)"
)]
pub struct PoolOp {
    /// What is made of the runs.
    kind: Attribute<KIND>,
    /// How many elements lie side by side: channels.
    run: Attribute<RUN>,
    /// The buffer.
    a: Operand<FLOAT_TENSOR>,
    /// An offset for each row of the result and position of the window.
    bases: Operand<OFFSETS>,
    /// What is made of each channel.
    c: OpResult<RANKED_TENSOR>,
}

/// Sums of products of runs of elements of a buffer with weights: c[m, j] is the sum of `a[bases[m, t] + j] * b[t, j]`.
///
/// A run at -1 is zeros, or zero points. All else is as in `addr.gemm`.
///
/// ```mlir
/// %c = addr.depthwise %a[%bases], %w : (tensor<1x4x4x8xf32>, tensor<4x9xi32>, tensor<9x8xf32>) -> tensor<4x8xf32>
/// ```
#[op(
    "addr.depthwise",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::MayUb,
    speculatable = is_inside,
    infer = infer_depthwise,
    work = work,
    eval = depthwise,
    format = "$a `[` $bases `]` `,` $b (`a_zero` $a_zero^)? (`b_zero` $b_zero^)? (`bias` $bias^)? (`plus` $add^)? (`scale` $scale^ `zero` $zero)? attr-dict `:` functional-type(operands, results)"
)]
pub struct DepthwiseOp {
    /// The buffer.
    a: Operand<RANKED_TENSOR>,
    /// An offset for each row of the result and position of the window.
    bases: Operand<OFFSETS>,
    /// For each position of the window, a weight for each channel.
    b: Operand<RANKED_TENSOR>,
    /// What is subtracted from each element of the buffer.
    a_zero: OptOperand<RANKED_TENSOR>,
    /// What is subtracted from the weights, for each channel or for all.
    b_zero: OptOperand<RANKED_TENSOR>,
    /// What is added, for each channel.
    bias: OptOperand<RANKED_TENSOR>,
    /// What is added, for each element of the result.
    add: OptOperand<RANKED_TENSOR>,
    /// What sums are multiplied with to be quantized, for each channel or for all.
    scale: OptOperand<RANKED_TENSOR>,
    /// What is added then.
    zero: OptOperand<RANKED_TENSOR>,
    /// The least that results are.
    low: OptAttribute<F32>,
    /// The greatest that results are.
    high: OptAttribute<F32>,
    /// The sums.
    c: OpResult<RANKED_TENSOR>,
}

/// How many channels lie side by side.
pub(super) fn channels(args: &OpArgs<'_>) -> i64 {
    let weights = shape(args, "b").get(1).copied();
    args.int("run").or(weights).unwrap_or(DYNAMIC)
}

fn infer_pool(args: &OpArgs<'_>) -> Result<Vec<Type>, String> {
    let &[m, _] = shape(args, "bases") else { return Err("requires a matrix of offsets".into()) };
    let elem = args.ctx().element_type(args.operand_type(0));
    Ok(vec![args.ctx().tensor_type(&[m, channels(args)], elem)])
}

fn infer_depthwise(args: &OpArgs<'_>) -> Result<Vec<Type>, String> {
    let (&[m, positions], &[weights, n]) = (shape(args, "bases"), shape(args, "b")) else {
        return Err("requires a matrix of offsets and one of weights".into());
    };
    if !same(positions, weights) {
        return Err(format!("requires weights for each position, but got {weights} and {positions}"));
    }
    infer_sums(args, [m, n])
}

fn work(args: &OpArgs<'_>) -> Work {
    let positions = shape(args, "bases").get(1).and_then(|&n| u64::try_from(n).ok()).unwrap_or(1);
    let results = args.result_types.first().map_or(1, |&ty| elements(args, ty));
    Work::Map(results.saturating_mul(positions))
}

/// The runs of each row, one below the other, with `hole` for what is at -1.
fn gathered(data: &[Datum], hole: &Tensor, run: usize) -> Result<Tensor, Trap> {
    let (a, bases) = (data[0].tensor()?, data[1].tensor()?);
    let &[rows, positions] = bases.shape() else { return Err(Trap::unsupported("a table that is no matrix")) };
    let bases = offsets(bases).unwrap_or_default();
    check_inside(span_of_runs(&bases, run.max(1) as i64), a.len() as i64).map_err(Trap::Ub)?;
    let shape = [rows, positions, run];
    let size = a.dtype().size();
    let mut bytes = Vec::with_capacity(kernels::shape::checked_elements(&shape)? * size);
    let hole = hole.bytes().repeat(run);
    for base in bases {
        let there = usize::try_from(base).map(|base| &a.bytes()[base * size..][..run * size]);
        bytes.extend_from_slice(there.unwrap_or(&hole));
    }
    Ok(Tensor::new(a.dtype(), shape.to_vec(), bytes.into())?)
}

fn pool(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let run = usize::try_from(args.int("run").unwrap_or(1)).unwrap_or(1);
    let (kind, hole) = match args.int("kind") {
        Some(0) => (Reduction::Max, f64::NEG_INFINITY),
        _ => (Reduction::Sum, 0.0),
    };
    let hole = floats_to_tensor(data[0].tensor()?.dtype(), &[], vec![hole]);
    Ok(vec![Datum::Tensor(kernels::reduce(&gathered(data, &hole, run)?, kind, &[1], false, false)?)])
}

fn depthwise(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    widened(data, |data| {
        let (a, b, inputs) = (data[0].tensor()?, data[2].tensor()?, Inputs::new(args, data));
        let &[_, run] = b.shape() else { return Err(Trap::unsupported("weights that are no matrix")) };
        let nothing = Tensor::new(a.dtype(), vec![], vec![0; a.dtype().size()].into())?;
        if a.dtype().is_float() {
            let products = kernels::mul(&gathered(data, &nothing, run)?, b)?;
            return finish(args, kernels::reduce(&products, Reduction::Sum, &[1], false, false)?, data);
        }
        let less = |x: &Tensor, zero: Option<&Tensor>| -> Result<Tensor, Trap> {
            let x = kernels::cast(x, DType::I32)?;
            Ok(if let Some(zero) = zero { kernels::sub(&x, &kernels::cast(zero, DType::I32)?)? } else { x })
        };
        let (a_zero, b_zero) = (inputs.opt("a_zero")?, inputs.opt("b_zero")?);
        let a = less(&gathered(data, a_zero.unwrap_or(&nothing), run)?, a_zero)?;
        let products = kernels::mul(&a, &less(b, b_zero)?)?;
        let sums = kernels::reduce(&products, Reduction::Sum, &[1], false, false)?;
        quantized(args, data, finish(args, sums, data)?)
    })
}
