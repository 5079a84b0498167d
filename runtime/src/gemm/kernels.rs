//! The micro-kernels of each vector extension and tile size.

use super::kernel::{Kernel, Left, Tile, UNROLL, tile};
use crate::vector::{Eight, Isa};

impl Isa {
    /// The supported panel widths `nr`, each with the maximum number of tile rows `mr`.
    pub(super) fn panels(self) -> &'static [(usize, usize)] {
        match self {
            Isa::Avx512 => &[(64, 6), (48, 8), (32, 10), (16, 12)],
            Isa::Avx2 | Isa::Neon => &[(16, 6)],
            Isa::Portable => &[(8, 4)],
        }
    }

    /// Number of columns that a micro-kernel computes of a panel of `width`, of which `here` are in the result.
    pub(super) fn computed(self, width: usize, here: usize) -> usize {
        if width == 16 && here <= 8 && matches!(self, Isa::Avx2 | Isa::Neon) { 8 } else { width }
    }

    /// Approximate number of summands (`kc`) whose slice of a panel stays in the L1 cache.
    pub(super) fn most_summands(self) -> usize {
        match self {
            Isa::Avx512 => 128,
            Isa::Avx2 | Isa::Neon | Isa::Portable => 256,
        }
    }

    /// Whether rows of A are packed for `panels`. A tile of few vectors waits for the elements of its rows, which lie far
    /// apart, but wide ones do not. Runs that a micro-kernel does not read through the table are always packed: see
    /// [`reads_whole_steps`](super::kernel::reads_whole_steps).
    pub(super) fn packs(self, panels: usize, run: usize) -> bool {
        let whole_steps = matches!(self, Isa::Avx2 | Isa::Portable);
        (self != Isa::Avx512 && panels >= 3) || (whole_steps && !run.is_multiple_of(UNROLL))
    }

    /// The micro-kernel for `rows` rows, at most the maximum in [`panels`](Isa::panels), and for as many columns as
    /// [`computed`](Isa::computed) says.
    pub(super) fn kernel(self, rows: usize, columns: usize, left: Left) -> Kernel {
        let all = match (self, columns) {
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 64) => x86::AVX512_64,
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 48) => x86::AVX512_48,
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 32) => x86::AVX512_32,
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 16) => x86::AVX512_16,
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, 16) => x86::AVX2_16,
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, 8) => x86::AVX2_8,
            #[cfg(target_arch = "aarch64")]
            (Isa::Neon, 16) => neon::NEON_16,
            #[cfg(target_arch = "aarch64")]
            (Isa::Neon, 8) => neon::NEON_8,
            _ => PORTABLE_8,
        };
        all[rows - 1][left as usize]
    }
}

/// The kernels for some vectors of the panel's, and for 1, 2, ... rows, each for the three ways to read A.
macro_rules! kernels {
    ($($name:ident = $tile:ident<$nv:literal of $width:literal> for $($rows:literal)+;)+) => {
        $(pub(super) const $name: &[[Kernel; 3]] = &[
            $([$tile::<$rows, $nv, $width, 0>, $tile::<$rows, $nv, $width, 1>, $tile::<$rows, $nv, $width, 2>]),+
        ];)+
    };
}

/// # Safety
/// As for [`tile`].
unsafe fn portable<const MR: usize, const NV: usize, const WIDTH: usize, const LEFT: usize>(t: &Tile<'_>) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::<Eight, MR, NV, WIDTH, LEFT>(t) }
}

kernels! {
    PORTABLE_8 = portable<1 of 1> for 1 2 3 4;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Kernel, Tile, tile};
    use std::arch::x86_64::{__m256, __m512};

    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "avx512f")]
    unsafe fn avx512<const MR: usize, const NV: usize, const WIDTH: usize, const LEFT: usize>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<__m512, MR, NV, WIDTH, LEFT>(t) }
    }

    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<const MR: usize, const NV: usize, const WIDTH: usize, const LEFT: usize>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<__m256, MR, NV, WIDTH, LEFT>(t) }
    }

    kernels! {
        AVX512_64 = avx512<4 of 4> for 1 2 3 4 5 6;
        AVX512_48 = avx512<3 of 3> for 1 2 3 4 5 6 7 8;
        AVX512_32 = avx512<2 of 2> for 1 2 3 4 5 6 7 8 9 10;
        AVX512_16 = avx512<1 of 1> for 1 2 3 4 5 6 7 8 9 10 11 12;
        AVX2_16 = avx2<2 of 2> for 1 2 3 4 5 6;
        AVX2_8 = avx2<1 of 2> for 1 2 3 4 5 6;
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{Kernel, Tile, tile};
    use std::arch::aarch64::float32x4_t;

    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "neon")]
    unsafe fn neon<const MR: usize, const NV: usize, const WIDTH: usize, const LEFT: usize>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<float32x4_t, MR, NV, WIDTH, LEFT>(t) }
    }

    kernels! {
        NEON_16 = neon<4 of 4> for 1 2 3 4 5 6;
        NEON_8 = neon<2 of 4> for 1 2 3 4 5 6;
    }
}
