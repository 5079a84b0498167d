//! Products of matrices, of batches of matrices, and of vectors.

use super::inputs::{MatrixProduct, Stack};
use super::product::{Lowered, ProductInputs, possible};
use super::terms::{Requantize, TermList, check_sums, elements, is_symmetric};
use crate::operands::{IntegerContraction, extents};
use gradus_ir::{Module, Refusal, Tensor, Value};
use gradus_reference_kernels::expand;
use gradus_reference_kernels::shape::broadcast_shapes;
use gradus_simulators::nna::{MAX_DEPTH, Mapping, Shape};

/// Most products of a batch, each of which is a call.
const MAX_CALLS: usize = 256;

/// A batch of matrices, an operand of a product.
struct Batch {
    value: Value,
    zero: Option<Value>,
    /// Extents of the batch, of the same number of axes for both operands.
    extents: Vec<usize>,
    /// The reduction extent, and the other one.
    matrix: [usize; 2],
    /// Whether the reduction is the last axis.
    depth_is_last: bool,
    /// Axes of the value.
    rank: usize,
}

impl Batch {
    /// Returns the operands of a product of known extents, of which none is 0.
    fn both(m: &Module, product: &IntegerContraction) -> Result<[Batch; 2], Refusal> {
        let both = [extents(m, product.factors[0])?, extents(m, product.factors[1])?];
        let axes = both.iter().map(|dims| dims.len().saturating_sub(2)).max().unwrap_or(0);
        Ok(std::array::from_fn(|i| {
            let (dims, value, zero) = (&both[i], product.factors[i], product.zeros[i]);
            let (batch, matrix) = dims.split_at(dims.len().saturating_sub(2));
            let matrix = match (matrix, i) {
                (&[rows, depth], 0) | (&[depth, rows], _) => [depth, rows],
                (vector, _) => [vector.iter().product(), 1],
            };
            let extents = [&vec![1; axes - batch.len()], batch].concat();
            Batch { value, zero, extents, matrix, depth_is_last: i == 0, rank: dims.len() }
        }))
    }

    fn stack(&self, is_left: bool) -> Stack {
        let [depth, other] = self.matrix;
        let matrix = if is_left { [other, depth] } else { [depth, other] };
        let count = elements(self.extents.iter().copied()) as usize;
        Stack { value: self.value, count, matrix, is_turned: self.depth_is_last != is_left }
    }

    /// Returns the zero points, one for each row of the left operand, or each column of the right one.
    fn zeros(&self, m: &Module) -> Result<Option<TermList>, Refusal> {
        let Some(value) = self.zero else { return Ok(None) };
        let own = extents(m, value)?;
        if own.iter().all(|&d| d == 1) {
            return Ok(Some(TermList { value, extents: None }));
        }
        let all = [&self.extents, &self.matrix[1..]].concat();
        let own =
            self.parameters(&own, &all).ok_or(Refusal::of(value, "zero points that differ along the reduction"))?;
        let signed = |list: Vec<usize>| list.into_iter().map(|d| d as i64).collect::<Vec<i64>>();
        Ok(Some(TermList { value, extents: Some([signed(own), signed(all)]) }))
    }

    /// Returns a scale for each row of a result of some batch, of which this is the left operand, from scales of some extents.
    fn scales(&self, scales: &[f32], own: &[usize], batch: &[usize]) -> Result<Vec<f32>, Refusal> {
        let all = [batch, &self.matrix[1..]].concat();
        let own = self.parameters(own, &all).ok_or("scales that differ along rows and columns")?;
        let all: Vec<i64> = all.into_iter().map(|d| d as i64).collect();
        let list = expand(&Tensor::from_vec(&own, scales.to_vec()), &all).map_err(|_| "scales of another product")?;
        Ok(list.as_slice::<f32>().to_vec())
    }

    /// Returns the extents of parameters without the last axis but the own one, if they broadcast to `all`. Those of a vector belong to
    /// the reduction.
    fn parameters(&self, own: &[usize], all: &[usize]) -> Option<Vec<usize>> {
        let kept = match own {
            [batch @ .., row, column] => {
                let (kept, other) = if self.depth_is_last { (row, column) } else { (column, row) };
                (*other == 1).then(|| [batch, &[*kept]].concat())?
            }
            _ => own.to_vec(),
        };
        let broadcasts = broadcast_shapes(&kept, all).is_ok_and(|shape| shape == all);
        (self.rank > 1 && broadcasts).then_some(kept)
    }
}

