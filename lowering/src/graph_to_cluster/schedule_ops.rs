//! Schedules as ops, and schedules of ops: whether the network and the machine allow them.

use super::memory::{Buf, BufferPlacement, Item};
use super::network::{LayerId, Network};
use super::region::Region;
use super::schedule::{Choices, ConstantUnit, FeatureInstance, Schedule, Slice, TileTask, schedule};
use super::schedule_check::ScheduleCheck;
use gradus_ir::{
    Attr, Block, Builder, Context, Loc, Module, Op, OpDecl, OpState, Refusal, Signedness, Type, Value, Violation,
};
use gradus_machines::cluster::schedule::{
    ClusterBox, FeatureOp, ParametersOp, TaskOp, boxes, boxes_attr, units, units_attr,
};
use gradus_simulators::cluster::ClusterMachine;
use rustc_hash::FxHashMap;

/// A schedule with its ops.
pub struct ScheduleOps {
    /// The schedule. Bytes are known after its check.
    schedule: Schedule,
    /// The offset of each instance, then of each slice; `None` if they have none.
    offsets: Option<Vec<u32>>,
    /// The reads that begin before each task, in order.
    reads: Vec<Vec<Item>>,
    /// The op of each task, and of each instance and slice.
    tasks: Vec<Op>,
    buffers: Vec<Op>,
}

/// Writes a schedule at the end of a block, with places if there are some. `sources` has location and name of each layer.
pub fn write(
    b: &mut Builder<'_>,
    schedule: &Schedule,
    memory: Option<&BufferPlacement>,
    sources: &[(Loc, Option<Attr>)],
) {
    let count = schedule.instances.len();
    let mut writer = TaskWriter { b, schedule, memory, sources, buffers: vec![None; count + schedule.slices.len()] };
    for (at, task) in schedule.steps.iter().enumerate() {
        if let Some(memory) = memory {
            memory.reads[at].iter().for_each(|&item| {
                writer.buffer(index_of(item, count));
            });
        }
        writer.task(task);
    }
}

/// The number of a buffer: instances come first.
fn index_of(item: Item, instances: usize) -> usize {
    match item {
        Item::Instance(i) => i,
        Item::Slice(s) => instances + s,
    }
}

struct TaskWriter<'a, 'b, 'm> {
    b: &'b mut Builder<'m>,
    schedule: &'a Schedule,
    memory: Option<&'a BufferPlacement>,
    sources: &'a [(Loc, Option<Attr>)],
    buffers: Vec<Option<Value>>,
}

impl TaskWriter<'_, '_, '_> {
    /// Returns a buffer, which is written before its first use.
    fn buffer(&mut self, index: usize) -> Value {
        if let Some(known) = self.buffers[index] {
            return known;
        }
        let ctx = self.b.module.ctx.clone();
        let int = |n: usize| Some(ctx.int_attr(Type::I64, n as i64));
        let schedule = self.schedule;
        let users = schedule.steps.iter().find(|task| buffers_of(schedule, task).any(|buffer| buffer == index));
        let loc = users.map_or(Loc::UNKNOWN, |task| self.sources[task.layer].0);
        let (mut state, bytes) = match index.checked_sub(schedule.instances.len()) {
            None => {
                let instance = &schedule.instances[index];
                let mut state = OpState::new(&ctx, FeatureOp::INFO.name, loc);
                state.inherent(&ctx, "feature", int(instance.root));
                state.inherent(&ctx, "read", instance.is_loaded.then_some(Attr::UNIT));
                state.inherent(&ctx, "stored", Some(regions_attr(&ctx, &instance.stored)));
                let is_other = instance.needs != instance.stored;
                state.inherent(&ctx, "needed", is_other.then(|| regions_attr(&ctx, &instance.needs)));
                (state, instance.bytes)
            }
            Some(slice) => {
                let slice = &schedule.slices[slice];
                let mut state = OpState::new(&ctx, ParametersOp::INFO.name, loc);
                state.inherent(&ctx, "layer", int(slice.layer));
                let units = slice.units.iter().map(|unit| (unit.channels.clone(), unit.clusters));
                state.inherent(&ctx, "units", Some(units_attr(&ctx, units)));
                (state, slice.bytes())
            }
        };
        state.inherent(&ctx, "at", self.memory.and_then(|memory| int(memory.bufs[index].offset as usize)));
        state.result_types.push(ctx.memref_type(&[bytes.into()], ctx.int_type(8, Signedness::Signless), None, None));
        let op = self.b.create(state);
        let value = self.b.module.result(op, 0);
        self.buffers[index] = Some(value);
        value
    }

    fn task(&mut self, task: &TileTask) {
        // In the order of their numbers, which is that of the planner's buffers.
        let mut used: Vec<usize> = buffers_of(self.schedule, task).collect();
        used.sort_unstable();
        used.into_iter().for_each(|index| {
            self.buffer(index);
        });
        let ctx = self.b.module.ctx.clone();
        let (loc, name) = self.sources[task.layer];
        let mut state = OpState::new(&ctx, TaskOp::INFO.name, loc);
        state.inherent(&ctx, "layer", Some(ctx.int_attr(Type::I64, task.layer as i64)));
        state.inherent(&ctx, "name", name);
        state.inherent(&ctx, "boxes", Some(regions_attr(&ctx, &task.boxes)));
        state.inherent(&ctx, "ready", (task.ready != task.boxes).then(|| regions_attr(&ctx, &task.ready)));
        let is_saved = task.saved.iter().any(|b| !b.is_empty());
        state.inherent(&ctx, "saved", is_saved.then(|| regions_attr(&ctx, &task.saved)));
        let reads = buffers_of(self.schedule, task).skip(1).filter_map(|index| self.buffers[index]);
        state.operands.extend(reads.chain(self.buffers[task.output]));
        self.b.create(state);
    }
}

