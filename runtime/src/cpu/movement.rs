//! Kernels of data movement: a copy loop nest for each contiguous part.

use super::elementwise::{elements, elements_mut};
use super::trap::{internal_error, moved};
use super::{Kernel, Prepared, constant, dtype, extents, position};
use crate::aligned_bytes::LINE;
use crate::transpose::{WORDS_PER_STEP, WordMatrix};
use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use gradus_ir::eval::{Trap, floats_to_tensor, ints_to_tensor};
use gradus_ir::{DType, Module, OpArgs, Type};
use gradus_networks::layout::{self, CopyNest, Relayout};
use gradus_reference_kernels::shape::{normalize_axes, normalize_axis, slice_axis};
use std::ops::Range;

/// Returns the row-major strides of extents.
fn strides(extents: &[u64]) -> Vec<u64> {
    let mut all = vec![1; extents.len()];
    for axis in (1..extents.len()).rev() {
        all[axis - 1] = all[axis] * extents[axis];
    }
    all
}

/// Returns the extents of an operand or result.
fn wide(m: &Module, ty: Type) -> Option<Vec<u64>> {
    Some(extents(m, ty)?.into_iter().map(|d| d as u64).collect())
}

/// Least extent of matrices that are transposed by blocks.
const LEAST_BLOCK: u64 = 8;

/// Returns a kernel that runs a copy loop nest.
pub(super) fn copies(nest: CopyNest, size: usize) -> Kernel {
    if let Some(extents) = transposition(&nest, size) {
        return transpose_words(extents);
    }
    Kernel::shared([0], move |workers, data, out| copy(workers, &nest, data[0], out, size, &[]))
}

/// Returns the extents `[batch, rows, columns]` of matrices of 32-bit words, if a nest transposes matrices of some size.
fn transposition(nest: &CopyNest, size: usize) -> Option<[usize; 3]> {
    let extents = nest.transposition().filter(|&[_, rows, columns]| size == 4 && rows.min(columns) >= LEAST_BLOCK)?;
    let [batch, rows, columns] = extents.map(|n| usize::try_from(n).ok());
    Some([batch?, rows?, columns?])
}

/// Number of elements whose movement takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 2;

/// Runs a copy loop nest, on several threads if that pays. The other elements of the target become `around`, unless that is empty.
fn copy(
    workers: &Workers,
    nest: &CopyNest,
    source: &[u8],
    target: &mut [u8],
    size: usize,
    around: &[u8],
) -> Result<(), Trap> {
    let elements = usize::try_from(nest.elements()).unwrap_or(usize::MAX);
    let threads = workers.for_steps(elements / ELEMENTS_PER_STEP);
    if threads < 2 {
        fill(target, around);
        return moved(nest.copy(source, target, size));
    }
    let mut rest = (0, target);
    let part = |(range, part): (Range<u64>, CopyNest)| {
        let [first, end] = [range.start, range.end].map(|n| usize::try_from(n).ok()?.checked_mul(size));
        let (at, bytes) = std::mem::take(&mut rest);
        let (before, bytes) = bytes.split_at_mut_checked(first?.checked_sub(at)?)?;
        let (own, after) = bytes.split_at_mut_checked(end?.checked_sub(first?)?)?;
        rest = (end?, after);
        Some((part, before, own))
    };
    let parts: Option<Vec<_>> = nest.divide(Workers::parts(threads) as u64).into_iter().map(part).collect();
    let parts = parts.ok_or_else(internal_error)?;
    fill(rest.1, around);
    workers.try_share(threads, parts.into_iter(), |(part, before, own)| {
        fill(before, around);
        fill(own, around);
        moved(part.copy(source, own, size))
    })
}

fn element_size(m: &Module, args: &OpArgs<'_>) -> Option<usize> {
    Some(dtype(m, args.operand_type(0))?.size())
}

/// Prepares `graph.dropout` in inference mode without a mask result.
pub(super) fn dropout(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let trains = args.opt_operand("training_mode").is_some();
    if trains || args.result_types.len() != 1 { None } else { super::view(m, args) }
}

