//! Elementwise ops on all number types, an op per kernel: arithmetic, comparison, logic, selection, conversion. Ops on f32 that can
//! be fused are stages of [`map`](super::map) instead.

use super::function::{Binary, Unary};
use super::narrow::{rounded, widened};
use super::nest::{Nest, RowKernel};
use super::{Kernel, Prepared, dtype, extents};
use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use bytemuck::Pod;
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};
use half::f16;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use std::marker::PhantomData;

/// Arithmetic on elements, as in the reference kernels: integers wrap, NaN passes through.
pub(super) trait ElementArithmetic: Pod + PartialOrd + Send + Sync {
    const ZERO: Self;
    const ONE: Self;
    /// The neutral element of sums, also of -0.
    const NOTHING: Self;
    /// The neutral element of maxima.
    const LOWEST: Self;
    /// The neutral element of minima.
    const HIGHEST: Self;
    fn plus(self, x: Self) -> Self;
    fn minus(self, x: Self) -> Self;
    fn times(self, x: Self) -> Self;
    /// Divides; integers truncate towards zero, and are not divided by zero.
    fn over(self, x: Self) -> Self;
    fn larger(self, x: Self) -> Self;
    fn smaller(self, x: Self) -> Self;
    /// Converts as `graph.cast` does: floats truncate and saturate, integers keep their low bits.
    fn cast<T: ElementArithmetic>(self) -> T;
    fn from_f64(x: f64) -> Self;
    fn from_i64(x: i64) -> Self;
    fn from_u64(x: u64) -> Self;
}

macro_rules! numbers {
    (@conversions $T:ty) => {
        #[inline(always)]
        fn from_f64(x: f64) -> $T { x as $T }
        #[inline(always)]
        fn from_i64(x: i64) -> $T { x as $T }
        #[inline(always)]
        fn from_u64(x: u64) -> $T { x as $T }
    };
    ($($T:ty as $Wide:ty, $from:ident)*) => { $(
        impl ElementArithmetic for $T {
            const ZERO: $T = 0;
            const ONE: $T = 1;
            const NOTHING: $T = 0;
            const LOWEST: $T = <$T>::MIN;
            const HIGHEST: $T = <$T>::MAX;
            #[inline(always)]
            fn plus(self, x: $T) -> $T { self.wrapping_add(x) }
            #[inline(always)]
            fn minus(self, x: $T) -> $T { self.wrapping_sub(x) }
            #[inline(always)]
            fn times(self, x: $T) -> $T { self.wrapping_mul(x) }
            #[inline(always)]
            fn over(self, x: $T) -> $T { if x == 0 { 0 } else { self.wrapping_div(x) } }
            #[inline(always)]
            fn larger(self, x: $T) -> $T { self.max(x) }
            #[inline(always)]
            fn smaller(self, x: $T) -> $T { self.min(x) }
            #[inline(always)]
            fn cast<T: ElementArithmetic>(self) -> T { T::$from(self as $Wide) }
            numbers!(@conversions $T);
        }
    )* };
    (floats $($T:ty)*) => { $(
        impl ElementArithmetic for $T {
            const ZERO: $T = 0.0;
            const ONE: $T = 1.0;
            const NOTHING: $T = -0.0;
            const LOWEST: $T = <$T>::NEG_INFINITY;
            const HIGHEST: $T = <$T>::INFINITY;
            #[inline(always)]
            fn plus(self, x: $T) -> $T { self + x }
            #[inline(always)]
            fn minus(self, x: $T) -> $T { self - x }
            #[inline(always)]
            fn times(self, x: $T) -> $T { self * x }
            #[inline(always)]
            fn over(self, x: $T) -> $T { self / x }
            #[inline(always)]
            fn larger(self, x: $T) -> $T { if self > x || self.is_nan() { self } else { x } }
            #[inline(always)]
            fn smaller(self, x: $T) -> $T { if self < x || self.is_nan() { self } else { x } }
            #[inline(always)]
            fn cast<T: ElementArithmetic>(self) -> T { T::from_f64(self.into()) }
            numbers!(@conversions $T);
        }
    )* };
}

