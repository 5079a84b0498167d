//! Depthwise windows over 8-bit images by dot products of four positions at a time (AVX-512 VNNI).
//!
//! 64 bytes of each of four positions are interleaved by unpacking within quarters of a vector, which gives four vectors of
//! 16 channels; requantization packs within quarters too, and restores the order. Narrow images fill a vector with several
//! windows.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::places::{WindowPattern, WindowRun};
use super::{BufferLengths, WindowTable};
use crate::KernelError;
use crate::gemm::bytes::{ByteIsa, Scales, byte_bounds, quantize_quarters};
use crate::workers::{DisjointWriter, Workers};
use std::arch::x86_64::*;

/// Number of channels, of one or several windows, that are computed at once.
const LANES: usize = 64;

/// Number of positions per dot product.
const FOUR: usize = 4;

/// Weights, biases and scales of some channels, in the order of lanes.
#[derive(Debug)]
struct ChannelBlock {
    /// First channel.
    channel: usize,
    /// Number of channels: 16, 32 or 64. Narrow blocks hold several windows.
    width: usize,
    /// Four bytes per lane, for each group of four positions.
    weights: Vec<[[i8; FOUR]; LANES]>,
    /// Sum of the weights per lane.
    totals: [i32; LANES],
    bias: [i32; LANES],
    scales: [f32; LANES],
}

/// Returns the channel of a lane within 64 channels.
fn channel_of(lane: usize) -> usize {
    16 * (lane % 16 / 4) + 4 * (lane / 16) + lane % 4
}

/// Depthwise windows with 8-bit weights and requantization.
#[derive(Debug)]
pub struct DotWindows {
    places: WindowTable,
    blocks: Vec<ChannelBlock>,
    /// Offsets of the positions of each pattern relative to the window's base, in groups of four; `None` is padding.
    patterns: Vec<Vec<Option<isize>>>,
    scales: Scales,
}

impl DotWindows {
    /// Prepares windows; `weights` is `[positions, channels]`. `None` if the machine lacks the instructions, there are fewer
    /// than 16 channels, or a weight is no signed byte.
    pub fn new(places: &WindowTable, weights: &[i32], bias: &[i32], scales: &Scales) -> Option<DotWindows> {
        let (positions, channels) = (places.positions(), places.channels());
        let weights: Vec<i8> = weights.iter().map(|&x| i8::try_from(x).ok()).collect::<Option<_>>()?;
        let fits = weights.len() == positions.checked_mul(channels)? && [bias.len(), scales.len()] == [channels; 2];
        if !ByteIsa::Vnni.is_supported() || channels < 16 || !fits {
            return None;
        }
        let mut blocks = Vec::new();
        let mut channel = 0;
        while channel < channels {
            let width = [64, 32, 16].into_iter().find(|width| channel + width <= channels).unwrap_or(16);
            channel = channel.min(channels - width);
            let of = |lane: usize| channel + channel_of(lane) % width;
            let weight = |t: usize, lane: usize| if t < positions { weights[t * channels + of(lane)] } else { 0 };
            let total = |lane: usize| (0..positions).map(|t| i32::from(weight(t, lane))).fold(0, i32::wrapping_add);
            let four = |i: usize| std::array::from_fn(|lane| std::array::from_fn(|t| weight(FOUR * i + t, lane)));
            blocks.push(ChannelBlock {
                channel,
                width,
                weights: (0..positions.div_ceil(FOUR)).map(four).collect(),
                totals: std::array::from_fn(total),
                bias: std::array::from_fn(|lane| bias[of(lane)]),
                scales: std::array::from_fn(|lane| scales.rough(of(lane))[0]),
            });
            channel += width;
        }
        let patterns = places.patterns().map(|pattern| offsets(pattern, positions)).collect();
        Some(DotWindows { places: places.clone(), blocks, patterns, scales: scales.clone() })
    }

