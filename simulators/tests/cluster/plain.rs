//! Layers by plain loops: a record that covers whole tensors, its parameters as bytes.

use gradus_simulators::cluster::*;
use half::f16;

/// Returns the value of element `i` of bytes.
pub fn element(elem: Elem, bytes: &[u8], i: usize) -> f32 {
    match elem {
        Elem::F32 => f32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().expect("4 bytes")),
        Elem::F16 => f16::from_le_bytes(bytes[2 * i..2 * i + 2].try_into().expect("2 bytes")).to_f32(),
        Elem::I8 => f32::from(bytes[i] as i8),
        Elem::U8 => f32::from(bytes[i]),
    }
}

/// Returns the bytes of values.
pub fn bytes_of(elem: Elem, values: &[f32]) -> Vec<u8> {
    let bytes = |&v: &f32| match elem {
        Elem::F32 => v.to_le_bytes().to_vec(),
        Elem::F16 => f16::from_f32(v).to_le_bytes().to_vec(),
        Elem::I8 => vec![v.round_ties_even() as i8 as u8],
        Elem::U8 => vec![v.round_ties_even() as u8],
    };
    values.iter().flat_map(bytes).collect()
}

/// Returns the values of bytes.
pub fn values_of(elem: Elem, bytes: &[u8]) -> Vec<f32> {
    (0..bytes.len() / elem.bytes() as usize).map(|i| element(elem, bytes, i)).collect()
}

/// A layer's operands: the input tensor and the parameters.
pub struct Operands<'a> {
    pub input: &'a [f32],
    pub params: &'a [u8],
}

impl Operands<'_> {
    fn float(&self, at: u32, i: usize) -> f32 {
        element(Elem::F32, &self.params[at as usize..], i)
    }

    /// The input at a position, `None` in padding.
    fn at(&self, tile: &Tile, y: i64, x: i64, c: usize) -> Option<f32> {
        let inside = (0..i64::from(tile.rows)).contains(&y) && (0..i64::from(tile.cols)).contains(&x);
        inside.then(|| self.input[(y as usize * tile.cols as usize + x as usize) * tile.channels as usize + c])
    }
}

/// A sum before the stages.
#[derive(Clone, Copy)]
enum Sum {
    Float(f32),
    Integer(i32),
}

/// Computes the bytes of a layer's output.
pub fn layer(record: &Record, operands: &Operands<'_>) -> Vec<u8> {
    let (input, output) = (record.input().expect("an input"), record.output().expect("an output"));
    let mut values = Vec::new();
    for y in 0..output.rows as usize {
        for x in 0..output.cols as usize {
            for k in 0..output.channels as usize {
                let sum = match record {
                    Record::Conv(conv) => conv_sum(conv, operands, [y, x, k]),
                    Record::Pool(pool) => Sum::Float(pool_value(pool, operands, [y, x, k])),
                    Record::Softmax(_) => Sum::Float(softmax(input, operands, [y, x, k])),
                    Record::Lrn(lrn) => Sum::Float(lrn_value(lrn, operands, [y, x, k])),
                    _ => Sum::Float(operands.at(input, y as i64, x as i64, k).expect("an element")),
                };
                let stages = record.stages().into_iter().flatten().flatten();
                let value = stages.fold(sum, |sum, stage| Sum::Float(apply(stage, sum, operands, output, [y, x, k])));
                let Sum::Float(value) = value else { panic!("sums are requantized") };
                values.push(value);
            }
        }
    }
    bytes_of(output.elem, &values)
}

/// The positions of a window's taps.
pub fn taps(window: &Window, [y, x]: [usize; 2]) -> Vec<(i64, i64)> {
    let at = |axis: usize, output: usize, tap: u32| {
        i64::from(window.first[axis])
            + output as i64 * i64::from(window.stride[axis])
            + i64::from(tap * window.dilation[axis])
    };
    let rows = 0..window.kernel[0];
    rows.flat_map(|ky| (0..window.kernel[1]).map(move |kx| (at(0, y, ky), at(1, x, kx)))).collect()
}

fn conv_sum(conv: &Conv, operands: &Operands<'_>, [y, x, k]: [usize; 3]) -> Sum {
    let group_in = conv.group_in as usize;
    let first = (k + conv.skip as usize) / conv.group_out as usize * group_in;
    let weights = &operands.params[conv.weights as usize..];
    let mut at = k * group_in * (conv.window.kernel[0] * conv.window.kernel[1]) as usize;
    let mut float = conv.bias.map_or(0.0, |bias| operands.float(bias, k));
    let mut integer = conv.bias.map_or(0, |bias| operands.float(bias, k).to_bits() as i32);
    for (y, x) in taps(&conv.window, [y, x]) {
        for c in 0..group_in {
            let value = operands.at(&conv.input, y, x, first + c).unwrap_or(conv.zero as f32);
            let weight = element(conv.weights_elem, weights, at);
            at += 1;
            float += value * weight;
            integer += (value as i32 - conv.zero) * (weight as i32 - conv.weights_zero);
        }
    }
    if conv.input.elem.is_float() { Sum::Float(float) } else { Sum::Integer(integer) }
}

