//! Fused elementwise ops with broadcasting on f32, and on 16-bit floats in f32: chunks are converted, and the
//! result of the last stage is rounded.

use super::Kernel;
use super::affine::Affine;
use super::function::Argument;
use super::narrow::{Element, Narrow};
use super::nest::{Along, Nest, RowKernel};
use super::stage::{Source, Stage};
use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use gradus_ir::eval::Trap;
use half::f16;
use smallvec::SmallVec;
use std::ops::Range;

/// Builds a kernel from stages, the result's extents and the operands' extents.
pub(super) fn kernel(stages: Vec<Stage>, result: &[usize], operands: &[Vec<usize>], kind: Narrow) -> Option<Kernel> {
    let map = FusedLoopNest::new(stages, result, operands)?;
    // Vectors of f16 are converted by chunks, not one by one.
    let affine = map.affine.filter(|_| kind != Narrow::F16);
    let map = FusedLoopNest { kind, affine, ..map };
    let kernel = Kernel::shared(0..operands.len(), move |workers, data, out| map.compute(workers, data, out));
    Some(Kernel { in_place: true, ..kernel })
}

/// Number of elements that go through all stages at once, so that they stay in the L1 cache.
const CHUNK: usize = 512;

/// Number of elements whose movement takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// A fused loop nest of elementwise stages.
#[derive(Debug)]
struct FusedLoopNest {
    stages: Vec<Stage>,
    /// The stages as one loop, if they are such.
    affine: Option<Affine>,
    nest: Nest,
    /// The type of elements.
    kind: Narrow,
}

impl FusedLoopNest {
    fn new(stages: Vec<Stage>, result: &[usize], operands: &[Vec<usize>]) -> Option<FusedLoopNest> {
        let nest = Nest::new(result, operands)?.with_rows_of(CHUNK);
        let affine = Affine::of(&stages, nest.along());
        Some(FusedLoopNest { stages, affine, nest, kind: Narrow::No })
    }

    /// Computes all elements, on several threads if that pays: each computes some rows, or a part of the only one.
    /// Operands without elements are in `out`.
    fn compute(&self, workers: &Workers, data: &[&[u8]], out: &mut [u8]) -> Result<(), Trap> {
        match self.kind {
            Narrow::BF16 => self.share::<u16>(workers, data, out),
            Narrow::F16 => self.share::<f16>(workers, data, out),
            Narrow::No => self.share::<f32>(workers, data, out),
        }
        Ok(())
    }

    /// Divides the elements among threads.
    fn share<T: Element>(&self, workers: &Workers, data: &[&[u8]], out: &mut [u8]) {
        // An empty slice need not be aligned.
        let operands = data.iter().map(|&bytes| if bytes.is_empty() { &[][..] } else { bytemuck::cast_slice(bytes) });
        let operands: SmallVec<[&[T]; 8]> = operands.collect();
        let steps = out.len() / size_of::<T>() / ELEMENTS_PER_STEP * (1 + self.stages.len());
        self.nest.share(workers, steps, [CHUNK, size_of::<T>()], out, &|start, out, first| {
            self.nest.rows_widest(bytemuck::cast_slice_mut(out), first, &mut Chunks::new(self, &operands, start));
        });
    }
}

/// All stages of a chunk, in f32. They are apart from the loops over chunks, which are compiled for each type of elements.
struct StagesOfChunk<'a> {
    stages: &'a [Stage],
    operands: &'a [Argument<'a>],
    /// Memory for results of stages.
    results: [&'a mut [f32; CHUNK]; 2],
    out: &'a mut [f32],
}

impl Loops for StagesOfChunk<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let [previous, next] = self.results;
        apply::<M>(self.stages, self.operands, previous, next, self.out);
    }
}

