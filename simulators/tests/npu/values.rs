//! Values against plain loops.

use crate::random::{Rng, cases, place_feature, random_conv};
use crate::reference;
use gradus_simulators::npu::*;

/// Loads `bytes` of DDR to the same addresses of SRAM.
pub fn load_all(bytes: u32) -> Inst {
    Inst::Load(Transfer { run: bytes, counts: [1; 3], ..Transfer::default() })
}

/// Tokens from a unit to a queue.
pub fn then(unit: Unit, queue: Queue, token: u8) -> [Inst; 2] {
    [Inst::Signal { unit, token }, Inst::Wait { queue, token }]
}

fn run(program: &[Inst], ddr: &mut Ddr) -> Statistics {
    Simulator::new(Machine::default()).run(program, ddr).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn convolutions_are_those_of_plain_loops() {
    let (machine, mut rng) = (Machine::default(), Rng(1));
    for case in 0..cases("GRADUS_NPU_CONVS", 400) {
        let dw = case % 3 == 2;
        let (conv, end) = random_conv(&mut rng, &machine, dw);
        let params = end as u32;
        let positions = u64::from(conv.rows) * u64::from(conv.cols);
        let kernels = u64::from(conv.kernels);
        let (output, out_end) =
            place_feature(&mut rng, end + 12 * kernels, [conv.rows, conv.cols, conv.kernels].map(u64::from));
        let mut ddr = Ddr::new((1 << 19) as usize);
        let bytes = rng.bytes(params as usize + 12 * kernels as usize);
        ddr.write(0, &bytes);
        // A bias, a scale and a shift for each kernel that keep results within a byte often.
        let shift = rng.range(0, 40) as u32;
        for k in 0..kernels as usize {
            let at = params as usize + 12 * k;
            let scale = (rng.next() as i32) >> rng.range(0, 30);
            ddr.write(at, &((rng.next() as i32) >> 16).to_le_bytes());
            ddr.write(at + 4, &scale.to_le_bytes());
            ddr.write(at + 8, &shift.to_le_bytes());
        }
        let zero = rng.range(0, 20) as i16 - 10;
        let again = Conv { accumulate: true, ..conv };
        let post = Post {
            acc: conv.acc,
            rows: conv.rows,
            cols: conv.cols,
            kernels: conv.kernels,
            params,
            param_stride: 12,
            zero,
            clamp: [-128, 127],
            output,
            ..Post::default()
        };
        let inst = |conv| if dw { Inst::DwConv(conv) } else { Inst::Conv(conv) };
        let mut program = vec![load_all(params + 12 * kernels as u32)];
        program.extend(then(Unit::Load, Queue::Execute, 0));
        program.extend([inst(conv), inst(again)]);
        program.extend(then(Unit::Array, Queue::Execute, 1));
        program.push(Inst::Post(post));
        program.extend(then(Unit::Pipe, Queue::Store, 2));
        for k in 0..conv.kernels {
            for p in 0..positions {
                let (h, w) = (p / u64::from(conv.cols), p % u64::from(conv.cols));
                let from = output.address(h, w, k.into()) as u32;
                assert!(u64::from(from) < out_end, "case {case}");
                let to = (1 << 18) + (p * kernels + u64::from(k)) as u32;
                program.push(Inst::Store(Transfer {
                    ddr: to,
                    sram: from,
                    run: 1,
                    counts: [1; 3],
                    ..Transfer::default()
                }));
            }
        }
        program.push(Inst::End);
        let before = ddr.clone();
        run(&program, &mut ddr);
        let sums = reference::conv(&conv, dw, &before.bytes);
        for (i, &sum) in sums.iter().enumerate() {
            let at = params as usize + 12 * (i % kernels as usize);
            let word = |o: usize| i32::from_le_bytes(before.bytes[at + o..at + o + 4].try_into().unwrap());
            let value = i128::from(2 * sum + i64::from(word(0))) * i128::from(word(4));
            let rounded = round_half_even(value, word(8) as u32) + i128::from(zero);
            let expected = rounded.clamp(-128, 127) as u8;
            assert_eq!(ddr.bytes[(1 << 18) + i], expected, "case {case}, element {i}: {conv:?}");
        }
    }
}

/// By twice the remainder, which is another way than the machine's.
fn round_half_even(value: i128, shift: u32) -> i128 {
    let unit = 1i128 << shift;
    let (quotient, rest) = (value.div_euclid(unit), value.rem_euclid(unit));
    match (2 * rest).cmp(&unit) {
        std::cmp::Ordering::Less => quotient,
        std::cmp::Ordering::Greater => quotient + 1,
        std::cmp::Ordering::Equal => quotient + (quotient & 1),
    }
}

#[test]
fn cycles_are_those_of_the_definition() {
    let mut rng = Rng(2);
    for case in 0..cases("GRADUS_NPU_COSTS", 600) {
        let mut machine = Machine::default();
        if case % 2 == 1 {
            machine.kernels = rng.pick(&[4, 8, 16]);
            machine.depth = rng.pick(&[4, 8, 16]);
            machine.positions = rng.pick(&[1, 3, 4, 16]);
            machine.banks = rng.pick(&[1, 2, 4, 8]);
            machine.word_bytes = rng.pick(&[8, 16, 64]);
        }
        let dw = case % 3 == 2;
        let (conv, _) = random_conv(&mut rng, &machine, dw);
        let inst = if dw { Inst::DwConv(conv) } else { Inst::Conv(conv) };
        let cost = cost(&machine, &inst);
        assert_eq!((cost.cycles, cost.weight_words), reference::cycles(&machine, &conv, dw), "case {case}: {conv:?}");
    }
}