/// Prepares `layout.pack` and `layout.unpack`.
pub(super) fn packing(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let ([from, to], pad) = layout::pack_layouts(m, args.op?)?;
    let dtype = dtype(m, args.operand_type(0))?;
    let pad = if dtype.is_float() {
        floats_to_tensor(dtype, &[1], vec![pad])
    } else {
        ints_to_tensor(dtype, &[1], &[pad as i64])
    };
    let has_padding = to.size() != to.elements();
    let nest = Relayout::new(&from, &to).ok()?.nest();
    if let Some(extents) = nest.as_ref().filter(|_| !has_padding).and_then(|nest| transposition(nest, dtype.size())) {
        return Some(transpose_words(extents).into());
    }
    let kernel = Kernel::shared([0], move |workers, data, out| {
        let around = if has_padding { pad.bytes() } else { &[][..] };
        match &nest {
            Some(nest) => copy(workers, nest, data[0], out, dtype.size(), around),
            None => {
                fill(out, around);
                moved(Relayout::new(&from, &to).and_then(|moves| moves.copy(data[0], out, dtype.size())))
            }
        }
    });
    Some(kernel.into())
}

/// Fills a result with copies of one element; leaves it as it is without one.
fn fill(out: &mut [u8], element: &[u8]) {
    match element {
        [] => {}
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => out.fill(*first),
        _ => out.chunks_exact_mut(element.len()).for_each(|to| to.copy_from_slice(element)),
    }
}

/// Prepares `graph.transpose`.
pub(super) fn transpose(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (from, to) = (wide(m, args.operand_type(0))?, wide(m, args.result_types[0])?);
    let perm = match args.ints("perm").filter(|perm| !perm.is_empty()) {
        Some(perm) => normalize_axes(&perm, from.len()).ok()?,
        None => (0..from.len()).rev().collect(),
    };
    let apart = strides(&from);
    let apart: Vec<u64> = perm.iter().map(|&axis| apart[axis]).collect();
    Some(copies(CopyNest::strided(&to, [&apart, &strides(&to)], [0, 0]).ok()?, element_size(m, args)?).into())
}

/// Returns a kernel that transposes each matrix of a batch of 32-bit words.
fn transpose_words([batch, rows, columns]: [usize; 3]) -> Kernel {
    Kernel::shared([0], move |workers, data, out| {
        let out = elements_mut::<u32>(out);
        let size = rows * columns;
        if data[0].len() != 4 * batch * size || out.len() != batch * size {
            return Err(internal_error());
        }
        let threads = workers.for_steps(out.len() / WORDS_PER_STEP);
        // Parts of whole cache lines of a matrix.
        let part = columns.div_ceil(Workers::parts(threads)).next_multiple_of(16);
        let matrices = out.chunks_mut(size.max(1)).zip(data[0].chunks(4 * size.max(1)));
        let parts = matrices.flat_map(|(out, matrix)| {
            out.chunks_mut((part * rows).max(1)).enumerate().map(move |(i, out)| (matrix, i * part, out))
        });
        workers.try_share(threads, parts, |(matrix, first, out)| {
            let matrix = WordMatrix::new(&matrix[4 * first..], 4 * columns, [rows, out.len() / rows.max(1)]);
            matrix.map_err(Trap::unsupported)?.transpose(out, 0);
            Ok(())
        })
    })
}

/// Prepares `graph.expand`.
pub(super) fn expand(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (from, to) = (wide(m, args.operand_type(0))?, wide(m, args.result_types[0])?);
    let missing = to.len().checked_sub(from.len())?;
    let mut apart = vec![0; missing];
    apart.extend(strides(&from).iter().zip(&from).map(|(&stride, &d)| if d == 1 { 0 } else { stride }));
    Some(copies(CopyNest::strided(&to, [&apart, &strides(&to)], [0, 0]).ok()?, element_size(m, args)?).into())
}

/// Prepares `graph.concat`.
pub(super) fn concat(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (to, size) = (wide(m, args.result_types[0])?, element_size(m, args)?);
    let axis = normalize_axis(args.int("axis")?, to.len()).ok()?;
    let (apart, mut start, mut parts) = (strides(&to), 0, Vec::with_capacity(args.operands.len()));
    for i in 0..args.operands.len() {
        let part = wide(m, args.operand_type(i))?;
        parts.push(CopyNest::strided(&part, [&strides(&part), &apart], [0, start]).ok()?);
        start += part[axis] * apart[axis];
    }
    let kernel = Kernel::shared(0..args.operands.len(), move |workers, data, out| {
        parts.iter().zip(data).try_for_each(|(nest, part)| copy(workers, nest, part, out, size, &[]))
    });
    Some(kernel.into())
}

