//! Nonzeros divided by the rows of the dense operand that they read.

use super::Nonzero;
use gradus_networks::addr::SparseShape;
use std::ops::Range;

/// Nonzeros by chunks of rows of the dense operand, and in a chunk by rows of the matrix. The order of those of a row is kept.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chunks<T> {
    /// The nonzeros; if chunks are packed, with indices of rows in their chunk in place of offsets.
    pub entries: Vec<Nonzero<T>>,
    /// Start of each chunk and row among the nonzeros, and their number.
    starts: Vec<usize>,
    /// Offsets of the rows of the dense operand, ascending.
    distinct: Vec<u32>,
    /// The first of these of each chunk, and their number.
    cuts: Vec<usize>,
    /// Whether rows of the matrix have no nonzeros.
    is_empty: Vec<bool>,
    /// Whether chunks are packed.
    pub is_packed: bool,
    /// Maximum number of vectors of a block of columns.
    pub vectors: usize,
}

/// The columns of a strip of a product.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    /// Number of vectors of a strip, and bytes of each.
    pub vectors: usize,
    pub bytes: usize,
    /// Whether strips fill vectors, so that they can be packed.
    pub is_filled: bool,
    /// Whether rows of the dense operand do not begin at cache lines.
    pub is_split: bool,
}

impl<T: Copy> Chunks<T> {
    /// Divides the nonzeros of rows that end at `ends`, for strips of some columns.
    pub fn of(entries: &[Nonzero<T>], ends: &[usize], strip: Strip) -> Chunks<T> {
        let mut distinct: Vec<u32> = entries.iter().map(|entry| entry.offset).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let rows: Vec<&[Nonzero<T>]> = starts.zip(ends).map(|(start, &end)| &entries[start..end]).collect();
        let shape = SparseShape { rows: ends.len(), depth: distinct.len(), nonzeros: entries.len() };
        let division = shape.divide(strip.vectors, strip.bytes);
        let cuts = cuts(&rows, &distinct, distinct.len().div_ceil(division.chunks));
        let is_packed = strip.is_filled && shape.is_read_often() && (strip.is_split || cuts.len() > 2);
        let is_empty = rows.iter().map(|row| row.is_empty()).collect();
        let mut chunks = Chunks {
            entries: Vec::with_capacity(entries.len()),
            starts: vec![0],
            distinct,
            cuts,
            is_empty,
            is_packed,
            vectors: division.vectors,
        };
        chunks.fill(rows);
        chunks
    }

    /// Collects the nonzeros of the rows.
    fn fill(&mut self, mut rows: Vec<&[Nonzero<T>]>) {
        let distinct = &self.distinct;
        for cut in self.cuts.windows(2) {
            for row in &mut rows {
                let (own, others) = row.split_at(row.partition_point(|one| index(distinct, one) < cut[1]));
                *row = others;
                let place =
                    |one: &Nonzero<T>| if self.is_packed { (index(distinct, one) - cut[0]) as u32 } else { one.offset };
                self.entries.extend(own.iter().map(|one| Nonzero { offset: place(one), ..*one }));
                self.starts.push(self.entries.len());
            }
        }
    }

    /// Number of chunks.
    pub fn count(&self) -> usize {
        self.cuts.len() - 1
    }

    /// The size of the matrix.
    pub fn shape(&self) -> SparseShape {
        SparseShape { rows: self.is_empty.len(), depth: self.distinct.len(), nonzeros: self.entries.len() }
    }

    /// Offsets of the rows of the dense operand of a chunk.
    pub fn offsets(&self, chunk: usize) -> &[u32] {
        &self.distinct[self.cuts[chunk]..self.cuts[chunk + 1]]
    }

    /// Starts of rows of a chunk among the nonzeros, and the end of the last.
    #[inline(always)]
    pub fn starts_of(&self, chunk: usize, rows: Range<usize>) -> &[usize] {
        let first = chunk * self.is_empty.len();
        &self.starts[first + rows.start..=first + rows.end]
    }

    /// Whether a row has no nonzeros.
    pub fn is_empty(&self, row: usize) -> bool {
        self.is_empty[row]
    }
}

/// Returns the index of the offset of a nonzero in `distinct`.
fn index<T>(distinct: &[u32], entry: &Nonzero<T>) -> usize {
    distinct.partition_point(|&offset| offset < entry.offset)
}

/// Divides offsets into chunks of at least `size`, so that in each row the nonzeros of a chunk precede those of the next: offsets of a row
/// may descend in a chunk, such as those of the taps of a channel.
fn cuts<T>(rows: &[&[Nonzero<T>]], distinct: &[u32], size: usize) -> Vec<usize> {
    // Whether a cut before an offset would divide some that descend: changes of their number.
    let mut changes = vec![0_i64; distinct.len() + 1];
    for row in rows {
        let mut largest = 0;
        for entry in *row {
            if entry.offset < largest {
                let [first, end] = [entry.offset, largest].map(|offset| distinct.partition_point(|&one| one <= offset));
                changes[first] += 1;
                changes[end] -= 1;
            }
            largest = largest.max(entry.offset);
        }
    }
    let (mut cuts, mut open) = (vec![0], 0);
    for (at, change) in changes.into_iter().enumerate() {
        open += change;
        let is_far = at >= cuts[cuts.len() - 1] + size && distinct.len() - at >= size / 2;
        if at > 0 && at < distinct.len() && open == 0 && is_far {
            cuts.push(at);
        }
    }
    cuts.push(distinct.len());
    cuts
}
