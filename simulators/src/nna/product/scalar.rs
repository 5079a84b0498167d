//! Scalar code, and the requantization of sums.

use super::registers::{BYTES, CONSTANTS, FEATURES, SCALARS, SUMS, WEIGHTS};
use super::{Layout, Mapping, Shape};
use crate::nna::code::CodeBuilder;
use crate::nna::instruction::{CONFIG, Form};
use crate::nna::machine::{CHANNELS, VECTOR};

/// Products per iteration of the innermost loop.
const UNROLLED: usize = 8;

/// Emits the columns that the mapping leaves: those beyond a multiple of 32 of the diagonal mapping without padding, all of the scalar one.
pub fn emit(e: &mut CodeBuilder, layout: &Layout) {
    let Shape { rows, depth, columns } = layout.shape;
    let first = match layout.plan.mapping {
        Mapping::Dense => columns,
        Mapping::Diagonal if layout.plan.padded => columns,
        Mapping::Diagonal => columns / CHANNELS * CHANNELS,
        Mapping::Scalar => 0,
    };
    if first == columns {
        return;
    }
    let acc = SCALARS;
    e.push(Form::Li, &[WEIGHTS, layout.weights as i32]);
    e.push(Form::Li, &[SUMS, (layout.sums as usize + 4 * first) as i32]);
    e.repeat(rows, |e| {
        e.push(Form::Li, &[FEATURES, (layout.features as usize + first) as i32]);
        e.repeat(columns - first, |e| {
            match layout.plan.initial {
                true => e.push(Form::Lw, &[acc, SUMS, 0]),
                false => e.push(Form::Li, &[acc, 0]),
            }
            e.repeat(depth / UNROLLED, |e| multiply(e, UNROLLED, columns));
            multiply(e, depth % UNROLLED, columns);
            e.push(Form::Sw, &[acc, SUMS, 0]);
            e.advance(SUMS, 4);
            e.advance(WEIGHTS, -(depth as i64));
            e.advance(FEATURES, 1 - (depth * columns) as i64);
        });
        e.advance(WEIGHTS, depth as i64);
        e.advance(SUMS, 4 * (layout.inner - (columns - first)) as i64);
    });
}

/// Multiplies `count` elements of a row and a column, and advances in both.
fn multiply(e: &mut CodeBuilder, count: usize, columns: usize) {
    for i in 0..count {
        let factor = SCALARS + 1 + 2 * i as i32;
        e.push(Form::Lb, &[factor, WEIGHTS, i as i32]);
        e.push(Form::Lb, &[factor + 1, FEATURES, (i * columns) as i32]);
        e.push(Form::Madd, &[SCALARS, factor, factor + 1]);
    }
    e.advance(WEIGHTS, count as i64);
    e.advance(FEATURES, (count * columns) as i64);
}

/// Emits the requantization of all sums.
pub fn emit_requantize(e: &mut CodeBuilder, layout: &Layout) {
    let is_dense = layout.plan.mapping == Mapping::Dense;
    e.push(Form::Nncfg, &[3, i32::from(layout.plan.requantize.unwrap_or(0))]);
    e.push(Form::Nnsync, &[CONFIG]);
    e.push(Form::Li, &[SUMS, layout.sums as i32]);
    e.push(Form::Li, &[BYTES, layout.bytes as i32]);
    e.push(Form::Li, &[CONSTANTS, layout.scales as i32]);
    e.repeat(layout.outer, |e| {
        e.repeat(layout.inner / CHANNELS, |e| {
            for i in 0..2 {
                let (sum, scale) = (4 * i, 4 * i + 1);
                e.push(Form::La, &[sum, 2, SUMS, i * VECTOR as i32]);
                e.push(Form::La, &[scale, 2, CONSTANTS, if is_dense { i * VECTOR as i32 } else { 0 }]);
                e.push(Form::Rq, &[8, sum, scale, i]);
            }
            e.push(Form::Sa, &[8, 0, BYTES, 0]);
            e.advance(SUMS, 2 * VECTOR as i64);
            e.advance(BYTES, CHANNELS as i64);
            e.advance(CONSTANTS, if is_dense { 2 * VECTOR as i64 } else { 0 });
        });
        e.advance(CONSTANTS, if is_dense { -4 * layout.inner as i64 } else { VECTOR as i64 });
    });
}
