//! Winograd convolution F(2x2, 3x3): Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A.
//!
//! A 4x4 tile d of the image gives 2x2 results with 16 multiplications per channel and filter instead of 36. The
//! transforms are table-driven depthwise ops on tiles with channels innermost, the products table-driven GEMMs. Source:
//! Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, Fast Algorithms for Convolutional Neural
//! Networks, 2016.

use super::conv::{ImageAxes, StaticConv, as_image};
use super::options::ConvOptions;
use super::rows_product;
use crate::emit::{Emitter, ProductOperands};
use gradus_dialects::op_cost::{Contraction, OpCost};
use gradus_ir::{Builder, Module, Op, Tensor, Type, Value};
use gradus_networks::layout::{AddressTable, ZERO_PAGE};
use std::ops::Range;

/// Extent of a transformed tile along an axis.
const TILE: usize = 4;

/// Number of elements of a transformed tile, row-major.
const POINTS: usize = TILE * TILE;

/// The rows of Bᵀ: each has two nonzero entries, at these positions, 1 and the given factor.
const INPUT_TRANSFORM: [([i64; 2], f32); TILE] = [([0, 2], -1.0), ([1, 2], 1.0), ([2, 1], -1.0), ([1, 3], -1.0)];

/// Number of image elements that are summed for a transformed element.
const INPUT_TERMS: usize = 4;

/// The rows of G. The last row is negated, so that all products except the third are only added.
const FILTER_TRANSFORM: [[f64; 3]; TILE] = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.0, 0.0, -1.0]];

/// The rows of Aᵀ: the products that are summed for the first and second result along an axis, each in the column of
/// its sign.
const OUTPUT_TRANSFORM: [[Option<usize>; TILE]; 2] =
    [[Some(0), Some(1), Some(2), None], [Some(3), Some(1), None, Some(2)]];

/// The signs of the columns of `OUTPUT_TRANSFORM`.
const SIGNS: [f32; TILE] = [1.0, 1.0, 1.0, -1.0];

/// Maximum number of strips, each of which has its own ops.
const MAX_STRIPS: i64 = 64;

/// An image in tiles of 2x2 results.
pub(super) struct Tiles {
    batch: i64,
    /// Rows and columns of the image, of the result, and of the tiles.
    image: [i64; 2],
    results: [i64; 2],
    tiles: [i64; 2],
    pads: [i64; 2],
    channels: i64,
    filters: i64,
    /// Maximum number of products held at once: the image is processed in strips that stay in cache.
    strip: i64,
}

impl Tiles {
    /// Returns the tiles of a suitable convolution of f32 with constant filters.
    pub(super) fn of(m: &Module, conv: &StaticConv, strip: i64) -> Option<Tiles> {
        let (&[batch, channels, height, width], &[filters, ..]) = (&conv.input[..], &conv.filters[..]) else {
            return None;
        };
        let w = &conv.window;
        let is_plain = w.kernel == [3, 3] && w.strides == [1, 1] && w.dilations == [1, 1] && conv.group == 1;
        let is_f32 = [conv.x, conv.w].iter().all(|&v| m.ctx.element_type(m.value_type(v)) == Type::F32);
        let [results, pads] = [&w.output, &w.pads_begin].map(|some| [some[0] as i64, some[1] as i64]);
        let tiles = results.map(|extent| (extent + 1) / 2);
        let all = Tiles { batch, image: [height, width], results, tiles, pads, channels, filters, strip };
        let products = batch.checked_mul(tiles[0])?.checked_mul(tiles[1])?.checked_mul(filters)?;
        products.checked_mul(channels)?;
        let fits = products / (strip / POINTS as i64).max(1) < MAX_STRIPS;
        (is_plain && is_f32 && fits && m.constant(conv.w).is_some()).then_some(all)
    }

    /// Returns the cost descriptors of the ops: for each strip, an input transform and a product per transformed element,
    /// and the output transform.
    pub(super) fn ops(&self) -> Vec<OpCost> {
        let [channels, filters, columns] = [self.channels, self.filters, self.tiles[1]].map(i64::cast_unsigned);
        let of_strip = |rows: Range<i64>| {
            let tiles = (rows.end - rows.start).cast_unsigned() * columns;
            let sum = Contraction::depthwise(channels, INPUT_TERMS as u64, tiles);
            let product = Contraction::dense(1, tiles, channels, filters);
            let results = Contraction::depthwise(filters, POINTS as u64, tiles.saturating_mul(4));
            [sum, product].repeat(POINTS).into_iter().chain([results]).map(OpCost::Contract)
        };
        self.strips().flat_map(of_strip).collect()
    }

    /// Returns the strips: ranges of tile rows over all images.
    fn strips(&self) -> impl Iterator<Item = Range<i64>> {
        let most = (self.strip / (POINTS as i64 * self.filters * self.tiles[1])).max(1);
        let rows = self.batch * self.tiles[0];
        let strip = (rows as u64).div_ceil((rows as u64).div_ceil(most as u64)) as i64;
        (0..rows).step_by(strip as usize).map(move |row| row..(row + strip).min(rows))
    }

