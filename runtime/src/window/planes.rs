//! Depthwise convolution of images with channels first: a plane of f32 per channel.
//!
//! A vector holds neighbouring positions of an output row, and each weight is a broadcast. Windows of 3 by 3 go down the rows, each of
//! which is loaded once, and with stride 2 divided into even and odd columns in registers. For other windows with strides along a row,
//! its columns are first divided into phases, so that what a tap reads for neighbouring positions is contiguous. Lanes that read
//! padding are masked, and rows of padding are read from a row of zeros.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::partial::{OnPartial, Partial, on_rows};
use crate::vector::Isa;
use crate::workers::{DisjointWriter, Workers};
use crate::{ElementwiseEpilogue, KernelError};
use std::ops::Range;

/// Sums of other windows that are added up at the same time: as many as multiply-adds that wait for each other.
const CHAINS: usize = 4;
/// Taps per axis of the windows whose rows share loads.
const THREE: usize = 3;
/// Bytes of rows of the image that are read for all columns before the next rows, and least number of rows of the result.
const BLOCK: i64 = 16 << 10;
const ROWS: usize = 7;
/// Maximum stride along rows that are shorter.
const MAX_STRIDE: i64 = 16;
/// Distance of a prefetched element from the one that is read: a page, at whose end the hardware stops to prefetch.
const AHEAD: usize = 1024;
/// Maximum extent, so that positions fit into 32 bits.
const MAX_EXTENT: i64 = 1 << 24;

/// The windows along an axis.
#[derive(Clone, Copy, Debug)]
pub struct PlaneAxis {
    /// Extent of the image.
    pub input: i64,
    /// Number of output positions.
    pub outputs: i64,
    /// Number of taps.
    pub taps: i64,
    /// Distance between windows.
    pub stride: i64,
    /// Distance between taps.
    pub dilation: i64,
    /// Index of the first tap of the first window; negative in padding.
    pub start: i64,
}

impl PlaneAxis {
    /// The axis of a plane that is a single row.
    pub const ONE: PlaneAxis = PlaneAxis { input: 1, outputs: 1, taps: 1, stride: 1, dilation: 1, start: 0 };

    /// Returns the input index of a tap for output 0.
    fn tap(&self, tap: usize) -> isize {
        (tap as i64 * self.dilation + self.start) as isize
    }

    /// Whether extents are small enough that no position overflows, and positive.
    pub(super) fn is_small(&self) -> bool {
        let PlaneAxis { input, outputs, taps, stride, dilation, start } = *self;
        [input, outputs, taps, stride, dilation].iter().all(|n| (1..=MAX_EXTENT).contains(n))
            && (-MAX_EXTENT..=MAX_EXTENT).contains(&start)
    }
}

/// The windows of each plane.
#[derive(Clone, Debug)]
pub struct PlaneShape {
    rows: PlaneAxis,
    columns: PlaneAxis,
    /// Bands of the rows of the image, and of the result, each with all channels.
    bands: [usize; 2],
    /// For each tap along a row: its phase, and its index there for output 0.
    taps: Vec<(usize, isize)>,
}

impl PlaneShape {
    /// Returns the shape of windows along rows and columns, with bands of the rows of the image and of the result; `None` if it is too
    /// large, or bands are not equal.
    pub fn new(rows: PlaneAxis, columns: PlaneAxis, bands: [usize; 2]) -> Option<PlaneShape> {
        // Larger strides would make phases much larger than the image.
        if !rows.is_small() || !columns.is_small() || columns.stride > columns.input.max(MAX_STRIDE) {
            return None;
        }
        let are_equal = |(rows, bands): (i64, usize)| bands > 0 && (rows as usize).is_multiple_of(bands);
        [rows.input, rows.outputs].into_iter().zip(bands).all(are_equal).then_some(())?;
        let stride = columns.stride as isize;
        let tap = |t: usize| (columns.tap(t).rem_euclid(stride) as usize, columns.tap(t).div_euclid(stride));
        let taps = (0..columns.taps as usize).map(tap).collect();
        Some(PlaneShape { rows, columns, bands, taps })
    }

    /// Returns the number of elements of a plane of the image.
    fn input(&self) -> usize {
        (self.rows.input * self.columns.input) as usize
    }

    /// Returns the number of elements of a plane of the result.
    fn output(&self) -> usize {
        (self.rows.outputs * self.columns.outputs) as usize
    }

