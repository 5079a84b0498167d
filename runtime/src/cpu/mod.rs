//! The `cpu` target: kernels of this machine.
//!
//! A schedule (see the dialect `sched`) is executed step by step: each has a kernel, selected by its region
//! ([`region`]), and nothing else is decided here. For other functions the interpreter asks for a kernel before it
//! evaluates an op by reference.
//!
//! | file | contents |
//! |---|---|
//! | `program.rs` | callable functions |
//! | `schedule.rs` | schedules as steps over memory, and their execution |
//! | `reader.rs` | schedules read from the IR |
//! | `step.rs` | steps: kernels over places of memory |
//! | `call.rs` | kernels on tensors, for the interpreter |
//! | `joint.rs` | kernels of several results |
//! | `region.rs` | kernels of a step's region |
//! | `store.rs` | memory of a schedule |
//! | `trap.rs` | errors |
//! | `addr.rs` | table-driven f32 products |
//! | `bf16.rs` | table-driven bf16 products |
//! | `blocks.rs` | results in blocks of columns |
//! | `int8.rs` | table-driven 8-bit products |
//! | `narrow.rs` | 16-bit floats, computed in f32 |
//! | `operands.rs` | optional operands |
//! | `products.rs` | products without constant factors: batched, transposed, of other types |
//! | `attention/` | attention with its softmax |
//! | `recurrent/` | recurrent layers |
//! | `window.rs` | pools and depthwise convolutions |
//! | `map.rs` | fused elementwise ops |
//! | `function.rs` | elementwise functions |
//! | `elementwise.rs` | elementwise ops on other number types, comparisons, selection, conversion |
//! | `movement.rs` | data movement |
//! | `separable.rs` | data movement by a table per axis |
//! | `lanes.rs` | normalization along an axis |
//! | `norm.rs` | normalization of rows |
//! | `resize.rs` | resampling of images |
//! | `reduce.rs` | reductions and positions of extrema |
//! | `quantize.rs` | quantization and dequantization |
//! | `qlinear.rs` | sums and products of quantized tensors |
//! | `table.rs` | table lookup |
//! | `sparse.rs` | sparse products and calls of machine code |
//! | `sparse_bytes.rs` | products of bytes with sparse constants, and their words |

mod addr;
mod affine;
mod attention;
mod bf16;
mod blocks;
mod byte_products;
mod call;
mod col2im;
mod dots;
mod elementwise;
mod function;
mod int8;
mod joint;
mod lanes;
mod loss;
mod map;
mod movement;
mod narrow;
mod nest;
mod norm;
mod operands;
mod pool;
mod products;
mod program;
mod qlinear;
mod quantize;
mod reader;
mod recurrent;
mod reduce;
mod region;
mod resize;
mod rows;
mod sample;
mod schedule;
mod separable;
mod sparse;
mod sparse_bytes;
mod stage;
mod step;
mod store;
mod table;
mod trap;
mod window;

pub use program::{CompiledFunction, OpKernels};
pub use schedule::Usage;

use crate::aligned_bytes::AlignedBytes;
use crate::gemm::ColumnSlice;
use crate::workers::Workers;
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, Op, OpArgs, OpDecl, OpInfo, Tensor, Traits, Type};
use gradus_networks::{graph, layout};
use joint::JointKernel;
use stage::Stage;