/// The buffers of a task: output, input, operands of stages, constants.
fn buffers_of<'a>(schedule: &'a Schedule, task: &'a TileTask) -> impl Iterator<Item = usize> + 'a {
    let features = [task.output, task.input].into_iter().chain(task.others.iter().copied());
    features.chain(task.slice.map(|slice| schedule.instances.len() + slice))
}

/// Returns the attribute of a region of each cluster.
fn regions_attr(ctx: &Context, regions: &[Region]) -> Attr {
    let to_box = |region: &Region| match region.is_empty() {
        true => ClusterBox::default(),
        false => std::array::from_fn(|i| [region.lo[i], region.hi[i]]),
    };
    let is_none = regions.iter().all(Region::is_empty);
    boxes_attr(ctx, regions.iter().filter(|_| !is_none).map(to_box))
}

/// Reads the ops of a schedule.
///
/// # Errors
/// An op that is not one of a schedule, and the rule.
pub fn read(m: &Module, block: Block) -> Result<ScheduleOps, (Op, Violation)> {
    let mut reader = TaskReader::default();
    for op in m.block_ops(block) {
        reader.read(m, op).map_err(|why| (op, why))?;
    }
    Ok(reader.finish())
}

#[derive(Default)]
struct TaskReader {
    out: Schedule,
    /// The instance or slice of each buffer.
    items: FxHashMap<Value, Item>,
    offsets: [Vec<Option<u32>>; 2],
    reads: Vec<Vec<Item>>,
    tasks: Vec<Op>,
    buffers: [Vec<Op>; 2],
}

impl TaskReader {
    fn read(&mut self, m: &Module, op: Op) -> Result<(), Violation> {
        let int = |name: &str| m.inherent_attr(op, name).and_then(|a| m.ctx.as_int(a));
        let index = |name: &str| int(name).and_then(|n| usize::try_from(n).ok()).ok_or("requires a number from 0");
        let steps = [usize::MAX, 0];
        if TaskOp::cast(m, op).is_some() {
            return self.task(m, op, index("layer")?);
        }
        let item = if FeatureOp::cast(m, op).is_some() {
            let stored = regions(m, op, "stored", &[])?;
            let needs = regions(m, op, "needed", &stored)?;
            let is_loaded = m.inherent_attr(op, "read").is_some();
            let root = index("feature")?;
            let instance = FeatureInstance { root, needs, stored, steps, is_loaded, available: 0, bytes: 0 };
            self.out.instances.push(instance);
            Item::Instance(self.out.instances.len() - 1)
        } else if ParametersOp::cast(m, op).is_some() {
            let unit = |(channels, clusters)| ConstantUnit { channels, clusters, bytes: 0 };
            let units = units(m, op)?.into_iter().map(unit).collect();
            self.out.slices.push(Slice { layer: index("layer")?, units, steps });
            Item::Slice(self.out.slices.len() - 1)
        } else {
            return Err("is no op of a schedule of clusters".into());
        };
        let kind = usize::from(matches!(item, Item::Slice(_)));
        let at = int("at").map(|n| u32::try_from(n).map_err(|_| "requires a first byte of 32 bits"));
        self.offsets[kind].push(at.transpose()?);
        self.buffers[kind].push(op);
        let is_read = kind == 1 || self.out.instances.last().is_some_and(|instance| instance.is_loaded);
        self.reads.resize_with(self.out.steps.len() + 1, Vec::new);
        if is_read {
            self.reads[self.out.steps.len()].push(item);
        }
        self.items.insert(m.result(op, 0), item);
        Ok(())
    }

