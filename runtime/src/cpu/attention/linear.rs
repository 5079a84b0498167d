//! Linear attention: a state per head, a matrix from keys to values, that each step updates and reads.

use super::super::joint::JointKernel;
use super::super::narrow::Narrow;
use super::super::operands::{Operands, have_extents};
use super::super::{Prepared, extents};
use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use gradus_ir::{Module, OpArgs};
use gradus_networks::graph::linear_attrs;

/// Extents of a linear attention, and the rule of its state.
#[derive(Clone, Copy)]
struct LinearPlan {
    steps: usize,
    heads: usize,
    /// Number of query heads that read one state.
    group: usize,
    /// Numbers of elements of a key and of a value.
    key: usize,
    value: usize,
    /// Numbers of decays and of write strengths of a step; 0 without.
    decays: usize,
    betas: usize,
    scale: f32,
}

/// The operands of a run.
struct LinearOperands<'a> {
    query: &'a [f32],
    key: &'a [f32],
    value: &'a [f32],
    decay: &'a [f32],
    beta: &'a [f32],
}

/// Prepares `graph.linear_attention` of floats of at most 32 bits.
pub(in crate::cpu) fn linear_attention(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (attrs, kind) = (linear_attrs(args).ok()?, Narrow::of(args, 0)?);
    let &[_, to] = args.result_types else { return None };
    let width = |name| extents(m, m.value_type(args.opt_operand(name)?))?.get(2).copied();
    let [queries, heads] = attrs.heads.map(|heads| heads as usize);
    let [batch, steps, query] = extents(m, args.operand_type(0))?[..] else { return None };
    let (key, value) = (query / queries, width("value")? / heads);
    let scale = if attrs.scale == 0.0 { 1.0 / (key as f64).sqrt() } else { attrs.scale } as f32;
    let [decays, betas] = ["decay", "beta"].map(|name| width(name).unwrap_or(0));
    let plan = LinearPlan { steps, heads, group: queries / heads, key, value, decays, betas, scale };
    let fits = extents(m, to)? == [batch, heads, key, value]
        && query == queries * key
        && [0, heads, heads * key].contains(&decays)
        && [0, 1, heads].contains(&betas)
        && [("key", heads * key), ("value", heads * value), ("decay", decays), ("beta", betas)]
            .iter()
            .all(|&(name, width)| have_extents(args, name, &[batch, steps, width]))
        && have_extents(args, "past_state", &[batch, heads, key, value]);
    (fits && batch * steps * key * value > 0).then_some(())?;
    let of = |name| args.opt_operand(name).map_or(Some(kind), |value| Narrow::of_type(m, m.value_type(value)));
    let kinds = [of("key")?, of("value")?, of("past_state")?, of("decay")?, of("beta")?];
    let to = Narrow::of_type(m, to)?;
    let mut operands = Operands::new(args);
    let inputs = ["key", "value", "past_state", "decay", "beta"].map(|name| operands.input(name));
    let work = batch * steps * queries * key * value / 4;
    let kernel = JointKernel::new(operands.inputs()?, work, move |workers, data, out| {
        let float = |i: usize| inputs[i].map(|at| kinds[i].floats(data[at]));
        let (query, [k, v, past, decay, beta]) = (kind.floats(data[0]), [0, 1, 2, 3, 4].map(float));
        let [keys, values, decay, beta] = [&k, &v, &decay, &beta].map(|floats| floats.as_deref().unwrap_or_default());
        let inputs = LinearOperands { query: &query, key: keys, value: values, decay, beta };
        let mut out = out.iter_mut().map(|out| out.as_deref_mut());
        let [y, state] = [(); 2].map(|()| out.next().flatten());
        kind.write_needed(y, |y| {
            to.write_needed(state, |state| {
                let mut own = Vec::new();
                let states = state.unwrap_or_else(|| {
                    own.resize(batch * heads * key * value, 0.0);
                    &mut own
                });
                match &past {
                    Some(past) => states.copy_from_slice(past),
                    None => states.fill(0.0),
                }
                plan.compute(workers, &inputs, states, y);
                Ok(())
            })
        })
    });
    Some(Prepared::Joint(kernel))
}

impl LinearPlan {
    /// Runs all steps from the initial states, which become the last ones.
    fn compute(&self, workers: &Workers, inputs: &LinearOperands<'_>, states: &mut [f32], y: Option<&mut [f32]>) {
        let (LinearPlan { steps, heads, group, key, value, .. }, rows) = (*self, self.group * self.value);
        // The output of each head by itself, `[B, H, T, group * value]`.
        let mut outputs = vec![0.0; states.len() / (key * value) * steps * rows];
        let threads = workers.for_steps(outputs.len() / 8 * key);
        let of_heads = states.chunks_exact_mut(key * value).zip(outputs.chunks_exact_mut(steps * rows)).enumerate();
        workers.share(threads, of_heads, |(at, (state, outputs))| {
            run_widest(HeadSteps { plan: self, inputs, at: [at / heads, at % heads], state, outputs });
        });
        let Some(y) = y else { return };
        for (at, outputs) in outputs.chunks_exact(steps * rows).enumerate() {
            for (step, output) in outputs.chunks_exact(rows).enumerate() {
                let first = ((at / heads * steps + step) * heads + at % heads) * group * value;
                y[first..first + rows].copy_from_slice(output);
            }
        }
    }
}

/// The steps of a head.
struct HeadSteps<'a> {
    plan: &'a LinearPlan,
    inputs: &'a LinearOperands<'a>,
    /// Index in the batch, and head.
    at: [usize; 2],
    state: &'a mut [f32],
    outputs: &'a mut [f32],
}

impl Loops for HeadSteps<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let HeadSteps { plan, inputs, at: [batch, head], state, outputs } = self;
        let LinearPlan { steps, heads, group, key: dk, value: dv, decays, betas, scale } = *plan;
        let mut value = vec![0.0; dv];
        for (step, outputs) in outputs.chunks_exact_mut(group * dv).enumerate() {
            let row = batch * steps + step;
            let key = &inputs.key[(row * heads + head) * dk..][..dk];
            value.copy_from_slice(&inputs.value[(row * heads + head) * dv..][..dv]);
            if decays > 0 {
                let width = decays / heads;
                let decays = &inputs.decay[(row * heads + head) * width..][..width];
                for (i, state) in state.chunks_exact_mut(dv).enumerate() {
                    let factor = decays[i % width].exp();
                    state.iter_mut().for_each(|s| *s *= factor);
                }
            }
            if betas > 0 {
                let beta = inputs.beta[row * betas + head * betas / heads];
                let mut known = vec![0.0; dv];
                read::<M>(state, key, &mut known);
                value.iter_mut().zip(&known).for_each(|(v, known)| *v = beta * (*v - known));
            }
            for (state, &k) in state.chunks_exact_mut(dv).zip(key) {
                state.iter_mut().zip(&value).for_each(|(s, &v)| *s = M::of(k, v, *s));
            }
            for (output, query) in outputs.chunks_exact_mut(dv).zip(head * group..) {
                output.fill(0.0);
                read::<M>(state, &inputs.query[(row * heads * group + query) * dk..][..dk], output);
                output.iter_mut().for_each(|y| *y *= scale);
            }
        }
    }
}

/// Adds the product of a key and the state to sums.
#[inline(always)]
fn read<M: MultiplyAdd>(state: &[f32], key: &[f32], sums: &mut [f32]) {
    for (state, &k) in state.chunks_exact(sums.len()).zip(key) {
        sums.iter_mut().zip(state).for_each(|(sum, &s)| *sum = M::of(k, s, *sum));
    }
}