fn pool_value(pool: &Pool, operands: &Operands<'_>, [y, x, k]: [usize; 3]) -> f32 {
    let taps = taps(&pool.window, [y, x]);
    let values: Vec<f32> = taps.into_iter().filter_map(|(y, x)| operands.at(&pool.input, y, x, k)).collect();
    if pool.is_max {
        return values.iter().fold(f32::NEG_INFINITY, |max, &v| max.max(v));
    }
    let count = if pool.divisor == 0 { values.len() as u32 } else { pool.divisor };
    (values.iter().map(|&v| f64::from(v)).sum::<f64>() / f64::from(count)) as f32
}

fn softmax(tile: &Tile, operands: &Operands<'_>, [y, x, k]: [usize; 3]) -> f32 {
    let values = (0..tile.channels as usize).map(|c| operands.at(tile, y as i64, x as i64, c).expect("an element"));
    let values: Vec<f64> = values.map(f64::from).collect();
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = values.iter().map(|v| (v - max).exp()).sum();
    ((values[k] - max).exp() / sum) as f32
}

fn lrn_value(lrn: &Lrn, operands: &Operands<'_>, [y, x, k]: [usize; 3]) -> f32 {
    let value = |c: usize| f64::from(operands.at(&lrn.input, y as i64, x as i64, c).expect("an element"));
    let size = lrn.size as usize;
    let last = (k + (size - 1) / 2 + (size - 1) % 2).min(lrn.input.channels as usize - 1);
    let sum = (k.saturating_sub((size - 1) / 2)..=last).fold(0.0, |sum, c| sum + value(c) * value(c));
    let scaled = f64::from(lrn.bias) + f64::from(lrn.alpha) / size as f64 * sum;
    (value(k) / scaled.powf(lrn.beta.into())) as f32
}

fn saturate(x: f64, elem: Elem) -> f32 {
    match elem {
        Elem::U8 => f32::from(x as u8),
        _ => f32::from(x as i8),
    }
}

fn quantize(x: f32, to: Scale, elem: Elem) -> f32 {
    saturate(f64::from((x / to.scale).round_ties_even()) + f64::from(to.zero), elem)
}

fn dequantize(x: f32, from: Scale) -> f32 {
    (x - from.zero as f32) * from.scale
}

/// The other operand of a stage: the input tensor (offset 0), or parameters from `offset` on.
fn other(tile: &Tile, operands: &Operands<'_>, [y, x, k]: [usize; 3]) -> f32 {
    let index = |extent: u32, i: usize| if extent == 1 { 0 } else { i };
    let (y, x, k) = (index(tile.rows, y), index(tile.cols, x), index(tile.channels, k));
    if tile.offset == INPUT {
        return operands.input[(y * tile.cols as usize + x) * tile.channels as usize + k];
    }
    let at = y * tile.row as usize + x * tile.pixel as usize + k * tile.channel as usize;
    element(tile.elem, &operands.params[tile.offset as usize + at..], 0)
}

/// The offset of the other operand that is the layer's input.
pub const INPUT: u32 = u32::MAX - 31;

fn apply(stage: &Stage, sum: Sum, operands: &Operands<'_>, output: &Tile, at: [usize; 3]) -> f32 {
    let k = at[2];
    let v = match (stage, sum) {
        (Stage::Requantize { scales, zero, elem }, Sum::Integer(sum)) => {
            let scaled = f64::from(sum) * f64::from(operands.float(*scales, k));
            return saturate(scaled.round_ties_even() + f64::from(*zero), *elem);
        }
        (_, Sum::Float(v)) => v,
        _ => panic!("sums are requantized"),
    };
    let channels = output.channels as usize;
    match *stage {
        Stage::Requantize { .. } => panic!("only sums are requantized"),
        Stage::Affine { scales } => v * operands.float(scales, k) + operands.float(scales, channels + k),
        Stage::Add { other: ref tile } => v + other(tile, operands, at),
        Stage::Mul { other: ref tile } => v * other(tile, operands, at),
        Stage::QuantizedAdd { other: ref tile, x, y, to, elem } => {
            quantize(dequantize(v, x) + dequantize(other(tile, operands, at), y), to, elem)
        }
        Stage::QuantizedMul { other: ref tile, x, y, to, elem } => {
            quantize(dequantize(v, x) * dequantize(other(tile, operands, at), y), to, elem)
        }
        Stage::Clamp { low, high } => v.max(low).min(high),
        Stage::Leaky { slope } => {
            if v < 0.0 {
                slope * v
            } else {
                v
            }
        }
        Stage::Sigmoid if v < 0.0 => v.exp() / (1.0 + v.exp()),
        Stage::Sigmoid => 1.0 / (1.0 + (-v).exp()),
        Stage::HardSigmoid { alpha, beta } => (alpha * v + beta).clamp(0.0, 1.0),
        Stage::HardSwish => v * (v / 6.0 + 0.5).clamp(0.0, 1.0),
        Stage::Table { tables, per_channel, from, to } => {
            let index = if from == Elem::I8 { v as i32 + 128 } else { v as i32 };
            let table = if per_channel { 256 * k } else { 0 };
            element(to, &operands.params[tables as usize..], table + index as usize)
        }
        Stage::Quantize { to, elem } => quantize(v, to, elem),
        Stage::Dequantize { from } => dequantize(v, from),
    }
}
