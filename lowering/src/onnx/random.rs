//! Random numbers with a seed, as a constant: those of the first run in onnxruntime, which draws with the engine and the distributions of
//! the C++ standard library.
//!
//! Source: ISO C++, `minstd_rand0` and `generate_canonical`; G. Marsaglia's polar method.

use super::proto::AttributeType;
use super::rewrite::{Adapted, NodeRewrite, tensor_proto, value_attr};
use super::tensor::dtype;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::tensor::{DType, checked_len};

/// The operators.
pub(super) const OPERATORS: &[&str] = &["RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"];

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

/// Turns a node that draws random numbers into a constant.
pub(super) fn constant(n: &mut NodeRewrite<'_>) -> Adapted {
    let Some(seed) = n.take("seed", AttributeType::Float)? else {
        return Err("random numbers without a seed are not supported".into());
    };
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
    let extents: Vec<usize> = shape
        .iter()
        .map(|&d| usize::try_from(d))
        .collect::<Result<_, _>>()
        .map_err(|_| "the shape of the random numbers is not known")?;
    let count = checked_len(&extents).filter(|&count| count <= MAX_ELEMENTS).ok_or("too many random numbers")?;
    if !matches!(kind, DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
        return Err(format!("random numbers of type {kind} are not supported").into());
    }
    let is_uniform = n.node.op_type.starts_with("RandomUniform");
    let mut float = |name: &str, default| n.take(name, AttributeType::Float).map(|a| a.map_or(default, |a| a.f));
    let (mut engine, is_wide) = (Engine::of(seed.f), kind == DType::F64);
    let numbers = if is_uniform {
        uniform(&mut engine, count, [float("low", 0.0)?, float("high", 1.0)?], is_wide)
    } else {
        normal(&mut engine, count, [float("mean", 0.0)?, float("scale", 1.0)?], is_wide)
    };
    n.node.input.clear();
    n.node.attribute = vec![value_attr(tensor_proto(&floats_to_tensor(kind, &extents, numbers)))];
    n.rename("Constant")
}
