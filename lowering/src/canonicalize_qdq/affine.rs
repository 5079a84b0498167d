//! Affine functions after products by quantized weights, folded into the scales of the weights and the bias.

use crate::emit::Emitter;
use crate::qdq_to_integer::quantization::{Quantization, Quantized, is_f32};
use gradus_ir::eval::ints_to_tensor;
use gradus_ir::{Attr, Builder, DType, Module, Op, OpDecl, OpInfo, OpState, Tensor, Type, Value};
use gradus_networks::graph::{
    AddOp, BatchNormalizationOp, ConvOp, ConvTransposeOp, DequantizeLinearOp, DivOp, GemmOp, MatMulOp, MulOp, SubOp,
    SumOp,
};

/// A product of a value and constant quantized weights, with a bias.
pub(crate) struct QuantizedProduct {
    op: Op,
    /// The factor that is not constant.
    pub(crate) x: Value,
    /// The weights.
    pub(crate) weights: Tensor,
    /// Their scales and zero points.
    pub(crate) q: Quantization,
    /// The axis of the weights along which the columns are.
    pub(crate) axis: usize,
    /// The bias, one number per column; empty without one.
    pub(crate) bias: Vec<f64>,
    /// Number of axes of the result after that of the columns.
    trailing: usize,
}

impl QuantizedProduct {
    /// Returns the product that an op is.
    pub(crate) fn of(m: &Module, op: Op) -> Option<QuantizedProduct> {
        let rank = m.ctx.shape(m.value_type(m.results(op).next()?))?.len();
        let args = m.args(op)?;
        let (x, w, bias, axis, trailing) = if let Some(conv) = ConvOp::cast(m, op) {
            (conv.x(m), conv.w(m), conv.b(m), 0, rank.checked_sub(2)?)
        } else if let Some(conv) = ConvTransposeOp::cast(m, op) {
            (args.int("group") == Some(1)).then_some(())?;
            (conv.x(m), conv.w(m), conv.b(m), 1, rank.checked_sub(2)?)
        } else if let Some(gemm) = GemmOp::cast(m, op) {
            let is_plain = ["alpha", "beta"].iter().all(|name| args.float(name) == Some(1.0)) && !args.flag("transA");
            is_plain.then_some(())?;
            (gemm.a(m), gemm.b(m), gemm.c(m), usize::from(!args.flag("transB")), 0)
        } else {
            let product = MatMulOp::cast(m, op)?;
            (product.a(m), product.b(m), None, 1, 0)
        };
        let (weights, q) = Quantized::constant(m, w, axis).ok()?;
        if MatMulOp::cast(m, op).is_some() && weights.rank() != 2 {
            return None;
        }
        let columns = *weights.shape().get(axis)?;
        let bias = match bias {
            Some(bias) => columns_of(m, bias, columns, 0)?,
            None => Vec::new(),
        };
        Some(QuantizedProduct { op, x, weights, q, axis, bias, trailing })
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.weights.shape()[self.axis]
    }

    /// Returns the real weights, with the column of each.
    pub(crate) fn reals(&self) -> Option<Vec<(usize, f64)>> {
        let zero = self.q.zero.to_i64()?;
        let real = |(at, q): (usize, i64)| {
            let n = self.column(at);
            (n, (q - zero[if zero.len() == 1 { 0 } else { n }]) as f64 * f64::from(self.q.scale_of(n)))
        };
        Some(self.weights.to_i64()?.into_iter().enumerate().map(real).collect())
    }

    /// Returns the column of an element of the weights.
    fn column(&self, at: usize) -> usize {
        let inner: usize = self.weights.shape()[self.axis + 1..].iter().product();
        at / inner.max(1) % self.columns()
    }
}

/// A product with affine functions of its result.
pub(super) struct FoldedProduct {
    product: QuantizedProduct,
    /// The factor and the summand of each column.
    functions: Vec<[f64; 2]>,
    /// The weights with the signs of the factors.
    weights: Tensor,
    /// The result of the last function.
    last: Value,
    /// Number of functions.
    count: u64,
}

