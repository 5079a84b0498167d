//! Convolutions.
//!
//! The input becomes a padded image of floats `[rows, cols, channels]`, minus its zero point, in which the taps of each output are runs
//! at the same distances. Weights are packed to `[terms, LANES]`: a block accumulates `PIXELS` outputs of `LANES` channels in
//! registers, which keeps the order of each sum. Differences of bytes are floats too: sums of [`EXACT`] products are exact in them and
//! are added to integers, which is faster than integer products.

use crate::cluster::ClusterMachine;
use crate::cluster::compute::Compute;
use crate::cluster::operands::{Elem, Stages, Tile, Window};
use crate::cluster::rules::{Rule, check_pair, check_stages, check_window, is_value, rules};
use crate::cluster::values::{StageValues, convert, load};
use crate::fields::records;

/// A convolution. Output channel `k` reads the `group_in` input channels from `(k + skip) / group_out * group_in` on. Weights are
/// `[output channels, kernel rows, kernel columns, group_in]`, in `elem` of the input for floats. Floats are summed in f32, in the order of
/// kernel rows, kernel columns and channels, beginning with the bias; integers in i32.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Conv {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output.
    pub output: Tile,
    /// First byte of the weights.
    pub weights: u32,
    /// Type of the weights.
    pub weights_elem: Elem,
    /// First byte of the bias, f32 or i32, one for each output channel.
    pub bias: Option<u32>,
    /// The window.
    pub window: Window,
    /// Input channels of a group.
    pub group_in: u32,
    /// Output channels of a group.
    pub group_out: u32,
    /// Output channels of the first group before the first one of the tile.
    pub skip: u32,
    /// Zero point of the input, which is also the padding.
    pub zero: i32,
    /// Zero point of the weights.
    pub weights_zero: i32,
    /// Stages before the store.
    pub stages: Stages,
}

records! {
    Conv {
        task, input, output, weights, weights_elem, bias, window, group_in, group_out, skip, zero, weights_zero; stages
    }
}

impl Compute for Conv {
    fn stages(&self) -> Option<&Stages> {
        Some(&self.stages)
    }

    fn parameters(&self, f: &mut dyn FnMut(u32, u64)) {
        let size = [self.weights_elem.bytes(), self.window.kernel[0], self.window.kernel[1], self.group_in];
        let size = size.into_iter().fold(u64::from(self.output.channels), |n, size| n.saturating_mul(size.into()));
        f(self.weights, size);
        if let Some(bias) = self.bias {
            f(bias, 4 * u64::from(self.output.channels));
        }
    }

    fn check(&self) -> Rule {
        check_pair(&self.input, &self.output)?;
        rules(&[(self.group_in >= 1 && self.group_out >= 1, "a group has at least one channel")])?;
        check_window(&self.window, self.group_in.into())?;
        let last = (u64::from(self.output.channels) - 1 + u64::from(self.skip)) / u64::from(self.group_out);
        let is_float = self.input.elem.is_float();
        let is_same = self.weights_elem == self.input.elem;
        rules(&[
            (self.skip < self.group_out, "fewer output channels are skipped than a group has"),
            (
                (last + 1).saturating_mul(self.group_in.into()) <= self.input.channels.into(),
                "the input has the channels of all groups",
            ),
            (
                if is_float { is_same } else { !self.weights_elem.is_float() },
                "weights have the type of the input, or are bytes too",
            ),
            (is_value(self.zero, self.input.elem), "the zero point of the input is a value of its type, 0 for floats"),
            (
                is_value(self.weights_zero, self.weights_elem),
                "the zero point of the weights is a value of their type, 0 for floats",
            ),
            (self.weights.is_multiple_of(self.weights_elem.bytes()), "elements are aligned to their size"),
            (self.bias.unwrap_or(0).is_multiple_of(4), "elements are aligned to their size"),
        ])?;
        check_stages(&self.stages, &self.output, !is_float)
    }

    fn values(&self, spm: &[u8]) -> StageValues {
        sums(self, spm)
    }

