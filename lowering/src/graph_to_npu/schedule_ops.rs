//! Steps as ops, and steps of ops.

use super::steps::{Held, Steps, Stream};
use gradus_ir::{Attr, Block, Builder, Loc, Module, Op, OpDecl, OpState, Signedness, Type, Value, Violation};
use gradus_machines::npu::schedule::{ConstantsOp, StepOp, TileOp, range_attr, range_of};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Writes steps at the end of a block. `sources` has location and name of each layer.
pub fn write(b: &mut Builder<'_>, steps: &Steps, with_places: bool, sources: &[(Loc, Option<Attr>)]) {
    let mut values: Vec<Value> = Vec::with_capacity(steps.streams.len());
    for step in &steps.steps {
        let parts = [step.input, step.weights, step.sum, step.output].map(|part| part.stream());
        let last = parts.into_iter().flatten().chain([step.constants]).max().unwrap_or(0);
        while values.len() <= last {
            let value = write_stream(b, &steps.streams[values.len()], with_places, sources[step.layer].0);
            values.push(value);
        }
        let (ctx, (loc, name)) = (b.module.ctx.clone(), sources[step.layer]);
        let int = |n: usize| Some(ctx.int_attr(Type::I64, n as i64));
        let mut state = OpState::new(&ctx, StepOp::INFO.name, loc);
        state.inherent(&ctx, "layer", int(step.layer));
        state.inherent(&ctx, "name", name);
        state.inherent(&ctx, "slot", int(step.slot));
        state.inherent(&ctx, "rows", Some(range_attr(&ctx, step.row..step.row + step.rows)));
        state.inherent(&ctx, "kernels", Some(range_attr(&ctx, step.kernel..step.kernel + step.kernels)));
        state.operand_group(&[values[step.constants]]);
        parts
            .iter()
            .for_each(|part| state.operand_group(&part.map(|stream| values[stream]).into_iter().collect::<Vec<_>>()));
        b.create(state);
    }
}

/// Writes a stream. Returns its buffer.
fn write_stream(b: &mut Builder<'_>, stream: &Stream, with_places: bool, loc: Loc) -> Value {
    let ctx = b.module.ctx.clone();
    let int = |n: usize| Some(ctx.int_attr(Type::I64, n as i64));
    let mut state = match &stream.holds {
        Held::Constants { layer, kernels } => {
            let mut state = OpState::new(&ctx, ConstantsOp::INFO.name, loc);
            state.inherent(&ctx, "layer", int(*layer));
            state.inherent(&ctx, "kernels", Some(range_attr(&ctx, kernels.clone())));
            state
        }
        Held::Tile((feature, rows, channels)) => {
            let mut state = OpState::new(&ctx, TileOp::INFO.name, loc);
            let range = |&(first, count): &(usize, usize)| Some(range_attr(&ctx, first..first + count));
            state.inherent(&ctx, "feature", int(*feature));
            state.inherent(&ctx, "load", stream.load.map(|_| Attr::UNIT));
            state.inherent(&ctx, "store", stream.store.map(|_| Attr::UNIT));
            state.inherent(&ctx, "rows", range(rows));
            state.inherent(&ctx, "channels", range(channels));
            state
        }
    };
    if with_places {
        state.inherent(&ctx, "at", int(stream.place));
        let slots: Vec<i64> = stream.issues.iter().map(|&slot| slot as i64).collect();
        state.inherent(&ctx, "slots", (!slots.is_empty()).then(|| ctx.i64_array_attr(&slots)));
    }
    let byte = ctx.int_type(8, Signedness::Signless);
    state.result_types.push(ctx.memref_type(&[stream.bytes as i64], byte, None, None));
    let op = b.create(state);
    b.module.result(op, 0)
}

/// A buffer of a schedule.
pub struct BufferEntry {
    /// The op.
    pub op: Op,
    /// Its contents.
    pub holds: Held,
    /// Whether it is loaded, and whether it is stored.
    pub access: [bool; 2],
    /// First byte in SRAM.
    pub at: Option<usize>,
    /// The slots of the parts of its load.
    pub slots: Vec<usize>,
}