    /// Returns the addresses of the image elements of one transformed element, for each tile of a strip.
    fn places(&self, sum: [usize; 2], strip: Range<i64>) -> Option<AddressTable<'static>> {
        let ([rows, columns], [height, width]) = (sum.map(|i| INPUT_TRANSFORM[i].0), self.image);
        let mut bases = Vec::new();
        for (at, j) in strip.flat_map(|at| (0..self.tiles[1]).map(move |j| (at, j))) {
            let (n, i) = (at / self.tiles[0], at % self.tiles[0]);
            for (row, column) in rows.iter().flat_map(|&r| columns.map(|c| (r, c))) {
                let (y, x) = (2 * i + row - self.pads[0], 2 * j + column - self.pads[1]);
                let is_there = (0..height).contains(&y) && (0..width).contains(&x);
                let place = ((n * height + y) * width + x) * self.channels;
                bases.push(if is_there { i32::try_from(place).ok()? } else { ZERO_PAGE });
            }
        }
        table(bases, INPUT_TERMS, self.channels)
    }

    /// Returns the addresses, among the products of a strip, of the summands of each result.
    fn products(&self, strip: Range<i64>) -> Option<AddressTable<'static>> {
        let mut bases = Vec::new();
        let all = (strip.end - strip.start) * self.tiles[1] * self.filters;
        for at in strip.clone() {
            let first = 2 * (at % self.tiles[0]);
            let rows = first..(first + 2).min(self.results[0]);
            for (y, x) in rows.flat_map(|y| (0..self.results[1]).map(move |x| (y, x))) {
                let tile = (at - strip.start) * self.tiles[1] + x / 2;
                let [down, across] = [y, x].map(|at| OUTPUT_TRANSFORM[at as usize % 2]);
                for (i, j) in down.iter().flat_map(|&i| across.map(|j| (i, j))) {
                    let place = i.zip(j).map(|(i, j)| (TILE * i + j) as i64 * all + tile * self.filters);
                    bases.push(place.map_or(Some(ZERO_PAGE), |place| i32::try_from(place).ok())?);
                }
            }
        }
        table(bases, POINTS, self.filters)
    }
}

/// Returns the table of these bases, `runs` per row, with runs of `channels` elements.
fn table(bases: Vec<i32>, runs: usize, channels: i64) -> Option<AddressTable<'static>> {
    let rows = bases.len() / runs;
    AddressTable::indirect(bases, [rows, runs], usize::try_from(channels).ok()?).ok()
}

/// The address tables of a strip: of the input transform and of the output transform.
struct Strip {
    places: Vec<AddressTable<'static>>,
    results: AddressTable<'static>,
}

impl Strip {
    fn of(tiles: &Tiles, rows: Range<i64>) -> Option<Strip> {
        let places = (0..POINTS).map(|i| tiles.places([i / TILE, i % TILE], rows.clone()));
        Some(Strip { places: places.collect::<Option<_>>()?, results: tiles.products(rows)? })
    }
}

impl StaticConv {
    /// Lowers a suitable convolution.
    pub(super) fn lower_winograd(
        &self,
        b: &mut Builder<'_>,
        op: Op,
        tiles: &Tiles,
        options: &ConvOptions,
    ) -> Option<Value> {
        let m = &*b.module;
        let filters = m.ctx.dense_tensor(m.constant(self.w)?)?;
        let strips = tiles.strips().map(|rows| Strip::of(tiles, rows)).collect::<Option<Vec<_>>>()?;
        let (axes, factors) = (ImageAxes::of_rank(4)?, factors(&filters.as_slice::<f32>())?);
        let mut e = Emitter::of(b, op);
        let a = e.pack(self.x, &axes.channels_last, axes.letters)?;
        let mut sums = Vec::with_capacity(factors.len());
        for (i, factor) in factors.into_iter().enumerate() {
            let [down, across] = [i / TILE, i % TILE].map(|i| [1.0, INPUT_TRANSFORM[i].1]);
            let factor = Tensor::from_vec(&[tiles.filters as usize, tiles.channels as usize], factor);
            sums.push((weights(&mut e, &down, &across, tiles.channels)?, e.constant(&factor, Type::F32)?));
        }
        let signs = weights(&mut e, &SIGNS, &SIGNS, tiles.filters)?;
        let mut results = Vec::with_capacity(strips.len());
        for strip in strips {
            let mut products = Vec::with_capacity(sums.len());
            for (places, &(signs, factor)) in strip.places.iter().zip(&sums) {
                let sum = e.depthwise(a, places, signs, &ProductOperands::default())?;
                products.push(rows_product(&mut e, [sum, factor], &ProductOperands::default(), options)?);
            }
            let products = e.concat(&products, 0)?;
            results.push(e.depthwise(products, &strip.results, signs, &self.operands)?);
        }
        let results = e.concat(&results, 0)?;
        as_image(&mut e, op, results)
    }
}

/// Returns the outer product of factors down and across, broadcast to all channels.
fn weights(e: &mut Emitter<'_, '_>, down: &[f32], across: &[f32], channels: i64) -> Option<Value> {
    let channels = usize::try_from(channels).ok()?;
    let each = down.iter().flat_map(|a| across.iter().map(move |b| a * b));
    let all: Vec<f32> = each.flat_map(|sign| std::iter::repeat_n(sign, channels)).collect();
    e.constant(&Tensor::from_vec(&[down.len() * across.len(), channels], all), Type::F32)
}

/// Returns the filter transform G g Gᵀ, for each filter and channel.
fn factors(filters: &[f32]) -> Option<Vec<Vec<f32>>> {
    let mut all: Vec<Vec<f32>> = (0..POINTS).map(|_| Vec::with_capacity(filters.len() / 9)).collect();
    for w in filters.chunks_exact(9) {
        let sum = |by: [f64; 3], of: [f64; 3]| (0..3).map(|i| by[i] * of[i]).sum::<f64>();
        let rows = FILTER_TRANSFORM.map(|by| [0, 1, 2].map(|x| sum(by, [0, 1, 2].map(|y| f64::from(w[3 * y + x])))));
        for (i, row) in rows.into_iter().enumerate() {
            FILTER_TRANSFORM.iter().enumerate().for_each(|(j, &by)| all[TILE * i + j].push(sum(by, row) as f32));
        }
    }
    all.iter().flatten().all(|x| x.is_finite()).then_some(all)
}