numbers! { i8 as i64, from_i64 i16 as i64, from_i64 i32 as i64, from_i64 i64 as i64, from_i64 }
numbers! { u8 as i64, from_i64 u16 as i64, from_i64 u32 as i64, from_i64 u64 as u64, from_u64 }
numbers! { floats f32 f64 }

/// Evaluates an expression with the Rust type of an element type, booleans as bytes; `None` for other types.
macro_rules! dispatch {
    ($dtype:expr, $T:ident => $value:expr) => {
        dispatch!(@ $dtype, $T => $value; Bool u8, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32,
            F64 f64)
    };
    (@ $dtype:expr, $T:ident => $value:expr; $($Name:ident $Rust:ty),*) => {
        match $dtype {
            $(DType::$Name => {
                type $T = $Rust;
                $value
            })*
            _ => None,
        }
    };
}

pub(super) use dispatch;

/// A function of two elements.
trait Combine: Send + Sync + 'static {
    type Result<T: ElementArithmetic>: Pod + Send + Sync;
    fn apply<T: ElementArithmetic>(a: T, b: T) -> Self::Result<T>;
}

/// Declares functions of two elements.
macro_rules! functions {
    ($($Name:ident $T:ident -> $Result:ty = |$a:ident, $b:ident| $value:expr;)*) => { $(
        struct $Name;

        impl Combine for $Name {
            type Result<$T: ElementArithmetic> = $Result;
            #[inline(always)]
            fn apply<$T: ElementArithmetic>($a: $T, $b: $T) -> $Result { $value }
        }
    )* };
}

functions! {
    Add T -> T = |a, b| a.plus(b);
    Sub T -> T = |a, b| a.minus(b);
    Mul T -> T = |a, b| a.times(b);
    Div T -> T = |a, b| a.over(b);
    Max T -> T = |a, b| a.larger(b);
    Min T -> T = |a, b| a.smaller(b);
    Equal T -> u8 = |a, b| u8::from(a == b);
    Unequal T -> u8 = |a, b| u8::from(a != b);
    Less T -> u8 = |a, b| u8::from(a < b);
    LessOrEqual T -> u8 = |a, b| u8::from(a <= b);
}

/// Prepares an op of the table of functions on other types than f32.
pub(super) fn kernel(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let from = dtype(m, args.operand_type(0)).filter(|&from| from != DType::Bool)?;
    match (Binary::of(args), Unary::of(args)) {
        (Some(Binary::Add), _) => numbers::<Add>(m, args, [0, 1]),
        (Some(Binary::Sub), _) => numbers::<Sub>(m, args, [0, 1]),
        (Some(Binary::Mul), _) => numbers::<Mul>(m, args, [0, 1]),
        (Some(Binary::Div), _) => numbers::<Div>(m, args, [0, 1]),
        (Some(Binary::Max), _) => numbers::<Max>(m, args, [0, 1]),
        (Some(Binary::Min), _) => numbers::<Min>(m, args, [0, 1]),
        // The sign of a float changes, also that of zero.
        (_, Some(Unary::Neg)) => dispatch!(from, T => each(m, args, |x: T| T::from_f64(-0.0).minus(x))),
        (_, Some(Unary::Abs)) => dispatch!(from, T => each(m, args, |x: T| {
            if x.smaller(T::ZERO) == T::ZERO { x.plus(T::ZERO) } else { T::ZERO.minus(x) }
        })),
        // Bounds of at most 16 bits are exact.
        (_, Some(Unary::Clip { min, max })) => dispatch!(@ from, T => {
            let [min, max] = [min, max].map(|bound| T::from_f64(f64::from(bound)));
            each(m, args, move |x: T| x.larger(min).smaller(max))
        }; I8 i8, U8 u8, I16 i16, U16 u16),
        (_, Some(Unary::Relu)) => dispatch!(from, T => each(m, args, |x: T| T::ZERO.larger(x))),
        _ => None,
    }
}

