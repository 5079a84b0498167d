//! Fused elementwise ops with broadcasting on f32, and on bf16 in f32: chunks are converted, and the
//! result of the last stage is rounded.

use super::function::{Argument, Binary, Unary};
use super::narrow::{round, widen, widened};
use super::{Kernel, floats_mut, is};
use crate::vector::{Loops, run_widest};
use crate::workers::Workers;
use gradus_ir::eval::Trap;
use gradus_ir::{DType, OpArgs};
use smallvec::SmallVec;
use std::ops::Range;

/// The source of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The result of the previous stage.
    Previous,
    /// An operand.
    Operand(usize),
}

/// One fused elementwise stage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Stage {
    One(Unary, Source),
    Two(Binary, Source, Source),
}

impl Stage {
    /// Returns the stage with other sources.
    pub(super) fn with(self, f: impl Fn(Source) -> Source) -> Stage {
        match self {
            Stage::One(function, x) => Stage::One(function, f(x)),
            Stage::Two(function, a, b) => Stage::Two(function, f(a), f(b)),
        }
    }

    /// Whether the stage reads an operand.
    pub(super) fn reads(self, operand: usize) -> bool {
        let is = |source| source == Source::Operand(operand);
        match self {
            Stage::One(_, x) => is(x),
            Stage::Two(_, a, b) => is(a) || is(b),
        }
    }
}

/// Returns the stages of an elementwise op.
pub(super) fn stages(args: &OpArgs<'_>) -> Option<Vec<Stage>> {
    // The exponent of a power may be of another type.
    let float = dtype_of_result(args).filter(|float| [DType::F32, DType::BF16].contains(float))?;
    if !(0..args.operands.len()).all(|i| is(args, i, float)) {
        return None;
    }
    if let Some(function) = Unary::of(args) {
        return Some(vec![Stage::One(function, Source::Operand(0))]);
    }
    let function = Binary::of(args)?;
    let mut all = vec![Stage::One(Unary::Same, Source::Operand(0))];
    if args.operands.len() > 1 {
        all[0] = Stage::Two(function, Source::Operand(0), Source::Operand(1));
        all.extend((2..args.operands.len()).map(|i| Stage::Two(function, Source::Previous, Source::Operand(i))));
    }
    Some(all)
}

fn dtype_of_result(args: &OpArgs<'_>) -> Option<DType> {
    super::dtype(args.module, *args.result_types.first()?)
}

/// Builds a kernel from stages, the result's extents and the operands' extents.
/// Elements are f32, or bf16 if `is_bf16`.
pub(super) fn kernel(stages: Vec<Stage>, result: &[usize], operands: &[Vec<usize>], is_bf16: bool) -> Option<Kernel> {
    let map = Map { is_bf16, ..Map::new(stages, result, operands)? };
    let kernel = Kernel::shared(0..operands.len(), move |workers, data, out| map.compute(workers, data, out));
    Some(Kernel { in_place: true, ..kernel })
}

/// Number of elements that go through all stages at once, so that they stay in the L1 cache.
const CHUNK: usize = 2048;

/// Number of elements whose movement takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

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
    fn row(&mut self, offsets: &[usize], out: &mut [T]);
}

/// A loop nest over the elements of a result, to which operands broadcast.
#[derive(Debug)]
pub(super) struct Nest {
    /// The outer loops, outermost first.
    loops: Vec<Loop>,
    /// Length of the inner loop, in which each operand is contiguous or constant.
    run: usize,
    /// Whether each operand is contiguous in the inner loop.
    is_many: Vec<bool>,
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
        let is_many = inner.strides.iter().map(|&stride| stride == 1).collect();
        Some(Nest { loops, run: inner.extent, is_many })
    }

    /// Whether an operand is contiguous in the inner loop.
    pub(super) fn is_many(&self, operand: usize) -> bool {
        self.is_many[operand]
    }

    /// Divides a result among threads if that pays: whole rows, or parts of the only one. `work` gets the position within the
    /// row, a part of the result, and the index of its first element. `per_step` elements take as long as a vector operation.
    pub(super) fn share<T: Send>(
        &self,
        workers: &Workers,
        per_step: usize,
        out: &mut [T],
        work: impl Fn(usize, &mut [T], usize) + Sync,
    ) {
        let (threads, run) = (workers.for_steps(out.len() / per_step), self.run.max(1));
        let unit = if out.len() == run { 1 } else { run };
        let part = (out.len() / unit).div_ceil(Workers::parts(threads)).max(1) * unit;
        workers.share(threads, out.chunks_mut(part).enumerate(), |(i, out)| work(i * part % run, out, i * part));
    }

    /// Computes each row of `out`, which begins with element `first`.
    #[inline(always)]
    pub(super) fn rows<T>(&self, out: &mut [T], first: usize, kernel: &mut impl RowKernel<T>) {
        let mut index: SmallVec<[usize; 8]> = smallvec::smallvec![0; self.loops.len()];
        let mut offsets: SmallVec<[usize; 8]> = smallvec::smallvec![0; self.is_many.len()];
        let run = self.run.max(1);
        let mut row = first / run;
        for (at, l) in index.iter_mut().zip(&self.loops).rev() {
            *at = row % l.extent;
            row /= l.extent;
            offsets.iter_mut().zip(&l.strides).for_each(|(offset, stride)| *offset += stride * *at);
        }
        for row in out.chunks_mut(run) {
            kernel.row(&offsets, row);
            for (at, l) in index.iter_mut().zip(&self.loops).rev() {
                *at += 1;
                offsets.iter_mut().zip(&l.strides).for_each(|(offset, stride)| *offset += stride);
                if *at < l.extent {
                    break;
                }
                *at = 0;
                offsets.iter_mut().zip(&l.strides).for_each(|(offset, stride)| *offset -= stride * l.extent);
            }
        }
    }
}

