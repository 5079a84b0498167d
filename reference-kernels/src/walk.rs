//! Traversal of broadcast operands. Axes that behave alike are merged, so that the innermost loop is as long as
//! possible, and equal shapes, scalars and suffixes need no special case.

use crate::shape::{broadcast_all, checked_elements};
use gradus_ir::Violation;

/// A joint traversal of `K` operands that broadcast to `shape`.
pub(super) struct BroadcastWalk<const K: usize> {
    /// The broadcast shape.
    pub(super) shape: Vec<usize>,
    /// Number of elements of `shape`.
    pub(super) len: usize,
    /// Extents after merging, outermost first, without the innermost.
    outer: Vec<usize>,
    /// Element strides per operand for `outer`.
    outer_strides: Vec<[usize; K]>,
    /// Innermost extent.
    pub(super) run: usize,
    /// Innermost strides: 0 or 1.
    pub(super) steps: [usize; K],
}

impl<const K: usize> BroadcastWalk<K> {
    /// Plans the traversal of operands of the given shapes.
    pub(super) fn new(shapes: [&[usize]; K]) -> Result<BroadcastWalk<K>, Violation> {
        let shape = broadcast_all(&shapes)?;
        let len = checked_elements(&shape)?;
        let mut axes: Vec<(usize, [bool; K])> = Vec::with_capacity(shape.len());
        for (i, &extent) in shape.iter().enumerate().filter(|&(_, &extent)| extent != 1 && len > 0) {
            let moves = shapes.map(|s| i + s.len() >= shape.len() && s[i + s.len() - shape.len()] != 1);
            match axes.last_mut() {
                Some((last, same)) if *same == moves => *last *= extent,
                _ => axes.push((extent, moves)),
            }
        }
        let mut next = [1usize; K];
        let mut strides = vec![[0; K]; axes.len()];
        for (stride, (extent, moves)) in strides.iter_mut().zip(&axes).rev() {
            for k in (0..K).filter(|&k| moves[k]) {
                stride[k] = next[k];
                next[k] *= extent;
            }
        }
        let mut outer: Vec<usize> = axes.iter().map(|a| a.0).collect();
        let (run, steps) = (outer.pop().unwrap_or(1), strides.pop().unwrap_or([0; K]));
        Ok(BroadcastWalk { shape, len, outer, outer_strides: strides, run, steps })
    }

    /// Calls `f` with each operand's offset at the start of every innermost run, in row-major order.
    pub(super) fn each_run(&self, mut f: impl FnMut([usize; K])) {
        if self.len == 0 {
            return;
        }
        let mut index = vec![0usize; self.outer.len()];
        let mut at = [0usize; K];
        loop {
            f(at);
            let mut axis = self.outer.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                (0..K).for_each(|k| at[k] += self.outer_strides[axis][k]);
                if index[axis] < self.outer[axis] {
                    break;
                }
                (0..K).for_each(|k| at[k] -= self.outer_strides[axis][k] * self.outer[axis]);
                index[axis] = 0;
            }
        }
    }
}

/// Applies `f` to the elements of two broadcast operands.
pub(super) fn zip_map<A: Copy, B: Copy, R>(walk: &BroadcastWalk<2>, a: &[A], b: &[B], f: impl Fn(A, B) -> R) -> Vec<R> {
    let mut out = Vec::with_capacity(walk.len);
    let n = walk.run;
    // Only loops with constant steps vectorize.
    walk.each_run(|[i, j]| match walk.steps {
        [1, 1] => out.extend(a[i..i + n].iter().zip(&b[j..j + n]).map(|(&x, &y)| f(x, y))),
        [1, _] => {
            let y = b[j];
            out.extend(a[i..i + n].iter().map(|&x| f(x, y)));
        }
        [_, 1] => {
            let x = a[i];
            out.extend(b[j..j + n].iter().map(|&y| f(x, y)));
        }
        _ => out.extend((0..n).map(|_| f(a[i], b[j]))),
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_axes_and_broadcasts() {
        let walk = BroadcastWalk::new([&[2, 1, 3], &[2, 1]]).unwrap();
        let out = zip_map(&walk, &[0, 1, 2, 3, 4, 5], &[10, 20], |x, y| x + y);
        assert_eq!(walk.shape, [2, 2, 3]);
        assert_eq!(out, [10, 11, 12, 20, 21, 22, 13, 14, 15, 23, 24, 25]);
        let same = BroadcastWalk::new([&[2, 3, 4], &[2, 3, 4]]).unwrap();
        assert_eq!((same.run, same.outer.len()), (24, 0));
        assert!(zip_map(&BroadcastWalk::new([&[0], &[1]]).unwrap(), &[] as &[i32], &[1], |x, y| x + y).is_empty());
    }
}