/// Prepares a function of two numbers.
fn numbers<F: Combine>(m: &Module, args: &OpArgs<'_>, order: [usize; 2]) -> Option<Prepared> {
    let kind = dtype(m, args.operand_type(0)).filter(|&kind| kind != DType::Bool)?;
    dispatch!(kind, T => combined::<F, T>(m, args, order))
}

/// Prepares a function of two booleans, which are bytes of 0 or 1.
fn booleans<F: Combine>(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    dtype(m, args.operand_type(0)).filter(|&kind| kind == DType::Bool)?;
    combined::<F, u8>(m, args, [0, 1])
}

/// Prepares `graph.equal`.
pub(super) fn equal(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    numbers::<Equal>(m, args, [0, 1]).or_else(|| booleans::<Equal>(m, args))
}

/// Prepares `graph.less`.
pub(super) fn less(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    numbers::<Less>(m, args, [0, 1])
}

/// Prepares `graph.less_or_equal`.
pub(super) fn less_or_equal(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    numbers::<LessOrEqual>(m, args, [0, 1])
}

/// Prepares `graph.greater`.
pub(super) fn greater(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    numbers::<Less>(m, args, [1, 0])
}

/// Prepares `graph.greater_or_equal`.
pub(super) fn greater_or_equal(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    numbers::<LessOrEqual>(m, args, [1, 0])
}

/// Prepares `graph.and`.
pub(super) fn and(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    booleans::<Min>(m, args)
}

/// Prepares `graph.or`.
pub(super) fn or(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    booleans::<Max>(m, args)
}

/// Prepares `graph.xor`.
pub(super) fn xor(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    booleans::<Unequal>(m, args)
}

/// Prepares `graph.not`.
pub(super) fn not(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    dtype(m, args.operand_type(0)).filter(|&kind| kind == DType::Bool)?;
    each(m, args, |x: u8| u8::from(x == 0))
}

/// Prepares `graph.cast` and `graph.cast_like`.
pub(super) fn cast(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (from, to) = (dtype(m, args.operand_type(0))?, dtype(m, *args.result_types.first()?)?);
    match (from, to) {
        (DType::F32, DType::BF16) => return each(m, args, rounded),
        (DType::BF16, DType::F32) => return each(m, args, widened),
        (DType::F32, DType::F16) => {
            return converted(m, args, |from, to| {
                let to: &mut [u16] = elements_mut(to);
                to.reinterpret_cast_mut::<f16>().convert_from_f32_slice(elements(from));
            });
        }
        (DType::F16, DType::F32) => {
            return converted(m, args, |from, to| {
                let from: &[u16] = elements(from);
                from.reinterpret_cast::<f16>().convert_to_f32_slice(elements_mut(to));
            });
        }
        (DType::F64, DType::F16) => return each(m, args, |x: f64| f16::from_f64(x).to_bits()),
        (DType::F16, DType::F64) => return each(m, args, |x: u16| f16::from_bits(x).to_f64()),
        (DType::BF16, DType::F64) => return each(m, args, |x: u16| f64::from(widened(x))),
        _ => {}
    }
    match to {
        DType::Bool => dispatch!(from, T => each(m, args, |x: T| u8::from(x != T::ZERO))),
        _ => dispatch!(from, T => dispatch!(to, R => each(m, args, |x: T| x.cast::<R>()))),
    }
}

/// Prepares a conversion of all elements of the first operand at once.
fn converted(m: &Module, args: &OpArgs<'_>, convert: fn(&[u8], &mut [u8])) -> Option<Prepared> {
    let fits = extents(m, args.operand_type(0)) == extents(m, *args.result_types.first()?);
    let kernel = Kernel::new([0], move |data, out| {
        convert(data[0], out);
        Ok(())
    });
    fits.then(|| kernel.into())
}

/// Number of elements whose computation takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// A function of each element.
struct Each<'a, T, R, F> {
    x: &'a [T],
    out: &'a mut [R],
    f: &'a F,
}

