//! Reductions, arg-reductions and cumulative sums.

use super::args::{Inputs, int, one, unary};
use super::{GENERIC, infer};
use gradus_dialects::constraint::{I64, I64_TENSOR, INT_TENSOR, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, OpDecl, OpInfo, Tensor, Type, op};
use gradus_reference_kernels::shape::{normalize_axis, reduction_axes};
use gradus_reference_kernels::{self as kernels, Reduction};

/// Reductions. A row: struct, name, kind, documentation, example.
macro_rules! reductions {
    ($($Op:ident $name:literal $kind:ident $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// Reduces along `axes`. Absent or empty `axes` means all axes, or none if `noop_with_empty_axes`.
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op($name, format = GENERIC, infer = infer_reduce, eval = |args, data| reduce(args, data, Reduction::$kind))]
        pub struct $Op {
            /// Operand.
            x: Operand<TENSOR>,
            /// Reduced axes.
            axes: OptOperand<I64_TENSOR>,
            /// Whether reduced axes are kept with extent 1.
            #[default = "1 : i64"]
            keepdims: OptAttribute<I64>,
            /// Whether empty `axes` means no reduction.
            #[default = "0 : i64"]
            noop_with_empty_axes: OptAttribute<I64>,
            /// Reduced tensor.
            y: OpResult<TENSOR>,
        }
    )*

        /// Ops of this table.
        const REDUCTIONS: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

reductions! {
    ReduceSumOp "graph.reduce_sum" Sum
        "Sum along axes." "%y = graph.reduce_sum %x, %axes {keepdims = 0 : i64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<?xf32>";
    ReduceMeanOp "graph.reduce_mean" Mean
        "Mean along axes; integer means are truncated." "%y = graph.reduce_mean %x, %axes : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<?x?xf32>";
    ReduceMaxOp "graph.reduce_max" Max
        "Maximum along axes; NaN if an element is NaN." "%y = graph.reduce_max %x : (tensor<4x8xf32>) -> tensor<1x1xf32>";
    ReduceMinOp "graph.reduce_min" Min
        "Minimum along axes; NaN if an element is NaN." "%y = graph.reduce_min %x : (tensor<4x8xf32>) -> tensor<1x1xf32>";
    ReduceProdOp "graph.reduce_prod" Prod
        "Product along axes." "%y = graph.reduce_prod %x : (tensor<4x8xf32>) -> tensor<1x1xf32>";
    ReduceL1Op "graph.reduce_l1" L1
        "L1 norm along axes: sum of absolute values." "%y = graph.reduce_l1 %x : (tensor<4x8xf32>) -> tensor<1x1xf32>";
    ReduceL2Op "graph.reduce_l2" L2
        "L2 norm along axes: square root of the sum of squares." "%y = graph.reduce_l2 %x : (tensor<4x8xf32>) -> tensor<1x1xf32>";
    ReduceLogSumOp "graph.reduce_log_sum" LogSum
        "Logarithm of the sum along axes." "%y = graph.reduce_log_sum %x : (tensor<4x8xf32>) -> tensor<1x1xf32>";
    ReduceLogSumExpOp "graph.reduce_log_sum_exp" LogSumExp
        "Log-sum-exp along axes, without overflow."
        "%y = graph.reduce_log_sum_exp %x : (tensor<4x8xf32>) -> tensor<1x1xf32>";
    ReduceSumSquareOp "graph.reduce_sum_square" SumSquare
        "Sum of squares along axes." "%y = graph.reduce_sum_square %x : (tensor<4x8xf32>) -> tensor<1x1xf32>";
}

fn infer_reduce(args: &OpArgs<'_>) -> infer::Types {
    let (elem, keep) = (infer::elem(args, "x")?, args.flag("keepdims"));
    let Some(dims) = infer::dims(args, "x") else { return infer::one(args, None, elem) };
    let (rank, noop) = (dims.len(), args.flag("noop_with_empty_axes"));
    let given = args.opt_operand("axes").is_some();
    let axes = match infer::list_len(args, "axes") {
        _ if !given => Some(vec![]),
        Some(0) => Some(vec![]),
        _ => infer::ints(args, "axes"),
    };
    if let Some(axes) = axes {
        return infer::one(args, Some(reduced(&dims, &reduction_axes(&axes, rank, noop)?, keep)), elem);
    }
    let dims = match infer::list_len(args, "axes") {
        _ if keep => Some(infer::unknown(rank)),
        // A list of unknown length may be empty, which has a special meaning.
        None => None,
        Some(n) => Some(infer::unknown(rank.checked_sub(n).ok_or("has more axes than the operand")?)),
    };
    infer::one(args, dims, elem)
}

/// Returns the shape after reducing `axes`.
fn reduced(dims: &[i64], axes: &[usize], keep: bool) -> Vec<i64> {
    let all = dims.iter().enumerate();
    all.filter_map(|(i, &d)| if !axes.contains(&i) { Some(d) } else { keep.then_some(1) }).collect()
}

fn reduce(args: &OpArgs<'_>, data: &[Datum], kind: Reduction) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let axes = i.ints("axes")?.unwrap_or_default();
    one(kernels::reduce(i.get("x")?, kind, &axes, args.flag("keepdims"), args.flag("noop_with_empty_axes")))
}

/// Arg-reductions. A row: struct, name, kernel, documentation, example.
macro_rules! positions {
    ($($Op:ident $name:literal $kernel:ident $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op(
            $name,
            format = GENERIC,
            infer = infer_position,
            eval = |args, data| unary(data, |x| {
                kernels::$kernel(x, int(args, "axis")?, args.flag("keepdims"), args.flag("select_last_index"))
            })
        )]
        pub struct $Op {
            /// Operand.
            x: Operand<TENSOR>,
            /// Reduced axis.
            #[default = "0 : i64"]
            axis: OptAttribute<I64>,
            /// Whether the axis is kept with extent 1.
            #[default = "1 : i64"]
            keepdims: OptAttribute<I64>,
            /// Whether the last of several extrema is chosen rather than the first.
            #[default = "0 : i64"]
            select_last_index: OptAttribute<I64>,
            /// Indices along the axis.
            y: OpResult<I64_TENSOR>,
        }
    )* };
}

