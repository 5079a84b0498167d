//! Terms that are added once per output, and the requantization of sums.

use crate::emit::Emitter;
use crate::operands::{constant, requantization, zero_point};
use gradus_ir::{DType, Module, Refusal, Tensor, Type, Value};
use gradus_simulators::nna::scale_of;

/// Largest sum that floats of 53 bits scale exactly, by factors of 24 bits.
const MAX_SUM: u64 = 1 << 29;

/// Zero points or a bias: one element, or one for each row of all left parts, or for each column of all right parts.
#[derive(Clone)]
pub(super) struct TermList {
    pub value: Value,
    /// The extents of the value without the summed axis, and those to which they broadcast; `None` for one element.
    pub extents: Option<[Vec<i64>; 2]>,
}

impl TermList {
    /// Emits the parameters of each part, of `len` elements, or the only one.
    pub fn parts(&self, e: &mut Emitter<'_, '_>, len: usize) -> Option<Vec<Value>> {
        let Some([own, all]) = &self.extents else { return Some(vec![self.value]) };
        let value = e.reshape(self.value, own)?;
        let value = e.expand(value, all)?;
        let value = e.reshape(value, &[all.iter().product()])?;
        e.parts(value, 0, len)
    }
}

/// The requantization of the sums.
#[derive(Clone)]
pub(super) struct Requantize {
    /// Zero point, of signed bytes.
    pub zero: i8,
    /// One scale, or one for each row of the result.
    pub scales: Vec<f32>,
}

impl Requantize {
    /// Returns the requantization by `a_scale * b_scale / y_scale`, each rounded to f32, if all are constant. A list of scales is
    /// that of `b`.
    pub fn of(m: &Module, scales: [Value; 3], zero: Value) -> Result<Requantize, Refusal> {
        let scales = requantization(m, scales)?;
        let is_known = scales.iter().all(|&scale| scale_of(scale).is_some());
        is_known.then_some(()).ok_or("a scale that the factors of the machine do not reach")?;
        let is_unsigned = constant(m, zero)?.dtype() == DType::U8;
        let offset = if is_unsigned { 128 } else { 0 };
        Ok(Requantize { zero: (zero_point(m, zero)? - offset) as i8, scales })
    }

    /// Emits the scales of part `part` of the rows: one scale, or one for each of its `rows` rows. `None` if there are too few.
    pub fn scale(&self, e: &mut Emitter<'_, '_>, part: usize, rows: usize) -> Option<Value> {
        let scales =
            if self.scales.len() == 1 { &self.scales } else { self.scales.get(part * rows..(part + 1) * rows)? };
        e.constant(&Tensor::from_vec(&[scales.len()], scales.to_vec()), Type::F32)
    }
}

/// Returns the number of elements of some extents.
pub(super) fn elements(extents: impl IntoIterator<Item = usize>) -> u64 {
    extents.into_iter().fold(1, |n, extent| n.saturating_mul(extent as u64))
}

/// Whether bytes are signed, and their zero point is absent or a constant of zeros.
pub(super) fn is_symmetric(m: &Module, x: Value, zero: Option<Value>) -> bool {
    let is_signed = m.ctx.dtype(m.ctx.element_type(m.value_type(x))) == Some(DType::I8);
    let is_zero = |zero| constant(m, zero).is_ok_and(|zero| zero.to_f64().iter().all(|&z| z == 0.0));
    is_signed && zero.is_none_or(is_zero)
}

/// Checks that sums of `depth` products plus a bias, if they are scaled, stay in the range in which scaling is exact.
pub(super) fn check_sums(m: &Module, depth: usize, bias: Option<Value>, is_scaled: bool) -> Result<(), Refusal> {
    if !is_scaled {
        return Ok(());
    }
    let largest = match bias {
        None => 0,
        Some(bias) => constant(m, bias)?.to_f64().iter().fold(0.0, |a: f64, b| a.max(b.abs())) as u64,
    };
    let products = depth as u64 * (255 * 255);
    (products + largest < MAX_SUM).then_some(()).ok_or("sums that may exceed 2^29".into())
}
