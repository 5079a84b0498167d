//! `sched`: schedules, in which tensors are bytes at offsets of memories.
//!
//! A schedule is straight-line code. `sched.arena` is a memory of a machine, `sched.buffer` a typed range in it,
//! `sched.step` a computation in destination-passing style: it reads buffers as tensors, computes in its region, and
//! writes the yielded tensors to buffers. `sched.launch` does the same by a device program, and `sched.transfer` copies
//! between memories beside the ops before its `sched.wait`. Ops of `memref` view buffers (slices, reshapes) and copy them. Function
//! arguments and results stay tensors: `sched.to_buffer` and `sched.to_tensor` cross the border.
//!
//! The meaning of a schedule is by memory: a buffer has no value of its own. A buffer is live from its first write to
//! its last read, and no buffer that overlaps it may be written in that time; the verifier checks this ([`hazards`]). The
//! step that reads a buffer for the last time may write its result there if its ops are elementwise.

mod accesses;
mod border;
mod hazards;
mod in_place;
mod pending;
mod transfer;

pub use accesses::{BufferView, Footprint, accesses, is_access, is_view, root};
pub use border::{ToBufferOp, ToTensorOp};
pub use hazards::placeable;
pub use in_place::{is_elementwise, may_be_in_place};
pub use transfer::{LaunchOp, TokenType, TransferOp, WaitOp};

use border::contents_type;
use gradus_dialects::constraint::{I64, MEMREF, QUOTED, TENSOR};
use gradus_dialects::memref::types::{BYTES, STATIC};
use gradus_ir::control::{Event, Next};
use gradus_ir::effects::is_memory_free;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{ByteView, MemRef, Memory, Storage};
use gradus_ir::{
    Access, Attr, AttrKind, AttrText, Context, Def, Dialect, Effects, Module, Op, OpArgs, OpDecl, Traits, Type,
    TypeDecl, Value, Violation, op,
};

/// The name of a discardable attribute of a step, or of an op outside of steps: it is evaluated by its reference meaning, not by a kernel.
/// A check by execution finds a wrong kernel with it.
const INTERPRETED: &str = "sched.interpreted";

/// Whether an op, or the step that it belongs to, is evaluated by its reference meaning.
pub fn is_interpreted(m: &Module, op: Op) -> bool {
    let is_marked = |op: Op| m.ctx.dict_get(m.attrs(op), m.ctx.str(INTERPRETED)).is_some();
    is_marked(op) || m.parent_op(op).is_some_and(is_marked)
}

/// Whether a function has steps: it is a schedule, and no longer what passes before `form-steps` work on.
pub fn is_schedule(m: &Module, function: Op) -> bool {
    let entry = m.regions(function).first().and_then(|&region| m.entry(region));
    let is_scheduled = |op: Op| StepOp::cast(m, op).is_some() || ToTensorOp::cast(m, op).is_some();
    entry.is_some_and(|block| m.block_ops(block).any(is_scheduled))
}

/// Has a step, or an op outside of steps, evaluated by its reference meaning.
pub fn interpret(m: &mut Module, op: Op) {
    m.set_attr(op, INTERPRETED, Some(Attr::UNIT));
}

/// A byte offset: a nonnegative number, without its type in text.
const OFFSET: AttrKind = AttrKind {
    text: AttrText::Bare(Type::I64),
    ..gradus_dialects::constraint::kind("64-bit signless integer attribute whose value is non-negative", |c, a| {
        (I64.check)(c, a) && c.as_int(a).is_some_and(|n| n >= 0)
    })
};

/// A memory of the machine, uninitialized.
///
/// ```mlir
/// %host = sched.arena "host" : memref<12288xi8>
/// ```
#[op(
    "sched.arena",
    traits = Traits::VERIFIES_USES,
    effects = Effects::Memory(&[(Access::Alloc, "memory")]),
    format = "$name attr-dict `:` type($memory)",
    verify = verify_arena,
    exec = allocate,
    result_names = arena_name
)]
pub struct ArenaOp {
    /// Name of the memory in the machine's description.
    name: Attribute<QUOTED>,
    /// Its bytes.
    memory: OpResult<BYTES>,
}

/// A buffer at a byte offset of an arena, row-major.
///
/// ```mlir
/// %b = sched.buffer %host[512] : memref<12288xi8> to memref<64x24xf32>
/// ```
#[op(
    "sched.buffer",
    format = "$arena `[` $offset `]` attr-dict `:` type($arena) `to` type($buffer)",
    verify = verify_buffer,
    eval = place,
    result_names = |_, _| vec![(0, "buffer".to_owned())]
)]
pub struct BufferOp {
    /// Bytes of the arena.
    arena: Operand<BYTES>,
    /// Byte offset of the first element.
    offset: Attribute<OFFSET>,
    /// Buffer.
    buffer: OpResult<STATIC>,
}

