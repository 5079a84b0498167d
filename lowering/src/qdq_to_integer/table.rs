//! Functions of one quantized tensor, as tables: the ops between dequantization and quantization are evaluated on all bytes.

use super::quantization::{Quantization, is_byte};
use crate::emit::Emitter;
use gradus_ir::eval::Datum;
use gradus_ir::{DType, Module, Op, OpDecl, OpInfo, Tensor, Type, Value};
use gradus_networks::graph::{BatchNormalizationOp, ClipOp, DequantizeLinearOp, QuantizeLinearOp, TableOp};
use gradus_networks::sched::is_elementwise;
use gradus_reference_kernels::shape::normalize_axis;
use rustc_hash::{FxHashMap, FxHashSet};

/// Number of values of a byte.
pub(super) const VALUES: usize = 256;
/// Maximum number of ops that become one table.
const MAX_OPS: usize = 64;
/// Maximum number of channels with tables of their own.
const MAX_CHANNELS: i64 = 1 << 13;

/// Ops that apply a function to each element, or to each element of a channel, of their first operand.
const FUNCTIONS: [&OpInfo; 4] =
    [DequantizeLinearOp::INFO, QuantizeLinearOp::INFO, ClipOp::INFO, BatchNormalizationOp::INFO];

/// Whether an op applies a function to each element.
pub(crate) fn is_function(m: &Module, op: Op) -> bool {
    m.num_results(op) == 1 && m.regions(op).is_empty() && (is_elementwise(m, op) || m.is_one_of(op, &FUNCTIONS))
}

/// A table lookup.
#[derive(Clone)]
pub(super) struct Lookup {
    /// Bytes.
    x: Value,
    /// `[256]`, or `[C, 256]` with a row for each channel.
    table: Tensor,
    elem: Type,
    /// Element type of `x`.
    from: Type,
}

impl Lookup {
    /// Returns the function with these results, of type `elem`, for all bytes of `x`.
    pub(super) fn new(m: &Module, x: Value, table: Tensor, elem: Type) -> Lookup {
        Lookup { x, table, elem, from: m.ctx.element_type(m.value_type(x)) }
    }

    /// Returns the function that a quantization ends, if it depends on one tensor of bytes.
    pub(super) fn of(m: &Module, op: Op) -> Option<Lookup> {
        let (x, y) = (argument(m, op)?, m.result(op, 0));
        let [from, elem] = [x, y].map(|v| m.ctx.element_type(m.value_type(v)));
        let extents = m.ctx.shape(m.value_type(x)).filter(|&shape| m.ctx.shape(m.value_type(y)) == Some(shape))?;
        if !is_byte(m, elem) {
            return None;
        }
        let channels = extents.get(1).copied().unwrap_or(1);
        let result = [1, channels].into_iter().find_map(|channels| {
            let shape = shape(extents.len(), channels)?;
            Evaluation::new(m, x, bytes(m.ctx.dtype(from)?, &shape)).value(y, 0)
        })?;
        let table = rows(&result.tensor)?;
        Some(Lookup { x, table, elem, from })
    }

    /// Returns the function of integers of parameters `to` that clamps them as the ops from `source` to the quantization `op`
    /// clamp the reals.
    pub(super) fn of_clamp(m: &Module, op: Op, source: Value, to: &Quantization) -> Option<Lookup> {
        let (dtype, zero) = (m.ctx.dtype(to.elem)?, *to.zero.to_i64()?.first()? as f32);
        let reals = bytes(dtype, &[VALUES]).to_f64().into_iter().map(|q| (q as f32 - zero) * to.scale_of(0));
        let reals = Tensor::from_vec(&[VALUES], reals.collect::<Vec<f32>>());
        let result = Evaluation::new(m, source, reals).value(m.result(op, 0), 0)?;
        Some(Lookup { x: source, table: rows(&result.tensor)?, elem: to.elem, from: to.elem })
    }

