//! The bf16 micro-kernels of each vector extension, and their detection.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

#[cfg(target_arch = "x86_64")]
use crate::gemm::amx;
use crate::gemm::tile_rows::{TILE_ROWS, TileProduct};
#[cfg(target_arch = "x86_64")]
use crate::vector::Isa;
use crate::vector::{rounded, widened};

/// Maximum number of columns per panel.
pub(super) const MAX_WIDTH: usize = 32;

/// A vector extension for bf16 products.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bf16Isa {
    /// Portable code.
    Portable,
    /// 256 bits, products of f32.
    Avx2,
    /// 512 bits, dot products of two bf16 pairs (AVX512_BF16).
    Avx512,
    /// Tiles of 16 rows of 64 bytes (AMX).
    Amx,
}

/// The destination and epilogue of a tile.
pub(super) struct TileDestination {
    /// Number of rows, of which accumulators may have more.
    pub rows: usize,
    /// Number of columns, of which accumulators may have more.
    pub columns: usize,
    /// Number of accumulators per row: the width of the panel.
    pub width: usize,
    /// Residual: the element of the first row and column.
    pub add: Option<*const u16>,
    /// The result: the element of the first row and column.
    pub to: *mut u16,
    /// Row stride of result and residual.
    pub stride: usize,
    /// Bounds of the clamp.
    pub range: (f32, f32),
}

impl Bf16Isa {
    /// All extensions.
    pub const ALL: [Bf16Isa; 4] = [Bf16Isa::Portable, Bf16Isa::Avx2, Bf16Isa::Avx512, Bf16Isa::Amx];

    /// Returns the best extension of this machine.
    pub fn best() -> Bf16Isa {
        Bf16Isa::ALL.into_iter().rev().find(|isa| isa.is_supported()).unwrap_or(Bf16Isa::Portable)
    }

    /// Whether this machine has the extension.
    pub fn is_supported(self) -> bool {
        match self {
            Bf16Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Bf16Isa::Avx2 => Isa::Avx2.is_supported(),
            #[cfg(target_arch = "x86_64")]
            Bf16Isa::Avx512 => {
                Isa::Avx512.is_supported()
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bf16")
            }
            #[cfg(target_arch = "x86_64")]
            Bf16Isa::Amx => Bf16Isa::Avx512.is_supported() && amx::has_bf16(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Multiplies tiles of some rows and the width of the panel.
    ///
    /// # Safety
    /// The machine has the extension, and with AMX the tile registers are configured. Tiles, initial accumulators and accumulators
    /// exist for two strips, or for one if there are at most its rows.
    pub(super) unsafe fn multiply(self, tiles: &TileProduct, [rows, width]: [usize; 2]) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Bf16Isa::Avx2 => x86::avx2(tiles, [rows, width]),
                #[cfg(target_arch = "x86_64")]
                Bf16Isa::Avx512 => x86::avx512(tiles, [rows, width]),
                #[cfg(target_arch = "x86_64")]
                Bf16Isa::Amx => match (rows > TILE_ROWS, width > MAX_WIDTH / 2) {
                    (false, false) => amx::bf16_1_1(tiles),
                    (false, true) => amx::bf16_1_2(tiles),
                    (true, false) => amx::bf16_2_1(tiles),
                    (true, true) => amx::bf16_2_2(tiles),
                },
                _ => plain(tiles, [rows, width]),
            }
        }
    }

    /// Applies the epilogue to accumulators, rounds them and writes the block.
    ///
    /// # Safety
    /// The machine has the extension. The accumulators exist, and the block's elements exist in residual and result, to which the
    /// caller has exclusive access.
    pub(super) unsafe fn store(self, sums: *const f32, block: &TileDestination) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Bf16Isa::Avx2 => x86::store_avx2(sums, block),
                #[cfg(target_arch = "x86_64")]
                Bf16Isa::Avx512 | Bf16Isa::Amx => x86::store_masked(sums, block),
                _ => store(sums, block),
            }
        }
    }
}

