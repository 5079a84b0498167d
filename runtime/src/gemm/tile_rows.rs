//! The left factor as tiles of 16 rows of 64 bytes, for kernels that multiply tiles. Rows of an image that are equidistant are read
//! where they are, if they are whole lines or bytes of one run, others are packed.

use super::addresses::Addresses;
use crate::aligned_bytes::AlignedBytes;
use crate::vector::{Loops, MultiplyAdd, run_widest};
use gradus_networks::layout::ZERO_PAGE;
use std::ops::Range;

/// Number of rows of a tile.
pub(super) const TILE_ROWS: usize = 16;

/// Size of a row of a tile in bytes.
pub(super) const ROW_BYTES: usize = 64;

/// Size of a tile in bytes.
pub(super) const TILE_BYTES: usize = TILE_ROWS * ROW_BYTES;

/// A tile: its first row, and the distance of the next one in bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct TileSource {
    pub at: *const u8,
    pub stride: isize,
}

/// The operands of a product of tiles.
pub(super) struct TileProduct {
    /// The tiles of the left factor of one or two strips of 16 rows, `steps` of each.
    pub strips: [*const TileSource; 2],
    /// The tiles of the right factor: `16 * steps` rows of the panel's width.
    pub b: *const u8,
    /// Number of tiles along the summands.
    pub steps: usize,
    /// The initial accumulators: rows of the panel's width.
    pub initial: *const u8,
    /// The distance of these rows in bytes: 0 if all rows have the same.
    pub initial_stride: usize,
    /// The accumulators, row-major with the panel's width.
    pub sums: *mut u8,
}

/// Returns the size of the summands of a row in bytes, where each run of `run` bytes is followed by zeros up to a multiple of four.
pub(super) fn packed_bytes(runs: usize, run: usize) -> Option<usize> {
    runs.checked_mul(run.checked_next_multiple_of(4)?)
}

/// The tiles of some rows: for each strip of [`TILE_ROWS`] rows, the tiles along the summands.
#[derive(Default)]
pub(super) struct TileRows {
    tiles: Vec<TileSource>,
    data: AlignedBytes,
    /// Size of a packed row in bytes.
    pitch: usize,
    /// Number of tiles per strip.
    steps: usize,
}

impl TileRows {
    /// Collects the tiles of some rows. Elements have `size` bytes, and `padding` is a run of padding if there is any. The rows of the
    /// last strip that do not exist have any bytes.
    ///
    /// The caller has checked the addresses. Tiles point into `a` and `self`.
    pub(super) fn pack(&mut self, a: &[u8], of: &Addresses, size: usize, rows: Range<usize>, padding: &[u8]) {
        let run = of.run() * size;
        let depth = packed_bytes(of.runs().len(), run).expect("the panels of as many summands exist");
        self.steps = depth.div_ceil(ROW_BYTES);
        // Rows of an odd number of cache lines are in different sets of a cache.
        self.pitch = (self.steps | 1) * ROW_BYTES;
        let strips = rows.len().div_ceil(TILE_ROWS);
        // Copies write a line more.
        let bytes = (strips * TILE_ROWS * self.pitch).saturating_add(ROW_BYTES);
        if self.data.as_ref().len() < bytes {
            self.data = AlignedBytes::zeros(bytes);
        }
        self.tiles.clear();
        let image = LeftFactor { a, of, size, padding };
        for strip in 0..strips {
            let first = rows.start + strip * TILE_ROWS;
            let rows = first..(first + TILE_ROWS).min(rows.end);
            match run.is_multiple_of(ROW_BYTES) {
                true => self.whole_lines(strip, &image, rows),
                false if size == 1 && self.in_place(&image, rows.clone()) => {}
                false => self.any_runs(strip, &image, rows),
            }
        }
    }

