//! Observable values and memory, and their refinement.

use gradus_ir::eval::{Datum, ints_to_tensor};
use gradus_ir::memory::Memory;
use gradus_ir::{DType, Tensor};

/// A value as a caller observes it.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A value other than a memref.
    Value(Datum),
    /// A memref: its buffer if it is one of the arguments', its sizes, and its elements. `elements` is `None` if the
    /// memory is freed or too large.
    Memory {
        /// Index of the argument buffer.
        buffer: Option<u32>,
        /// The extent of each dimension.
        sizes: Vec<i64>,
        /// Last dimension fastest.
        elements: Option<Vec<Datum>>,
    },
    /// Values of a lowered program that represent no value of the original's type.
    Nothing(Vec<Seen>),
}

impl Seen {
    pub(crate) fn of(memory: &Memory, datum: &Datum) -> Seen {
        match datum {
            Datum::MemRef(view) => {
                Seen::Memory { buffer: None, sizes: view.sizes.to_vec(), elements: memory.contents(view).ok() }
            }
            other => Seen::Value(other.clone()),
        }
    }

    /// Returns the elements; unknown memory has none.
    pub(crate) fn elements(&self) -> Vec<Datum> {
        match self {
            Seen::Value(datum) => elements_of(datum),
            Seen::Memory { elements, .. } => elements.clone().unwrap_or_default(),
            Seen::Nothing(_) => Vec::new(),
        }
    }

    /// Returns the extents; those of a scalar are none.
    pub(crate) fn shape(&self) -> Vec<usize> {
        match self {
            Seen::Nothing(_) => Vec::new(),
            Seen::Value(Datum::Own(_)) => vec![self.elements().len()],
            Seen::Value(datum) => datum.shape().unwrap_or(&[]).to_vec(),
            Seen::Memory { sizes, .. } => sizes.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect(),
        }
    }

    /// Replaces 8-bit integers of a tensor that are one step from those of `before` by them, where one of `others` differs from
    /// `before` too. `free`: if not 0, the steps by which they may differ without that, or as much as one of `others`.
    pub(crate) fn snap(&mut self, before: &Seen, others: &[&Seen], free: u64) {
        let (Some((dtype, have)), Some((other, want))) = (self.bytes(), before.bytes()) else { return };
        if dtype != other || have.len() != want.len() {
            return;
        }
        let others: Vec<Vec<i64>> = others.iter().filter_map(|other| Some(other.bytes()?.1)).collect();
        let others: Vec<Vec<i64>> = others.into_iter().filter(|other| other.len() == want.len()).collect();
        let moves_by = |i: usize, least: u64| others.iter().any(|other| other[i].abs_diff(want[i]) >= least);
        let is_excused = |i: usize, by: u64| match free {
            0 => by == 1 && moves_by(i, 1),
            _ => by <= free || moves_by(i, by),
        };
        let snapped = |i: usize| if is_excused(i, have[i].abs_diff(want[i])) { want[i] } else { have[i] };
        let snapped: Vec<i64> = (0..have.len()).map(snapped).collect();
        if let Seen::Value(Datum::Tensor(after)) = self {
            *after = ints_to_tensor(dtype, after.shape(), &snapped);
        }
    }

    /// Returns the elements of a tensor of 8-bit integers.
    fn bytes(&self) -> Option<(DType, Vec<i64>)> {
        let Seen::Value(Datum::Tensor(tensor)) = self else { return None };
        let dtype = tensor.dtype();
        Some((dtype, tensor.to_i64()?)).filter(|_| matches!(dtype, DType::I8 | DType::U8))
    }

    /// Whether it is poison, or all its elements are.
    pub fn is_poison(&self) -> bool {
        matches!(self, Seen::Value(datum) if datum.is_all_poison())
    }