/// Prepares `graph.slice` with constant, positive steps.
pub(super) fn slice(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (from, to) = (wide(m, args.operand_type(0))?, wide(m, args.result_types[0])?);
    let list = |name: &str| constant(args, name)?.to_i64();
    let (starts, ends) = (list("starts")?, list("ends")?);
    let given = |name: &str, otherwise: Vec<i64>| {
        if args.opt_operand(name).is_some() { list(name) } else { Some(otherwise) }
    };
    let axes = normalize_axes(&given("axes", (0..starts.len() as i64).collect())?, from.len()).ok()?;
    let steps = given("steps", vec![1; starts.len()])?;
    let mut apart = strides(&from);
    let mut start = 0;
    for (i, &axis) in axes.iter().enumerate() {
        let step = u64::try_from(*steps.get(i)?).ok()?;
        let (first, _) = slice_axis(from[axis] as usize, *starts.get(i)?, *ends.get(i)?, step as i64).ok()?;
        start += first as u64 * apart[axis];
        apart[axis] = if to[axis] > 1 { apart[axis].checked_mul(step)? } else { 0 };
    }
    Some(copies(CopyNest::strided(&to, [&apart, &strides(&to)], [start, 0]).ok()?, element_size(m, args)?).into())
}

/// Prepares `graph.split`, one kernel per result.
pub(super) fn split(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (from, size) = (wide(m, args.operand_type(0))?, element_size(m, args)?);
    let axis = normalize_axis(args.int("axis").unwrap_or(0), from.len()).ok()?;
    let apart = strides(&from);
    let mut start = 0;
    let mut part = |&ty: &Type| {
        let to = wide(m, ty)?;
        let nest = CopyNest::strided(&to, [&apart, &strides(&to)], [start, 0]).ok()?;
        start += to[axis] * apart[axis];
        Some(copies(nest, size))
    };
    Some(Prepared::Kernels(args.result_types.iter().map(&mut part).collect::<Option<_>>()?))
}

/// Prepares `graph.gather`: a copy of slices, whose indices are checked in each run.
pub(super) fn gather(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let shape = extents(m, args.operand_type(0))?;
    let axis = normalize_axis(args.int("axis")?, shape.len()).ok()?;
    let (extent, size) = (shape[axis], element_size(m, args)?);
    let run = shape[axis + 1..].iter().product::<usize>() * size;
    let count: usize = extents(m, args.operand_type(1))?.iter().product();
    let outer: usize = shape[..axis].iter().product();
    let is_wide = match dtype(m, args.operand_type(1))? {
        DType::I64 => true,
        DType::I32 => false,
        _ => return None,
    };
    if super::size(m, *args.result_types.first()?)? != outer * count * run {
        return None;
    }
    let kernel = Kernel::new([0, 1], move |data, out| {
        let indices = match is_wide {
            true => resolved(&elements::<i64>(data[1])[..count], extent)?,
            false => resolved(&elements::<i32>(data[1])[..count], extent)?,
        };
        let blocks = data[0].chunks_exact((extent * run).max(1));
        for (block, out) in blocks.zip(out.chunks_exact_mut((count * run).max(1))) {
            match run {
                1 => gathered::<u8>(block, &indices, out),
                2 => gathered::<u16>(block, &indices, out),
                4 => gathered::<u32>(block, &indices, out),
                8 => gathered::<u64>(block, &indices, out),
                _ => {
                    for (&index, out) in indices.iter().zip(out.chunks_exact_mut(run.max(1))) {
                        out.copy_from_slice(&block[index * run..][..run]);
                    }
                }
            }
        }
        Ok(())
    });
    Some(kernel.into())
}

/// Returns indices, of which negative ones count from the end of an axis.
fn resolved<T: Copy + Into<i64>>(indices: &[T], extent: usize) -> Result<Vec<usize>, Trap> {
    let from_start = |&index: &T| {
        let index: i64 = index.into();
        (if index < 0 { index.wrapping_add(extent as i64) } else { index }) as usize
    };
    let all: Vec<usize> = indices.iter().map(from_start).collect();
    match all.iter().position(|&index| index >= extent) {
        None => Ok(all),
        Some(i) => {
            let index: i64 = indices[i].into();
            Err(Trap::unsupported(format!("index {index} is out of range for an extent of {extent}")))
        }
    }
}

