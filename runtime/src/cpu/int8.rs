//! Products of bytes by address tables: the tables, the second factor and scales are constants.

use super::addr::addresses;
use super::{Kernel, Prepared, constant, dtype, extents, position};
use crate::gemm::bytes::{ByteIsa, BytePanels, ByteProduct, Finished, Scales};
use crate::gemm::{Addresses, Parts};
use crate::workers::Workers;
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs, Tensor};

/// `addr.gemm` and `addr.indirect_gemm` of bytes.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let product = Product::of(m, args)?;
    let (zero, add) = (position(args, "a_zero"), position(args, "add"));
    let kernel = Kernel::shared([0].into_iter().chain(zero).chain(add), move |workers, data, out| {
        let mut rest = data[1..].iter().copied();
        let zero = zero.and_then(|_| rest.next()?.first().copied()).unwrap_or(0);
        let add = add.and_then(|_| rest.next()).map(bytemuck::cast_slice);
        product.compute(workers, data[0], zero, add, out)
    });
    Some(kernel.into())
}

/// What is the same each time.
struct Product {
    addresses: Addresses,
    panels: BytePanels,
    /// Whether the bytes of the buffer have a sign.
    signed: bool,
    /// How results are quantized, if they are.
    scales: Option<Scales>,
}

impl Product {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<Product> {
        let a = dtype(m, args.operand_type(0)).filter(|a| matches!(a, DType::I8 | DType::U8))?;
        let b = constant(args, "b")?;
        let &[columns, summands] = &extents(m, args.operand_type(position(args, "b")?))?[..] else { return None };
        let b_zero = parameter(args, "b_zero", integers)?;
        let bias = parameter(args, "bias", |t| (t.dtype() == DType::I32).then(|| t.as_slice::<i32>().into_owned()))?;
        let (zero, values) = (b_zero.unwrap_or_else(|| vec![0]), integers(&b)?);
        let at = |n: usize, k: usize| values[n * summands + k] - zero[if zero.len() == 1 { 0 } else { n }];
        let addresses = addresses(args, Parts::BYTES)?;
        let size = [columns, summands];
        let panels = BytePanels::new(ByteIsa::best(), size, addresses.run(), at, bias.as_deref()).ok()?;
        let scales = match parameter(args, "scale", |t| Some(t.to_f64()))? {
            Some(scales) => Some(quantizing(scales, columns, &constant(args, "zero")?)?),
            None => None,
        };
        Some(Product { addresses, panels, signed: a == DType::I8, scales })
    }

    fn compute(&self, workers: &Workers, a: &[u8], zero: u8, add: Option<&[i32]>, out: &mut [u8]) -> Result<(), Trap> {
        let (addresses, b) = (&self.addresses, &self.panels);
        let product = ByteProduct { a, signed: self.signed, zero, addresses, b, add };
        let to = match &self.scales {
            Some(scales) => Finished::Quantized(out, scales),
            None => Finished::Sums(bytemuck::cast_slice_mut(out)),
        };
        product.compute(workers, to).map_err(Trap::Ub)
    }
}

/// A constant operand as `read` reads it, if it is there; `None` if it is and cannot be read.
fn parameter<T>(args: &OpArgs<'_>, name: &str, read: impl FnOnce(&Tensor) -> Option<T>) -> Option<Option<T>> {
    match args.opt_operand(name) {
        Some(_) => read(&constant(args, name)?).map(Some),
        None => Some(None),
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
