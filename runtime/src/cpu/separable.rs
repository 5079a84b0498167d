//! Movement of elements whose address is a sum of one table entry per axis of the result: padding by elements of the operand, tiles, slices
//! with steps, and blocks of space as channels.

use super::{Kernel, Prepared, constant, dtype, extents};
use crate::workers::Workers;
use bytemuck::Pod;
use gradus_ir::tensor::strides;
use gradus_ir::{Module, OpArgs};
use gradus_reference_kernels::shape::{normalize_axes, slice_axis};

/// Number of elements whose movement takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// The offsets of the operand's elements, in elements: a table per axis of the result.
struct Tables(Vec<Vec<usize>>);

impl Tables {
    /// Returns the kernel that copies the elements; `None` if a table leaves the operand.
    fn kernel(self, m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
        let (from, to) = (extents(m, args.operand_type(0))?, extents(m, *args.result_types.first()?)?);
        let size = dtype(m, args.operand_type(0)).filter(|&d| Some(d) == dtype(m, args.result_types[0]))?.size();
        if self.0.iter().map(Vec::len).ne(to.iter().copied()) || from.contains(&0) || to.contains(&0) {
            return None;
        }
        let last = self.0.iter().map(|table| table.iter().max().copied().unwrap_or(0)).sum::<usize>();
        (last < from.iter().product()).then_some(())?;
        let kernel = Kernel::shared([0], move |workers, data, out| {
            match size {
                1 => self.copy::<u8>(workers, data[0], out),
                2 => self.copy::<u16>(workers, data[0], out),
                4 => self.copy::<u32>(workers, data[0], out),
                _ => self.copy::<u64>(workers, data[0], out),
            }
            Ok(())
        });
        Some(kernel.into())
    }

    fn copy<T: Pod + Send + Sync>(&self, workers: &Workers, x: &[u8], out: &mut [u8]) {
        let (x, out): (&[T], &mut [T]) = (bytemuck::cast_slice(x), bytemuck::cast_slice_mut(out));
        let Some((row, outer)) = self.0.split_last() else {
            out.copy_from_slice(x);
            return;
        };
        let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP);
        let rows = (out.len() / row.len()).div_ceil(Workers::parts(threads)).max(1);
        let is_run = row.windows(2).all(|pair| pair[1] == pair[0] + 1);
        workers.share(threads, out.chunks_mut(rows * row.len()).enumerate(), |(part, out)| {
            for (i, out) in out.chunks_exact_mut(row.len()).enumerate() {
                let base = base(outer, part * rows + i);
                match is_run {
                    true => out.copy_from_slice(&x[base + row[0]..][..row.len()]),
                    false => out.iter_mut().zip(row).for_each(|(to, &at)| *to = x[base + at]),
                }
            }
        });
    }
}

/// Returns the sum of the offsets of a row, which is numbered with the last axis fastest.
fn base(outer: &[Vec<usize>], mut row: usize) -> usize {
    let mut sum = 0;
    for table in outer.iter().rev() {
        sum += table[row % table.len()];
        row /= table.len();
    }
    sum
}

/// Prepares `graph.pad` by elements of the operand.
pub(super) fn pad(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (from, to) = (extents(m, args.operand_type(0))?, extents(m, *args.result_types.first()?)?);
    let pads = constant(args, "pads")?.to_i64()?;
    let axes = match args.opt_operand("axes") {
        Some(_) => normalize_axes(&constant(args, "axes")?.to_i64()?, from.len()).ok()?,
        None => (0..from.len()).collect(),
    };
    (pads.len() == 2 * axes.len()).then_some(())?;
    let source: fn(i64, i64) -> i64 = match args.attr("mode").and_then(|a| m.ctx.as_str(a))? {
        "edge" => |at, n| at.clamp(0, n - 1),
        "wrap" => |at, n| at.rem_euclid(n),
        "reflect" => |at, n| match 2 * (n - 1) {
            0 => 0,
            period => (n - 1) - ((n - 1) - at.rem_euclid(period)).abs(),
        },
        _ => return None,
    };
    let apart = strides(&from);
    let table = |axis: usize| {
        let n = i64::try_from(from[axis]).ok().filter(|&n| n > 0)?;
        let at = axes.iter().position(|&padded| padded == axis);
        let (before, after) = at.map_or((0, 0), |k| (pads[k], pads[axes.len() + k]));
        let end = n.checked_add(after)?;
        (end.checked_add(before) == i64::try_from(*to.get(axis)?).ok()).then_some(())?;
        (-before..end).map(|at| Some(usize::try_from(source(at, n)).ok()? * apart[axis])).collect()
    };
    Tables((0..from.len()).map(table).collect::<Option<_>>()?).kernel(m, args)
}

