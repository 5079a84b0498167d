//! Sliding windows over images, each channel by itself: pools and depthwise convolutions. Channels are innermost and windows addressed
//! by tables, but for [`Planes`] and [`PlanePool`]; [`PlaneSums`] sum several channels.
//!
//! Row m of the result reduces `a[bases[m, t] + c]` over all positions t of the window, for each channel c. A base of
//! -1 is padding. Source: the seed on static compiled representations.
//!
//! | file | contents |
//! |---|---|
//! | `places.rs` | address tables, compiled to runs of windows with the same pattern |
//! | `kernel.rs` | the innermost loops |
//! | `floats.rs` | f32 images: maximum, sum, weighted sum |
//! | `bytes.rs` | 8-bit images: weighted sum |
//! | `dots.rs` | 8-bit images: weighted sum by dot products |
//! | `maxima.rs` | 8-bit images: maximum |
//! | `planes.rs` | f32 images with channels first: weighted sum |
//! | `plane_pool.rs` | f32 images with channels first: maximum, sum |
//! | `plane_sums.rs` | f32 images with channels first: weighted sum over channels |
//! | `partial.rs` | vectors of which some lanes are loaded or stored |

#![allow(unsafe_code)]

mod bytes;
#[cfg(target_arch = "x86_64")]
mod dots;
mod floats;
mod kernel;
mod maxima;
mod partial;
mod places;
mod plane_pool;
mod plane_sums;
mod planes;
#[cfg(test)]
mod tests;

use crate::KernelError;
use crate::vector::{Eight, Isa};
use crate::workers::Workers;
pub use bytes::{ByteWindows, MAX_POSITIONS};
#[cfg(target_arch = "x86_64")]
pub use dots::DotWindows;
pub use floats::{WindowReduction, Windows};
use kernel::{Reduce, WindowImage};
pub use maxima::MaxWindows;
pub use places::WindowTable;
pub use plane_pool::{PlanePool, PoolScale};
pub use plane_sums::{PlaneFilters, PlaneSums};
pub use planes::{PlaneAxis, PlaneShape, Planes};

/// Buffer lengths, for bounds checks.
struct BufferLengths<'a> {
    places: &'a WindowTable,
    image: usize,
    /// Length of the result.
    elements: usize,
    /// Length of the residual.
    add: Option<usize>,
    weights: Option<usize>,
    /// Lengths of the per-channel parameters.
    parameters: [Option<usize>; 2],
}

impl BufferLengths<'_> {
    /// Checks that the machine has the vectors, that all channels of all addresses are in the image, and that all other
    /// lengths match.
    fn check(&self, isa: Isa) -> Result<(), KernelError> {
        let BufferLengths { places, image, elements, add, weights, parameters } = *self;
        let channels = places.channels();
        if !isa.is_supported() {
            return Err(format!("this machine does not support {isa:?}").into());
        }
        if places.rows().checked_mul(channels) != Some(elements) || add.is_some_and(|add| add != elements) {
            return Err(format!(
                "a result of {} rows and {channels} channels does not have {elements} elements",
                places.rows()
            )
            .into());
        }
        let is_each = parameters.into_iter().flatten().all(|parameter| parameter == channels);
        if !is_each || weights.is_some_and(|have| places.positions().checked_mul(channels) != Some(have)) {
            return Err(format!("weights, bias or scales are not of {channels} channels").into());
        }
        match places.are_in(image) {
            true => Ok(()),
            false => Err(format!("an address is outside an image of {image} elements").into()),
        }
    }
}

/// Computes all windows over an image, on several threads if that pays.
///
/// # Safety
/// The machine has the vectors, all channels of all addresses are in the image, weights exist for each position and
/// channel, and each row is writable.
unsafe fn shared<R: Reduce>(isa: Isa, workers: &Workers, image: &(impl WindowImage + Sync)) {
    let places = image.places();
    let steps = places.rows().saturating_mul(places.positions()).saturating_mul(places.channels() / 16 + 1);
    let threads = workers.for_steps(steps);
    let parts = Workers::parts(threads);
    // SAFETY: guaranteed by the caller; each row belongs to one part.
    workers.share(threads, 0..parts, |i| unsafe { part::<R>(isa, image, [i, parts]) });
}

/// Computes part `i` of `parts` of all windows.
///
/// # Safety
/// As for [`shared`], with exclusive access to the rows of this part.
unsafe fn part<R: Reduce>(isa: Isa, image: &impl WindowImage, part: [usize; 2]) {
    // SAFETY: guaranteed by the caller; `filled_by` returns no vectors wider than the number of channels.
    unsafe {
        match isa.filled_by(image.places().channels()) {
            #[cfg(target_arch = "x86_64")]
            Some(Isa::Avx512) => x86::avx512::<R>(image, part),
            #[cfg(target_arch = "x86_64")]
            Some(Isa::Avx2) => x86::avx2::<R>(image, part),
            #[cfg(target_arch = "aarch64")]
            Some(Isa::Neon) => neon::neon::<R>(image, part),
            Some(_) => kernel::rows::<Eight, R>(image, part),
            None => kernel::rows::<f32, R>(image, part),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::kernel::{Reduce, WindowImage, rows};
    use std::arch::x86_64::{__m256, __m512};

    /// Computes part `i` of `parts` of all windows with AVX-512.
    ///
    /// # Safety
    /// As for [`rows`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512<R: Reduce>(image: &impl WindowImage, part: [usize; 2]) {
        // SAFETY: guaranteed by the caller.
        unsafe { rows::<__m512, R>(image, part) }
    }

    /// Computes part `i` of `parts` of all windows with AVX2.
    ///
    /// # Safety
    /// As for [`rows`].
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn avx2<R: Reduce>(image: &impl WindowImage, part: [usize; 2]) {
        // SAFETY: guaranteed by the caller.
        unsafe { rows::<__m256, R>(image, part) }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::kernel::{Reduce, WindowImage, rows};
    use std::arch::aarch64::float32x4_t;

    /// Computes part `i` of `parts` of all windows with NEON.
    ///
    /// # Safety
    /// As for [`rows`].
    #[target_feature(enable = "neon")]
    pub(super) unsafe fn neon<R: Reduce>(image: &impl WindowImage, part: [usize; 2]) {
        // SAFETY: guaranteed by the caller.
        unsafe { rows::<float32x4_t, R>(image, part) }
    }
}
