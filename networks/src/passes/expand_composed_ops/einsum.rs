//! Einstein summation.

use super::{ComposedOp, known_product};
use crate::graph::ReduceSumOp;
use gradus_ir::{DYNAMIC, OpDecl, Refusal, Type, Value};
use gradus_reference_kernels::{AxisLabel, Equation};

/// Emits the products of operands from left to right, each summed over the labels that neither the result nor a later operand has.
pub(super) fn einsum(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let operands = c.operands();
    let ranks = operands.iter().map(|&v| Ok(c.shape(v)?.len())).collect::<Result<Vec<_>, Refusal>>()?;
    let ctx = c.e.ctx();
    let text = c.attr("equation").and_then(|attr| ctx.as_str(attr)).ok_or("no equation")?;
    let equation = Equation::parse(text, &ranks);
    let equation = equation.map_err(|_| Refusal::of_attr("equation", "an equation that is not defined"))?;
    let (terms, output) = (equation.inputs(), equation.output());
    let has_diagonal = |term: &Vec<AxisLabel>| term.iter().enumerate().any(|(i, label)| term[..i].contains(label));
    if terms.iter().any(has_diagonal) {
        return Err(Refusal::of_attr("equation", "a diagonal"));
    }
    if operands.first().is_none_or(|&v| c.e.elem_of(v) == Type::I1) {
        return Err("elements that are no numbers".into());
    }
    let mut factors =
        operands.into_iter().zip(terms).map(|(value, labels)| LabeledValue { value, labels: labels.clone() });
    let mut product = factors.next().ok_or("no operand")?;
    let later: Vec<LabeledValue> = factors.collect();
    for (i, next) in later.iter().enumerate() {
        let is_wanted = |l: &AxisLabel| output.contains(l) || later[i + 1..].iter().any(|f| f.labels.contains(l));
        product = LabeledProduct::of(c, product, next.clone(), is_wanted).emit(c)?;
    }
    let sum = product.summed(c, |label| output.contains(label));
    Ok(vec![sum.ordered(c, output)])
}

/// A tensor with a label for each axis.
#[derive(Clone)]
struct LabeledValue {
    value: Value,
    labels: Vec<AxisLabel>,
}

impl LabeledValue {
    /// Emits the sums over the labels that are not wanted.
    fn summed(self, c: &mut ComposedOp<'_, '_>, is_wanted: impl Fn(&AxisLabel) -> bool) -> LabeledValue {
        let axes: Vec<usize> = (0..self.labels.len()).filter(|&i| !is_wanted(&self.labels[i])).collect();
        if axes.is_empty() {
            return self;
        }
        let sum = c.e.reduce(ReduceSumOp::INFO, self.value, &axes);
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let labels = self.labels.into_iter().filter(is_wanted).collect();
        LabeledValue { value: c.e.squeeze(sum, &axes), labels }
    }

    /// Emits the transposition to an order of the labels.
    fn ordered(&self, c: &mut ComposedOp<'_, '_>, labels: &[AxisLabel]) -> Value {
        if self.labels == labels {
            return self.value;
        }
        let position = |label: &AxisLabel| self.labels.iter().position(|own| own == label);
        let perm: Vec<i64> = labels.iter().filter_map(position).map(|i| i as i64).collect();
        c.e.transpose(self.value, &perm)
    }

    /// Returns the extents of labels.
    fn extents(&self, c: &ComposedOp<'_, '_>, labels: &[AxisLabel]) -> Result<Vec<i64>, Refusal> {
        let shape = c.shape(self.value)?;
        let extent = |label: &AxisLabel| shape.get(self.labels.iter().position(|own| own == label)?).copied();
        labels.iter().map(|label| extent(label).ok_or_else(|| "an axis without a label".into())).collect()
    }
}

