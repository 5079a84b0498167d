//! Vectors of f32 and of f64: what products do with them.

/// A vector of floats, or one float, for remainders narrower than any vector.
pub(crate) trait Floats: Copy {
    /// A float.
    type Element: Copy;

    /// Number of lanes.
    const LANES: usize;

    /// Broadcasts a scalar to all lanes.
    ///
    /// # Safety
    /// The machine has these vectors, here and for all other functions.
    unsafe fn splat(x: Self::Element) -> Self;

    /// Loads a vector.
    ///
    /// # Safety
    /// There are `LANES` floats at `from`.
    unsafe fn load(from: *const Self::Element) -> Self;

    /// Stores the vector.
    ///
    /// # Safety
    /// `LANES` floats can be written at `to`.
    unsafe fn store(self, to: *mut Self::Element);

    /// Computes the multiply-add `self * x + y`, fused unless the vector is portable.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn multiply_add(self, x: Self, y: Self) -> Self;

    /// Adds lanewise.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn plus(self, x: Self) -> Self;

    /// Clamps to `[low, high]`; NaN passes through.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn between(self, low: Self, high: Self) -> Self;
}

/// Implements [`Floats`] for one float.
macro_rules! scalar {
    ($float:ty) => {
        impl Floats for $float {
            type Element = $float;
            const LANES: usize = 1;

            #[inline(always)]
            unsafe fn splat(x: $float) -> $float {
                x
            }

            #[inline(always)]
            unsafe fn load(from: *const $float) -> $float {
                // SAFETY: the caller guarantees a float.
                unsafe { from.read() }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $float) {
                // SAFETY: the caller guarantees room for a float.
                unsafe { to.write(self) }
            }

            #[inline(always)]
            unsafe fn multiply_add(self, x: $float, y: $float) -> $float {
                self * x + y
            }

            #[inline(always)]
            unsafe fn plus(self, x: $float) -> $float {
                self + x
            }

            #[inline(always)]
            unsafe fn between(self, low: $float, high: $float) -> $float {
                if self < low {
                    low
                } else if self > high {
                    high
                } else {
                    self
                }
            }
        }
    };
}

scalar!(f32);
scalar!(f64);

/// Several floats, for auto-vectorization.
#[derive(Clone, Copy)]
pub(crate) struct Several<T, const N: usize>(pub [T; N]);

/// As many f32 as 256 bits have.
pub(crate) type Eight = Several<f32, 8>;

/// As many f64 as 256 bits have.
pub(crate) type Four = Several<f64, 4>;

impl<T: Copy, const N: usize> Several<T, N> {
    /// Applies a function to each lane and its index.
    #[inline(always)]
    pub fn map(self, f: impl Fn(usize, T) -> T) -> Self {
        let mut all = self.0;
        all.iter_mut().enumerate().for_each(|(i, x)| *x = f(i, *x));
        Several(all)
    }
}

impl<T: Floats<Element = T>, const N: usize> Floats for Several<T, N> {
    type Element = T;
    const LANES: usize = N;

    #[inline(always)]
    unsafe fn splat(x: T) -> Self {
        Several([x; N])
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller guarantees the floats; an array has the alignment of its elements.
        Several(unsafe { from.cast::<[T; N]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller guarantees the room.
        unsafe { to.cast::<[T; N]>().write(self.0) }
    }

    #[inline(always)]
    unsafe fn multiply_add(self, x: Self, y: Self) -> Self {
        // SAFETY: scalar code runs on every machine, here and below.
        self.map(|i, a| unsafe { a.multiply_add(x.0[i], y.0[i]) })
    }

    #[inline(always)]
    unsafe fn plus(self, x: Self) -> Self {
        // SAFETY: as above.
        self.map(|i, a| unsafe { a.plus(x.0[i]) })
    }

    #[inline(always)]
    unsafe fn between(self, low: Self, high: Self) -> Self {
        // SAFETY: as above.
        self.map(|i, a| unsafe { a.between(low.0[i], high.0[i]) })
    }
}

/// Implements [`Floats`] with intrinsics.
macro_rules! floats {
    ($vector:ty, $lanes:literal of $float:ty, $splat:ident, $load:ident, $store:ident, $plus:ident, $max:ident, $min:ident,
     |$a:ident, $x:ident, $y:ident| $fma:expr) => {
        impl Floats for $vector {
            type Element = $float;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(x: $float) -> Self {
                // SAFETY: the caller guarantees that the machine has these vectors, here and below.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $float) -> Self {
                // SAFETY: as above, and the floats exist; the load is unaligned.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $float) {
                // SAFETY: as above, and there is room; the store is unaligned.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn multiply_add(self, $x: Self, $y: Self) -> Self {
                let $a = self;
                // SAFETY: as above.
                unsafe { $fma }
            }

            #[inline(always)]
            unsafe fn plus(self, x: Self) -> Self {
                // SAFETY: as above.
                unsafe { $plus(self, x) }
            }

            #[inline(always)]
            unsafe fn between(self, low: Self, high: Self) -> Self {
                // SAFETY: as above. If either operand is NaN, the instructions return the second.
                unsafe { $min(high, $max(low, self)) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Floats;
    use std::arch::x86_64::*;

    floats!(
        __m512, 16 of f32, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_max_ps, _mm512_min_ps,
        |a, x, y| _mm512_fmadd_ps(a, x, y)
    );
    floats!(
        __m512d, 8 of f64, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_max_pd, _mm512_min_pd,
        |a, x, y| _mm512_fmadd_pd(a, x, y)
    );
    floats!(
        __m256, 8 of f32, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps, _mm256_max_ps, _mm256_min_ps,
        |a, x, y| _mm256_fmadd_ps(a, x, y)
    );
    floats!(
        __m256d, 4 of f64, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd, _mm256_max_pd, _mm256_min_pd,
        |a, x, y| _mm256_fmadd_pd(a, x, y)
    );
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::Floats;
    use std::arch::aarch64::*;

    /// Defines the larger and the smaller of a bound and a vector, whose NaN pass through.
    macro_rules! bounds {
        ($vector:ty, $less:ident, $more:ident, $select:ident, $above:ident, $below:ident) => {
            /// `low > x ? low : x`.
            ///
            /// # Safety
            /// The machine has these vectors.
            #[inline(always)]
            unsafe fn $less(low: $vector, x: $vector) -> $vector {
                // SAFETY: guaranteed by the caller.
                unsafe { $select($above(low, x), low, x) }
            }

            /// `high < x ? high : x`.
            ///
            /// # Safety
            /// The machine has these vectors.
            #[inline(always)]
            unsafe fn $more(high: $vector, x: $vector) -> $vector {
                // SAFETY: as above.
                unsafe { $select($below(high, x), high, x) }
            }
        };
    }

    bounds!(float32x4_t, no_less_f32, no_more_f32, vbslq_f32, vcgtq_f32, vcltq_f32);
    bounds!(float64x2_t, no_less_f64, no_more_f64, vbslq_f64, vcgtq_f64, vcltq_f64);
    floats!(
        float32x4_t, 4 of f32, vdupq_n_f32, vld1q_f32, vst1q_f32, vaddq_f32, no_less_f32, no_more_f32,
        |a, x, y| vfmaq_f32(y, a, x)
    );
    floats!(
        float64x2_t, 2 of f64, vdupq_n_f64, vld1q_f64, vst1q_f64, vaddq_f64, no_less_f64, no_more_f64,
        |a, x, y| vfmaq_f64(y, a, x)
    );
}