/// Returns the initial accumulators of a row.
///
/// # Safety
/// They exist.
#[inline(always)]
unsafe fn initial(t: &TileProduct, row: usize) -> *const f32 {
    // SAFETY: guaranteed by the caller.
    unsafe { t.initial.add(row * t.initial_stride).cast() }
}

/// Multiplies tiles in f32.
///
/// # Safety
/// As for [`Bf16Isa::multiply`].
#[inline(always)]
unsafe fn plain(t: &TileProduct, [rows, width]: [usize; 2]) {
    /// Number of columns that are computed at once.
    const COLUMNS: usize = 16;
    for first in (0..width).step_by(COLUMNS) {
        for row in 0..rows {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let mut sums = initial(t, row).add(first).cast::<[f32; COLUMNS]>().read();
                for step in 0..t.steps {
                    let tile = *t.strips[row / TILE_ROWS].add(step);
                    let left = tile.at.offset((row % TILE_ROWS) as isize * tile.stride).cast::<[[u16; 2]; 16]>();
                    for (pair, [even, odd]) in left.read_unaligned().into_iter().enumerate() {
                        let right = t.b.cast::<[u16; 2]>().add((16 * step + pair) * width + first);
                        let right = right.cast::<[[u16; 2]; COLUMNS]>().read();
                        for n in 0..COLUMNS {
                            sums[n] += widened(even) * widened(right[n][0]);
                            sums[n] += widened(odd) * widened(right[n][1]);
                        }
                    }
                }
                t.sums.cast::<f32>().add(row * width + first).cast::<[f32; COLUMNS]>().write(sums);
            }
        }
    }
}

