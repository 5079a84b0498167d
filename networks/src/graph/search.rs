//! Sorting and selection.

use super::args::{Inputs, int, one, several, unary};
use super::{GENERIC, infer};
use gradus_dialects::constraint::{BOOL_TENSOR, FLOAT_TENSOR, I64, I64_TENSOR, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, OpArgs, OpDecl, OpInfo, Traits, Type, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::normalize_axis;

/// The k largest or smallest elements along an axis, sorted, with their indices.
///
/// Among equal elements, the lowest index comes first.
///
/// ```mlir
/// %y:2 = graph.top_k %x, %k {axis = 0 : i64} : (tensor<4x8xf32>, tensor<1xi64>) -> (tensor<?x8xf32>, tensor<?x8xi64>)
/// ```
#[op("graph.top_k", format = GENERIC, infer = infer_top_k, eval = top_k)]
pub struct TopKOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Number k of elements, `[1]`.
    k: Operand<I64_TENSOR>,
    /// Axis.
    #[default = "-1 : i64"]
    axis: OptAttribute<I64>,
    /// Whether the largest elements are selected.
    #[default = "1 : i64"]
    largest: OptAttribute<I64>,
    /// Whether the result must be sorted; it always is.
    #[default = "1 : i64"]
    sorted: OptAttribute<I64>,
    /// Selected elements.
    values: OpResult<TENSOR>,
    /// Indices of the selected elements.
    indices: OpResult<I64_TENSOR>,
}

fn infer_top_k(args: &OpArgs<'_>) -> infer::Types {
    let (axis, elem) = (int(args, "axis")?, infer::elem(args, "x")?);
    let mut dims = infer::dims(args, "x");
    if let Some(dims) = &mut dims {
        let axis = normalize_axis(axis, dims.len())?;
        dims[axis] = match infer::ints(args, "k").as_deref() {
            Some(&[k]) if k >= 0 && (dims[axis] == DYNAMIC || k <= dims[axis]) => k,
            Some(other) => {
                return Err(format!("cannot take {other:?} of {} elements", infer::display(&[dims[axis]])).into());
            }
            None => DYNAMIC,
        };
    }
    Ok(vec![infer::tensor(args, dims.clone(), elem), infer::tensor(args, dims, Type::I64)])
}

fn top_k(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let k = i.int("k")?.unwrap_or(0);
    several(args, kernels::top_k(i.get("x")?, k, int(args, "axis")?, args.flag("largest"))?)
}

/// Hardmax: 1 at the first maximum along an axis, 0 elsewhere.
///
/// With `legacy_flatten` (ONNX before opset 13), the axes from `axis` on are flattened.
///
/// ```mlir
/// %y = graph.hardmax %x {axis = 1 : i64} : tensor<1x8xf32>
/// ```
#[op(
    "graph.hardmax",
    traits = Traits::SAME_TYPE,
    format = "$x attr-dict `:` type($y)",
    infer = super::unary::infer_along_axis,
    eval = |args, data| unary(data, |x| kernels::hardmax(x, int(args, "axis")?, args.flag("legacy_flatten")))
)]
pub struct HardmaxOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Axis.
    #[default = "-1 : i64"]
    axis: OptAttribute<I64>,
    /// Whether the axes from `axis` on are flattened.
    #[default = "0 : i64"]
    legacy_flatten: OptAttribute<I64>,
    /// One-hot maxima.
    y: OpResult<FLOAT_TENSOR>,
}

/// Coordinates of the nonzero elements in row-major order, `[rank, num_nonzero]`.
///
/// ```mlir
/// %y = graph.non_zero %x : (tensor<4x8xf32>) -> tensor<2x?xi64>
/// ```
#[op(
    "graph.non_zero",
    format = GENERIC,
    infer = infer_non_zero,
    eval = |_, data| unary(data, kernels::non_zero)
)]
pub struct NonZeroOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Coordinates, one row per axis.
    y: OpResult<I64_TENSOR>,
}

fn infer_non_zero(args: &OpArgs<'_>) -> infer::Types {
    let rank = infer::dims(args, "x").map_or(DYNAMIC, |d| d.len() as i64);
    let count = infer::evaluated_shape(args).map_or(DYNAMIC, |s| s[1]);
    infer::one(args, Some(vec![rank, count]), Type::I64)
}

