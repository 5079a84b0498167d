//! Loop nests over the elements of a result, to which operands broadcast.

use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use smallvec::SmallVec;

/// An outer loop.
#[derive(Debug)]
struct Loop {
    extent: usize,
    /// Stride of each operand.
    strides: Vec<usize>,
}

/// The computation of a row: the inner loop of a [`Nest`]. Not a closure, which compilers do not inline into the loops of each
/// vector width.
pub(super) trait RowKernel<T> {
    /// Computes a row from the offset of each operand.
    fn row<M: MultiplyAdd>(&mut self, offsets: &[usize], out: &mut [T]);
}

/// The elements of an operand along the inner loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Along {
    /// Contiguous elements.
    Many,
    /// This many contiguous elements, again and again.
    Repeated(usize),
    /// Contiguous elements, each this many times.
    Spread(usize),
    /// The same element.
    One,
}

/// A loop nest over the elements of a result, to which operands broadcast.
#[derive(Debug)]
pub(super) struct Nest {
    /// The outer loops, outermost first.
    loops: Vec<Loop>,
    /// Length of the inner loop, a row.
    run: usize,
    /// Each operand along the inner loop.
    along: Vec<Along>,
}

impl Nest {
    /// Builds the loop nest; operands broadcast to the result.
    pub(super) fn new(result: &[usize], operands: &[Vec<usize>]) -> Option<Nest> {
        let strides: Vec<Vec<usize>> = operands.iter().map(|shape| strides(shape, result)).collect::<Option<_>>()?;
        let mut loops: Vec<Loop> = Vec::new();
        for (axis, &extent) in result.iter().enumerate().filter(|(_, d)| **d != 1) {
            let strides: Vec<usize> = strides.iter().map(|s| s[axis]).collect();
            match loops.last_mut() {
                Some(outer) if outer.strides.iter().zip(&strides).all(|(&o, &s)| o == s * extent) => {
                    *outer = Loop { extent: outer.extent * extent, strides };
                }
                _ => loops.push(Loop { extent, strides }),
            }
        }
        let inner = loops.pop().unwrap_or(Loop { extent: 1, strides: vec![1; operands.len()] });
        let along = inner.strides.iter().map(|&stride| if stride == 1 { Along::Many } else { Along::One }).collect();
        Some(Nest { loops, run: inner.extent, along })
    }

    /// Returns the same nest with rows of up to `most` elements, each of several short rows: operands that are the same in these
    /// are [`Along::Repeated`], those with an element per short row [`Along::Spread`]. Unchanged if an operand neither goes on from row to
    /// row nor is the same.
    pub(super) fn with_rows_of(mut self, most: usize) -> Nest {
        let is_only = self.loops.len() == 1;
        let Some(last) = self.loops.last_mut() else { return self };
        let joins = |(along, &stride): (&Along, &usize)| match along {
            Along::Many => stride == 0 || stride == self.run,
            _ => stride <= 1,
        };
        if !self.along.iter().zip(&last.strides).all(joins) {
            return self;
        }
        let fits = most / self.run.max(1);
        // The last row of an only loop may be shorter.
        let rows =
            (1..=fits.min(last.extent)).rev().find(|&rows| is_only || last.extent.is_multiple_of(rows)).unwrap_or(1);
        for (along, stride) in self.along.iter_mut().zip(&mut last.strides) {
            *along = match (*along, *stride) {
                (Along::Many, 0) if rows > 1 => Along::Repeated(self.run),
                (Along::One, 1) if rows > 1 => Along::Spread(self.run),
                (along, _) => along,
            };
            *stride *= rows;
        }
        last.extent = last.extent.div_ceil(rows);
        self.run *= rows;
        self
    }

    /// Returns each operand along a row.
    pub(super) fn along(&self) -> &[Along] {
        &self.along
    }

    /// Whether an operand has an element for each element of a row, not one for all.
    pub(super) fn is_many(&self, operand: usize) -> bool {
        self.along[operand] != Along::One
    }

    /// Divides a result of elements of a size among threads if that pays for as many vector operations as `steps`: whole rows, or parts of
    /// the only one, multiples of `unit` elements. `work` gets the position within the row, a part of the result, and the index of its
    /// first element.
    pub(super) fn share(
        &self,
        workers: &Workers,
        steps: usize,
        [unit, size]: [usize; 2],
        out: &mut [u8],
        work: &(dyn Fn(usize, &mut [u8], usize) + Sync),
    ) {
        let (threads, run, count) = (workers.for_steps(steps), self.run.max(1), out.len() / size);
        let unit = if count == run { unit } else { run };
        let part = count.div_ceil(unit).div_ceil(Workers::parts(threads)).max(1) * unit;
        workers.share(threads, out.chunks_mut(part * size).enumerate(), |(i, out)| work(i * part % run, out, i * part));
    }

