//! Products, from matrix products and convolutions.

use super::im2col::PatchedImage;
use crate::emit::Emitter;
use crate::operands::{IntegerContraction, constant, extents, requantization, zero_point};
use gradus_ir::{DType, Module, Op, OpDecl, Refusal, Tensor, Type, Value};
use gradus_machines::nna::MatMulOp;
use gradus_networks::graph::convolution;
use gradus_simulators::nna::{CHANNELS, Mapping, Shape, scale_of};

/// Largest sum that floats of 53 bits scale exactly, by factors of 24 bits.
const MAX_SUM: u64 = 1 << 29;

/// A product that a program computes, or several: those of a convolution's groups.
pub(super) struct Lowered {
    /// Extents of each product.
    pub shape: Shape,
    /// Number of products; their rows follow each other in the result.
    pub parts: usize,
    /// The given mapping.
    pub mapping: Option<Mapping>,
    pub left_zero: Option<Value>,
    pub right_zero: Option<Value>,
    pub bias: Option<Value>,
    /// Whether sums begin with terms of zero points and bias.
    pub initial: bool,
    pub requantize: Option<Requantize>,
    /// Element type of the result.
    pub element: Type,
    kind: ProductInputs,
}

/// The requantization of the sums.
#[derive(Clone)]
pub(super) struct Requantize {
    /// Zero point, of signed bytes.
    pub zero: i8,
    scales: Vec<f32>,
}

impl Requantize {
    /// Emits the scales of part `part` of the rows: one scale, or one for each of its `rows` rows. `None` if there are too few.
    pub fn scale(&self, e: &mut Emitter<'_, '_>, part: usize, rows: usize) -> Option<Value> {
        let scales =
            if self.scales.len() == 1 { &self.scales } else { self.scales.get(part * rows..(part + 1) * rows)? };
        e.constant(&Tensor::from_vec(&[scales.len()], scales.to_vec()), Type::F32)
    }
}

/// The operands as they are in the program.
enum ProductInputs {
    /// `[M, K]` and `[K, N]`; or, transposed, `[N, K]` and `[K, M]`, whose product is the transpose.
    Matrices { left: Value, right: Value, is_transposed: bool },
    /// Filters, those of groups in one product with zeros, and the image as a matrix of patches.
    Convolution { filters: Filters, image: Box<PatchedImage>, result: Vec<i64> },
}

/// The filters of a convolution as a matrix.
enum Filters {
    /// `[M, C, K...]`, of which each part has a group at most.
    Whole(Value),
    /// A constant, with zero points for the channels of other groups.
    Constant(Tensor, Type),
}

impl Lowered {
    /// Returns the ways in which an op can be lowered, at least one.
    pub fn of(m: &Module, op: Op) -> Result<Vec<Lowered>, Refusal> {
        if let Some(op) = MatMulOp::cast(m, op) {
            let is_diagonal = op.mapping(m).and_then(|attr| m.ctx.as_int(attr)) == Some(0);
            let mapping = if is_diagonal { Mapping::Diagonal } else { Mapping::Dense };
            let operands = [op.a(m), op.b(m)];
            return matrices(m, operands, [op.a_zero_point(m), op.b_zero_point(m)], None, Some(mapping), op.y(m));
        }
        let product = IntegerContraction::of(m, op).ok_or("not a product of integers")?;
        let requantize = product.requantization.map(|(scales, zero)| requantize(m, scales, zero)).transpose()?;
        match product.is_conv {
            true => convolve(m, op, &product, requantize.as_ref()),
            false => matrices(m, product.factors, product.zeros, requantize.as_ref(), None, m.result(op, 0)),
        }
    }

    /// Returns the number of elements that the host moves to make a matrix of an image.
    pub fn moved(&self) -> u64 {
        let Shape { depth, columns, .. } = self.shape;
        match self.kind {
            ProductInputs::Matrices { .. } => 0,
            ProductInputs::Convolution { .. } => [self.parts, depth, columns].map(|n| n as u64).iter().product(),
        }
    }

    /// Emits both operands of the program for each part.
    pub fn operands(&self, e: &mut Emitter<'_, '_>) -> Option<Vec<[Value; 2]>> {
        match &self.kind {
            ProductInputs::Matrices { left, right, is_transposed: false } => Some(vec![[*left, *right]]),
            ProductInputs::Matrices { left, right, .. } => Some(vec![[e.transpose(*left)?, e.transpose(*right)?]]),
            ProductInputs::Convolution { filters, image, .. } => {
                let filters = match filters {
                    Filters::Whole(value) => *value,
                    Filters::Constant(tensor, element) => e.constant(tensor, *element)?,
                };
                let Shape { rows, depth, columns } = self.shape;
                let filters = e.reshape(filters, &[(self.parts * rows) as i64, depth as i64])?;
                let image = image.matrix(e)?;
                let part = |i: usize| {
                    Some([self.part(e, filters, i, rows, &[depth])?, self.part(e, image, i, depth, &[columns])?])
                };
                (0..self.parts).map(part).collect()
            }
        }
    }