    fn task(&mut self, m: &Module, op: Op, layer: LayerId) -> Result<(), Violation> {
        let (at, count) = (self.out.steps.len(), m.operands(op).len());
        let (mut instances, mut slice) = (Vec::new(), None);
        for (i, value) in m.operands(op).iter().enumerate() {
            let item = *self.items.get(value).ok_or("requires buffers of the schedule")?;
            let steps = match item {
                Item::Instance(id) => {
                    instances.push(id);
                    &mut self.out.instances[id].steps
                }
                Item::Slice(id) if slice.is_none() && i + 2 == count => {
                    slice = Some(id);
                    &mut self.out.slices[id].steps
                }
                Item::Slice(_) => return Err("requires constants as the last of what it reads".into()),
            };
            *steps = [steps[0].min(at), at];
        }
        let output = instances.pop().ok_or("requires a feature that it writes")?;
        if instances.is_empty() {
            return Err("requires a feature that it reads".into());
        }
        let boxes = regions(m, op, "boxes", &[])?;
        let ready = regions(m, op, "ready", &boxes)?;
        let saved = regions(m, op, "saved", &vec![Region::default(); boxes.len()])?;
        let (input, others) = (instances[0], instances.split_off(1));
        self.out.steps.push(TileTask { layer, boxes, input, output, others, slice, ready, saved });
        self.tasks.push(op);
        Ok(())
    }

    fn finish(mut self) -> ScheduleOps {
        for i in 0..self.out.instances.len() {
            let (root, first) = (self.out.instances[i].root, self.out.instances[i].steps[0]);
            let saves = |task: &TileTask| {
                self.out.instances[task.output].root == root && task.saved.iter().any(|b| !b.is_empty())
            };
            let before = &self.out.steps[..first.min(self.out.steps.len())];
            let available = before.iter().rposition(saves).map_or(0, |at| at + 1);
            self.out.instances[i].available = available;
        }
        self.reads.resize_with(self.out.steps.len(), Vec::new);
        let offsets = self.offsets.concat().into_iter().collect();
        ScheduleOps {
            schedule: self.out,
            offsets,
            reads: self.reads,
            tasks: self.tasks,
            buffers: self.buffers.concat(),
        }
    }
}

/// Returns a region of each cluster, those of `default` without an attribute.
fn regions(m: &Module, op: Op, name: &str, default: &[Region]) -> Result<Vec<Region>, Violation> {
    let region = |b: ClusterBox| Region { lo: b.map(|axis| axis[0]), hi: b.map(|axis| axis[1]) };
    Ok(match boxes(m, op, name)? {
        None => default.to_vec(),
        Some(list) if list.is_empty() => vec![Region::default(); default.len()],
        Some(list) => list.into_iter().map(region).collect(),
    })
}

impl ScheduleOps {
    /// Returns the schedule for a network on a machine, and the places if its ops have them.
    ///
    /// # Errors
    /// An op that the network or the machine does not allow, and the rule.
    pub fn check(
        mut self,
        net: &Network,
        machine: &ClusterMachine,
        choices: &Choices,
    ) -> Result<(Schedule, Option<BufferPlacement>), (Op, Refusal)> {
        let count = self.schedule.instances.len();
        let mut check = ScheduleCheck::new(net, machine.clusters as usize, count);
        for (i, instance) in self.schedule.instances.iter_mut().enumerate() {
            check.instance(instance).map_err(|why| (self.buffers[i], why))?;
        }
        for (s, slice) in self.schedule.slices.iter_mut().enumerate() {
            check.slice(slice).map_err(|why| (self.buffers[count + s], why))?;
        }
        for (task, &op) in self.schedule.steps.iter().zip(&self.tasks) {
            check.task(&self.schedule, task).map_err(|why| (op, why))?;
        }
        if let Some(&last) = self.tasks.last() {
            check.results().map_err(|why| (last, why))?;
        }
        self.check_divisions(&schedule(net, choices, machine))?;
        let memory = self.place(machine)?;
        Ok((self.schedule, memory))
    }

