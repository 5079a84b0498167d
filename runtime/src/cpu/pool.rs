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
use gradus_reference_kernels::transposed_index;

/// Returns the window of a pool, and the type of its elements.
fn checked(m: &Module, args: &OpArgs<'_>) -> Option<(Window, DType)> {
    let &to = args.result_types.first()?;
    let (window, kind) = (pool_window(m, args.op?).ok()?, dtype(m, args.operand_type(0))?);
    let has_shape = extents(m, to)?.get(2..) == Some(&window.output) && dtype(m, to) == Some(kind);
    has_shape.then_some((window, kind))
}

/// Prepares `graph.max_pool`: maxima, and their positions.
pub(super) fn max(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (window, kind) = checked(m, args)?;
    let pool = PlanePool::new(&window)?;
    let narrow = Narrow::of(args, 0);
    let of_positions = match (args.result_types.len() > 1, narrow) {
        (false, _) => None,
        (true, Some(Narrow::No)) => Some(positions::<f32>(pool.clone(), window, args.flag("storage_order"))),
        (true, Some(_)) => return None,
        (true, None) => dispatch!(@ kind, T => {
            Some(positions::<T>(pool.clone(), window, args.flag("storage_order")))
        }; I8 i8, U8 u8, F64 f64),
    };
    let of_maxima = match narrow {
        Some(narrow) => Some(in_f32(pool, narrow, None)),
        None => dispatch!(@ kind, T => Some(maxima::<T>(pool)); I8 i8, U8 u8, F64 f64),
    };
    Some(Prepared::Kernels([of_maxima?].into_iter().chain(of_positions).collect()))
}

/// Prepares `graph.average_pool`.
pub(super) fn mean(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (window, kind) = checked(m, args)?;
    let (pool, with_padding) = (PlanePool::new(&window)?, args.flag("count_include_pad"));
    let scale = PoolScale::of_means(&window, with_padding)?;
    Some(match (Narrow::of(args, 0), kind) {
        (Some(narrow), _) => in_f32(pool, narrow, Some(scale)).into(),
        (None, DType::F64) => means(pool, scale).into(),
        _ => return None,
    })
}

/// Returns a kernel of floats of at most 32 bits.
fn in_f32(pool: PlanePool, narrow: Narrow, scale: Option<PoolScale>) -> Kernel {
    Kernel::shared([0], move |workers, data, out| {
        let x = narrow.floats(data[0]);
        narrow.write(out, |out| pool.compute(Isa::best(), workers, &x, scale.as_ref(), out).map_err(Trap::from))
    })
}

/// Returns a kernel of each window of other elements, one after another: a function of the elements of its plane, the window, and its index.
fn each_window<T: ElementArithmetic, R: ElementArithmetic>(
    pool: PlanePool,
    of: impl Fn(&[T], &mut dyn Iterator<Item = usize>, [usize; 2]) -> R + Send + Sync + 'static,
) -> Kernel {
    Kernel::shared([0], move |_, data, out| {
        let (x, mut out): (&[T], _) = (elements(data[0]), elements_mut::<R>(out).iter_mut());
        for (plane, x) in x.chunks_exact(pool.elements().max(1)).enumerate() {
            for (at, (mut window, y)) in pool.windows().zip(out.by_ref()).enumerate() {
                *y = of(x, &mut window, [plane, at]);
            }
        }
        Ok(())
    })
}

/// Returns a kernel of maxima.
fn maxima<T: ElementArithmetic>(pool: PlanePool) -> Kernel {
    each_window(pool, |x: &[T], window, _| window.fold(T::LOWEST, |most, at| most.larger(x[at])))
}

/// Returns a kernel of means in f64.
fn means(pool: PlanePool, scale: PoolScale) -> Kernel {
    each_window(pool, move |x: &[f64], window, [_, at]| window.map(|at| x[at]).sum::<f64>() / scale.count(at) as f64)
}

/// Returns a kernel of the positions of maxima, the first of equal ones, or the first NaN; -1 in windows without elements.
fn positions<T: ElementArithmetic>(pool: PlanePool, window: Window, is_column_major: bool) -> Kernel {
    let area = pool.elements();
    each_window(pool, move |x: &[T], elements, [plane, _]| {
        let is_nan = |at: usize| x[at].partial_cmp(&x[at]).is_none();
        let better = |best: usize, at: usize| if x[at] > x[best] || is_nan(at) && !is_nan(best) { at } else { best };
        let place = |at| if is_column_major { transposed_index(&window.input, at) } else { at };
        elements.reduce(better).map_or(-1, |at| (plane * area + place(at)) as i64)
    })
}