    /// Computes output rows of one byte per channel.
    ///
    /// # Errors
    /// Incompatible sizes, or an address outside the image.
    pub fn compute(
        &self,
        a: &[u8],
        signed: bool,
        zero: u8,
        workers: &Workers,
        c: &mut [u8],
    ) -> Result<(), KernelError> {
        let places = &self.places;
        let sizes = BufferLengths {
            places,
            image: a.len(),
            elements: c.len(),
            add: None,
            weights: None,
            parameters: [Some(self.scales.len()), None],
        };
        sizes.check(crate::vector::Isa::best())?;
        let threads = workers.for_steps(places.rows() * self.blocks.len() * places.positions().div_ceil(FOUR) * 8);
        let (parts, c) = (Workers::parts(threads), DisjointWriter::new(c));
        // An offset of 128 flips the sign bit.
        let flip = if signed { 0x80 } else { 0 };
        let page = [zero; LANES];
        workers.share(threads, 0..parts, |i| {
            for (run, _) in places.part([i, parts]) {
                for block in &self.blocks {
                    let bias = std::array::from_fn(|lane| {
                        block.bias[lane].wrapping_sub(i32::from(zero ^ flip).wrapping_mul(block.totals[lane]))
                    });
                    let image = DotImage { a, page: &page, flip, bias, channels: places.channels(), c };
                    let some = Windows { image, block, run, offsets: &self.patterns[run.look], scales: &self.scales };
                    // SAFETY: `check` found all channels of all positions in `a`, and an element of the result for each
                    // channel of each row; each run belongs to one thread. `new` found the instructions.
                    unsafe {
                        match block.width {
                            64 => some.compute::<1>(),
                            32 => some.compute::<2>(),
                            _ => some.compute::<4>(),
                        }
                    }
                }
            }
        });
        Ok(())
    }
}

/// Returns the offset of each of `positions`, and of others up to whole groups of four, whose weights are zero.
fn offsets(pattern: &WindowPattern, positions: usize) -> Vec<Option<isize>> {
    let mut offsets = vec![None; positions.next_multiple_of(FOUR)];
    let any = pattern.taps.first().map(|tap| tap.offset as isize);
    offsets[positions..].fill(any);
    for tap in &pattern.taps {
        for i in 0..if tap.gap.is_some() { 3 } else { 1 } {
            let gap = i as isize * tap.gap.unwrap_or(0) as isize;
            offsets[tap.position + i] = Some(tap.offset as isize + gap);
        }
    }
    offsets
}

/// The image and the result.
struct DotImage<'a> {
    a: &'a [u8],
    /// Padding: the zero point.
    page: &'a [u8; LANES],
    /// The bit that is flipped in signed bytes.
    flip: u8,
    /// Bias per lane, including the zero-point correction.
    bias: [i32; LANES],
    channels: usize,
    c: DisjointWriter<u8>,
}

/// A run of windows, and some channels.
struct Windows<'a> {
    image: DotImage<'a>,
    block: &'a ChannelBlock,
    run: &'a WindowRun,
    offsets: &'a [Option<isize>],
    scales: &'a Scales,
}