    fn work(&self, elements: u64) -> u64 {
        if padded_elements(self) > MAX_PADDED { u64::MAX } else { self.products().saturating_add(elements) }
    }

    fn products(&self) -> u64 {
        let [ky, kx] = self.window.kernel;
        let factors = [self.output.rows, self.output.cols, self.output.channels, ky, kx, self.group_in];
        factors.into_iter().fold(1, |n: u64, factor| n.saturating_mul(factor.into()))
    }

    fn product_cycles(&self, machine: &ClusterMachine) -> u64 {
        let rate = machine.product_rate(self.input.elem, self.group_in);
        self.products().saturating_mul(100).div_ceil(rate)
    }
}

/// Largest number of elements of a padded input.
const MAX_PADDED: u64 = 1 << 28;

/// Outputs of a block.
const PIXELS: usize = 4;
/// Channels of a block.
const LANES: usize = 8;
/// Products of 9-bit differences whose sum is exact in a float: `EXACT * 255 * 255 < 2^24`.
const EXACT: usize = 256;

type Block = [[f32; LANES]; PIXELS];

/// Consecutive products: elements of the image from an output's first tap on, and rows of the packed weights.
#[derive(Clone, Copy)]
struct ProductRun {
    image: usize,
    weights: usize,
    len: usize,
}

/// The padded input, and the first tap of each output in it.
struct PaddedInput {
    values: Vec<f32>,
    /// Elements of a row.
    row: usize,
    channels: usize,
    outputs: Vec<usize>,
}

/// Returns rows and columns of the padded input.
fn padded_extents(conv: &Conv) -> [u64; 2] {
    let output = [conv.output.rows, conv.output.cols];
    let w = &conv.window;
    [0, 1].map(|i| {
        let last = (u64::from(output[i]) - 1) * u64::from(w.stride[i]);
        last.saturating_add((u64::from(w.kernel[i]) - 1) * u64::from(w.dilation[i])).saturating_add(1)
    })
}

/// Returns the number of elements of the padded input.
fn padded_elements(conv: &Conv) -> u64 {
    let [rows, cols] = padded_extents(conv);
    rows.saturating_mul(cols).saturating_mul(conv.input.channels.into())
}

/// Returns the sums of all outputs, `[rows, cols, channels]`, bias included.
fn sums(conv: &Conv, spm: &[u8]) -> StageValues {
    let image = padded(conv, load(&conv.input, spm));
    let bias = conv.bias.map(|at| &spm[at as usize..at as usize + 4 * conv.output.channels as usize]);
    let bytes = bias.map(|bytes| bytes.as_chunks::<4>().0);
    if conv.input.elem.is_float() {
        let bias = bytes.map(|all| all.iter().map(|&b| f32::from_le_bytes(b)).collect());
        StageValues::Floats(all_sums(
            conv,
            &image,
            spm,
            &bias.unwrap_or_else(|| vec![0.0; conv.output.channels as usize]),
        ))
    } else {
        let bias = bytes.map(|all| all.iter().map(|&b| i32::from_le_bytes(b)).collect());
        StageValues::Integers(all_sums(
            conv,
            &image,
            spm,
            &bias.unwrap_or_else(|| vec![0; conv.output.channels as usize]),
        ))
    }
}

/// Pads the input with its zero point, and subtracts that.
fn padded(conv: &Conv, mut values: Vec<f32>) -> PaddedInput {
    let zero = conv.zero as f32;
    if zero != 0.0 {
        values.iter_mut().for_each(|v| *v -= zero);
    }
    let ([rows, cols], channels) = (padded_extents(conv).map(|n| n as usize), conv.input.channels as usize);
    let row = cols * channels;
    let [sy, sx] = conv.window.stride.map(|n| n as usize);
    let positions = (0..conv.output.rows as usize).flat_map(|y| (0..conv.output.cols as usize).map(move |x| (y, x)));
    let outputs = positions.map(|(y, x)| y * sy * row + x * sx * channels).collect();
    let [first_row, first_col] = conv.window.first.map(i64::from);
    let (height, width) = (i64::from(conv.input.rows), i64::from(conv.input.cols));
    if [first_row, first_col] == [0, 0] && (height, width) == (rows as i64, cols as i64) {
        return PaddedInput { values, row, channels, outputs };
    }
    let mut image = vec![0.0; rows * row];
    let (left, right) = (first_col.clamp(0, width), (first_col + cols as i64).clamp(0, width));
    for (y, into) in image.chunks_exact_mut(row).enumerate() {
        let from = first_row + y as i64;
        if (0..height).contains(&from) && left < right {
            let from = &values[(from * width + left) as usize * channels..][..(right - left) as usize * channels];
            into[(left - first_col) as usize * channels..][..from.len()].copy_from_slice(from);
        }
    }
    PaddedInput { values: image, row, channels, outputs }
}

