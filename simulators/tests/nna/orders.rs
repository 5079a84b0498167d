//! The order of pixels in a feature RAM, and the outputs that are patches, as the description of the engine has them.

use super::{Operands, Random};
use gradus_simulators::nna::{
    ByteMemory, CONFIG, Conditions, ENGINE, Form, Mapping, NnaInst, NnaMachine, ProductPlan, ProductProgram, Shape,
    Span, fram_event, observe, simulate, wram_event,
};

/// Returns the pixels that `nndwf` writes, the first of two each, and the outputs that `nndrdocb` reads, of one full step.
fn step(machine: &NnaMachine, mapping: Mapping) -> (Vec<usize>, Vec<i32>) {
    let patches = machine.patches();
    let shape = match mapping {
        Mapping::Dense => Shape { rows: 32, depth: 288, columns: patches },
        _ => Shape { rows: 1, depth: 9, columns: 32 * patches },
    };
    let product = ProductProgram::new(shape, ProductPlan::new(mapping, machine), machine).expect("it has a program");
    let operands = Operands::new(shape, &product, &mut Random(7));
    let mut memory = product.layout.image(&operands.a, &operands.b, &[], &[], 0).expect("operands fit");
    let (mut pixels, mut outputs) = (Vec::new(), Vec::new());
    let seen = |span: Span| {
        let inst = &product.code[span.inst];
        match inst.form {
            Form::Nndwf => pixels.extend(span.pixel),
            Form::Nndrdocb => outputs.push(inst.args[2]),
            _ => {}
        }
    };
    observe(&product.code, machine, &mut memory, &Conditions::REJECT, seen).expect("no hazard");
    outputs.dedup();
    (pixels, outputs)
}

/// Patches stand four pixels apart, three rows of 8 pixels (version 1) or 16 (version 2): two of four outputs are patches, and
/// four of eight.
#[test]
fn pixels_and_outputs_of_a_step() {
    let rows = |row: usize| (0..3 * row).step_by(2).collect::<Vec<usize>>();
    for mapping in [Mapping::Dense, Mapping::Diagonal] {
        assert_eq!(step(&NnaMachine::V1, mapping), (rows(8), vec![0, 2]));
        assert_eq!(step(&NnaMachine::DEFAULT, mapping), (rows(16), vec![0, 2, 4, 6]));
    }
}

/// Nine pixels `f0` to `f8` of each patch, whose value is their number plus ten times the patch, and weights 1, 2, ... 9 for
/// the channel: even outputs are the sums of the patches; odd ones have columns of two patches and the gap.
#[test]
fn every_other_output_is_a_patch() {
    for machine in [NnaMachine::V1, NnaMachine::DEFAULT] {
        let row = machine.row() as i32;
        let mut code = vec![NnaInst::new(Form::Li, &[1, 0])];
        let mut push = |form: Form, args: &[i32]| code.push(NnaInst::new(form, args));
        [2, row, 511].iter().enumerate().for_each(|(i, &value)| push(Form::Nncfg, &[i as i32, value]));
        push(Form::Nnsync, &[CONFIG]);
        let mut memory = ByteMemory::new(1 << 16, 0);
        // Weights of output channel 0 at input channel 0; all others are zero.
        for i in 0..144 {
            let mut bytes = [0; 64];
            bytes[0] = if i % 16 == 0 { 1 + i / 16 } else { 0 };
            memory.fill(64 * u32::from(i), &bytes).expect("in bounds");
            push(Form::La, &[0, 2, 1, 64 * i32::from(i)]);
            push(Form::Nndww, &[0, 0]);
        }
        for pixel in (0..3 * row).step_by(2) {
            let mut bytes = [0; 64];
            for half in 0..2 {
                let (y, x) = ((pixel + half) / row, (pixel + half) % row);
                // The gap is garbage.
                bytes[32 * half as usize] = if x % 4 == 3 { 99 } else { (3 * y + x % 4 + 10 * (x / 4)) as u8 };
            }
            let at = 16_384 + 32 * pixel as u32;
            memory.fill(at, &bytes).expect("in bounds");
            push(Form::La, &[0, 2, 1, at as i32]);
            push(Form::Nndwf, &[0, 0]);
        }
        push(Form::Nnsync, &[fram_event(0) | wram_event(0) | ENGINE]);
        push(Form::Nnmacg, &[0, 0, 0, 0]);
        push(Form::Nnsync, &[ENGINE]);
        for output in 0..machine.outputs as i32 {
            push(Form::Nndrdocb, &[1, 0, output, 0]);
            push(Form::Sa, &[1, 2, 1, 32_768 + 64 * output]);
        }
        push(Form::Halt, &[]);
        simulate(&code, &machine, &mut memory, &Conditions::REJECT).expect("no hazard");
        for output in 0..machine.outputs {
            let bytes = memory.initialized(32_768 + 64 * output, 4).expect("it was written");
            let sum = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let patch = output as i32 / 2;
            let of_patch: i32 = (0..9).map(|tap| (1 + tap) * (tap + 10 * patch)).sum();
            assert_eq!(sum == of_patch, output % 2 == 0, "output {output}: {sum}");
        }
    }
}
