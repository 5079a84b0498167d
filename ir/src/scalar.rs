//! Scalar functions: the semantics of elementwise ops.
//!
//! Facts of the op alone, such as widths and promises, are resolved once into a closure that each execution applies. An
//! op declares `scalar` only; its `eval` is derived from it.

use crate::datum::{Datum, floats_to_tensor, ints_to_tensor};
use crate::tensor::{DType, Tensor};
use crate::trap::Trap;

/// The scalar function of an op; `None` is poison. Operands are never poison. Each variant has the element type of
/// tensor and vector results; `None` keeps that of the operands.
pub enum Scalar {
    /// Integers to integer.
    Ints(Function<i64, Result<Option<i64>, Trap>>, Option<DType>),
    /// Floats to float, rounded to its type.
    Floats(Function<f64, Option<f64>>, Option<DType>),
    /// Integers to float, rounded to its type.
    IntsToFloat(Function<i64, f64>, Option<DType>),
    /// Floats to integer.
    FloatsToInt(Function<f64, Option<i64>>, Option<DType>),
}

/// A function from scalars to a result.
pub type Function<T, R> = Box<dyn Fn(&[T]) -> R + Send + Sync>;

impl Scalar {
    /// Wraps a function of integers whose result has the operands' type.
    pub fn ints(f: impl Fn(&[i64]) -> Result<Option<i64>, Trap> + Send + Sync + 'static) -> Scalar {
        Scalar::Ints(Box::new(f), None)
    }

    /// Applies the function to scalars, or elementwise to tensors and vectors.
    pub fn map(&self, data: &[Datum]) -> Result<Datum, Trap> {
        let Some(Datum::Tensor(first)) = data.iter().find(|d| matches!(d, Datum::Tensor(_))) else {
            return self.apply(data);
        };
        let (shape, len) = (first.shape(), first.len());
        let of_ints = || data.iter().map(|d| ints(d.tensor()?)).collect::<Result<Vec<Vec<i64>>, Trap>>();
        let of_floats = || data.iter().map(|d| Ok(d.tensor()?.to_f64())).collect::<Result<Vec<Vec<f64>>, Trap>>();
        let to_ints = |values: Option<Vec<i64>>, dtype: DType| {
            values.map_or(Datum::Poison, |v| Datum::Tensor(ints_to_tensor(dtype, shape, &v)))
        };
        let to_floats = |values: Option<Vec<f64>>, dtype: DType| {
            values.map_or(Datum::Poison, |v| Datum::Tensor(floats_to_tensor(dtype, shape, v)))
        };
        let known = |dtype: Option<DType>| dtype.ok_or_else(|| Trap::unsupported("tensors of this element type"));
        Ok(match self {
            Scalar::Ints(f, out) => to_ints(each(&of_ints()?, len, f)?, out.unwrap_or(first.dtype())),
            Scalar::Floats(f, out) => to_floats(each(&of_floats()?, len, |x| Ok(f(x)))?, known(*out)?),
            Scalar::IntsToFloat(f, out) => to_floats(each(&of_ints()?, len, |x| Ok(Some(f(x))))?, known(*out)?),
            Scalar::FloatsToInt(f, out) => to_ints(each(&of_floats()?, len, |x| Ok(f(x)))?, known(*out)?),
        })
    }

    fn apply(&self, data: &[Datum]) -> Result<Datum, Trap> {
        let ints = || data.iter().map(Datum::int).collect::<Result<Vec<i64>, Trap>>();
        let floats = || data.iter().map(Datum::float).collect::<Result<Vec<f64>, Trap>>();
        Ok(match self {
            Scalar::Ints(f, _) => f(&ints()?)?.map_or(Datum::Poison, Datum::Int),
            Scalar::Floats(f, _) => f(&floats()?).map_or(Datum::Poison, Datum::Float),
            Scalar::IntsToFloat(f, _) => Datum::Float(f(&ints()?)),
            Scalar::FloatsToInt(f, _) => f(&floats()?).map_or(Datum::Poison, Datum::Int),
        })
    }
}

/// Returns the integers of a tensor; `i1` is sign-extended, as scalars are.
fn ints(tensor: &Tensor) -> Result<Vec<i64>, Trap> {
    let mut ints = tensor.to_i64().ok_or_else(|| Trap::unsupported("expected a tensor of integers"))?;
    if tensor.dtype() == DType::Bool {
        ints.iter_mut().for_each(|v| *v = -*v);
    }
    Ok(ints)
}

/// Applies `f` to each row of the columns; `None` if any result is poison.
fn each<T: Copy + Default, R>(
    columns: &[Vec<T>],
    len: usize,
    f: impl Fn(&[T]) -> Result<Option<R>, Trap>,
) -> Result<Option<Vec<R>>, Trap> {
    let mut row = vec![T::default(); columns.len()];
    let mut results = Vec::with_capacity(len);
    for i in 0..len {
        for (cell, column) in row.iter_mut().zip(columns) {
            *cell = *column.get(i).ok_or_else(|| Trap::unsupported("tensors of different shapes"))?;
        }
        match f(&row)? {
            Some(value) => results.push(value),
            None => return Ok(None),
        }
    }
    Ok(Some(results))
}
