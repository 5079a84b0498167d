//! Attention with its softmax, by blocks of queries and keys, so that no matrix of all scores exists: each query keeps the largest
//! score and the sum of exponentials so far, and its sum of values is rescaled when a larger score is found.
//!
//! Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022.
//!
//! | file | contents |
//! |---|---|
//! | `heads.rs` | queries, keys and values of a head within their tensors |
//! | `mask.rs` | which keys a query sees, and what is added to its scores |
//! | `block.rs` | the computation of some queries of one head |
//! | `few.rs` | the computation of a few queries of one head of keys |
//! | `linear.rs` | linear attention, by steps |

mod block;
mod few;
mod heads;
mod linear;
mod mask;

use super::narrow::{Narrow, WidenedFloats};
use super::operands::Operands;
use super::products::dense_rows;
use super::{Kernel, Prepared, dtype, extents};
use crate::gemm::{Addresses, RunSplit};
use crate::workers::Workers;
use block::{Head, Scratch};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::graph::attention_attributes;
use heads::{Heads, Sequence};
pub(super) use linear::linear_attention;
use mask::Mask;

/// Maximum number of queries and of keys of a block: its scores, and the keys and values that it reads, stay in the L2 cache.
const BLOCK: [usize; 2] = [96, 512];

/// Numbers that divide those of a block: the rows of a register tile of products, and the lanes of a vector.
const UNITS: [usize; 2] = [12, 16];

/// Prepares `graph.attention` without the scores as a result: the output, and the keys and values with the past ones.
pub(super) fn attention(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let plan = AttentionPlan::of(m, args)?;
    let (kind, results) = (plan.kind, args.result_types.len());
    let mut kernels = Vec::new();
    for (rows, more) in [plan.keys.clone(), plan.values.clone()].into_iter().zip(1..results) {
        let (shape, dtype) = (extents(m, args.result_types[more])?, dtype(m, args.result_types[more])?);
        (shape == rows.shape() && Some(dtype) == super::dtype(m, args.operand_type(0))).then_some(())?;
        kernels.push(Kernel::new(plan.inputs.clone(), move |data, out| {
            rows.copy(data, dtype.size(), out);
            Ok(())
        }));
    }
    let output = Kernel::shared(plan.inputs.clone(), move |workers, data, out| {
        kind.write(out, |out| plan.compute(workers, data, out))
    });
    kernels.insert(0, output);
    Some(Prepared::Kernels(kernels))
}

/// An attention, read from its op.
struct AttentionPlan {
    kind: Narrow,
    /// The operands that are read: all.
    inputs: Vec<usize>,
    queries: Heads,
    keys: Sequence,
    values: Sequence,
    output: Heads,
    mask: Mask,
    scale: f32,
    /// Soft cap of the scores; 0 for none.
    cap: f32,
    /// Number of queries and of keys of a block.
    block: [usize; 2],
    /// The addresses of the queries of a block, and of their probabilities.
    addresses: [Addresses; 2],
}

impl AttentionPlan {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<AttentionPlan> {
        let attrs = attention_attributes(args).ok()?;
        let mut operands = Operands::new(args);
        let [key, value, mask, past_key, past_value, lengths] =
            ["k", "v", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"].map(|name| operands.input(name));
        let inputs = operands.inputs()?;
        let shape = |i: usize| extents(m, args.operand_type(inputs[i]));
        let kind = Narrow::of(args, 0)?;
        let floats = [key, value, past_key, past_value].into_iter().flatten();
        let is_same = floats.into_iter().all(|i| Narrow::of(args, inputs[i]) == Some(kind));
        let is_f32 = attrs.softmax_precision.is_none_or(|precision| precision == DType::F32);
        let new = |i: Option<usize>| Heads::of(&shape(i?)?, attrs.heads[1]);
        let past = |i: Option<usize>| match i {
            Some(i) => Some(Some((i, Heads::of(&shape(i)?, None)?))),
            None => Some(None),
        };
        let queries = Heads::of(&shape(0)?, attrs.heads[0])?;
        let keys = Sequence::new((key?, new(key)?), past(past_key)?)?;
        let values = Sequence::new((value?, new(value)?), past(past_value)?)?;
        let result = extents(m, *args.result_types.first()?)?;
        let output = Heads::of(&result, attrs.heads[0])?;
        let [[b, h, s, d], [kb, kh, total, kd], [vb, vh, vt, vd]] = [queries.shape, keys.shape(), values.shape()];
        let fits = [kb, vb, kd, vh, vt, h % kh.max(1)] == [b, b, d, kh, total, 0] && output.shape == [b, h, s, vd];
        let is_empty = [b, h, s, d, kh, total, vd].contains(&0);
        let is_supported = is_same && is_f32 && fits && !is_empty && args.result_types.len() <= 3;
        let is_typed = dtype(m, args.result_types[0]) == dtype(m, args.operand_type(0));
        (is_supported && is_typed).then_some(())?;
        let place = |i: Option<usize>| i.map(|i| (i, inputs[i]));
        let mask = Mask::of(args, &attrs, place(mask), place(lengths), [b, h, s, total], keys.past_rows())?;
        let block = [even(s, BLOCK[0], UNITS[0]), even(total, BLOCK[1], UNITS[1])];
        let addresses = [dense_rows([block[0], d], RunSplit::FLOATS)?, dense_rows(block, RunSplit::FLOATS)?];
        let scale = attrs.scale.unwrap_or(1.0 / (d as f64).sqrt()) as f32;
        let cap = attrs.softcap as f32;
        Some(AttentionPlan { kind, inputs, queries, keys, values, output, mask, scale, cap, block, addresses })
    }

