//! Run-time values of an interpreted program.

use crate::values::memref::MemRef;
use crate::values::numbers::{floats_to_tensor, ints, ints_to_tensor};
use crate::values::own_value::{Own, OwnValue};
use crate::values::poison_tensor::PoisonTensor;
use crate::values::tensor::{DType, Tensor, checked_len};
use crate::values::trap::Trap;

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

impl PoisonTensor {
    /// Returns `tensor` with the elements at which `mask` is true poison. Both are in row-major order.
    pub fn datum(tensor: Tensor, mask: Vec<bool>) -> Datum {
        debug_assert_eq!(tensor.len(), mask.len());
        if !mask.contains(&true) {
            return Datum::Tensor(tensor);
        }
        Datum::PoisonTensor(Box::new(PoisonTensor::new(&tensor, mask)))
    }

    /// Returns a tensor whose elements are all poison; `None` if its size overflows.
    pub fn all(dtype: DType, shape: &[usize]) -> Option<Datum> {
        let n = checked_len(shape)?;
        let tensor = Tensor::new(dtype, shape.to_vec(), vec![0; n.checked_mul(dtype.size())?].into()).ok()?;
        Some(PoisonTensor::datum(tensor, vec![true; n]))
    }
}

impl Datum {
    /// Creates a tensor or vector of scalars in row-major order, which may be poison.
    pub fn from_elements(dtype: DType, shape: &[usize], scalars: &[Datum]) -> Result<Datum, Trap> {
        if checked_len(shape) != Some(scalars.len()) {
            return Err(Trap::unsupported(format!("{} elements for the shape {shape:?}", scalars.len())));
        }
        let tensor = if dtype.is_float() {
            let floats = scalars.iter().map(|s| if *s == Datum::Poison { Ok(0.0) } else { s.float() });
            floats_to_tensor(dtype, shape, floats.collect::<Result<Vec<f64>, Trap>>()?)
        } else {
            let ints = scalars.iter().map(|s| if *s == Datum::Poison { Ok(0) } else { s.int() });
            ints_to_tensor(dtype, shape, &ints.collect::<Result<Vec<i64>, Trap>>()?)
        };
        Ok(match scalars.contains(&Datum::Poison) {
            true => PoisonTensor::datum(tensor, scalars.iter().map(|s| *s == Datum::Poison).collect()),
            false => Datum::Tensor(tensor),
        })
    }

    /// Whether the value is poison or has poison elements.
    pub fn has_poison(&self) -> bool {
        matches!(self, Datum::Poison | Datum::PoisonTensor(_))
    }

    /// Whether the value is poison, or all its elements are.
    pub fn is_all_poison(&self) -> bool {
        match self {
            Datum::Poison => true,
            Datum::PoisonTensor(tensor) => !tensor.mask().contains(&false),
            _ => false,
        }
    }

    /// Reads the bytes of a tensor as elements of another type. A NaN has unspecified bits: elements of others that have its bytes are
    /// poison.
    ///
    /// # Errors
    /// The sizes differ.
    pub fn bitcast(tensor: &Tensor, to: DType, shape: Vec<usize>) -> Result<Datum, Trap> {
        let (from, cast) = (tensor.dtype(), Tensor::new(to, shape, tensor.bytes().clone())?);
        if !from.is_float() || from == to {
            return Ok(Datum::Tensor(cast));
        }
        let numbers = tensor.to_f64().into_iter();
        let bytes: Vec<bool> = numbers.flat_map(|number| std::iter::repeat_n(number.is_nan(), from.size())).collect();
        Ok(PoisonTensor::datum(cast, bytes.chunks(to.size()).map(|bytes| bytes.contains(&true)).collect()))
    }

    /// Returns the tensor or vector with the mask of its poison elements, if it has any.
    pub fn masked(&self) -> Option<(&Tensor, Option<&[bool]>)> {
        match self {
            Datum::Tensor(tensor) => Some((tensor, None)),
            Datum::PoisonTensor(poison) => Some((poison.tensor(), Some(poison.mask()))),
            _ => None,
        }
    }

    /// Returns the extents of a tensor or vector, outermost first.
    pub fn shape(&self) -> Option<&[usize]> {
        self.masked().map(|(tensor, _)| tensor.shape())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Also those that no `i64` has.
    #[test]
    fn unsigned_elements_come_back() {
        let tensor = Tensor::from_vec(&[3], vec![u64::MAX, 1 << 63, 7]);
        let elements = Datum::Tensor(tensor.clone()).elements().expect("they are integers");
        let back = Datum::from_elements(DType::U64, &[3], &elements).expect("they are integers");
        assert_eq!(back, Datum::Tensor(tensor));
    }

    #[test]
    fn a_mask_without_poison_is_dropped() {
        let tensor = Tensor::from_vec(&[2], vec![1i32, 2]);
        assert_eq!(PoisonTensor::datum(tensor.clone(), vec![false; 2]), Datum::Tensor(tensor.clone()));
        let half = PoisonTensor::datum(tensor, vec![true, false]);
        // Poison elements of different bytes are equal.
        let other = PoisonTensor::datum(Tensor::from_vec(&[2], vec![7i32, 2]), vec![true, false]);
        assert_eq!(half, other);
        assert_eq!(half.elements(), Some(vec![Datum::Poison, Datum::Int(2)]));
        assert!(half.has_poison() && !half.is_all_poison());
    }

    #[test]
    fn bits_of_a_nan_are_poison() {
        let tensor = Tensor::from_vec(&[3], vec![1.0_f32, f32::NAN, 2.0]);
        let cast = |to, len| Datum::bitcast(&tensor, to, vec![len]).expect("as many bytes").elements();
        let one = |bits: u32| Datum::Int(i64::from(bits));
        assert_eq!(cast(DType::I32, 3), Some(vec![one(0x3F80_0000), Datum::Poison, one(0x4000_0000)]));
        let halves = [one(0), one(0x3F80), Datum::Poison, Datum::Poison, one(0), one(0x4000)];
        assert_eq!(cast(DType::I16, 6), Some(halves.to_vec()));
        assert_eq!(Datum::bitcast(&tensor, DType::F32, vec![3]), Ok(Datum::Tensor(tensor.clone())));
        let pair = Tensor::from_vec(&[2], vec![f32::NAN, 1.0]);
        assert_eq!(
            Datum::bitcast(&pair, DType::I64, vec![1]).expect("as many bytes").elements(),
            Some(vec![Datum::Poison])
        );
    }

    #[test]
    fn elements_make_a_tensor() {
        let scalars = [Datum::Int(-1), Datum::Poison];
        let bits = Datum::from_elements(DType::Bool, &[2], &scalars).expect("two elements");
        assert_eq!(bits.elements().as_deref(), Some(&scalars[..]));
        assert!(Datum::from_elements(DType::I8, &[3], &scalars).is_err());
        let none = PoisonTensor::all(DType::F32, &[0, 4]).expect("a small tensor");
        assert!(!none.has_poison());
        assert_eq!(PoisonTensor::all(DType::F64, &[usize::MAX, 2]), None);
    }
}