/// Returns a product and that of the transposes, where scales and a given mapping allow them.
pub(super) fn matrices(
    m: &Module,
    product: &IntegerContraction,
    requantize: Option<&Requantize>,
    mapping: Option<Mapping>,
    y: Value,
) -> Result<Vec<Lowered>, Refusal> {
    let sides = Batch::both(m, product)?;
    check_sums(m, sides[0].matrix[0], None, requantize.is_some())?;
    let scaled = several_scales(m, product)?;
    if scaled.is_some() && sides.iter().any(|side| side.rank < 2) {
        return Err("several scales of a product with a vector".into());
    }
    let result = m.ctx.static_shape(m.value_type(y)).ok_or(Refusal::of(y, "an unknown extent"))?;
    let initial = sides.iter().any(|side| !is_symmetric(m, side.value, side.zero));
    let lowered = |(is_turned, by_rows): (bool, bool)| {
        let [left, right] = if is_turned { [&sides[1], &sides[0]] } else { [&sides[0], &sides[1]] };
        let (shape, parts) = calls(left, right, by_rows)?;
        let mut requantize = requantize.cloned();
        if let (Some(requantize), Some((_, own))) = (&mut requantize, &scaled) {
            let batch: Vec<usize> = left.extents.iter().zip(&right.extents).map(|(&l, &r)| l.max(r)).collect();
            requantize.scales = left.scales(&requantize.scales, own, &batch)?;
        }
        let inputs = MatrixProduct {
            left: left.stack(true),
            right: right.stack(false),
            is_turned,
            matrix: [left.matrix[1], right.matrix[1]],
            result: result.to_vec(),
        };
        Ok(Lowered {
            shape,
            parts,
            mapping,
            left_zero: left.zeros(m)?,
            right_zero: right.zeros(m)?,
            bias: None,
            initial,
            requantize,
            element: m.ctx.element_type(m.value_type(y)),
            inputs: ProductInputs::Matrices(inputs),
        })
    };
    // Scales are per row of the left matrix: those of `b` are so after transposition.
    let turns =
        [false, true].into_iter().filter(|&turned| scaled.as_ref().is_none_or(|of| of.0 == usize::from(turned)));
    let turns = turns.filter(|turned| mapping.is_none() || !turned);
    let rows = [false, true].into_iter().filter(|by_rows| !by_rows || sides[0].matrix[0] > MAX_DEPTH);
    possible(turns.flat_map(|turned| rows.clone().map(move |by_rows| (turned, by_rows))).map(lowered))
}

/// Returns the operand that has several scales, 0 or 1, with their extents.
fn several_scales(m: &Module, product: &IntegerContraction) -> Result<Option<(usize, Vec<usize>)>, Refusal> {
    let Some((scales, _)) = product.requantization else { return Ok(None) };
    for (i, &scale) in scales[..2].iter().enumerate() {
        let own = extents(m, scale)?;
        if own.iter().any(|&d| d > 1) {
            return Ok(Some((i, own)));
        }
    }
    Ok(None)
}

/// Returns the extents of the products of two batches, and of each product its part of the left and of the right operand. The last axes of
/// the batch along which the right matrix is the same are rows of the left one. With `by_rows`, each row is a product of its own: its parts
/// along the reduction are contiguous.
fn calls(left: &Batch, right: &Batch, by_rows: bool) -> Result<(Shape, Vec<[usize; 2]>), Refusal> {
    let axes = right.extents.iter().rposition(|&d| d > 1).map_or(0, |last| last + 1);
    let all_rows = elements(left.extents[axes..].iter().chain(&left.matrix[1..]).copied()) as usize;
    let (rows, products) = if by_rows { (1, all_rows) } else { (all_rows, 1) };
    let axes: Vec<(usize, usize)> =
        left.extents.iter().copied().zip(right.extents.iter().copied()).take(axes).collect();
    let count = axes.iter().fold(products, |n: usize, &(l, r)| n.saturating_mul(l.max(r)));
    if count > MAX_CALLS {
        return Err(Refusal::from("a batch of {} products, of which at most {} are calls").with([count, MAX_CALLS]));
    }
    let mut parts = vec![[0, 0]];
    for (l, r) in axes {
        let each = |[i, j]: [usize; 2]| (0..l.max(r)).map(move |at| [i * l + at.min(l - 1), j * r + at.min(r - 1)]);
        parts = parts.into_iter().flat_map(each).collect();
    }
    let parts = parts.into_iter().flat_map(|[i, j]| (0..products).map(move |row| [i * products + row, j])).collect();
    Ok((Shape { rows, depth: left.matrix[0], columns: right.matrix[1] }, parts))
}
