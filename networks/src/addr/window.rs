//! Pools and depthwise convolutions through indirection tables.

use super::product::{ACTIVATION, epilogue, infer_sums, product_op, zero_points};
use super::table::{gathered, table};
use super::{OFFSETS, RUN, in_f32, is_compatible, is_inside, shape};
use crate::graph::Inputs;
use gradus_dialects::constraint::{BYTE_TENSOR, F32, FLOAT_TENSOR, RANKED_TENSOR, kind};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost, elements};
use gradus_ir::eval::{Datum, Trap, floats_to_tensor};
use gradus_ir::{
    AttrKind, AttrText, DType, DYNAMIC, Effects, OpArgs, Tensor, Traits, Type, TypeConstraint, Violation, op,
};
use gradus_reference_kernels::{self as kernels, Reduction};

/// The reduction of a pooling window.
const KIND: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[("max", 0), ("sum", 1)]),
    ..kind("max or sum", |c, a| c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..2).contains(&v)))
};

/// Tensors that are pooled: of floats, or of 8-bit integers.
const POOLED: TypeConstraint = TypeConstraint {
    summary: "tensor of floating-point or 8-bit integer values",
    check: |c, t| (FLOAT_TENSOR.check)(c, t) || (BYTE_TENSOR.check)(c, t),
    only: None,
};

/// Pools runs of elements: `c[m, j]` is the maximum or sum over t of `a[bases[m, t] + j]`.
///
/// The base -1 denotes padding, which is skipped; the maximum of no elements is minus infinity, or the least integer. Only
/// floats are summed. An address outside the buffer is undefined behavior.
///
/// ```mlir
/// %c = addr.pool max %a[%bases] run 4 : (tensor<1x4x4x4xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>
/// ```
#[op(
    "addr.pool",
    effects = Effects::MayUb,
    speculatable = is_inside,
    infer = infer_pool,
    extensions = &[&DeclaredCost(pool_cost)],
    eval = pool,
    format = "$kind $a `[` $bases `]` `run` $run attr-dict `:` functional-type(operands, results)"
)]
pub struct PoolOp {
    /// Reduction: `max` or `sum`.
    kind: Attribute<KIND>,
    /// Number of contiguous elements per run: channels.
    run: Attribute<RUN>,
    /// Buffer of the inputs.
    a: Operand<POOLED>,
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

fn infer_pool(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let &[m, _] = shape(args, "bases") else { return Err("requires 'bases' of rank 2".into()) };
    let elem = args.ctx().element_type(args.operand_type(0));
    if args.ctx().float_kind(elem).is_none() && args.int("kind") != Some(0) {
        return Err("requires floats for sums".into());
    }
    Ok(vec![args.ctx().tensor_type(&[m, args.int("run").unwrap_or(DYNAMIC)], elem)])
}

fn infer_depthwise(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let (&[m, positions], &[weights, n]) = (shape(args, "bases"), shape(args, "b")) else {
        return Err("requires 'bases' and 'b' of rank 2".into());
    };
    if !is_compatible(positions, weights) {
        return Err(format!("'b' has {weights} rows, but 'bases' has {positions} window positions").into());
    }
    infer_sums(args, [m, n])
}

/// Returns the number of results, and of window positions.
fn counts(args: &OpArgs<'_>) -> [u64; 2] {
    let positions = shape(args, "bases").get(1).and_then(|&n| u64::try_from(n).ok()).unwrap_or(1);
    [args.result_types.first().map_or(1, |&ty| elements(args, ty)), positions]
}

fn pool_cost(args: &OpArgs<'_>) -> OpCost {
    OpCost::Map(counts(args).into_iter().fold(1, u64::saturating_mul))
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let [results, positions] = counts(args);
    let channels = shape(args, "b").get(1).and_then(|&n| u64::try_from(n).ok()).unwrap_or(1).max(1);
    OpCost::Contract(Contraction::depthwise(channels, positions, results / channels))
}

fn pool(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (kind, padding) = match args.int("kind") {
        Some(0) => (Reduction::Max, f64::NEG_INFINITY),
        _ => (Reduction::Sum, 0.0),
    };
    let a = data[0].tensor()?;
    let padding = match a.dtype() {
        DType::I8 => Tensor::scalar(i8::MIN),
        DType::U8 => Tensor::scalar(u8::MIN),
        dtype => floats_to_tensor(dtype, &[], vec![padding]),
    };
    let runs = gathered(a, &table(args, data)?, Some(&padding))?;
    Ok(vec![Datum::Tensor(kernels::reduce(&runs, kind, &[1], false, false)?)])
}

fn depthwise(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    in_f32(data, |data| {
        let (inputs, table) = (Inputs::new(args, data), table(args, data)?);
        let (a, b) = (inputs.get("a")?, inputs.get("b")?);
        let products = if a.dtype().is_float() {
            kernels::mul(&gathered(a, &table, None)?, b)?
        } else {
            let [a_zero, b_zero] = zero_points(inputs)?;
            kernels::mul(&minus(&gathered(a, &table, a_zero)?, a_zero)?, &minus(b, b_zero)?)?
        };
        epilogue(args, data, kernels::reduce(&products, Reduction::Sum, &[1], false, false)?)
    })
}

/// Converts 8-bit integers to 32 bits and subtracts a zero point.
fn minus(x: &Tensor, zero: Option<&Tensor>) -> Result<Tensor, Trap> {
    let x = kernels::cast(x, DType::I32)?;
    Ok(if let Some(zero) = zero { kernels::sub(&x, &kernels::cast(zero, DType::I32)?)? } else { x })
}