    /// Emits the `len` elements of a part along the first axis; `rest` are the other extents.
    fn part(&self, e: &mut Emitter<'_, '_>, value: Value, part: usize, len: usize, rest: &[usize]) -> Option<Value> {
        if self.parts == 1 {
            return Some(value);
        }
        let others = |first: usize, rest: &[usize]| -> Vec<i64> {
            std::iter::once(first).chain(rest.iter().copied()).map(|d| d as i64).collect()
        };
        let starts = others(part * len, &vec![0; rest.len()]);
        e.slice_from(value, &starts, &others((part + 1) * len, rest), &vec![1; starts.len()])
    }

    /// Emits the elements of a part of a list with one for each row of all parts. A value for all rows stays as it is.
    pub fn of_rows(&self, e: &mut Emitter<'_, '_>, value: Value, part: usize) -> Option<Value> {
        let rows = [(self.parts * self.shape.rows) as i64];
        let is_list = e.m().ctx.static_shape(e.m().value_type(value)) == Some(&rows[..]);
        if is_list { self.part(e, value, part, self.shape.rows, &[]) } else { Some(value) }
    }

    /// Emits the op's result from those of the parts, `[M, N]`.
    pub fn result(&self, e: &mut Emitter<'_, '_>, parts: &[Value]) -> Option<Value> {
        let value = if let [value] = parts { *value } else { e.concat(parts, 0)? };
        match &self.kind {
            ProductInputs::Matrices { is_transposed: false, .. } => Some(value),
            ProductInputs::Matrices { .. } => e.transpose(value),
            ProductInputs::Convolution { image, result, .. } if image.batch > 1 => {
                let split = [self.parts * self.shape.rows, image.batch, image.positions()].map(|d| d as i64);
                let value = e.reshape(value, &split)?;
                let value = e.permute(value, &[1, 0, 2])?;
                e.reshape(value, result)
            }
            ProductInputs::Convolution { result, .. } => e.reshape(value, result),
        }
    }
}

/// Returns the requantization by `a_scale * b_scale / y_scale`, each rounded to f32, if all are constant. A list of scales is
/// that of `b`.
fn requantize(m: &Module, scales: [Value; 3], zero: Value) -> Result<Requantize, Refusal> {
    let scales = requantization(m, scales)?;
    let is_known = scales.iter().all(|&scale| scale_of(scale).is_some());
    is_known.then_some(()).ok_or("a scale that the factors of the machine do not reach")?;
    let is_unsigned = constant(m, zero)?.dtype() == DType::U8;
    let offset = if is_unsigned { 128 } else { 0 };
    Ok(Requantize { zero: (zero_point(m, zero)? - offset) as i8, scales })
}

/// Whether bytes are signed, and their zero point is absent or a constant of zeros.
fn is_symmetric(m: &Module, x: Value, zero: Option<Value>) -> bool {
    let is_signed = m.ctx.dtype(m.ctx.element_type(m.value_type(x))) == Some(DType::I8);
    let is_zero = |zero| constant(m, zero).is_ok_and(|zero| zero.to_f64().iter().all(|&z| z == 0.0));
    is_signed && zero.is_none_or(is_zero)
}