/// Selects the slices along an axis, or the elements of the flattened operand, for which `condition` holds.
///
/// ```mlir
/// %y = graph.compress %x, %c {axis = 1 : i64} : (tensor<4x8xf32>, tensor<8xi1>) -> tensor<4x?xf32>
/// ```
#[op("graph.compress", format = GENERIC, infer = infer_compress, eval = compress)]
pub struct CompressOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Mask vector; positions beyond its end are dropped.
    condition: Operand<BOOL_TENSOR>,
    /// Axis; the operand is flattened when absent.
    axis: OptAttribute<I64>,
    /// Selected slices or elements.
    y: OpResult<TENSOR>,
}

fn infer_compress(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let kept = infer::ints(args, "condition").map_or(DYNAMIC, |c| c.iter().filter(|&&v| v != 0).count() as i64);
    let dims = match (args.int("axis"), infer::dims(args, "x")) {
        (None, _) => Some(vec![kept]),
        (Some(_), None) => None,
        (Some(axis), Some(mut dims)) => {
            let axis = normalize_axis(axis, dims.len())?;
            dims[axis] = kept;
            Some(dims)
        }
    };
    infer::one(args, dims, elem)
}

fn compress(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::compress(i.get("x")?, i.get("condition")?, args.int("axis")))
}

/// Unique slices along an axis, or unique elements of the flattened operand.
///
/// Optional results: the index of each first occurrence, the inverse mapping, and the counts.
///
/// ```mlir
/// %y:2 = graph.unique %x {axis = 0 : i64} : (tensor<4x8xf32>) -> (tensor<?x8xf32>, tensor<?xi64>)
/// ```
#[op("graph.unique", format = GENERIC, infer = infer_unique, eval = unique)]
pub struct UniqueOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Axis; the operand is flattened when absent.
    axis: OptAttribute<I64>,
    /// Whether the result is sorted in ascending order, rather than by first occurrence.
    #[default = "1 : i64"]
    sorted: OptAttribute<I64>,
    /// Unique slices or elements.
    y: OpResult<TENSOR>,
    /// First occurrences, inverse mapping and counts.
    more: OpResults<I64_TENSOR>,
}

fn infer_unique(args: &OpArgs<'_>) -> infer::Types {
    let (elem, x) = (infer::elem(args, "x")?, infer::dims(args, "x"));
    let axis = args.int("axis").unwrap_or(0);
    let known = infer::evaluated_shape(args).and_then(|s| Some(s[normalize_axis(axis, s.len()).ok()?]));
    let different = known.unwrap_or(DYNAMIC);
    let (dims, all) = match (args.int("axis"), x) {
        (None, x) => (Some(vec![different]), x.map_or(DYNAMIC, |x| infer::product(&x))),
        (Some(_), None) => (None, DYNAMIC),
        (Some(axis), Some(mut dims)) => {
            let axis = normalize_axis(axis, dims.len())?;
            let all = std::mem::replace(&mut dims[axis], different);
            (Some(dims), all)
        }
    };
    let mut types = vec![infer::tensor(args, dims, elem)];
    let wanted = args.result_types.len().saturating_sub(1);
    let more = [different, all, different].map(|n| infer::tensor(args, Some(vec![n]), Type::I64));
    types.extend(more.into_iter().take(wanted));
    Ok(types)
}

fn unique(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let x = Inputs::new(args, data).get("x")?;
    several(args, kernels::unique(x, args.int("axis"), args.flag("sorted"))?)
}

/// Reverses a variable-length prefix of each sequence in a batch.
///
/// ```mlir
/// %y = graph.reverse_sequence %x, %n {batch_axis = 0 : i64, time_axis = 1 : i64} : (tensor<2x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
/// ```
#[op("graph.reverse_sequence", format = GENERIC, infer = infer::same, eval = reverse_sequence)]
pub struct ReverseSequenceOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Number of elements to reverse in each sequence.
    sequence_lens: Operand<I64_TENSOR>,
    /// Batch axis.
    #[default = "1 : i64"]
    batch_axis: OptAttribute<I64>,
    /// Sequence axis.
    #[default = "0 : i64"]
    time_axis: OptAttribute<I64>,
    /// Partially reversed sequences.
    y: OpResult<TENSOR>,
}

fn reverse_sequence(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (batch, time) = (int(args, "batch_axis")?, int(args, "time_axis")?);
    one(kernels::reverse_sequence(i.get("x")?, i.get("sequence_lens")?, batch, time))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] =
    &[&[TopKOp::INFO, HardmaxOp::INFO, NonZeroOp::INFO, CompressOp::INFO, UniqueOp::INFO, ReverseSequenceOp::INFO]];