/// A step of a schedule.
pub struct StepEntry {
    /// The op.
    pub op: Op,
    /// The layer.
    pub layer: usize,
    /// The slot of its convolution.
    pub slot: usize,
    /// Rows of the result.
    pub rows: Range<usize>,
    /// Kernels.
    pub kernels: Range<usize>,
    /// The buffer of its constants.
    pub constants: usize,
    /// The buffers of input, weights, sum and output.
    pub parts: [Option<usize>; 4],
}

/// A buffer or a step.
pub enum Entry {
    /// A buffer, by number.
    Buffer(usize),
    /// A step.
    Step(StepEntry),
}

/// The ops of a schedule.
pub struct ScheduleOps {
    /// Buffers.
    pub buffers: Vec<BufferEntry>,
    /// Buffers and steps, in order.
    pub entries: Vec<Entry>,
}

impl ScheduleOps {
    /// Reads the ops of a schedule.
    ///
    /// # Errors
    /// An op that is not one of a schedule, and the rule.
    pub fn read(m: &Module, block: Block) -> Result<ScheduleOps, (Op, Violation)> {
        let mut out = ScheduleOps { buffers: Vec::new(), entries: Vec::new() };
        let mut known: FxHashMap<Value, usize> = FxHashMap::default();
        for op in m.block_ops(block) {
            let entry = out.entry(m, op, &mut known).map_err(|why| (op, why))?;
            out.entries.push(entry);
        }
        Ok(out)
    }

    fn entry(&mut self, m: &Module, op: Op, known: &mut FxHashMap<Value, usize>) -> Result<Entry, Violation> {
        let int = |name: &str| m.inherent_attr(op, name).and_then(|a| m.ctx.as_int(a));
        let small = |n: i64| u32::try_from(n).map(|n| n as usize).ok();
        let index = |name: &str| int(name).and_then(small).ok_or("requires a number from 0");
        let range = |name: &str| range_of(m, op, name);
        if StepOp::cast(m, op).is_some() {
            let buffer = |value: &Value| known.get(value).copied().ok_or("requires buffers of the schedule");
            let group = |group: usize| m.operand_group(op, group).iter().map(buffer).next().transpose();
            let parts = [group(1)?, group(2)?, group(3)?, group(4)?];
            let constants = group(0)?.ok_or("requires constants")?;
            let (rows, kernels) = (range("rows")?, range("kernels")?);
            let step = StepEntry { op, layer: index("layer")?, slot: index("slot")?, rows, kernels, constants, parts };
            return Ok(Entry::Step(step));
        }
        let holds = if ConstantsOp::cast(m, op).is_some() {
            Held::Constants { layer: index("layer")?, kernels: range("kernels")? }
        } else if TileOp::cast(m, op).is_some() {
            let counted = |range: Range<usize>| (range.start, range.len());
            Held::Tile((index("feature")?, counted(range("rows")?), counted(range("channels")?)))
        } else {
            return Err("is no op of a schedule of the npu".into());
        };
        let slots = m.inherent_attr(op, "slots").and_then(|a| m.ctx.as_ints(a)).unwrap_or_default();
        let slots = slots.into_iter().map(small).collect::<Option<_>>().ok_or("requires slots from 0")?;
        let at = int("at").map(|at| small(at).ok_or("requires a first byte from 0")).transpose()?;
        let access = ["load", "store"].map(|name| m.inherent_attr(op, name).is_some());
        self.buffers.push(BufferEntry { op, holds, access, at, slots });
        known.insert(m.result(op, 0), self.buffers.len() - 1);
        Ok(Entry::Buffer(self.buffers.len() - 1))
    }

    /// Whether all buffers have places.
    pub fn is_placed(&self) -> bool {
        self.buffers.iter().all(|buffer| buffer.at.is_some())
    }
}