/// A function that computes a result from the bytes of operands, on the threads of a pool.
type Run = dyn Fn(&Workers, &[&[u8]], Out<'_>) -> Result<(), Trap> + Send + Sync;

/// The same for results that are contiguous.
type RunBytes = dyn Fn(&Workers, &[&[u8]], &mut [u8]) -> Result<(), Trap> + Send + Sync;

/// A kernel of an op. Operands are row-major and aligned to their elements.
struct Kernel {
    /// Indices of the operands that it reads.
    reads: Vec<usize>,
    /// Number of result columns, if it supports strided output.
    columns: Option<usize>,
    /// Whether operands may have the place of the result; those that do are passed as empty slices.
    in_place: bool,
    /// Number of vector operations, if it is not about a fourth of the result's bytes.
    steps: Option<usize>,
    run: Box<Run>,
}

impl Kernel {
    /// Creates a single-threaded kernel.
    fn new(
        reads: impl IntoIterator<Item = usize>,
        run: impl Fn(&[&[u8]], &mut [u8]) -> Result<(), Trap> + Send + Sync + 'static,
    ) -> Kernel {
        Kernel::shared(reads, move |_, data, out| run(data, out))
    }

    /// Creates a kernel that copies its only operand.
    fn copy() -> Kernel {
        Kernel::new([0], |data, out| {
            out.copy_from_slice(data[0]);
            Ok(())
        })
    }

    /// Creates a multithreaded kernel.
    fn shared(
        reads: impl IntoIterator<Item = usize>,
        run: impl Fn(&Workers, &[&[u8]], &mut [u8]) -> Result<(), Trap> + Send + Sync + 'static,
    ) -> Kernel {
        Kernel::of(reads.into_iter().collect(), Box::new(run))
    }

    fn of(reads: Vec<usize>, run: Box<RunBytes>) -> Kernel {
        let run = Box::new(move |workers: &Workers, data: &[&[u8]], out: Out<'_>| run(workers, data, out.bytes));
        Kernel { reads, columns: None, in_place: false, steps: None, run }
    }
}

/// The output of a kernel.
struct Out<'a> {
    bytes: &'a mut [u8],
    /// The result's columns within wider rows, for strided output.
    columns: Option<ColumnSlice>,
}

/// The implementation of an op.
enum Prepared {
    /// A view: the result has the bytes of the first operand.
    View,
    /// Elementwise stages.
    Map(Vec<Stage>),
    /// One kernel per result.
    Kernels(Vec<Kernel>),
    /// One kernel of all results.
    Joint(JointKernel),
}

impl From<Kernel> for Prepared {
    fn from(kernel: Kernel) -> Prepared {
        Prepared::Kernels(vec![kernel])
    }
}

/// Prepares an op on tensors of static shape. Returns `None` if there is no kernel for it.
type Prepare = fn(&Module, &OpArgs<'_>) -> Option<Prepared>;

/// The ops with kernels that may round otherwise than their semantics, other than elementwise functions; the first entry that accepts an op is used.
const KERNELS: &[(&OpInfo, Prepare)] = &[
    (gradus_networks::addr::GemmOp::INFO, dots::gemm),
    (gradus_networks::addr::GemmOp::INFO, bf16::gemm),
    (gradus_networks::addr::IndirectGemmOp::INFO, bf16::gemm),
    (gradus_networks::addr::GemmOp::INFO, addr::gemm),
    (gradus_networks::addr::IndirectGemmOp::INFO, addr::gemm),
    (gradus_networks::addr::GemmOp::INFO, int8::gemm),
    (gradus_networks::addr::IndirectGemmOp::INFO, int8::gemm),
    (gradus_networks::addr::GemmOp::INFO, products::table),
    (gradus_networks::addr::IndirectGemmOp::INFO, products::table),
    (gradus_networks::addr::PoolOp::INFO, window::pool),
    (gradus_networks::addr::PoolOp::INFO, window::byte_pool),
    (gradus_networks::addr::PoolOp::INFO, window::f64_pool),
    (gradus_networks::addr::DepthwiseOp::INFO, window::depthwise),
    (gradus_networks::addr::DepthwiseOp::INFO, int8::depthwise),
    (gradus_networks::addr::ConvPlanesOp::INFO, window::conv_planes),
    (gradus_networks::addr::SparseGemmOp::INFO, sparse::gemm),
    (gradus_networks::sparse::IntegerMatMulOp::INFO, sparse_bytes::matmul),
    (gradus_networks::sparse::WordsOp::INFO, sparse_bytes::words),
    (gradus_networks::sparse::ElementMulOp::INFO, sparse::mul),
    (gradus_networks::sparse::ElementAddOp::INFO, sparse::add),
    (gradus_networks::sparse::ElementSubOp::INFO, sparse::sub),
    (gradus_networks::sparse::DotOp::INFO, sparse::dot),
    (gradus_machines::x64::CallOp::INFO, sparse::call),
    (gradus_machines::x64::DispatchOp::INFO, sparse::dispatch),
    (graph::DropoutOp::INFO, movement::dropout),
    (graph::QLinearAddOp::INFO, qlinear::add),
    (graph::QLinearMulOp::INFO, qlinear::mul),
    (graph::MatMulOp::INFO, products::matmul),
    (graph::GemmOp::INFO, products::gemm),
    (graph::AttentionOp::INFO, attention::attention),
    (graph::LinearAttentionOp::INFO, attention::linear_attention),
    (graph::GridSampleOp::INFO, sample::grid_sample),
    (graph::RoiAlignOp::INFO, sample::roi_align),
    (graph::DeformConvOp::INFO, sample::deform_conv),
    (graph::Col2ImOp::INFO, col2im::col2im),
    (graph::NegativeLogLikelihoodLossOp::INFO, loss::negative_log_likelihood),
    (graph::DetOp::INFO, loss::det),
    (graph::LstmOp::INFO, recurrent::recurrent),
    (graph::GruOp::INFO, recurrent::recurrent),
    (graph::RnnOp::INFO, recurrent::recurrent),
    (graph::MatMulIntegerOp::INFO, byte_products::matmul_integer),
    (graph::QLinearMatMulOp::INFO, byte_products::qlinear_matmul),
    (graph::SoftmaxOp::INFO, lanes::softmax),
    (graph::LogSoftmaxOp::INFO, lanes::log_softmax),
    (graph::LrnOp::INFO, lanes::lrn),
    (graph::LayerNormalizationOp::INFO, norm::layer),
    (graph::RmsNormalizationOp::INFO, norm::rms),
    (graph::MaxPoolOp::INFO, pool::max),
    (graph::AveragePoolOp::INFO, pool::mean),
    (graph::GlobalMaxPoolOp::INFO, reduce::channel_maxima),
    (graph::GlobalAveragePoolOp::INFO, reduce::channel_means),
    (graph::ResizeOp::INFO, resize::weighted),
    (graph::ReduceSumOp::INFO, reduce::sum),
    (graph::ReduceMeanOp::INFO, reduce::mean),
    (graph::ReduceL1Op::INFO, reduce::l1),
    (graph::ReduceL2Op::INFO, reduce::l2),
    (graph::ReduceProdOp::INFO, reduce::product),
    (graph::ReduceLogSumOp::INFO, reduce::log_sum),
    (graph::ReduceSumSquareOp::INFO, reduce::sum_square),
];

/// The ops with kernels that give the bits of their semantics, other than elementwise functions.
const EXACT_KERNELS: &[(&OpInfo, Prepare)] = &[
    (graph::ReshapeOp::INFO, view),
    (graph::FlattenOp::INFO, view),
    (graph::SqueezeOp::INFO, view),
    (graph::UnsqueezeOp::INFO, view),
    (graph::IdentityOp::INFO, view),
    (layout::PackOp::INFO, movement::packing),
    (layout::UnpackOp::INFO, movement::packing),
    (graph::TransposeOp::INFO, movement::transpose),
    (graph::ConcatOp::INFO, movement::concat),
    (graph::SliceOp::INFO, movement::slice),
    (graph::SplitOp::INFO, movement::split),
    (graph::PadOp::INFO, movement::pad),
    (graph::PadOp::INFO, separable::pad),
    (graph::SliceOp::INFO, separable::slice),
    (graph::TileOp::INFO, separable::tile),
    (graph::SpaceToDepthOp::INFO, separable::space_to_depth),
    (graph::DepthToSpaceOp::INFO, separable::depth_to_space),
    (graph::ExpandOp::INFO, movement::expand),
    (graph::QuantizeLinearOp::INFO, quantize::quantize),
    (graph::DequantizeLinearOp::INFO, quantize::dequantize),
    (graph::TableOp::INFO, table::table),
    (graph::EqualOp::INFO, elementwise::equal),
    (graph::LessOp::INFO, elementwise::less),
    (graph::LessOrEqualOp::INFO, elementwise::less_or_equal),
    (graph::GreaterOp::INFO, elementwise::greater),
    (graph::GreaterOrEqualOp::INFO, elementwise::greater_or_equal),
    (graph::AndOp::INFO, elementwise::and),
    (graph::OrOp::INFO, elementwise::or),
    (graph::XorOp::INFO, elementwise::xor),
    (graph::NotOp::INFO, elementwise::not),
    (graph::CastOp::INFO, elementwise::cast),
    (graph::CastLikeOp::INFO, elementwise::cast),
    (graph::WhereOp::INFO, elementwise::selection),
    (graph::GatherOp::INFO, movement::gather),
    (graph::ResizeOp::INFO, resize::nearest),
    (graph::ReduceMaxOp::INFO, reduce::max),
    (graph::ReduceMinOp::INFO, reduce::min),
    (graph::ArgMaxOp::INFO, reduce::arg_max),
    (graph::ArgMinOp::INFO, reduce::arg_min),
];

/// The ops whose semantics are computed by functions on their own element types, in time linear in the elements that they move or compare: as fast
/// as a kernel. They do not count as evaluated by reference.
const DIRECT: &[&OpInfo] = &[
    graph::BitwiseAndOp::INFO,
    graph::BitwiseNotOp::INFO,
    graph::BitwiseOrOp::INFO,
    graph::BitwiseXorOp::INFO,
    graph::BitShiftOp::INFO,
    graph::BitCastOp::INFO,
    graph::CompressOp::INFO,
    graph::ConcatFromSequenceOp::INFO,
    graph::ConstantOfShapeOp::INFO,
    graph::CumProdOp::INFO,
    graph::CumSumOp::INFO,
    graph::DynamicQuantizeLinearOp::INFO,
    graph::EyeLikeOp::INFO,
    graph::GatherElementsOp::INFO,
    graph::GatherNdOp::INFO,
    graph::HardmaxOp::INFO,
    graph::MaxUnpoolOp::INFO,
    graph::ModOp::INFO,
    graph::NonMaxSuppressionOp::INFO,
    graph::NonZeroOp::INFO,
    graph::OneHotOp::INFO,
    graph::RangeOp::INFO,
    graph::ReverseSequenceOp::INFO,
    graph::ScatterElementsOp::INFO,
    graph::ScatterNdOp::INFO,
    graph::SequenceAtOp::INFO,
    graph::SequenceConstructOp::INFO,
    graph::SequenceEmptyOp::INFO,
    graph::SequenceEraseOp::INFO,
    graph::SequenceInsertOp::INFO,
    graph::SequenceLengthOp::INFO,
    graph::SplitToSequenceOp::INFO,
    graph::TensorScatterOp::INFO,
    graph::TopKOp::INFO,
    graph::TriluOp::INFO,
    graph::UniqueOp::INFO,
];

/// Whether the semantics of an op take about as long as a kernel: for the ops of the list, functions of elements of f64, and ops without
/// elements.
fn is_direct(m: &Module, op: Op) -> bool {
    let Some(args) = m.args(op) else { return false };
    let is_empty = |ty: &Type| extents(m, *ty).is_some_and(|extents| extents.contains(&0));
    let mut operands = args.operands.iter().filter(|&&value| m.constant(value).is_none()).map(|&v| m.value_type(v));
    let has_function = function::ops().any(|info| std::ptr::eq(info, args.info));
    DIRECT.iter().any(|info| std::ptr::eq(*info, args.info))
        || operands.clone().next().is_some() && operands.clone().all(|ty| is_empty(&ty))
        || has_function && operands.all(|ty| dtype(m, ty) == Some(DType::F64))
}

/// Whether the kernels of a compiled function, and of those that it may call, give the bits of its semantics. Ops without kernels are
/// evaluated by that.
pub fn is_exact(m: &Module, function: Op) -> bool {
    let rounded = || KERNELS.iter().map(|(info, _)| *info).chain(function::approximate_ops());
    let is_rounded = |op: Op| m.info(op).is_some_and(|info| rounded().any(|other| std::ptr::eq(other, info)));
    let ops = m.ops_under(function);
    let calls = ops.iter().any(|&op| m.has_trait(op, Traits::CALL));
    !(if calls { m.ops_under(m.root()) } else { ops }).into_iter().any(is_rounded)
}

/// Returns the ops with kernels, some of them twice.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    kernels().map(|&(info, _)| info).chain(function::ops())
}

/// Returns the entries of both tables.
fn kernels() -> impl Iterator<Item = &'static (&'static OpInfo, Prepare)> {
    KERNELS.iter().chain(EXACT_KERNELS)
}

