//! Elementwise ops on quantized tensors: `com.microsoft`'s operators, and tables.

use super::args::{Inputs, int, one};
use super::quantized::quantized;
use super::{GENERIC, infer};
use gradus_dialects::constraint::{BYTE_TENSOR, FLOAT_TENSOR, I64};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, OpDecl, OpInfo, Traits, op};
use gradus_reference_kernels as kernels;

/// Number of values of an 8-bit integer.
const VALUES: i64 = 256;

/// Binary ops on quantized tensors. A row: struct, name, kernel, documentation, example.
macro_rules! qlinear {
    ($($Op:ident $name:literal $kernel:ident $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// Dequantizes both operands, which broadcast, computes in `f32` and quantizes the result. Scales and zero points
        /// are scalars.
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op(
            $name,
            traits = Traits::BROADCASTING,
            format = GENERIC,
            infer = infer_qlinear,
            eval = |args, data| qlinear(args, data, kernels::$kernel)
        )]
        pub struct $Op {
            /// Left operand.
            a: Operand<BYTE_TENSOR>,
            /// Scale of `a`.
            a_scale: Operand<FLOAT_TENSOR>,
            /// Zero point of `a`.
            a_zero_point: Operand<BYTE_TENSOR>,
            /// Right operand.
            b: Operand<BYTE_TENSOR>,
            /// Scale of `b`.
            b_scale: Operand<FLOAT_TENSOR>,
            /// Zero point of `b`.
            b_zero_point: Operand<BYTE_TENSOR>,
            /// Scale of the result.
            c_scale: Operand<FLOAT_TENSOR>,
            /// Zero point of the result.
            c_zero_point: Operand<BYTE_TENSOR>,
            /// Result.
            c: OpResult<BYTE_TENSOR>,
        }
    )*

        /// Ops of this table.
        const BINARY: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

qlinear! {
    QLinearAddOp "graph.qlinear_add" qlinear_add
        "Sum of quantized tensors."
        "%c = graph.qlinear_add %a, %sa, %za, %b, %sb, %zb, %sc, %zc : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<4x3xui8>";
    QLinearMulOp "graph.qlinear_mul" qlinear_mul
        "Product of quantized tensors."
        "%c = graph.qlinear_mul %a, %sa, %za, %b, %sb, %zb, %sc, %zc : (tensor<4x3xi8>, tensor<f32>, tensor<i8>, tensor<3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>";
}

fn infer_qlinear(args: &OpArgs<'_>) -> infer::Types {
    infer::common_elem(args, &["a", "a_zero_point"])?;
    infer::common_elem(args, &["b", "b_zero_point"])?;
    for value in ["a", "b", "c"] {
        for parameter in [format!("{value}_scale"), format!("{value}_zero_point")] {
            if infer::dims(args, &parameter).is_some_and(|dims| !dims.is_empty()) {
                return Err(format!("requires a scalar '{parameter}'").into());
            }
        }
    }
    let shape = infer::broadcast(["a", "b"].map(|name| infer::dims(args, name)))?;
    infer::one(args, shape, infer::elem(args, "c_zero_point")?)
}

/// A binary kernel on quantized tensors, with scale and zero point of the result.
type Kernel =
    fn(kernels::Quantized<'_>, kernels::Quantized<'_>, &gradus_ir::Tensor, &gradus_ir::Tensor) -> kernels::KernelResult;

fn qlinear(args: &OpArgs<'_>, data: &[Datum], kernel: Kernel) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let a = quantized(i, "a", "a_scale", "a_zero_point")?;
    let b = quantized(i, "b", "b_scale", "b_zero_point")?;
    one(kernel(a, b, i.get("c_scale")?, i.get("c_zero_point")?))
}

/// Table lookup: a function of 8-bit integers, as in `tosa.table`.
///
/// Each element is replaced by an element of the table, whose first element is for the least integer: 0, or -128 for signed
/// integers. The table is `[256]`, or `[C, 256]` with a row for each index along `axis`, such as channels.
///
/// ```mlir
/// %y = graph.table %x, %t : (tensor<1x8x4x4xui8>, tensor<256xi8>) -> tensor<1x8x4x4xi8>
/// ```
#[op("graph.table", format = GENERIC, infer = infer_table, eval = table)]
pub struct TableOp {
    /// Operand.
    x: Operand<BYTE_TENSOR>,
    /// Results for all integers, `[256]` or `[C, 256]`.
    table: Operand<BYTE_TENSOR>,
    /// Axis of the rows of the table.
    #[default = "1 : i64"]
    axis: OptAttribute<I64>,
    /// Result.
    y: OpResult<BYTE_TENSOR>,
}

fn infer_table(args: &OpArgs<'_>) -> infer::Types {
    let axis = usize::try_from(int(args, "axis")?).map_err(|_| "requires an axis that is not negative")?;
    let values = |n: i64| infer::unify(n, VALUES).is_ok();
    let fits = match infer::dims(args, "table").as_deref() {
        None => true,
        Some(&[n]) => values(n),
        Some(&[rows, n]) => values(n) && is_extent(args, axis, rows),
        Some(_) => false,
    };
    let elem = infer::elem(args, "table")?;
    if !fits {
        return Err("requires a 'table' of 256 elements, or with a row for each index along the axis".into());
    }
    Ok(vec![args.ctx().with_element(infer::ty(args, "x")?, elem)])
}

/// Whether the operand may have this extent along an axis.
fn is_extent(args: &OpArgs<'_>, axis: usize, extent: i64) -> bool {
    infer::dims(args, "x").is_none_or(|x| x.get(axis).is_some_and(|&d| infer::unify(d, extent).is_ok()))
}

fn table(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let axis = usize::try_from(int(args, "axis")?).map_err(|_| Trap::unsupported("a negative axis"))?;
    one(kernels::table(i.get("x")?, i.get("table")?, axis))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[BINARY, &[TableOp::INFO]];
