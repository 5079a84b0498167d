//! Products, from matrix products and convolutions.

use crate::emit::Emitter;
use crate::operands::{constant, requantization, zero_point};
use gradus_ir::{Attr, DType, Module, OpDecl, Refusal, Tensor, Type, Value};
use gradus_machines::nna::CallOp;
use gradus_simulators::nna::{MAX_DEPTH, Mapping, Shape, scale_of};
use std::ops::Range;

/// Largest sum that floats of 53 bits scale exactly, by factors of 24 bits.
const MAX_SUM: u64 = 1 << 29;

/// A product that a program computes, or several: those of batches, or of a convolution's groups.
pub(super) struct Lowered {
    /// Extents of each product.
    pub shape: Shape,
    /// The products: of each, the number of its part of the left and of the right matrix. Their rows follow each other in the result.
    pub parts: Vec<[usize; 2]>,
    /// The given mapping.
    pub mapping: Option<Mapping>,
    pub left_zero: Option<ProductTerm>,
    pub right_zero: Option<ProductTerm>,
    pub bias: Option<ProductTerm>,
    /// Whether sums begin with terms of zero points and bias.
    pub initial: bool,
    pub requantize: Option<Requantize>,
    /// Element type of the result.
    pub element: Type,
    pub inputs: Box<dyn ProductInputs>,
}

/// Zero points or a bias: one element, or one for each row of all left parts, or for each column of all right parts.
#[derive(Clone)]
pub(super) struct ProductTerm {
    pub value: Value,
    /// The extents of the value without the summed axis, and those to which they broadcast; `None` for one element.
    pub extents: Option<[Vec<i64>; 2]>,
}

impl ProductTerm {
    /// Emits the parameters of each part, of `len` elements, or the only one.
    fn parts(&self, e: &mut Emitter<'_, '_>, len: usize) -> Option<Vec<Value>> {
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
    fn scale(&self, e: &mut Emitter<'_, '_>, part: usize, rows: usize) -> Option<Value> {
        let scales =
            if self.scales.len() == 1 { &self.scales } else { self.scales.get(part * rows..(part + 1) * rows)? };
        e.constant(&Tensor::from_vec(&[scales.len()], scales.to_vec()), Type::F32)
    }
}

/// The operands and the result as they are in the program: matrices, or filters and an image.
pub(super) trait ProductInputs {
    /// Returns the number of elements that the host moves to make the operands of the parts.
    fn moved(&self, m: &Module) -> u64;

    /// Whether the host reorders the result.
    fn turns_result(&self) -> bool;

    /// Emits all left parts as `[.., K]`, and all right parts below each other as `[.., N]`.
    fn operands(&self, e: &mut Emitter<'_, '_>) -> Option<[Value; 2]>;

    /// Emits the op's result from the rows of all parts.
    fn result(&self, e: &mut Emitter<'_, '_>, value: Value) -> Option<Value>;
}

impl Lowered {
    /// Returns the parts into which the reduction is divided, so that sums fit in 32 bits.
    pub fn depths(&self) -> Vec<Range<usize>> {
        let depth = self.shape.depth;
        let each = depth.div_ceil(depth.div_ceil(MAX_DEPTH).max(1)).max(1);
        (0..depth).step_by(each).map(|start| start..depth.min(start + each)).collect()
    }

    /// Returns the number of elements that the host moves, and adds, around the programs.
    pub fn moved(&self, m: &Module) -> u64 {
        let Shape { rows, depth, columns } = self.shape;
        let (parts, depths) = (self.parts.len() as u64, self.depths().len() as u64);
        let result = elements([self.parts.len(), rows, columns]);
        let columns_of_left = if depths > 1 && rows > 1 { elements([self.parts.len(), rows, depth]) } else { 0 };
        let (inputs, is_turned) = (self.inputs.moved(m), self.inputs.turns_result());
        let results = depths - 1 + u64::from(parts > 1) + u64::from(is_turned);
        inputs.saturating_add(columns_of_left).saturating_add(result.saturating_mul(results))
    }

    /// Emits the calls of the programs, one for each part of the reduction, and returns the op's result.
    pub fn emit(&self, e: &mut Emitter<'_, '_>, programs: &[Attr]) -> Option<Value> {
        let Shape { rows, depth, columns } = self.shape;
        let [left, right] = self.inputs.operands(e)?;
        let [left, right] = [e.parts(left, 0, rows)?, e.parts(right, 0, depth)?];
        let mut lists = Vec::new();
        for (parameters, len) in [(&self.left_zero, rows), (&self.right_zero, columns), (&self.bias, rows)] {
            lists.push(parameters.as_ref().map_or(Some(Vec::new()), |list| list.parts(e, len))?);
        }
        let mut results = Vec::with_capacity(self.parts.len());
        for (part, &[i, j]) in self.parts.iter().enumerate() {
            let scale = match &self.requantize {
                Some(requantize) => Some(requantize.scale(e, part, rows)?),
                None => None,
            };
            let of_part = |list: &[Value], i: usize| list.get(if list.len() == 1 { 0 } else { i }).copied();
            let terms = [of_part(&lists[0], i), of_part(&lists[1], j), of_part(&lists[2], i), scale];
            results.push(self.sum(e, [left[i], right[j]], terms, programs)?);
        }
        let all = e.concat(&results, 0)?;
        self.inputs.result(e, all)
    }

    /// Emits a product as the sum of those of the parts of the reduction. Terms are zero points, bias and scale.
    fn sum(
        &self,
        e: &mut Emitter<'_, '_>,
        [left, right]: [Value; 2],
        terms: [Option<Value>; 4],
        programs: &[Attr],
    ) -> Option<Value> {
        let ty = e.m().ctx.tensor_type(&[self.shape.rows as i64, self.shape.columns as i64], self.element);
        let mut sum = None;
        for (range, &program) in self.depths().into_iter().zip(programs) {
            let (a, b) = (e.part(left, 1, range.clone())?, e.part(right, 0, range)?);
            let [a_zero, b_zero, bias, scale] = &terms;
            let groups = [&[a], &[b], a_zero.as_slice(), b_zero.as_slice(), bias.as_slice(), scale.as_slice()];
            let call = e.op(CallOp::INFO.name, &groups, &[("callee", program)], &[ty])?;
            let product = e.m().result(call, 0);
            sum = Some(match sum {
                Some(sum) => e.add(sum, product)?,
                None => product,
            });
        }
        sum
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

/// Returns the alternatives that are possible.
///
/// # Errors
/// None is possible; the reason of the last one.
pub(super) fn possible(alternatives: impl Iterator<Item = Result<Lowered, Refusal>>) -> Result<Vec<Lowered>, Refusal> {
    let (mut possible, mut refused) = (Vec::new(), Refusal::from("no mapping"));
    for alternative in alternatives {
        match alternative {
            Ok(lowered) => possible.push(lowered),
            Err(refusal) => refused = refusal,
        }
    }
    if possible.is_empty() { Err(refused) } else { Ok(possible) }
}
