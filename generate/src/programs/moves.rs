//! Ops along axes of an image, which layout changes may cross: slices, padding, concatenations, tables and normalization.

use super::network::{Network, Tensor};

/// Adds an op along some axes.
pub(super) fn draw(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let axis = n.random.below(x.shape.len() as u64) as usize;
    match (n.random.below(6), x.elem) {
        (0 | 1, _) => slice(n, x),
        (2, _) => pad(n, x),
        (3, "i8") => table(n, x, axis),
        (3, "f32") if x.shape.len() > 1 => batch_normalization(n, x),
        (4, "f32") => {
            let size = n.extent(4);
            n.generic("graph.lrn", &[x], &format!("axis = {axis} : i64, size = {size} : i64"), &x.shape, x.elem)
        }
        _ => concat(n, x, axis),
    }
}

/// Draws distinct axes in any order, or the leading ones; these need not be named.
fn some_axes(n: &mut Network<'_>, rank: usize) -> (Vec<usize>, bool) {
    let count = n.extent(rank.min(2) as u64) as usize;
    if n.random.percent(25) {
        return ((0..count).collect(), false);
    }
    let mut all: Vec<usize> = (0..rank).collect();
    let axes = (0..count).map(|_| all.swap_remove(n.random.below(all.len() as u64) as usize)).collect();
    (axes, true)
}

fn slice(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let (axes, named) = some_axes(n, x.shape.len());
    let (mut shape, mut starts, mut ends, mut steps) = (x.shape.clone(), Vec::new(), Vec::new(), Vec::new());
    for &axis in &axes {
        let extent = x.shape[axis];
        let start = n.random.below(extent as u64) as i64;
        let (end, step) = (start + n.extent((extent - start) as u64), n.extent(2));
        shape[axis] = (end - start + step - 1) / step;
        starts.push(if n.random.percent(30) { start - extent } else { start });
        ends.push(end);
        steps.push(step);
    }
    let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
    let [starts, ends, axes, steps] = [&starts, &ends, &axes, &steps].map(|all| n.indices(all));
    let operands: Vec<&Tensor> =
        [x, &starts, &ends].into_iter().chain(named.then_some(&axes)).chain([&steps]).collect();
    let sizes = format!("operandSegmentSizes = array<i32: 1, 1, 1, {}, 1>", i32::from(named));
    n.generic("graph.slice", &operands, &sizes, &shape, x.elem)
}

/// Pads some axes in any mode, or crops them; in images, mostly those of positions.
pub(super) fn pad(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let rank = x.shape.len();
    let is_image = rank > 2 && n.random.percent(70);
    let (axes, named) = if is_image { ((2..rank).collect(), n.random.percent(40)) } else { some_axes(n, rank) };
    let axes = if named { axes } else { (0..rank).collect() };
    let mode = n.random.pick(&["constant", "constant", "constant", "edge", "reflect", "wrap"]);
    let mut pads = vec![0; 2 * axes.len()];
    let mut shape = x.shape.clone();
    for (i, &axis) in axes.iter().enumerate().filter(|(_, axis)| !is_image || **axis > 1) {
        // Elements are reflected and wrapped around once.
        let most = if mode == "reflect" { x.shape[axis] } else { x.shape[axis] + 1 }.min(4);
        for side in [i, axes.len() + i] {
            pads[side] = n.random.below(most as u64) as i64;
            if n.random.percent(10) && shape[axis] > 1 {
                pads[side] = -1;
            }
            shape[axis] += pads[side];
        }
    }
    let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
    let [pads, axes] = [&pads, &axes].map(|all| n.indices(all));
    let value = (mode == "constant" && n.random.percent(50)).then(|| n.weights(&[], x.elem, 90));
    let mode = if mode == "constant" { String::new() } else { format!(", mode = \"{mode}\"") };
    let operands: Vec<&Tensor> = [x, &pads].into_iter().chain(&value).chain(named.then_some(&axes)).collect();
    let counts = [value.is_some(), named].map(i32::from);
    let attrs = format!("operandSegmentSizes = array<i32: 1, 1, {}, {}>{mode}", counts[0], counts[1]);
    n.generic("graph.pad", &operands, &attrs, &shape, x.elem)
}

/// Looks up bytes, by one table or one for each index of an axis.
fn table(n: &mut Network<'_>, x: &Tensor, axis: usize) -> Tensor {
    let by_axis = n.random.percent(70);
    let shape = if by_axis { vec![x.shape[axis], 256] } else { vec![256] };
    let table = n.weights(&shape, "i8", 100);
    let attrs = if by_axis { format!("axis = {axis} : i64") } else { String::new() };
    n.generic("graph.table", &[x, &table], &attrs, &x.shape, x.elem)
}

/// Normalizes channels by constants, or by the statistics of the batch.
pub(super) fn batch_normalization(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let shape = [x.shape[1]];
    let [scale, bias, mean] = [0; 3].map(|_| n.weights(&shape, "f32", 90));
    let variance = n.random.pick(&["1.0", "0.25", "3.0"]);
    let variance = n.constant(&shape, "f32", variance);
    let attrs = if n.random.percent(25) { "training_mode = 1 : i64" } else { "" };
    n.generic("graph.batch_normalization", &[x, &scale, &bias, &mean, &variance], attrs, &x.shape, x.elem)
}

/// Concatenates a tensor with itself or an earlier one of its shape.
fn concat(n: &mut Network<'_>, x: &Tensor, axis: usize) -> Tensor {
    let other = n.alike(x);
    n.concat(&[x, &other], axis)
}