    /// [`Nest::rows`] on the widest vectors.
    pub(super) fn rows_widest<T>(&self, out: &mut [T], first: usize, kernel: &mut impl RowKernel<T>) {
        run_widest(Rows { nest: self, out, first, kernel });
    }

    /// Computes each row of `out`, which begins with element `first`.
    #[inline(always)]
    fn rows<T, M: MultiplyAdd>(&self, out: &mut [T], first: usize, kernel: &mut impl RowKernel<T>) {
        let run = self.run.max(1);
        let mut place = RowPlace::of(self, first / run);
        for row in out.chunks_mut(run) {
            kernel.row::<M>(&place.offsets, row);
            place.advance(self);
        }
    }
}

/// The place of a row: the index of each outer loop, and the offset of each operand.
struct RowPlace {
    index: SmallVec<[usize; 8]>,
    offsets: SmallVec<[usize; 8]>,
}

impl RowPlace {
    fn of(nest: &Nest, mut row: usize) -> RowPlace {
        let mut index: SmallVec<[usize; 8]> = smallvec::smallvec![0; nest.loops.len()];
        let mut offsets: SmallVec<[usize; 8]> = smallvec::smallvec![0; nest.along.len()];
        for (at, l) in index.iter_mut().zip(&nest.loops).rev() {
            *at = row % l.extent;
            row /= l.extent;
            offsets.iter_mut().zip(&l.strides).for_each(|(offset, stride)| *offset += stride * *at);
        }
        RowPlace { index, offsets }
    }

    /// Moves to the next row.
    fn advance(&mut self, nest: &Nest) {
        for (at, l) in self.index.iter_mut().zip(&nest.loops).rev() {
            *at += 1;
            self.offsets.iter_mut().zip(&l.strides).for_each(|(offset, stride)| *offset += stride);
            if *at < l.extent {
                break;
            }
            *at = 0;
            self.offsets.iter_mut().zip(&l.strides).for_each(|(offset, stride)| *offset -= stride * l.extent);
        }
    }
}

/// The rows of a result from element `first` on.
struct Rows<'a, T, K> {
    nest: &'a Nest,
    out: &'a mut [T],
    first: usize,
    kernel: &'a mut K,
}

impl<T, K: RowKernel<T>> Loops for Rows<'_, T, K> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        self.nest.rows::<_, M>(self.out, self.first, self.kernel);
    }
}

/// Returns the strides of a broadcasting operand along the result's axes; 0 where its extent is 1.
fn strides(operand: &[usize], result: &[usize]) -> Option<Vec<usize>> {
    let missing = result.len().checked_sub(operand.len())?;
    let mut all = vec![0; result.len()];
    let mut stride = 1;
    for (axis, &extent) in operand.iter().enumerate().rev() {
        if extent != 1 && extent != result[missing + axis] {
            return None;
        }
        if extent != 1 {
            all[missing + axis] = stride;
        }
        stride *= extent;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_along_all_axes_is_one_row() {
        let nest = Nest::new(&[5, 6, 7], &[vec![5, 6, 7], vec![1, 1, 1], vec![]]).unwrap();
        assert_eq!((nest.loops.len(), nest.run), (0, 210));
        assert_eq!(nest.along(), [Along::Many, Along::One, Along::One]);
        assert!(Nest::new(&[2, 3], &[vec![2]]).is_none());
        let nest = Nest::new(&[2, 3, 4], &[vec![2, 3, 4], vec![3, 1], vec![]]).unwrap().with_rows_of(100);
        assert_eq!((nest.loops.len(), nest.run), (2, 12));
    }

    #[test]
    fn short_rows_are_joined() {
        let of = |result: &[usize], operands: &[Vec<usize>]| {
            let nest = Nest::new(result, operands).unwrap().with_rows_of(100);
            (nest.loops.iter().map(|l| l.extent).collect::<Vec<_>>(), nest.run, nest.along[1])
        };
        let factors = |shape: [usize; 3]| of(&shape, &[shape.to_vec(), vec![shape[2]]]);
        assert_eq!(factors([2, 6, 30]), (vec![4], 90, Along::Repeated(30)));
        assert_eq!(factors([1, 13, 30]), (vec![5], 90, Along::Repeated(30)));
        assert_eq!(factors([1, 2, 200]), (vec![2], 200, Along::Many));
        assert_eq!(factors([0, 2, 5]), (vec![0], 5, Along::Many));
        assert_eq!(of(&[2, 13, 30], &[vec![2, 13, 30], vec![2, 1, 30]]), (vec![2, 13], 30, Along::Many));
        // Each row has a factor of its own; the factors of images differ.
        assert_eq!(of(&[6, 30], &[vec![6, 30], vec![6, 1]]), (vec![2], 90, Along::Spread(30)));
        assert_eq!(of(&[6, 200], &[vec![6, 200], vec![6, 1]]), (vec![6], 200, Along::One));
        assert_eq!(of(&[2, 6, 30], &[vec![2, 6, 30], vec![2, 1, 30]]), (vec![2, 2], 90, Along::Repeated(30)));
    }
}
