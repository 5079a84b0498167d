//! `Einsum`, as transpositions, reductions and one matrix product per operand.

use crate::KernelResult;
use crate::matmul::matmul;
use crate::movement::{copy_view, expand, signed_strides, transpose};
use crate::num::unsupported;
use crate::reduce::{Reduction, reduce};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor};

/// The label of an axis: a letter, or a larger number for axes of `...`.
pub type AxisLabel = u32;

/// First label of the axes of `...`.
const ELLIPSIS: AxisLabel = 1 << 24;

/// An equation for operands of known ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Equation {
    inputs: Vec<Vec<AxisLabel>>,
    output: Vec<AxisLabel>,
}

impl Equation {
    /// Reads an equation such as `bij,bjk->bik`.
    pub fn parse(text: &str, ranks: &[usize]) -> Result<Equation, Violation> {
        let text: String = text.chars().filter(|c| *c != ' ').collect();
        let (left, right) = text.split_once("->").map_or((text.as_str(), None), |(l, r)| (l, Some(r)));
        let terms: Vec<&str> = left.split(',').collect();
        if terms.len() != ranks.len() {
            return Err(format!("equation '{text}' is for {} operands, not {}", terms.len(), ranks.len()).into());
        }
        let inputs = terms.iter().zip(ranks).map(|(term, &rank)| {
            let letters = term.replacen("...", "", 1).chars().count();
            let hidden = rank.checked_sub(letters).filter(|&n| n == 0 || term.contains("..."));
            labels(term, hidden.ok_or_else(|| format!("term '{term}' does not name {rank} axes"))?)
        });
        let inputs: Vec<Vec<AxisLabel>> = inputs.collect::<Result<_, _>>()?;
        let hidden = inputs.iter().map(|t| t.iter().filter(|&&l| l >= ELLIPSIS).count()).max().unwrap_or(0);
        let output = match right {
            Some(term) => labels(term, if term.contains("...") { hidden } else { 0 })?,
            None => implicit(&inputs, hidden),
        };
        let known = |l: &AxisLabel| inputs.iter().any(|t| t.contains(l));
        if !output.iter().enumerate().all(|(i, l)| known(l) && !output[..i].contains(l)) {
            return Err(format!("the result of equation '{text}' should name axes of operands, each once").into());
        }
        Ok(Equation { inputs, output })
    }

    /// Returns the labels of the axes of each operand.
    pub fn inputs(&self) -> &[Vec<AxisLabel>] {
        &self.inputs
    }

    /// Returns the labels of the axes of the result.
    pub fn output(&self) -> &[AxisLabel] {
        &self.output
    }

    /// Infers the shape of the result; `extent` combines extents of the same label.
    pub fn output_dims<D: Copy>(
        &self,
        shapes: &[Vec<D>],
        unify: impl Fn(D, D) -> Result<D, Violation>,
    ) -> Result<Vec<D>, Violation> {
        let extent = |label: &AxisLabel| {
            let named = self.inputs.iter().zip(shapes).flat_map(|(t, s)| t.iter().zip(s));
            let mut all = named.filter(|(l, _)| *l == label).map(|(_, &d)| d);
            let first = all.next().ok_or("an axis of the result is in no operand")?;
            all.try_fold(first, &unify)
        };
        // Labels that occur in operands only must be consistent too.
        self.inputs.iter().flatten().try_for_each(|l| extent(l).map(drop))?;
        self.output.iter().map(extent).collect()
    }
}

/// Labels of a term, in which `...` stands for `hidden` axes.
fn labels(term: &str, hidden: usize) -> Result<Vec<AxisLabel>, Violation> {
    let (before, after) = term.split_once("...").unwrap_or((term, ""));
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' => Ok(AxisLabel::from(c)),
        _ => Err(format!("'{c}' in term '{term}' is not the name of an axis").into()),
    };
    let dots = (0..if term.contains("...") { hidden } else { 0 }).rev().map(|i| Ok(ELLIPSIS + u32::MAX / 2 - i as u32));
    before.chars().map(letter).chain(dots).chain(after.chars().map(letter)).collect()
}

