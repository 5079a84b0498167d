//! The computation of a recurrent layer.

#![allow(unsafe_code)]

use super::RecurrentPlan;
use super::gates::{GateStep, Phase};
use super::product::{MIN_ROWS, StateProduct};
use super::weights::DirectionWeights;
use crate::ElementwiseEpilogue;
use crate::aligned_bytes::AlignedBytes;
use crate::cpu::{floats_mut, trap::internal_error};
use crate::gemm::Product;
use crate::workers::{DisjointWriter, Workers};
use gradus_ir::eval::Trap;
use gradus_reference_kernels::RecurrentCell;
use std::cell::Cell;
use std::ops::Range;

thread_local! {
    /// Memory of earlier runs.
    static MEMORY: Cell<AlignedBytes> = Cell::default();
}

/// A recurrent layer with the operands of a run.
pub(super) struct LayerRun<'a> {
    pub plan: &'a RecurrentPlan,
    pub weights: &'a [DirectionWeights],
    pub x: &'a [f32],
    /// The initial hidden and cell states.
    pub initial: [Option<&'a [f32]>; 2],
    /// Length of each sequence.
    pub lengths: Option<Vec<usize>>,
}

/// Some sequences of a direction, which a thread computes.
struct SequenceGroup<'a> {
    direction: usize,
    /// The first sequence.
    first: usize,
    /// Hidden states, `[sequences, units]`.
    hidden: &'a mut [f32],
    /// Cell states of an LSTM, or reset hidden states of a GRU, `[sequences, units]`.
    other: &'a mut [f32],
    /// Sums of products of a time step, `[sequences, G, units]`.
    gates: &'a mut [f32],
    rows: StepRows,
}

/// The rows of a time step, for each sequence of a group.
struct StepRows {
    /// The position in the sequence.
    times: Vec<usize>,
    /// The first element of the products of the inputs.
    starts: Vec<usize>,
    /// Whether the sequence has the time step.
    is_active: Vec<bool>,
    /// A zero for each sequence: the first element of a bias.
    zeros: Vec<usize>,
}