impl FoldedProduct {
    /// Returns an op with the functions after it, if there are any.
    pub(super) fn of(m: &Module, op: Op) -> Option<FoldedProduct> {
        let product = QuantizedProduct::of(m, op)?;
        let (mut functions, mut last, mut count) = (vec![[1.0, 0.0]; product.columns()], m.result(op, 0), 0);
        while let Some((next, more)) = affine_use(m, last, &product) {
            for (all, [factor, summand]) in functions.iter_mut().zip(more) {
                *all = [all[0] * factor, all[1] * factor + summand];
            }
            (last, count) = (next, count + 1);
        }
        if count == 0 || functions.iter().flatten().any(|x| !x.is_finite()) {
            return None;
        }
        let weights = signed(&product, &functions)?;
        Some(FoldedProduct { product, functions, weights, last, count })
    }

    /// Replaces the ops by one; returns the number of functions.
    pub(super) fn emit(self, m: &mut Module) -> Option<u64> {
        let QuantizedProduct { op, x, axis, q, bias, .. } = &self.product;
        let (op, columns) = (*op, self.product.columns());
        let factor = |n: usize| self.functions[n][0].abs();
        // Weights with one scale keep one if all columns have the same factor.
        let is_scalar = q.axis.is_none() && (1..columns).all(|n| factor(n) == factor(0));
        let shape = if is_scalar { vec![] } else { vec![columns] };
        let scales = (0..if is_scalar { 1 } else { columns }).map(|n| match factor(n) {
            0.0 => q.scale_of(n),
            factor => (f64::from(q.scale_of(n)) * factor) as f32,
        });
        let scales: Vec<f32> = scales.collect();
        scales.iter().all(|scale| scale.is_normal()).then_some(())?;
        let summands = (0..columns).map(|n| {
            let [factor, summand] = self.functions[n];
            (bias.get(n).copied().unwrap_or(0.0) * factor + summand) as f32
        });
        let summands = Tensor::from_vec(&[columns], summands.collect::<Vec<f32>>());
        let zeros = match &q.zero {
            zero if zero.len() == scales.len() => zero.clone(),
            zero => ints_to_tensor(zero.dtype(), &shape, &vec![*zero.to_i64()?.first()?; columns]),
        };
        let ty = m.value_type(m.result(op, 0));
        let weights_ty = m.value_type(m.operands(op)[1]);
        let along = ("axis", m.ctx.int_attr(Type::I64, *axis as i64));
        let mut state = OpState::like(m, op);
        let is_matmul = MatMulOp::cast(m, op).is_some();
        let made = m.defining_op(self.last)?;
        let mut b = Builder::before(m, made);
        let mut e = Emitter::on_graph(&mut b, op);
        let w = e.constant(&self.weights, q.elem)?;
        let scale = e.constant(&Tensor::from_vec(&shape, scales), Type::F32)?;
        let zero = e.constant(&zeros, q.elem)?;
        let w = e.typed(DequantizeLinearOp::INFO.name, &[w, scale, zero], &[along], weights_ty)?;
        let summands = e.constant(&summands, Type::F32)?;
        let value = if is_matmul {
            gemm(&mut e, [*x, w, summands], ty)?
        } else {
            state.operands.extend([*x, w, summands]);
            state.result_types.push(ty);
            let new = b.try_create(state).ok()?;
            b.module.result(new, 0)
        };
        m.replace_all_uses(self.last, value);
        Some(self.count)
    }
}

/// Creates the product of matrices `[..., M, K]` and `[K, N]` with a bias, with a result of type `ty`.
fn gemm(e: &mut Emitter<'_, '_>, [x, w, bias]: [Value; 3], ty: Type) -> Option<Value> {
    let extents = e.m().ctx.static_shape(ty)?.to_vec();
    let (&columns, rows) = extents.split_last()?;
    if extents.len() == 2 {
        return e.typed(GemmOp::INFO.name, &[x, w, bias], &[], ty);
    }
    let rows = rows.iter().product();
    let depth = *e.m().ctx.static_shape(e.m().value_type(x))?.last()?;
    let flat = e.reshape(x, &[rows, depth])?;
    let product = e.m().ctx.tensor_type(&[rows, columns], Type::F32);
    let y = e.typed(GemmOp::INFO.name, &[flat, w, bias], &[] as &[(&str, Attr)], product)?;
    e.reshape(y, &extents)
}

