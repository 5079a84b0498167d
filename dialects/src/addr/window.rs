//! Pools and depthwise convolutions through indirection tables.

use super::product::{epilogue, infer_sums, product_op, zero_points};
use super::{OFFSETS, RUN, check_inside, in_f32, is_compatible, is_inside, offsets, shape, span_of_runs};
use crate::constraint::{F32, FLOAT_TENSOR, RANKED_TENSOR, kind};
use crate::graph::Inputs;
use crate::op_cost::{DeclaredCost, OpCost, elements};
use gradus_ir::eval::{Datum, Trap, floats_to_tensor};
use gradus_ir::{AttrKind, AttrText, DType, DYNAMIC, Effects, OpArgs, Tensor, Traits, Type, op};
use gradus_reference_kernels::{self as kernels, Reduction};

/// The reduction of a pooling window.
const KIND: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[("max", 0), ("sum", 1)]),
    ..kind("max or sum", |c, a| c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..2).contains(&v)))
};

/// Pools runs of elements: `c[m, j]` is the maximum or sum over t of `a[bases[m, t] + j]`.
///
/// The base -1 denotes padding, which is skipped; the maximum of no elements is minus infinity. An address outside the
/// buffer is undefined behavior.
///
/// ```mlir
/// %c = addr.pool max %a[%bases] run 4 : (tensor<1x4x4x4xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>
/// ```
#[op(
    "addr.pool",
    effects = Effects::MayUb,
    speculatable = is_inside,
    infer = infer_pool,
    extensions = &[&DeclaredCost(cost)],
    eval = pool,
    format = "$kind $a `[` $bases `]` `run` $run attr-dict `:` functional-type(operands, results)"
)]
pub struct PoolOp {
    /// Reduction: `max` or `sum`.
    kind: Attribute<KIND>,
    /// Number of contiguous elements per run: channels.
    run: Attribute<RUN>,
    /// Buffer of the inputs.
    a: Operand<FLOAT_TENSOR>,
    /// Base address of each row and window position, `[M, T]`.
    bases: Operand<OFFSETS>,
    /// Pooled values, `[M, run]`.
    c: OpResult<RANKED_TENSOR>,
}

product_op! {
    /// Depthwise convolution of gathered runs: `c[m, j] = sum over t of a[bases[m, t] + j] * b[t, j]`.
    ///
    /// The base -1 denotes padding: a run of zeros, or of zero points. Everything else is as in `addr.gemm`.
    ///
    /// ```mlir
    /// %c = addr.depthwise %a[%bases], %w : (tensor<1x4x4x8xf32>, tensor<4x9xi32>, tensor<9x8xf32>) -> tensor<4x8xf32>
    /// ```
    "addr.depthwise" "$a `[` $bases `]` `,` $b" infer infer_depthwise eval depthwise
    pub struct DepthwiseOp {
        /// Buffer of the inputs.
        a: Operand<RANKED_TENSOR>,
        /// Base address of each row and window position, `[M, T]`.
        bases: Operand<OFFSETS>,
        /// Weights, `[T, N]`.
        b: Operand<RANKED_TENSOR>,
        /// Weighted sums, `[M, N]`.
        c: OpResult<RANKED_TENSOR>,
    }
}

/// Returns the number of channels per run.
pub(super) fn channels(args: &OpArgs<'_>) -> i64 {
    let weights = shape(args, "b").get(1).copied();
    args.int("run").or(weights).unwrap_or(DYNAMIC)
}

fn infer_pool(args: &OpArgs<'_>) -> Result<Vec<Type>, String> {
    let &[m, _] = shape(args, "bases") else { return Err("requires 'bases' of rank 2".into()) };
    let elem = args.ctx().element_type(args.operand_type(0));
    Ok(vec![args.ctx().tensor_type(&[m, channels(args)], elem)])
}

fn infer_depthwise(args: &OpArgs<'_>) -> Result<Vec<Type>, String> {
    let (&[m, positions], &[weights, n]) = (shape(args, "bases"), shape(args, "b")) else {
        return Err("requires 'bases' and 'b' of rank 2".into());
    };
    if !is_compatible(positions, weights) {
        return Err(format!("'b' has {weights} rows, but 'bases' has {positions} window positions"));
    }
    infer_sums(args, [m, n])
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let positions = shape(args, "bases").get(1).and_then(|&n| u64::try_from(n).ok()).unwrap_or(1);
    let results = args.result_types.first().map_or(1, |&ty| elements(args, ty));
    OpCost::Map(results.saturating_mul(positions))
}

/// Gathers the runs of all rows, `[rows, positions, run]`; padding becomes `hole`.
fn gathered(data: &[Datum], hole: &Tensor, run: usize) -> Result<Tensor, Trap> {
    let (a, bases) = (data[0].tensor()?, data[1].tensor()?);
    let &[rows, positions] = bases.shape() else {
        return Err(Trap::unsupported("an offset table of rank other than 2"));
    };
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
    in_f32(data, |data| {
        let (a, b, inputs) = (data[0].tensor()?, data[2].tensor()?, Inputs::new(args, data));
        let &[_, run] = b.shape() else { return Err(Trap::unsupported("weights of rank other than 2")) };
        let nothing = Tensor::new(a.dtype(), vec![], vec![0; a.dtype().size()].into())?;
        if a.dtype().is_float() {
            let products = kernels::mul(&gathered(data, &nothing, run)?, b)?;
            return epilogue(args, data, kernels::reduce(&products, Reduction::Sum, &[1], false, false)?);
        }
        let less = |x: &Tensor, zero: Option<&Tensor>| -> Result<Tensor, Trap> {
            let x = kernels::cast(x, DType::I32)?;
            Ok(if let Some(zero) = zero { kernels::sub(&x, &kernels::cast(zero, DType::I32)?)? } else { x })
        };
        let [a_zero, b_zero] = zero_points(inputs)?;
        let a = less(&gathered(data, a_zero.unwrap_or(&nothing), run)?, a_zero)?;
        let products = kernels::mul(&a, &less(b, b_zero)?)?;
        let sums = kernels::reduce(&products, Reduction::Sum, &[1], false, false)?;
        epilogue(args, data, sums)
    })
}