    /// Returns the number of taps.
    fn positions(&self) -> usize {
        (self.rows.taps * self.columns.taps) as usize
    }

    /// Whether windows have 3 by 3 taps in neighbouring rows, at most 2 rows apart.
    fn is_three(&self) -> bool {
        [self.rows.taps, self.columns.taps, self.rows.dilation] == [3, 3, 1] && self.rows.stride <= 2
    }

    /// Whether such windows have neighbouring columns and are 2 columns apart, which are read in pairs.
    fn is_paired(&self) -> bool {
        self.is_three() && [self.columns.stride, self.columns.dilation] == [2, 1]
    }

    /// Returns the number of rows of the result that are computed for all columns before the next.
    fn block(&self) -> usize {
        let row = size_of::<f32>() as i64 * self.columns.input * self.rows.stride;
        ((BLOCK / row) as usize).max(ROWS)
    }

    /// Whether a plane is copied to divide its columns into phases.
    fn has_phases(&self) -> bool {
        self.columns.stride > 1 && !self.is_paired()
    }

    /// Returns the distance of each row of a channel of an image from the first, in bands with `channels` channels.
    fn places(&self, channels: usize) -> Vec<usize> {
        let (width, band) = (self.columns.input as usize, self.rows.input as usize / self.bands[0]);
        (0..self.rows.input as usize).map(|row| (row / band * band * channels + row % band) * width).collect()
    }

    /// Divides the result among threads: bands first, so that each thread has neighbouring rows, then channels.
    fn parts(&self, images: usize, channels: usize, threads: usize) -> impl Iterator<Item = PlaneBand> {
        let bands = self.bands[1];
        let parts = Workers::parts(threads).div_ceil((images * bands).max(1)).min(channels);
        let part = move |i: usize| {
            let (image, band, i) = (i / parts / bands, i / parts % bands, i % parts);
            PlaneBand { image, band, channels: i * channels / parts..(i + 1) * channels / parts }
        };
        (0..images * bands * parts).map(part)
    }

    /// Returns the number of columns of a phase.
    fn columns_of(&self, phase: usize) -> usize {
        (self.columns.input as usize).saturating_sub(phase).div_ceil(self.columns.stride as usize)
    }
}

/// Depthwise convolution of planes.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a> {
    /// The planes of all images.
    pub a: &'a [f32],
    /// The windows of each plane.
    pub shape: &'a PlaneShape,
    /// Weights, `[channels, positions]`.
    pub weights: &'a [f32],
    /// Bias, one per channel.
    pub bias: Option<&'a [f32]>,
    /// Residual, added to the result elementwise.
    pub add: Option<&'a [f32]>,
    /// The functions of each element.
    pub elementwise: ElementwiseEpilogue,
}

impl Planes<'_> {
    /// Computes a plane of the result for each plane of the image.
    ///
    /// # Errors
    /// Incompatible sizes.
    pub fn compute(&self, isa: Isa, workers: &Workers, c: &mut [f32]) -> Result<(), KernelError> {
        let Planes { a, shape, weights, bias, add, .. } = *self;
        let (planes, channels) = (c.len() / shape.output(), weights.len() / shape.positions());
        let is_whole = planes.checked_mul(shape.input()) == Some(a.len())
            && planes * shape.output() == c.len()
            && channels * shape.positions() == weights.len()
            && (planes == 0 || channels > 0 && planes.is_multiple_of(channels))
            && bias.is_none_or(|bias| bias.len() == channels)
            && add.is_none_or(|add| add.len() == c.len());
        if !is_whole || !isa.is_supported() {
            return Err(format!("{} elements are not whole planes of {} channels", a.len(), channels).into());
        }
        let steps = c.len() / 16 * shape.positions();
        let threads = workers.for_steps(steps);
        let places = shape.places(channels);
        let run = PlaneComputation { planes: *self, channels, places: &places, c: DisjointWriter::new(c) };
        workers.share(threads, shape.parts(planes / channels.max(1), channels, threads), |part| {
            // SAFETY: sizes were checked above, each band of a plane belongs to one part, and `isa` is supported.
            unsafe { on_rows(isa, shape.columns.outputs as usize, BandComputation { run: &run, part }) }
        });
        Ok(())
    }
}

/// A band of some planes of the result.
#[derive(Clone, Debug)]
struct PlaneBand {
    image: usize,
    band: usize,
    channels: Range<usize>,
}