positions! {
    ArgMaxOp "graph.arg_max" arg_max
        "Index of the maximum along an axis."
        "%y = graph.arg_max %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x1xi64>";
    ArgMinOp "graph.arg_min" arg_min
        "Index of the minimum along an axis."
        "%y = graph.arg_min %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x1xi64>";
}

fn infer_position(args: &OpArgs<'_>) -> infer::Types {
    let (axis, keep) = (int(args, "axis")?, args.flag("keepdims"));
    let shape = |dims: Vec<i64>| Ok::<_, String>(reduced(&dims, &[normalize_axis(axis, dims.len())?], keep));
    infer::one(args, infer::dims(args, "x").map(shape).transpose()?, Type::I64)
}

/// Cumulative ops. A row: struct, name, kernel, documentation, example.
macro_rules! running {
    ($($Op:ident $name:literal $kernel:ident $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op($name, format = GENERIC, infer = infer::same, eval = |args, data| running(args, data, kernels::$kernel))]
        pub struct $Op {
            /// Operand.
            x: Operand<TENSOR>,
            /// Axis, a scalar.
            axis: Operand<INT_TENSOR>,
            /// Whether each result excludes its own element.
            #[default = "0 : i64"]
            exclusive: OptAttribute<I64>,
            /// Whether accumulation runs from the end.
            #[default = "0 : i64"]
            reverse: OptAttribute<I64>,
            /// Cumulative results.
            y: OpResult<TENSOR>,
        }
    )* };
}

running! {
    CumSumOp "graph.cum_sum" cum_sum "Cumulative sum along an axis."
        "%y = graph.cum_sum %x, %axis {reverse = 1 : i64} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>";
    CumProdOp "graph.cum_prod" cum_prod "Cumulative product along an axis."
        "%y = graph.cum_prod %x, %axis {exclusive = 1 : i64} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>";
}

type Running = fn(&Tensor, i64, bool, bool) -> kernels::KernelResult;

fn running(args: &OpArgs<'_>, data: &[Datum], kernel: Running) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let axis = i.int("axis")?.unwrap_or(0);
    one(kernel(i.get("x")?, axis, args.flag("exclusive"), args.flag("reverse")))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[REDUCTIONS, &[ArgMaxOp::INFO, ArgMinOp::INFO, CumSumOp::INFO, CumProdOp::INFO]];
