//! The micro-kernels of each vector extension and tile size.

use super::kernel::{Kernel, Left, Tile, UNROLL, reads_whole_steps, tile};
use super::panels::PANEL;
use crate::vector::{Eight, Isa};

impl Isa {
    /// Returns the maximum number of tile rows `mr` for groups of 1, 2, ... panels.
    pub(super) fn tile_rows(self) -> &'static [usize] {
        match self {
            Isa::Avx512 => &[12, 10, 8, 6],
            Isa::Avx2 | Isa::Neon => &[6],
            Isa::Portable => &[2],
        }
    }

    /// Returns the number of columns that a micro-kernel computes of a group of panels, which have `columns` columns of the
    /// result.
    pub(super) fn computed(self, columns: usize) -> usize {
        if columns <= 8 && matches!(self, Isa::Avx2 | Isa::Neon) { 8 } else { columns.next_multiple_of(PANEL) }
    }

    /// Returns the approximate number of summands (`kc`) whose slice of a panel stays in the L1 cache.
    pub(super) fn most_summands(self) -> usize {
        match self {
            Isa::Avx512 => 128,
            Isa::Avx2 | Isa::Neon | Isa::Portable => 256,
        }
    }

    /// Whether rows of A are packed for some groups of panels. A tile of few vectors waits for the elements of its rows,
    /// which lie far apart, but wide ones do not. Runs that a micro-kernel does not read through the table are always
    /// packed.
    pub(super) fn packs(self, groups: usize, run: usize) -> bool {
        (self != Isa::Avx512 && groups >= 3) || (reads_whole_steps(self.registers()) && !run.is_multiple_of(UNROLL))
    }

    /// Returns the micro-kernel for `rows` rows, at most [`tile_rows`](Isa::tile_rows), and for as many columns as
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
            _ => PORTABLE_16,
        };
        all[rows - 1][left as usize]
    }
}

/// The kernels for some vectors, and for 1, 2, ... rows, each for the three ways to read A.
macro_rules! kernels {
    ($($name:ident = $tile:ident<$nv:literal> for $($rows:literal)+;)+) => {
        $(pub(super) const $name: &[[Kernel; 3]] = &[
            $([$tile::<$rows, $nv, 0>, $tile::<$rows, $nv, 1>, $tile::<$rows, $nv, 2>]),+
        ];)+
    };
}

/// Computes a [`tile`] with portable code.
///
/// # Safety
/// As for [`tile`].
unsafe fn portable<const MR: usize, const NV: usize, const LEFT: usize>(t: &Tile<'_>) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::<Eight, MR, NV, LEFT>(t) }
}

kernels! {
    PORTABLE_16 = portable<2> for 1 2;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Kernel, Tile, tile};
    use std::arch::x86_64::{__m256, __m512};

    /// Computes a [`tile`] with AVX-512.
    ///
    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "avx512f")]
    unsafe fn avx512<const MR: usize, const NV: usize, const LEFT: usize>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<__m512, MR, NV, LEFT>(t) }
    }

    /// Computes a [`tile`] with AVX2.
    ///
    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<const MR: usize, const NV: usize, const LEFT: usize>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<__m256, MR, NV, LEFT>(t) }
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

    /// Computes a [`tile`] with NEON.
    ///
    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "neon")]
    unsafe fn neon<const MR: usize, const NV: usize, const LEFT: usize>(t: &Tile<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<float32x4_t, MR, NV, LEFT>(t) }
    }

    kernels! {
        NEON_16 = neon<4> for 1 2 3 4 5 6;
        NEON_8 = neon<2> for 1 2 3 4 5 6;
    }
}