/// A type of sums.
trait SumElement: Copy {
    /// Returns the sums of a block, which begin with `bias`; `add` adds the products of some runs in order.
    fn block(
        bias: &[Self; LANES],
        runs: &[Vec<ProductRun>],
        add: impl Fn(&mut Block, &[ProductRun]),
    ) -> [[Self; LANES]; PIXELS];
}

impl SumElement for f32 {
    fn block(bias: &[f32; LANES], runs: &[Vec<ProductRun>], add: impl Fn(&mut Block, &[ProductRun])) -> Block {
        let mut sums = [*bias; PIXELS];
        runs.iter().for_each(|runs| add(&mut sums, runs));
        sums
    }
}

impl SumElement for i32 {
    fn block(
        bias: &[i32; LANES],
        runs: &[Vec<ProductRun>],
        add: impl Fn(&mut Block, &[ProductRun]),
    ) -> [[i32; LANES]; PIXELS] {
        let mut sums = [*bias; PIXELS];
        for runs in runs {
            let mut part = [[0.0; LANES]; PIXELS];
            add(&mut part, runs);
            let pairs = sums.as_flattened_mut().iter_mut().zip(part.as_flattened());
            pairs.for_each(|(sum, &part)| *sum = sum.wrapping_add(part as i32));
        }
        sums
    }
}

/// Returns the products of a sum as runs, in groups of at most [`EXACT`] products.
fn runs(conv: &Conv, image: &PaddedInput, group_in: usize) -> Vec<Vec<ProductRun>> {
    let [rows, cols] = conv.window.kernel.map(|n| n as usize);
    let [dy, dx] = conv.window.dilation.map(|n| n as usize);
    // The taps of a row are consecutive if they read all channels.
    let (steps, len) = if dx == 1 && group_in == image.channels { (1, cols * group_in) } else { (cols, group_in) };
    let (mut all, mut room, mut weights) = (vec![Vec::new()], EXACT, 0);
    for tap in 0..rows * steps {
        let start = tap / steps * dy * image.row + tap % steps * dx * image.channels;
        let mut done = 0;
        while done < len {
            if room == 0 {
                room = EXACT;
                all.push(Vec::new());
            }
            let part = room.min(len - done);
            let last = all.len() - 1;
            all[last].push(ProductRun { image: start + done, weights: weights + done, len: part });
            (room, done) = (room - part, done + part);
        }
        weights += len;
    }
    all
}

/// Returns all sums.
fn all_sums<S: SumElement + Default>(conv: &Conv, image: &PaddedInput, spm: &[u8], bias: &[S]) -> Vec<S> {
    let channels = conv.output.channels as usize;
    let mut out = vec![S::default(); image.outputs.len() * channels];
    let (group_in, group_out) = (conv.group_in as usize, conv.group_out as usize);
    if (group_in, group_out) == (1, 1) {
        depthwise(conv, image, spm, bias, &mut out);
        return out;
    }
    let terms = group_in * conv.window.kernel.iter().product::<u32>() as usize;
    let runs = runs(conv, image, group_in);
    let mut weights = vec![[0.0; LANES]; terms];
    let mut first = 0;
    while first < channels {
        let group = (first + conv.skip as usize) / group_out;
        let end = ((group + 1) * group_out - conv.skip as usize).min(channels).min(first + LANES);
        pack(conv, spm, first..end, terms, &mut weights);
        let mut start = [S::default(); LANES];
        start[..end - first].copy_from_slice(&bias[first..end]);
        for (i, outputs) in image.outputs.chunks(PIXELS).enumerate() {
            let at: [usize; PIXELS] = std::array::from_fn(|p| outputs[p.min(outputs.len() - 1)] + group * group_in);
            let block = S::block(&start, &runs, |sums, runs| add_products(sums, runs, &image.values, at, &weights));
            for (p, sums) in block.iter().enumerate().take(outputs.len()) {
                out[(i * PIXELS + p) * channels..][first..end].copy_from_slice(&sums[..end - first]);
            }
        }
        first = end;
    }
    out
}

