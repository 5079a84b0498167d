//! The meaning of ops that compute one number of numbers, and do the same for each element of tensors and vectors.
//!
//! What depends on the op alone, such as widths and promises, is looked up once; what comes of that is applied as often as
//! the op runs. The op's declaration says it once: its `eval` follows from its `scalar`.

use crate::datum::{Datum, floats_to_tensor, ints_to_tensor};
use crate::tensor::{DType, Tensor};
use crate::trap::Trap;

/// What an op computes; `None` is poison. Operands are never poison. With each comes the type of the elements where operands
/// are tensors or vectors; without it, they keep theirs.
pub enum Scalar {
    /// An integer of integers.
    Ints(Function<i64, Result<Option<i64>, Trap>>, Option<DType>),
    /// A float of floats, rounded to its type.
    Floats(Function<f64, Option<f64>>, Option<DType>),
    /// A float of integers, rounded to its type.
    IntsToFloat(Function<i64, f64>, Option<DType>),
    /// An integer of floats.
    FloatsToInt(Function<f64, Option<i64>>, Option<DType>),
}

/// From numbers to a result.
pub type Function<T, R> = Box<dyn Fn(&[T]) -> R + Send + Sync>;

impl Scalar {
    /// Computes an integer of integers, of the same type.
    pub fn ints(f: impl Fn(&[i64]) -> Result<Option<i64>, Trap> + Send + Sync + 'static) -> Scalar {
        Scalar::Ints(Box::new(f), None)
    }

    /// Applies it to scalars or, element by element, to tensors and vectors.
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

/// The integers of a tensor. One bit is its own sign, as it is for scalars.
fn ints(tensor: &Tensor) -> Result<Vec<i64>, Trap> {
    let mut ints = tensor.to_i64().ok_or_else(|| Trap::unsupported("expected a tensor of integers"))?;
    if tensor.dtype() == DType::Bool {
        ints.iter_mut().for_each(|v| *v = -*v);
    }
    Ok(ints)
}

/// What `f` gives for each row of columns; `None` if it gives poison for one.
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