/// Applies all stages to a chunk. A stage does not write where it reads: of a choice between a new element and the old one, compilers make masked
/// stores, which are slow. As parameters, the places are known to be apart.
#[inline(always)]
fn apply<M: MultiplyAdd>(
    stages: &[Stage],
    operands: &[Argument<'_>],
    previous: &mut [f32; CHUNK],
    next: &mut [f32; CHUNK],
    out: &mut [f32],
) {
    let (mut previous, mut next) = (&mut previous[..out.len()], &mut next[..out.len()]);
    for (i, stage) in stages.iter().enumerate() {
        let argument = |source| match source {
            Source::Previous => Argument::Many(&*previous),
            Source::Operand(i) => operands[i],
        };
        let to: &mut [f32] = if i + 1 < stages.len() { &mut *next } else { &mut *out };
        match *stage {
            Stage::One(function, x) => function.apply::<M>([argument(x)], to),
            Stage::Two(function, a, b) => function.apply::<M>([argument(a), argument(b)], to),
        }
        std::mem::swap(&mut previous, &mut next);
    }
}

/// The chunks of rows, the first of which begins with element `start`.
struct Chunks<'a, T> {
    map: &'a FusedLoopNest,
    operands: &'a [&'a [T]],
    start: usize,
    /// Results of stages.
    stages: [[f32; CHUNK]; 2],
    /// The operand in the place of the result.
    input: [f32; CHUNK],
    /// A chunk in f32 of each operand, if some are narrower or repeated.
    copies: Vec<f32>,
    /// The elements of each operand in `copies`: factors of channels are the same for many rows.
    held: Vec<Range<usize>>,
    /// A chunk of the result in f32, if elements are narrower.
    result: Vec<f32>,
}

