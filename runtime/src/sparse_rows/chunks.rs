//! Nonzeros divided by the rows of the dense operand that they read.

use super::{Entry, MIN_READS};
use std::ops::Range;

/// Bytes of a block of columns that stay in the L1 cache while all rows of the matrix are computed.
const NEAR: usize = 36 << 10;

/// Average number of nonzeros of a row and chunk, at least: the end of their loop is mispredicted.
const MIN_ENTRIES: usize = 12;

/// Nonzeros by chunks of rows of the dense operand, and in a chunk by rows of the matrix. The order of those of a row is kept.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chunks {
    /// The nonzeros; if chunks are packed, with indices of rows in their chunk in place of offsets.
    pub entries: Vec<Entry>,
    /// Start of each chunk and row among the nonzeros, and their number.
    starts: Vec<usize>,
    /// Offsets of the rows of the dense operand, ascending.
    pub distinct: Vec<u32>,
    /// Number of these of a chunk; the last one may have fewer.
    size: usize,
    /// Whether rows of the matrix have no nonzeros.
    is_empty: Vec<bool>,
    /// Whether chunks are packed.
    pub is_packed: bool,
}

impl Chunks {
    /// Divides the nonzeros of rows that end at `ends`, for blocks of some columns.
    pub fn of(entries: &[Entry], ends: &[usize], block: usize, [can_pack, is_split]: [bool; 2]) -> Chunks {
        let mut distinct: Vec<u32> = entries.iter().map(|entry| entry.offset).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let is_read_often = entries.len() >= MIN_READS.saturating_mul(distinct.len());
        let starts = || std::iter::once(0).chain(ends.iter().copied());
        let rows = || starts().zip(ends).map(|(start, &end)| &entries[start..end]);
        let are_ascending = || rows().all(|row| row.is_sorted_by_key(|entry| entry.offset));
        let near = distinct.len().div_ceil((NEAR / (block.max(1) * size_of::<f32>())).max(1));
        let most = entries.len() / (ends.len() * MIN_ENTRIES).max(1);
        let count = if is_read_often && are_ascending() { near.min(most).max(1) } else { 1 };
        let size = distinct.len().div_ceil(count).max(1);
        let is_packed = can_pack && is_read_often && (is_split || count > 1);
        let mut chunks = Chunks {
            entries: Vec::with_capacity(entries.len()),
            starts: vec![0],
            size,
            is_empty: rows().map(<[Entry]>::is_empty).collect(),
            is_packed,
            distinct,
        };
        let distinct = std::mem::take(&mut chunks.distinct);
        let index = |entry: &Entry| distinct.binary_search(&entry.offset).unwrap_or(0);
        let mut rest: Vec<&[Entry]> = rows().collect();
        let last = count.min(distinct.len().div_ceil(size).max(1)) - 1;
        for chunk in 0..=last {
            let end = (chunk + 1) * size;
            for row in &mut rest {
                let count = if chunk == last { row.len() } else { row.partition_point(|one| index(one) < end) };
                let (own, others) = row.split_at(count);
                *row = others;
                let place = |one: &Entry| if is_packed { (index(one) % size) as u32 } else { one.offset };
                chunks.entries.extend(own.iter().map(|one| Entry { offset: place(one), ..*one }));
                chunks.starts.push(chunks.entries.len());
            }
        }
        chunks.distinct = distinct;
        chunks
    }

    /// Number of chunks.
    pub fn count(&self) -> usize {
        self.distinct.len().div_ceil(self.size).max(1)
    }

    /// Offsets of the rows of the dense operand of a chunk.
    pub fn offsets(&self, chunk: usize) -> &[u32] {
        let first = chunk * self.size;
        &self.distinct[first..self.distinct.len().min(first + self.size)]
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
