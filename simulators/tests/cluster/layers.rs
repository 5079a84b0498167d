//! Random layers: records that cover whole tensors, and the part of a cluster.

use super::plain::INPUT;
use super::random::Rng;
use gradus_simulators::cluster::*;
use std::ops::Range;

/// A layer: a record on dense tensors whose first bytes are 0, with parameters from byte 0 on.
#[derive(Clone, Debug)]
pub struct Layer {
    pub record: Record,
    pub params: Vec<u8>,
    /// Whether clusters divide channels; else rows.
    pub by_channels: bool,
}

/// Returns a dense tile.
pub fn dense(offset: u32, [rows, cols, channels]: [u32; 3], elem: Elem) -> Tile {
    let channel = elem.bytes();
    let pixel = channel * channels;
    Tile { offset, row: pixel * cols, pixel, channel, rows, cols, channels, elem }
}

/// Parameters under construction.
struct Params<'a> {
    rng: &'a mut Rng,
    bytes: Vec<u8>,
}

impl Params<'_> {
    /// Begins an aligned array.
    fn begin(&mut self) -> u32 {
        self.bytes.resize(self.bytes.len().next_multiple_of(32), 0);
        self.bytes.len() as u32
    }

    fn floats(&mut self, count: u32, scale: f32) -> u32 {
        let at = self.begin();
        for _ in 0..count {
            let value = self.rng.float(scale);
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
        at
    }

    fn elements(&mut self, elem: Elem, count: u32) -> u32 {
        let at = self.begin();
        let values: Vec<f32> = (0..count).map(|_| self.rng.element(elem)).collect();
        self.bytes.extend(super::plain::bytes_of(elem, &values));
        at
    }

    fn scale(&mut self, elem: Elem) -> Scale {
        Scale { scale: self.rng.float(0.1).abs() + 0.01, zero: self.rng.element(elem) as i32 }
    }
}

/// Returns a random layer on an input.
pub fn random_layer(rng: &mut Rng, input: [u32; 3], elem: Elem) -> Layer {
    let kind = rng.range(0, 9);
    let by_channels = rng.chance(30);
    let mut params = Params { rng, bytes: Vec::new() };
    let tile = dense(0, input, elem);
    let record = match kind {
        0..=4 => random_conv(&mut params, tile),
        5 | 6 => random_pool(&mut params, tile),
        7 if elem.is_float() && !by_channels => Record::Softmax(Softmax { task: 0, input: tile, output: tile }),
        8 if elem.is_float() => {
            let size = params.rng.range(1, 6);
            Record::Lrn(Lrn { task: 0, input: tile, output: tile, before: 0, size, alpha: 0.5, beta: 0.75, bias: 1.5 })
        }
        _ => {
            let stages = random_stages(&mut params, tile, tile, false);
            Record::Map(Map { task: 0, input: tile, output: tile, stages })
        }
    };
    // Scales and biases of an affine stage are one array, which only whole outputs find where it is.
    let is_affine = |stage: &Stage| matches!(stage, Stage::Affine { .. });
    let by_channels = by_channels && !record.stages().into_iter().flatten().flatten().any(is_affine);
    Layer { record, params: params.bytes, by_channels }
}

/// Returns a random window and the extents of its output.
fn random_window(rng: &mut Rng, tile: Tile) -> (Window, [u32; 2]) {
    loop {
        let mut pair = |low, high| [rng.range(low, high), rng.range(low, high)];
        let (kernel, stride, dilation) = (pair(1, 3), pair(1, 2), pair(1, 2));
        let (before, after) = (pair(0, 2), pair(0, 2));
        let extent = |axis: usize, n: u32| {
            let room = n + before[axis] + after[axis];
            let reach = (kernel[axis] - 1) * dilation[axis] + 1;
            (room.checked_sub(reach)? / stride[axis] + 1).into()
        };
        let output = [extent(0, tile.rows), extent(1, tile.cols)].map(|n: Option<u32>| n.unwrap_or(0));
        if output.iter().all(|n| (1..=16).contains(n)) {
            return (Window { kernel, stride, dilation, first: before.map(|n| -(n as i32)) }, output);
        }
    }
}