impl<'a, T: Element> Chunks<'a, T> {
    fn new(map: &'a FusedLoopNest, operands: &'a [&'a [T]], start: usize) -> Chunks<'a, T> {
        let is_several = |along: &Along| matches!(along, Along::Repeated(_) | Along::Spread(_));
        let is_copied = T::IS_NARROW || map.nest.along().iter().any(is_several);
        let copies = vec![0.0; if is_copied { operands.len() * CHUNK } else { 0 }];
        let result = vec![0.0; if T::IS_NARROW { CHUNK } else { 0 }];
        let (stages, input, held) = ([[0.0; CHUNK]; 2], [0.0; CHUNK], vec![0..0; copies.len() / CHUNK]);
        Chunks { map, operands, start, stages, input, copies, held, result }
    }

    /// Copies what a chunk from element `first` of a row on needs: narrower and repeated operands, and that in the place of the
    /// result.
    #[inline(always)]
    fn copy(&mut self, offsets: &[usize], first: usize, out: &[T]) {
        let is_read_as_it_is = |operand| self.map.affine.is_some_and(|affine| affine.x == operand);
        let is_in_place = |i: usize| self.operands[i].is_empty() && !is_read_as_it_is(i);
        if (0..self.operands.len()).any(is_in_place) {
            T::widen(out, &mut self.input[..out.len()]);
        }
        for (i, copy) in self.copies.chunks_exact_mut(CHUNK).enumerate() {
            let (from, copy, along) = (self.operands[i], &mut copy[..out.len()], self.map.nest.along()[i]);
            let (len, times) = match along {
                _ if from.is_empty() || is_read_as_it_is(i) => continue,
                Along::Many if T::IS_NARROW => (out.len(), 1),
                // Short rows fit into a chunk.
                Along::Repeated(len) => (len, out.len() / len),
                Along::Spread(times) => (out.len() / times, 1),
                Along::One if T::IS_NARROW => (1, 1),
                _ => continue,
            };
            let start = offsets[i] + if along == Along::Many { first } else { 0 };
            let elements = start..start + len;
            if self.held[i] == elements {
                continue;
            }
            let from = &from[elements.clone()];
            if let Along::Spread(times) = along {
                for (x, copy) in from.chunks_exact(1).zip(copy.chunks_exact_mut(times)) {
                    T::widen(x, &mut copy[..1]);
                    copy.fill(copy[0]);
                }
            } else {
                copy.chunks_exact_mut(len).take(times).for_each(|copy| T::widen(from, copy));
            }
            self.held[i] = elements;
        }
    }

    /// Computes a chunk from element `first` of a row on.
    #[inline(always)]
    fn chunk(&mut self, offsets: &[usize], first: usize, out: &mut [T]) {
        self.copy(offsets, first, out);
        let Chunks { map, operands, stages: [previous, next], input, copies, result, .. } = self;
        let len = out.len();
        let argument = |i: usize| {
            let (from, copy) = (operands[i], copies.get(i * CHUNK..));
            match (map.nest.along()[i], T::floats(from), copy) {
                _ if from.is_empty() => Argument::Many(&input[..len]),
                (Along::Many, Some(from), _) => Argument::Many(&from[offsets[i] + first..][..len]),
                (Along::One, Some(from), _) => Argument::One(from[offsets[i]]),
                (Along::One, None, Some(copy)) => Argument::One(copy[0]),
                (_, _, copy) => Argument::Many(&copy.unwrap_or_default()[..len]),
            }
        };
        if let Some(affine) = map.affine {
            let x = Some(operands[affine.x]).filter(|x| !x.is_empty());
            let x = x.map(|x| &x[offsets[affine.x] + first..][..len]);
            return affine.apply(x, argument, out);
        }
        let arguments: SmallVec<[Argument<'_>; 8]> = (0..operands.len()).map(argument).collect();
        let (results, place) = ([previous, next], T::place(out, result));
        run_widest(StagesOfChunk { stages: &map.stages, operands: &arguments, results, out: place });
        T::finish(out, result);
    }
}

impl<T: Element> RowKernel<T> for Chunks<'_, T> {
    #[inline(always)]
    fn row<M: MultiplyAdd>(&mut self, offsets: &[usize], out: &mut [T]) {
        for (i, chunk) in out.chunks_mut(CHUNK).enumerate() {
            self.chunk(offsets, self.start + i * CHUNK, chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::function::{Binary, Unary};
    use super::super::narrow::rounded;
    use super::*;

    #[test]
    fn operands_broadcast() {
        let bytes = |values: &[f32]| bytemuck::cast_slice::<f32, u8>(values).to_vec();
        let x: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let (scale, shift) = ([1.0, 2.0, 3.0], [100.0]);
        let stages = vec![
            Stage::Two(Binary::Mul, Source::Operand(0), Source::Operand(1)),
            Stage::Two(Binary::Sub, Source::Operand(2), Source::Previous),
        ];
        let map = FusedLoopNest::new(stages, &[2, 3, 4], &[vec![2, 3, 4], vec![3, 1], vec![]]).unwrap();
        let (x, scale, shift) = (bytes(&x), bytes(&scale), bytes(&shift));
        let mut out = vec![0.0_f32; 24];
        map.compute(&Workers::default(), &[&x, &scale, &shift], bytemuck::cast_slice_mut(&mut out)).unwrap();
        let want: Vec<f32> = (0..24).map(|i| 100.0 - i as f32 * (i / 4 % 3 + 1) as f32).collect();
        assert_eq!(out, want);
        assert!(FusedLoopNest::new(vec![], &[2, 3], &[vec![2]]).is_none());
    }

    #[test]
    fn operands_may_be_in_the_place_of_the_result() {
        for shape in [vec![5], vec![3, 7, 1000], vec![3, 5000]] {
            let count: usize = shape.iter().product();
            let column = [&shape[..shape.len() - 1], &[1]].concat();
            let stages = vec![
                Stage::Two(Binary::Sub, Source::Operand(1), Source::Operand(0)),
                Stage::Two(Binary::Mul, Source::Previous, Source::Operand(0)),
            ];
            let map = FusedLoopNest::new(stages, &shape, &[shape.clone(), column.clone()]).unwrap();
            let of = |n: usize| (0..n).map(|i| i as f32 * 0.5 - 3.0).collect::<Vec<f32>>();
            let (x, y) = (of(count), of(column.iter().product()));
            let y: &[u8] = bytemuck::cast_slice(&y);
            let (mut apart, mut same) = (vec![0.0_f32; count], x.clone());
            for threads in [1, 3] {
                let workers = Workers::new(threads).unwrap();
                map.compute(&workers, &[bytemuck::cast_slice(&x), y], bytemuck::cast_slice_mut(&mut apart)).unwrap();
                same.copy_from_slice(&x);
                map.compute(&workers, &[&[], y], bytemuck::cast_slice_mut(&mut same)).unwrap();
                assert_eq!(apart, same);
            }
        }
    }

    #[test]
    fn factors_of_short_rows_are_repeated_and_spread() {
        let of = |n: usize| (0..n).map(|i| (i % 61) as f32 * 0.5 - 3.0).collect::<Vec<f32>>();
        for [outer, rows, columns] in
            [[1, 1, 3], [2, 12, 700], [3, 97, 40], [3, 96, 40], [1, 300, 1], [2, 5000, 2], [2, 3, 2100]]
        {
            let (x, scale, shift) = (of(outer * rows * columns), of(outer * columns), of(columns));
            let of_rows = of(rows);
            let operands = [vec![outer, rows, columns], vec![outer, 1, columns], vec![columns], vec![], vec![rows, 1]];
            let stages = vec![
                Stage::Two(Binary::Mul, Source::Operand(0), Source::Operand(1)),
                Stage::Two(Binary::Add, Source::Previous, Source::Operand(2)),
                Stage::Two(Binary::Max, Source::Previous, Source::Operand(3)),
                Stage::Two(Binary::Add, Source::Previous, Source::Operand(4)),
            ];
            let map = FusedLoopNest::new(stages, &operands[0], &operands).unwrap();
            let want = |i: usize| {
                let factor = scale[i / (rows * columns) * columns + i % columns];
                (x[i] * factor + shift[i % columns]).max(-1.0) + of_rows[i / columns % rows]
            };
            let want: Vec<f32> = (0..x.len()).map(want).collect();
            for (threads, in_place) in [(1, false), (3, false), (1, true)] {
                let mut out = x.clone();
                let first: &[u8] = if in_place { &[] } else { bytemuck::cast_slice(&x) };
                let factors = [&scale[..], &shift, &[-1.0], &of_rows].map(bytemuck::cast_slice);
                let data = [first, factors[0], factors[1], factors[2], factors[3]];
                map.compute(&Workers::new(threads).unwrap(), &data, bytemuck::cast_slice_mut(&mut out)).unwrap();
                assert_eq!(out, want, "{operands:?}");
            }
            let narrow = |all: &[f32]| all.iter().map(|&x| rounded(x)).collect::<Vec<u16>>();
            let [x, scale, shift, least, of_rows, want] =
                [&x[..], &scale, &shift, &[-1.0], &of_rows, &want].map(narrow);
            let mut out = x.clone();
            let data = [&x, &scale, &shift, &least, &of_rows].map(|all| bytemuck::cast_slice(all));
            let map = FusedLoopNest { kind: Narrow::BF16, ..map };
            map.compute(&Workers::default(), &data, bytemuck::cast_slice_mut(&mut out)).unwrap();
            assert_eq!(out, want, "{operands:?}");
        }
    }

    #[test]
    fn a_factor_may_be_scaled_itself() {
        let (x, scale) = ([0.5_f32, -2.0, 3.0, 4.0, -0.25], [2.0_f32, 3.0, -1.0, 0.5, 8.0]);
        let add = |shift| Stage::Two(Binary::Add, Source::Previous, Source::Operand(shift));
        let mul = |a, b| Stage::Two(Binary::Mul, Source::Operand(a), Source::Operand(b));
        for (stages, want) in [
            (vec![mul(0, 1), add(0)], x.iter().zip(scale).map(|(x, s)| x * s + x).collect::<Vec<f32>>()),
            (vec![mul(0, 0), add(1)], x.iter().zip(scale).map(|(x, s)| x * x + s).collect()),
            (
                vec![mul(0, 0), add(0), Stage::One(Unary::Relu, Source::Previous)],
                x.map(|x| (x * x + x).max(0.0)).to_vec(),
            ),
        ] {
            let map = FusedLoopNest::new(stages, &[5], &[vec![5], vec![5]]).unwrap();
            let mut out = x;
            let scale = bytemuck::cast_slice(&scale);
            map.compute(&Workers::default(), &[&[], scale], bytemuck::cast_slice_mut(&mut out)).unwrap();
            assert_eq!(out, want[..]);
            map.compute(&Workers::default(), &[bytemuck::cast_slice(&x), scale], bytemuck::cast_slice_mut(&mut out))
                .unwrap();
            assert_eq!(out, want[..]);
        }
    }

    #[test]
    fn threads_compute_what_one_does() {
        let bytes = |n: usize| bytemuck::cast_slice::<f32, u8>(&(0..n).map(|i| i as f32).collect::<Vec<_>>()).to_vec();
        for shape in [vec![3, 300, 700], vec![500_001], vec![7, 100_003]] {
            let count: usize = shape.iter().product();
            let column = [&shape[..shape.len() - 1], &[1]].concat();
            let stages = vec![
                Stage::Two(Binary::Add, Source::Operand(0), Source::Operand(1)),
                Stage::One(Unary::Neg, Source::Previous),
            ];
            let map = FusedLoopNest::new(stages, &shape, &[shape.clone(), column.clone()]).unwrap();
            let data = [bytes(count), bytes(column.iter().product())];
            let [one, more] = [1, 3].map(|threads| {
                let mut out = vec![0.0_f32; count];
                let workers = Workers::new(threads).unwrap();
                map.compute(&workers, &[&data[0], &data[1]], bytemuck::cast_slice_mut(&mut out)).unwrap();
                out
            });
            assert!(one == more && one.contains(&-1.0));
        }
    }
}
