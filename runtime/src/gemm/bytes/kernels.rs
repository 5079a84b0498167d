//! The 8-bit micro-kernels of each vector extension and tile size, and their detection.

use super::dots::Eight;
use super::finish::{Finish, SharedOutput, finish};
use super::kernel::{ByteTile, Kernel, steps, tile};
use crate::gemm::Addresses;
#[cfg(target_arch = "x86_64")]
use crate::gemm::amx;
use crate::gemm::tile_rows::{ROW_BYTES, TILE_ROWS, packed_bytes};
#[cfg(target_arch = "x86_64")]
use crate::vector::Isa;

/// A vector extension for 8-bit products.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ByteIsa {
    /// Portable code.
    Portable,
    /// 256 bits, products of 16-bit pairs.
    Avx2,
    /// 512 bits, dot products of four 8-bit pairs (AVX-512 VNNI).
    Vnni,
    /// Tiles of 16 rows of 64 bytes (AMX).
    Amx,
}

impl ByteIsa {
    /// All extensions.
    pub const ALL: [ByteIsa; 4] = [ByteIsa::Portable, ByteIsa::Avx2, ByteIsa::Vnni, ByteIsa::Amx];

    /// Returns the best extension of this machine.
    pub fn best() -> ByteIsa {
        ByteIsa::ALL.into_iter().rev().find(|isa| isa.is_supported()).unwrap_or(ByteIsa::Portable)
    }

    /// Returns the supported extension with the fewest estimated cycles for the product of rows at these addresses by a matrix.
    pub fn of_product(of: &Addresses, columns: usize) -> ByteIsa {
        let best = ByteIsa::best();
        match best == ByteIsa::Amx && dot_cycles(of, columns) <= tile_cycles(of, columns) {
            true => ByteIsa::Vnni,
            false => best,
        }
    }

    /// Whether the rows of A are collected as tiles, whose signed bytes are not offset.
    pub(super) fn has_tiles(self) -> bool {
        self == ByteIsa::Amx
    }