/// Labels of an implicit result: those of `...`, then the letters that occur once, alphabetically.
fn implicit(inputs: &[Vec<AxisLabel>], hidden: usize) -> Vec<AxisLabel> {
    let all: Vec<AxisLabel> = inputs.concat();
    let mut once: Vec<AxisLabel> =
        all.iter().copied().filter(|l| *l < ELLIPSIS && all.iter().filter(|o| *o == l).count() == 1).collect();
    once.sort_unstable();
    let dots = inputs.iter().map(|t| t.iter().copied().filter(|&l| l >= ELLIPSIS).collect::<Vec<_>>());
    let mut out = dots.max_by_key(Vec::len).filter(|d| d.len() == hidden).unwrap_or_default();
    out.extend(once);
    out
}

/// A tensor with a unique label per axis.
struct LabeledTensor {
    tensor: Tensor,
    labels: Vec<AxisLabel>,
}

impl LabeledTensor {
    /// Takes diagonals, so that labels are unique.
    fn new(tensor: &Tensor, labels: &[AxisLabel]) -> Result<LabeledTensor, Violation> {
        let (mut shape, mut steps, mut kept): (Vec<usize>, Vec<isize>, Vec<AxisLabel>) = Default::default();
        for ((&label, &extent), step) in labels.iter().zip(tensor.shape()).zip(signed_strides(tensor.shape())) {
            match kept.iter().position(|&l| l == label) {
                None => {
                    shape.push(extent);
                    steps.push(step);
                    kept.push(label);
                }
                Some(i) if shape[i] == extent => steps[i] += step,
                Some(i) => return Err(format!("a diagonal of extents {} and {extent}", shape[i]).into()),
            }
        }
        let diagonal = if kept.len() == labels.len() { tensor.clone() } else { copy_view(tensor, &shape, &steps, 0)? };
        Ok(LabeledTensor { tensor: diagonal, labels: kept })
    }

    /// Sums over axes whose labels are not wanted.
    fn summed(self, wanted: impl Fn(AxisLabel) -> bool) -> Result<LabeledTensor, Violation> {
        let (kept, gone): (Vec<usize>, Vec<usize>) = (0..self.labels.len()).partition(|&i| wanted(self.labels[i]));
        if gone.is_empty() {
            return Ok(self);
        }
        let axes: Vec<i64> = gone.iter().map(|&i| i as i64).collect();
        let tensor = reduce(&self.tensor, Reduction::Sum, &axes, false, false)?;
        Ok(LabeledTensor { tensor, labels: kept.iter().map(|&i| self.labels[i]).collect() })
    }

    /// Transposes to these labels; missing ones get extent 1.
    fn aligned(&self, labels: &[AxisLabel]) -> KernelResult {
        let at = |l: &AxisLabel| self.labels.iter().position(|k| k == l);
        let perm: Vec<i64> = labels.iter().filter_map(at).map(|i| i as i64).collect();
        let moved = if perm.is_empty() { self.tensor.clone() } else { transpose(&self.tensor, &perm)? };
        Ok(moved.reshape(labels.iter().map(|l| at(l).map_or(1, |i| self.tensor.shape()[i])).collect())?)
    }

    /// Returns the extents of labels; 1 for missing ones.
    fn extents(&self, labels: &[AxisLabel]) -> Vec<usize> {
        let extent = |l| self.labels.iter().position(|k| k == l).map_or(1, |i| self.tensor.shape()[i]);
        labels.iter().map(extent).collect()
    }
}

/// Multiplies two operands and sums over labels that neither the result nor another operand needs.
fn contract(
    a: LabeledTensor,
    b: LabeledTensor,
    wanted: impl Fn(AxisLabel) -> bool,
) -> Result<LabeledTensor, Violation> {
    let a = a.summed(|l| wanted(l) || b.labels.contains(&l))?;
    let b = b.summed(|l| wanted(l) || a.labels.contains(&l))?;
    let both = |&l: &AxisLabel| a.labels.contains(&l) && b.labels.contains(&l);
    let (batch, inner): (Vec<AxisLabel>, Vec<AxisLabel>) =
        a.labels.iter().copied().filter(|l| both(l)).partition(|&l| wanted(l));
    let only = |n: &LabeledTensor| n.labels.iter().copied().filter(|l| !both(l)).collect::<Vec<_>>();
    let (rows, columns) = (only(&a), only(&b));
    // Extents of 1 broadcast.
    let sum = super::shape::broadcast_shapes(&a.extents(&inner), &b.extents(&inner))?;
    let (left, right) = ([&batch[..], &rows, &inner].concat(), [&batch[..], &inner, &columns].concat());
    let stretch = |n: &LabeledTensor, labels: &[AxisLabel]| {
        let at = |l| inner.iter().position(|i| i == l).map_or(1, |i| sum[i] as i64);
        expand(&n.aligned(labels)?, &labels.iter().map(at).collect::<Vec<_>>())
    };
    let (m, k, n) = (total(&a.extents(&rows)), total(&sum), total(&b.extents(&columns)));
    let matrices = |t: &Tensor, r, c| t.reshape([&t.shape()[..batch.len()], &[r, c]].concat());
    let product = matmul(&matrices(&stretch(&a, &left)?, m, k)?, &matrices(&stretch(&b, &right)?, k, n)?)?;
    let shape = [&product.shape()[..batch.len()], &a.extents(&rows), &b.extents(&columns)].concat();
    Ok(LabeledTensor { tensor: product.reshape(shape)?, labels: [batch, rows, columns].concat() })
}