impl Windows<'_> {
    /// Computes the run, `P` windows at a time.
    ///
    /// # Safety
    /// The machine has the instructions; all channels of all positions are in the image, and the caller has exclusive access
    /// to the rows of the result.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    unsafe fn compute<const P: usize>(&self) {
        let Windows { image, block, run, offsets, scales } = self;
        let (flip, first) = (_mm512_set1_epi8(image.flip.cast_signed()), image.a.as_ptr().wrapping_add(block.channel));
        // SAFETY: the caller guarantees the instructions.
        let bounds = unsafe { byte_bounds(scales) };
        for i in (0..run.count).step_by(P) {
            let index: [usize; P] = std::array::from_fn(|p| (i + p).min(run.count - 1));
            let base = index.map(|i| first.wrapping_offset(run.base as isize + i as isize * run.step as isize));
            // SAFETY: guaranteed by the caller; a page and the arrays of a block have an element per lane.
            unsafe {
                let mut sums = [_mm512_setzero_si512(); 4];
                for v in 0..4 {
                    sums[v] = _mm512_loadu_si512(image.bias[16 * v..].as_ptr().cast());
                }
                for (four, weights) in offsets.chunks_exact(FOUR).zip(&block.weights) {
                    let mut x = [flip; FOUR];
                    for t in 0..FOUR {
                        let from = base.map(|base| match four[t] {
                            Some(offset) => base.wrapping_offset(offset),
                            None => image.page.as_ptr(),
                        });
                        x[t] = _mm512_xor_si512(load(from), flip);
                    }
                    let x = interleaved(x);
                    for v in 0..4 {
                        let weights = _mm512_loadu_si512(weights[16 * v..].as_ptr().cast());
                        sums[v] = _mm512_dpbusd_epi32(sums[v], x[v], weights);
                    }
                }
                let rows = index.map(|i| (run.row + i * run.row_step) * image.channels + block.channel);
                match quantize_quarters(sums, &block.scales, bounds) {
                    Some(bytes) => store(bytes, rows.map(|at| image.c.at(at))),
                    None => self.store_exactly(sums, rows),
                }
            }
        }
    }

    /// Requantizes lanes in f64 and stores them to rows that begin at `rows`.
    ///
    /// # Safety
    /// As for [`compute`](Windows::compute).
    #[cold]
    #[target_feature(enable = "avx512f")]
    unsafe fn store_exactly<const P: usize>(&self, sums: [__m512i; 4], rows: [usize; P]) {
        // SAFETY: both are 64 integers.
        let sums: [i32; LANES] = unsafe { std::mem::transmute(sums) };
        for (lane, &sum) in sums.iter().enumerate() {
            let channel = channel_of(lane) % self.block.width;
            let byte = self.scales.exact(self.block.channel + channel, sum);
            // SAFETY: guaranteed by the caller.
            unsafe { self.image.c.at(rows[channel_of(lane) / self.block.width] + channel).write(byte) };
        }
    }
}

/// Loads a part of a vector from each of `P` places.
///
/// # Safety
/// There are `64 / P` bytes at each.
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn load<const P: usize>(from: [*const u8; P]) -> __m512i {
    // SAFETY: guaranteed by the caller; loads are unaligned.
    unsafe {
        match P {
            1 => _mm512_loadu_si512(from[0].cast()),
            2 => {
                let [low, high] = [0, P / 2].map(|p| _mm256_loadu_si256(from[p].cast()));
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
            }
            _ => {
                let [a, b, c, d] = [0, P / 4, P / 2, P - 1].map(|p| _mm_loadu_si128(from[p].cast()));
                let low = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
                _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(low, c), d)
            }
        }
    }
}

/// Stores a part of a vector to each of `P` places.
///
/// # Safety
/// There is room for `64 / P` bytes at each.
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn store<const P: usize>(bytes: __m512i, to: [*mut u8; P]) {
    // SAFETY: guaranteed by the caller; stores are unaligned.
    unsafe {
        match P {
            1 => _mm512_storeu_si512(to[0].cast(), bytes),
            2 => {
                _mm256_storeu_si256(to[0].cast(), _mm512_castsi512_si256(bytes));
                _mm256_storeu_si256(to[P / 2].cast(), _mm512_extracti64x4_epi64::<1>(bytes));
            }
            _ => {
                _mm_storeu_si128(to[0].cast(), _mm512_castsi512_si128(bytes));
                _mm_storeu_si128(to[P / 4].cast(), _mm512_extracti32x4_epi32::<1>(bytes));
                _mm_storeu_si128(to[P / 2].cast(), _mm512_extracti32x4_epi32::<2>(bytes));
                _mm_storeu_si128(to[P - 1].cast(), _mm512_extracti32x4_epi32::<3>(bytes));
            }
        }
    }
}

/// Interleaves the bytes of four positions within quarters: four bytes per lane, in the order of [`channel_of`].
#[target_feature(enable = "avx512f,avx512bw")]
fn interleaved([a, b, c, d]: [__m512i; FOUR]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d));
    let (above_ab, above_cd) = (_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d));
    [
        _mm512_unpacklo_epi16(ab, cd),
        _mm512_unpackhi_epi16(ab, cd),
        _mm512_unpacklo_epi16(above_ab, above_cd),
        _mm512_unpackhi_epi16(above_ab, above_cd),
    ]
}
