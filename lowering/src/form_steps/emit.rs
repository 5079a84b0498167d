//! Builds the steps of a schedule.

use super::draft::{Draft, Root, ScheduleDraft, TensorPlace, Written};
use crate::emit::name_of;
use gradus_dialects::memref::{AllocOp, CopyOp, ReinterpretCastOp};
use gradus_ir::layout::StridedLayout;
use gradus_ir::{Builder, Def, Module, Op, OpDecl, OpState, Type, Value};
use gradus_networks::sched::{StepOp, ToBufferOp, ToTensorOp, YieldOp};
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// Replaces the ops of a function by the steps that were formed of them.
pub(super) fn emit(m: &mut Module, schedule: ScheduleDraft) {
    let ScheduleDraft { block, roots, places, drafts, views, .. } = schedule;
    let memory = vec![None; roots.len()];
    let Some(end) = m.last_op(block) else { return };
    let mut emitter = StepEmitter { end, roots, memory, places, views: FxHashMap::default() };
    for draft in drafts {
        match draft {
            Draft::Compute { ops, writes } => emitter.step(m, &ops, &writes),
            Draft::Copy { op, from, to } => emitter.copy(m, op, from, &to),
            Draft::Fused => {}
        }
    }
    emitter.results(m);
    views.into_iter().rev().for_each(|op| m.erase_op(op));
}

/// Returns the memref type for a tensor type.
fn memref_type(m: &Module, tensor: Type, layout: Option<&StridedLayout>) -> Type {
    m.ctx.memref_type(m.ctx.shape(tensor).unwrap_or(&[]), m.ctx.element_type(tensor), layout, None)
}

/// Creates the memory of a root before `end`, for `op`.
fn create_root(m: &mut Module, root: Root, op: Op, end: Op) -> Value {
    let ctx = m.ctx.clone();
    let (mut state, ty) = match root {
        Root::Tensor(value) => {
            let mut state = OpState::new(&ctx, ToBufferOp::INFO.name, m.value_loc(value));
            state.operands.push(value);
            (state, m.value_type(value))
        }
        Root::Buffer(ty) => {
            let mut state = OpState::new(&ctx, AllocOp::INFO.name, m.loc(op));
            state.operand_group(&[]);
            state.operand_group(&[]);
            (state, ty)
        }
    };
    state.result_types.push(memref_type(m, ty, None));
    let created = Builder::before(m, end).create(state);
    m.result(created, 0)
}

/// The state of emitting steps, in order, at the end of a block.
struct StepEmitter {
    /// The terminator of the block.
    end: Op,
    roots: Vec<Root>,
    /// The memref of each root, created at its first use.
    memory: Vec<Option<Value>>,
    places: FxHashMap<Value, TensorPlace>,
    /// The memrefs of values, for reading.
    views: FxHashMap<Value, Value>,
}

impl StepEmitter {
    /// Returns the memref of a value in memory, created for `op` at its first use.
    fn read(&mut self, m: &mut Module, value: Value, op: Op) -> Option<Value> {
        if let Some(&view) = self.views.get(&value) {
            return Some(view);
        }
        let TensorPlace { root, offset } = *self.places.get(&value)?;
        let ty = m.value_type(value);
        let layout = StridedLayout { offset, ..StridedLayout::row_major(m.ctx.shape(ty).unwrap_or(&[])) };
        let view = self.view(m, root, ty, &layout, op);
        self.views.insert(value, view);
        Some(view)
    }

    /// Returns a view of a root with the shape of a tensor type, created for `op` unless it is the root itself.
    fn view(&mut self, m: &mut Module, root: usize, tensor: Type, layout: &StridedLayout, op: Op) -> Value {
        let source = *self.memory[root].get_or_insert_with(|| create_root(m, self.roots[root], op, self.end));
        let shape = m.ctx.shape(tensor).unwrap_or(&[]).to_vec();
        let is_row_major = *layout == StridedLayout::row_major(&shape);
        let ty = memref_type(m, tensor, if is_row_major { None } else { Some(layout) });
        if ty == m.value_type(source) {
            return source;
        }
        let mut state = OpState::new(&m.ctx, ReinterpretCastOp::INFO.name, m.loc(op));
        state.operand_group(&[source]);
        (0..3).for_each(|_| state.operand_group(&[]));
        let lists =
            [("static_offsets", &[layout.offset][..]), ("static_sizes", &shape), ("static_strides", &layout.strides)];
        for (name, list) in lists {
            state.inherent(&m.ctx, name, Some(m.ctx.i64_array_attr(list)));
        }
        state.result_types.push(ty);
        let cast = Builder::before(m, self.end).create(state);
        m.result(cast, 0)
    }

    /// Moves ops into a step.
    fn step(&mut self, m: &mut Module, ops: &[Op], writes: &[Written]) {
        let Some(&last) = ops.last() else { return };
        let inner: FxHashSet<Value> = ops.iter().flat_map(|&op| m.results(op)).collect();
        let outer = ops
            .iter()
            .flat_map(|&op| m.operands(op))
            .copied()
            .filter(|&v| !inner.contains(&v) && m.constant(v).is_none());
        let reads: Vec<Value> = outer.collect::<IndexSet<_>>().into_iter().collect();
        let read: Vec<Value> = reads.iter().filter_map(|&value| self.read(m, value, last)).collect();
        let to: Vec<Value> =
            writes.iter().map(|w| self.view(m, w.root, m.value_type(w.value), &w.layout, last)).collect();
        let mut state = OpState::new(&m.ctx, StepOp::INFO.name, m.loc(last));
        state.operand_group(&read);
        state.operand_group(&to);
        state.inherent(&m.ctx, "name", name_of(m, ops));
        state.regions = 1;
        let step = Builder::before(m, self.end).create(state);
        let body = m.add_block(m.regions(step)[0]);
        let args: FxHashMap<Value, Value> =
            reads.iter().map(|&value| (value, m.add_block_arg(body, m.value_type(value), m.loc(last)))).collect();
        for &op in ops {
            m.move_to_end(op, body);
            let operands: Vec<Value> = m.operands(op).iter().map(|v| args.get(v).copied().unwrap_or(*v)).collect();
            m.set_operands(op, &operands);
        }
        let mut state = OpState::new(&m.ctx, YieldOp::INFO.name, m.loc(last));
        state.operands.extend(writes.iter().map(|written| written.value));
        Builder::at_end(m, body).create(state);
    }

    fn copy(&mut self, m: &mut Module, op: Op, from: Value, to: &Written) {
        let target = self.view(m, to.root, m.value_type(from), &to.layout, op);
        let Some(source) = self.read(m, from, op) else { return };
        let mut state = OpState::new(&m.ctx, CopyOp::INFO.name, m.loc(op));
        state.operands.extend([source, target]);
        Builder::before(m, self.end).create(state);
    }

    /// Returns the elements of the results' buffers.
    fn results(&mut self, m: &mut Module) {
        let end = self.end;
        for i in 0..m.operands(end).len() {
            let value = m.operands(end)[i];
            let is_whole = m.constant(value).is_some() || matches!(m.def(value), Def::Arg(..));
            if is_whole {
                continue;
            }
            let Some(buffer) = self.read(m, value, end) else { continue };
            let mut state = OpState::new(&m.ctx, ToTensorOp::INFO.name, m.loc(end));
            state.operands.push(buffer);
            state.result_types.push(m.value_type(value));
            let tensor = Builder::before(m, end).create(state);
            let tensor = m.result(tensor, 0);
            m.set_operand(end, i, tensor);
        }
    }
}
