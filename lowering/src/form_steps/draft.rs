//! The analysis of `form-steps`: divides the ops of a function into steps, and places their values in memory.

use super::in_place::{ConcatSlice, offsets};
use gradus_ir::layout::StridedLayout;
use gradus_ir::{Block, Module, Op, Refusal, Traits, Type, TypeData, Value};
use gradus_networks::sched::{is_elementwise, size_in_bytes};
use rustc_hash::FxHashMap;

/// Memory that buffers are views of.
#[derive(Clone, Copy)]
pub(super) enum Root {
    /// The elements of an argument or constant.
    Tensor(Value),
    /// A buffer for a tensor type.
    Buffer(Type),
}

/// The memory of a tensor: row-major in a root, from an element on.
#[derive(Clone, Copy)]
pub(super) struct TensorPlace {
    pub root: usize,
    pub offset: i64,
}

/// A write of a step: the value, and its layout in the root.
pub(super) struct Written {
    pub value: Value,
    pub root: usize,
    pub layout: StridedLayout,
}

/// A step.
pub(super) enum Draft {
    /// Ops that compute values.
    Compute { ops: Vec<Op>, writes: Vec<Written> },
    /// A copy of a tensor into memory, for an op.
    Copy { op: Op, from: Value, to: Written },
    /// Part of a later step.
    Fused,
}

/// The options of the pass.
#[derive(Clone, Copy)]
pub(super) struct FormStepsOptions {
    /// Whether elementwise ops join the step of an operand.
    pub fuse: bool,
    /// Whether slices are views, and parts of a concatenation written in place.
    pub in_place: bool,
    /// Largest number of equal, independent ops in a step.
    pub group: usize,
}

/// The rule of values without a size.
const UNSIZED: &str = "a value that is no tensor of static shape";

/// Number of steps, counted from the last, that an op may join: results that are computed earlier live longer.
const RECENT: usize = 2;

/// The steps of a function.
pub(super) struct ScheduleDraft {
    pub block: Block,
    pub roots: Vec<Root>,
    pub places: FxHashMap<Value, TensorPlace>,
    pub drafts: Vec<Draft>,
    /// Ops that became views, or that no other op uses.
    pub views: Vec<Op>,
    fused: u64,
    grouped: u64,
    in_place: u64,
}

impl ScheduleDraft {
    /// Forms the steps of a function with an entry block, of straight-line code on tensors of static shape.
    pub(super) fn of(m: &Module, block: Block, options: FormStepsOptions) -> Result<ScheduleDraft, Refusal> {
        m.next_block(block).is_none().then_some(()).ok_or("several blocks")?;
        let schedule = ScheduleDraft {
            block,
            roots: Vec::new(),
            places: FxHashMap::default(),
            drafts: Vec::new(),
            views: Vec::new(),
            fused: 0,
            grouped: 0,
            in_place: 0,
        };
        let mut former = Former { m, options, schedule, makers: FxHashMap::default(), ready: FxHashMap::default() };
        let mut ops = m.block_ops(block);
        let last = ops.next_back().filter(|&last| m.has_trait(last, Traits::RETURN_LIKE)).ok_or("no return")?;
        let is_sized = |&v: &Value| {
            size_in_bytes(&m.ctx, m.value_type(v)).is_some()
                && matches!(m.ctx.type_data(m.value_type(v)), TypeData::Tensor { .. })
        };
        if !m.block_args(block).iter().chain(m.operands(last)).all(is_sized) {
            return Err(UNSIZED.into());
        }
        for op in ops {
            if m.is_constant(op) {
                continue;
            }
            if !m.only_evaluates(op) {
                return Err(Refusal::of_other(op, "an op that does not only compute tensors"));
            }
            if !m.operands(op).iter().all(is_sized) || !m.results(op).all(|v| is_sized(&v)) {
                return Err(Refusal::of_other(op, UNSIZED));
            }
            match m.results(op).all(|v| m.is_unused(v)) {
                true => former.schedule.views.push(op),
                false => former.op(op),
            }
        }
        let is_empty = former.schedule.drafts.is_empty();
        if is_empty { Err("no op whose result is used".into()) } else { Ok(former.schedule) }
    }