/// A fused loop nest of elementwise stages.
#[derive(Debug)]
struct Map {
    stages: Vec<Stage>,
    nest: Nest,
    /// Whether elements are bf16, not f32.
    is_bf16: bool,
}

impl Map {
    fn new(stages: Vec<Stage>, result: &[usize], operands: &[Vec<usize>]) -> Option<Map> {
        Some(Map { stages, nest: Nest::new(result, operands)?, is_bf16: false })
    }

    /// Computes all elements, on several threads if that pays: each computes some rows, or a part of the only one.
    /// Operands without elements are in `out`.
    fn compute(&self, workers: &Workers, data: &[&[u8]], out: &mut [u8]) -> Result<(), Trap> {
        match self.is_bf16 {
            true => self.share::<u16>(workers, data, bytemuck::cast_slice_mut(out)),
            false => self.share::<f32>(workers, data, floats_mut(out)),
        }
        Ok(())
    }

    /// Divides the elements among threads.
    fn share<T: Element>(&self, workers: &Workers, data: &[&[u8]], out: &mut [T]) {
        // An empty slice need not be aligned.
        let operands = data.iter().map(|&bytes| if bytes.is_empty() { &[][..] } else { bytemuck::cast_slice(bytes) });
        let operands: SmallVec<[&[T]; 8]> = operands.collect();
        let run = self.nest.run.max(1);
        let rows = out.len() / run;
        let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP * (1 + self.stages.len()));
        let parts = Workers::parts(threads);
        let part = match rows {
            0 | 1 => run.div_ceil(parts).next_multiple_of(CHUNK),
            _ => rows.div_ceil(parts) * run,
        };
        workers.share(threads, out.chunks_mut(part).enumerate(), |(i, out)| {
            run_widest(Rows { map: self, operands: &operands, out, first: i * part });
        });
    }

    /// Computes the elements from `first` on: whole rows, or a part of one.
    #[inline(always)]
    fn rows<T: Element>(&self, operands: &[&[T]], out: &mut [T], first: usize) {
        let start = first % self.nest.run.max(1);
        let [wide, result] = [operands.len(), 1].map(|count| vec![0.0; if self.is_bf16 { count * CHUNK } else { 0 }]);
        let (buffers, held) = ([[0.0; CHUNK]; 3], vec![0..0; wide.len() / CHUNK]);
        let mut chunks = Chunks { map: self, operands, start, buffers, wide, held, result };
        self.nest.rows(out, first, &mut chunks);
    }

    /// Applies all stages to a chunk of the inner loop. A stage does not write where it reads: of a choice between a new
    /// element and the old one, compilers make masked stores, which are slow. An operand in the place of the result is
    /// copied to a buffer first.
    #[inline(always)]
    fn chunk(
        &self,
        operands: &[&[f32]],
        offsets: &[usize],
        first: usize,
        [previous, next, input]: &mut [[f32; CHUNK]; 3],
        out: &mut [f32],
    ) {
        let len = out.len();
        let input = &mut input[..len];
        if operands.iter().any(|operand| operand.is_empty()) {
            input.copy_from_slice(out);
        }
        let input = &*input;
        let (mut previous, mut next) = (&mut previous[..len], &mut next[..len]);
        for (i, stage) in self.stages.iter().enumerate() {
            let argument = |source| match source {
                Source::Previous => Argument::Many(&*previous),
                Source::Operand(i) if operands[i].is_empty() => Argument::Many(input),
                Source::Operand(i) if self.nest.is_many[i] => Argument::Many(&operands[i][offsets[i] + first..][..len]),
                Source::Operand(i) => Argument::One(operands[i][offsets[i]]),
            };
            let to: &mut [f32] = if i + 1 < self.stages.len() { &mut *next } else { &mut *out };
            match *stage {
                Stage::One(function, x) => function.apply([argument(x)], to),
                Stage::Two(function, a, b) => function.apply([argument(a), argument(b)], to),
            }
            std::mem::swap(&mut previous, &mut next);
        }
    }
}

/// The chunks of rows, the first of which begins with element `start`.
struct Chunks<'a, T> {
    map: &'a Map,
    operands: &'a [&'a [T]],
    start: usize,
    buffers: [[f32; CHUNK]; 3],
    /// A chunk of each operand in f32, if elements are narrower.
    wide: Vec<f32>,
    /// The elements of each operand that `wide` holds: factors of channels are the same for many rows.
    held: Vec<Range<usize>>,
    /// A chunk of the result in f32, if elements are narrower.
    result: Vec<f32>,
}