fn random_conv(params: &mut Params<'_>, input: Tile) -> Record {
    let (window, [rows, cols]) = random_window(params.rng, input);
    let divisors: Vec<u32> = (1..=input.channels).filter(|n| input.channels.is_multiple_of(*n)).collect();
    let groups = if params.rng.chance(40) { 1 } else { params.rng.pick(&divisors) };
    let most = (24 / groups).max(1);
    let group_out = if groups == input.channels && params.rng.chance(60) { 1 } else { params.rng.range(1, most) };
    let group_in = input.channels / groups;
    let channels = groups * group_out;
    let weights_elem = match input.elem {
        float if float.is_float() => float,
        _ => params.rng.pick(&[Elem::I8, Elem::U8]),
    };
    let output = dense(0, [rows, cols, channels], input.elem);
    let terms = window.kernel[0] * window.kernel[1] * group_in;
    let weights = params.elements(weights_elem, channels * terms);
    let bias = params.rng.chance(70).then(|| match input.elem.is_float() {
        true => params.floats(channels, 1.0),
        false => {
            let at = params.begin();
            let values: Vec<i32> = (0..channels).map(|_| params.rng.range(0, 2000) as i32 - 1000).collect();
            params.bytes.extend(values.into_iter().flat_map(i32::to_le_bytes));
            at
        }
    });
    let zero = if input.elem.is_float() { 0 } else { params.rng.element(input.elem) as i32 };
    let weights_zero = if input.elem.is_float() { 0 } else { params.rng.element(weights_elem) as i32 };
    let stages = random_stages(params, input, output, !input.elem.is_float());
    Record::Conv(Conv {
        input,
        output,
        weights,
        weights_elem,
        bias,
        window,
        group_in,
        group_out,
        zero,
        weights_zero,
        stages,
        ..Conv::default()
    })
}

fn random_pool(params: &mut Params<'_>, input: Tile) -> Record {
    let (window, [rows, cols]) = loop {
        let (window, [rows, cols]) = random_window(params.rng, input);
        // No window is in the padding only.
        let is_inside = |(y, x): (i64, i64)| (0..input.rows.into()).contains(&y) && (0..input.cols.into()).contains(&x);
        let mut outputs = (0..rows as usize).flat_map(|y| (0..cols as usize).map(move |x| [y, x]));
        if outputs.all(|at| super::plain::taps(&window, at).into_iter().any(is_inside)) {
            break (window, [rows, cols]);
        }
    };
    let output = dense(0, [rows, cols, input.channels], input.elem);
    let is_max = params.rng.chance(50);
    let divisor = if params.rng.chance(50) { 0 } else { window.kernel[0] * window.kernel[1] };
    // A window of padding only has no mean.
    let divisor = divisor.max(u32::from(!is_max));
    let stages = random_stages(params, input, output, false);
    let stages = if is_max || input.elem.is_float() { stages } else { Stages::default() };
    Record::Pool(Pool { task: 0, input, output, window, is_max, divisor, stages })
}