    /// Collects the tiles of a strip whose runs are whole rows of tiles: in place where rows are equidistant.
    fn whole_lines(&mut self, strip: usize, image: &LeftFactor<'_>, rows: Range<usize>) {
        let (lines, count) = (image.run() / ROW_BYTES, rows.len());
        let mut walk = image.of.walk(0);
        for (i, run) in image.of.runs().iter().enumerate() {
            let (offset, bases) = (walk.next(run), image.bases(rows.clone(), run.column));
            if let Some(stride) = image.stride(bases.clone()).filter(|_| count == TILE_ROWS) {
                let at = image.bytes(image.base(rows.start, run.column), offset).as_ptr();
                let stride = stride * image.size as isize;
                self.tiles.extend((0..lines).map(|line| TileSource { at: at.wrapping_add(line * ROW_BYTES), stride }));
                continue;
            }
            let start = strip * TILE_ROWS * self.pitch + i * image.run();
            for (row, base) in bases.enumerate() {
                let to = &mut self.data.as_mut()[start + row * self.pitch..][..image.run()];
                for (to, from) in
                    to.as_chunks_mut::<ROW_BYTES>().0.iter_mut().zip(image.bytes(base, offset).as_chunks().0)
                {
                    *to = *from;
                }
            }
            self.push_packed(start, lines);
        }
    }

    /// Collects the tiles of a strip of rows of one run where they are, if they are equidistant: the bytes after a run are multiplied by
    /// zeros of the right factor, which changes no sum of integers. Returns false if there are not as many bytes.
    fn in_place(&mut self, image: &LeftFactor<'_>, rows: Range<usize>) -> bool {
        let ([run], TILE_ROWS) = (image.of.runs(), rows.len()) else { return false };
        let (offset, bases) = (image.of.walk(0).next(run), image.bases(rows.clone(), run.column));
        let Some(stride) = image.stride(bases) else { return false };
        let [first, last] =
            [rows.start, rows.end - 1].map(|row| (image.base(row, run.column) as isize + offset) as usize);
        let Some(from) = image.a.get(first..).filter(|_| first.max(last) + self.steps * ROW_BYTES <= image.a.len())
        else {
            return false;
        };
        let source = |i: usize| TileSource { at: from.as_ptr().wrapping_add(i * ROW_BYTES), stride };
        self.tiles.extend((0..self.steps).map(source));
        true
    }

    /// Packs the tiles of a strip, whose rows of tiles may contain parts of several runs.
    fn any_runs(&mut self, strip: usize, image: &LeftFactor<'_>, rows: Range<usize>) {
        let start = strip * TILE_ROWS * self.pitch;
        let to = &mut self.data.as_mut()[start..];
        run_widest(Runs { image, rows, to, pitch: self.pitch, size: self.steps * ROW_BYTES });
        self.push_packed(start, self.steps);
    }

    /// Adds packed tiles.
    fn push_packed(&mut self, start: usize, count: usize) {
        let (at, stride) = (self.data.as_ref()[start..].as_ptr(), self.pitch as isize);
        self.tiles.extend((0..count).map(|i| TileSource { at: at.wrapping_add(i * ROW_BYTES), stride }));
    }

    /// Returns the number of tiles per strip.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the tiles of a strip.
    pub(super) fn strip(&self, i: usize) -> &[TileSource] {
        &self.tiles[i * self.steps..][..self.steps]
    }

    /// Returns the tiles of one or two strips from strip `i` on of `rows` rows; the first one twice if there is one.
    pub(super) fn strips(&self, i: usize, rows: usize) -> [*const TileSource; 2] {
        [i, if rows > TILE_ROWS { i + 1 } else { i }].map(|i| self.strip(i).as_ptr())
    }
}

/// The copy of the runs of some rows, one behind the other.
struct Runs<'a> {
    image: &'a LeftFactor<'a>,
    rows: Range<usize>,
    /// The rows and at least a line behind them.
    to: &'a mut [u8],
    /// Distance of rows in bytes.
    pitch: usize,
    /// Size of a row in bytes.
    size: usize,
}

