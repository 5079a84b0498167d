//! Kernels for this machine.
//!
//! A program whose sizes are all known is laid out before it runs ([`plan`]); of any other, the interpreter asks for a kernel
//! before it evaluates an op by its reference meaning.
//!
//! | file | what is there |
//! |---|---|
//! | `program.rs` | a function, ready to be called |
//! | `plan.rs` | its steps |
//! | `store.rs` | the memory that they work on |
//! | `memory.rs` | where values are in it, so that those that are never needed at once share memory |
//! | `addr.rs` | kernels of products by address tables |
//! | `int8.rs` | the same of bytes |
//! | `narrow.rs` | floats of 16 bits as floats of 32 |
//! | `operands.rs` | the optional operands of an op, as kernels ask for them |
//! | `window.rs` | pools and depthwise convolutions by them |
//! | `map.rs` | what treats each element by itself |
//! | `function.rs` | the functions of elements |
//! | `movement.rs` | what moves elements |
//! | `lanes.rs` | normalization along an axis |
//! | `quantize.rs` | floats as bytes, and back |

mod addr;
mod function;
mod int8;
mod lanes;
mod map;
mod memory;
mod movement;
mod narrow;
mod operands;
mod plan;
mod program;
mod quantize;
mod store;
mod window;

pub use memory::Usage;
pub use program::Program;

use crate::gemm::Columns;
use crate::lines::Lines;
use crate::workers::Workers;
use gradus_dialects::{self as dialects, graph, layout};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs, OpDecl, OpInfo, Tensor, Type};
use map::Stage;

