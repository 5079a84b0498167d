//! The micro-kernels of each vector extension and tile size.

use super::kernel::{Kernel, Tile, tile};
use crate::vector::{Eight, Isa};

impl Isa {
    /// The supported panel widths `nr`, each with the maximum number of tile rows `mr`.
    pub(super) fn panels(self) -> &'static [(usize, usize)] {
        match self {
            Isa::Avx512 => &[(64, 6), (48, 8), (32, 10), (16, 12)],
            Isa::Avx2 => &[(16, 6), (8, 6)],
            Isa::Neon => &[(16, 6), (8, 6)],
            Isa::Portable => &[(8, 4)],
        }
    }

    /// The micro-kernel for `rows` rows, at most the maximum in [`panels`](Isa::panels), with or without padding runs.
    pub(super) fn kernel(self, rows: usize, columns: usize, holes: bool) -> Kernel {
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
        all[rows - 1][usize::from(holes)]
    }
}

/// The kernels of a panel width for 1, 2, ... rows, without and with padding runs.
macro_rules! kernels {
    ($($name:ident = $tile:ident<$nv:literal> for $($rows:literal)+;)+) => {
        $(pub(super) const $name: &[[Kernel; 2]] = &[$([$tile::<$rows, $nv, false>, $tile::<$rows, $nv, true>]),+];)+
    };
}

/// # Safety
/// As for [`tile`].
unsafe fn portable<const MR: usize, const NV: usize, const HOLES: bool>(t: &Tile<'_>) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::<Eight, MR, NV, HOLES>(t) }
}

kernels! {
    PORTABLE_8 = portable<1> for 1 2 3 4;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Kernel, Tile, tile};
    use std::arch::x86_64::{__m256, __m512};

    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "avx512f")]
    unsafe fn avx512<const MR: usize, const NV: usize, const HOLES: bool>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<__m512, MR, NV, HOLES>(t) }
    }

    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<const MR: usize, const NV: usize, const HOLES: bool>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<__m256, MR, NV, HOLES>(t) }
    }

    kernels! {
        AVX512_64 = avx512<4> for 1 2 3 4 5 6;
        AVX512_48 = avx512<3> for 1 2 3 4 5 6 7 8;
        AVX512_32 = avx512<2> for 1 2 3 4 5 6 7 8 9 10;
        AVX512_16 = avx512<1> for 1 2 3 4 5 6 7 8 9 10 11 12;
        AVX2_16 = avx2<2> for 1 2 3 4 5 6;
        AVX2_8 = avx2<1> for 1 2 3 4 5 6;
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{Kernel, Tile, tile};
    use std::arch::aarch64::float32x4_t;

    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "neon")]
    unsafe fn neon<const MR: usize, const NV: usize, const HOLES: bool>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<float32x4_t, MR, NV, HOLES>(t) }
    }

    kernels! {
        NEON_16 = neon<4> for 1 2 3 4 5 6;
        NEON_8 = neon<2> for 1 2 3 4 5 6;
    }
}
