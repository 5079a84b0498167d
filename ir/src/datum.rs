//! Run-time values of an interpreted program.

use crate::memref::MemRef;
use crate::own_value::{Own, OwnValue};
use crate::poison_tensor::PoisonTensor;
use crate::tensor::{DType, Tensor};
use crate::trap::Trap;

/// A run-time value.
#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    /// Poison: the result of a violated promise, such as an overflow under `nsw`.
    Poison,
    /// An integer or `index` of at most 64 bits: sign-extended; zero-extended for unsigned types.
    Int(i64),
    /// A float of a type whose values `f64` represents exactly.
    Float(f64),
    /// A tensor or vector.
    Tensor(Tensor),
    /// A tensor or vector with poison elements.
    PoisonTensor(Box<PoisonTensor>),
    /// A memref: a view of memory.
    MemRef(Box<MemRef>),
    /// A value of a declared type that is of a Rust type of its own.
    Own(Own),
}

impl Datum {
    /// Wraps a value of a Rust type of its own.
    pub fn own(value: impl OwnValue) -> Datum {
        Datum::Own(Own::new(value))
    }

    /// Returns the value of a Rust type of its own; a trap for other values.
    pub fn as_own<T: OwnValue>(&self) -> Result<&T, Trap> {
        let own = if let Datum::Own(own) = self { own.get() } else { None };
        own.ok_or_else(|| Trap::unsupported(format!("expected a {}, found {self:?}", std::any::type_name::<T>())))
    }

    /// Returns the integer; a trap for other values, which verified programs do not have here.
    pub fn int(&self) -> Result<i64, Trap> {
        match self {
            Datum::Int(v) => Ok(*v),
            other => Err(Trap::unsupported(format!("expected an integer, found {other:?}"))),
        }
    }

    /// Returns the integer that a branch depends on. Poison is undefined behavior.
    pub fn decide(&self) -> Result<i64, Trap> {
        match self {
            Datum::Poison => Err(Trap::Ub("control flow depends on poison".into())),
            other => other.int(),
        }
    }

    /// Returns the float.
    pub fn float(&self) -> Result<f64, Trap> {
        match self {
            Datum::Float(v) => Ok(*v),
            other => Err(Trap::unsupported(format!("expected a float, found {other:?}"))),
        }
    }

    /// Returns the memref. Poison is undefined behavior, as for any address.
    pub fn memref(&self) -> Result<&MemRef, Trap> {
        match self {
            Datum::MemRef(view) => Ok(view),
            Datum::Poison => Err(Trap::Ub("an access to memory at a poison address".into())),
            other => Err(Trap::unsupported(format!("expected a memref, found {other:?}"))),
        }
    }

    /// Returns the elements of a tensor or vector in row-major order; `None` if the element type has no scalar values.
    pub fn elements(&self) -> Option<Vec<Datum>> {
        let (tensor, mask) = self.masked()?;
        let mut elements: Vec<Datum> = if tensor.dtype().is_float() {
            tensor.to_f64().into_iter().map(Datum::Float).collect()
        } else if tensor.dtype() == DType::U64 {
            // They wrap, as in the other direction.
            tensor.as_slice::<u64>().iter().map(|&v| Datum::Int(v as i64)).collect()
        } else {
            ints(tensor).ok()?.into_iter().map(Datum::Int).collect()
        };
        for (element, _) in elements.iter_mut().zip(mask.unwrap_or(&[])).filter(|(_, poison)| **poison) {
            *element = Datum::Poison;
        }
        Some(elements)
    }

    /// Returns the kind of the value with its article, for messages.
    pub fn kind(&self) -> String {
        match self {
            Datum::Poison => "poison".to_owned(),
            Datum::Int(_) => "an integer".to_owned(),
            Datum::Float(_) => "a float".to_owned(),
            Datum::Tensor(tensor) => format!("a tensor of {:?} {:?}", tensor.dtype(), tensor.shape()),
            Datum::PoisonTensor(poison) => {
                let tensor = poison.tensor();
                format!("a tensor of {:?} {:?} with poison elements", tensor.dtype(), tensor.shape())
            }
            Datum::MemRef(_) => "a memref".to_owned(),
            Datum::Own(own) => format!("the value {own}"),
        }
    }

