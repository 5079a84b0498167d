//! Products by address tables: the tables and the second factor are constants.

use super::{Kernel, Prepared, aligned, constant, extents, floats, floats_mut, is, position};
use crate::gemm::{Addresses, Isa, Panels, Product};
use crate::lines::Lines;
use bytes::Bytes;
use gradus_dialects::layout::{absolute, runs};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};

/// `addr.gemm`.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (base, relative) = (constant(args, "base")?, constant(args, "relative")?);
    let (base, relative) = (base.as_slice::<i32>().into_owned(), relative.as_slice::<i32>());
    let relative = if args.attr("running").is_some() { absolute(&relative) } else { relative.into_owned() };
    let (starts, run) = runs(&relative);
    product(m, args, Addresses::sums(base, &starts, run).ok()?)
}

/// `addr.indirect_gemm`.
pub(super) fn indirect_gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let bases = constant(args, "bases")?;
    let &[_, runs] = bases.shape() else { return None };
    let (bases, run) = (bases.as_slice::<i32>().into_owned(), usize::try_from(args.int("run")?).ok()?);
    product(m, args, Addresses::each(bases, runs, run).ok()?)
}

/// The second factor of a product.
#[derive(Clone, Copy)]
struct Factor {
    columns: usize,
    summands: usize,
    /// Of panels, if it is in some.
    width: Option<usize>,
}

impl Factor {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<Factor> {
        match extents(m, args.operand_type(position(args, "b")?))?[..] {
            [columns, summands] => Some(Factor { columns, summands, width: None }),
            [_, summands, width] => {
                let columns = usize::try_from(args.int("columns")?).ok()?;
                Some(Factor { columns, summands, width: Some(width) })
            }
            _ => None,
        }
    }

    /// As kernels read it: where it is, if it is so already.
    fn panels(self, data: &Bytes, bias: Option<&[f32]>) -> Option<Panels> {
        let Factor { columns, summands, width } = self;
        let sizes = [columns, summands];
        if let Some(panels) = width.and_then(|w| Panels::packed(Isa::best(), sizes, w, data.clone(), bias).ok()) {
            return Some(panels);
        }
        let values = floats(data);
        let at = |n: usize, k: usize| match width {
            Some(width) => values[(n / width * summands + k) * width + n % width],
            None => values[n * summands + k],
        };
        Panels::new(Isa::best(), sizes, at, bias).ok()
    }
}

/// Products of what is at some addresses. A constant factor is put in the order in which it is read once, others each time.
fn product(m: &Module, args: &OpArgs<'_>, addresses: Addresses) -> Option<Prepared> {
    if !is(args, 0, DType::F32) {
        return None;
    }
    let (range, factor) = (bounds(m, args), Factor::of(m, args)?);
    let [b, bias, add] = ["b", "bias", "add"].map(|name| position(args, name));
    let mut reads = vec![0];
    reads.extend(add);
    let known = match (constant(args, "b"), bias.map(|_| constant(args, "bias"))) {
        (Some(b), None) => Some(factor.panels(aligned(&b).bytes(), None)?),
        (Some(b), Some(Some(bias))) => Some(factor.panels(aligned(&b).bytes(), Some(&bias.as_slice::<f32>()))?),
        _ => None,
    };
    if known.is_none() {
        reads.extend(b.into_iter().chain(bias));
    }
    let kernel = Kernel::new(reads, move |data, out| {
        let mut rest = data[1..].iter();
        let add = add.and_then(|_| rest.next()).map(|bytes| floats(bytes));
        let packed;
        let b = match &known {
            Some(panels) => panels,
            None => {
                let b = Lines::of(rest.next().copied().unwrap_or_default()).into_bytes();
                let panels = factor.panels(&b, rest.next().map(|bytes| floats(bytes)));
                packed = panels.ok_or_else(|| Trap::unsupported("a factor is too large"))?;
                &packed
            }
        };
        let product = Product { a: floats(data[0]), addresses: &addresses, b, add, range };
        product.compute(floats_mut(out)).map_err(Trap::Ub)
    });
    Some(kernel.into())
}

/// The least and greatest that results can be.
pub(super) fn bounds(m: &Module, args: &OpArgs<'_>) -> (f32, f32) {
    let bound = |name| args.attr(name).and_then(|a| m.ctx.as_float(a)).map(|value| value as f32);
    (bound("low").unwrap_or(f32::NEG_INFINITY), bound("high").unwrap_or(f32::INFINITY))
}