/// Computes tensors from buffers into buffers.
///
/// The region's arguments are the elements of the buffers that it reads; constants can be used directly. The yielded
/// tensors are written after all reads. A step of elementwise ops may write a buffer at the bytes of one that it reads, if
/// both have the same shape and elements of the same size; other steps write bytes that they do not read. The name is that of the computation in its source.
///
/// ```mlir
/// sched.step "relu1" reads(%a : memref<4x8xf32>) writes(%b : memref<4x8xf32>) {
/// ^bb0(%x: tensor<4x8xf32>):
///   %y = graph.relu %x : tensor<4x8xf32>
///   sched.yield %y : tensor<4x8xf32>
/// }
/// ```
#[op(
    "sched.step",
    traits = Traits::OPERAND_SEGMENTS.and(Traits::SINGLE_BLOCK).and(Traits::VERIFIES_USES),
    effects = Effects::Memory(&[(Access::Read, "reads"), (Access::Write, "writes")]),
    implicit_terminator = "sched.yield",
    format = "($name^)? (`reads` `(` $reads^ `:` type($reads) `)`)? (`writes` `(` $writes^ `:` type($writes) `)`)? $body attr-dict",
    verify_regions = verify_step,
    control_memory = run_step
)]
pub struct StepOp {
    /// Name of the source of the computation.
    name: OptAttribute<QUOTED>,
    /// Buffers that it reads.
    reads: Operands<MEMREF>,
    /// Buffers that it writes.
    writes: Operands<MEMREF>,
    /// Computation.
    body: Region,
}

/// Yields the tensors that a step writes.
#[op(
    "sched.yield",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    parents = &["sched.step"],
    format = "attr-dict ($results^ `:` type($results))?"
)]
pub struct YieldOp {
    /// Tensors, one for each written buffer.
    results: Operands<TENSOR>,
}

/// Returns the size in bytes of a value of static shape; `None` for other shapes and for elements without a size.
pub fn size_in_bytes(ctx: &Context, ty: Type) -> Option<u64> {
    let size = ctx.dtype(ctx.element_type(ty))?.size() as u64;
    ctx.static_shape(ty)?.iter().try_fold(size, |n, &d| n.checked_mul(u64::try_from(d).ok()?))
}

fn verify_arena(m: &Module, op: Op) -> Result<(), Violation> {
    if size_in_bytes(&m.ctx, m.value_type(ArenaOp(op).memory(m))).is_none() {
        return Err("requires a memref of static size".into());
    }
    hazards::check(m, op)
}

/// Names the result after the arena, if that is a name for values.
fn arena_name(m: &Module, op: Op) -> Vec<(usize, String)> {
    let is_name = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let name = ArenaOp(op).name(m).and_then(|a| m.ctx.as_str(a)).filter(is_name);
    name.map(|name| (0, name.to_owned())).into_iter().collect()
}

fn allocate(args: &OpArgs<'_>, _: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ty = args.result_types[0];
    let sizes = args.ctx().static_shape(ty).ok_or_else(|| Trap::unsupported("an arena of unknown size"))?;
    Ok(vec![Datum::MemRef(Box::new(memory.alloc_memref(args.ctx(), ty, sizes, &[], Storage::Stack)?))])
}

fn verify_buffer(m: &Module, op: Op) -> Result<(), Violation> {
    let this = BufferOp(op);
    let (arena, ty) = (m.value_type(this.arena(m)), m.value_type(this.buffer(m)));
    if !m.ctx.has_identity_layout(ty) {
        return Err("requires a row-major buffer".into());
    }
    if m.ctx.memory_space(ty) != m.ctx.memory_space(arena) {
        return Err("requires a buffer in the memory space of its arena".into());
    }
    let Some(dtype) = m.ctx.dtype(m.ctx.element_type(ty)) else {
        return Err("requires elements that have a size in bytes".into());
    };
    let offset = this.offset(m).and_then(|a| m.ctx.as_int(a)).and_then(|n| u64::try_from(n).ok()).unwrap_or(u64::MAX);
    if !offset.is_multiple_of(dtype.size() as u64) {
        return Err(
            format!("requires an offset that is a multiple of {} bytes, the size of an element", dtype.size()).into()
        );
    }
    let end = size_in_bytes(&m.ctx, ty).and_then(|size| offset.checked_add(size));
    match (end, size_in_bytes(&m.ctx, arena)) {
        (Some(end), Some(size)) if end <= size => Ok(()),
        (end, Some(size)) => {
            let end = end.map_or("more bytes than 64 bits can count".to_owned(), |end| format!("byte {end}"));
            Err(format!("ends at {end} of an arena of {size} bytes").into())
        }
        _ => Err("requires an arena of static size".into()),
    }
}