    /// Returns the values of the pass's statistics.
    pub(super) fn statistics(&self) -> [(&'static str, u64); 5] {
        let count = |is: fn(&Draft) -> bool| self.drafts.iter().filter(|draft| is(draft)).count() as u64;
        let steps = count(|draft| matches!(draft, Draft::Compute { .. }));
        let copies = count(|draft| matches!(draft, Draft::Copy { .. }));
        [
            ("num-steps", steps),
            ("num-fused", self.fused),
            ("num-grouped", self.grouped),
            ("num-in-place", self.in_place),
            ("num-copies", copies),
        ]
    }
}

/// The state of forming steps, op by op.
struct Former<'m> {
    m: &'m Module,
    options: FormStepsOptions,
    schedule: ScheduleDraft,
    /// The draft that computes each value.
    makers: FxHashMap<Value, usize>,
    /// The first draft that may read each value that is not an argument or constant.
    ready: FxHashMap<Value, usize>,
}

impl Former<'_> {
    fn op(&mut self, op: Op) {
        if self.options.in_place && (self.view(op).is_some() || self.concatenation(op).is_some()) {
            return;
        }
        let m = self.m;
        self.read(op);
        if let Some(draft) = self.group(op) {
            let one = self.written(m.result(op, 0), draft);
            if let Draft::Compute { ops, writes } = &mut self.schedule.drafts[draft] {
                ops.push(op);
                writes.push(one);
                self.schedule.grouped += 1;
            }
            return;
        }
        let ops = match self.producer(op) {
            Some(draft) => match std::mem::replace(&mut self.schedule.drafts[draft], Draft::Fused) {
                Draft::Compute { mut ops, .. } => {
                    self.schedule.fused += 1;
                    ops.push(op);
                    ops
                }
                other => {
                    self.schedule.drafts[draft] = other;
                    vec![op]
                }
            },
            None => vec![op],
        };
        let draft = self.schedule.drafts.len();
        let results: Vec<Value> = m.results(op).filter(|&v| !m.is_unused(v)).collect();
        let writes = results.into_iter().map(|value| self.written(value, draft)).collect();
        self.schedule.drafts.push(Draft::Compute { ops, writes });
    }

    /// Returns a recent draft that an op joins: its ops have the same name and types, and come after all that the op reads. A draft of several
    /// ops is not joined if a later one reads their results, so that these are read while they are in a cache.
    fn group(&self, op: Op) -> Option<usize> {
        let m = self.m;
        if self.options.group < 2 || is_elementwise(m, op) || m.num_results(op) != 1 {
            return None;
        }
        let types = |op: Op| m.operands(op).iter().copied().chain(m.results(op)).map(|v| m.value_type(v));
        let is_equal = |other: Op| m.name(other) == m.name(op) && types(other).eq(types(op));
        let joins = |draft: usize| match &self.schedule.drafts[draft] {
            Draft::Compute { ops, .. } => {
                let has_room = ops.len() < self.options.group && (ops.len() == 1 || !self.is_read(draft));
                has_room && ops.iter().all(|&other| is_equal(other))
            }
            _ => false,
        };
        let end = self.schedule.drafts.len();
        let ready = m.operands(op).iter().filter_map(|v| self.ready.get(v)).max().copied().unwrap_or(0);
        (ready.max(end.saturating_sub(RECENT))..end).find(|&draft| joins(draft))
    }

    /// Whether a later draft reads results of a draft.
    fn is_read(&self, draft: usize) -> bool {
        let reads = |op: &Op| self.m.operands(*op).iter().any(|v| self.ready.get(v) == Some(&(draft + 1)));
        self.schedule.drafts[draft + 1..].iter().any(|later| match later {
            Draft::Compute { ops, .. } => ops.iter().any(reads),
            _ => false,
        })
    }

    /// Assigns a new buffer to a value that a draft computes.
    fn written(&mut self, value: Value, draft: usize) -> Written {
        let ty = self.m.value_type(value);
        let layout = StridedLayout::row_major(self.m.ctx.shape(ty).unwrap_or(&[]));
        let root = self.root(Root::Buffer(ty));
        self.schedule.places.insert(value, TensorPlace { root, offset: 0 });
        self.makers.insert(value, draft);
        self.ready.insert(value, draft + 1);
        Written { value, root, layout }
    }

    fn root(&mut self, root: Root) -> usize {
        self.schedule.roots.push(root);
        self.schedule.roots.len() - 1
    }

    /// Places the operands of an op that are arguments in memory. Constants need no memory.
    fn read(&mut self, op: Op) {
        let m = self.m;
        for &value in m.operands(op).iter().filter(|&&v| m.constant(v).is_none()) {
            self.place(value);
        }
    }

    /// Returns the memory of a value; arguments and constants get it when first asked for.
    fn place(&mut self, value: Value) -> TensorPlace {
        if let Some(&place) = self.schedule.places.get(&value) {
            return place;
        }
        let place = TensorPlace { root: self.root(Root::Tensor(value)), offset: 0 };
        self.schedule.places.insert(value, place);
        place
    }

    /// Makes the results of an op views of its first operand.
    fn view(&mut self, op: Op) -> Option<()> {
        let offsets = offsets(self.m, op)?;
        let source = self.m.operands(op)[0];
        let (TensorPlace { root, offset }, ready) = (self.place(source), self.ready.get(&source).copied());
        for (result, first) in self.m.results(op).zip(offsets) {
            self.schedule.places.insert(result, TensorPlace { root, offset: offset + first });
            self.ready.extend(ready.map(|draft| (result, draft)));
        }
        self.schedule.views.push(op);
        Some(())
    }

    /// Forms a concatenation: parts used nowhere else are written into the result, the others copied.
    fn concatenation(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        let parts = ConcatSlice::all(m, op)?;
        let shape = |value: Value| m.ctx.shape(m.value_type(value)).unwrap_or(&[]);
        let layouts: Vec<StridedLayout> =
            parts.iter().map(|part| part.layout(shape(part.value))).collect::<Option<_>>()?;
        let result = m.result(op, 0);
        let root = self.root(Root::Buffer(m.value_type(result)));
        self.schedule.places.insert(result, TensorPlace { root, offset: 0 });
        for (part, layout) in parts.into_iter().zip(layouts) {
            if self.write_into(part, root).is_none() {
                self.place(part.value);
                let to = Written { value: part.value, root, layout };
                self.schedule.drafts.push(Draft::Copy { op, from: part.value, to });
            }
        }
        self.ready.insert(result, self.schedule.drafts.len());
        self.schedule.views.push(op);
        Some(())
    }

    /// Makes the step that computes a part write it into the concatenation.
    fn write_into(&mut self, part: ConcatSlice, root: usize) -> Option<()> {
        let m = self.m;
        let (value, draft) = self.only_producer(part.value)?;
        let Draft::Compute { writes, .. } = &mut self.schedule.drafts[draft] else { return None };
        let written = writes.iter_mut().find(|written| written.value == value)?;
        written.layout = part.layout(m.ctx.shape(m.value_type(value))?)?;
        written.root = root;
        self.makers.remove(&value);
        self.schedule.in_place += 1;
        Some(())
    }

    /// Returns the computed value that `value` is all of, through views, and its draft, if it is used nowhere else.
    fn only_producer(&self, mut value: Value) -> Option<(Value, usize)> {
        let m = self.m;
        let bytes = |v: Value| size_in_bytes(&m.ctx, m.value_type(v));
        let all = bytes(value);
        while m.has_one_use(value) && bytes(value) == all {
            if let Some(&draft) = self.makers.get(&value) {
                return Some((value, draft));
            }
            let view = m.defining_op(value).filter(|op| m.num_results(*op) == 1)?;
            let place = self.schedule.places.get(&value)?;
            value = *m.operands(view).first()?;
            (self.schedule.places.get(&value)?.root == place.root).then_some(())?;
        }
        None
    }

    /// Returns the draft that an elementwise op joins: it computes an operand of the same type, used nowhere else, by
    /// such ops.
    fn producer(&self, op: Op) -> Option<usize> {
        let m = self.m;
        if !self.options.fuse || !is_elementwise(m, op) {
            return None;
        }
        let ty = m.value_type(m.result(op, 0));
        // A kernel computes one op on quantized tensors.
        if m.ctx.int_width(m.ctx.element_type(ty)) == Some(8) {
            return None;
        }
        let operands = m.operands(op);
        let joins = |&(i, value): &(usize, Value)| {
            // Later operands of a variadic op meet a partial result.
            i < 2 && m.has_one_use(value) && m.value_type(value) == ty
        };
        let draft = |(_, value)| {
            let &draft = self.makers.get(&value)?;
            let Draft::Compute { ops, .. } = &self.schedule.drafts[draft] else { return None };
            is_elementwise(m, *ops.last()?).then_some(draft)
        };
        operands.iter().copied().enumerate().filter(joins).find_map(draft)
    }
}