    /// Returns the change of parameters of quantized integers.
    pub(super) fn of_requantization(m: &Module, x: Value, from: &Quantization, to: &Quantization) -> Option<Lookup> {
        use gradus_reference_kernels::{QuantizeAttrs, dequantize_linear, quantize_linear};
        let (own, dtype) = (m.ctx.dtype(from.elem)?, m.ctx.dtype(to.elem)?);
        let attrs = QuantizeAttrs { to: dtype, precision: None, axis: 0, block_size: 0, saturate: true };
        let all = bytes(own, &[VALUES]);
        let reals = dequantize_linear(&all, &from.scale, Some(&from.zero), DType::F32, 0, 0).ok()?;
        let table = quantize_linear(&reals, &to.scale, Some(&to.zero), &attrs).ok()?;
        Some(Lookup { x, table, elem: to.elem, from: from.elem })
    }

    /// Whether each byte is replaced by itself.
    pub(super) fn is_identity(&self) -> bool {
        self.elem == self.from && self.table.rank() == 1 && self.table == bytes(self.table.dtype(), &[VALUES])
    }

    /// Returns the type of its argument.
    pub(super) fn argument_type(&self, m: &Module) -> Type {
        m.value_type(self.x)
    }

    /// Returns the lookup on other bytes.
    pub(super) fn on(self, x: Value) -> Lookup {
        Lookup { x, ..self }
    }

    /// Creates the lookup, unless it is the identity.
    pub(super) fn emit(self, e: &mut Emitter<'_, '_>, ty: Type) -> Option<Value> {
        if self.is_identity() {
            return Some(self.x);
        }
        let table = e.constant(&self.table, self.elem)?;
        e.typed(TableOp::INFO.name, &[self.x, table], &[], ty)
    }
}

/// Returns all bytes, the least integer first, along the first axis of a shape.
pub(super) fn bytes(dtype: DType, shape: &[usize]) -> Tensor {
    let flip = if dtype == DType::I8 { 0x80 } else { 0 };
    let each = shape[1..].iter().product();
    let all: Vec<u8> = (0..=255_u8).flat_map(|byte| std::iter::repeat_n(byte ^ flip, each)).collect();
    Tensor::new(dtype, shape.to_vec(), all.into()).expect("there are as many bytes")
}

/// Returns the shape `[256, channels, 1, ...]` of the arguments of a function of tensors of this rank.
fn shape(rank: usize, channels: i64) -> Option<Vec<usize>> {
    let channels = usize::try_from(channels).ok().filter(|_| (1..=MAX_CHANNELS).contains(&channels))?;
    let mut shape = vec![1; rank.max(1)];
    shape[0] = VALUES;
    if let Some(axis) = shape.get_mut(1) {
        *axis = channels;
    }
    Some(shape)
}

/// Returns results `[256, C, ...]` as a table: `[C, 256]`, or `[256]` if it is the same for all channels.
fn rows(results: &Tensor) -> Option<Tensor> {
    let (bytes, channels) = (results.bytes(), results.len() / VALUES);
    let row = |channel: usize| (0..VALUES).map(move |value| bytes[value * channels + channel]);
    let shape =
        if (1..channels).all(|channel| row(channel).eq(row(0))) { vec![VALUES] } else { vec![channels, VALUES] };
    let count = shape.iter().product::<usize>() / VALUES;
    let all: Vec<u8> = (0..count).flat_map(row).collect();
    Tensor::new(results.dtype(), shape, all.into()).ok()
}

/// Returns `result` as it follows from arguments, along the first axis, in place of the value `argument`.
pub(crate) fn evaluate(m: &Module, argument: Value, arguments: Tensor, result: Value) -> Option<Tensor> {
    Evaluation::new(m, argument, arguments).value(result, 0).map(|value| value.tensor)
}

