//! Products with sparse constants by compressed rows.

use super::product::{check_plane_summands, epilogue_of};
use super::{OFFSETS, in_f32};
use crate::columns::{Columns, extents};
use crate::graph::Inputs;
use gradus_dialects::constraint::{F32, I64, RANKED_TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Effects, Module, Op, OpArgs, Tensor, Traits, Violation, op};
use gradus_reference_kernels::shape::checked_elements;
use gradus_reference_kernels::{self as kernels, CompressedRows};

/// Product of a sparse matrix and ranges of a buffer, by compressed rows.
///
/// Row `m` of the matrix has the nonzeros behind the end of row `m - 1` up to `ends[m]`: `c[m, n] = sum over these i of values[i] *
/// a[offsets[i] + n]`, in their order. With `strips`, columns are divided into as many strips of equal width S, the rows of an image:
/// column `j` of strip `s`, which is column `s * S + j`, reads `a[offsets[i] + s * pitch + j]`. A matrix product has offsets that are multiples
/// of N, a convolution those of the elements of an image that its taps read for the first output position.
///
/// Sums begin with `bias`; without one, with -0, and they are 0 in rows without nonzeros. Then `plus` is added, one summand per element
/// of the result, and the sum is clamped to `low` and `high`. A result of rank 3 has bands: matrices of equal size, one after the other,
/// with as many strips each. An address outside of the buffer is undefined behavior, as are ends that do not ascend.
///
/// ```mlir
/// %c = addr.sparse_gemm %a[%offsets], %values rows %ends : (tensor<4x16xf32>, tensor<2xi32>, tensor<2xf32>, tensor<1xi32>) -> tensor<1x16xf32>
/// ```
#[op(
    "addr.sparse_gemm",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::MayUb,
    eval = sparse_gemm,
    verify = verify,
    format = "$a `[` $offsets `]` `,` $values `rows` $ends (`bias` $bias^)? (`plus` $add^)? (`strips` $strips^ `pitch` $pitch)? attr-dict `:` functional-type(operands, results)"
)]
pub struct SparseGemmOp {
    /// Buffer of the dense factors.
    a: Operand<RANKED_TENSOR>,
    /// Element of `a` that the first column reads for each nonzero, `[Z]`.
    offsets: Operand<OFFSETS>,
    /// Nonzeros by rows, `[Z]`.
    values: Operand<RANKED_TENSOR>,
    /// End of each row among the nonzeros, `[M]`.
    ends: Operand<OFFSETS>,
    /// Summand of each row, `[M]`.
    bias: OptOperand<RANKED_TENSOR>,
    /// Summand of each element, of the type of the result.
    add: OptOperand<RANKED_TENSOR>,
    /// Number of strips of all bands, which divides the number of columns; 1 without the attribute.
    strips: OptAttribute<I64>,
    /// Elements of `a` from a strip to the next; 0 without the attribute.
    pitch: OptAttribute<I64>,
    /// Lower bound of the result.
    low: OptAttribute<F32>,
    /// Upper bound of the result.
    high: OptAttribute<F32>,
    /// Product, `[M, N]` or in bands `[B, M, N / B]`.
    c: OpResult<RANKED_TENSOR>,
}

/// The sizes of a product by compressed rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SparseGemm {
    /// Number of rows.
    pub rows: usize,
    /// Columns, whose pitch is in elements.
    pub columns: Columns,
}

impl SparseGemm {
    /// Reads the sizes of an op.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(args: &OpArgs<'_>) -> Result<SparseGemm, Violation> {
        let ctx = args.ctx();
        let result = *args.result_types.first().ok_or("has no result")?;
        let buffer = args.operand_type(0);
        let (Some(input), Some(output)) = (extents(ctx, buffer), extents(ctx, result)) else {
            return Err("requires a buffer and a result of static shape".into());
        };
        let elements = input.iter().try_fold(1_u64, |n, &d| n.checked_mul(d)).ok_or("requires a smaller buffer")?;
        let columns = Columns::of(args, &output, elements)?;
        let rows = usize::try_from(output[output.len() - 2]).map_err(|_| "requires a smaller result")?;
        rows.checked_mul(columns.all).ok_or("requires a smaller result")?;
        Ok(SparseGemm { rows, columns })
    }

    /// The element behind an offset that each column reads.
    fn places(&self) -> Result<Vec<usize>, Trap> {
        let Columns { all, strips, pitch, .. } = self.columns;
        checked_elements(&[all])?;
        let of_strip = |strip| (0..self.columns.strip()).map(move |column| strip * pitch + column);
        Ok((0..strips).flat_map(of_strip).collect())
    }
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    m.with_args(op, verify_args).unwrap_or_else(|| Err("is not declared".into()))
}

fn verify_args(args: &OpArgs<'_>) -> Result<(), Violation> {
    let (ctx, sizes) = (args.ctx(), SparseGemm::of(args)?);
    let result = args.result_types[0];
    let element = ctx.element_type(result);
    if ctx.float_kind(element).is_none() {
        return Err("requires floats".into());
    }
    let type_of = |name: &str| args.opt_operand(name).map(|v| args.module.value_type(v));
    let has = |name: &str, extents: &[i64]| type_of(name).is_none_or(|ty| ctx.static_shape(ty) == Some(extents));
    let nonzeros = type_of("values").and_then(|ty| ctx.static_shape(ty)).unwrap_or_default();
    if nonzeros.len() != 1 || !has("offsets", nonzeros) {
        return Err("requires as many offsets as values".into());
    }
    let rows = sizes.rows as i64;
    if !has("ends", &[rows]) {
        return Err(format!("requires an end for each of {rows} rows").into());
    }
    if ["a", "values"].iter().any(|name| type_of(name).is_some_and(|ty| ctx.element_type(ty) != element)) {
        return Err("requires elements of one type".into());
    }
    check_plane_summands(args, rows, ctx.static_shape(result).unwrap_or_default(), element)
}

fn sparse_gemm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let sizes = SparseGemm::of(args)?;
    in_f32(data, |data| {
        let inputs = Inputs::new(args, data);
        let (offsets, ends) = (inputs.get("offsets")?.as_slice::<i32>(), inputs.get("ends")?.as_slice::<i32>());
        let rows = CompressedRows { values: inputs.get("values")?, offsets: &offsets, ends: &ends };
        let (a, places) = (inputs.get("a")?, sizes.places()?);
        epilogue_of(args, data, |bias| {
            let sums =
                kernels::compressed_rows(a, &rows, &places, bias).map_err(|violation| Trap::Ub(violation.into()))?;
            let shape = extents(args.ctx(), args.result_types[0]).unwrap_or_default();
            Ok(in_bands(sums, sizes)?.reshape(shape.into_iter().map(|d| d as usize).collect())?)
        })
    })
}

/// Divides the columns of a matrix into bands.
fn in_bands(sums: Tensor, SparseGemm { rows, columns }: SparseGemm) -> Result<Tensor, Trap> {
    if columns.bands == 1 {
        return Ok(sums);
    }
    let divided = sums.reshape(vec![rows, columns.bands, columns.band()])?;
    Ok(kernels::transpose(&divided, &[1, 0, 2])?)
}