    /// Whether this machine has the extension.
    pub fn is_supported(self) -> bool {
        match self {
            ByteIsa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            ByteIsa::Avx2 => Isa::Avx2.is_supported(),
            #[cfg(target_arch = "x86_64")]
            ByteIsa::Vnni => {
                Isa::Avx512.is_supported()
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(target_arch = "x86_64")]
            ByteIsa::Amx => ByteIsa::Vnni.is_supported() && amx::has_int8(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Returns the supported panel widths `nr`, each with the maximum number of tile rows `mr`.
    pub(super) fn panels(self) -> &'static [(usize, usize)] {
        match self {
            ByteIsa::Amx => &[(32, 2 * TILE_ROWS), (16, 2 * TILE_ROWS)],
            ByteIsa::Vnni => &[(64, 6), (48, 8), (32, 10), (16, 12)],
            ByteIsa::Avx2 => &[(16, 4), (8, 4)],
            ByteIsa::Portable => &[(8, 4)],
        }
    }

    /// Returns the micro-kernel for `rows` rows, at most the maximum in [`panels`](ByteIsa::panels).
    pub(super) fn kernel(self, rows: usize, columns: usize, signed: bool) -> Kernel {
        let all = match (self, columns) {
            #[cfg(target_arch = "x86_64")]
            (ByteIsa::Amx, _) => return x86::AMX[(rows - 1) / TILE_ROWS][columns / 16 - 1][usize::from(signed)],
            #[cfg(target_arch = "x86_64")]
            (ByteIsa::Vnni, 64) => x86::VNNI_64,
            #[cfg(target_arch = "x86_64")]
            (ByteIsa::Vnni, 48) => x86::VNNI_48,
            #[cfg(target_arch = "x86_64")]
            (ByteIsa::Vnni, 32) => x86::VNNI_32,
            #[cfg(target_arch = "x86_64")]
            (ByteIsa::Vnni, 16) => x86::VNNI_16,
            #[cfg(target_arch = "x86_64")]
            (ByteIsa::Avx2, 16) => x86::AVX2_16,
            #[cfg(target_arch = "x86_64")]
            (ByteIsa::Avx2, 8) => x86::AVX2_8,
            _ => PORTABLE_8,
        };
        all[rows - 1][usize::from(signed)]
    }

    /// Writes finished rows.
    ///
    /// # Safety
    /// As for [`finish`].
    pub(super) unsafe fn finish(self, f: Finish<'_>, to: SharedOutput<'_>) {
        match self {
            // SAFETY: guaranteed by the caller; the extension was detected.
            #[cfg(target_arch = "x86_64")]
            ByteIsa::Vnni | ByteIsa::Amx if self.is_supported() => unsafe { x86::finish_vnni(f, to) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            ByteIsa::Avx2 if self.is_supported() => unsafe { x86::finish_avx2(f, to) },
            // SAFETY: guaranteed by the caller; portable code runs on every machine.
            _ => unsafe { finish::<crate::vector::Eight>(f, to) },
        }
    }
}

/// The kernels of a panel width for 1, 2, ... rows, for unsigned and signed bytes.
macro_rules! kernels {
    ($($name:ident = $tile:ident<$nv:literal> for $($rows:literal)+;)+) => {
        $(pub(super) const $name: &[[Kernel; 2]] = &[$([$tile::<$rows, $nv, false>, $tile::<$rows, $nv, true>]),+];)+
    };
}

/// Computes a [`tile`] with portable code.
///
/// # Safety
/// As for [`tile`].
unsafe fn portable<const MR: usize, const NV: usize, const SIGNED: bool>(t: &ByteTile<'_>) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::<Eight, MR, NV, SIGNED>(t) }
}

kernels! {
    PORTABLE_8 = portable<1> for 1 2 3 4;
}

/// Columns of a vector of AVX-512.
const VECTOR: usize = 16;

/// Returns the estimated cycles of dot products with AVX-512: two per cycle, each of four summands of a vector of columns.
fn dot_cycles(of: &Addresses, columns: usize) -> usize {
    let dots = of.rows().saturating_mul(columns.div_ceil(VECTOR)).saturating_mul(of.runs().len());
    dots.saturating_mul(steps(of.run())) / 2
}

/// Returns the estimated cycles of products of tiles, beyond what dot products take too. The numbers were measured on Sapphire
/// Rapids.
fn tile_cycles(of: &Addresses, columns: usize) -> usize {
    /// Loads and stores of the accumulators of two strips, and the wait for products, once per panel.
    const PANEL: usize = 250;
    /// Products of the tiles of two strips with a vector of columns.
    const PRODUCTS: usize = 32;
    /// The copy of a run that begins anywhere, and of a row of a tile.
    const RUN: usize = 24;
    const LINE: usize = 2;
    let times = usize::saturating_mul;
    let (rows, runs, vectors) = (of.rows(), of.runs().len(), columns.div_ceil(VECTOR).max(1));
    let panels = if vectors.is_multiple_of(2) { vectors / 2 } else { vectors };
    let depth = packed_bytes(runs, of.run()).unwrap_or(usize::MAX).div_ceil(ROW_BYTES);
    let packed = match (runs, of.run().is_multiple_of(ROW_BYTES)) {
        (1, _) => 0,
        (_, true) => times(rows, times(depth, LINE)),
        (_, false) => times(rows, times(runs, RUN)),
    };
    let each = times(panels, PANEL).saturating_add(times(times(vectors, PRODUCTS), depth));
    times(rows.div_ceil(2 * TILE_ROWS), each).saturating_add(packed)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::amx;
    use super::{ByteTile, Finish, Kernel, SharedOutput, finish, tile};
    use crate::gemm::bytes::kernel::requantize;
    use crate::gemm::tile_rows::TileProduct;
    use std::arch::x86_64::{__m256, __m256i, __m512, __m512i};

    /// Computes a [`tile`] with AVX-512 VNNI.
    ///
    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    unsafe fn vnni<const MR: usize, const NV: usize, const SIGNED: bool>(t: &ByteTile<'_>) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<__m512i, MR, NV, SIGNED>(t) }
    }

    /// Computes a [`tile`] with AVX2.
    ///
    /// # Safety
    /// As for [`tile`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<const MR: usize, const NV: usize, const SIGNED: bool>(t: &ByteTile<'_>) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { tile::<__m256i, MR, NV, SIGNED>(t) }
    }

    /// Runs [`finish`] with these vectors.
    ///
    /// # Safety
    /// As for [`finish`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    pub(super) unsafe fn finish_vnni(f: Finish<'_>, to: SharedOutput<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { finish::<__m512>(f, to) }
    }

    /// Runs [`finish`] with these vectors.
    ///
    /// # Safety
    /// As for [`finish`].
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn finish_avx2(f: Finish<'_>, to: SharedOutput<'_>) {
        // SAFETY: guaranteed by the caller.
        unsafe { finish::<__m256>(f, to) }
    }

    /// Computes a [`tile`] of collected rows with AMX: one or two strips of rows, by `STRIPS`, and `NV` vectors of columns.
    ///
    /// # Safety
    /// As for [`tile`], and the tile registers are configured; `strips` and `b` have the tiles of all steps.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    unsafe fn amx<const STRIPS: usize, const NV: usize, const SIGNED: bool>(t: &ByteTile<'_>) -> bool {
        let (b, bias, sums) = (t.b.cast(), t.bias.cast(), t.sums.cast());
        let product = TileProduct { strips: t.strips, b, steps: t.steps, initial: bias, initial_stride: 0, sums };
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (STRIPS, NV, SIGNED) {
                (1, 1, false) => amx::unsigned_1_1(&product),
                (1, 1, true) => amx::signed_1_1(&product),
                (1, _, false) => amx::unsigned_1_2(&product),
                (1, _, true) => amx::signed_1_2(&product),
                (_, 1, false) => amx::unsigned_2_1(&product),
                (_, 1, true) => amx::signed_2_1(&product),
                (_, _, false) => amx::unsigned_2_2(&product),
                (_, _, true) => amx::signed_2_2(&product),
            }
            t.quantize.as_ref().is_some_and(|q| requantize::<__m512i, NV>(t.rows, t.sums, q))
        }
    }

    /// The kernels of AMX by strips, vectors of columns, and sign.
    pub(super) const AMX: [[[Kernel; 2]; 2]; 2] = [
        [[amx::<1, 1, false>, amx::<1, 1, true>], [amx::<1, 2, false>, amx::<1, 2, true>]],
        [[amx::<2, 1, false>, amx::<2, 1, true>], [amx::<2, 2, false>, amx::<2, 2, true>]],
    ];

    kernels! {
        VNNI_64 = vnni<4> for 1 2 3 4 5 6;
        VNNI_48 = vnni<3> for 1 2 3 4 5 6 7 8;
        VNNI_32 = vnni<2> for 1 2 3 4 5 6 7 8 9 10;
        VNNI_16 = vnni<1> for 1 2 3 4 5 6 7 8 9 10 11 12;
        AVX2_16 = avx2<2> for 1 2 3 4;
        AVX2_8 = avx2<1> for 1 2 3 4;
    }
}
