//! Elements of tiles as floats, `[rows, cols, channels]`.

use crate::cluster::operands::{Elem, Tile};
use half::f16;

/// Returns the elements of a tile.
pub(in crate::cluster) fn load(tile: &Tile, spm: &[u8]) -> Vec<f32> {
    let mut out = Vec::with_capacity(tile.rows as usize * tile.cols as usize * tile.channels as usize);
    each_pixel(tile, |at| load_pixel(tile, spm, at, &mut out));
    out
}

/// Calls `f` with the first byte of each row and column.
fn each_pixel(tile: &Tile, mut f: impl FnMut(usize)) {
    for row in 0..tile.rows as usize {
        for col in 0..tile.cols as usize {
            f(tile.offset as usize + row * tile.row as usize + col * tile.pixel as usize);
        }
    }
}

/// Appends the channels of the pixel at byte `at`.
fn load_pixel(tile: &Tile, spm: &[u8], at: usize, out: &mut Vec<f32>) {
    let (channels, size) = (tile.channels as usize, tile.elem.bytes() as usize);
    if channels == 1 || tile.channel == tile.elem.bytes() {
        return convert(tile.elem, &spm[at..at + channels * size], out);
    }
    for channel in 0..channels {
        let at = at + channel * tile.channel as usize;
        convert(tile.elem, &spm[at..at + size], out);
    }
}

/// Appends elements as floats.
pub(in crate::cluster) fn convert(elem: Elem, bytes: &[u8], out: &mut Vec<f32>) {
    match elem {
        Elem::F32 => out.extend(bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b))),
        Elem::F16 => out.extend(bytes.as_chunks::<2>().0.iter().map(|&b| widened(u16::from_le_bytes(b)))),
        Elem::I8 => out.extend(bytes.iter().map(|&b| f32::from(b.cast_signed()))),
        Elem::U8 => out.extend(bytes.iter().map(|&b| f32::from(b))),
    }
}

/// Returns the value of the bits of a 16-bit float. Without branches, so that it is vectorized: exponent and fraction are moved
/// into place, and the difference of the biases is a factor, which also normalizes small numbers.
fn widened(bits: u16) -> f32 {
    let (sign, rest) = (u32::from(bits & 0x8000) << 16, u32::from(bits & 0x7fff) << 13);
    let finite = f32::from_bits(rest) * f32::from_bits((127 + 112) << 23);
    let special = f32::from_bits(rest | 0x7f80_0000);
    let value = if rest < 0x7c00 << 13 { finite } else { special };
    f32::from_bits(value.to_bits() | sign)
}

/// Returns the floats at a byte.
pub(super) fn floats(spm: &[u8], at: u32, count: u32) -> Vec<f32> {
    let mut out = Vec::with_capacity(count as usize);
    convert(Elem::F32, &spm[at as usize..at as usize + 4 * count as usize], &mut out);
    out
}

/// Writes the elements of a tile: 16-bit floats rounded to nearest even, bytes rounded half to even and saturated.
pub(super) fn store(tile: &Tile, values: &[f32], spm: &mut [u8]) {
    let mut pixels = values.chunks_exact(tile.channels as usize);
    let (channels, size) = (tile.channels as usize, tile.elem.bytes() as usize);
    let stride = if channels == 1 { size } else { tile.channel as usize };
    each_pixel(tile, |at| {
        let Some(pixel) = pixels.next() else { return };
        let bytes = &mut spm[at..at + (channels - 1) * stride + size];
        match tile.elem {
            Elem::F32 => put(bytes, stride, pixel, f32::to_le_bytes),
            Elem::F16 => put(bytes, stride, pixel, |v| f16::from_f32(v).to_le_bytes()),
            Elem::I8 => put(bytes, stride, pixel, |v| (v.round_ties_even() as i8).to_le_bytes()),
            Elem::U8 => put(bytes, stride, pixel, |v| [v.round_ties_even() as u8]),
        }
    });
}

/// Writes elements of `N` bytes at a stride.
fn put<const N: usize>(bytes: &mut [u8], stride: usize, values: &[f32], f: impl Fn(f32) -> [u8; N]) {
    if stride == N {
        bytes.as_chunks_mut::<N>().0.iter_mut().zip(values).for_each(|(b, &v)| *b = f(v));
        return;
    }
    bytes.chunks_mut(stride).zip(values).for_each(|(b, &v)| b[..N].copy_from_slice(&f(v)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_16_bit_floats_are_widened() {
        for bits in 0..=u16::MAX {
            let (mine, other) = (widened(bits), f16::from_bits(bits).to_f32());
            assert!(mine.to_bits() == other.to_bits() || mine.is_nan() && other.is_nan(), "{bits:#x}: {mine} {other}");
        }
    }
}
