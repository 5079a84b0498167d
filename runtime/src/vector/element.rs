//! Floats with vectors of their own, and the choice of the vectors.

use super::{Eight, Floats, Four, Isa};

/// Work on vectors of floats.
pub(crate) trait OnVectors<T> {
    /// Does the work; always inlined.
    ///
    /// # Safety
    /// The machine has the vectors, and the caller guarantees what the work requires.
    unsafe fn run<V: Floats<Element = T>>(self);
}

/// A float with vectors of its own.
pub(crate) trait Element: bytemuck::Pod + Floats<Element = Self> + From<f32> + PartialOrd + Send + Sync {
    /// Returns the widest vectors, at most as wide as those of an extension, that some elements fill; `None` if the narrowest have more lanes.
    fn filled(isa: Isa, elements: usize) -> Option<Isa> {
        // Extensions count lanes of f32.
        isa.filled_by(elements.saturating_mul(size_of::<Self>() / size_of::<f32>()))
    }

    /// Number of lanes of vectors.
    fn lanes(isa: Option<Isa>) -> usize {
        let bytes = match isa {
            Some(Isa::Avx512) => 64,
            Some(Isa::Avx2 | Isa::Portable) => 32,
            Some(Isa::Neon) => 16,
            None => size_of::<Self>(),
        };
        bytes / size_of::<Self>()
    }

    /// Does work with vectors.
    ///
    /// # Safety
    /// The machine has the extension, and the caller guarantees what the work requires.
    unsafe fn run(isa: Option<Isa>, work: impl OnVectors<Self>);
}

/// Implements [`Element`] with vectors of 512, 256 and 128 bits, and portable ones.
macro_rules! element {
    ($float:ty, $avx512:ident, $avx2:ident, $neon:ident, $portable:ident) => {
        impl Element for $float {
            unsafe fn run(isa: Option<Isa>, work: impl OnVectors<$float>) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match isa {
                        #[cfg(target_arch = "x86_64")]
                        Some(Isa::Avx512) => x86::avx512::<std::arch::x86_64::$avx512>(work),
                        #[cfg(target_arch = "x86_64")]
                        Some(Isa::Avx2) => x86::avx2::<std::arch::x86_64::$avx2>(work),
                        #[cfg(target_arch = "aarch64")]
                        Some(Isa::Neon) => work.run::<std::arch::aarch64::$neon>(),
                        Some(_) => work.run::<$portable>(),
                        None => work.run::<$float>(),
                    }
                }
            }
        }
    };
}

element!(f32, __m512, __m256, float32x4_t, Eight);
element!(f64, __m512d, __m256d, float64x2_t, Four);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Floats, OnVectors};

    /// Does work with AVX-512.
    ///
    /// # Safety
    /// As for [`OnVectors::run`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512<V: Floats>(work: impl OnVectors<V::Element>) {
        // SAFETY: guaranteed by the caller.
        unsafe { work.run::<V>() }
    }

    /// Does work with AVX2.
    ///
    /// # Safety
    /// As for [`OnVectors::run`].
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn avx2<V: Floats>(work: impl OnVectors<V::Element>) {
        // SAFETY: guaranteed by the caller.
        unsafe { work.run::<V>() }
    }
}