/// Applies the epilogue to accumulators, rounds them and writes the block.
///
/// # Safety
/// As for [`Bf16Isa::store`].
#[inline(always)]
unsafe fn store(sums: *const f32, block: &TileDestination) {
    let (low, high) = block.range;
    let clamped = |x: f32| {
        let x = if x < low { low } else { x };
        if x > high { high } else { x }
    };
    for row in 0..block.rows {
        // SAFETY: guaranteed by the caller.
        let (sums, to) = unsafe {
            let sums = sums.add(row * block.width);
            let to = block.to.add(row * block.stride);
            (std::slice::from_raw_parts(sums, block.columns), std::slice::from_raw_parts_mut(to, block.columns))
        };
        match block.add {
            Some(add) => {
                // SAFETY: as above.
                let add = unsafe { std::slice::from_raw_parts(add.add(row * block.stride), block.columns) };
                for ((to, sum), &add) in to.iter_mut().zip(sums).zip(add) {
                    *to = rounded(clamped(sum + widened(add)));
                }
            }
            None => to.iter_mut().zip(sums).for_each(|(to, &sum)| *to = rounded(clamped(sum))),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{MAX_WIDTH, TILE_ROWS, TileDestination, TileProduct, initial, plain, store};
    use std::arch::x86_64::*;

    /// Multiplies tiles with AVX2.
    ///
    /// # Safety
    /// As for [`Bf16Isa::multiply`](super::Bf16Isa::multiply).
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn avx2(t: &TileProduct, size: [usize; 2]) {
        // SAFETY: guaranteed by the caller.
        unsafe { plain(t, size) }
    }

    /// Writes a block with AVX2.
    ///
    /// # Safety
    /// As for [`Bf16Isa::store`](super::Bf16Isa::store).
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn store_avx2(sums: *const f32, block: &TileDestination) {
        // SAFETY: guaranteed by the caller.
        unsafe { store(sums, block) }
    }

    /// Multiplies tiles with AVX512_BF16.
    ///
    /// # Safety
    /// As for [`Bf16Isa::multiply`](super::Bf16Isa::multiply).
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    pub(super) unsafe fn avx512(t: &TileProduct, [rows, width]: [usize; 2]) {
        let mut row = 0;
        // SAFETY: guaranteed by the caller.
        unsafe {
            while row < rows {
                row += match (rows - row, width) {
                    (8.., MAX_WIDTH) => dots::<8, 2>(t, row),
                    (8.., _) => dots::<8, 1>(t, row),
                    (_, MAX_WIDTH) => dots::<1, 2>(t, row),
                    _ => dots::<1, 1>(t, row),
                };
            }
        }
    }

    /// Does the same as [`store`], two vectors of columns at once.
    ///
    /// # Safety
    /// As for [`Bf16Isa::store`](super::Bf16Isa::store).
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    pub(super) unsafe fn store_masked(sums: *const f32, block: &TileDestination) {
        let (low, high) = (_mm512_set1_ps(block.range.0), _mm512_set1_ps(block.range.1));
        // If either operand is NaN, the instructions return the second.
        let clamped = |x| _mm512_min_ps(high, _mm512_max_ps(low, x));
        let mask = u32::MAX >> (32 - block.columns.min(MAX_WIDTH));
        for row in 0..block.rows {
            let at = row * block.stride;
            // SAFETY: guaranteed by the caller; the mask has the columns that exist, and there are accumulators for whole vectors.
            unsafe {
                let sums = sums.add(row * block.width);
                let wide = block.width == MAX_WIDTH;
                let mut x =
                    [_mm512_loadu_ps(sums), if wide { _mm512_loadu_ps(sums.add(16)) } else { _mm512_setzero_ps() }];
                if let Some(add) = block.add {
                    let add = _mm512_maskz_loadu_epi16(mask, add.add(at).cast());
                    let halves = [_mm512_castsi512_si256(add), _mm512_extracti64x4_epi64::<1>(add)];
                    let halves = halves.map(|half| _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(half)));
                    x = std::array::from_fn(|i| _mm512_add_ps(x[i], _mm512_castsi512_ps(halves[i])));
                }
                let rounded = _mm512_cvtne2ps_pbh(clamped(x[1]), clamped(x[0]));
                _mm512_mask_storeu_epi16(
                    block.to.add(at).cast(),
                    mask,
                    std::mem::transmute::<__m512bh, __m512i>(rounded),
                );
            }
        }
    }

    /// Computes `MR` rows from row `first` on, a multiple of `MR`, of `NV` vectors of columns. Returns `MR`.
    ///
    /// # Safety
    /// As for [`Bf16Isa::multiply`](super::Bf16Isa::multiply).
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    unsafe fn dots<const MR: usize, const NV: usize>(t: &TileProduct, first: usize) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut sums = [[_mm512_setzero_ps(); NV]; MR];
            for i in 0..MR {
                for v in 0..NV {
                    sums[i][v] = _mm512_loadu_ps(initial(t, first + i).add(16 * v));
                }
            }
            for step in 0..t.steps {
                let tile = *t.strips[first / TILE_ROWS].add(step);
                let left = tile.at.offset((first % TILE_ROWS) as isize * tile.stride);
                for pair in 0..16 {
                    let right = t.b.add((16 * step + pair) * 64 * NV);
                    let right: [__m512bh; NV] =
                        std::array::from_fn(|v| std::mem::transmute(_mm512_loadu_si512(right.add(64 * v).cast())));
                    for i in 0..MR {
                        let pair = left.offset(i as isize * tile.stride).add(4 * pair).cast::<i32>().read_unaligned();
                        let pair: __m512bh = std::mem::transmute(_mm512_set1_epi32(pair));
                        for v in 0..NV {
                            sums[i][v] = _mm512_dpbf16_ps(sums[i][v], pair, right[v]);
                        }
                    }
                }
            }
            for i in 0..MR {
                for v in 0..NV {
                    _mm512_storeu_ps(t.sums.cast::<f32>().add(((first + i) * NV + v) * 16), sums[i][v]);
                }
            }
        }
        MR
    }
}
