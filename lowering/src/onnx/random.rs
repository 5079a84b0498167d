//! Random numbers with a seed, as a constant: those of the first run in onnxruntime, which draws with the engine and the distributions of
//! the C++ standard library.
//!
//! Source: ISO C++, `minstd_rand0` and `generate_canonical`; G. Marsaglia's polar method.

use super::expansion::{F64, I32};
use super::proto::AttributeType;
use super::rewrite::{Adapted, NodeRewrite, tensor_proto, value_attr};
use super::tensor::dtype;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::tensor::{DType, Tensor, checked_len};
use gradus_networks::graph::onnx_number;

/// The operators.
pub(super) const OPERATORS: &[&str] =
    &["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"];

/// Maximum number of elements of a constant.
const MAX_ELEMENTS: usize = 1 << 24;

/// A linear congruential engine.
struct Engine(u64);

impl Engine {
    const MODULUS: u64 = (1 << 31) - 1;

    /// Seeds the engine; 0 counts as 1.
    fn of(seed: f32) -> Engine {
        Engine((u64::from(seed as u32) % Engine::MODULUS).max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0 * 16_807 % Engine::MODULUS;
        self.0
    }

    /// Returns a number from 0 to 1 in f32, or in f64 of two draws.
    fn canonical(&mut self, is_wide: bool) -> f64 {
        let range = (Engine::MODULUS - 1) as f64;
        let mut draw = || (self.next() - 1) as f64;
        if is_wide {
            let low = draw();
            return ((low + draw() * range) / (range * range)).min(1.0 - f64::EPSILON / 2.0);
        }
        f64::from((draw() as f32 / range as f32).min(1.0 - f32::EPSILON / 2.0))
    }
}

/// Rounds to f32 unless numbers are f64.
fn rounded(x: f64, is_wide: bool) -> f64 {
    if is_wide { x } else { f64::from(x as f32) }
}

/// Draws numbers from `low` to `high`.
fn uniform(engine: &mut Engine, count: usize, [low, high]: [f32; 2], is_wide: bool) -> Vec<f64> {
    let (low, range) = (f64::from(low), rounded(f64::from(high) - f64::from(low), is_wide));
    let mut draw = || rounded(rounded(engine.canonical(is_wide) * range, is_wide) + low, is_wide);
    (0..count).map(|_| draw()).collect()
}

/// Draws normally distributed numbers, of which two come from a point in the unit circle.
fn normal(engine: &mut Engine, count: usize, [mean, deviation]: [f32; 2], is_wide: bool) -> Vec<f64> {
    let round = |x| rounded(x, is_wide);
    let mut all = Vec::with_capacity(count + 1);
    while all.len() < count {
        let mut axis = || round(2.0 * engine.canonical(is_wide) - 1.0);
        let (x, y) = (axis(), axis());
        let square = round(round(x * x) + round(y * y));
        if square > 1.0 || square == 0.0 {
            continue;
        }
        let log = round(if is_wide { square.ln() } else { f64::from((square as f32).ln()) });
        let factor = round(round(round(-2.0 * log) / square).sqrt());
        for value in [y, x] {
            all.push(round(round(round(value * factor) * f64::from(deviation)) + f64::from(mean)));
        }
    }
    all.truncate(count);
    all
}

/// Turns a node that draws random numbers into a constant, or into a comparison of its operand with one.
pub(super) fn adapt(n: &mut NodeRewrite<'_>) -> Adapted {
    let Some(seed) = n.take("seed", AttributeType::Float)? else {
        return Err("random numbers without a seed are not supported".into());
    };
    match n.node.op_type.as_str() {
        "Bernoulli" => bernoulli(n, seed.f),
        "Multinomial" => multinomial(n, seed.f),
        _ => constant(n, seed.f),
    }
}

/// Draws true where a number is above the probability that the operand has, as the function does that the specification gives and onnxruntime
/// runs: with the probability of false.
fn bernoulli(n: &mut NodeRewrite<'_>, seed: f32) -> Adapted {
    let (p, to) = (n.input(0).to_owned(), n.take_int("dtype")?);
    let (shape, dtype) = n.values.shape(&p).ok_or("the shape of the random numbers is not known")?;
    let to = to.or_else(|| onnx_number(dtype)).ok_or("the element type is not known")?;
    let (extents, count) = extents(&shape)?;
    let drawn = uniform(&mut Engine::of(seed), count, [0.0, 1.0], dtype == DType::F64);
    let drawn = n.constant(&floats_to_tensor(dtype, &extents, drawn));
    let is_one = n.emit("Greater", &[&drawn, &p], vec![]);
    n.node.input = vec![is_one];
    n.set_int("to", to);
    n.rename("Cast")
}

/// Draws classes, given the logarithms of their weights `[B, classes]`.
fn multinomial(n: &mut NodeRewrite<'_>, seed: f32) -> Adapted {
    let (x, to, count) = (n.input(0).to_owned(), n.take_int("dtype")?.unwrap_or(I32), n.take_int("sample_size")?);
    let batch = n.values.shape(&x).and_then(|(shape, _)| shape.first().copied());
    let (extents, all) = extents(&[batch.unwrap_or(-1), count.unwrap_or(1), 1])?;
    let drawn = uniform(&mut Engine::of(seed), all, [0.0, 1.0], true);
    let drawn = n.constant(&floats_to_tensor(DType::F64, &extents, drawn));
    let [one, last] = [1, -1].map(|axis| n.list(&[axis]));
    let logits = n.cast(&x, F64);
    let most = n.emit("ReduceMax", &[&logits, &one], vec![]);
    let shifted = n.emit("Sub", &[&logits, &most], vec![]);
    let weights = n.emit("Exp", &[&shifted], vec![]);
    let total = n.emit("ReduceSum", &[&weights, &one], vec![]);
    let axis = n.constant(&Tensor::scalar(1_i64));
    let sums = n.emit("CumSum", &[&weights, &axis], vec![]);
    let [total, sums] = [total, sums].map(|x| n.emit("Unsqueeze", &[&x, &one], vec![]));
    let drawn = n.emit("Mul", &[&drawn, &total], vec![]);
    let is_before = n.emit("LessOrEqual", &[&sums, &drawn], vec![]);
    let is_before = n.cast(&is_before, to);
    n.node.input = vec![is_before, last];
    n.set_int("keepdims", 0);
    n.rename("ReduceSum")
}

/// Returns known extents, and the number of elements.
fn extents(shape: &[i64]) -> Adapted<(Vec<usize>, usize)> {
    let extents: Result<Vec<usize>, _> = shape.iter().map(|&d| usize::try_from(d)).collect();
    let extents = extents.map_err(|_| "the shape of the random numbers is not known")?;
    let count = checked_len(&extents).filter(|&count| count <= MAX_ELEMENTS).ok_or("too many random numbers")?;
    Ok((extents, count))
}

/// Turns a node that draws random numbers into a constant.
fn constant(n: &mut NodeRewrite<'_>, seed: f32) -> Adapted {
    let like = n.values.shape(n.input(0));
    let shape = match n.take("shape", AttributeType::Ints)? {
        Some(shape) => shape.ints,
        None => like.as_ref().map(|(shape, _)| shape.clone()).ok_or("the shape of the random numbers is not known")?,
    };
    let kind = match (n.take_int("dtype")?, &like) {
        (Some(kind), _) => dtype(i32::try_from(kind).unwrap_or(0))?,
        (None, Some((_, kind))) => *kind,
        (None, None) => DType::F32,
    };
    let (extents, count) = extents(&shape)?;
    if !matches!(kind, DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
        return Err(format!("random numbers of type {kind} are not supported").into());
    }
    let is_uniform = n.node.op_type.starts_with("RandomUniform");
    let mut float = |name: &str, default| n.take(name, AttributeType::Float).map(|a| a.map_or(default, |a| a.f));
    let (mut engine, is_wide) = (Engine::of(seed), kind == DType::F64);
    let numbers = if is_uniform {
        uniform(&mut engine, count, [float("low", 0.0)?, float("high", 1.0)?], is_wide)
    } else {
        normal(&mut engine, count, [float("mean", 0.0)?, float("scale", 1.0)?], is_wide)
    };
    n.node.input.clear();
    n.node.attribute = vec![value_attr(tensor_proto(&floats_to_tensor(kind, &extents, numbers)))];
    n.rename("Constant")
}