/// Returns the only use of a value, if it is an affine function for each column, with the factors and summands.
fn affine_use(m: &Module, value: Value, product: &QuantizedProduct) -> Option<(Value, Vec<[f64; 2]>)> {
    let (user, i) = m.uses(value).next().filter(|_| m.has_one_use(value))?;
    let (columns, trailing) = (product.columns(), product.trailing);
    let y = (m.num_results(user) == 1).then(|| m.result(user, 0))?;
    if m.ctx.shape(m.value_type(y)) != m.ctx.shape(m.value_type(value)) || !is_f32(m, y) {
        return None;
    }
    if let Some(norm) = BatchNormalizationOp::cast(m, user) {
        let args = m.args(user)?;
        let is_of_columns = m.ctx.shape(m.value_type(y))?.len() == trailing + 2;
        (i == 0 && is_of_columns && !args.flag("training_mode")).then_some(())?;
        let [scale, shift, mean, variance] = [norm.scale(m), norm.b(m), norm.input_mean(m), norm.input_var(m)]
            .map(|value| columns_of(m, value, columns, 0));
        let (scale, shift, mean, variance) = (scale?, shift?, mean?, variance?);
        let epsilon = args.float("epsilon")?;
        let function = |n: usize| {
            let factor = scale[n] / (variance[n] + epsilon).sqrt();
            [factor, shift[n] - mean[n] * factor]
        };
        return Some((y, (0..columns).map(function).collect()));
    }
    let is = |info: &OpInfo| m.is_one_of(user, &[info]);
    let &[a, b] = m.operands(user) else { return None };
    let other = columns_of(m, if i == 0 { b } else { a }, columns, trailing)?;
    let of = |c: f64| match i {
        _ if is(AddOp::INFO) || is(SumOp::INFO) => Some([1.0, c]),
        _ if is(MulOp::INFO) => Some([c, 0.0]),
        0 if is(SubOp::INFO) => Some([1.0, -c]),
        1 if is(SubOp::INFO) => Some([-1.0, c]),
        0 if is(DivOp::INFO) => Some([1.0 / c, 0.0]),
        _ => None,
    };
    Some((y, other.into_iter().map(of).collect::<Option<_>>()?))
}

/// Returns a constant, or a dequantized constant, as a number for each column, where columns are `trailing` axes before the end.
fn columns_of(m: &Module, value: Value, columns: usize, trailing: usize) -> Option<Vec<f64>> {
    let constant = |value| m.ctx.dense_tensor(m.constant(value)?);
    let reals = match constant(value) {
        Some(tensor) if tensor.dtype() == DType::F32 => tensor.to_f64(),
        Some(_) => return None,
        None => {
            let Quantized { x, q } = Quantized::of(m, value).ok()?;
            let (zero, integers) = (q.zero.to_i64()?, constant(x)?.to_i64()?);
            let is_scalar = q.axis.is_none() || integers.len() == q.scale.len();
            is_scalar.then_some(())?;
            let real = |(n, integer): (usize, i64)| {
                let zero = zero[if zero.len() == 1 { 0 } else { n }];
                integer.saturating_sub(zero) as f64 * f64::from(q.scale_of(n))
            };
            integers.into_iter().enumerate().map(real).collect()
        }
    };
    let shape = m.ctx.static_shape(m.value_type(value))?;
    let is_column = |(i, &d): (usize, &i64)| d == 1 || i == trailing && d as usize == columns;
    shape.iter().rev().enumerate().all(is_column).then_some(())?;
    Some(if reals.len() == 1 { vec![reals[0]; columns] } else { reals })
}

/// Returns the weights with the signs of the factors: those of negative ones are negated, those of zeros are zero.
fn signed(product: &QuantizedProduct, functions: &[[f64; 2]]) -> Option<Tensor> {
    let (weights, zero) = (&product.weights, product.q.zero.to_i64()?);
    if functions.iter().all(|[factor, _]| *factor > 0.0) {
        return Some(weights.clone());
    }
    let range = if weights.dtype() == DType::I8 { -128..=127 } else { 0..=255 };
    let of = |(at, q): (usize, i64)| {
        let n = product.column(at);
        let zero = zero[if zero.len() == 1 { 0 } else { n }];
        let q = match functions[n][0] {
            factor if factor > 0.0 => q,
            factor if factor < 0.0 => 2 * zero - q,
            _ => zero,
        };
        range.contains(&q).then_some(q)
    };
    let all: Vec<i64> = weights.to_i64()?.into_iter().enumerate().map(of).collect::<Option<_>>()?;
    Some(ints_to_tensor(weights.dtype(), weights.shape(), &all))
}