/// A running computation.
struct PlaneComputation<'a> {
    planes: Planes<'a>,
    channels: usize,
    /// Distance of each row of a plane of the image from its first.
    places: &'a [usize],
    c: DisjointWriter<f32>,
}

/// The computation of a part.
struct BandComputation<'r, 'a> {
    run: &'r PlaneComputation<'a>,
    part: PlaneBand,
}

impl OnPartial for BandComputation<'_, '_> {
    #[inline(always)]
    unsafe fn run<V: Partial>(self) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.run.all::<V>(self.part) }
    }
}

/// Columns of an output row that a vector holds. The last vectors of a row overlap if columns do not fill them.
struct Chunk<M> {
    column: usize,
    /// The lanes that exist: all, unless a row is shorter than a vector.
    lanes: M,
    /// The vectors that are loaded, one for each tap along the row, or two for each of two pairs of columns: their start relative to the
    /// row of the image, and the lanes that are in the image.
    loads: Vec<(isize, M)>,
}

impl<M: Copy> Chunk<M> {
    /// Returns the chunks of a row.
    ///
    /// # Safety
    /// The machine has the vectors.
    #[inline(always)]
    unsafe fn all<V: Partial<Mask = M>>(shape: &PlaneShape) -> Vec<Chunk<M>> {
        let width = shape.columns.outputs as usize;
        let lanes = |first: isize, count: isize| {
            let [begin, end] = [-first, count - first].map(|lane| lane.clamp(0, V::LANES as isize) as usize);
            // SAFETY: guaranteed by the caller.
            unsafe { V::mask(begin..end.max(begin)) }
        };
        let tap = |column: usize, &(phase, index): &(usize, isize)| {
            let (first, count) = (index + column as isize, shape.columns_of(phase) as isize);
            ((phase * shape.columns_of(0)) as isize + first, lanes(first, count))
        };
        let pairs = |column: usize| {
            let (first, width) = (2 * column as isize + shape.columns.tap(0), V::LANES as isize);
            let starts = [first, first + width, first + 2, first + 2 + width];
            starts.iter().map(|&at| (at, lanes(at, shape.columns.input as isize))).collect()
        };
        let loads = |column: usize| match shape.is_paired() {
            true => pairs(column),
            false => shape.taps.iter().map(|at| tap(column, at)).collect(),
        };
        let chunk = |column: usize| Chunk {
            column,
            // SAFETY: guaranteed by the caller.
            lanes: unsafe { V::mask(0..(width - column).min(V::LANES)) },
            loads: loads(column),
        };
        (0..width).step_by(V::LANES).map(|column| chunk(column.min(width.saturating_sub(V::LANES)))).collect()
    }
}

impl PlaneComputation<'_> {
    /// Computes a part.
    ///
    /// # Safety
    /// The machine has the vectors, sizes fit, and the caller has exclusive access to this part of the result.
    #[inline(always)]
    unsafe fn all<V: Partial>(&self, PlaneBand { image, band, channels }: PlaneBand) {
        let shape = self.planes.shape;
        let [of_image, of_result] = shape.bands;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (chunks, mut phases) = (Chunk::all::<V>(shape), Phases::new::<V>(shape));
            for channel in channels {
                let first = image * self.channels * shape.input() + channel * (shape.input() / of_image);
                let rows = phases.of::<V>(shape, &self.planes.a[first..], self.places);
                let (height, width) = (shape.rows.outputs as usize / of_result, shape.columns.outputs as usize);
                let place = ((image * of_result + band) * self.channels + channel) * height * width;
                let out = place.wrapping_sub(band * height * width);
                let (first, end) = (band * height, (band + 1) * height);
                Plane { run: self, out, end, channel, rows }.compute::<V>(first..end, &chunks);
            }
        }
    }
}

/// The rows of a plane, with columns in phases.
#[derive(Clone, Copy)]
struct Rows<'a> {
    start: *const f32,
    /// Distance of each row from the first.
    places: &'a [usize],
    /// Elements of a row.
    pitch: usize,
    /// A row of zeros, for padding.
    zeros: *const f32,
}

impl Rows<'_> {
    /// Returns a row; zeros for padding.
    #[inline(always)]
    fn row(&self, row: isize) -> *const f32 {
        self.places.get(row.cast_unsigned()).map_or(self.zeros, |&place| self.start.wrapping_add(place))
    }
}

/// The vectors of a chunk for three taps along a row.
struct Three<M> {
    loads: [(isize, M); 4],
    /// Number of elements in a block of rows: prefetches read from the next block.
    ahead: usize,
}