impl<T: Copy, R, F: Fn(T) -> R> Loops for Each<'_, T, R, F> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        self.out.iter_mut().zip(self.x).for_each(|(y, &x)| *y = (self.f)(x));
    }
}

/// Prepares a function of each element of the first operand.
fn each<T: ElementArithmetic, R: Pod + Send + Sync>(
    m: &Module,
    args: &OpArgs<'_>,
    f: impl Fn(T) -> R + Send + Sync + 'static,
) -> Option<Prepared> {
    let run = move |x: &[u8], out: &mut [u8]| run_widest(Each { x: elements(x), out: elements_mut(out), f: &f });
    each_part(m, args, [size_of::<T>(), size_of::<R>()], Box::new(run))
}

/// Computes a part of a result from the same part of an operand.
type RunPart = dyn Fn(&[u8], &mut [u8]) + Send + Sync;

/// Prepares a function of parts of the first operand and of the result, whose elements have these sizes.
fn each_part(m: &Module, args: &OpArgs<'_>, [from, to]: [usize; 2], run: Box<RunPart>) -> Option<Prepared> {
    let result = *args.result_types.first()?;
    let fits = extents(m, args.operand_type(0)) == extents(m, result) && dtype(m, result)?.size() == to;
    let kernel = Kernel::shared([0], move |workers, data, out| {
        let count = out.len() / to;
        let threads = workers.for_steps(count / ELEMENTS_PER_STEP);
        let part = count.div_ceil(Workers::parts(threads)).max(1);
        let parts = data[0].chunks(part * from).zip(out.chunks_mut(part * to));
        workers.share(threads, parts, |(x, out)| run(x, out));
        Ok(())
    });
    fits.then(|| kernel.into())
}

/// Views bytes as elements; an empty slice need not be aligned.
pub(super) fn elements<T: Pod>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::cast_slice(bytes) }
}

/// Views bytes as mutable elements.
pub(super) fn elements_mut<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(bytes) }
}

/// Prepares a function of two operands, in this order, which broadcast.
fn combined<F: Combine, T: ElementArithmetic>(m: &Module, args: &OpArgs<'_>, order: [usize; 2]) -> Option<Prepared> {
    let [a, b] = order.map(|i| (i < args.operands.len()).then(|| args.operand_type(i)));
    let (a, b) = (a?, b?);
    let size = dtype(m, *args.result_types.first()?)?.size();
    if args.operands.len() != 2 || dtype(m, a) != dtype(m, b) || size != size_of::<F::Result<T>>() {
        return None;
    }
    let shapes = [extents(m, a)?, extents(m, b)?];
    let nest = Nest::new(&extents(m, args.result_types[0])?, &shapes)?;
    let must_not_be_zero = matches!(Binary::of(args), Some(Binary::Div)) && !dtype(m, a)?.is_float();
    let run = move |nest: &Nest, data: [&[u8]; 2], out: &mut [u8], [part, first]: [usize; 2]| {
        let (operands, is_many) = (data.map(elements::<T>), [nest.is_many(0), nest.is_many(1)]);
        nest.rows_widest(elements_mut(out), first, &mut BinaryRow { operands, is_many, part, of: PhantomData::<F> });
    };
    let has_zero: fn(&[u8]) -> bool = |divisors| elements::<T>(divisors).contains(&T::ZERO);
    Some(of_rows(nest, order, size, must_not_be_zero.then_some(has_zero), Box::new(run)))
}

/// Computes a part of a result from two operands, given the position within the row and the index of its first element.
type RunRows = dyn Fn(&Nest, [&[u8]; 2], &mut [u8], [usize; 2]) + Send + Sync;

