//! Products of bytes by address tables: the tables, the second factor and scales are constants.

use super::addr::addresses;
use super::operands::Operands;
use super::{Kernel, Prepared, constant, dtype};
use crate::gemm::bytes::{ByteIsa, BytePanels, ByteProduct, Finished, Scales};
use crate::gemm::{Isa, Parts};
use crate::window::{ByteWindows, MAX_POSITIONS, Places};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs, Tensor};

/// `addr.gemm` and `addr.indirect_gemm` of bytes.
pub(super) fn gemm(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let mut operands = Operands::new(args);
    let parameters =
        Parameters::of(&mut operands, args, |shape| if let &[columns, _] = shape { Some(columns) } else { None })?;
    let addresses = addresses(args, Parts::BYTES)?;
    let size = [parameters.columns, addresses.summands()];
    let at = |n: usize, k: usize| parameters.weight(n * size[1] + k, n);
    let b = BytePanels::new(ByteIsa::best(), size, addresses.run(), at, parameters.bias.as_deref()).ok()?;
    let Parameters { signed, scales, .. } = parameters;
    let [zero, add] = ["a_zero", "add"].map(|name| operands.input(name));
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let (zero, add) = beside(data, zero, add);
        let product = ByteProduct { a: data[0], signed, zero, addresses: &addresses, b: &b, add };
        product.compute(workers, finished(out, scales.as_ref())).map_err(Trap::Ub)
    });
    Some(kernel.into())
}

/// `addr.depthwise` of bytes.
pub(super) fn depthwise(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let table = constant(args, "bases")?;
    let &[_, positions] = table.shape() else { return None };
    let mut operands = Operands::new(args);
    let parameters = Parameters::of(&mut operands, args, |shape| Some(*shape.get(1)?))?;
    let n = parameters.columns;
    if positions > MAX_POSITIONS {
        return None;
    }
    let weights: Vec<f32> = (0..positions * n).map(|i| parameters.weight(i, i % n) as f32).collect();
    let places = Places::new(&table.as_slice::<i32>(), positions).ok()?;
    let Parameters { signed, bias, scales, .. } = parameters;
    let bias = bias.unwrap_or_else(|| vec![0; n]);
    let [zero, add] = ["a_zero", "add"].map(|name| operands.input(name));
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let (zero, add) = beside(data, zero, add);
        let (places, weights, bias) = (&places, &weights, &bias);
        let windows = ByteWindows { a: data[0], signed, zero, places, channels: n, weights, bias, add };
        windows.compute(Isa::best(), workers, finished(out, scales.as_ref())).map_err(Trap::Ub)
    });
    Some(kernel.into())
}

/// Returns the zero point of the first factor, and the summands.
fn beside<'a>(data: &[&'a [u8]], zero: Option<usize>, add: Option<usize>) -> (u8, Option<&'a [i32]>) {
    let zero = zero.and_then(|i| data[i].first().copied()).unwrap_or(0);
    (zero, add.map(|i| bytemuck::cast_slice(data[i])))
}

/// Where results go: as sums if there are no scales.
fn finished<'a>(out: &'a mut [u8], scales: Option<&'a Scales>) -> Finished<'a> {
    match scales {
        Some(scales) => Finished::Quantized(out, scales),
        None => Finished::Sums(bytemuck::cast_slice_mut(out)),
    }
}

/// The constants of a product.
struct Parameters {
    /// Whether the bytes of the buffer have a sign.
    signed: bool,
    /// The other factor.
    values: Vec<i32>,
    columns: usize,
    /// What is subtracted from it, for all columns or each.
    zero: Vec<i32>,
    bias: Option<Vec<i32>>,
    /// How results are quantized, if they are.
    scales: Option<Scales>,
}

impl Parameters {
    /// `columns`: how many columns the result has, by the extents of the other factor.
    fn of(
        operands: &mut Operands<'_>,
        args: &OpArgs<'_>,
        columns: impl FnOnce(&[usize]) -> Option<usize>,
    ) -> Option<Parameters> {
        let a = dtype(args.module, args.operand_type(0)).filter(|a| matches!(a, DType::I8 | DType::U8))?;
        let b = constant(args, "b")?;
        let (columns, values) = (columns(b.shape())?, integers(&b)?);
        let zero = operands.constant("b_zero", |t| integers(&t))?.unwrap_or_else(|| vec![0]);
        let sums = |t: Tensor| (t.dtype() == DType::I32).then(|| t.as_slice::<i32>().into_owned());
        let bias = operands.constant("bias", sums)?;
        let scales = match (operands.constant("scale", |t| Some(t.to_f64()))?, operands.constant("zero", Some)?) {
            (Some(scales), Some(zero)) => Some(quantizing(scales, columns, &zero)?),
            _ => None,
        };
        Some(Parameters { signed: a == DType::I8, values, columns, zero, bias, scales })
    }

    /// An element of the other factor, less its zero point.
    fn weight(&self, i: usize, column: usize) -> i32 {
        self.values[i] - self.zero[if self.zero.len() == 1 { 0 } else { column }]
    }
}

/// The numbers that bytes are.
fn integers(bytes: &Tensor) -> Option<Vec<i32>> {
    match bytes.dtype() {
        DType::I8 => Some(bytes.as_slice::<i8>().iter().map(|&x| x.into()).collect()),
        DType::U8 => Some(bytes.as_slice::<u8>().iter().map(|&x| x.into()).collect()),
        _ => None,
    }
}

/// How sums become bytes.
fn quantizing(mut scales: Vec<f64>, columns: usize, zero: &Tensor) -> Option<Scales> {
    if let [one] = scales[..] {
        scales = vec![one; columns];
    }
    let &[point] = &integers(zero)?[..] else { return None };
    Some(Scales::new(scales, point, zero.dtype() == DType::I8))
}
