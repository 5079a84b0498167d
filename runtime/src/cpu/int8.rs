//! Products of bytes by address tables: the tables, the second factor and scales are constants.

use super::addr::addresses;
use super::buffers::Buffers;
use super::{Run, constant};
use crate::gemm::bytes::{ByteIsa, BytePanels, ByteProduct, Finished, Scales};
use crate::gemm::{Addresses, Parts};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DType, Module, OpArgs, Tensor};

/// `addr.gemm` and `addr.indirect_gemm` of bytes.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Run> {
    let product = Product::of(m, args)?;
    Some(Box::new(move |data, buffers| product.run(data, buffers)))
}

/// What is the same each time.
struct Product {
    addresses: Addresses,
    panels: BytePanels,
    /// Whether the bytes of the buffer have a sign.
    signed: bool,
    /// Which operands are what is subtracted from them, and what is added.
    a_zero: Option<usize>,
    add: Option<usize>,
    /// How results are quantized, and of which type they are then.
    scales: Option<(Scales, DType)>,
}

impl Product {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<Product> {
        let a = m.ctx.dtype(m.ctx.element_type(args.operand_type(0)))?;
        let b = constant(m, args, "b")?;
        let &[columns, summands] = b.shape() else { return None };
        let b_zero = parameter(m, args, "b_zero", integers)?;
        let bias = parameter(m, args, "bias", |t| (t.dtype() == DType::I32).then(|| t.as_slice::<i32>().into_owned()))?;
        let (zero, values) = (b_zero.unwrap_or_else(|| vec![0]), integers(&b)?);
        let at = |n: usize, k: usize| values[n * summands + k] - zero[if zero.len() == 1 { 0 } else { n }];
        let addresses = addresses(m, args, Parts::BYTES).filter(|_| is_byte(a))?;
        let size = [columns, summands];
        let panels = BytePanels::new(ByteIsa::best(), size, addresses.run(), at, bias.as_deref()).ok()?;
        let scales = match parameter(m, args, "scale", |t| Some(t.to_f64()))? {
            Some(scales) => Some(quantizing(scales, columns, &constant(m, args, "zero")?)?),
            None => None,
        };
        let (a_zero, add) = (place(args, "a_zero"), place(args, "add"));
        Some(Product { addresses, panels, signed: a == DType::I8, a_zero, add, scales })
    }

    fn run(&self, data: &[Datum], _buffers: &Buffers) -> Result<Vec<Datum>, Trap> {
        let (rows, columns) = (self.addresses.rows(), self.panels.columns());
        let zero = match self.a_zero {
            Some(i) => data[i].tensor()?.bytes().first().copied().unwrap_or(0),
            None => 0,
        };
        let add = match self.add {
            Some(i) => Some(data[i].tensor()?.as_slice::<i32>()),
            None => None,
        };
        let (a, b, addresses) = (data[0].tensor()?.bytes(), &self.panels, &self.addresses);
        let product = ByteProduct { a, signed: self.signed, zero, addresses, b, add: add.as_deref() };
        let size = rows.checked_mul(columns).ok_or_else(|| Trap::unsupported("a product that is too large"))?;
        let made = match &self.scales {
            Some((scales, dtype)) => {
                let mut c = vec![0; size];
                product.compute(&mut Finished::Quantized(&mut c, scales)).map_err(Trap::Ub)?;
                Tensor::new(*dtype, vec![rows, columns], c.into())?
            }
            None => {
                let mut c = vec![0; size];
                product.compute(&mut Finished::Sums(&mut c)).map_err(Trap::Ub)?;
                Tensor::from_vec(&[rows, columns], c)
            }
        };
        Ok(vec![Datum::Tensor(made)])
    }
}

fn is_byte(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::U8)
}

/// A constant operand as `read` reads it, if it is there; `None` if it is and cannot be read.
fn parameter<T>(
    m: &Module,
    args: &OpArgs<'_>,
    name: &str,
    read: impl FnOnce(&Tensor) -> Option<T>,
) -> Option<Option<T>> {
    match args.opt_operand(name) {
        Some(_) => read(&constant(m, args, name)?).map(Some),
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

/// How sums become bytes, and of which type.
fn quantizing(mut scales: Vec<f64>, columns: usize, zero: &Tensor) -> Option<(Scales, DType)> {
    if let [one] = scales[..] {
        scales = vec![one; columns];
    }
    let &[point] = &integers(zero)?[..] else { return None };
    Some((Scales::new(scales, point, zero.dtype() == DType::I8), zero.dtype()))
}

/// Which of all operands the one of that name is.
fn place(args: &OpArgs<'_>, name: &str) -> Option<usize> {
    args.opt_operand(name)?;
    let before = args.info.operands.iter().take_while(|group| group.name != name);
    Some(before.map(|group| args.operand(group.name).len()).sum())
}
