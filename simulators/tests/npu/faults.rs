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

fn fault(insts: &[Inst]) -> Fault {
    let mut ddr = Ddr::new(1 << 12);
    ddr.write(0, &[255; 64]);
    let mut program = vec![load_all(64)];
    program.extend(then(Unit::Load, Queue::Execute, 0));
    program.extend_from_slice(insts);
    program.push(Inst::End);
    Simulator::new(Machine::default()).run(&program, &mut ddr).expect_err("a fault")
}

fn class(insts: &[Inst]) -> FaultClass {
    let fault = fault(insts);
    assert!(fault.to_string().contains(fault.class.name()));
    fault.class
}

#[test]
fn each_class_has_a_program() {
    // 33,025 products of 255 * 255 are just below 2^31.
    let most = Inst::Conv(conv(33_025));
    let add = Inst::Conv(Conv { accumulate: true, ..conv(1) });
    assert_eq!(class(&[most, add]), FaultClass::Overflow);
    let two = [Inst::Signal { unit: Unit::Array, token: 1 }, Inst::Signal { unit: Unit::Pipe, token: 1 }];
    assert_eq!(class(&two), FaultClass::TokenRace);
    assert_eq!(class(&[Inst::Signal { unit: Unit::Load, token: 1 }; 256]), FaultClass::TokenOverflow);
    assert_eq!(class(&[Inst::Wait { queue: Queue::Load, token: 1 }]), FaultClass::Deadlock);
    assert_eq!(class(&[Inst::Wait { queue: Queue::Load, token: 32 }]), FaultClass::Field);
    assert_eq!(class(&[Inst::Conv(conv(0))]), FaultClass::Field);
    assert_eq!(class(&[Inst::End]), FaultClass::End);
    let outside = Feature { base: 512 << 10, ..conv(1).feature };
    assert_eq!(class(&[Inst::Conv(Conv { feature: outside, ..conv(1) })]), FaultClass::Bounds);
    let poison = Feature { base: 64, ..conv(1).feature };
    let found = fault(&[Inst::Conv(Conv { feature: poison, ..conv(1) })]);
    assert_eq!((found.class, found.place), (FaultClass::Poison, Some((Memory::Sram, 64))));
    let slices =
        Move { from: 0, to: 8, slice: 8, counts: [1, 1, 1, 2], from_strides: [0, 0, 0, 8], to_strides: [0; 4] };
    assert_eq!(class(&[Inst::Move(slices)]), FaultClass::Overlap);
    let slices = Move { to_strides: [0, 0, 0, 8], ..slices };
    assert_eq!(class(&[Inst::Move(slices)]), FaultClass::Overlap);
    let post =
        Post { rows: 1, cols: 1, kernels: 1, output: Feature { base: 128, ..conv(1).feature }, ..Post::default() };
    let unordered = fault(&[Inst::Conv(conv(1)), Inst::Post(post)]);
    assert_eq!((unordered.class, unordered.at, unordered.other), (FaultClass::ReadAfterWrite, 4, Some(3)));
    assert_eq!(unordered.place, Some((Memory::Accumulators, 0)));
    let mut limited = Simulator::new(Machine::default());
    limited.limit = 10;
    let found = limited.run(&[load_all(11), Inst::End], &mut Ddr::new(64)).expect_err("a limit");
    assert_eq!(found.class, FaultClass::Limit);
}

#[test]
fn weights_of_9_bits_are_needed_for_zero_points() {
    let narrow = Machine { weight_bits: 8, ..Machine::default() };
    let conv = Inst::Conv(Conv { weight_zero: 1, ..conv(1) });
    assert_eq!(check(&Machine::default(), &conv), Ok(()));
    assert!(check(&narrow, &conv).is_err());
}
