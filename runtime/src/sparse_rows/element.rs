//! The elements of products by compressed rows, and their vectors.

use super::Part;
use crate::vector::{Eight, Floats, Four, Isa};

/// A float with kernels.
pub(crate) trait Element: bytemuck::Pod + Floats<Element = Self> + From<f32> + PartialOrd + Send + Sync {
    /// Returns the widest vectors, at most as wide as those of an extension, that some columns fill; `None` if the narrowest have more lanes.
    fn filled(isa: Isa, columns: usize) -> Option<Isa> {
        // Extensions count lanes of f32.
        isa.filled_by(columns.saturating_mul(size_of::<Self>() / size_of::<f32>()))
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

    /// Computes some rows with vectors.
    ///
    /// # Safety
    /// As for [`Part::run`], of which the machine has the vectors of the extension.
    unsafe fn run(part: &Part<'_, Self>, isa: Option<Isa>, out: &mut [Self]);
}

/// Implements [`Element`] with vectors of 512, 256 and 128 bits, and portable ones.
macro_rules! element {
    ($float:ty, $avx512:ident, $avx2:ident, $neon:ident, $portable:ident) => {
        impl Element for $float {
            unsafe fn run(part: &Part<'_, $float>, isa: Option<Isa>, out: &mut [$float]) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match isa {
                        #[cfg(target_arch = "x86_64")]
                        Some(Isa::Avx512) => x86::avx512::<std::arch::x86_64::$avx512>(part, out),
                        #[cfg(target_arch = "x86_64")]
                        Some(Isa::Avx2) => x86::avx2::<std::arch::x86_64::$avx2>(part, out),
                        #[cfg(target_arch = "aarch64")]
                        Some(Isa::Neon) => part.run::<std::arch::aarch64::$neon>(out),
                        Some(_) => part.run::<$portable>(out),
                        None => part.run::<$float>(out),
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
    use super::{Element, Floats, Part};

    /// Computes some rows with AVX-512.
    ///
    /// # Safety
    /// As for [`Part::run`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512<V: Floats<Element: Element>>(part: &Part<'_, V::Element>, out: &mut [V::Element]) {
        // SAFETY: guaranteed by the caller.
        unsafe { part.run::<V>(out) }
    }

    /// Computes some rows with AVX2.
    ///
    /// # Safety
    /// As for [`Part::run`].
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn avx2<V: Floats<Element: Element>>(part: &Part<'_, V::Element>, out: &mut [V::Element]) {
        // SAFETY: guaranteed by the caller.
        unsafe { part.run::<V>(out) }
    }
}