impl Loops for Runs<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let Runs { image, rows, to, pitch, size: row_size } = self;
        let (size, each) = (image.run(), image.run().next_multiple_of(4));
        let own: [u8; ROW_BYTES] = std::array::from_fn(|i| if i < size { 0xff } else { 0 });
        for (i, index) in rows.enumerate() {
            let row = i * pitch;
            let (mut at, mut walk) = (row, image.of.walk(0));
            for part in image.of.runs() {
                let (base, offset) = (image.base(index, part.column), walk.next(part));
                match image.line(base, offset) {
                    // Zeros follow, which the next run overwrites.
                    Some(from) if size <= ROW_BYTES => {
                        let to: &mut [u8] = &mut to[at..][..ROW_BYTES];
                        for k in 0..ROW_BYTES {
                            to[k] = from[k] & own[k];
                        }
                    }
                    _ => {
                        copy_short(image.bytes(base, offset), &mut to[at..][..size]);
                        to[at + size..at + each].fill(0);
                    }
                }
                at += each;
            }
            to[at..row + row_size].fill(0);
        }
    }
}

/// Copies a run to a place of its size; faster than a call where it is short. The last piece overlaps the one before.
fn copy_short(from: &[u8], to: &mut [u8]) {
    let size = from.len();
    if let Some(last) = from.last_chunk::<16>() {
        for (to, from) in to.as_chunks_mut::<16>().0.iter_mut().zip(from.as_chunks::<16>().0) {
            *to = *from;
        }
        to[size - 16..][..16].copy_from_slice(last);
    } else if let Some(last) = from.last_chunk::<4>() {
        for (to, from) in to.as_chunks_mut::<4>().0.iter_mut().zip(from.as_chunks::<4>().0) {
            *to = *from;
        }
        to[size - 4..][..4].copy_from_slice(last);
    } else {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}

/// The left factor in a buffer.
struct LeftFactor<'a> {
    a: &'a [u8],
    of: &'a Addresses,
    /// Bytes per element.
    size: usize,
    padding: &'a [u8],
}

impl<'a> LeftFactor<'a> {
    /// Returns the size of a run in bytes.
    fn run(&self) -> usize {
        self.of.run() * self.size
    }

    /// Returns an entry of the table.
    fn base(&self, row: usize, column: usize) -> i32 {
        let (table, stride) = self.of.table();
        table[row * stride + column]
    }

    /// Returns the table entries of some rows.
    fn bases(&self, rows: Range<usize>, column: usize) -> impl Iterator<Item = i32> + Clone {
        rows.map(move |row| self.base(row, column))
    }

    /// Returns the distance of neighbouring rows in elements, if it is the same everywhere and there is no padding.
    fn stride(&self, bases: impl Iterator<Item = i32> + Clone) -> Option<isize> {
        let is_hole = |base: i32| self.of.has_holes() && base == ZERO_PAGE;
        let mut pairs = bases
            .clone()
            .zip(bases.skip(1))
            .map(|(base, next)| (!is_hole(base) && !is_hole(next)).then(|| next as isize - base as isize));
        let first = pairs.next()??;
        pairs.all(|stride| stride == Some(first)).then_some(first)
    }

    /// Returns the bytes of a row of a tile from the start of a run on, if there are as many.
    fn line(&self, base: i32, offset: isize) -> Option<&'a [u8; ROW_BYTES]> {
        match base {
            ZERO_PAGE if self.of.has_holes() => None,
            base => self.a.get((base as isize + offset) as usize * self.size..)?.first_chunk(),
        }
    }

    /// Returns the bytes of a run.
    fn bytes(&self, base: i32, offset: isize) -> &'a [u8] {
        match base {
            ZERO_PAGE if self.of.has_holes() => &self.padding[..self.run()],
            base => &self.a[(base as isize + offset) as usize * self.size..][..self.run()],
        }
    }
}
