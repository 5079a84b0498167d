//! Execution plans: a function as a list of steps over memory with fixed offsets.

use super::map::{self, Source, Stage};
use super::memory::{Slot, Usage};
use super::store::{Others, Place, Store, internal_error};
use super::{Kernel, Out, Prepared, Slice, aligned, extents, prepare, size};
use crate::aligned_bytes::LINE;
use crate::gemm::ColumnSlice;
use crate::workers::Workers;
use bytes::Bytes;
use gradus_interp::Stop;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::{Module, Op, Tensor, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The kind of a step.
enum StepKind {
    Kernel(Kernel),
    /// Reference evaluation, with result types.
    Reference(Vec<Type>),
}

struct Step {
    op: Op,
    does: StepKind,
    reads: Vec<Place>,
    /// The slots that it writes.
    writes: SmallVec<[usize; 1]>,
    /// The slice of the slot that it writes; `None` for all of it.
    within: Option<SlotSlice>,
    /// Total time over all runs.
    spent: Duration,
}

/// A slice of a slot.
enum SlotSlice {
    ColumnSlice(ColumnSlice),
    Bytes(Range<usize>),
}

/// The steps of a function with static shapes.
pub(super) struct Plan {
    steps: Vec<Step>,
    constants: Vec<Tensor>,
    /// The function's results with their types.
    results: Vec<(Place, Type)>,
    arguments: Vec<Type>,
    store: Store,
    usage: Usage,
}

impl Plan {
    /// Plans a function. `None` unless it is straight-line code on tensors of static shape.
    pub(super) fn of(m: &Module, function: Op) -> Option<Plan> {
        let &[region] = m.regions(function) else { return None };
        let mut blocks = m.region_blocks(region);
        let block = blocks.next().filter(|_| blocks.next().is_none())?;
        let mut planner = Planner::new(m);
        for (i, &argument) in m.block_args(block).iter().enumerate() {
            size(m, m.value_type(argument))?;
            planner.places.insert(argument, Place::Argument(i));
        }
        let mut ops = m.block_ops(block);
        let last = ops.next_back()?;
        ops.try_for_each(|op| planner.op(op))?;
        // The operands of the return op are the results.
        if !m.has_trait(last, Traits::RETURN_LIKE) {
            return None;
        }
        let results = m.operands(last).iter().map(|&v| Some((planner.place(v)?, m.value_type(v))));
        let results = results.collect::<Option<Vec<_>>>()?;
        let arguments = m.block_args(block).iter().map(|&v| m.value_type(v)).collect();
        planner.finish(results, arguments)
    }

    /// The memory usage.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// The ops without a kernel.
    pub(super) fn reference(&self) -> impl Iterator<Item = Op> {
        self.steps.iter().filter(|step| matches!(step.does, StepKind::Reference(_))).map(|step| step.op)
    }

    /// The last op of each step, with its total time over all runs.
    pub(super) fn spent(&self) -> impl Iterator<Item = (Op, Duration)> {
        self.steps.iter().map(|step| (step.op, step.spent))
    }

    /// Whether arguments match the function's parameters.
    pub(super) fn takes(&self, m: &Module, arguments: &[Datum]) -> bool {
        let fits = |(datum, &ty): (&Datum, &Type)| match datum {
            Datum::Tensor(t) => is_of_type(m, t, ty),
            _ => false,
        };
        arguments.len() == self.arguments.len() && arguments.iter().zip(&self.arguments).all(fits)
    }

    /// Runs all steps.
    pub(super) fn run(&mut self, m: &Module, workers: &Workers, arguments: &[Datum]) -> Result<Vec<Datum>, Stop> {
        let tensors = arguments.iter().map(|datum| match datum {
            Datum::Tensor(tensor) => Some(aligned(tensor)),
            _ => None,
        });
        let arguments: Vec<Tensor> = tensors.flatten().collect();
        let others = Others { arguments: &arguments, constants: &self.constants };
        let Some(first) = self.steps.first() else { return Ok(self.given(m, others)) };
        self.store.begin().map_err(|trap| Stop { op: first.op, trap })?;
        let mut before = Instant::now();
        for step in &mut self.steps {
            step.run(m, workers, others, &mut self.store).map_err(|trap| Stop { op: step.op, trap })?;
            let after = Instant::now();
            step.spent += after - std::mem::replace(&mut before, after);
        }
        self.store.end();
        Ok(self.given(m, others))
    }

    /// The function's results.
    fn given(&self, m: &Module, others: Others<'_>) -> Vec<Datum> {
        let tensor = |&(place, ty): &(Place, Type)| tensor(m, self.store.given(place, others)?, ty).map(Datum::Tensor);
        self.results.iter().map(|result| tensor(result).unwrap_or(Datum::Poison)).collect()
    }
}

/// Whether a tensor is of a type.
fn is_of_type(m: &Module, tensor: &Tensor, ty: Type) -> bool {
    extents(m, ty).as_deref() == Some(tensor.shape()) && super::dtype(m, ty) == Some(tensor.dtype())
}

/// Wraps bytes as a tensor.
fn tensor(m: &Module, bytes: Bytes, ty: Type) -> Option<Tensor> {
    Tensor::new(super::dtype(m, ty)?, extents(m, ty)?, bytes).ok()
}

impl Step {
    fn new(op: Op, does: StepKind, reads: Vec<Place>, writes: SmallVec<[usize; 1]>) -> Step {
        Step { op, does, reads, writes, within: None, spent: Duration::ZERO }
    }

    /// Makes the step write `count` columns into a slice of a shared slot, if its kernel supports that.
    fn write_within(&mut self, slot: usize, count: usize, within: SlotSlice) -> bool {
        let can = match (&self.does, &within) {
            (StepKind::Kernel(kernel), SlotSlice::ColumnSlice(_)) => kernel.columns == Some(count),
            (StepKind::Kernel(_), SlotSlice::Bytes(_)) => true,
            (StepKind::Reference(_), _) => false,
        };
        let does = can && self.within.is_none();
        if does {
            (self.writes[0], self.within) = (slot, Some(within));
        }
        does
    }

    fn run(&self, m: &Module, workers: &Workers, others: Others<'_>, store: &mut Store) -> Result<(), Trap> {
        match &self.does {
            StepKind::Kernel(kernel) => store.write(self.writes[0], &self.reads, others, |data, bytes| {
                let out = match &self.within {
                    Some(SlotSlice::Bytes(some)) => {
                        Out { bytes: bytes.get_mut(some.clone()).ok_or_else(internal_error)?, columns: None }
                    }
                    Some(SlotSlice::ColumnSlice(columns)) => Out { bytes, columns: Some(*columns) },
                    None => Out { bytes, columns: None },
                };
                (kernel.run)(workers, data, out)
            }),
            StepKind::Reference(types) => self.by_reference(m, types, others, store),
        }
    }

    fn by_reference(&self, m: &Module, types: &[Type], others: Others<'_>, store: &mut Store) -> Result<(), Trap> {
        let read = |(&place, &ty): (&Place, &Type)| tensor(m, store.copy(place, others)?, ty).map(Datum::Tensor);
        let operands: Vec<Datum> =
            self.reads.iter().zip(types).map(read).collect::<Option<_>>().ok_or_else(internal_error)?;
        let results = m.with_args(self.op, |args| eval_op(args, &operands)).ok_or_else(internal_error)??;
        for (result, &slot) in results.iter().zip(&self.writes) {
            let bytes = result.tensor()?.bytes();
            store.write(slot, &[], others, |_: &[&[u8]], to: &mut [u8]| {
                if to.len() != bytes.len() {
                    return Err(internal_error());
                }
                to.copy_from_slice(bytes);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Elementwise stages under fusion.
struct Group {
    op: Op,
    stages: Vec<Stage>,
    operands: Vec<Value>,
    result: Value,
}

/// A step under construction.
enum Draft {
    Map(Group),
    Step(Step),
    /// Fused into a later step.
    Fused,
}

/// Builds a plan op by op.
struct Planner<'m> {
    m: &'m Module,
    places: FxHashMap<Value, Place>,
    drafts: Vec<Draft>,
    /// The used constants.
    constants: Vec<Tensor>,
    /// Sizes of the slots in bytes.
    sizes: Vec<usize>,
    /// Upper bound of the total size.
    total: usize,
    /// The draft that defines each value.
    makers: FxHashMap<Value, usize>,
}

impl<'m> Planner<'m> {
    fn new(m: &'m Module) -> Self {
        Planner {
            m,
            places: FxHashMap::default(),
            drafts: Vec::new(),
            constants: Vec::new(),
            sizes: Vec::new(),
            total: 0,
            makers: FxHashMap::default(),
        }
    }

    /// The location of a value; constants are registered on first use.
    fn place(&mut self, value: Value) -> Option<Place> {
        if let Some(&place) = self.places.get(&value) {
            return Some(place);
        }
        let tensor = aligned(&self.m.ctx.dense_tensor(self.m.constant(value)?)?);
        self.constants.push(tensor);
        let place = Place::Constant(self.constants.len() - 1);
        self.places.insert(value, place);
        Some(place)
    }

    /// Creates a slot for a result.
    fn slot(&mut self, value: Value) -> Option<usize> {
        let bytes = size(self.m, self.m.value_type(value))?;
        self.total = self.total.checked_add(bytes)?.checked_add(LINE).filter(|&n| n < isize::MAX as usize)?;
        self.sizes.push(bytes);
        self.places.insert(value, Place::Slot(self.sizes.len() - 1));
        Some(self.sizes.len() - 1)
    }

    fn op(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        let args = m.args(op)?;
        if m.num_results(op) == 1 && m.constant(m.result(op, 0)).is_some() {
            return Some(());
        }
        if !m.regions(op).is_empty()
            || !m.successors(op).is_empty()
            || args.info.exec.is_some()
            || args.info.eval.is_none()
        {
            return None;
        }
        match m.with_args(op, prepare)? {
            Some(Prepared::View) => {
                let place = self.place(args.operands[0])?;
                self.places.insert(m.result(op, 0), place);
            }
            Some(Prepared::Map(stages)) => self.map(op, stages)?,
            Some(Prepared::Kernels(kernels)) => {
                for (kernel, result) in kernels.into_iter().zip(m.results(op)) {
                    let reads: Vec<Value> = kernel.reads.iter().map(|&i| args.operands[i]).collect();
                    self.step(op, StepKind::Kernel(kernel), &reads, &[result])?;
                }
            }
            Some(Prepared::Concat(parts)) => self.parts(op, parts)?,
            None => {
                let types = args.operands.iter().map(|&v| m.value_type(v)).collect();
                let results: Vec<Value> = m.results(op).collect();
                self.step(op, StepKind::Reference(types), args.operands, &results)?;
            }
        }
        Some(())
    }

    fn step(&mut self, op: Op, does: StepKind, reads: &[Value], results: &[Value]) -> Option<()> {
        let reads = reads.iter().map(|&v| self.place(v)).collect::<Option<_>>()?;
        let writes = results.iter().map(|&v| self.slot(v)).collect::<Option<_>>()?;
        self.makers.extend(results.iter().map(|&v| (v, self.drafts.len())));
        self.drafts.push(Draft::Step(Step::new(op, does, reads, writes)));
        Some(())
    }

    /// Plans a concatenation: a single-use producer writes directly into its slice of the result; other parts are
    /// copied.
    fn parts(&mut self, op: Op, parts: Vec<Slice>) -> Option<()> {
        let (m, result) = (self.m, self.m.result(op, 0));
        let (slot, size) = (self.slot(result)?, super::dtype(m, m.value_type(result))?.size());
        for Slice { copy, count, columns } in parts {
            let value = m.operands(op)[copy.reads[0]];
            // With a single row, slices are contiguous.
            let within = match columns.of * size == self.sizes[slot] {
                true => SlotSlice::Bytes(columns.first * size..(columns.first + count) * size),
                false => SlotSlice::ColumnSlice(columns),
            };
            let is_written = self.maker(value).is_some_and(|draft| match &mut self.drafts[draft] {
                Draft::Step(step) => step.write_within(slot, count, within),
                _ => false,
            });
            if !is_written {
                let (reads, writes) = (vec![self.place(value)?], smallvec::smallvec![slot]);
                self.drafts.push(Draft::Step(Step::new(op, StepKind::Kernel(copy), reads, writes)));
            }
        }
        Some(())
    }

    /// The only producer of `value`, looking through views, if `value` has one use.
    fn maker(&self, mut value: Value) -> Option<usize> {
        let place = self.places.get(&value)?;
        while self.m.has_one_use(value) && self.places.get(&value) == Some(place) {
            if let Some(&draft) = self.makers.get(&value) {
                return Some(draft);
            }
            value = *self.m.operands(self.m.defining_op(value)?).first()?;
        }
        None
    }

    /// Plans elementwise stages, fused into the producer of their input where possible.
    fn map(&mut self, op: Op, stages: Vec<Stage>) -> Option<()> {
        let m = self.m;
        let result = m.result(op, 0);
        let group = Group { op, stages, operands: m.operands(op).to_vec(), result };
        let group = match self.before(&group) {
            Some((operand, draft)) => {
                let Draft::Map(before) = std::mem::replace(&mut self.drafts[draft], Draft::Fused) else { return None };
                before.then(&group, operand)
            }
            None => group,
        };
        self.makers.insert(result, self.drafts.len());
        self.drafts.push(Draft::Map(group));
        // Creates the slot now, so that users can refer to it.
        self.slot(result).map(|_| ())
    }

    /// Finds an operand, read only by the first stage, that is a single-use elementwise group of equal shape.
    fn before(&self, group: &Group) -> Option<(usize, usize)> {
        let m = self.m;
        let ty = m.value_type(group.result);
        let fits = |&(i, value): &(usize, Value)| {
            let uses = group.operands.iter().filter(|&&v| v == value).count();
            uses == 1
                && m.has_one_use(value)
                && m.value_type(value) == ty
                && !group.stages[1..].iter().any(|s| s.reads(i))
        };
        let found = |(i, value)| {
            let draft = *self.makers.get(&value)?;
            matches!(self.drafts[draft], Draft::Map(_)).then_some((i, draft))
        };
        group.operands.iter().copied().enumerate().filter(fits).find_map(found)
    }

    fn finish(mut self, results: Vec<(Place, Type)>, arguments: Vec<Type>) -> Option<Plan> {
        let mut steps = Vec::new();
        for draft in std::mem::take(&mut self.drafts) {
            match draft {
                Draft::Step(step) => steps.push(step),
                Draft::Map(group) => steps.push(self.made(group)?),
                Draft::Fused => {}
            }
        }
        let given = results.iter().filter_map(|&(place, _)| place.slot());
        let given: FxHashSet<usize> = given.collect();
        let (store, usage) = Store::new(&live_ranges(&steps, &self.sizes, &given), &given, steps.len())?;
        Some(Plan { steps, constants: self.constants, results, arguments, store, usage })
    }

    fn made(&mut self, group: Group) -> Option<Step> {
        let of = |v: Value| extents(self.m, self.m.value_type(v));
        let shapes: Vec<Vec<usize>> = group.operands.iter().map(|&v| of(v)).collect::<Option<_>>()?;
        let kernel = map::kernel(group.stages, &of(group.result)?, &shapes)?;
        let reads = group.operands.iter().map(|&v| self.place(v)).collect::<Option<_>>()?;
        let Some(&Place::Slot(slot)) = self.places.get(&group.result) else { return None };
        let writes = smallvec::smallvec![slot];
        Some(Step::new(group.op, StepKind::Kernel(kernel), reads, writes))
    }
}

impl Group {
    /// Fuses two groups: the second reads the first's result as that operand.
    fn then(mut self, next: &Group, operand: usize) -> Group {
        let moved = self.operands.len();
        let source = |source| match source {
            Source::Operand(i) if i == operand => Source::Previous,
            Source::Operand(i) if i > operand => Source::Operand(moved + i - 1),
            Source::Operand(i) => Source::Operand(moved + i),
            Source::Previous => Source::Previous,
        };
        self.stages.extend(next.stages.iter().map(|stage| stage.with(source)));
        let others = next.operands.iter().enumerate().filter(|&(i, _)| i != operand);
        self.operands.extend(others.map(|(_, &value)| value));
        Group { op: next.op, result: next.result, ..self }
    }
}

/// The live range of each slot, in steps. Slots without a producer are slices of others.
fn live_ranges(steps: &[Step], sizes: &[usize], given: &FxHashSet<usize>) -> Vec<Slot> {
    let mut slots: Vec<Slot> = sizes.iter().map(|_| Slot { bytes: 0, first: 0, last: 0 }).collect();
    for (i, step) in steps.iter().enumerate() {
        for &slot in &step.writes {
            let first = if slots[slot].bytes == 0 { i } else { slots[slot].first };
            slots[slot] = Slot { bytes: sizes[slot], first, last: i };
        }
        for slot in step.reads.iter().filter_map(|place| place.slot()) {
            slots[slot].last = i;
        }
    }
    given.iter().for_each(|&slot| slots[slot].last = steps.len());
    slots
}