fn total(extents: &[usize]) -> usize {
    extents.iter().fold(1, |n, &d| n.saturating_mul(d))
}

/// `Einsum` (12, 28): the products of the operands' elements, summed over the labels that are absent from the result.
pub fn einsum(inputs: &[&Tensor], equation: &str) -> KernelResult {
    let ranks: Vec<usize> = inputs.iter().map(|t| t.rank()).collect();
    let equation = Equation::parse(equation, &ranks)?;
    let first = inputs.first().ok_or("einsum needs an operand")?;
    if inputs.iter().any(|t| t.dtype() != first.dtype()) || first.dtype() == DType::Bool {
        return Err(unsupported("einsum", first.dtype()).into());
    }
    let mut named = inputs.iter().zip(&equation.inputs).map(|(t, labels)| LabeledTensor::new(t, labels));
    let mut product = named.next().ok_or("einsum needs an operand")??;
    for (i, next) in named.enumerate() {
        let later = &equation.inputs[i + 2..];
        let wanted = |l: AxisLabel| equation.output.contains(&l) || later.iter().any(|t| t.contains(&l));
        product = contract(product, next?, wanted)?;
    }
    product.summed(|l| equation.output.contains(&l))?.aligned(&equation.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(equation: &str, inputs: &[&Tensor]) -> (Vec<usize>, Vec<i64>) {
        let y = einsum(inputs, equation).unwrap_or_else(|e| panic!("{equation}: {e}"));
        (y.shape().to_vec(), y.to_i64().unwrap())
    }

    #[test]
    fn products_and_sums() {
        let a = Tensor::from_vec(&[2, 3], vec![1i32, 2, 3, 4, 5, 6]);
        let b = Tensor::from_vec(&[3, 2], vec![1i32, 0, 0, 1, 1, 1]);
        let v = Tensor::from_vec(&[2], vec![10i32, 1]);
        assert_eq!(run("ij,jk->ik", &[&a, &b]), (vec![2, 2], vec![4, 5, 10, 11]));
        assert_eq!(run("ij, jk", &[&a, &b]).1, [4, 5, 10, 11]);
        assert_eq!(run("ij->ji", &[&a]), (vec![3, 2], vec![1, 4, 2, 5, 3, 6]));
        assert_eq!(run("ij->", &[&a]), (vec![], vec![21]));
        assert_eq!(run("i,j->ij", &[&v, &v]), (vec![2, 2], vec![100, 10, 10, 1]));
        assert_eq!(run("i,ij,jk->k", &[&v, &a, &b]), (vec![2], vec![50, 61]));
        assert_eq!(run("...j,jk->...k", &[&a, &b]), (vec![2, 2], vec![4, 5, 10, 11]));
        let square = Tensor::from_vec(&[2, 2], vec![1i32, 2, 3, 4]);
        assert_eq!(run("ii->i", &[&square]), (vec![2], vec![1, 4]));
        assert_eq!(run("ii", &[&square]), (vec![], vec![5]));
        assert_eq!(run("ij,ij->i", &[&square, &square]), (vec![2], vec![5, 25]));
    }

    #[test]
    fn wrong_equations_are_refused() {
        let a = Tensor::from_vec(&[2, 3], vec![0i32; 6]);
        for equation in ["ij,jk->ik", "ijk->i", "i1->i", "ij->ii", "ij->k", "ii->i", "i->i", "", "ij->i->j"] {
            assert!(einsum(&[&a], equation).is_err(), "{equation}");
        }
        assert!(einsum(&[&a, &a], "ij,jk->ik").is_err());
    }
}
