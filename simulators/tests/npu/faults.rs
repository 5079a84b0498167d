//! A program for each class of fault.

use super::values::{load_all, then};
use gradus_simulators::npu::*;

/// A convolution of one byte with one kernel of `taps` rows, whose weights are byte 1.
fn conv(taps: u16) -> Conv {
    let feature = Feature { base: 0, tile_w: 1, tile_c: 1, row: 0, col: 0, chan: 0 };
    let weights = Weights { base: 1, tile_w: 1, tile_k: 1, tile_d: 1, ..Weights::default() };
    Conv {
        feature,
        weights,
        height: u16::MAX,
        width: 1,
        rows: 1,
        cols: 1,
        kernels: 1,
        depth: 1,
        kernel: [taps, 1],
        stride: [1; 2],
        dilation: [1; 2],
        ..Conv::default()
    }
}

fn fault(insts: &[NpuInst]) -> Fault {
    let mut ddr = Ddr::new(1 << 12);
    ddr.write(0, &[255; 64]);
    let mut program = vec![load_all(64)];
    program.extend(then(Unit::Load, Queue::Execute, 0));
    program.extend_from_slice(insts);
    program.push(NpuInst::End);
    Simulator::new(NpuMachine::default()).run(&program, &mut ddr).expect_err("a fault")
}

fn class(insts: &[NpuInst]) -> FaultClass {
    let fault = fault(insts);
    assert!(fault.to_string().contains(fault.class.name()));
    fault.class
}

#[test]
fn each_class_has_a_program() {
    // 33,025 products of 255 * 255 are just below 2^31.
    let most = NpuInst::Conv(conv(33_025));
    let add = NpuInst::Conv(Conv { accumulate: true, ..conv(1) });
    assert_eq!(class(&[most, add]), FaultClass::Overflow);
    let two = [NpuInst::Signal { unit: Unit::Array, token: 1 }, NpuInst::Signal { unit: Unit::Pipe, token: 1 }];
    assert_eq!(class(&two), FaultClass::TokenRace);
    assert_eq!(class(&[NpuInst::Signal { unit: Unit::Load, token: 1 }; 256]), FaultClass::TokenOverflow);
    assert_eq!(class(&[NpuInst::Wait { queue: Queue::Load, token: 1 }]), FaultClass::Deadlock);
    assert_eq!(class(&[NpuInst::Wait { queue: Queue::Load, token: 32 }]), FaultClass::Field);
    assert_eq!(class(&[NpuInst::Conv(conv(0))]), FaultClass::Field);
    assert_eq!(class(&[NpuInst::End]), FaultClass::End);
    let outside = Feature { base: 512 << 10, ..conv(1).feature };
    assert_eq!(class(&[NpuInst::Conv(Conv { feature: outside, ..conv(1) })]), FaultClass::Bounds);
    let poison = Feature { base: 64, ..conv(1).feature };
    let found = fault(&[NpuInst::Conv(Conv { feature: poison, ..conv(1) })]);
    assert_eq!((found.class, found.place), (FaultClass::Poison, Some((AddressSpace::Sram, 64))));
    let slices =
        Move { from: 0, to: 8, slice: 8, counts: [1, 1, 1, 2], from_strides: [0, 0, 0, 8], to_strides: [0; 4] };
    assert_eq!(class(&[NpuInst::Move(slices)]), FaultClass::Overlap);
    let slices = Move { to_strides: [0, 0, 0, 8], ..slices };
    assert_eq!(class(&[NpuInst::Move(slices)]), FaultClass::Overlap);
    let post =
        Post { rows: 1, cols: 1, kernels: 1, output: Feature { base: 128, ..conv(1).feature }, ..Post::default() };
    let unordered = fault(&[NpuInst::Conv(conv(1)), NpuInst::Post(post)]);
    assert_eq!((unordered.class, unordered.at, unordered.other), (FaultClass::ReadAfterWrite, 4, Some(3)));
    assert_eq!(unordered.place, Some((AddressSpace::Accumulators, 0)));
    let mut limited = Simulator::new(NpuMachine::default());
    limited.limit = 10;
    let found = limited.run(&[load_all(11), NpuInst::End], &mut Ddr::new(64)).expect_err("a limit");
    assert_eq!(found.class, FaultClass::Limit);
}

#[test]
fn weights_of_9_bits_are_needed_for_zero_points() {
    let narrow = NpuMachine { weight_bits: 8, ..NpuMachine::default() };
    let conv = NpuInst::Conv(Conv { weight_zero: 1, ..conv(1) });
    assert_eq!(check(&NpuMachine::default(), &conv), Ok(()));
    assert!(check(&narrow, &conv).is_err());
}