/// Packs the weights of some output channels, minus their zero point.
fn pack(conv: &Conv, spm: &[u8], channels: std::ops::Range<usize>, terms: usize, packed: &mut [[f32; LANES]]) {
    let bytes = terms * conv.weights_elem.bytes() as usize;
    let zero = conv.weights_zero as f32;
    let mut row = Vec::with_capacity(terms);
    for (lane, channel) in channels.enumerate() {
        row.clear();
        convert(conv.weights_elem, &spm[conv.weights as usize + channel * bytes..][..bytes], &mut row);
        packed.iter_mut().zip(&row).for_each(|(lanes, &weight)| lanes[lane] = weight - zero);
    }
}

/// Adds products to the sums of a block, in order.
#[inline(never)]
fn add_products(sums: &mut Block, runs: &[ProductRun], image: &[f32], at: [usize; PIXELS], weights: &[[f32; LANES]]) {
    let mut block = *sums;
    for run in runs {
        let inputs = at.map(|at| &image[at + run.image..][..run.len]);
        for (i, weights) in weights[run.weights..][..run.len].iter().enumerate() {
            for (sums, input) in block.iter_mut().zip(inputs) {
                let value = input[i];
                sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * weight);
            }
        }
    }
    *sums = block;
}

/// Computes the sums of a depthwise convolution, vectorized over channels.
fn depthwise<S: SumElement + Default>(conv: &Conv, image: &PaddedInput, spm: &[u8], bias: &[S], out: &mut [S]) {
    let channels = conv.output.channels as usize;
    let runs = runs(conv, image, 1);
    let terms = conv.window.kernel.iter().product::<u32>() as usize;
    let mut weights = vec![[0.0; LANES]; terms];
    for first in (0..channels).step_by(LANES) {
        let end = channels.min(first + LANES);
        pack(conv, spm, first..end, terms, &mut weights);
        let mut start = [S::default(); LANES];
        start[..end - first].copy_from_slice(&bias[first..end]);
        for (i, outputs) in image.outputs.chunks(PIXELS).enumerate() {
            let at: [usize; PIXELS] = std::array::from_fn(|p| outputs[p.min(outputs.len() - 1)] + first);
            let block = S::block(&start, &runs, |sums, runs| {
                add_channels(sums, runs, &image.values, at, &weights, end - first, image.channels);
            });
            for (p, sums) in block.iter().enumerate().take(outputs.len()) {
                out[(i * PIXELS + p) * channels..][first..end].copy_from_slice(&sums[..end - first]);
            }
        }
    }
}

/// Adds the products of `lanes` channels with their own weights. A run has one product per tap; it is longer than 1 only if the image
/// has `pixel` = 1 channel.
fn add_channels(
    sums: &mut Block,
    runs: &[ProductRun],
    image: &[f32],
    at: [usize; PIXELS],
    weights: &[[f32; LANES]],
    lanes: usize,
    pixel: usize,
) {
    for run in runs {
        for i in 0..run.len {
            let weights = &weights[run.weights + i];
            for (sums, at) in sums.iter_mut().zip(at) {
                let inputs = &image[at + run.image + i * pixel..];
                if let (LANES, Some(inputs)) = (lanes, inputs.first_chunk::<LANES>()) {
                    (0..LANES).for_each(|l| sums[l] += inputs[l] * weights[l]);
                } else {
                    (0..lanes).for_each(|l| sums[l] += inputs[l] * weights[l]);
                }
            }
        }
    }
}
