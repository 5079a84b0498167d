//! Elementwise ops on all number types, an op per kernel: arithmetic, comparison, logic, selection, conversion. Ops on f32 that can
//! be fused are stages of [`map`](super::map) instead.

use super::map::{Nest, RowKernel};
use super::{Kernel, Prepared, dtype, extents};
use crate::workers::Workers;
use bytemuck::Pod;
use gradus_dialects::graph;
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs, OpDecl, OpInfo};
use std::marker::PhantomData;

/// Arithmetic on elements, as in the reference kernels: integers wrap, NaN passes through.
pub(super) trait Number: Pod + PartialOrd + Send + Sync {
    const ZERO: Self;
    fn plus(self, x: Self) -> Self;
    fn minus(self, x: Self) -> Self;
    fn times(self, x: Self) -> Self;
    /// Divides; integers truncate towards zero, and are not divided by zero.
    fn over(self, x: Self) -> Self;
    fn larger(self, x: Self) -> Self;
    fn smaller(self, x: Self) -> Self;
    /// Converts as `graph.cast` does: floats truncate and saturate, integers keep their low bits.
    fn cast<T: Number>(self) -> T;
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
        impl Number for $T {
            const ZERO: $T = 0;
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
            fn cast<T: Number>(self) -> T { T::$from(self as $Wide) }
            numbers!(@conversions $T);
        }
    )* };
    (floats $($T:ty)*) => { $(
        impl Number for $T {
            const ZERO: $T = 0.0;
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
            fn cast<T: Number>(self) -> T { T::from_f64(self.into()) }
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
    type Result<T: Number>: Pod + Send + Sync;
    fn apply<T: Number>(a: T, b: T) -> Self::Result<T>;
}

/// Declares functions of two elements with the ops that apply them, and `binary`, which selects among them.
macro_rules! functions {
    ($($Name:ident [$($Op:ident),*] $T:ident -> $Result:ty = |$a:ident, $b:ident| $value:expr;)*) => {
        $(
            struct $Name;

            impl Combine for $Name {
                type Result<$T: Number> = $Result;
                #[inline(always)]
                fn apply<$T: Number>($a: $T, $b: $T) -> $Result { $value }
            }
        )*

        /// The ops that apply a function of two elements.
        const BINARY: &[&OpInfo] = &[$($(graph::$Op::INFO,)*)*];

        /// Prepares an op that applies a function of two elements.
        fn binary(m: &Module, args: &OpArgs<'_>) -> Option<Kernel> {
            $(if [$(graph::$Op::INFO),*].iter().any(|info| std::ptr::eq(*info, args.info)) {
                return dispatch!(dtype(m, args.operand_type(0))?, T => combined::<$Name, T>(m, args));
            })*
            None
        }
    };
}

functions! {
    Add [AddOp, SumOp] T -> T = |a, b| a.plus(b);
    Sub [SubOp] T -> T = |a, b| a.minus(b);
    Mul [MulOp] T -> T = |a, b| a.times(b);
    Div [DivOp] T -> T = |a, b| a.over(b);
    Max [MaxOp, OrOp] T -> T = |a, b| a.larger(b);
    Min [MinOp, AndOp] T -> T = |a, b| a.smaller(b);
    Equal [EqualOp] T -> u8 = |a, b| u8::from(a == b);
    Unequal [XorOp] T -> u8 = |a, b| u8::from(a != b);
    Less [LessOp] T -> u8 = |a, b| u8::from(a < b);
    LessOrEqual [LessOrEqualOp] T -> u8 = |a, b| u8::from(a <= b);
    Greater [GreaterOp] T -> u8 = |a, b| u8::from(a > b);
    GreaterOrEqual [GreaterOrEqualOp] T -> u8 = |a, b| u8::from(a >= b);
}

/// The ops of other forms.
const OTHERS: &[&OpInfo] = &[
    graph::NegOp::INFO,
    graph::AbsOp::INFO,
    graph::ReluOp::INFO,
    graph::NotOp::INFO,
    graph::CastOp::INFO,
    graph::CastLikeOp::INFO,
    graph::WhereOp::INFO,
];

/// Returns the ops with kernels for at least one element type.
pub(super) fn ops() -> impl Iterator<Item = &'static OpInfo> {
    BINARY.iter().chain(OTHERS).copied()
}

/// Prepares an elementwise op.
pub(super) fn kernel(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let is = |info: &OpInfo| std::ptr::eq(info, args.info);
    let from = dtype(m, args.operand_type(0))?;
    let to = dtype(m, *args.result_types.first()?)?;
    // Booleans are bytes, but no numbers.
    let is_logic = [graph::AndOp::INFO, graph::OrOp::INFO, graph::XorOp::INFO, graph::NotOp::INFO].into_iter().any(is);
    let takes_any = [graph::EqualOp::INFO, graph::WhereOp::INFO, graph::CastOp::INFO, graph::CastLikeOp::INFO];
    if !takes_any.into_iter().any(is) && is_logic != (from == DType::Bool) {
        return None;
    }
    let kernel = if is(graph::WhereOp::INFO) {
        return selection(m, args).map(Prepared::from);
    } else if is(graph::CastOp::INFO) || is(graph::CastLikeOp::INFO) {
        match to {
            DType::Bool => dispatch!(from, T => Some(unary(|x: T| u8::from(x != T::ZERO)))),
            _ => dispatch!(from, T => dispatch!(to, R => Some(unary(|x: T| x.cast::<R>())))),
        }
    } else if is(graph::NotOp::INFO) {
        Some(unary(|x: u8| u8::from(x == 0)))
    } else if is(graph::NegOp::INFO) {
        // Of a float, the sign changes, also that of zero.
        dispatch!(from, T => Some(unary(|x: T| T::from_f64(-0.0).minus(x))))
    } else if is(graph::AbsOp::INFO) {
        dispatch!(from, T => Some(unary(|x: T| if x.smaller(T::ZERO) == T::ZERO { x.plus(T::ZERO) } else { T::ZERO.minus(x) })))
    } else if is(graph::ReluOp::INFO) {
        dispatch!(from, T => Some(unary(|x: T| T::ZERO.larger(x))))
    } else {
        return binary(m, args).map(Prepared::from);
    };
    let is_one = args.operands.len() == 1 || is(graph::CastLikeOp::INFO);
    kernel
        .filter(|_| is_one && extents(m, args.operand_type(0)) == extents(m, args.result_types[0]))
        .map(Prepared::from)
}

/// Number of elements whose computation takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// Creates a kernel that applies a function to each element.
fn unary<T: Number, R: Pod + Send + Sync>(f: impl Fn(T) -> R + Send + Sync + 'static) -> Kernel {
    Kernel::shared([0], move |workers, data, out| {
        let (x, out): (&[T], &mut [R]) = (elements(data[0]), elements_mut(out));
        let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP);
        let part = out.len().div_ceil(Workers::parts(threads)).max(1);
        workers.share(threads, x.chunks(part).zip(out.chunks_mut(part)), |(x, out)| {
            out.iter_mut().zip(x).for_each(|(y, &x)| *y = f(x));
        });
        Ok(())
    })
}

