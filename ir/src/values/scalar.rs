//! Scalar functions: the semantics of elementwise ops.
//!
//! Facts of the op alone, such as widths and promises, are resolved once into a closure that each execution applies. An
//! op declares `scalar` only; its `eval` is derived from it.

use crate::values::datum::{Datum, map_elements};
use crate::values::numbers::{floats_to_tensor, ints, ints_to_tensor};
use crate::values::tensor::{DType, Tensor};
use crate::values::trap::Trap;

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
        let floats = |tensor: &Tensor| Ok(tensor.to_f64());
        let to_ints = |dtype| move |shape: &[usize], values: Vec<i64>| ints_to_tensor(dtype, shape, &values);
        let to_floats = |dtype| move |shape: &[usize], values| floats_to_tensor(dtype, shape, values);
        let known = |dtype: Option<DType>| dtype.ok_or_else(|| Trap::unsupported("tensors of this element type"));
        match self {
            Scalar::Ints(f, out) => map_elements(data, ints, f, to_ints(out.unwrap_or(first.dtype()))),
            Scalar::Floats(f, out) => map_elements(data, floats, |x| Ok(f(x)), to_floats(known(*out)?)),
            Scalar::IntsToFloat(f, out) => map_elements(data, ints, |x| Ok(Some(f(x))), to_floats(known(*out)?)),
            Scalar::FloatsToInt(f, out) => map_elements(data, floats, |x| Ok(f(x)), to_ints(known(*out)?)),
        }
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
