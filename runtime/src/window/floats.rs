//! Windows over images of f32 or bf16: maximum, sum, or weighted sum (depthwise convolution), in f32.

#![allow(private_bounds, reason = "only this crate has vectors")]

use super::kernel::{Max, Sum, Weighted, WindowImage};
use super::{BufferLengths, WindowTable, shared};
use crate::vector::{Isa, Vector};
use crate::workers::{DisjointWriter, Workers};
use crate::{ElementwiseEpilogue, KernelError};

/// The reduction of a window.
#[derive(Clone, Copy, Debug)]
pub enum WindowReduction<'a> {
    /// Maximum; NaN if any element is NaN.
    Max,
    /// Sum.
    Sum,
    /// Weighted sum with weights `[positions, channels]`.
    Weighted(&'a [f32]),
}

/// An element type of images and results.
pub trait Float: Copy + Send + Sync {
    /// Loads a vector.
    ///
    /// # Safety
    /// The machine has the vectors, and there are as many elements.
    unsafe fn load<V: Vector>(from: *const Self) -> V;

    /// Stores a vector, rounded half to even.
    ///
    /// # Safety
    /// The machine has the vectors, and there is room for as many elements.
    unsafe fn store<V: Vector>(all: V, to: *mut Self);
}

impl Float for f32 {
    #[inline(always)]
    unsafe fn load<V: Vector>(from: *const f32) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { V::load(from) }
    }

    #[inline(always)]
    unsafe fn store<V: Vector>(all: V, to: *mut f32) {
        // SAFETY: guaranteed by the caller.
        unsafe { all.store(to) }
    }
}

/// The bits of bf16.
impl Float for u16 {
    #[inline(always)]
    unsafe fn load<V: Vector>(from: *const u16) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { V::from_bf16(from) }
    }

    #[inline(always)]
    unsafe fn store<V: Vector>(all: V, to: *mut u16) {
        // SAFETY: guaranteed by the caller.
        unsafe { all.store_bf16(to) }
    }
}

/// Windows over an image of f32, or of bf16 by their bits.
#[derive(Clone, Copy, Debug)]
pub struct Windows<'a, T> {
    /// The image.
    pub a: &'a [T],
    /// The addresses of the window positions of each output row.
    pub places: &'a WindowTable,
    /// The reduction of each window.
    pub reduction: WindowReduction<'a>,
    /// Bias, one per channel.
    pub bias: Option<&'a [f32]>,
    /// Residual, added to the result elementwise; same shape as the result.
    pub add: Option<&'a [T]>,
    /// The functions of each element.
    pub elementwise: ElementwiseEpilogue,
}

impl<T: Float> Windows<'_, T> {
    /// Computes output rows of one column per channel with vectors of `isa` or narrower ones.
    ///
    /// # Errors
    /// Incompatible sizes, or an address outside the image.
    pub fn compute(&self, isa: Isa, workers: &Workers, c: &mut [T]) -> Result<(), KernelError> {
        let weights = if let WindowReduction::Weighted(weights) = self.reduction { Some(weights.len()) } else { None };
        let sizes = BufferLengths {
            places: self.places,
            image: self.a.len(),
            elements: c.len(),
            add: self.add.map(<[T]>::len),
            weights,
            parameters: [self.bias.map(<[f32]>::len), None],
        };
        sizes.check(isa)?;
        let image = FloatWindows { windows: *self, c: DisjointWriter::new(c) };
        // SAFETY: `check` established that the machine has the vectors, that all channels of all positions are in `a`,
        // that weights and bias cover all channels, and that `c` has an element for each channel of each row.
        unsafe {
            match self.reduction {
                WindowReduction::Max => shared::<Max>(isa, workers, &image),
                WindowReduction::Sum => shared::<Sum>(isa, workers, &image),
                WindowReduction::Weighted(_) => shared::<Weighted>(isa, workers, &image),
            }
        }
        Ok(())
    }
}

/// The windows and the destination.
struct FloatWindows<'a, T> {
    windows: Windows<'a, T>,
    c: DisjointWriter<T>,
}

impl<T: Float> WindowImage for FloatWindows<'_, T> {
    type Element = T;

    fn start(&self) -> *const T {
        self.windows.a.as_ptr()
    }

    fn places(&self) -> &WindowTable {
        self.windows.places
    }

    #[inline(always)]
    fn weights(&self) -> Option<*const f32> {
        if let WindowReduction::Weighted(weights) = self.windows.reduction { Some(weights.as_ptr()) } else { None }
    }

    #[inline(always)]
    unsafe fn load<V: Vector>(&self, from: *const T) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { T::load(from) }
    }

    #[inline(always)]
    unsafe fn finish<V: Vector, const NV: usize, const P: usize>(
        &self,
        row: impl Fn(usize) -> usize,
        channel: usize,
        all: [[V; NV]; P],
    ) {
        let Windows { places, bias, add, elementwise, .. } = self.windows;
        for (p, all) in all.into_iter().enumerate() {
            let at = row(p) * places.channels() + channel;
            for (i, mut all) in all.into_iter().enumerate().map(|(v, all)| (v * V::LANES, all)) {
                // SAFETY: bias has one element per channel; residual and result have one per channel of each row.
                unsafe {
                    if let Some(bias) = bias {
                        all = all.plus(V::load(bias.as_ptr().add(channel + i)));
                    }
                    if let Some(add) = add {
                        all = all.plus(T::load(add.as_ptr().add(at + i)));
                    }
                    T::store(elementwise.of(all), self.c.at(at + i));
                }
            }
        }
    }
}
