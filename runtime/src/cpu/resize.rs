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
    let width = *input.last()?;
    let columns = positions(input.len() - 1)?;
    let mut rows = vec![0];
    for (axis, extent) in input[..input.len() - 1].iter().enumerate() {
        let positions = positions(axis)?;
        rows = rows.iter().flat_map(|row| positions.iter().map(move |at| row * extent + at)).collect();
    }
    let copied = CopiedRows { rows, columns, width };
    let kernel = match dtype(m, args.operand_type(0))?.size() {
        1 => copied.kernel::<u8>(),
        2 => copied.kernel::<u16>(),
        4 => copied.kernel::<u32>(),
        _ => copied.kernel::<u64>(),
    };
    Some(kernel.into())
}

/// Rows of a result that consist of elements of rows of an operand.
struct CopiedRows {
    /// The row of the operand for each row.
    rows: Vec<usize>,
    /// The column of the operand for each column.
    columns: Vec<usize>,
    /// Number of columns of the operand.
    width: usize,
}

impl CopiedRows {
    fn kernel<T: Pod + Send + Sync>(self) -> Kernel {
        Kernel::shared([0], move |workers, data, out| {
            let (from, out, size) = (elements::<T>(data[0]), elements_mut::<T>(out), self.columns.len());
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
        let size = self.columns.len();
        for (i, &row) in rows.iter().enumerate() {
            if i > 0 && rows[i - 1] == row {
                out.copy_within((i - 1) * size..i * size, i * size);
                continue;
            }
            let from = &from[row * self.width..][..self.width];
            out[i * size..][..size].iter_mut().zip(&self.columns).for_each(|(to, &column)| *to = from[column]);
        }
    }
}

/// Prepares `graph.resize` of f32 in the other modes, with all sources inside of the image.
pub(super) fn weighted(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (resampling, mode, mut extents) = checked(m, args)?;
    if mode == ResizeMode::Nearest || !is(args, 0, DType::F32) {
        return None;
    }
    let mut axes = Vec::new();
    for (axis, table) in resampling.axes {
        axes.push(WeightedAxis::new(&extents, axis, &table)?);
        extents[axis] = table.len();
    }
    Some(
        Kernel::shared([0], move |workers, data, out| {
            let (from, out) = (floats(data[0]), floats_mut(out));
            let Some((last, first)) = axes.split_last() else {
                out.copy_from_slice(from);
                return Ok(());
            };
            let mut between: Option<Vec<f32>> = None;
            for axis in first {
                let mut next = vec![0.0; axis.outer * axis.size() * axis.inner];
                axis.run(workers, between.as_deref().unwrap_or(from), &mut next);
                between = Some(next);
            }
            last.run(workers, between.as_deref().unwrap_or(from), out);
            Ok(())
        })
        .into(),
    )
}

/// An axis whose elements become weighted sums of others.
struct WeightedAxis {
    /// Number of lanes before the axis, its extent, and the number of elements after it.
    outer: usize,
    extent: usize,
    inner: usize,
    /// The end of the sources of each position.
    ends: Vec<usize>,
    /// Sources: position, and weight.
    sources: Vec<(usize, f32)>,
}

impl WeightedAxis {
    /// Returns the axis of a tensor; `None` if a position has no sources.
    fn new(extents: &[usize], axis: usize, table: &[Sources]) -> Option<WeightedAxis> {
        let (mut ends, mut all) = (Vec::with_capacity(table.len()), Vec::new());
        for sources in table {
            all.extend(sources.as_ref()?.iter().map(|&(at, weight)| (at, weight as f32)));
            ends.push(all.len());
        }
        let product = |extents: &[usize]| extents.iter().product();
        let (outer, inner) = (product(&extents[..axis]), product(&extents[axis + 1..]));
        Some(WeightedAxis { outer, extent: extents[axis], inner, ends, sources: all })
    }

    /// Returns the new extent.
    fn size(&self) -> usize {
        self.ends.len()
    }

    fn run(&self, workers: &Workers, from: &[f32], out: &mut [f32]) {
        let (lane, new_lane) = (self.extent * self.inner, self.size() * self.inner);
        if new_lane == 0 || lane == 0 || out.is_empty() {
            return;
        }
        let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP);
        let lanes = self.outer.div_ceil(Workers::parts(threads));
        let parts = from.chunks(lanes * lane).zip(out.chunks_mut(lanes * new_lane));
        workers.share(threads, parts, |(from, out)| {
            for (from, out) in from.chunks_exact(lane).zip(out.chunks_exact_mut(new_lane)) {
                run_widest(WeightedLane { axis: self, from, out });
            }
        });
    }

    /// Returns the sources of each position.
    fn positions(&self) -> impl Iterator<Item = &[(usize, f32)]> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| &self.sources[std::mem::replace(&mut begin, end)..end])
    }
}

/// One lane of elements along an axis.
struct WeightedLane<'a> {
    axis: &'a WeightedAxis,
    from: &'a [f32],
    out: &'a mut [f32],
}

impl Loops for WeightedLane<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let inner = self.axis.inner;
        if inner == 1 {
            for (to, sources) in self.out.iter_mut().zip(self.axis.positions()) {
                *to = sources.iter().map(|&(at, weight)| self.from[at] * weight).sum();
            }
            return;
        }
        for (to, sources) in self.out.chunks_exact_mut(inner).zip(self.axis.positions()) {
            to.fill(0.0);
            for &(at, weight) in sources {
                let from = &self.from[at * inner..][..inner];
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from * weight);
            }
        }
    }
}