/// Returns random stages; their other operands are the input or parameters.
fn random_stages(params: &mut Params<'_>, input: Tile, output: Tile, sums: bool) -> Stages {
    let (elem, channels) = (output.elem, output.channels);
    let mut stages = Vec::new();
    if sums {
        let scales = params.floats(channels, 0.01);
        stages.push(Stage::Requantize { scales, zero: params.rng.element(elem) as i32, elem });
    }
    let is_like_input = [input.rows, input.cols, input.channels] == [output.rows, output.cols, output.channels];
    for _ in 0..params.rng.range(0, 2) {
        let choice = params.rng.range(0, 7);
        if elem.is_float() {
            let other = random_other(params, output, is_like_input);
            stages.push(match choice {
                0 => Stage::Affine { scales: params.floats(2 * channels, 1.0) },
                1 if is_like_input => Stage::Add { other: Tile { offset: INPUT, ..input } },
                1 | 2 => Stage::Mul { other },
                3 => Stage::Clamp { low: -0.5, high: 6.0 },
                4 => Stage::Leaky { slope: 0.1 },
                5 => Stage::Sigmoid,
                6 => Stage::HardSigmoid { alpha: 0.2, beta: 0.5 },
                _ => Stage::HardSwish,
            });
            continue;
        }
        let [x, y, to] = [0; 3].map(|_| params.scale(elem));
        let other = random_other(params, output, is_like_input);
        match choice {
            0 | 1 if is_like_input => {
                stages.push(Stage::QuantizedAdd { other: Tile { offset: INPUT, ..input }, x, y, to, elem });
            }
            0..=2 => stages.push(Stage::QuantizedMul { other, x, y, to, elem }),
            3 => stages.push(Stage::Clamp { low: 3.0, high: 100.0 }),
            4 if stages.len() < 4 => {
                stages.extend([Stage::Dequantize { from: x }, Stage::HardSwish, Stage::Quantize { to, elem }]);
            }
            _ => {
                let per_channel = params.rng.chance(50);
                let tables = params.elements(elem, if per_channel { 256 * channels } else { 256 });
                stages.push(Stage::Table { tables, per_channel, from: elem, to: elem });
            }
        }
    }
    std::array::from_fn(|i| stages.get(i).copied())
}

/// Returns another operand with extents of the output or of 1.
fn random_other(params: &mut Params<'_>, output: Tile, is_like_input: bool) -> Tile {
    if is_like_input && params.rng.chance(30) {
        return Tile { offset: INPUT, ..output };
    }
    let rng = &mut *params.rng;
    let mut extent = |n: u32| if rng.chance(60) { 1 } else { n };
    let extents = [extent(output.rows), extent(output.cols), extent(output.channels)];
    let offset = params.elements(output.elem, extents.iter().product());
    dense(offset, extents, output.elem)
}

/// The bases of a layer's tensors and parameters in the memories of clusters.
#[derive(Clone, Copy)]
pub struct Bases {
    pub input: u32,
    pub output: u32,
    pub params: u32,
}

/// A box of a tensor: rows and channels.
pub type Part = [Range<u32>; 2];

impl Layer {
    /// Returns the part of the output of cluster `i` of `n`.
    pub fn output_part(&self, i: u32, n: u32) -> Part {
        let output = self.record.output().expect("an output");
        let part = |extent: u32| i * extent / n..(i + 1) * extent / n;
        if self.by_channels { [0..output.rows, part(output.channels)] } else { [part(output.rows), 0..output.channels] }
    }

    fn window(&self) -> Option<Window> {
        match self.record {
            Record::Conv(conv) => Some(conv.window),
            Record::Pool(pool) => Some(pool.window),
            _ => None,
        }
    }

    /// Returns the rows of the input that a part of the output reads, its operands of stages included.
    pub fn input_rows(&self, part: &Part) -> Range<u32> {
        let rows = self.record.input().expect("an input").rows;
        let Some(w) = self.window() else { return part[0].clone() };
        let at = |y: u32, tap: u32| i64::from(y * w.stride[0] + tap * w.dilation[0]) + i64::from(w.first[0]);
        let start = at(part[0].start, 0).clamp(0, i64::from(rows) - 1) as u32;
        let end = (at(part[0].end - 1, w.kernel[0] - 1) + 1).clamp(i64::from(start) + 1, rows.into()) as u32;
        let reads_input = |stage: &Stage| stage.other().is_some_and(|tile| tile.offset == INPUT);
        match self.record.stages().into_iter().flatten().flatten().any(reads_input) {
            true => start.min(part[0].start)..end.max(part[0].end),
            false => start..end,
        }
    }