/// Copies the elements with these indices.
fn gathered<T: bytemuck::Pod>(from: &[u8], indices: &[usize], out: &mut [u8]) {
    let (from, out): (&[T], &mut [T]) = (elements(from), elements_mut(out));
    out.iter_mut().zip(indices).for_each(|(to, &index)| *to = from[index]);
}

/// Prepares `graph.pad` in constant mode with constant, nonnegative pads.
pub(super) fn pad(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (from, to) = (wide(m, args.operand_type(0))?, wide(m, args.result_types[0])?);
    let mode = args.attr("mode").and_then(|a| m.ctx.as_str(a));
    let pads = constant(args, "pads")?.to_i64()?;
    if mode.is_some_and(|mode| mode != "constant") || pads.iter().any(|&pad| pad < 0) {
        return None;
    }
    let axes = match args.opt_operand("axes") {
        Some(_) => normalize_axes(&constant(args, "axes")?.to_i64()?, from.len()).ok()?,
        None => (0..from.len()).collect(),
    };
    let apart = strides(&to);
    let start = axes.iter().zip(&pads).map(|(&axis, &pad)| pad as u64 * apart[axis]).sum();
    let nest = CopyNest::strided(&from, [&strides(&from), &apart], [0, start]).ok()?;
    let dtype = dtype(m, args.operand_type(0))?;
    let value = position(args, "constant_value");
    if value.is_some_and(|i| super::size(m, args.operand_type(i)) != Some(dtype.size())) {
        return None;
    }
    if let Some((before, row)) = last_axis_pads(&from, &to, start) {
        let [before, row, padded] = [before, row, to[to.len() - 1] as usize].map(|n| n * dtype.size());
        let kernel = Kernel::shared([0].into_iter().chain(value), move |workers, data, out| {
            let value = data.get(1).copied().unwrap_or(&[0]);
            let threads = workers.for_steps(out.len() / (ELEMENTS_PER_STEP * size_of::<f32>()));
            let rows = (out.len() / padded).div_ceil(Workers::parts(threads)).max(1);
            let parts = data[0].chunks(rows * row).zip(out.chunks_mut(rows * padded));
            workers.share(threads, parts, |(from, out)| run_widest(PadRows { from, out, row, padded, before, value }));
            Ok(())
        });
        return Some(kernel.into());
    }
    let kernel = Kernel::shared([0].into_iter().chain(value), move |workers, data, out| {
        copy(workers, &nest, data[0], out, dtype.size(), data.get(1).copied().unwrap_or(&[0]))
    });
    Some(kernel.into())
}

/// Rows that are copied into longer ones, by whole lines.
struct PadRows<'a> {
    from: &'a [u8],
    out: &'a mut [u8],
    /// Sizes in bytes: of a row, of a longer row, and of the padding before a row.
    row: usize,
    padded: usize,
    before: usize,
    /// The element that surrounds them.
    value: &'a [u8],
}

impl Loops for PadRows<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        for (from, out) in self.from.chunks_exact(self.row).zip(self.out.chunks_exact_mut(self.padded)) {
            let (begin, rest) = out.split_at_mut(self.before);
            let (middle, end) = rest.split_at_mut(self.row);
            let ((lines, rest), (to_lines, to_rest)) = (from.as_chunks::<LINE>(), middle.as_chunks_mut::<LINE>());
            to_lines.iter_mut().zip(lines).for_each(|(to, line)| *to = *line);
            to_rest.copy_from_slice(rest);
            fill(begin, self.value);
            fill(end, self.value);
        }
    }
}

/// The pads before rows and their elements, if only the last axis is padded. Rows are not empty.
fn last_axis_pads(from: &[u64], to: &[u64], start: u64) -> Option<(usize, usize)> {
    let ((&row, outer), (&padded, padded_outer)) = (from.split_last()?, to.split_last()?);
    let is_inside = row > 0 && start.checked_add(row)? <= padded;
    (is_inside && outer == padded_outer).then_some((usize::try_from(start).ok()?, usize::try_from(row).ok()?))
}