/// Prepares an op whose result has the bytes of its operand, if the sizes agree: a declared type may be wrong.
fn view(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    (size(m, args.operand_type(0)) == size(m, *args.result_types.first()?)).then_some(Prepared::View)
}

/// Prepares an op, if there is a kernel for it.
fn prepare(args: &OpArgs<'_>) -> Option<Prepared> {
    let m = args.module;
    let is_known = |ty: Type| m.ctx.is_shaped(ty) && extents(m, ty).is_some() && dtype(m, ty).is_some();
    let types = args.operands.iter().map(|&v| m.value_type(v)).chain(args.result_types.iter().copied());
    // An op without operands depends only on its attributes and is left to reference evaluation.
    if args.operands.is_empty() || !types.into_iter().all(is_known) {
        return None;
    }
    let mut known = kernels().filter(|(info, _)| std::ptr::eq(*info, args.info)).peekable();
    match known.peek() {
        Some(_) => {
            known.find_map(|(_, prepare)| prepare(m, args)).and_then(|kernel| blocks::in_blocks(m, args, kernel))
        }
        None => stage::stages(args).map(Prepared::Map).or_else(|| elementwise::kernel(m, args)),
    }
}

/// Returns the element type of a tensor.
fn dtype(m: &Module, ty: Type) -> Option<DType> {
    m.ctx.dtype(m.ctx.element_type(ty))
}

