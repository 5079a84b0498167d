//! Resampling with constant scales or sizes: nearest elements are copied, others are weighted sums along one axis after another.

use super::elementwise::{elements, elements_mut};
use super::{Kernel, Prepared, dtype, extents, floats, floats_mut, is};
use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use bytemuck::Pod;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::graph::resampling;
use gradus_reference_kernels::{Resampling, ResizeMode, Sources};

/// Number of elements whose resampling takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 2;

/// Returns the resampling of an op whose result has the extents that follow from it, and the extents of the operand.
fn checked(m: &Module, args: &OpArgs<'_>) -> Option<(Resampling, ResizeMode, Vec<usize>)> {
    let (found, mode) = resampling(args)?;
    let has_extents = extents(m, *args.result_types.first()?)? == found.shape;
    has_extents.then_some((found, mode, extents(m, args.operand_type(0))?))
}

/// Prepares `graph.resize` in the mode `nearest`, with all sources inside of the image.
pub(super) fn nearest(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (resampling, mode, input) = checked(m, args)?;
    if mode != ResizeMode::Nearest {
        return None;
    }
    let position = |sources: &Sources| sources.as_ref()?.first().map(|&(at, _)| at);
    let positions = |axis: usize| match resampling.axes.iter().find(|(other, _)| *other == axis) {
        Some((_, table)) => table.iter().map(position).collect::<Option<Vec<usize>>>(),
        None => Some((0..input[axis]).collect()),
    };
    let last = resampling.axes.iter().map(|(axis, _)| *axis).max().unwrap_or(0);
    let (width, run) = (*input.get(last)?, input[last + 1..].iter().product());
    let columns = positions(last)?;
    let mut rows = vec![0];
    for (axis, extent) in input[..last].iter().enumerate() {
        let positions = positions(axis)?;
        rows = rows.iter().flat_map(|row| positions.iter().map(move |at| row * extent + at)).collect();
    }
    let copied = CopiedRows { rows, columns, width, run };
    let kernel = match dtype(m, args.operand_type(0))?.size() {
        1 => copied.kernel::<u8>(),
        2 => copied.kernel::<u16>(),
        4 => copied.kernel::<u32>(),
        _ => copied.kernel::<u64>(),
    };
    Some(kernel.into())
}

/// Rows of a result that consist of runs of elements of rows of an operand.
struct CopiedRows {
    /// The row of the operand for each row.
    rows: Vec<usize>,
    /// The column of the operand for each column.
    columns: Vec<usize>,
    /// Number of columns of the operand.
    width: usize,
    /// Number of elements of a column: those of the axes after the last one that is resampled.
    run: usize,
}

impl CopiedRows {
    fn kernel<T: Pod + Send + Sync>(self) -> Kernel {
        Kernel::shared([0], move |workers, data, out| {
            let (from, out, size) = (elements::<T>(data[0]), elements_mut::<T>(out), self.columns.len() * self.run);
            if size == 0 || out.is_empty() {
                return Ok(());
            }
            let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP);
            let rows = self.rows.len().div_ceil(Workers::parts(threads));
            let parts = self.rows.chunks(rows).zip(out.chunks_mut(rows * size));
            workers.share(threads, parts, |(rows, out)| self.copy(from, rows, out));
            Ok(())
        })
    }

    fn copy<T: Copy>(&self, from: &[T], rows: &[usize], out: &mut [T]) {
        let (size, run) = (self.columns.len() * self.run, self.run);
        for (i, &row) in rows.iter().enumerate() {
            if i > 0 && rows[i - 1] == row {
                out.copy_within((i - 1) * size..i * size, i * size);
                continue;
            }
            let from = &from[row * self.width * run..][..self.width * run];
            let out = &mut out[i * size..][..size];
            match run {
                1 => out.iter_mut().zip(&self.columns).for_each(|(to, &column)| *to = from[column]),
                _ => {
                    let runs = out.chunks_exact_mut(run).zip(&self.columns);
                    runs.for_each(|(to, &column)| to.copy_from_slice(&from[column * run..][..run]));
                }
            }
        }
    }
}