/// Checks that sums of `depth` products plus a bias, if they are scaled, stay in the range in which scaling is exact.
fn check_sums(m: &Module, depth: usize, bias: Option<Value>, is_scaled: bool) -> Result<(), Refusal> {
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

/// Returns a product and that of the transposes, where zero points and scales allow them.
fn matrices(
    m: &Module,
    [a, b]: [Value; 2],
    [a_zero, b_zero]: [Option<Value>; 2],
    requantize: Option<&Requantize>,
    mapping: Option<Mapping>,
    y: Value,
) -> Result<Vec<Lowered>, Refusal> {
    let matrix = |value: Value| match extents(m, value)?[..] {
        [rows, columns] => Ok([rows, columns]),
        ref dims => Err(Refusal::of(value, "{} axes").with([dims.len()])),
    };
    let ([rows, depth], [_, columns]) = (matrix(a)?, matrix(b)?);
    check_sums(m, depth, None, requantize.is_some())?;
    let initial = !is_symmetric(m, a, a_zero) || !is_symmetric(m, b, b_zero);
    let element = m.ctx.element_type(m.value_type(y));
    let lowered = |is_transposed: bool| {
        let [left, right, left_zero, right_zero] =
            if is_transposed { [Some(b), Some(a), b_zero, a_zero] } else { [Some(a), Some(b), a_zero, b_zero] };
        let (rows, columns) = if is_transposed { (columns, rows) } else { (rows, columns) };
        let kind = ProductInputs::Matrices { left: left?, right: right?, is_transposed };
        let shape = Shape { rows, depth, columns };
        let requantize = requantize.cloned();
        Some(Lowered {
            shape,
            parts: 1,
            mapping,
            left_zero,
            right_zero,
            bias: None,
            initial,
            requantize,
            element,
            kind,
        })
    };
    // Scales are per row of the left matrix: those of `b` are so after transposition.
    let has_scales = requantize.is_some_and(|r| r.scales.len() > 1);
    let straight = if has_scales { None } else { lowered(false) };
    let turned = if mapping.is_some() { None } else { lowered(true) };
    let both: Vec<Lowered> = straight.into_iter().chain(turned).collect();
    (!both.is_empty()).then_some(both).ok_or(Refusal::from("scales of columns in a given mapping"))
}

/// Returns the product of a convolution's filters and patches, and its divisions into products of some groups each.
fn convolve(
    m: &Module,
    op: Op,
    &IntegerContraction { factors: [x, w], zeros: [x_zero, w_zero], bias, .. }: &IntegerContraction,
    requantize: Option<&Requantize>,
) -> Result<Vec<Lowered>, Refusal> {
    let y = m.result(op, 0);
    let (groups, window) = convolution(m, op).map_err(|_| "a window that its operands do not have")?;
    let (image, filters) = (extents(m, x)?, extents(m, w)?);
    let (&[batch, channels, ..], &[rows, ..]) = (&image[..], &filters[..]) else {
        return Err(Refusal::of(x, "{} axes").with([image.len()]));
    };
    let result = m.ctx.static_shape(m.value_type(y)).ok_or(Refusal::of(y, "an unknown extent"))?.to_vec();
    let is_scalar = |zero: &Value| m.ctx.static_shape(m.value_type(*zero)).is_some_and(<[i64]>::is_empty);
    if let Some(zero) = x_zero.filter(|zero| !is_scalar(zero)) {
        return Err(Refusal::of(zero, "a zero point of padding that is not a scalar"));
    }
    let initial = bias.is_some() || !is_symmetric(m, x, x_zero) || !is_symmetric(m, w, w_zero);
    let lowered = |parts: usize| {
        let image = PatchedImage { value: x, pad: x_zero, batch, channels, window: window.clone() };
        let depth = channels / parts * image.taps();
        let shape = Shape { rows: rows / parts, depth, columns: batch * image.positions() };
        (shape.columns > 0).then_some(()).ok_or(Refusal::of(y, "an extent of 0"))?;
        check_sums(m, shape.depth, bias, requantize.is_some())?;
        let filters = if groups == parts { Filters::Whole(w) } else { grouped(m, w, w_zero, groups / parts, shape)? };
        Ok(Lowered {
            shape,
            parts,
            mapping: None,
            left_zero: w_zero,
            right_zero: x_zero,
            bias,
            initial,
            requantize: requantize.cloned(),
            element: m.ctx.element_type(m.value_type(y)),
            kind: ProductInputs::Convolution { filters, image: Box::new(image), result: result.clone() },
        })
    };
    // If none is possible, the last one has the fewest channels.
    let (mut possible, mut refused) = (Vec::new(), None);
    for parts in parts(groups, rows) {
        match lowered(parts) {
            Ok(lowered) => possible.push(lowered),
            Err(refusal) => refused = Some(refusal),
        }
    }
    match refused.filter(|_| possible.is_empty()) {
        Some(refusal) => Err(refusal),
        None => Ok(possible),
    }
}

/// Returns the numbers of products into which a convolution with groups may be divided; cost chooses among them. 1: one product, with
/// zeros for the channels of other groups; `groups`: one for each group; and the least numbers whose rows fit into one or two kernels.
fn parts(groups: usize, rows: usize) -> Vec<usize> {
    let mut found = vec![1, groups];
    for most in [CHANNELS, 2 * CHANNELS] {
        found.extend((1..=groups).find(|parts| groups.is_multiple_of(*parts) && rows / parts <= most));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns constant filters of products of `groups` groups each, with zero points for the channels of other groups.
fn grouped(m: &Module, w: Value, zero: Option<Value>, groups: usize, shape: Shape) -> Result<Filters, Refusal> {
    let tensor = constant(m, w)?;
    let zeros = match zero {
        Some(zero) => constant(m, zero)?.bytes().to_vec(),
        None => vec![0],
    };
    let (of_group, rows) = (shape.depth / groups, shape.rows / groups);
    let num_rows = tensor.len() / of_group;
    let mut bytes = Vec::with_capacity(num_rows * shape.depth);
    for (row, filter) in tensor.bytes().chunks_exact(of_group).enumerate() {
        let start = bytes.len();
        let of_row = zeros.get(if zeros.len() == 1 { 0 } else { row });
        bytes.resize(start + shape.depth, *of_row.ok_or("zero points of other rows")?);
        bytes[start + row % shape.rows / rows * of_group..][..of_group].copy_from_slice(filter);
    }
    let tensor = Tensor::new(tensor.dtype(), vec![num_rows, shape.depth], bytes.into());
    let tensor = tensor.map_err(|_| Refusal::of(w, "filters of other groups"))?;
    Ok(Filters::Constant(tensor, m.ctx.element_type(m.value_type(w))))
}
