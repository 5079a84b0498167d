//! Heads within tensors `[B, H, S, D]` or `[B, S, H * D]`, and keys and values in two tensors, of which the first has past ones.

/// A tensor of heads.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    /// Batches, heads, rows (queries or keys), and elements of a row.
    pub(super) shape: [usize; 4],
    /// Distances of batches, heads and rows in elements.
    strides: [usize; 3],
}

impl Heads {
    /// Returns the heads of a tensor of these extents; the number of heads is needed for rank 3.
    pub(super) fn of(extents: &[usize], heads: Option<i64>) -> Option<Heads> {
        match *extents {
            [b, h, s, d] => Some(Heads { shape: [b, h, s, d], strides: [h * s * d, s * d, d] }),
            [b, s, width] => {
                let h = usize::try_from(heads?).ok().filter(|&h| h > 0 && width.is_multiple_of(h))?;
                Some(Heads { shape: [b, h, s, width / h], strides: [s * width, width / h, width] })
            }
            _ => None,
        }
    }

    /// Returns the index of the first element of a row of a head of a batch.
    fn at(&self, index: [usize; 3]) -> usize {
        self.strides.iter().zip(index).map(|(stride, i)| stride * i).sum()
    }

    /// Returns a row of a head of a batch.
    pub(super) fn row<'a>(&self, x: &'a [f32], index: [usize; 3]) -> &'a [f32] {
        &x[self.at(index)..][..self.shape[3]]
    }

    /// Divides the tensor into rows, in the order of memory, each with its batch, head and row.
    pub(super) fn rows_mut<'a>(&self, x: &'a mut [f32]) -> impl Iterator<Item = (&'a mut [f32], [usize; 3])> {
        let [_, h, s, d] = self.shape;
        let is_by_head = self.strides[2] == d;
        x.chunks_exact_mut(d).enumerate().map(move |(i, row)| {
            let (head, query) = if is_by_head { (i / s % h, i % s) } else { (i % h, i / h % s) };
            (row, [i / (h * s), head, query])
        })
    }
}

/// Keys or values: past ones, then new ones.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    /// Each tensor with its place among the operands.
    past: Option<(usize, Heads)>,
    new: (usize, Heads),
}

impl Sequence {
    /// Joins tensors; `None` if they have different batches, heads or elements.
    pub(super) fn new(new: (usize, Heads), past: Option<(usize, Heads)>) -> Option<Sequence> {
        let apart = |heads: &Heads| [heads.shape[0], heads.shape[1], heads.shape[3]];
        let fits = past.as_ref().is_none_or(|(_, past)| apart(past) == apart(&new.1));
        fits.then_some(Sequence { past, new })
    }

    /// Returns the extents `[B, H, T, D]` of all keys or values.
    pub(super) fn shape(&self) -> [usize; 4] {
        let [b, h, rows, d] = self.new.1.shape;
        [b, h, self.past_rows() + rows, d]
    }

    /// Returns the number of past ones.
    pub(super) fn past_rows(&self) -> usize {
        self.past.as_ref().map_or(0, |(_, past)| past.shape[2])
    }

    /// Returns the places among the operands.
    pub(super) fn places(&self) -> [Option<usize>; 2] {
        [self.past.as_ref().map(|past| past.0), Some(self.new.0)]
    }

    /// Returns which tensor has a row, and the index of the first element there.
    fn find(&self, [batch, head, row]: [usize; 3]) -> (usize, usize) {
        match &self.past {
            Some((_, past)) if row < past.shape[2] => (0, past.at([batch, head, row])),
            _ => (1, self.new.1.at([batch, head, row - self.past_rows()])),
        }
    }

    /// Returns a row of a head of a batch from the two tensors.
    pub(super) fn row<'a>(&self, data: [&'a [f32]; 2], index: [usize; 3]) -> &'a [f32] {
        let (which, at) = self.find(index);
        &data[which][at..][..self.new.1.shape[3]]
    }

    /// Copies all rows, of elements of `width` bytes, to a tensor `[B, H, T, D]`.
    pub(super) fn copy(&self, data: &[&[u8]], width: usize, out: &mut [u8]) {
        let [_, h, rows, d] = self.shape();
        let places = self.places().map(Option::unwrap_or_default);
        for (i, out) in out.chunks_exact_mut(d * width).enumerate() {
            let (which, at) = self.find([i / (h * rows), i / rows % h, i % rows]);
            out.copy_from_slice(&data[places[which]][at * width..][..d * width]);
        }
    }
}
