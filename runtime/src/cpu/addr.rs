//! Products by address tables: the tables and the second factor are constants.

use super::{Kernel, Prepared, constant, extents, floats, floats_mut, is, position};
use crate::gemm::{Addresses, Isa, Panels, Product};
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

/// Products of what is at some addresses. A constant factor is put in the order in which it is read once, others each time.
fn product(m: &Module, args: &OpArgs<'_>, addresses: Addresses) -> Option<Prepared> {
    if !is(args, 0, DType::F32) {
        return None;
    }
    let (range, b) = (bounds(m, args), position(args, "b")?);
    let extents: [usize; 2] = extents(m, args.operand_type(b))?.try_into().ok()?;
    let (bias, add) = (position(args, "bias"), position(args, "add"));
    let mut reads = vec![0];
    reads.extend(add);
    let known = match (constant(args, "b"), bias.map(|_| constant(args, "bias"))) {
        (Some(b), None) => Some(panels(&b.as_slice::<f32>(), extents, None)?),
        (Some(b), Some(Some(bias))) => Some(panels(&b.as_slice::<f32>(), extents, Some(&bias.as_slice::<f32>()))?),
        _ => None,
    };
    if known.is_none() {
        reads.extend([b].into_iter().chain(bias));
    }
    let kernel = Kernel::new(reads, move |data, out| {
        let mut rest = data[1..].iter().map(|bytes| floats(bytes));
        let add = add.and_then(|_| rest.next());
        let packed;
        let b = match &known {
            Some(panels) => panels,
            None => {
                let b = rest.next().unwrap_or(&[]);
                packed = panels(b, extents, rest.next()).ok_or_else(|| Trap::unsupported("a factor is too large"))?;
                &packed
            }
        };
        let product = Product { a: floats(data[0]), addresses: &addresses, b, add, range };
        product.compute(floats_mut(out)).map_err(Trap::Ub)
    });
    Some(kernel.into())
}

/// A factor whose rows are columns of the result.
fn panels(values: &[f32], [columns, summands]: [usize; 2], bias: Option<&[f32]>) -> Option<Panels> {
    Panels::new(Isa::best(), [columns, summands], |n, k| values[n * summands + k], bias).ok()
}

/// The least and greatest that results can be.
pub(super) fn bounds(m: &Module, args: &OpArgs<'_>) -> (f32, f32) {
    let bound = |name| args.attr(name).and_then(|a| m.ctx.as_float(a)).map(|value| value as f32);
    (bound("low").unwrap_or(f32::NEG_INFINITY), bound("high").unwrap_or(f32::INFINITY))
}