impl<M: Copy> Three<M> {
    fn new(chunk: &Chunk<M>, ahead: usize) -> Three<M> {
        let last = chunk.loads.len() - 1;
        Three { loads: std::array::from_fn(|i| chunk.loads[i.min(last)]), ahead }
    }

    /// Loads a vector.
    ///
    /// # Safety
    /// The lanes of its mask are in the row.
    #[inline(always)]
    unsafe fn load<V: Partial<Mask = M>>(&self, row: *const f32, i: usize) -> V {
        let (at, mask) = self.loads[i];
        // SAFETY: guaranteed by the caller.
        unsafe { V::load_some(row.wrapping_offset(at), mask) }
    }

    /// Loads what the taps read, and prefetches.
    ///
    /// # Safety
    /// The lanes of masks are in the row, and `PAIRED` is whether the shape is.
    #[inline(always)]
    unsafe fn taps<V: Partial<Mask = M>, const PAIRED: bool>(&self, row: *const f32) -> [V; THREE] {
        let far = row.wrapping_offset(self.loads[0].0).wrapping_add(self.ahead);
        V::prefetch(far);
        // SAFETY: guaranteed by the caller.
        unsafe {
            if PAIRED {
                V::prefetch(far.wrapping_add(V::LANES));
                let [even, odd] = V::deinterleave(self.load(row, 0), self.load(row, 1));
                let [next, _] = V::deinterleave(self.load(row, 2), self.load(row, 3));
                [even, odd, next]
            } else {
                [self.load(row, 0), self.load(row, 1), self.load(row, 2)]
            }
        }
    }
}

/// The ops on sums of a chunk before they are stored.
struct ChunkEpilogue<V: Partial> {
    bias: Option<V>,
    /// The residual of row 0.
    add: Option<*const f32>,
    elementwise: ElementwiseEpilogue,
    /// Row 0 of the result.
    to: *mut f32,
    /// Elements from there to the end of the rows that are computed.
    end: usize,
    /// Distance of rows.
    pitch: usize,
    lanes: V::Mask,
}

impl<V: Partial> ChunkEpilogue<V> {
    /// Returns the epilogue of a chunk.
    ///
    /// # Safety
    /// The machine has the vectors, the sizes of `run` fit, and there are the plane and the chunk.
    #[inline(always)]
    unsafe fn new(Plane { run, out, channel, end, .. }: &Plane<'_, '_>, chunk: &Chunk<V::Mask>) -> ChunkEpilogue<V> {
        let PlaneComputation { planes, c, .. } = run;
        let at = out.wrapping_add(chunk.column);
        let (pitch, lanes) = (planes.shape.columns.outputs as usize, chunk.lanes);
        let add = planes.add.map(|add| add.as_ptr().wrapping_add(at));
        // SAFETY: guaranteed by the caller.
        unsafe {
            let bias = planes.bias.map(|bias| V::splat(bias[*channel]));
            let elementwise = planes.elementwise;
            ChunkEpilogue { bias, add, elementwise, to: c.at(at), end: end * pitch - chunk.column, pitch, lanes }
        }
    }

    /// Stores the sums of a row. Lanes that do not exist are stored as well where the next rows are, whose sums follow: stores under masks
    /// of 256 bits take many cycles on some cores.
    ///
    /// # Safety
    /// There is the row, in the residual too, and the caller has exclusive access to the result from there to the end.
    #[inline(always)]
    unsafe fn store(&self, row: usize, mut sum: V) {
        let at = row * self.pitch;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if let Some(bias) = self.bias {
                sum = sum.plus(bias);
            }
            if let Some(add) = self.add {
                sum = sum.plus(V::load_some(add.wrapping_add(at), self.lanes));
            }
            let (sum, to) = (self.elementwise.of(sum), self.to.wrapping_add(at));
            if at + V::LANES <= self.end {
                sum.store(to);
            } else {
                sum.store_some(to, self.lanes);
            }
        }
    }
}

/// Memory for the phases of a plane.
struct Phases<M> {
    rows: Vec<f32>,
    /// Start of each row.
    places: Vec<usize>,
    zeros: Vec<f32>,
    /// With stride 2, the masks of a vector of each phase: of the two vectors of columns that are loaded, and of both phases.
    pairs: Vec<[M; 4]>,
}