    /// Returns the record of a part of the output.
    pub fn slice(&self, part: &Part, bases: Bases, task: u32) -> Record {
        let rows = self.input_rows(part);
        let slicer = Slicer { part, rows, bases };
        match self.record {
            Record::Conv(conv) => Record::Conv(slicer.conv(&conv, task)),
            Record::Pool(pool) => Record::Pool(Pool {
                task,
                input: slicer.input(&pool.input, part[1].clone()),
                output: slicer.output(&pool.output),
                window: slicer.window(&pool.window),
                stages: slicer.stages(&pool.stages),
                ..pool
            }),
            Record::Map(map) => Record::Map(Map {
                task,
                input: slicer.input(&map.input, part[1].clone()),
                output: slicer.output(&map.output),
                stages: slicer.stages(&map.stages),
            }),
            Record::Softmax(softmax) => Record::Softmax(Softmax {
                task,
                input: slicer.input(&softmax.input, part[1].clone()),
                output: slicer.output(&softmax.output),
            }),
            Record::Lrn(lrn) => {
                let before = ((lrn.size - 1) / 2).min(part[1].start);
                let end = (part[1].end + (lrn.size - 1).div_ceil(2)).min(lrn.input.channels);
                let input = slicer.input(&lrn.input, part[1].start - before..end);
                Record::Lrn(Lrn { task, input, output: slicer.output(&lrn.output), before, ..lrn })
            }
            other => other,
        }
    }
}

struct Slicer<'a> {
    part: &'a Part,
    rows: Range<u32>,
    bases: Bases,
}

/// Returns a box of a tile.
fn crop(tile: &Tile, rows: Range<u32>, channels: Range<u32>) -> Tile {
    Tile {
        offset: tile.offset + rows.start * tile.row + channels.start * tile.channel,
        rows: rows.end - rows.start,
        channels: channels.end - channels.start,
        ..*tile
    }
}

impl Slicer<'_> {
    fn input(&self, tile: &Tile, channels: Range<u32>) -> Tile {
        crop(&Tile { offset: self.bases.input, ..*tile }, self.rows.clone(), channels)
    }

    fn output(&self, tile: &Tile) -> Tile {
        crop(&Tile { offset: self.bases.output, ..*tile }, self.part[0].clone(), self.part[1].clone())
    }

    fn window(&self, window: &Window) -> Window {
        let first = window.first[0] + (self.part[0].start * window.stride[0]) as i32 - self.rows.start as i32;
        Window { first: [first, window.first[1]], ..*window }
    }

    fn conv(&self, conv: &Conv, task: u32) -> Conv {
        let channels = self.part[1].clone();
        let groups = channels.start / conv.group_out..channels.end.div_ceil(conv.group_out);
        let terms = conv.window.kernel[0] * conv.window.kernel[1] * conv.group_in;
        Conv {
            task,
            input: self.input(&conv.input, groups.start * conv.group_in..groups.end * conv.group_in),
            output: self.output(&conv.output),
            weights: self.bases.params + conv.weights + channels.start * terms * conv.weights_elem.bytes(),
            bias: conv.bias.map(|bias| self.bases.params + bias + 4 * channels.start),
            window: self.window(&conv.window),
            skip: channels.start % conv.group_out,
            stages: self.stages(&conv.stages),
            ..*conv
        }
    }

    fn other(&self, tile: &Tile) -> Tile {
        let base = if tile.offset == INPUT { self.bases.input } else { self.bases.params + tile.offset };
        let part = |extent: u32, part: &Range<u32>| if extent == 1 { 0..1 } else { part.clone() };
        let (rows, channels) = (part(tile.rows, &self.part[0]), part(tile.channels, &self.part[1]));
        crop(&Tile { offset: base, ..*tile }, rows, channels)
    }

    fn stages(&self, stages: &Stages) -> Stages {
        let start = self.part[1].start;
        stages.map(|stage| {
            let mut stage = stage?;
            match &mut stage {
                Stage::Requantize { scales, .. } => *scales += self.bases.params + 4 * start,
                Stage::Affine { scales } => *scales += self.bases.params,
                Stage::Table { tables, per_channel, .. } => {
                    *tables += self.bases.params + if *per_channel { 256 * start } else { 0 };
                }
                Stage::Add { other }
                | Stage::Mul { other }
                | Stage::QuantizedAdd { other, .. }
                | Stage::QuantizedMul { other, .. } => *other = self.other(other),
                _ => {}
            }
            Some(stage)
        })
    }
}
