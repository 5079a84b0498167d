//! `plan-memory`: places the buffers of schedules in an arena.

use crate::sched::{
    ArenaOp, BufferOp, BufferView, StepOp, accesses, is_access, is_view, may_be_in_place, placeable, root,
    size_in_bytes,
};
use gradus_dialects::memref::AllocOp;
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::{
    Attr, Block, Builder, Context, DType, Diagnostic, InsertPoint, Module, Op, OpDecl, OpState, Pass, PassContext,
    PassInfo, Traits, Type, Value,
};
use gradus_plan::{Budget, Buffer, Plan, Pool, Problem, plan};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::ops::ControlFlow;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "plan-memory",
    doc: "Place the buffers of schedules in an arena

# Before / After

```mlir
%a = memref.alloc() : memref<4x8xf32>
%b = memref.alloc() : memref<4x8xf32>
sched.step reads(%x : memref<4x8xf32>) writes(%a : memref<4x8xf32>) { ... }
sched.step reads(%a : memref<4x8xf32>) writes(%b : memref<4x8xf32>) { ... }   // becomes:

%host = sched.arena \"host\" : memref<256xi8>
%a = sched.buffer %host[0] : memref<256xi8> to memref<4x8xf32>
%b = sched.buffer %host[128] : memref<256xi8> to memref<4x8xf32>
...
```

# Does

The pass places the buffers of one memory: those whose memory space is the string `arena`, or none for `host`. A buffer lives from its
first to its last access by a step, copy, launch or transfer; a transfer ends at its wait. Buffers that live at the same time get disjoint
bytes. With `in-place` the result of an elementwise step gets the bytes of an input of the same shape that no later step reads. The planner
begins with several orders of first fit and searches on within its budget; the same schedule gets the same offsets on every machine.

# Refuses

Buffers with other uses, such as those whose elements a function returns, and those of other memories are left as they are. So are
buffers of which bytes are read before they are written, or are read and overwritten by one op that is not elementwise. With `capacity`, it is an error if no plan that fits is found.

# Cost

Linear in the number of accesses, and the planner's budget: 300,000 steps and 2,000 for each buffer.",
    options: &[
        PassOption { name: "arena", doc: "Name of the arena and memory space of its buffers", kind: OptionKind::Text(HOST) },
        PassOption { name: "alignment", doc: "Divisor of all offsets, in bytes; so is the size of a buffer's elements", kind: OptionKind::Int(64) },
        PassOption { name: "in-place", doc: "Write results of elementwise steps to the bytes of an input", kind: OptionKind::Bool(true) },
        PassOption { name: "capacity", doc: "Largest size of the arena in bytes; 0 for any", kind: OptionKind::Int(0) },
    ],
    statistics: &[
        ("num-buffers", "Number of buffers placed"),
        ("num-in-place", "Number of buffers that take the bytes of an input"),
        ("arena-bytes", "Size of the arenas in bytes"),
        ("lower-bound-bytes", "Largest sum of sizes of buffers live at the same time"),
        ("unshared-bytes", "Sum of sizes of all buffers"),
    ],
    rewrites: Rewrites::Tags(&["place-buffers", "join-in-place"]),
    samples: &[
        ("capacity", |_| ["4096", "65536"].map(str::to_owned).into()),
    ],
    make: |options| {
        let number = |name: &str, at_least: i64| {
            let found = options.int(name);
            u64::try_from(found).ok().filter(|_| found >= at_least && found <= 1 << 40).ok_or_else(|| {
                format!("'{name}' is a number of bytes from {at_least} to 2^40, not {found}")
            })
        };
        let (alignment, capacity) = (number("alignment", 1)?, number("capacity", 0)?);
        let (arena, in_place) = (options.text("arena").to_owned(), options.bool("in-place"));
        Ok(Box::new(PlanMemory { arena, alignment, in_place, capacity }))
    },
    ..PassInfo::DEFAULT
};

/// The arena of buffers without a memory space.
const HOST: &str = "host";

struct PlanMemory {
    arena: String,
    alignment: u64,
    in_place: bool,
    /// Bytes; 0 for any.
    capacity: u64,
}

/// Steps of planning, about 3 ms. With [`STEPS_PER_BUFFER`] they suffice for every fixed order of 1,800 buffers.
const STEPS: u64 = 300_000;
/// Further steps for each buffer.
const STEPS_PER_BUFFER: u64 = 2_000;