/// Views bytes as elements; an empty slice need not be aligned.
pub(super) fn elements<T: Pod>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::cast_slice(bytes) }
}

/// Views bytes as mutable elements.
pub(super) fn elements_mut<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(bytes) }
}

/// Prepares a function of two operands, which broadcast.
fn combined<F: Combine, T: Number>(m: &Module, args: &OpArgs<'_>) -> Option<Kernel> {
    let [a, b] = [args.operand_type(0), args.operand_type(1)];
    let size = dtype(m, *args.result_types.first()?)?.size();
    if args.operands.len() != 2 || dtype(m, a) != dtype(m, b) || size != size_of::<F::Result<T>>() {
        return None;
    }
    let shapes = [extents(m, a)?, extents(m, b)?];
    let nest = Nest::new(&extents(m, args.result_types[0])?, &shapes)?;
    let must_not_be_zero = std::ptr::eq(args.info, graph::DivOp::INFO) && !dtype(m, a)?.is_float();
    Some(Kernel::shared([0, 1], move |workers, data, out| {
        let operands: [&[T]; 2] = [elements(data[0]), elements(data[1])];
        if must_not_be_zero && operands[1].contains(&T::ZERO) {
            return Err(Trap::unsupported("div: integer division by zero"));
        }
        nest.share(workers, ELEMENTS_PER_STEP, elements_mut(out), |part, out, first| {
            let is_many = [nest.is_many(0), nest.is_many(1)];
            nest.rows(out, first, &mut Row { operands, is_many, part, of: PhantomData::<F> });
        });
        Ok(())
    }))
}

/// The computation of a row from two operands.
struct Row<'a, T, F> {
    operands: [&'a [T]; 2],
    /// Whether each operand has an element for each of the row, not one for all.
    is_many: [bool; 2],
    /// The first element within the row.
    part: usize,
    of: PhantomData<F>,
}

impl<T: Number, F: Combine> RowKernel<F::Result<T>> for Row<'_, T, F> {
    #[inline(always)]
    fn row(&mut self, offsets: &[usize], out: &mut [F::Result<T>]) {
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
fn selection(m: &Module, args: &OpArgs<'_>) -> Option<Kernel> {
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

fn selected<T: Number>(m: &Module, args: &OpArgs<'_>) -> Option<Kernel> {
    let shapes: Vec<_> = (0..3).map(|i| extents(m, args.operand_type(i))).collect::<Option<_>>()?;
    let nest = Nest::new(&extents(m, args.result_types[0])?, &shapes)?;
    Some(Kernel::shared([0, 1, 2], move |workers, data, out| {
        let (condition, choices) = (data[0], [elements(data[1]), elements(data[2])]);
        nest.share(workers, ELEMENTS_PER_STEP, elements_mut(out), |part, out, first| {
            let steps = [0, 1, 2].map(|i| usize::from(nest.is_many(i)));
            nest.rows(out, first, &mut Selection::<T> { condition, choices, steps, part });
        });
        Ok(())
    }))
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

impl<T: Number> RowKernel<T> for Selection<'_, T> {
    #[inline(always)]
    fn row(&mut self, offsets: &[usize], out: &mut [T]) {
        for (i, y) in out.iter_mut().enumerate() {
            let at = |k: usize| offsets[k] + (self.part + i) * self.steps[k];
            let choice = if self.condition[at(0)] != 0 { 0 } else { 1 };
            *y = self.choices[choice][at(choice + 1)];
        }
    }
}