/// Returns the extents of a tensor, if they are static and their product does not overflow.
fn extents(m: &Module, ty: Type) -> Option<Vec<usize>> {
    let all: Vec<usize> = m.ctx.static_shape(ty)?.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<_>>()?;
    all.iter().try_fold(8_usize, |n, &d| n.checked_mul(d))?;
    Some(all)
}

/// Returns the size in bytes of a tensor of static shape.
fn size(m: &Module, ty: Type) -> Option<usize> {
    Some(extents(m, ty)?.iter().product::<usize>() * dtype(m, ty)?.size())
}

/// Returns a constant operand, aligned for any element type.
fn constant(args: &OpArgs<'_>, name: &str) -> Option<Tensor> {
    args.ctx().dense_tensor(args.module.constant(args.opt_operand(name)?)?).as_ref().map(aligned)
}

/// Returns a float attribute.
fn float(args: &OpArgs<'_>, name: &str) -> Option<f32> {
    args.attr(name).and_then(|a| args.ctx().as_float(a)).map(|value| value as f32)
}

/// Returns the index of the first operand of a group.
fn position(args: &OpArgs<'_>, name: &str) -> Option<usize> {
    args.operand_range(name).next()
}

/// Whether an operand has this element type.
fn is(args: &OpArgs<'_>, operand: usize, wanted: DType) -> bool {
    dtype(args.module, args.operand_type(operand)) == Some(wanted)
}

/// Views aligned bytes as f32.
fn floats(bytes: &[u8]) -> &[f32] {
    bytemuck::cast_slice(bytes)
}

/// Views aligned bytes as mutable f32.
fn floats_mut(bytes: &mut [u8]) -> &mut [f32] {
    bytemuck::cast_slice_mut(bytes)
}

/// Returns the tensor with bytes aligned for any element type.
fn aligned(tensor: &Tensor) -> Tensor {
    let is_aligned = tensor.bytes().as_ptr().cast::<u64>().is_aligned();
    if is_aligned { tensor.clone() } else { made(tensor.dtype(), tensor.shape(), AlignedBytes::of(tensor.bytes())) }
}

/// Creates a tensor from bytes of the right size.
fn made(dtype: DType, shape: &[usize], lines: AlignedBytes) -> Tensor {
    Tensor::new(dtype, shape.to_vec(), lines.into_bytes()).expect("there are as many bytes")
}
