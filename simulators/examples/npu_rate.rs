//! Prints how many cycles of the npu are simulated per second, on tiles of layers of ResNet-50. Time is that of the processor.
//!
//! `cargo run --release -p gradus-simulators --example npu_rate`

#![allow(clippy::print_stdout)]

mod support;

use gradus_simulators::npu::{
    Conv, Ddr, Feature, NpuInst, NpuMachine, Post, Queue, Residual, Simulator, Transfer, Unit, Weights,
};
use std::time::Duration;
use support::processor_time;

/// Extents of the output, channels, kernels, taps per axis, stride.
const LAYERS: [(u16, u16, u16, u16, u16); 12] = [
    (56, 64, 64, 1, 1),
    (56, 64, 64, 3, 1),
    (28, 128, 64, 3, 1),
    (28, 128, 64, 3, 2),
    (14, 256, 64, 3, 1),
    (14, 1024, 128, 1, 1),
    (7, 512, 40, 3, 1),
    (7, 512, 512, 1, 1),
    (56, 256, 64, 1, 1),
    (56, 64, 256, 1, 1),
    (28, 128, 512, 1, 1),
    (14, 256, 1024, 1, 1),
];

fn main() {
    let (mut cycles, mut time) = (0, Duration::ZERO);
    for layer in LAYERS {
        let (program, mut ddr) = program(layer);
        let mut simulator = Simulator::new(NpuMachine::default());
        let (start, mut elapsed, mut count) = (processor_time(), Duration::ZERO, 0);
        while elapsed < Duration::from_millis(400) {
            let statistics = simulator.run(&program, &mut ddr).expect("a valid program");
            if count == 0 {
                print!("{layer:?}: utilization of the array {:.3}, ", {
                    statistics.macs as f64 / (statistics.busy(Unit::Array) * statistics.peak_macs) as f64
                });
            }
            count += statistics.busy(Unit::Array);
            elapsed = processor_time() - start;
        }
        println!("{:.1} M cycles per second", count as f64 / elapsed.as_secs_f64() / 1e6);
        (cycles, time) = (cycles + count, time + elapsed);
    }
    println!("{:.1} M cycles per second", cycles as f64 / time.as_secs_f64() / 1e6);
}

/// Returns the residual of the last convolution of a block, which is where the result is written.
fn residual(feature: Feature) -> Residual {
    Residual {
        feature,
        scale: 3,
        other_scale: 5,
        shift: 4,
        signed: true,
        sum_clamp: [-128, 127],
        ..Residual::default()
    }
}

/// Convolves rows that fit the accumulators, one after the other, and requantizes each. Where there are more kernels than
/// channels, something is added.
fn program((extent, channels, kernels, taps, stride): (u16, u16, u16, u16, u16)) -> (Vec<NpuInst>, Ddr) {
    let is_expansion = kernels > channels;
    let input = (extent - 1) * stride + 1;
    let [c, k, t] = [channels, kernels, taps].map(u32::from);
    // The channels in blocks of 8, as many rows as SRAM holds.
    let row = u32::from(input) * 8;
    let feature_bytes = u32::from(input) * row * c / 8;
    let weight_bytes = c * k * t * t;
    let feature = Feature { base: 0, tile_w: 1, tile_c: 8, row, col: 8, chan: row * u32::from(input) };
    let weights = Weights {
        base: feature_bytes.min(256 << 10),
        tile_w: 1,
        tile_k: 8,
        tile_d: 8,
        ky: t * c * k,
        kx: c * k,
        kernel: 64,
        depth: 8 * k,
    };
    let feature = if feature_bytes > 256 << 10 { Feature { chan: 0, ..feature } } else { feature };
    let end = weights.base + weight_bytes;
    let total = end + 12 * k;
    let mut ddr = Ddr::new(1 << 20);
    let bytes: Vec<u8> = (0..total).map(|i| if i < end { (i * 7 % 13) as u8 } else { 0 }).collect();
    ddr.write(0, &bytes);
    let mut program = vec![
        NpuInst::Load(Transfer { run: total, counts: [1; 3], ..Transfer::default() }),
        NpuInst::Signal { unit: Unit::Load, token: 0 },
        NpuInst::Wait { queue: Queue::Execute, token: 0 },
    ];
    let rows = (16_384 / (u32::from(extent) * k)).clamp(1, extent.into()) as u16;
    for first in (0..extent).step_by(rows.into()) {
        let rows = rows.min(extent - first);
        program.push(NpuInst::Conv(Conv {
            feature: Feature { base: u32::from(first * stride) * row, ..feature },
            weights,
            height: input - first * stride,
            width: input,
            rows,
            cols: extent,
            kernels,
            depth: channels,
            kernel: [taps; 2],
            stride: [stride; 2],
            dilation: [1; 2],
            pad: [0, taps / 2],
            signed_feature: true,
            signed_weights: true,
            ..Conv::default()
        }));
        program.push(NpuInst::Signal { unit: Unit::Array, token: 1 });
        program.push(NpuInst::Wait { queue: Queue::Execute, token: 1 });
        let chan = u32::from(rows * extent) * 8;
        let output = Feature { base: 0, tile_w: 1, tile_c: 8, row: u32::from(extent) * 8, col: 8, chan };
        program.push(NpuInst::Post(Post {
            rows,
            cols: extent,
            kernels,
            params: end,
            param_stride: 12,
            clamp: [-128, 127],
            residual: is_expansion.then(|| residual(output)),
            output,
            ..Post::default()
        }));
        program.push(NpuInst::Signal { unit: Unit::Pipe, token: 2 });
        program.push(NpuInst::Wait { queue: Queue::Execute, token: 2 });
    }
    program.push(NpuInst::End);
    (program, ddr)
}
