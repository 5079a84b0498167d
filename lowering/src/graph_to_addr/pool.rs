//! Lowering of pools to table-driven windows.

use super::choose::ConvChooser;
use super::conv::{ImageAxes, as_image_in, places};
use super::{NO_TABLE, check_floats};
use crate::emit::Emitter;
use crate::operands::extents;
use gradus_ir::{Builder, DType, Module, Op, OpDecl, Refusal, Type, Value};
use gradus_networks::addr::Geometry;
use gradus_networks::graph::{GlobalAveragePoolOp, GlobalMaxPoolOp, MaxPoolOp, POOLS, pool_window};
use gradus_networks::layout::{AddressTable, image_layout};
use gradus_reference_kernels::shape::Window;

const MAX: i64 = 0;
/// The kind of `addr.pool` that sums.
pub(super) const SUM: i64 = 1;

/// Whether a pool reads planes, by its attribute, for which the op itself has a kernel.
pub(super) fn is_planar(m: &Module, op: Op) -> bool {
    let Some(layout) = image_layout(m, op).filter(|_| m.is_one_of(op, POOLS)) else { return false };
    let axes = extents(m, m.operands(op)[0]).ok().and_then(|extents| ImageAxes::of_rank(extents.len()));
    axes.is_some_and(|axes| layout == axes.plain)
}

/// Lowers a pool of static shape, on floats or of maxima of bytes, to `addr.pool`.
pub(super) fn lower(b: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Result<Value, Refusal> {
    let m = &*b.module;
    let x = m.operands(op)[0];
    (m.num_results(op) == 1).then_some(()).ok_or("a second result")?;
    let is_max = m.is_one_of(op, &[MaxPoolOp::INFO, GlobalMaxPoolOp::INFO]);
    let is_byte = matches!(m.ctx.dtype(m.ctx.element_type(m.value_type(x))), Some(DType::I8 | DType::U8));
    if !(is_max && is_byte) {
        check_floats(m, x)?;
        check_floats(m, m.result(op, 0))?;
    }
    let element = m.ctx.element_type(m.value_type(x));
    if !is_max && ![Type::F32, Type::F64, Type::BF16].contains(&element) {
        return Err(Refusal::of(x, "means of f16, whose sums may overflow"));
    }
    let extents: Vec<i64> = extents(m, x)?.into_iter().map(|d| d as i64).collect();
    let is_global = m.is_one_of(op, &[GlobalMaxPoolOp::INFO, GlobalAveragePoolOp::INFO]);
    let window = if is_global { Ok(whole(&extents[2..])) } else { pool_window(m, op) };
    let window = window.map_err(|_| "a window that its operand does not have")?;
    let axes = ImageAxes::of_rank(extents.len()).ok_or(Refusal::of(x, "an image of {} axes").with([extents.len()]))?;
    let layout = chooser.layout(m, op, axes);
    let geometry = places(&window, &extents, &layout);
    let table = chooser.options.table(&geometry).ok_or(NO_TABLE)?;
    let mut counts = None;
    if !is_max {
        // If padding counts, its share in the last window depends on the rounding of the output extent.
        let flag = |name| !is_global && m.args(op).is_some_and(|args| args.flag(name));
        let with_padding = flag("count_include_pad");
        if with_padding && flag("ceil_mode") {
            return Err(Refusal::of_attr("ceil_mode", "means of windows that are cut"));
        }
        counts = Some(if with_padding {
            vec![table.runs() as u64]
        } else {
            counted(&table, &geometry).ok_or("means of windows without an element")?
        });
    }
    let mut e = Emitter::of(b, op);
    chooser.options.describe(&mut e, &geometry);
    let emit = || {
        let mut a = e.pack(x, &layout, axes.letters)?;
        // In narrow types a sum would be rounded before it is divided, and may overflow where the mean does not.
        if !is_max && element == Type::BF16 {
            a = e.with_element(a, Type::F32)?;
        }
        let mut rows = e.pool(if is_max { MAX } else { SUM }, a, &table)?;
        if let Some(counts) = counts {
            rows = e.scaled(rows, counts.into_iter().map(|count| 1.0 / count as f64).collect())?;
        }
        rows = e.with_element(rows, element)?;
        as_image_in(&mut e, op, rows, &layout)
    };
    emit().ok_or(NO_TABLE.into())
}

/// Returns a window as large as the image.
fn whole(image: &[i64]) -> Window {
    let extents: Vec<usize> = image.iter().map(|&d| d as usize).collect();
    let all = |n| vec![n; extents.len()];
    Window {
        input: extents.clone(),
        kernel: extents.clone(),
        strides: all(1),
        dilations: all(1),
        pads_begin: all(0),
        pads_end: all(0),
        output: all(1),
    }
}

/// Returns the number of window positions inside the image, a single entry if equal for all windows. `None` if a window has
/// none. Rows for the padding of a layout, which read nothing, count as one.
fn counted(table: &AddressTable<'_>, geometry: &Geometry) -> Option<Vec<u64>> {
    let is_inside = |row: usize, run: &usize| table.run_start(row, *run).is_some();
    let count = |row: usize| (0..table.runs()).filter(|run| is_inside(row, run)).count() as u64;
    let mut counts: Vec<u64> = (0..table.rows()).map(count).collect();
    let padding = geometry.padding_rows().ok()?;
    if counts.iter().filter(|&&count| count == 0).count() as u64 != padding {
        return None;
    }
    counts.iter_mut().for_each(|count| *count = (*count).max(1));
    if counts.iter().all(|&count| count == counts[0]) {
        counts.truncate(1);
    }
    Some(counts)
}
