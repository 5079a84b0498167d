//! The plan of a layer: the values between its ops, their quantizations, and the error that these make.

use super::function::{ArgumentFunction, RepresentableRange, of_range};
use crate::canonicalize_qdq::affine::QuantizedProduct;
use crate::qdq_to_integer::quantization::{Quantization, Quantized, is_f32};
use crate::qdq_to_integer::table::is_function;
use crate::qdq_to_integer::{KINDS, has_integer_form, movement, unclamped};
use gradus_ir::{Module, Op, OpDecl, OpInfo, Refusal, Value};
use gradus_networks::graph::{
    AddOp, AveragePoolOp, ConcatOp, DequantizeLinearOp, GlobalAveragePoolOp, MulOp, QuantizeLinearOp, ReduceMeanOp,
    SumOp,
};
use rustc_hash::FxHashSet;

/// The ops that compute means.
const MEANS: [&OpInfo; 3] = [AveragePoolOp::INFO, GlobalAveragePoolOp::INFO, ReduceMeanOp::INFO];
/// The ops that compute sums.
const SUMS: [&OpInfo; 2] = [AddOp::INFO, SumOp::INFO];

/// Maximum number of ops of a layer.
const MAX_OPS: usize = 64;

/// A layer without a plan; with a reason where one op is at fault that no other pass names.
type Rejected = Option<(Op, Refusal)>;

/// The values of a layer that are quantized, under construction.
pub(super) struct LayerPlanner<'m> {
    m: &'m Module,
    sites: Vec<(Value, Quantization)>,
    /// The error of the result, in its steps.
    error: f64,
}

impl LayerPlanner<'_> {
    /// Returns the values to be quantized before the quantization `op`, with an error of at most `most` steps of its result.
    pub(super) fn of(m: &Module, op: Op, most: f64) -> Result<Vec<(Value, Quantization)>, Rejected> {
        let quantize = QuantizeLinearOp::cast(m, op).ok_or(None)?;
        let to = Quantization::of_quantize(m, op).map_err(|_| None)?;
        m.has_one_use(quantize.x(m)).then_some(()).ok_or(None)?;
        let mut planner = LayerPlanner { m, sites: Vec::new(), error: 0.0 };
        planner.layer(quantize.x(m), &to, 1.0, 0)?;
        if planner.error > most {
            let made = m.defining_op(unclamped(m, quantize.x(m))).ok_or(None)?;
            let rule = "intermediate results of 8 bits with an error of up to {} steps, of {} at most";
            return Err(Some((
                made,
                Refusal::from(rule).with([planner.error.min(1e6).ceil() as usize, most as usize]),
            )));
        }
        Ok(planner.sites)
    }

    /// Plans the ops that compute `x`, which is quantized to `to`. `weight`: steps of the layer's result for one step of `to`.
    fn layer(&mut self, x: Value, to: &Quantization, weight: f64, depth: usize) -> Result<(), Rejected> {
        let m = self.m;
        let source = source(m, x);
        let made = m.defining_op(source).filter(|_| depth < MAX_OPS).ok_or(None)?;
        if DequantizeLinearOp::cast(m, made).is_some() {
            return Ok(());
        }
        let (product, made) = self.before_moves(source, made).ok_or(None)?;
        m.is_one_of(made, &KINDS).then_some(()).ok_or(None)?;
        if source == unclamped(m, x) {
            if product != source {
                self.quantize(product, to)?;
            }
            return self.operands(made, to, weight, depth);
        }
        let range = range(m, source, depth).ok_or(None)?;
        let function = ArgumentFunction::of(m, source, x).ok_or(None)?;
        let argument = function.argument(range, to).ok_or(None)?;
        self.error += argument.error * weight;
        self.quantize(product, &argument.q)?;
        self.operands(made, &argument.q, weight * argument.slope, depth)
    }

    fn quantize(&mut self, value: Value, q: &Quantization) -> Result<(), Rejected> {
        is_f32(self.m, value).then_some(()).ok_or(None)?;
        self.sites.push((value, q.clone()));
        Ok(())
    }

    /// Returns the value whose elements ops move to `value`, or of which they select the largest, with the op that computes it.
    fn before_moves(&self, mut value: Value, mut made: Op) -> Option<(Value, Op)> {
        let m = self.m;
        while movement::commutes(m, made) {
            value = *m.operands(made).first().filter(|&&value| m.has_one_use(value))?;
            made = m.defining_op(value)?;
        }
        Some((value, made))
    }

    /// Plans the operands of an op whose result is quantized to `to`.
    fn operands(&mut self, made: Op, to: &Quantization, weight: f64, depth: usize) -> Result<(), Rejected> {
        let m = self.m;
        let is_open = |value: Value| m.constant(value).is_none() && DequantizeLinearOp::defining(m, value).is_none();
        let is_mean = m.is_one_of(made, &MEANS);
        let is_sum = m.is_one_of(made, &SUMS);
        let is_concat = ConcatOp::cast(m, made).is_some();
        let is_product = MulOp::cast(m, made).is_some();
        let operands = m.operands(made);
        let read = if is_mean { &operands[..1] } else { operands };
        let open: Vec<Value> = read.iter().copied().filter(|&value| is_open(value)).collect();
        if open.is_empty() {
            return has_integer_form(m, made, to).then_some(()).ok_or(None);
        }
        let takes = is_mean || is_concat || (is_sum || is_product) && operands.len() == 2;
        (takes && open.iter().all(|&value| m.has_one_use(value))).then_some(()).ok_or(None)?;
        for value in open {
            let RepresentableRange { scale: step, reals: result } = RepresentableRange::of(to).ok_or(None)?;
            let (mut q, mut gain) = (to.clone(), 1.0);
            if !is_concat {
                let [mut low, mut high] = range(m, value, depth).ok_or(None)?;
                let other = operands.iter().copied().find(|&other| other != value).unwrap_or(value);
                if is_sum {
                    let other = range(m, other, depth).ok_or(None)?;
                    (low, high) = (low.max(result[0] - other[1]), high.min(result[1] - other[0]));
                } else if is_product {
                    let [least, most] = range(m, other, depth).ok_or(None)?;
                    gain = least.abs().max(most.abs());
                }
                q = of_range(m, [low, high.max(low)], to.elem);
                gain *= f64::from(q.scale_of(0)) / step;
                self.error += 0.5 * gain * weight;
            }
            self.quantize(value, &q)?;
            self.layer(value, &q, weight * gain, depth + 1)?;
        }
        Ok(())
    }
}

