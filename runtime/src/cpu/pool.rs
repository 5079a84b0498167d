//! Kernels of pools of images with channels first.

use super::elementwise::{ElementArithmetic, dispatch, elements, elements_mut};
use super::narrow::Narrow;
use super::{Kernel, Prepared, dtype, extents};
use crate::vector::Isa;
use crate::window::{PlanePool, PoolScale};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::graph::pool_window;
use gradus_reference_kernels::shape::Window;

/// Returns the window of a pool without positions, and the type of its elements.
fn checked(m: &Module, args: &OpArgs<'_>) -> Option<(Window, DType)> {
    let &[to] = args.result_types else { return None };
    let (window, kind) = (pool_window(m, args.op?).ok()?, dtype(m, args.operand_type(0))?);
    let has_shape = extents(m, to)?.get(2..) == Some(&window.output) && dtype(m, to) == Some(kind);
    has_shape.then_some((window, kind))
}

/// Prepares `graph.max_pool` without positions.
pub(super) fn max(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (window, kind) = checked(m, args)?;
    let pool = PlanePool::new(&window)?;
    match Narrow::of(args, 0) {
        Some(narrow) => Some(in_f32(pool, narrow, None)),
        None => dispatch!(@ kind, T => Some(maxima::<T>(pool)); I8 i8, U8 u8, F64 f64),
    }
}

/// Prepares `graph.average_pool` of floats of at most 32 bits.
pub(super) fn mean(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (window, _) = checked(m, args)?;
    let scale = PoolScale::of_means(&window, args.flag("count_include_pad"))?;
    Some(in_f32(PlanePool::new(&window)?, Narrow::of(args, 0)?, Some(scale)))
}

/// Returns a kernel of floats of at most 32 bits.
fn in_f32(pool: PlanePool, narrow: Narrow, scale: Option<PoolScale>) -> Prepared {
    let kernel = Kernel::shared([0], move |workers, data, out| {
        let x = narrow.floats(data[0]);
        narrow.write(out, |out| pool.compute(Isa::best(), workers, &x, scale.as_ref(), out).map_err(Trap::from))
    });
    kernel.into()
}

/// Returns a kernel of maxima of other elements, one after another.
fn maxima<T: ElementArithmetic>(pool: PlanePool) -> Prepared {
    let kernel = Kernel::shared([0], move |_, data, out| {
        let (x, out): (&[T], &mut [T]) = (elements(data[0]), elements_mut(out));
        out.iter_mut().zip(pool.reduced(x, T::LOWEST, T::larger)).for_each(|(y, x)| *y = x);
        Ok(())
    });
    kernel.into()
}
