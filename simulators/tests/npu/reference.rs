//! Plain loops over the definitions.

use gradus_simulators::npu::{Conv, NpuMachine};
use std::collections::BTreeSet;

/// The input coordinate of a tap; `None` in the padding.
fn input(conv: &Conv, y: u16, x: u16, ky: u16, kx: u16) -> Option<(u64, u64)> {
    let at = |o: u16, k: u16, axis: usize| {
        i64::from(o) * i64::from(conv.stride[axis]) - i64::from(conv.pad[axis])
            + i64::from(k) * i64::from(conv.dilation[axis])
    };
    let (h, w) = (at(y, ky, 0), at(x, kx, 1));
    let inside = h >= 0 && h < i64::from(conv.height) && w >= 0 && w < i64::from(conv.width);
    inside.then_some((h as u64, w as u64))
}

/// The address of `(h, w, c)`, written from the documentation.
fn feature_at(conv: &Conv, h: u64, w: u64, c: u64) -> u64 {
    let f = &conv.feature;
    let (tw, tc) = (u64::from(f.tile_w), u64::from(f.tile_c));
    u64::from(f.base)
        + h * u64::from(f.row)
        + (w / tw) * u64::from(f.col)
        + (c / tc) * u64::from(f.chan)
        + (w % tw) * tc
        + c % tc
}

/// The address of `(y, x, k, d)`, written from the documentation.
fn weight_at(conv: &Conv, y: u64, x: u64, k: u64, d: u64) -> u64 {
    let s = &conv.weights;
    let (tw, tk, td) = (u64::from(s.tile_w), u64::from(s.tile_k), u64::from(s.tile_d));
    u64::from(s.base)
        + y * u64::from(s.ky)
        + (x / tw) * u64::from(s.kx)
        + (k / tk) * u64::from(s.kernel)
        + (d / td) * u64::from(s.depth)
        + ((x % tw) * tk + k % tk) * td
        + d % td
}

fn byte(byte: u8, signed: bool) -> i64 {
    if signed { i64::from(byte as i8) } else { i64::from(byte) }
}

/// The sums of a convolution, `[positions, kernels]`.
pub fn conv(conv: &Conv, dw: bool, sram: &[u8]) -> Vec<i64> {
    let mut out = Vec::new();
    for y in 0..conv.rows {
        for x in 0..conv.cols {
            for k in 0..conv.kernels {
                let mut sum = 0;
                for ky in 0..conv.kernel[0] {
                    for kx in 0..conv.kernel[1] {
                        for d in 0..conv.depth {
                            let c = u64::from(if dw { k } else { d });
                            let value = match input(conv, y, x, ky, kx) {
                                Some((h, w)) => byte(sram[feature_at(conv, h, w, c) as usize], conv.signed_feature),
                                None => conv.pad_value.into(),
                            };
                            let at = weight_at(conv, ky.into(), kx.into(), k.into(), d.into());
                            let weight = byte(sram[at as usize], conv.signed_weights);
                            sum += (value - i64::from(conv.feature_zero)) * (weight - i64::from(conv.weight_zero));
                        }
                    }
                }
                out.push(sum);
            }
        }
    }
    out
}

/// The cycles of the array by definition, and the words of weights.
pub fn cycles(machine: &NpuMachine, conv: &Conv, dw: bool) -> (u64, u64) {
    let (mut cycles, mut weight_words) = (u64::from(machine.start), 0);
    let word = |address: u64| address / u64::from(machine.word_bytes);
    let positions: Vec<(u16, u16)> = (0..conv.rows).flat_map(|y| (0..conv.cols).map(move |x| (y, x))).collect();
    let blocks = |extent: u16, block: u32| {
        let block = block as u16;
        (0..extent).step_by(block.into()).map(move |first| first..extent.min(first + block)).collect::<Vec<_>>()
    };
    for kernels in blocks(conv.kernels, machine.kernels) {
        for ky in 0..conv.kernel[0] {
            for kx in 0..conv.kernel[1] {
                for depths in blocks(conv.depth, machine.depth) {
                    let mut weights = BTreeSet::new();
                    for k in kernels.clone() {
                        for d in depths.clone() {
                            weights.insert(word(weight_at(conv, ky.into(), kx.into(), k.into(), d.into())));
                        }
                    }
                    weight_words += weights.len() as u64;
                    for (i, group) in positions.chunks(machine.positions as usize).enumerate() {
                        let mut words = BTreeSet::new();
                        let channels = if dw { kernels.clone() } else { depths.clone() };
                        for &(y, x) in group {
                            if let Some((h, w)) = input(conv, y, x, ky, kx) {
                                words.extend(channels.clone().map(|c| word(feature_at(conv, h, w, c.into()))));
                            }
                        }
                        // Weights are counted beside features, also where both are in one word.
                        let mut count = vec![0; machine.banks as usize];
                        words.iter().for_each(|w| count[(w % u64::from(machine.banks)) as usize] += 1);
                        if i == 0 {
                            weights.iter().for_each(|w| count[(w % u64::from(machine.banks)) as usize] += 1);
                        }
                        cycles += count.into_iter().max().unwrap_or(0).max(1);
                    }
                }
            }
        }
    }
    (cycles, weight_words)
}