/// Returns the bytes on which the result of an op depends through functions and dequantization, besides constants.
fn argument(m: &Module, op: Op) -> Option<Value> {
    let (mut stack, mut seen, mut found) = (vec![op], FxHashSet::default(), None);
    while let Some(op) = stack.pop() {
        if !seen.insert(op) {
            continue;
        }
        if seen.len() > MAX_OPS || !is_function(m, op) {
            return None;
        }
        if let Some(dequantize) = DequantizeLinearOp::cast(m, op).filter(|op| m.constant(op.x(m)).is_none()) {
            let x = dequantize.x(m);
            if !is_byte(m, m.ctx.element_type(m.value_type(x))) || found.is_some_and(|other| other != x) {
                return None;
            }
            found = Some(x);
            continue;
        }
        for &value in m.operands(op).iter().filter(|&&v| m.constant(v).is_none()) {
            stack.push(m.defining_op(value)?);
        }
    }
    found
}

/// A value, and whether it depends on the argument.
#[derive(Clone)]
struct FoldedValue {
    tensor: Tensor,
    varies: bool,
}

/// The evaluation of a function on all arguments at once, along the first axis.
struct Evaluation<'m> {
    m: &'m Module,
    argument: Value,
    all: Tensor,
    known: FxHashMap<Value, FoldedValue>,
}

impl<'m> Evaluation<'m> {
    fn new(m: &'m Module, argument: Value, all: Tensor) -> Evaluation<'m> {
        Evaluation { m, argument, all, known: FxHashMap::default() }
    }

    /// Returns a value that depends on the argument and constants.
    fn value(&mut self, value: Value, depth: usize) -> Option<FoldedValue> {
        let m = self.m;
        if value == self.argument {
            return Some(FoldedValue { tensor: self.all.clone(), varies: true });
        }
        if let Some(known) = self.known.get(&value) {
            return Some(known.clone());
        }
        if let Some(attr) = m.constant(value) {
            return Some(FoldedValue { tensor: m.ctx.dense_tensor(attr)?, varies: false });
        }
        let op = m.defining_op(value).filter(|&op| depth < MAX_OPS && is_function(m, op))?;
        let operands: Vec<FoldedValue> =
            m.operands(op).iter().map(|&v| self.value(v, depth + 1)).collect::<Option<_>>()?;
        let varies = operands.iter().any(|known| known.varies);
        if varies && !self.varies_by_channel(op, &operands) {
            return None;
        }
        let (eval, data) = (m.info(op)?.eval?, operands.into_iter().map(|known| Datum::Tensor(known.tensor)));
        let data: Vec<Datum> = data.collect();
        let results = m.with_args(op, |args| eval(args, &data))?.ok()?;
        let [Datum::Tensor(tensor)] = &results[..] else { return None };
        let known = FoldedValue { tensor: tensor.clone(), varies };
        self.known.insert(value, known.clone());
        (!varies || tensor.shape() == self.all.shape()).then_some(known)
    }

    /// Whether the constant operands of an op are scalars or have an element for each channel.
    fn varies_by_channel(&self, op: Op, operands: &[FoldedValue]) -> bool {
        let (m, rank) = (self.m, self.all.rank());
        let constants = || operands.iter().filter(|known| !known.varies && known.tensor.len() != 1);
        if BatchNormalizationOp::cast(m, op).is_some() {
            let trains = m.args(op).is_none_or(|args| args.flag("training_mode"));
            return !trains && rank > 1;
        }
        if is_elementwise(m, op) {
            let is_channel = |shape: &[usize]| {
                let outer = rank.checked_sub(shape.len());
                outer.is_some_and(|outer| shape.iter().enumerate().all(|(axis, &d)| d == 1 || outer + axis == 1))
            };
            return constants().all(|known| is_channel(known.tensor.shape()));
        }
        let axis = m.args(op).and_then(|args| args.int("axis"));
        constants().next().is_none() || axis.is_some_and(|axis| normalize_axis(axis, rank) == Ok(1))
    }
}
