//! Windows that slide over images whose channels lie side by side: each channel by itself, places found by tables.
//!
//! Row m of the result is made of `a[bases[m, t] ..]` for all positions t of the window, a channel at a time: their largest,
//! their sum, or the sum of their products with a weight for each position and channel. A base of -1 is no place. Source: the
//! seed on static compiled representations.
//!
//! | file | what it is |
//! |---|---|
//! | `places.rs` | the tables, and how they repeat |
//! | `kernel.rs` | the innermost loops |

#![allow(unsafe_code)]

mod kernel;
mod places;
#[cfg(test)]
mod tests;

use crate::vector::{Eight, Isa};
use crate::workers::{Target, Workers};
pub use places::Places;

/// What is made of the places of a window.
#[derive(Clone, Copy, Debug)]
pub enum Reduction<'a> {
    /// The largest; what is no number if one is none.
    Max,
    /// The sum.
    Sum,
    /// The sum of products with these: for each position, a number for each channel.
    Weighted(&'a [f32]),
}

/// Windows over an image.
#[derive(Clone, Copy, Debug)]
pub struct Windows<'a> {
    /// The image.
    pub a: &'a [f32],
    /// Where the positions of each row of the result are.
    pub places: &'a Places,
    /// How many channels there are.
    pub channels: usize,
    /// What is made of them.
    pub reduction: Reduction<'a>,
    /// Added, a number for each channel.
    pub bias: Option<&'a [f32]>,
    /// Added to each element of the result; as large as that.
    pub add: Option<&'a [f32]>,
    /// The least and greatest that results can be.
    pub range: (f32, f32),
}

impl Windows<'_> {
    /// Computes rows of as many columns as there are channels, on vectors of that kind or narrower ones.
    ///
    /// # Errors
    /// When sizes do not go together, or a place is not in the image.
    pub fn compute(&self, isa: Isa, workers: &Workers, c: &mut [f32]) -> Result<(), String> {
        self.check(isa, c.len())?;
        let threads = workers.for_steps((c.len() / 16).saturating_mul(self.places.positions()));
        let (parts, c) = (if threads > 1 { 4 * threads } else { 1 }, Target::new(c));
        workers.share(threads, 0..parts, |i| self.part(isa, [i, parts], c));
        Ok(())
    }

    /// One of so many parts of all windows.
    fn part(&self, isa: Isa, part: [usize; 2], c: Target) {
        // SAFETY: `check` found that the machine has the vectors, all channels of all places in `a`, weights and bias as many as
        // there are channels, and in `c` an element for each channel of each row; `isa_for` has no wider vectors than there
        // are channels. Each row is in one part.
        unsafe {
            match isa_for(isa, self.channels) {
                #[cfg(target_arch = "x86_64")]
                Some(Isa::Avx512) => x86::avx512(self, part, c),
                #[cfg(target_arch = "x86_64")]
                Some(Isa::Avx2) => x86::avx2(self, part, c),
                #[cfg(target_arch = "aarch64")]
                Some(Isa::Neon) => neon::neon(self, part, c),
                Some(_) => kernel::all::<Eight>(self, part, c),
                None => kernel::all::<f32>(self, part, c),
            }
        }
    }

    fn check(&self, isa: Isa, elements: usize) -> Result<(), String> {
        if !isa.is_there() {
            return Err(format!("this machine has no {isa:?}"));
        }
        let (n, t, rows) = (self.channels, self.places.positions(), self.places.rows());
        let adds = self.add.is_none_or(|add| add.len() == elements);
        if rows.checked_mul(n) != Some(elements) || !adds {
            return Err(format!("{rows} rows of {n} channels are not {elements} elements"));
        }
        let weights = if let Reduction::Weighted(weights) = self.reduction { Some(weights.len()) } else { None };
        if weights.is_some_and(|have| t.checked_mul(n) != Some(have)) || self.bias.is_some_and(|bias| bias.len() != n) {
            return Err(format!("weights or biases are not those of {n} channels"));
        }
        if !self.places.are_in(self.a.len(), n) {
            return Err(format!("some places are not in a buffer of {}", self.a.len()));
        }
        Ok(())
    }
}

/// The widest vectors that so many channels fill, none wider than those, if any do.
fn isa_for(isa: Isa, channels: usize) -> Option<Isa> {
    match (isa, channels) {
        (Isa::Avx512, 16..) => Some(Isa::Avx512),
        (Isa::Avx512 | Isa::Avx2, 8..) if Isa::Avx2.is_there() => Some(Isa::Avx2),
        (Isa::Neon, 4..) => Some(Isa::Neon),
        (_, 8..) => Some(Isa::Portable),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Target, Windows, kernel};
    use std::arch::x86_64::{__m256, __m512};

    /// # Safety
    /// [`kernel::all`]'s.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512(windows: &Windows<'_>, part: [usize; 2], c: Target) {
        // SAFETY: the caller's promise.
        unsafe { kernel::all::<__m512>(windows, part, c) }
    }

    /// # Safety
    /// [`kernel::all`]'s.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn avx2(windows: &Windows<'_>, part: [usize; 2], c: Target) {
        // SAFETY: the caller's promise.
        unsafe { kernel::all::<__m256>(windows, part, c) }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{Target, Windows, kernel};
    use std::arch::aarch64::float32x4_t;

    /// # Safety
    /// [`kernel::all`]'s.
    #[target_feature(enable = "neon")]
    pub(super) unsafe fn neon(windows: &Windows<'_>, part: [usize; 2], c: Target) {
        // SAFETY: the caller's promise.
        unsafe { kernel::all::<float32x4_t>(windows, part, c) }
    }
}