    /// Returns the tensor or vector, which has no poison elements.
    pub fn tensor(&self) -> Result<&Tensor, Trap> {
        match self {
            Datum::Tensor(t) => Ok(t),
            other => Err(Trap::unsupported(format!("expected a tensor, found {other:?}"))),
        }
    }

    /// Returns the tensor or vector, with zeros for poison elements: an operand of an op whose results are defined whatever they are.
    pub fn frozen(&self) -> Result<Tensor, Trap> {
        match self {
            Datum::PoisonTensor(poison) => Ok(poison.tensor().clone()),
            other => other.tensor().cloned(),
        }
    }
}

/// Applies a scalar function to integers, or elementwise to tensors and vectors of integers.
pub fn map_int(
    args: &[Datum],
    out: Option<DType>,
    f: impl Fn(&[i64]) -> Result<Option<i64>, Trap>,
) -> Result<Datum, Trap> {
    let Some(Datum::Tensor(first)) = args.iter().find(|a| matches!(a, Datum::Tensor(_))) else {
        let ints: Result<Vec<i64>, Trap> = args.iter().map(Datum::int).collect();
        return Ok(f(&ints?)?.map_or(Datum::Poison, Datum::Int));
    };
    let dtype = out.unwrap_or(first.dtype());
    map_elements(args, ints, f, |shape, values| ints_to_tensor(dtype, shape, &values))
}

/// Returns the integers of a tensor; `i1` is sign-extended, as scalars are.
pub(crate) fn ints(tensor: &Tensor) -> Result<Vec<i64>, Trap> {
    let mut ints = tensor.to_i64().ok_or_else(|| Trap::unsupported("expected a tensor of integers"))?;
    if tensor.dtype() == DType::Bool {
        ints.iter_mut().for_each(|v| *v = -*v);
    }
    Ok(ints)
}

/// Applies `f` to the elements of tensors of one shape. An element for which `f` returns `None` is poison.
pub(crate) fn map_elements<T: Copy + Default, R: Default>(
    data: &[Datum],
    read: impl Fn(&Tensor) -> Result<Vec<T>, Trap>,
    f: impl Fn(&[T]) -> Result<Option<R>, Trap>,
    make: impl FnOnce(&[usize], Vec<R>) -> Tensor,
) -> Result<Datum, Trap> {
    let columns = data.iter().map(|d| read(d.tensor()?)).collect::<Result<Vec<Vec<T>>, Trap>>()?;
    let first = data.first().ok_or_else(|| Trap::unsupported("a function of nothing"))?.tensor()?;
    let (shape, len) = (first.shape(), first.len());
    let mut row = vec![T::default(); columns.len()];
    let (mut results, mut mask) = (Vec::with_capacity(len), None);
    for i in 0..len {
        for (cell, column) in row.iter_mut().zip(&columns) {
            *cell = *column.get(i).ok_or_else(|| Trap::unsupported("tensors of different shapes"))?;
        }
        let result = f(&row)?;
        if result.is_none() {
            mask.get_or_insert_with(|| vec![false; len])[i] = true;
        }
        results.push(result.unwrap_or_default());
    }
    let tensor = make(shape, results);
    Ok(match mask {
        None => Datum::Tensor(tensor),
        Some(mask) => PoisonTensor::datum(tensor, mask),
    })
}