    /// Computes the output. Threads share the heads of keys, and parts of the queries where these are few.
    fn compute(&self, workers: &Workers, data: &[&[u8]], out: &mut [f32]) -> Result<(), Trap> {
        let [batches, heads, queries, size] = self.queries.shape;
        let [_, key_heads, keys, _] = self.keys.shape();
        let group = heads / key_heads;
        let rows = batches * heads * queries;
        let steps = (rows / 8).saturating_mul(keys).saturating_mul(size);
        let threads = workers.for_steps(steps);
        let wanted = if threads > 1 { 2 * threads } else { 1 };
        let part = queries.div_ceil(wanted.div_ceil(batches * key_heads)).next_multiple_of(self.block[0]);
        let parts = queries.div_ceil(part);
        let work = |i: usize| Work { batch: i / parts / key_heads, head: i / parts % key_heads, rows: Vec::new() };
        let mut work: Vec<Work<'_>> = (0..batches * key_heads * parts).map(work).collect();
        for (row, [batch, head, query]) in self.output.rows_mut(out) {
            let i = (batch * key_heads + head / group) * parts + query / part;
            work[i].rows.push((head, query, row));
        }
        let floats = |i: usize| self.kind.floats(data[i]);
        let inputs = Inputs {
            queries: floats(0),
            keys: self.keys.places().map(|i| i.map(floats)),
            values: self.values.places().map(|i| i.map(floats)),
            mask: self.mask.floats(data),
            data,
        };
        workers.try_share(threads, work.into_iter(), |work| self.head(&inputs, work))
    }

    /// Computes some queries of the heads that share a head of keys.
    fn head(&self, inputs: &Inputs<'_>, mut work: Work<'_>) -> Result<(), Trap> {
        if work.rows.len() <= few::FEW {
            self.few(inputs, &mut work);
            return Ok(());
        }
        let head = Head::new(self, inputs, [work.batch, work.head])?;
        let mut scratch = Scratch::new(self);
        work.rows.sort_unstable_by_key(|&(head, query, _)| (head, query));
        let mut rest = &mut work.rows[..];
        while let Some(&(query_head, first, _)) = rest.first() {
            let count = rest.iter().take(self.block[0]).take_while(|row| row.0 == query_head).count();
            let (block, others) = rest.split_at_mut(count);
            head.block(query_head, first, block, &mut scratch)?;
            rest = others;
        }
        Ok(())
    }
}

/// Divides a number into equal parts of at most `most`, and returns the size of a part, a multiple of `unit` or the number itself.
fn even(number: usize, most: usize, unit: usize) -> usize {
    let part = number.div_ceil(number.div_ceil(most));
    if number < unit { number } else { part.next_multiple_of(unit) }
}

/// The operands of a run in f32.
struct Inputs<'a> {
    queries: WidenedFloats<'a>,
    /// The past keys, and the new ones.
    keys: [Option<WidenedFloats<'a>>; 2],
    values: [Option<WidenedFloats<'a>>; 2],
    mask: Option<WidenedFloats<'a>>,
    /// All operands as they are.
    data: &'a [&'a [u8]],
}

impl Inputs<'_> {
    /// Returns two tensors, of which those that are absent are empty.
    fn pair<'a>(all: &'a [Option<WidenedFloats<'_>>; 2]) -> [&'a [f32]; 2] {
        all.each_ref().map(|floats| floats.as_deref().unwrap_or_default())
    }
}

/// Work of a thread: rows of the output, by their heads and queries, that read the same keys.
struct Work<'a> {
    batch: usize,
    /// The head of the keys.
    head: usize,
    rows: Vec<OutputRow<'a>>,
}

/// A query head, a query, and its row of the output.
type OutputRow<'a> = (usize, usize, &'a mut [f32]);