/// Prepares `graph.resize` of f32 in the other modes, with all sources inside of the image. Axes that shrink most are first, so that the others
/// have fewer elements; of equal ones the last axis is where it has the fewest, since its elements are no vectors.
pub(super) fn weighted(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (resampling, mode, mut extents) = checked(m, args)?;
    if mode == ResizeMode::Nearest || !is(args, 0, DType::F32) {
        return None;
    }
    let growth = |(axis, table): &(usize, Vec<Sources>)| table.len() as f64 / extents[*axis] as f64;
    let mut ordered = resampling.axes;
    ordered.sort_by(|a, b| {
        let later = if growth(a) > 1.0 { b.0.cmp(&a.0) } else { a.0.cmp(&b.0) };
        growth(a).total_cmp(&growth(b)).then(later)
    });
    // Outer axes that no pass changes divide the work: their elements, and those of the operand and the result for each.
    let unchanged = ordered.iter().map(|(axis, _)| *axis).min().unwrap_or(extents.len());
    let blocks: usize = extents[..unchanged].iter().product();
    let mut inside = extents.split_off(unchanged);
    let mut axes = Vec::new();
    let mut sizes = vec![inside.iter().product::<usize>()];
    for (axis, table) in ordered {
        axes.push(WeightedAxis::new(&inside, axis - unchanged, &table)?);
        inside[axis - unchanged] = table.len();
        sizes.push(inside.iter().product());
    }
    let resize = WeightedResize { axes, sizes };
    let kernel = Kernel::shared([0], move |workers, data, out| {
        let (from, out) = (floats(data[0]), floats_mut(out));
        if !from.is_empty() && !out.is_empty() {
            resize.run(workers, blocks, from, out);
        }
        Ok(())
    });
    Some(kernel.into())
}

/// The passes over each block of elements.
struct WeightedResize {
    axes: Vec<WeightedAxis>,
    /// Elements of a block before each pass, and of the result.
    sizes: Vec<usize>,
}

impl WeightedResize {
    /// Resamples all blocks. Threads share them, or parts of each of few blocks.
    fn run(&self, workers: &Workers, blocks: usize, from: &[f32], out: &mut [f32]) {
        let ([first, ..], Some(last)) = (&self.sizes[..], self.sizes.last()) else { return };
        let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP);
        if blocks < threads {
            return self.blocks(workers, from.chunks_exact(*first), out.chunks_exact_mut(*last));
        }
        let (count, single) = (blocks.div_ceil(Workers::parts(threads)), Workers::default());
        workers.share(threads, from.chunks(count * first).zip(out.chunks_mut(count * last)), |(from, out)| {
            self.blocks(&single, from.chunks_exact(*first), out.chunks_exact_mut(*last));
        });
    }

    /// Resamples blocks, whose passes threads share.
    fn blocks<'a>(
        &self,
        workers: &Workers,
        from: impl Iterator<Item = &'a [f32]>,
        out: impl Iterator<Item = &'a mut [f32]>,
    ) {
        let mut between = [Vec::new(), Vec::new()];
        from.zip(out).for_each(|(from, out)| self.block(workers, from, &mut between, out));
    }

    /// Resamples a block; `between` is memory for the results of passes before the last.
    fn block(&self, workers: &Workers, from: &[f32], [read, written]: &mut [Vec<f32>; 2], out: &mut [f32]) {
        let Some((last, first)) = self.axes.split_last() else { return out.copy_from_slice(from) };
        for (i, axis) in first.iter().enumerate() {
            written.resize(self.sizes[i + 1], 0.0);
            axis.run(workers, if i == 0 { from } else { read }, written);
            std::mem::swap(read, written);
        }
        last.run(workers, if first.is_empty() { from } else { read }, out);
    }
}