/// The lifetime of an allocation, from the first access to the end, and its number in the plan: that of the allocation whose
/// bytes it takes, or a new one.
struct Life {
    start: i64,
    end: i64,
    place: usize,
}

/// Lifetimes of allocations, by the allocated memref in the order of first accesses.
type Lifetimes = IndexMap<Value, Life, FxBuildHasher>;

impl Pass for PlanMemory {
    fn run(&mut self, m: &mut Module, top: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for function in m.ops_under(top).into_iter().filter(|&op| m.has_trait(op, Traits::FUNCTION)).collect::<Vec<_>>()
        {
            let blocks = m.regions(function).iter().flat_map(|&region| m.region_blocks(region)).collect::<Vec<_>>();
            for block in blocks {
                let mut lifetimes = lifetimes(m, block, self.space(&m.ctx));
                if self.in_place {
                    join_in_place(m, block, &mut lifetimes, cx);
                }
                if !lifetimes.is_empty() && cx.allows("place-buffers", m, function) {
                    self.place(m, block, &lifetimes, cx)?;
                }
            }
        }
        Ok(())
    }
}

impl PlanMemory {
    /// Returns the memory space of the buffers.
    fn space(&self, ctx: &Context) -> Option<Attr> {
        (self.arena != HOST).then(|| ctx.string_attr(&self.arena))
    }

    fn place(
        &self,
        m: &mut Module,
        block: Block,
        lifetimes: &Lifetimes,
        cx: &mut PassContext<'_>,
    ) -> Result<(), Diagnostic> {
        let first = m.first_op(block).map_or(gradus_ir::Loc::UNKNOWN, |op| m.loc(op));
        let plan = self.plan(m, lifetimes).map_err(|message| Diagnostic::error(first, message))?;
        let size = plan.peak().next_multiple_of(self.alignment);
        let ty = m.ctx.memref_type(&[size as i64], Type::I8, None, self.space(&m.ctx));
        let mut state = OpState::new(&m.ctx, ArenaOp::INFO.name, first);
        state.inherent(&m.ctx, "name", Some(m.ctx.string_attr(&self.arena)));
        state.result_types.push(ty);
        let arena = Builder::at(m, InsertPoint::Start(block)).create(state);
        let arena = m.result(arena, 0);
        let sizes = lifetimes.keys().filter_map(|&buffer| size_in_bytes(&m.ctx, m.value_type(buffer)));
        let counts = [
            ("num-buffers", lifetimes.len() as u64),
            ("arena-bytes", size),
            ("lower-bound-bytes", plan.lower_bound()),
            ("unshared-bytes", sizes.sum()),
        ];
        for (name, count) in counts {
            cx.count(name, count);
        }
        for (&allocated, life) in lifetimes {
            let (Some(op), offset) = (m.defining_op(allocated), plan.offsets[life.place]) else { continue };
            let mut state = OpState::new(&m.ctx, BufferOp::INFO.name, m.loc(op));
            state.operands.push(arena);
            state.inherent(&m.ctx, "offset", Some(m.ctx.int_attr(Type::I64, offset as i64)));
            state.result_types.push(m.value_type(allocated));
            let buffer = Builder::before(m, op).create(state);
            let buffer = m.result(buffer, 0);
            m.replace_all_uses(allocated, buffer);
            m.erase_op(op);
        }
        Ok(())
    }

    /// Plans the offsets of buffers.
    fn plan(&self, m: &Module, lifetimes: &Lifetimes) -> Result<Plan, String> {
        let mut buffers: Vec<Buffer> = Vec::with_capacity(lifetimes.len());
        for (&value, life) in lifetimes {
            let bytes = size_in_bytes(&m.ctx, m.value_type(value)).unwrap_or(0);
            let bytes = bytes.checked_next_multiple_of(self.alignment).unwrap_or(u64::MAX);
            let element = m.ctx.dtype(m.ctx.element_type(m.value_type(value))).map_or(1, DType::size) as u64;
            match buffers.get_mut(life.place) {
                Some(buffer) => (buffer.end, buffer.alignment) = (life.end, common_multiple(buffer.alignment, element)),
                None => {
                    let alignment = common_multiple(self.alignment, element);
                    buffers.push(Buffer { alignment, ..Buffer::new(life.start, life.end, bytes) });
                }
            }
        }
        let pool = Pool { capacity: (self.capacity > 0).then_some(self.capacity) };
        let problem = Problem::new(buffers, vec![pool], Vec::new());
        let problem = problem.map_err(|error| error.to_string())?;
        let budget = Budget::steps(STEPS + STEPS_PER_BUFFER * lifetimes.len() as u64);
        plan(&problem, budget, &mut |_| ControlFlow::Continue(())).map_err(|error| {
            format!("the buffers do not fit into arena '{}' of {} bytes: {error}", self.arena, self.capacity)
        })
    }
}