/// Creates a kernel of a nest with two operands, the second of which has no zero if it is asked, and a result whose elements have a size.
fn of_rows(
    nest: Nest,
    order: [usize; 2],
    size: usize,
    has_zero: Option<fn(&[u8]) -> bool>,
    run: Box<RunRows>,
) -> Prepared {
    let kernel = Kernel::shared(order, move |workers, data, out| {
        if has_zero.is_some_and(|has_zero| has_zero(data[1])) {
            return Err(Trap::unsupported("div: integer division by zero"));
        }
        let steps = out.len() / size / ELEMENTS_PER_STEP;
        nest.share(workers, steps, [1, size], out, &|part, out, first| {
            run(&nest, [data[0], data[1]], out, [part, first]);
        });
        Ok(())
    });
    kernel.into()
}

/// The computation of a row from two operands.
struct BinaryRow<'a, T, F> {
    operands: [&'a [T]; 2],
    /// Whether each operand has an element for each of the row, not one for all.
    is_many: [bool; 2],
    /// The first element within the row.
    part: usize,
    of: PhantomData<F>,
}

impl<T: ElementArithmetic, F: Combine> RowKernel<F::Result<T>> for BinaryRow<'_, T, F> {
    #[inline(always)]
    fn row<M: MultiplyAdd>(&mut self, offsets: &[usize], out: &mut [F::Result<T>]) {
        let [a, b] = [0, 1].map(|i| &self.operands[i][offsets[i] + if self.is_many[i] { self.part } else { 0 }..]);
        match self.is_many {
            [true, true] => out.iter_mut().zip(a.iter().zip(b)).for_each(|(y, (&a, &b))| *y = F::apply(a, b)),
            [true, false] => out.iter_mut().zip(a).for_each(|(y, &a)| *y = F::apply(a, b[0])),
            [false, true] => out.iter_mut().zip(b).for_each(|(y, &b)| *y = F::apply(a[0], b)),
            [false, false] => out.fill(F::apply(a[0], b[0])),
        }
    }
}

/// Prepares `graph.where`, which moves elements of any type.
pub(super) fn selection(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let dtypes = [0, 1, 2].map(|i| dtype(m, args.operand_type(i)));
    if dtypes[0] != Some(DType::Bool) || dtypes[1] != dtypes[2] || dtypes[1] != dtype(m, *args.result_types.first()?) {
        return None;
    }
    match dtypes[1]?.size() {
        1 => selected::<u8>(m, args),
        2 => selected::<u16>(m, args),
        4 => selected::<u32>(m, args),
        8 => selected::<u64>(m, args),
        _ => None,
    }
}

fn selected<T: ElementArithmetic>(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let shapes: Vec<_> = (0..3).map(|i| extents(m, args.operand_type(i))).collect::<Option<_>>()?;
    let nest = Nest::new(&extents(m, args.result_types[0])?, &shapes)?;
    let kernel = Kernel::shared([0, 1, 2], move |workers, data, out| {
        let (condition, choices) = (data[0], [elements(data[1]), elements(data[2])]);
        let size = size_of::<T>();
        nest.share(workers, out.len() / size / ELEMENTS_PER_STEP, [1, size], out, &|part, out, first| {
            let steps = [0, 1, 2].map(|i| usize::from(nest.is_many(i)));
            nest.rows_widest(elements_mut(out), first, &mut Selection::<T> { condition, choices, steps, part });
        });
        Ok(())
    });
    Some(kernel.into())
}

/// The selection of a row from two operands.
struct Selection<'a, T> {
    condition: &'a [u8],
    choices: [&'a [T]; 2],
    /// Step of each operand within the row: 0 or 1.
    steps: [usize; 3],
    /// The first element within the row.
    part: usize,
}

impl<T: ElementArithmetic> RowKernel<T> for Selection<'_, T> {
    #[inline(always)]
    fn row<M: MultiplyAdd>(&mut self, offsets: &[usize], out: &mut [T]) {
        for (i, y) in out.iter_mut().enumerate() {
            let at = |k: usize| offsets[k] + (self.part + i) * self.steps[k];
            let choice = if self.condition[at(0)] != 0 { 0 } else { 1 };
            *y = self.choices[choice][at(choice + 1)];
        }
    }
}