    /// Whether it refines the value `before`.
    pub(crate) fn refines(&self, before: &Seen, same: Same) -> bool {
        match (before, self) {
            (Seen::Value(before), Seen::Value(after)) => refines_by(before, after, same),
            (Seen::Value(Datum::Poison), _) => true,
            (
                Seen::Memory { buffer, sizes, elements },
                Seen::Memory { buffer: other_buffer, sizes: other_sizes, elements: others },
            ) => {
                buffer == other_buffer
                    && (elements.is_none() || sizes == other_sizes)
                    && holds(elements.as_ref(), others.as_ref(), same)
            }
            _ => false,
        }
    }
}

/// Returns the elements of a tensor or vector, or those of all parts of a value; a scalar is its own.
fn elements_of(datum: &Datum) -> Vec<Datum> {
    if let Datum::Own(own) = datum
        && let Some(parts) = own.parts()
    {
        return parts.iter().flat_map(|part| elements_of(&Datum::Tensor(part.clone()))).collect();
    }
    datum.elements().unwrap_or_else(|| vec![datum.clone()])
}

pub(crate) fn floats_of(data: &[Datum]) -> Vec<Option<f64>> {
    let float = |datum: &Datum| if let Datum::Float(value) = datum { Some(*value) } else { None };
    data.iter().map(float).collect()
}

/// Returns a number, or the elements of a tensor or vector of numbers.
pub(crate) fn numbers_of(datum: &Datum) -> Vec<f64> {
    match datum {
        Datum::Float(number) => vec![*number],
        other => other.masked().map_or_else(Vec::new, |(tensor, _)| tensor.to_f64()),
    }
}

/// Whether an element of a tensor or vector of floats is subnormal.
pub(crate) fn has_subnormal(datum: &Datum) -> bool {
    datum.masked().is_some_and(|(tensor, _)| {
        let least = match tensor.dtype() {
            DType::F16 => f64::exp2(-14.0),
            DType::F32 | DType::BF16 => f64::from(f32::MIN_POSITIVE),
            _ => return false,
        };
        tensor.to_f64().into_iter().any(|number| number != 0.0 && number.abs() < least)
    })
}

pub(crate) fn all_refine(before: &[Datum], after: &[Datum], same: Same) -> bool {
    before.len() == after.len() && before.iter().zip(after).all(|(before, after)| refines_by(before, after, same))
}

/// Equality of floats.
pub(crate) type Same = fn(f64, f64) -> bool;

/// Whether two floats are equal bit by bit; all NaN are equal.
pub(crate) fn same_bits(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Whether `after` refines `before`, element by element: anything refines poison, and any NaN refines a NaN.
pub fn refines(before: &Datum, after: &Datum) -> bool {
    refines_by(before, after, same_bits)
}

pub(crate) fn refines_by(before: &Datum, after: &Datum, same: Same) -> bool {
    match (before, after) {
        (Datum::Poison, _) => true,
        (Datum::Float(a), Datum::Float(b)) => same(*a, *b),
        (Datum::Tensor(a), Datum::Tensor(b)) => are_same(a, b, same),
        (Datum::PoisonTensor(_), Datum::Poison) => before.is_all_poison(),
        (Datum::PoisonTensor(_), _) | (_, Datum::PoisonTensor(_)) => {
            let elements = || Some((before.elements()?, after.elements()?));
            before.shape() == after.shape() && elements().is_some_and(|(a, b)| all_refine(&a, &b, same))
        }
        (Datum::Own(a), Datum::Own(b)) => match (a.parts(), b.parts()) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_same(a, b, same)),
            _ => a == b,
        },
        (a, b) => a == b,
    }
}

/// Whether tensors are equal, their floats as `same` says.
fn are_same(a: &Tensor, b: &Tensor, same: Same) -> bool {
    if !(a.dtype().is_float() && b.dtype().is_float()) {
        return a == b;
    }
    a.shape() == b.shape() && a.to_f64().into_iter().zip(b.to_f64()).all(|(a, b)| same(a, b))
}

/// Whether memory contents refine those before. Freed memory may have any contents.
pub(crate) fn holds(before: Option<&Vec<Datum>>, after: Option<&Vec<Datum>>, same: Same) -> bool {
    before.is_none_or(|before| after.is_some_and(|after| all_refine(before, after, same)))
}
