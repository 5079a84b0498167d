//! The last stages of the epilogue of products and windows: functions of one number.

#![allow(unsafe_code)]

use crate::vector::Vector;

/// The stages that follow bias and residual: a clamp, then hard swish, then a factor and an addend.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ElementwiseEpilogue {
    /// Bounds of the clamp.
    pub range: (f32, f32),
    /// Whether `x * max(0, min(1, x / 6 + 0.5))` is applied.
    pub hard_swish: bool,
    /// Factor, and addend of the product with it.
    pub affine: (f32, f32),
}

impl ElementwiseEpilogue {
    /// No function.
    pub const NONE: ElementwiseEpilogue = ElementwiseEpilogue::clamp((f32::NEG_INFINITY, f32::INFINITY));

    /// The factor and the addend that change no number.
    const NO_AFFINE: (f32, f32) = (1.0, -0.0);

    /// Returns a clamp.
    pub const fn clamp(range: (f32, f32)) -> ElementwiseEpilogue {
        ElementwiseEpilogue { range, hard_swish: false, affine: ElementwiseEpilogue::NO_AFFINE }
    }

    /// Returns the bounds, if there is nothing but a clamp.
    pub fn bounds(self) -> Option<(f32, f32)> {
        (self == ElementwiseEpilogue::clamp(self.range)).then_some(self.range)
    }

    /// Applies it to a vector.
    ///
    /// # Safety
    /// The machine has the vectors.
    #[inline(always)]
    pub(crate) unsafe fn of<V: Vector>(&self, x: V) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let x = self.clamped(x);
            if self.hard_swish { self.activated(x) } else { x }
        }
    }

    /// Applies the clamp to a vector.
    ///
    /// # Safety
    /// The machine has the vectors.
    #[inline(always)]
    pub(crate) unsafe fn clamped<V: Vector>(&self, x: V) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { x.between(V::splat(self.range.0), V::splat(self.range.1)) }
    }

    /// Applies what follows the clamp to a vector: hard swish, the factor and the addend.
    ///
    /// # Safety
    /// The machine has the vectors.
    #[inline(always)]
    pub(crate) unsafe fn activated<V: Vector>(&self, x: V) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let gate = x.multiply_add(V::splat(1.0 / 6.0), V::splat(0.5)).between(V::splat(0.0), V::splat(1.0));
            let y = x.multiply_add(gate, V::splat(-0.0));
            y.multiply_add(V::splat(self.affine.0), V::splat(self.affine.1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{Eight, Floats};

    #[test]
    fn stages_apply_in_their_order() {
        let swish = |x: f64| x * (x / 6.0 + 0.5).clamp(0.0, 1.0);
        let numbers = [-7.0_f32, -3.0, -1.5, -0.0, 0.25, 2.0, 3.0, 1000.0];
        for (hard_swish, affine) in
            [(false, ElementwiseEpilogue::NO_AFFINE), (true, ElementwiseEpilogue::NO_AFFINE), (true, (-2.0, 0.5))]
        {
            let elementwise = ElementwiseEpilogue { range: (-2.0, 100.0), hard_swish, affine };
            let mut have = [0.0_f32; 8];
            // SAFETY: there are eight elements, and these vectors need no extension.
            unsafe { elementwise.of(Eight::load(numbers.as_ptr())).store(have.as_mut_ptr()) };
            for (x, have) in numbers.into_iter().zip(have) {
                let x = f64::from(x).clamp(-2.0, 100.0);
                let y = if hard_swish { swish(x) * f64::from(affine.0) + f64::from(affine.1) } else { x };
                assert!(
                    (f64::from(have) - y).abs() <= 1e-5 * (1.0 + y.abs()),
                    "{elementwise:?}: {x} gives {have}, not {y}"
                );
            }
        }
        assert_eq!(ElementwiseEpilogue::clamp((0.0, 6.0)).bounds(), Some((0.0, 6.0)));
        assert_eq!(ElementwiseEpilogue { hard_swish: true, ..ElementwiseEpilogue::NONE }.bounds(), None);
    }
}