impl<M: Copy> Phases<M> {
    /// Creates the memory, and the masks for stride 2.
    ///
    /// # Safety
    /// The machine has the vectors.
    #[inline(always)]
    unsafe fn new<V: Partial<Mask = M>>(shape: &PlaneShape) -> Phases<M> {
        let (columns, stride) = (shape.columns.input as usize, shape.columns.stride as usize);
        let pitch = shape.columns_of(0) * stride;
        let rows = if shape.has_phases() { shape.rows.input as usize } else { 0 };
        let first = |n: usize, from: usize| 0..n.saturating_sub(from).min(V::LANES);
        // SAFETY: guaranteed by the caller.
        let masks = |at: usize| unsafe {
            [
                V::mask(first(columns, 2 * at)),
                V::mask(first(columns, 2 * at + V::LANES)),
                V::mask(first(shape.columns_of(0), at)),
                V::mask(first(shape.columns_of(1), at)),
            ]
        };
        let pairs = if stride == 2 { (0..shape.columns_of(0)).step_by(V::LANES).map(masks).collect() } else { vec![] };
        let places = (0..rows).map(|row| row * pitch).collect();
        Phases { rows: vec![0.0; rows * pitch], places, zeros: vec![0.0; pitch], pairs }
    }

    /// Divides the columns of a plane into phases, side by side in each row; without strides, or in pairs, rows stay where they are.
    ///
    /// # Safety
    /// The machine has the vectors, and the plane, whose rows begin at these places, has the shape.
    #[inline(always)]
    unsafe fn of<'s, V: Partial<Mask = M>>(
        &'s mut self,
        shape: &PlaneShape,
        plane: &[f32],
        places: &'s [usize],
    ) -> Rows<'s> {
        let (columns, stride) = (shape.columns.input as usize, shape.columns.stride as usize);
        let zeros = self.zeros.as_ptr();
        if !shape.has_phases() {
            return Rows { start: plane.as_ptr(), places, pitch: columns, zeros };
        }
        let phase = shape.columns_of(0);
        for (&place, to) in places.iter().zip(self.rows.chunks_exact_mut(phase * stride)) {
            let from = &plane[place..place + columns];
            if stride == 2 {
                for (i, &[a, b, even, odd]) in self.pairs.iter().enumerate() {
                    let at = i * V::LANES;
                    // SAFETY: masks have the lanes of the row, and of each phase, whose columns end with its memory.
                    unsafe {
                        let first = from.as_ptr().wrapping_add(2 * at);
                        V::prefetch(first.wrapping_add(AHEAD));
                        V::prefetch(first.wrapping_add(AHEAD + V::LANES));
                        let (a, b) = (V::load_some(first, a), V::load_some(first.wrapping_add(V::LANES), b));
                        let [evens, odds] = V::deinterleave(a, b);
                        evens.store_some(to.as_mut_ptr().wrapping_add(at), even);
                        odds.store_some(to.as_mut_ptr().wrapping_add(phase + at), odd);
                    }
                }
                continue;
            }
            for (i, to) in to.chunks_exact_mut(phase).enumerate() {
                to.iter_mut().zip(from.iter().skip(i).step_by(stride)).for_each(|(to, &x)| *to = x);
            }
        }
        Rows { start: self.rows.as_ptr(), places: &self.places, pitch: phase * stride, zeros }
    }
}

/// A plane in the making.
struct Plane<'r, 'a> {
    run: &'r PlaneComputation<'a>,
    /// Element of the result at which row 0 would be, if its band had all rows.
    out: usize,
    /// End of the rows of the band.
    end: usize,
    channel: usize,
    rows: Rows<'r>,
}

impl Plane<'_, '_> {
    /// Computes some rows.
    ///
    /// # Safety
    /// As for [`PlaneComputation::all`]; the chunks are those of the shape.
    #[inline(always)]
    unsafe fn compute<V: Partial>(&self, rows: Range<usize>, chunks: &[Chunk<V::Mask>]) {
        let (shape, end) = (self.run.planes.shape, rows.end);
        let block = shape.block();
        for first in rows.step_by(block) {
            let rows = first..(first + block).min(end);
            // SAFETY: guaranteed by the caller; rows are in the plane.
            unsafe {
                match (shape.is_three(), shape.is_paired(), shape.rows.stride) {
                    (false, ..) => self.any::<V>(rows, chunks),
                    (true, false, 1) => self.three::<V, 1, false>(rows, chunks),
                    (true, false, _) => self.three::<V, 2, false>(rows, chunks),
                    (true, true, 1) => self.three::<V, 1, true>(rows, chunks),
                    (true, true, _) => self.three::<V, 2, true>(rows, chunks),
                }
            }
        }
    }