fn place(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let sizes = ctx.static_shape(ty).ok_or_else(|| Trap::unsupported("a buffer of unknown size"))?;
    let dtype = ctx.dtype(ctx.element_type(ty)).ok_or_else(|| Trap::unsupported("elements without a size"))?;
    let arena = data[0].memref()?;
    let mut view = MemRef::row_major(arena.buffer, sizes);
    view.bytes = Some(ByteView { start: arena.offset.wrapping_add(args.int("offset").unwrap_or(0)), dtype });
    Ok(vec![Datum::MemRef(Box::new(view))])
}

fn verify_step(m: &Module, op: Op) -> Result<(), Violation> {
    let this = StepOp(op);
    let Some(block) = m.entry(this.body(m)) else { return Err("requires a region with a block".into()) };
    let args: Vec<Value> = m.block_args(block).to_vec();
    check_types(m, ["argument", "read"], &args, &this.reads(m))?;
    let end = m.last_op(block).filter(|&end| YieldOp::cast(m, end).is_some());
    let end = end.ok_or("requires a region that ends in 'sched.yield'")?;
    check_types(m, ["yielded tensor", "write"], m.operands(end), &this.writes(m))?;
    for inner in m.ops_under(op).into_iter().filter(|&inner| inner != op) {
        if !is_memory_free(m, inner) {
            return Err(format!("requires a region without memory effects, but has '{}'", m.name_text(inner)).into());
        }
        let is_captured = |&&v: &&Value| {
            let block = match m.def(v) {
                Def::Result(def, _) => m.parent_block(def),
                Def::Arg(block, _) => Some(block),
            };
            !block.and_then(|b| m.block_op(b)).is_some_and(|around| around == op || m.is_inside(around, op))
        };
        if m.operands(inner).iter().filter(is_captured).any(|&v| m.constant(v).is_none()) {
            let name = m.name_text(inner);
            return Err(format!("'{name}' uses a value from outside the step that is neither read nor constant").into());
        }
    }
    Ok(())
}

/// Checks that tensors have the shapes and elements of memrefs.
fn check_types(m: &Module, [what, of]: [&str; 2], tensors: &[Value], memrefs: &[Value]) -> Result<(), Violation> {
    if tensors.len() != memrefs.len() {
        return Err(format!("has {} {of}s, but its region has {} {what}s", memrefs.len(), tensors.len()).into());
    }
    for (i, (&tensor, &memref)) in tensors.iter().zip(memrefs).enumerate() {
        let (have, want) = (m.value_type(tensor), contents_type(&m.ctx, m.value_type(memref)));
        if Some(have) != want {
            let want = want.map_or("a tensor of its shape".to_owned(), |ty| m.ctx.display_type(ty).to_string());
            return Err(format!("{what} {i} is {}, but {of} {i} has {want}", m.ctx.display_type(have)).into());
        }
    }
    Ok(())
}

fn run_step(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>, memory: &mut Memory) -> Result<Next, Trap> {
    match event {
        Event::Enter => {
            let read = |i: usize| {
                let dtype = args.ctx().dtype(args.ctx().element_type(args.operand_type(i)));
                let dtype = dtype.ok_or_else(|| Trap::unsupported("a tensor of elements of this type"))?;
                memory.load_tensor(data[i].memref()?, dtype)
            };
            Ok(Next::Region(0, args.operand_range("reads").map(read).collect::<Result<_, Trap>>()?))
        }
        Event::Left { yielded, .. } => {
            for (tensor, to) in yielded.iter().zip(&data[args.operand_range("writes")]) {
                memory.store_tensor(tensor, to.memref()?)?;
            }
            Ok(Next::Done(Vec::new()))
        }
    }
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "sched",
    doc: "Schedules: arenas, buffers at offsets, steps that read and write them, and transfers.",
    ops: &[
        ArenaOp::INFO,
        BufferOp::INFO,
        StepOp::INFO,
        ToBufferOp::INFO,
        ToTensorOp::INFO,
        TransferOp::INFO,
        WaitOp::INFO,
        LaunchOp::INFO,
        YieldOp::INFO,
    ],
    types: &[TokenType::INFO],
    ..Dialect::DEFAULT
};
