//! Dot product, Schur product, sum and difference with a sparse constant.
//!
//! Elements at its zeros are not computed: they are 0 in a product, even of infinities and NaNs, and those of the other operand in a
//! sum or difference.

use super::zeros;
use gradus_dialects::constraint::{NUMBER_TENSOR, TENSOR};
use gradus_dialects::op_cost::{DeclaredCost, OpCost, elements};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::rules::{Arg, Rule, approx};
use gradus_ir::{OpArgs, Tensor, Traits, Type, Violation, op};
use gradus_reference_kernels as kernels;

/// Declares an elementwise op on two tensors of the type of the result.
macro_rules! elementwise {
    ($($(#[$doc:meta])* $Op:ident $name:literal $eval:expr, $sparse:ident $a:literal $b:literal;)*) => { $(
        $(#[$doc])*
        #[op(
            $name,
            traits = Traits::SAME_TYPE.and(Traits::ELEMENTWISE),
            extensions = &[&DeclaredCost(|args| cost(args, stringify!($sparse)))],
            eval = $eval,
            format = "$a `,` $b attr-dict `:` type($y)"
        )]
        pub struct $Op {
            #[doc = $a]
            a: Operand<NUMBER_TENSOR>,
            #[doc = $b]
            b: Operand<NUMBER_TENSOR>,
            /// Result.
            y: OpResult<NUMBER_TENSOR>,
        }
    )* };
}

elementwise! {
    /// Schur (elementwise) product with a sparse constant.
    ///
    /// ```mlir
    /// %y = sparse.mul %a, %x : tensor<64x256xf32>
    /// ```
    ElementMulOp "sparse.mul" |_, data| by_zeros(data, 0, kernels::mul, |_, size| vec![0; size]), a "The sparse operand." "The other operand.";
    /// Sum with a sparse constant.
    ///
    /// ```mlir
    /// %y = sparse.add %a, %x : tensor<64x256xf32>
    /// ```
    ElementAddOp "sparse.add" |_, data| by_zeros(data, 0, kernels::add, |x, _| x.to_vec()), a "The sparse operand." "The other operand.";
    /// Difference of a tensor and a sparse constant.
    ///
    /// ```mlir
    /// %y = sparse.sub %x, %a : tensor<64x256xf32>
    /// ```
    ElementSubOp "sparse.sub" |_, data| by_zeros(data, 1, kernels::sub, |x, _| x.to_vec()), b "The other operand." "The sparse operand.";
}

/// Dot product of a sparse constant and a vector.
///
/// ```mlir
/// %y = sparse.dot %a, %x : (tensor<256xf32>, tensor<256xf32>) -> tensor<f32>
/// ```
#[op(
    "sparse.dot",
    infer = infer_dot,
    extensions = &[&DeclaredCost(|args| cost(args, "a"))],
    eval = dot,
    format = "operands attr-dict `:` functional-type(operands, results)"
)]
pub struct DotOp {
    /// The sparse operand, `[K]`.
    a: Operand<TENSOR>,
    /// The other operand, `[K]`.
    b: Operand<TENSOR>,
    /// Dot product, a scalar.
    y: OpResult<TENSOR>,
}

fn infer_dot(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let (ctx, [a, b]) = (args.ctx(), [0, 1].map(|i| args.operand_type(i)));
    if a != b || ctx.static_shape(a).is_none_or(|shape| shape.len() != 1) {
        return Err("requires two vectors of one static type".into());
    }
    Ok(vec![ctx.tensor_type(&[], ctx.element_type(a))])
}

/// Whether an element is zero, also a negative one.
fn is_zero(bytes: &[u8], is_float: bool) -> bool {
    let Some((last, rest)) = bytes.split_last() else { return true };
    rest.iter().all(|&byte| byte == 0) && *last & if is_float { 0x7f } else { 0xff } == 0
}

/// Computes elementwise, with other elements at the zeros of operand `sparse`, from that of the other operand.
fn by_zeros(
    data: &[Datum],
    sparse: usize,
    compute: fn(&Tensor, &Tensor) -> Result<Tensor, Violation>,
    at_zero: fn(&[u8], usize) -> Vec<u8>,
) -> Result<Vec<Datum>, Trap> {
    let operands = [data[0].tensor()?, data[1].tensor()?];
    let (constant, other) = (operands[sparse], operands[1 - sparse]);
    if constant.dtype().is_narrow() {
        return Err(Trap::unsupported("elements of less than a byte"));
    }
    let result = compute(operands[0], operands[1])?;
    let (dtype, size, mut bytes) = (result.dtype(), result.dtype().size(), result.bytes().to_vec());
    let pairs = constant.bytes().chunks_exact(size).zip(other.bytes().chunks_exact(size));
    for ((value, other), to) in pairs.zip(bytes.chunks_exact_mut(size)) {
        if is_zero(value, dtype.is_float()) {
            to.copy_from_slice(&at_zero(other, size));
        }
    }
    Ok(vec![Datum::Tensor(Tensor::new(dtype, result.shape().to_vec(), bytes.into())?)])
}

fn dot(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (a, b) = (data[0].tensor()?, data[1].tensor()?);
    let k = a.len();
    let matrix = |x: &Tensor, shape: [usize; 2]| Tensor::new(x.dtype(), shape.to_vec(), x.bytes().to_vec().into());
    let product = kernels::sparse_matmul(&matrix(a, [1, k])?, &matrix(b, [k, 1])?, false)?;
    Ok(vec![Datum::Tensor(Tensor::new(product.dtype(), vec![], product.bytes().to_vec().into())?)])
}

/// The cost: nonzeros are computed.
fn cost(args: &OpArgs<'_>, sparse: &str) -> OpCost {
    let m = args.module;
    let all = args.operands.first().map_or(0, |_| elements(args, args.operand_type(0)));
    let constant = args.opt_operand(sparse).and_then(|v| m.constant(v));
    let zeros = constant.and_then(|attr| zeros(m, Arg::Attr(attr))).map_or(0, |(zeros, _)| zeros);
    OpCost::Map(all - zeros.min(all))
}

/// Dense ops with sparse constants, as sparse ones.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    approx("left-schur",  "graph.mul(A: S, x: S): S => sparse.mul(A, x): S if mostly_zeros(A)"),
    approx("right-schur", "graph.mul(x: S, A: S): S => sparse.mul(A, x): S if mostly_zeros(A)"),
    approx("left-sum",    "graph.add(A: S, x: S): S => sparse.add(A, x): S if mostly_zeros(A)"),
    approx("right-sum",   "graph.add(x: S, A: S): S => sparse.add(A, x): S if mostly_zeros(A)"),
    approx("difference",  "graph.sub(x: S, A: S): S => sparse.sub(x, A): S if mostly_zeros(A)"),
];