/// Returns the value before `x`, as early as possible, on which alone `x` depends besides constants. All uses of it and of the values between
/// are by ops that compute `x`.
fn source(m: &Module, x: Value) -> Value {
    let (mut open, mut last, mut seen) = (vec![x], x, FxHashSet::default());
    let is_leaf = |value: Value| DequantizeLinearOp::defining(m, value).is_some();
    loop {
        // An op precedes its operands, and quantized tensors are last.
        let is_last = open.len() == 1;
        let is_inner = |&value: &Value| match is_leaf(value) {
            true => is_last,
            false => value == x || m.uses(value).all(|(user, _)| seen.contains(&user)),
        };
        let Some(at) = open.iter().position(is_inner) else { return last };
        let value = open.swap_remove(at);
        if open.is_empty() {
            last = value;
        }
        let op = m.defining_op(value).filter(|&op| !is_leaf(value) && is_function(m, op) && seen.len() < MAX_OPS);
        let Some(op) = op else { return last };
        seen.insert(op);
        for &operand in m.operands(op).iter().filter(|&&v| m.constant(v).is_none()) {
            if !open.contains(&operand) {
                open.push(operand);
            }
        }
    }
}

/// Returns the least and the largest number that a value may have.
fn range(m: &Module, value: Value, depth: usize) -> Option<[f64; 2]> {
    if let Ok(Quantized { q, .. }) = Quantized::per_tensor(m, value) {
        return Some(RepresentableRange::of(&q)?.reals);
    }
    let op = m.defining_op(value).filter(|_| depth < MAX_OPS)?;
    if let Some(product) = QuantizedProduct::of(m, op) {
        return of_product(&product, range(m, product.x, depth + 1)?);
    }
    let source = source(m, value);
    if source != value {
        return ArgumentFunction::of(m, source, value)?.image(range(m, source, depth + 1)?);
    }
    let first = range(m, *m.operands(op).first()?, depth + 1);
    let is_mean = m.is_one_of(op, &MEANS);
    if is_mean || movement::commutes(m, op) {
        return first.map(|[low, high]| [low.min(0.0), high.max(0.0)]);
    }
    let (&[_, other], [a, b]) = (m.operands(op), first?) else { return None };
    let [c, d] = range(m, other, depth + 1)?;
    if m.is_one_of(op, &SUMS) {
        return Some([a + c, b + d]);
    }
    MulOp::cast(m, op)?;
    let corners = [a * c, a * d, b * c, b * d];
    Some([corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max)])
}

/// Returns the range of a product for factors in a range that includes the padding, 0.
fn of_product(product: &QuantizedProduct, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
    let (low, high) = (low.min(0.0), high.max(0.0));
    let mut columns: Vec<[f64; 2]> =
        (0..product.columns()).map(|n| [product.bias.get(n).copied().unwrap_or(0.0); 2]).collect();
    for (n, w) in product.reals()? {
        let [least, most] = &mut columns[n];
        *least += (w * low).min(w * high);
        *most += (w * low).max(w * high);
    }
    let least = columns.iter().map(|column| column[0]).fold(f64::INFINITY, f64::min);
    Some([least, columns.iter().map(|column| column[1]).fold(f64::NEG_INFINITY, f64::max)])
}