/// Returns the least common multiple of an alignment and the size of an element.
fn common_multiple(alignment: u64, element: u64) -> u64 {
    (1..=element).map(|n| n * alignment).find(|n| n.is_multiple_of(element)).unwrap_or(alignment)
}

/// Returns the lifetimes of the allocations of a block in a memory space that only ops of its schedule access, counted in such ops.
fn lifetimes(m: &Module, block: Block, space: Option<Attr>) -> Lifetimes {
    let mut all = Lifetimes::default();
    for (at, op) in (0..).zip(m.block_ops(block).filter(|&op| is_access(m, op))) {
        for value in accesses(m, op).into_iter().flatten().flatten() {
            all.entry(root(m, value)).or_insert(Life { start: at, end: at, place: 0 }).end = at + 1;
        }
    }
    all.retain(|&value, _| {
        let is_plain = |op: Op| AllocOp::cast(m, op).is_some() && size_in_bytes(&m.ctx, m.value_type(value)).is_some();
        let is_allocated = m.defining_op(value).is_some_and(|op| is_plain(op) && m.parent_block(op) == Some(block));
        let ty = m.value_type(value);
        is_allocated
            && m.ctx.memory_space(ty) == space
            && m.ctx.has_identity_layout(ty)
            && only_accessed(m, value, block)
    });
    let placeable = placeable(m, block, all.keys().copied());
    all.retain(|value, _| placeable.contains(value));
    all.values_mut().enumerate().for_each(|(i, life)| life.place = i);
    all
}

/// Gives the results of elementwise steps the places of inputs whose last access these steps are, and numbers the places
/// anew. Both then count as one buffer, which is live from the input's first access to the result's last.
fn join_in_place(m: &Module, block: Block, lifetimes: &mut Lifetimes, cx: &mut PassContext<'_>) {
    let mut inputs = vec![None; lifetimes.len()];
    for (at, op) in (0..).zip(m.block_ops(block).filter(|&op| is_access(m, op))) {
        if let Some((input, result)) = in_place(m, op, at, lifetimes)
            && cx.allows("join-in-place", m, op)
        {
            inputs[result] = Some(input);
        }
    }
    // An input is accessed before its result, so it has its number already.
    let mut places: Vec<usize> = Vec::with_capacity(inputs.len());
    let mut count = 0;
    for input in &inputs {
        places.push(input.map_or(count, |input: usize| places[input]));
        count += usize::from(input.is_none());
    }
    lifetimes.values_mut().zip(places).for_each(|(life, place)| life.place = place);
    cx.count("num-in-place", (inputs.len() - count) as u64);
}

/// Returns the numbers of the buffer that a step, the access `at`, reads for the last time, and of the one that it writes first to
/// the same bytes.
fn in_place(m: &Module, op: Op, at: i64, lifetimes: &Lifetimes) -> Option<(usize, usize)> {
    let step = StepOp::cast(m, op)?;
    let (reads, writes) = (step.reads(m), step.writes(m));
    let &[write] = &writes[..] else { return None };
    let write = BufferView::of(m, write)?;
    let (result, ..) = lifetimes.get_full(&write.root).filter(|(.., life)| life.start == at)?;
    let bytes = |v: Value| size_in_bytes(&m.ctx, m.value_type(v));
    reads.iter().find_map(|&value| {
        let read = BufferView::of(m, value)?;
        let (input, ..) = lifetimes.get_full(&read.root).filter(|(.., life)| life.end == at + 1)?;
        let is_only = reads.iter().all(|&other| other == value || root(m, other) != read.root);
        let is_same = read.layout.offset == write.layout.offset && bytes(read.root) == bytes(write.root);
        (is_only && is_same && input != result && may_be_in_place(m, op, &read, &write)).then_some((input, result))
    })
}

/// Whether the ops of a block's schedule are the only users of a memref and of its views.
fn only_accessed(m: &Module, memref: Value, block: Block) -> bool {
    let mut views = vec![memref];
    while let Some(view) = views.pop() {
        for (user, _) in m.uses(view) {
            match is_view(m, user) {
                true => views.extend(m.results(user)),
                false if is_access(m, user) && m.parent_block(user) == Some(block) => {}
                false => return false,
            }
        }
    }
    true
}