    /// Checks that the tasks of each layer compute the boxes that they have by the choices for it, in any order.
    fn check_divisions(&self, by_choices: &Schedule) -> Result<(), (Op, Refusal)> {
        let mut expected = by_choices.steps.iter().map(|task| (task.layer, &task.boxes)).collect::<Vec<_>>();
        let is_same = |a: &Region, b: &Region| a == b || a.is_empty() && b.is_empty();
        for (task, &op) in self.schedule.steps.iter().zip(&self.tasks) {
            let of_layer = |(layer, _): &&(LayerId, &Vec<Region>)| *layer == task.layer;
            let found = expected.iter().position(|(layer, boxes)| {
                *layer == task.layer && boxes.iter().zip(&task.boxes).all(|(a, b)| is_same(a, b))
            });
            if let Some(found) = found {
                expected.remove(found);
                continue;
            }
            let Some((_, boxes)) = expected.iter().find(of_layer) else {
                let rule = "a task more than by '#cluster.split' and '#cluster.reads', the choices for its layer";
                return Err((op, rule.into()));
            };
            let other = |c: &usize| !is_same(&boxes[*c], &task.boxes[*c]);
            let cluster = (0..boxes.len()).find(other).unwrap_or(0);
            let (own, chosen) = (&task.boxes[cluster], &boxes[cluster]);
            let axis = (0..3).find(|&axis| [own.lo[axis], own.hi[axis]] != [chosen.lo[axis], chosen.hi[axis]]);
            let rule = [
                "cluster {} computes rows {} to {}, not those of '#cluster.split', the choice for its layer",
                "cluster {} computes columns {} to {}, not those of '#cluster.split', the choice for its layer",
                "cluster {} computes channels {} to {}, not those of '#cluster.split' and '#cluster.reads', the choices for its layer",
            ];
            let axis = axis.unwrap_or(0);
            let numbers = [cluster, own.lo[axis] as usize, own.hi[axis] as usize];
            return Err((op, Refusal::from(rule[axis]).with(numbers)));
        }
        match self.tasks.last().filter(|_| !expected.is_empty()) {
            Some(&last) => {
                let rule =
                    "the last task, {} fewer than by '#cluster.split' and '#cluster.reads', the choices for layers";
                Err((last, Refusal::from(rule).with([expected.len()])))
            }
            None => Ok(()),
        }
    }

    /// The places, which do not share bytes while they are live.
    fn place(&mut self, machine: &ClusterMachine) -> Result<Option<BufferPlacement>, (Op, Refusal)> {
        let Some(offsets) = self.offsets.take() else { return Ok(None) };
        let (schedule, count) = (&self.schedule, self.schedule.instances.len());
        let instances = schedule.instances.iter().map(|i| (i.steps, i.bytes));
        let of = instances.chain(schedule.slices.iter().map(|s| (s.steps, s.bytes())));
        let buf = |((steps, bytes), &offset): (([usize; 2], u32), &u32)| Buf {
            start: steps[0],
            end: steps[1] + 1,
            bytes: bytes.next_multiple_of(machine.alignment),
            offset,
        };
        let mut bufs: Vec<Buf> = of.zip(&offsets).map(buf).collect();
        for (at, &item) in
            self.reads.iter().enumerate().flat_map(|(at, items)| items.iter().map(move |item| (at, item)))
        {
            let index = index_of(item, count);
            bufs[index].start = at;
            if let Item::Instance(i) = item
                && at < schedule.instances[i].available
            {
                return Err((self.buffers[index], "a read before all of it is in DDR".into()));
            }
        }
        let capacity = u64::from(machine.spm - machine.reserved);
        let end = |buf: &Buf| u64::from(buf.offset) + u64::from(buf.bytes);
        for (i, buf) in bufs.iter().enumerate() {
            let refuse = |rule: Refusal| Err((self.buffers[i], rule));
            if !buf.offset.is_multiple_of(machine.alignment) || end(buf) > capacity {
                let rule = "a place at byte {}, which is no multiple of {}, or beyond the memory of a cluster";
                return refuse(Refusal::from(rule).with([buf.offset as usize, machine.alignment as usize]));
            }
            let overlaps = |other: &Buf| {
                let in_time = buf.start < other.end && other.start < buf.end;
                in_time && u64::from(buf.offset) < end(other) && u64::from(other.offset) < end(buf)
            };
            if let Some(other) = bufs[..i].iter().find(|other| overlaps(other)) {
                let rule = "the bytes from {} on, which hold another buffer at the same time";
                return refuse(Refusal::from(rule).with([other.offset as usize]));
            }
        }
        let peak = bufs.iter().map(end).max().unwrap_or(0);
        Ok(Some(BufferPlacement { bufs, reads: std::mem::take(&mut self.reads), lower_bound: 0, peak }))
    }
}