    /// Returns the weight of a tap of this plane.
    ///
    /// # Safety
    /// The tap exists, and the machine has the vectors.
    #[inline(always)]
    unsafe fn weight<V: Partial>(&self, tap: usize) -> V {
        let planes = self.run.planes;
        let at = self.channel * planes.shape.positions() + tap;
        // SAFETY: there are weights for each tap of each channel.
        unsafe { V::splat(planes.weights.as_ptr().add(at).read()) }
    }

    /// Computes rows of windows of 3 by 3 taps, `S` rows apart. Each row of the image is loaded once for a chunk.
    ///
    /// # Safety
    /// As for [`compute`](Plane::compute); the rows exist, and `PAIRED` is whether the shape is.
    #[inline(always)]
    unsafe fn three<V: Partial, const S: usize, const PAIRED: bool>(
        &self,
        rows: Range<usize>,
        chunks: &[Chunk<V::Mask>],
    ) {
        let top = |row: usize| (row * S) as isize + self.run.planes.shape.rows.tap(0);
        let ahead = rows.len() * S * self.rows.pitch;
        // SAFETY: the lanes of masks are in each row of the image, and in the row of zeros.
        unsafe {
            let weights = |t: usize| [self.weight(t), self.weight(THREE + t), self.weight(2 * THREE + t)];
            let weights: [[V; THREE]; THREE] = [weights(0), weights(1), weights(2)];
            for chunk in chunks {
                let (from, epilogue) = (Three::new(chunk, ahead), ChunkEpilogue::<V>::new(self, chunk));
                let mut first = from.taps::<V, PAIRED>(self.rows.row(top(rows.start)));
                let mut second = if S > 1 { first } else { from.taps::<V, PAIRED>(self.rows.row(top(rows.start) + 1)) };
                for row in rows.clone() {
                    if S > 1 {
                        second = from.taps::<V, PAIRED>(self.rows.row(top(row) + 1));
                    }
                    let third = from.taps::<V, PAIRED>(self.rows.row(top(row) + 2));
                    let mut sums = [V::splat(0.0); THREE];
                    for t in 0..THREE {
                        sums[t] = first[t].multiply_add(weights[t][0], sums[t]);
                        sums[t] = second[t].multiply_add(weights[t][1], sums[t]);
                        sums[t] = third[t].multiply_add(weights[t][2], sums[t]);
                    }
                    epilogue.store(row, sums[0].plus(sums[1]).plus(sums[2]));
                    (first, second) = if S == 1 { (second, third) } else { (third, second) };
                }
            }
        }
    }

    /// Computes rows of any windows.
    ///
    /// # Safety
    /// As for [`compute`](Plane::compute); the rows exist.
    #[inline(always)]
    unsafe fn any<V: Partial>(&self, rows: Range<usize>, chunks: &[Chunk<V::Mask>]) {
        let axis = self.run.planes.shape.rows;
        for (row, chunk) in rows.flat_map(|row| chunks.iter().map(move |chunk| (row, chunk))) {
            // SAFETY: as in `three`.
            unsafe {
                let mut sums = [V::splat(0.0); CHAINS];
                let (whole, rest) = chunk.loads.as_chunks::<CHAINS>();
                for k in 0..axis.taps as usize {
                    let from = self.rows.row(row as isize * axis.stride as isize + axis.tap(k));
                    let mut tap = k * chunk.loads.len();
                    for loads in whole {
                        for chain in 0..CHAINS {
                            let (at, mask) = loads[chain];
                            let x = V::load_some(from.wrapping_offset(at), mask);
                            sums[chain] = x.multiply_add(self.weight(tap + chain), sums[chain]);
                        }
                        tap += CHAINS;
                    }
                    for chain in 0..CHAINS - 1 {
                        if let Some(&(at, mask)) = rest.get(chain) {
                            let x = V::load_some(from.wrapping_offset(at), mask);
                            sums[chain] = x.multiply_add(self.weight(tap + chain), sums[chain]);
                        }
                    }
                }
                let sum = sums[0].plus(sums[1]).plus(sums[2].plus(sums[3]));
                ChunkEpilogue::<V>::new(self, chunk).store(row, sum);
            }
        }
    }
}