/// Returns the tensor of `values`, each wrapped to the integer type.
pub fn ints_to_tensor(dtype: DType, shape: &[usize], values: &[i64]) -> Tensor {
    match dtype {
        DType::Bool => Tensor::from_bools(shape, values.iter().map(|&v| (v & 1) as u8).collect()),
        DType::I8 => Tensor::from_vec(shape, values.iter().map(|&v| v as i8).collect()),
        DType::U8 => Tensor::from_vec(shape, values.iter().map(|&v| v as u8).collect()),
        DType::I16 => Tensor::from_vec(shape, values.iter().map(|&v| v as i16).collect()),
        DType::U16 => Tensor::from_vec(shape, values.iter().map(|&v| v as u16).collect()),
        DType::I32 => Tensor::from_vec(shape, values.iter().map(|&v| v as i32).collect()),
        DType::U32 => Tensor::from_vec(shape, values.iter().map(|&v| v as u32).collect()),
        DType::U64 => Tensor::from_vec(shape, values.iter().map(|&v| v as u64).collect()),
        narrow if narrow.is_narrow() => Tensor::from_bits(narrow, shape, values.iter().map(|&v| v as u8).collect()),
        _ => Tensor::from_vec(shape, values.to_vec()),
    }
}

/// Returns the tensor of `values`, each rounded to the float type.
pub fn floats_to_tensor(dtype: DType, shape: &[usize], values: Vec<f64>) -> Tensor {
    let singles = || values.iter().map(|&v| f32_to_odd(v));
    match (dtype, dtype.float_kind()) {
        (DType::F16, _) => Tensor::from_vec(shape, singles().map(half::f16::from_f32).collect()),
        (DType::BF16, _) => Tensor::from_vec(shape, singles().map(half::bf16::from_f32).collect()),
        (DType::F32, _) => Tensor::from_vec(shape, values.iter().map(|&v| v as f32).collect()),
        (narrow, Some(kind)) if narrow.is_narrow() => {
            let bits = |&v: &f64| crate::float::from_f64(kind, v) as u8;
            Tensor::from_bits(narrow, shape, values.iter().map(bits).collect())
        }
        _ => Tensor::from_vec(shape, values),
    }
}

/// Returns `value` as an `f32`, an inexact result rounded to the neighbour with an odd significand: rounding that to a
/// narrower format is rounding `value` once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
fn f32_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || nearest.is_nan() {
        return nearest;
    }
    let away = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float;

    /// Also those that no `i64` has.
    #[test]
    fn unsigned_elements_come_back() {
        let tensor = Tensor::from_vec(&[3], vec![u64::MAX, 1 << 63, 7]);
        let elements = Datum::Tensor(tensor.clone()).elements().expect("they are integers");
        let back = Datum::from_elements(DType::U64, &[3], &elements).expect("they are integers");
        assert_eq!(back, Datum::Tensor(tensor));
    }

    /// Numbers halfway between two neighbours of a format and a little beside them, where rounding twice goes wrong.
    #[test]
    fn floats_round_once() {
        for dtype in [DType::BF16, DType::F16] {
            let kind = dtype.float_kind().expect("a float");
            let value = |bits: u64| float::to_f64(kind, u128::from(bits));
            let halfway = (0..0x1_0000).map(|bits| (value(bits) + value((bits + 1) & 0xffff)) / 2.0);
            let beside =
                |v: f64| [v, v * (1.0 + f64::EPSILON), v * (1.0 - f64::EPSILON), v * (1.0 + 1e-9), v * (1.0 - 1e-9)];
            let all: Vec<f64> =
                halfway.flat_map(beside).chain([f64::MAX, 1e-300, -1e-300, 65519.999, 3.4e38]).collect();
            let rounded = floats_to_tensor(dtype, &[all.len()], all.clone()).to_f64();
            for (v, r) in all.iter().zip(rounded) {
                let once = float::to_f64(kind, float::from_f64(kind, *v));
                assert!(
                    r.to_bits() == once.to_bits() || r.is_nan() && once.is_nan(),
                    "{v:e} becomes {r:e}, not {once:e}"
                );
            }
        }
    }
}
