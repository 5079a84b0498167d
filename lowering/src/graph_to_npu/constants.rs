//! The image of the constants in DDR: of each slice the weights in the mode 8K8D, or 8K of depthwise convolutions, the parameters,
//! and the tables.

use super::network::{FeatureInfo, Layer, Network, Role, Weights};
use super::residency::Residency;
use super::shape::{LayerShape, TABLE};
use super::steps::weight_bytes;
use gradus_simulators::npu::NpuMachine;

/// Returns the constants of all layers and the constant features, from byte 0 of DDR. `ddr`: the places of features there.
pub fn image(net: &Network, residency: &Residency, ddr: &[Option<usize>], machine: &NpuMachine) -> Vec<u8> {
    let mut out = Vec::new();
    for (layer, (tiling, _)) in net.layers.iter().zip(&residency.tilings) {
        let shape = LayerShape::new(net, layer, machine);
        for (kernel, kernels) in shape.slices(tiling.kernels) {
            let start = out.len();
            weights(&mut out, &shape, kernel, kernels, machine);
            out.resize(start + weight_bytes(&shape, kernels, machine), 0);
            parameters(&mut out, layer, kernel, kernels);
            out.resize(start + shape.slice_bytes(kernels), 0);
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

fn weights(out: &mut Vec<u8>, shape: &LayerShape<'_>, kernel: usize, kernels: usize, machine: &NpuMachine) {
    let layer = shape.layer;
    let Weights::Constant(bytes) = &layer.weights else { return };
    let [lanes, depths] = [machine.kernels as usize, if layer.depthwise { 1 } else { machine.depth as usize }];
    let zero = layer.zeros[1] as u8;
    for tap in 0..layer.taps() {
        for group in (kernel..kernel + kernels).step_by(lanes) {
            for block in (0..layer.depth).step_by(depths) {
                for k in group..group + lanes {
                    let end = out.len() + depths;
                    if k < layer.kernels {
                        let at = (k * layer.taps() + tap) * layer.depth;
                        out.extend_from_slice(&bytes[at + block..at + layer.depth.min(block + depths)]);
                    }
                    out.resize(end, zero);
                }
            }
        }
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