/// From the bytes of operands to those of a result, on some threads.
type Run = dyn Fn(&Workers, &[&[u8]], Out<'_>) -> Result<(), Trap> + Send + Sync;

/// Computes a result from the bytes of operands, all of them row-major and aligned as their elements are.
struct Kernel {
    /// Which operands it gets.
    reads: Vec<usize>,
    /// How many columns its result has, if it can write them among others.
    columns: Option<usize>,
    run: Box<Run>,
}

impl Kernel {
    /// On one thread.
    fn new(
        reads: impl IntoIterator<Item = usize>,
        run: impl Fn(&[&[u8]], &mut [u8]) -> Result<(), Trap> + Send + Sync + 'static,
    ) -> Kernel {
        Kernel::shared(reads, move |_, data, out| run(data, out))
    }

    /// On several, if there are.
    fn shared(
        reads: impl IntoIterator<Item = usize>,
        run: impl Fn(&Workers, &[&[u8]], &mut [u8]) -> Result<(), Trap> + Send + Sync + 'static,
    ) -> Kernel {
        let run = Box::new(move |workers: &Workers, data: &[&[u8]], out: Out<'_>| run(workers, data, out.bytes));
        Kernel { reads: reads.into_iter().collect(), columns: None, run }
    }
}

/// Where a kernel writes.
struct Out<'a> {
    bytes: &'a mut [u8],
    /// The columns that are its result, if there are others.
    columns: Option<Columns>,
}

/// A part of a result, which is elements of one operand.
struct Part {
    /// Copies them.
    copy: Kernel,
    /// How many columns they are.
    count: usize,
    /// Of all columns of the result.
    columns: Columns,
}

/// How an op is computed.
enum Prepared {
    /// Its one result has the bytes of its first operand.
    View,
    /// Its one result has an element for each of these, one stage after the other.
    Map(Vec<Stage>),
    /// Each of its results by itself.
    Kernels(Vec<Kernel>),
    /// Parts of its one result.
    Parts(Vec<Part>),
}

impl From<Kernel> for Prepared {
    fn from(kernel: Kernel) -> Prepared {
        Prepared::Kernels(vec![kernel])
    }
}

/// Prepares an op whose operands and results are tensors of known extents: `None` if there is no kernel for it as it is.
type Prepare = fn(&Module, &OpArgs<'_>) -> Option<Prepared>;

/// The ops that there are kernels for, but for those of each element by itself; where there are several, the first that fits.
const KERNELS: &[(&OpInfo, Prepare)] = &[
    (dialects::addr::GemmOp::INFO, addr::gemm),
    (dialects::addr::IndirectGemmOp::INFO, addr::gemm),
    (dialects::addr::GemmOp::INFO, int8::gemm),
    (dialects::addr::IndirectGemmOp::INFO, int8::gemm),
    (dialects::addr::PoolOp::INFO, window::pool),
    (dialects::addr::DepthwiseOp::INFO, window::depthwise),
    (dialects::addr::DepthwiseOp::INFO, int8::depthwise),
    (graph::ReshapeOp::INFO, view),
    (graph::FlattenOp::INFO, view),
    (graph::SqueezeOp::INFO, view),
    (graph::UnsqueezeOp::INFO, view),
    (graph::IdentityOp::INFO, view),
    (graph::DropoutOp::INFO, movement::dropout),
    (layout::PackOp::INFO, movement::packing),
    (layout::UnpackOp::INFO, movement::packing),
    (graph::TransposeOp::INFO, movement::transpose),
    (graph::ConcatOp::INFO, movement::concat),
    (graph::SliceOp::INFO, movement::slice),
    (graph::SplitOp::INFO, movement::split),
    (graph::PadOp::INFO, movement::pad),
    (graph::ExpandOp::INFO, movement::expand),
    (graph::QuantizeLinearOp::INFO, quantize::quantize),
    (graph::DequantizeLinearOp::INFO, quantize::dequantize),
    (graph::SoftmaxOp::INFO, lanes::softmax),
    (graph::LogSoftmaxOp::INFO, lanes::log_softmax),
    (graph::LrnOp::INFO, lanes::lrn),
];

/// The same bytes, if there are as many: what a type says need not be what happens.
fn view(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    (size(m, args.operand_type(0)) == size(m, *args.result_types.first()?)).then_some(Prepared::View)
}

/// How an op is computed, if there is a kernel for it.
fn prepare(args: &OpArgs<'_>) -> Option<Prepared> {
    let m = args.module;
    let is_known = |ty: Type| m.ctx.is_shaped(ty) && extents(m, ty).is_some() && dtype(m, ty).is_some();
    let types = args.operands.iter().map(|&v| m.value_type(v)).chain(args.result_types.iter().copied());
    // What reads nothing makes something of its attributes.
    if args.operands.is_empty() || !types.into_iter().all(is_known) {
        return None;
    }
    let mut known = KERNELS.iter().filter(|(info, _)| std::ptr::eq(*info, args.info)).peekable();
    match known.peek() {
        Some(_) => known.find_map(|(_, prepare)| prepare(m, args)),
        None => map::stages(args).map(Prepared::Map),
    }
}

/// The element type of a tensor.
fn dtype(m: &Module, ty: Type) -> Option<DType> {
    m.ctx.dtype(m.ctx.element_type(ty))
}

/// The extents of a tensor, if they are known and their product is a size.
fn extents(m: &Module, ty: Type) -> Option<Vec<usize>> {
    let all: Vec<usize> = m.ctx.static_shape(ty)?.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<_>>()?;
    all.iter().try_fold(8_usize, |n, &d| n.checked_mul(d))?;
    Some(all)
}

/// The bytes of a tensor of known extents.
fn size(m: &Module, ty: Type) -> Option<usize> {
    Some(extents(m, ty)?.iter().product::<usize>() * dtype(m, ty)?.size())
}

/// A constant operand, aligned as any element is.
fn constant(args: &OpArgs<'_>, name: &str) -> Option<Tensor> {
    args.ctx().dense_tensor(args.module.constant(args.opt_operand(name)?)?).as_ref().map(aligned)
}

/// An attribute that is a float.
fn float(args: &OpArgs<'_>, name: &str) -> Option<f32> {
    args.attr(name).and_then(|a| args.ctx().as_float(a)).map(|value| value as f32)
}

/// Where a group of operands begins among all.
fn position(args: &OpArgs<'_>, name: &str) -> Option<usize> {
    let value = args.opt_operand(name)?;
    args.operands.iter().position(|&v| v == value)
}

/// Whether an operand's elements are of that type.
fn is(args: &OpArgs<'_>, operand: usize, wanted: DType) -> bool {
    dtype(args.module, args.operand_type(operand)) == Some(wanted)
}

/// Bytes as floats. They are aligned as such.
fn floats(bytes: &[u8]) -> &[f32] {
    bytemuck::cast_slice(bytes)
}

/// [`floats`], to be written.
fn floats_mut(bytes: &mut [u8]) -> &mut [f32] {
    bytemuck::cast_slice_mut(bytes)
}

/// The same tensor, whose bytes are aligned as any element is.
fn aligned(tensor: &Tensor) -> Tensor {
    let is_aligned = tensor.bytes().as_ptr().cast::<u64>().is_aligned();
    if is_aligned { tensor.clone() } else { made(tensor.dtype(), tensor.shape(), Lines::of(tensor.bytes())) }
}

/// A tensor of bytes that are as many as it needs.
fn made(dtype: DType, shape: &[usize], lines: Lines) -> Tensor {
    Tensor::new(dtype, shape.to_vec(), lines.into_bytes()).expect("there are as many bytes")
}