/// The product of two tensors, by the roles of their labels.
struct LabeledProduct {
    left: LabeledValue,
    right: LabeledValue,
    /// Labels of both operands and of the result.
    batch: Vec<AxisLabel>,
    /// Labels of both operands, which are summed.
    inner: Vec<AxisLabel>,
    /// Labels of the left operand only.
    rows: Vec<AxisLabel>,
    /// Labels of the right operand only.
    columns: Vec<AxisLabel>,
}

impl LabeledProduct {
    /// Emits the sums of each operand by itself.
    fn of(
        c: &mut ComposedOp<'_, '_>,
        left: LabeledValue,
        right: LabeledValue,
        is_wanted: impl Fn(&AxisLabel) -> bool,
    ) -> LabeledProduct {
        let left = left.summed(c, |l| is_wanted(l) || right.labels.contains(l));
        let right = right.summed(c, |l| is_wanted(l) || left.labels.contains(l));
        let (both, rows): (Vec<_>, Vec<_>) = left.labels.iter().partition(|l| right.labels.contains(l));
        let (batch, inner) = both.into_iter().partition(is_wanted);
        let columns = right.labels.iter().copied().filter(|l| !left.labels.contains(l)).collect();
        LabeledProduct { left, right, batch, inner, rows, columns }
    }

    fn emit(self, c: &mut ComposedOp<'_, '_>) -> Result<LabeledValue, Refusal> {
        let value = if self.inner.is_empty() { self.product(c) } else { self.matmul(c)? };
        Ok(LabeledValue { value, labels: [self.batch, self.rows, self.columns].concat() })
    }

    /// Emits the product of elements, where nothing is summed.
    fn product(&self, c: &mut ComposedOp<'_, '_>) -> Value {
        let (first, end) = (self.batch.len(), self.batch.len() + self.rows.len());
        let left = self.left.ordered(c, &[&self.batch[..], &self.rows].concat());
        let right = self.right.ordered(c, &[&self.batch[..], &self.columns].concat());
        let widened = |c: &mut ComposedOp<'_, '_>, value, axes: std::ops::Range<usize>| {
            let axes: Vec<i64> = axes.map(|axis| axis as i64).collect();
            if axes.is_empty() { value } else { c.e.unsqueeze(value, &axes) }
        };
        let left = widened(c, left, end..end + self.columns.len());
        let right = widened(c, right, first..end);
        c.e.mul(left, right)
    }

    /// Emits a matrix product per index of the batch.
    fn matmul(&self, c: &mut ComposedOp<'_, '_>) -> Result<Value, Refusal> {
        let [summed, other] = [&self.left, &self.right].map(|operand| operand.extents(c, &self.inner));
        let summed = summed?;
        if known_product(&summed).is_err() || summed != other? {
            return Err("a summed axis whose extents are not known to be equal".into());
        }
        let (rows, columns) = (self.left.extents(c, &self.rows)?, self.right.extents(c, &self.columns)?);
        let depth = known_product(&summed)?;
        let left = self.left.ordered(c, &[&self.batch[..], &self.rows, &self.inner].concat());
        let right = self.right.ordered(c, &[&self.batch[..], &self.inner, &self.columns].concat());
        let batch = self.batch.len();
        // The rows of a product with one matrix may have several axes.
        let own_rows = if batch == 0 { rows.len() } else { usize::from(rows.len() == 1) };
        let left = match own_rows {
            0 => c.e.reshape(left, batch, &[merged(&rows)?, depth])?,
            own => c.e.reshape(left, batch + own, &[depth])?,
        };
        let right = c.e.reshape(right, batch, &[depth, merged(&columns)?])?;
        let product = c.e.matmul(left, right);
        match own_rows {
            0 => c.e.reshape(product, batch, &[rows, columns].concat()),
            own => c.e.reshape(product, batch + own, &columns),
        }
    }
}

/// Returns the product of extents, of which one may be open.
fn merged(extents: &[i64]) -> Result<i64, Refusal> {
    if extents.contains(&DYNAMIC) { Ok(DYNAMIC) } else { known_product(extents) }
}