impl LayerRun<'_> {
    /// Computes the results that are needed: all hidden states, the last ones, and the last cell states.
    pub(super) fn compute(&self, workers: &Workers, [mut y, h, c]: [Option<&mut [f32]>; 3]) -> Result<(), Trap> {
        let plan = self.plan;
        let states = plan.directions * plan.batch * plan.hidden;
        let has = |out: Option<&[f32]>, size: usize| out.is_none_or(|out| out.len() == size);
        if !has(y.as_deref(), plan.steps * states) || !has(h.as_deref(), states) || !has(c.as_deref(), states) {
            return Err(internal_error());
        }
        if let (Some(y), Some(_)) = (&mut y, &self.lengths) {
            y.fill(0.0);
        }
        let y = y.map(DisjointWriter::new);
        let row = plan.cell.gates() * plan.units;
        let products = plan.directions * plan.chunk * plan.batch * row;
        let size = products + plan.directions * plan.batch * (row + 2 * plan.units);
        let mut memory = memory_of(size).ok_or_else(|| Trap::unsupported("states exceed the memory"))?;
        let (products, rest) = floats_mut(memory.as_mut()).split_at_mut(products);
        let threads = workers.for_steps(plan.vector_operations());
        let mut groups = self.groups(rest, threads);
        let single = Workers::default();
        for first in (0..plan.steps).step_by(plan.chunk) {
            let steps = first..plan.steps.min(first + plan.chunk);
            self.input_products(workers, steps.clone(), products)?;
            let products = &*products;
            match &mut groups[..] {
                [group] => self.steps(workers, group, steps, products, y),
                groups => workers.share(threads, groups.iter_mut(), |group| {
                    self.steps(&single, group, steps.clone(), products, y);
                }),
            }
        }
        for (out, is_hidden) in [(h, true), (c, false)] {
            let Some(out) = out else { continue };
            groups.iter().for_each(|group| self.store_states(group, is_hidden, out));
        }
        drop(groups);
        MEMORY.set(memory);
        Ok(())
    }

    /// Divides the sequences of each direction into groups, one per thread if there are enough, with their initial states.
    fn groups<'m>(&self, mut memory: &'m mut [f32], threads: usize) -> Vec<SequenceGroup<'m>> {
        let RecurrentPlan { directions, batch, units, hidden, .. } = *self.plan;
        let count = batch.div_ceil(threads.div_ceil(directions)).max(MIN_ROWS.min(batch));
        let mut groups = Vec::new();
        for (direction, first) in (0..directions).flat_map(|d| (0..batch).step_by(count).map(move |b| (d, b))) {
            let rows = count.min(batch - first);
            let mut take = |size: usize| memory.split_off_mut(..rows * size).unwrap_or_default();
            let mut states = [take(units), take(units)];
            let gates = take(self.plan.cell.gates() * units);
            for (states, initial) in states.iter_mut().zip(self.initial) {
                states.fill(0.0);
                for (row, to) in states.chunks_exact_mut(units).enumerate() {
                    if let Some(initial) = initial {
                        let from = self.plan.state_row(direction, first + row) * hidden;
                        to[..hidden].copy_from_slice(&initial[from..][..hidden]);
                    }
                }
            }
            let [hidden, other] = states;
            let rows = StepRows {
                times: vec![0; rows],
                starts: vec![0; rows],
                is_active: vec![true; rows],
                zeros: vec![0; rows],
            };
            groups.push(SequenceGroup { direction, first, hidden, other, gates, rows });
        }
        groups
    }

    /// Returns the first position in the sequences that some time steps of a direction read.
    fn first_time(&self, direction: usize, steps: &Range<usize>) -> usize {
        if self.plan.reversed[direction] { self.plan.steps - steps.end } else { steps.start }
    }

    /// Computes the products of the inputs of some time steps with the input weights, for each direction.
    fn input_products(&self, workers: &Workers, steps: Range<usize>, products: &mut [f32]) -> Result<(), Trap> {
        let plan = self.plan;
        let time = plan.width * if plan.is_batch_first { 1 } else { plan.batch };
        let all = products.len() / plan.directions;
        let size = all / plan.chunk * steps.len();
        for (direction, (weights, products)) in self.weights.iter().zip(products.chunks_exact_mut(all)).enumerate() {
            let product = Product {
                a: &self.x[self.first_time(direction, &steps) * time..],
                addresses: &plan.addresses[usize::from(steps.len() < plan.chunk)],
                b: &weights.input,
                add: None,
                elementwise: ElementwiseEpilogue::NONE,
            };
            product.compute(workers, &mut products[..size]).map_err(Trap::from)?;
        }
        Ok(())
    }

    /// Computes time steps of a group, and writes their hidden states.
    fn steps(
        &self,
        workers: &Workers,
        group: &mut SequenceGroup<'_>,
        steps: Range<usize>,
        products: &[f32],
        y: Option<DisjointWriter<f32>>,
    ) {
        let plan = self.plan;
        let first = self.first_time(group.direction, &steps);
        let products = &products[products.len() / plan.directions * group.direction..];
        for step in steps {
            self.find_rows(group, step, first);
            self.step(workers, group, products);
            let Some(y) = y else { continue };
            let rows = group.rows.times.iter().zip(&group.rows.is_active).enumerate();
            for (row, (&time, _)) in rows.filter(|(_, (_, is_active))| **is_active) {
                let at = plan.output_row(time, group.direction, group.first + row) * plan.hidden;
                let state = &group.hidden[row * plan.units..][..plan.hidden];
                // SAFETY: `compute` checked that `y` has H elements for each time step, direction and sequence; no other
                // group has this direction and sequence.
                unsafe { y.at(at).copy_from_nonoverlapping(state.as_ptr(), plan.hidden) };
            }
        }
    }

    /// Finds the rows of a time step, given the position of the first product of the inputs.
    fn find_rows(&self, group: &mut SequenceGroup<'_>, step: usize, first: usize) {
        let plan = self.plan;
        let StepRows { times, starts, is_active, .. } = &mut group.rows;
        for (row, ((time, start), is_active)) in times.iter_mut().zip(starts).zip(is_active).enumerate() {
            let sequence = group.first + row;
            let length = self.lengths.as_ref().map_or(plan.steps, |lengths| lengths[sequence]);
            *is_active = step < length;
            (*time, *start) = (0, 0);
            if *is_active {
                *time = if plan.reversed[group.direction] { length - 1 - step } else { step };
                *start = ((*time - first) * plan.batch + sequence) * plan.cell.gates() * plan.units;
            }
        }
    }

    /// Advances the states of a group by a time step.
    fn step(&self, workers: &Workers, group: &mut SequenceGroup<'_>, products: &[f32]) {
        let (units, weights) = (self.plan.units, &self.weights[group.direction]);
        let stride = self.plan.cell.gates() * units;
        let SequenceGroup { hidden, other, gates, rows: StepRows { starts, is_active, zeros, .. }, .. } = group;
        let (recurrence, pitch) = (&weights.recurrence, units);
        StateProduct { weights: recurrence, states: hidden, pitch, addends: products, starts }
            .compute(workers, gates, stride);
        let step = |phase: Phase, gates: &mut [f32], hidden: &mut [f32], other: &mut [f32]| {
            let functions = &weights.functions;
            GateStep { functions, phase, units, gates, inputs: products, starts, is_active, hidden, other }.compute();
        };
        if let Some(candidate) = &weights.candidate {
            let is_late = self.plan.cell == RecurrentCell::Gru { linear_before_reset: true };
            if !is_late {
                step(Phase::Reset, gates, hidden, other);
            }
            let (states, addends, starts) = match is_late {
                true => (&**hidden, &weights.bias[..], &*zeros),
                false => (&**other, &products[2 * units..], &*starts),
            };
            let product = StateProduct { weights: candidate, states, pitch, addends, starts };
            product.compute(workers, &mut gates[2 * units..], stride);
        }
        step(Phase::States, gates, hidden, other);
    }

    /// Stores the last hidden or cell states of a group.
    fn store_states(&self, group: &SequenceGroup<'_>, is_hidden: bool, out: &mut [f32]) {
        let RecurrentPlan { units, hidden, .. } = *self.plan;
        let states = if is_hidden { &group.hidden } else { &group.other };
        for (row, state) in states.chunks_exact(units).enumerate() {
            let at = self.plan.state_row(group.direction, group.first + row) * hidden;
            out[at..][..hidden].copy_from_slice(&state[..hidden]);
        }
    }
}

impl RecurrentPlan {
    /// Returns the row of a sequence in tensors of states.
    fn state_row(&self, direction: usize, sequence: usize) -> usize {
        if self.is_batch_first { sequence * self.directions + direction } else { direction * self.batch + sequence }
    }

    /// Returns the row of a time step in the tensor of all hidden states.
    fn output_row(&self, time: usize, direction: usize, sequence: usize) -> usize {
        match self.is_batch_first {
            true => (sequence * self.steps + time) * self.directions + direction,
            false => (time * self.directions + direction) * self.batch + sequence,
        }
    }
}

/// Returns memory for `size` numbers; `None` if it is exhausted.
fn memory_of(size: usize) -> Option<AlignedBytes> {
    let (kept, bytes) = (MEMORY.take(), size.checked_mul(size_of::<f32>())?);
    if kept.as_ref().len() >= bytes { Some(kept) } else { AlignedBytes::try_zeros(bytes) }
}