impl<T: Element> RowKernel<T> for Chunks<'_, T> {
    #[inline(always)]
    fn row(&mut self, offsets: &[usize], out: &mut [T]) {
        for (i, chunk) in out.chunks_mut(CHUNK).enumerate() {
            T::chunk(self, offsets, self.start + i * CHUNK, chunk);
        }
    }
}

/// The element type of a map.
trait Element: bytemuck::Pod + Send + Sync {
    /// Computes a chunk of a row, from element `first` of the row on.
    fn chunk(chunks: &mut Chunks<'_, Self>, offsets: &[usize], first: usize, out: &mut [Self]);
}

impl Element for f32 {
    #[inline(always)]
    fn chunk(chunks: &mut Chunks<'_, f32>, offsets: &[usize], first: usize, out: &mut [f32]) {
        chunks.map.chunk(chunks.operands, offsets, first, &mut chunks.buffers, out);
    }
}

/// The bits of bf16. Operands are converted, also one in the place of the result.
impl Element for u16 {
    #[inline(always)]
    fn chunk(chunks: &mut Chunks<'_, u16>, offsets: &[usize], first: usize, out: &mut [u16]) {
        let Chunks { map, operands, buffers, wide, held, result, .. } = chunks;
        let len = out.len();
        for (i, wide) in wide.chunks_exact_mut(CHUNK).enumerate() {
            match operands[i] {
                [] => widen(out, wide),
                from if map.nest.is_many[i] => {
                    let chunk = offsets[i] + first..offsets[i] + first + len;
                    if held[i] != chunk {
                        widen(&from[chunk.clone()], wide);
                        held[i] = chunk;
                    }
                }
                from => wide[0] = widened(from[offsets[i]]),
            }
        }
        let wide: SmallVec<[&[f32]; 8]> = wide.chunks_exact(CHUNK).collect();
        let result = &mut result[..len];
        map.chunk(&wide, &SmallVec::<[usize; 8]>::from_elem(0, wide.len()), 0, buffers, result);
        round(result, out);
    }
}

/// The output of a run: the elements from `first` on.
struct Rows<'a, T> {
    map: &'a Map,
    operands: &'a [&'a [T]],
    out: &'a mut [T],
    first: usize,
}

impl<T: Element> Loops for Rows<'_, T> {
    #[inline(always)]
    fn run(self) {
        self.map.rows(self.operands, self.out, self.first);
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
    fn operands_broadcast() {
        let bytes = |values: &[f32]| bytemuck::cast_slice::<f32, u8>(values).to_vec();
        let x: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let (scale, shift) = ([1.0, 2.0, 3.0], [100.0]);
        let stages = vec![
            Stage::Two(Binary::Mul, Source::Operand(0), Source::Operand(1)),
            Stage::Two(Binary::Sub, Source::Operand(2), Source::Previous),
        ];
        let map = Map::new(stages, &[2, 3, 4], &[vec![2, 3, 4], vec![3, 1], vec![]]).unwrap();
        assert_eq!((map.nest.loops.len(), map.nest.run), (2, 4));
        let (x, scale, shift) = (bytes(&x), bytes(&scale), bytes(&shift));
        let mut out = vec![0.0_f32; 24];
        map.compute(&Workers::default(), &[&x, &scale, &shift], bytemuck::cast_slice_mut(&mut out)).unwrap();
        let want: Vec<f32> = (0..24).map(|i| 100.0 - i as f32 * (i / 4 % 3 + 1) as f32).collect();
        assert_eq!(out, want);
        assert!(Map::new(vec![], &[2, 3], &[vec![2]]).is_none());
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
            let map = Map::new(stages, &shape, &[shape.clone(), column.clone()]).unwrap();
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
    fn threads_compute_what_one_does() {
        let bytes = |n: usize| bytemuck::cast_slice::<f32, u8>(&(0..n).map(|i| i as f32).collect::<Vec<_>>()).to_vec();
        for shape in [vec![3, 300, 700], vec![500_001], vec![7, 100_003]] {
            let count: usize = shape.iter().product();
            let column = [&shape[..shape.len() - 1], &[1]].concat();
            let stages = vec![
                Stage::Two(Binary::Add, Source::Operand(0), Source::Operand(1)),
                Stage::One(Unary::Neg, Source::Previous),
            ];
            let map = Map::new(stages, &shape, &[shape.clone(), column.clone()]).unwrap();
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

    #[test]
    fn what_is_the_same_along_all_axes_is_one_run() {
        let map = Map::new(vec![], &[5, 6, 7], &[vec![5, 6, 7], vec![1, 1, 1], vec![]]).unwrap();
        assert_eq!(
            (map.nest.loops.len(), map.nest.run, map.nest.is_many.as_slice()),
            (0, 210, &[true, false, false][..])
        );
    }
}