/// Prepares `graph.tile`.
pub(super) fn tile(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (from, to) = (extents(m, args.operand_type(0))?, extents(m, *args.result_types.first()?)?);
    (from.len() == to.len() && !from.contains(&0)).then_some(())?;
    let apart = strides(&from);
    let table = |axis: usize| (0..to[axis]).map(|i| i % from[axis] * apart[axis]).collect();
    Tables((0..from.len()).map(table).collect()).kernel(m, args)
}

/// Prepares `graph.slice` with constant bounds and any steps.
pub(super) fn slice(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let from = extents(m, args.operand_type(0))?;
    let list = |name| match args.opt_operand(name) {
        Some(_) => Some(Some(constant(args, name)?.to_i64()?)),
        None => Some(None),
    };
    let (starts, ends) = (list("starts")??, list("ends")??);
    let leading: Vec<i64> = (0..).take(starts.len()).collect();
    let axes = normalize_axes(&list("axes")?.unwrap_or(leading), from.len()).ok()?;
    let steps = list("steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    ([ends.len(), axes.len(), steps.len()] == [starts.len(); 3]).then_some(())?;
    let apart = strides(&from);
    let table = |axis: usize| {
        let Some(k) = axes.iter().position(|&sliced| sliced == axis) else {
            return Some((0..from[axis]).map(|i| i * apart[axis]).collect());
        };
        let (first, count) = slice_axis(from[axis], starts[k], ends[k], steps[k]).ok()?;
        let at = |i: usize| usize::try_from(first as i64 + i as i64 * steps[k]).ok();
        (0..count).map(|i| Some(at(i)? * apart[axis])).collect()
    };
    Tables((0..from.len()).map(table).collect::<Option<_>>()?).kernel(m, args)
}

/// Returns the extents of an image and the size of its blocks.
fn blocks(m: &Module, args: &OpArgs<'_>) -> Option<([usize; 4], usize)> {
    let block = args.int("blocksize").and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0)?;
    Some((<[usize; 4]>::try_from(extents(m, args.operand_type(0))?).ok()?, block))
}

/// Prepares `graph.space_to_depth`.
pub(super) fn space_to_depth(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let ([n, c, h, w], block) = blocks(m, args)?;
    let is_crd = args.attr("mode").and_then(|a| m.ctx.as_str(a)) == Some("CRD");
    let channel = |o: usize| {
        let (at, c) = if is_crd { (o % (block * block), o / (block * block)) } else { (o / c.max(1), o % c.max(1)) };
        c * h * w + at / block * w + at % block
    };
    let image = (0..n).map(|i| i * c * h * w).collect();
    let channels = (0..c * block * block).map(channel).collect();
    let rows = (0..h / block).map(|y| y * block * w).collect();
    Tables(vec![image, channels, rows, (0..w / block).map(|x| x * block).collect()]).kernel(m, args)
}

/// Prepares `graph.depth_to_space`.
pub(super) fn depth_to_space(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let ([n, c, h, w], block) = blocks(m, args)?;
    let (plane, group) = (h * w, c / (block * block));
    let is_crd = args.attr("mode").and_then(|a| m.ctx.as_str(a)) == Some("CRD");
    // Distances in channels of neighbouring results: of channels, and of rows and columns within a block.
    let (channel, row, column) = if is_crd { (block * block, block, 1) } else { (1, block * group, group) };
    let image = (0..n).map(|i| i * c * plane).collect();
    let channels = (0..group).map(|k| k * channel * plane).collect();
    let rows = (0..h * block).map(|y| y / block * w + y % block * row * plane).collect();
    let columns = (0..w * block).map(|x| x / block + x % block * column * plane).collect();
    Tables(vec![image, channels, rows, columns]).kernel(m, args)
}