/// An axis whose elements become weighted sums of others.
struct WeightedAxis {
    /// Extent, and number of elements after the axis.
    extent: usize,
    inner: usize,
    /// The end of the sources of each position.
    ends: Vec<usize>,
    /// Sources: position, and weight.
    sources: Vec<(usize, f32)>,
    /// The sources of each position if these are one or two, of which one counts by halves.
    pairs: Option<Vec<[(usize, f32); 2]>>,
}

impl WeightedAxis {
    /// Returns the axis of a tensor; `None` if a position has no sources.
    fn new(extents: &[usize], axis: usize, table: &[Sources]) -> Option<WeightedAxis> {
        let (mut ends, mut all) = (Vec::with_capacity(table.len()), Vec::new());
        let mut pairs = Some(Vec::with_capacity(table.len()));
        for sources in table {
            let start = all.len();
            all.extend(sources.as_ref()?.iter().map(|&(at, weight)| (at, weight as f32)));
            ends.push(all.len());
            let pair = match all[start..] {
                [(at, weight)] => Some([(at, weight / 2.0); 2]),
                [a, b] => Some([a, b]),
                _ => None,
            };
            pairs = pairs.zip(pair).map(|(mut pairs, pair)| {
                pairs.push(pair);
                pairs
            });
        }
        let inner = extents[axis + 1..].iter().product();
        let pairs = pairs.filter(|_| inner == 1);
        Some(WeightedAxis { extent: extents[axis], inner, ends, sources: all, pairs })
    }

    /// Resamples all lanes. Threads share the positions.
    fn run(&self, workers: &Workers, from: &[f32], out: &mut [f32]) {
        let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP);
        let part = (out.len() / self.inner).div_ceil(Workers::parts(threads));
        workers.share(threads, out.chunks_mut(part * self.inner).enumerate(), |(i, out)| {
            run_widest(WeightedPositions { axis: self, from, first: i * part, out });
        });
    }

    /// Returns the sources of a position.
    fn sources(&self, position: usize) -> &[(usize, f32)] {
        let begin = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sources[begin..self.ends[position]]
    }

    /// Computes neighbouring positions of a lane from `first` on.
    #[inline(always)]
    fn positions(&self, lane: &[f32], first: usize, out: &mut [f32]) {
        let inner = self.inner;
        if let Some(pairs) = &self.pairs {
            for (to, &[(a, p), (b, q)]) in out.iter_mut().zip(&pairs[first..]) {
                *to = lane[a] * p + lane[b] * q;
            }
            return;
        }
        let row = |at: usize| &lane[at * inner..][..inner];
        for (to, position) in out.chunks_exact_mut(inner).zip(first..) {
            let sources = self.sources(position);
            if let [(only, 1.0)] = *sources {
                to.copy_from_slice(row(only));
                continue;
            }
            to.fill(0.0);
            for pair in sources.chunks(2) {
                match *pair {
                    [(a, p), (b, q)] => {
                        for ((to, &x), &y) in to.iter_mut().zip(row(a)).zip(row(b)) {
                            *to += x * p + y * q;
                        }
                    }
                    [(a, p)] => to.iter_mut().zip(row(a)).for_each(|(to, &x)| *to += x * p),
                    _ => {}
                }
            }
        }
    }
}

/// Neighbouring positions of all lanes along an axis.
struct WeightedPositions<'a> {
    axis: &'a WeightedAxis,
    from: &'a [f32],
    /// The first position, among those of all lanes.
    first: usize,
    out: &'a mut [f32],
}

impl Loops for WeightedPositions<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let WeightedPositions { axis, from, mut first, mut out } = self;
        let (size, lane) = (axis.ends.len(), axis.extent * axis.inner);
        while !out.is_empty() {
            let count = (size - first % size) * axis.inner;
            let (here, rest) = out.split_at_mut(count.min(out.len()));
            axis.positions(&from[first / size * lane..][..lane], first % size, here);
            first += here.len() / axis.inner;
            out = rest;
        }
    }
}
