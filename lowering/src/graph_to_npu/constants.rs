//! The image of the constants in DDR: of each slice the weights in their mode, the taps for zero points, the parameters, and the tables.

use super::network::{FeatureInfo, Layer, Network, Role};
use super::residency::Residency;
use super::shape::{LayerShape, TABLE};
use gradus_simulators::npu::NpuMachine;

/// Returns the constants of all layers and the constant features, from byte 0 of DDR. `ddr`: the places of features there.
pub fn image(net: &Network, residency: &Residency, ddr: &[Option<usize>], machine: &NpuMachine) -> Vec<u8> {
    let mut out = Vec::new();
    for (layer, (tiling, _)) in net.layers.iter().zip(&residency.tilings) {
        let shape = LayerShape::new(net, layer, machine);
        for (kernel, kernels) in shape.slices(tiling.kernels) {
            let start = out.len();
            if tiling.moved {
                continue;
            }
            shape.write_weights(&mut out, tiling, kernel, kernels);
            shape.zero_taps().for_each(|tap| out.resize(out.len() + shape.tap_bytes(), tap.byte));
            out.resize(start + shape.weight_bytes(tiling, kernels), 0);
            parameters(&mut out, layer, kernel, kernels);
            out.resize(start + shape.slice_bytes(tiling, kernels), 0);
        }
    }
    for (info, at) in net.features.iter().zip(ddr) {
        let (Role::Constant(i), Some(at)) = (info.role, *at) else { continue };
        out.resize(out.len().max(at + info.bytes()), 0);
        place(&mut out[at..], info, &net.constants[i]);
    }
    out
}

/// Lays out the bytes of a feature.
fn place(out: &mut [u8], info: &FeatureInfo, bytes: &[u8]) {
    let at = info.dense(0, 0);
    let positions = (0..info.height).flat_map(|h| (0..info.width).map(move |w| (h as u64, w as u64)));
    for ((h, w), pixel) in positions.zip(bytes.chunks(info.channels)) {
        pixel.iter().enumerate().for_each(|(c, &byte)| out[at.address(h, w, c as u64) as usize] = byte);
    }
}

fn parameters(out: &mut Vec<u8>, layer: &Layer, kernel: usize, kernels: usize) {
    let num = |len: usize| if len > 1 { kernels } else { len };
    for i in 0..num(layer.requantization.len()) {
        let one = &layer.requantization[(kernel + i).min(layer.requantization.len() - 1)];
        out.extend(one.bias.to_le_bytes());
        out.extend(one.scale.to_le_bytes());
        out.extend(one.shift.to_le_bytes());
    }
    let tables = layer.table.len() / TABLE;
    for i in 0..num(tables) {
        let table = (kernel + i).min(tables - 1);
        out.extend_from_slice(&layer.table[table * TABLE..(table + 1) * TABLE]);
    }
}
