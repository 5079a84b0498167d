//! Values against plain loops.

use super::random::{Rng, cases, place_feature, random_conv};
use super::reference;
use gradus_simulators::npu::*;

/// Loads `bytes` of DDR to the same addresses of SRAM.
pub fn load_all(bytes: u32) -> NpuInst {
    NpuInst::Load(Transfer { run: bytes, counts: [1; 3], ..Transfer::default() })
}

/// Tokens from a unit to a queue.
pub fn then(unit: Unit, queue: Queue, token: u8) -> [NpuInst; 2] {
    [NpuInst::Signal { unit, token }, NpuInst::Wait { queue, token }]
}

fn run(program: &[NpuInst], ddr: &mut Ddr) -> Statistics {
    Simulator::new(NpuMachine::default()).run(program, ddr).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn convolutions_are_those_of_plain_loops() {
    let mut rng = Rng(1);
    for case in 0..cases("GRADUS_NPU_CONVS", 400) {
        let (kernels, positions) = (rng.pick(&[8, 8, 4, 16, 64]), rng.pick(&[4, 16]));
        let machine = NpuMachine { kernels, positions, depth: kernels, ..NpuMachine::default() };
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
        let inst = |conv| if dw { NpuInst::DwConv(conv) } else { NpuInst::Conv(conv) };
        let mut program = vec![load_all(params + 12 * kernels as u32)];
        program.extend(then(Unit::Load, Queue::Execute, 0));
        program.extend([inst(conv), inst(again)]);
        program.extend(then(Unit::Array, Queue::Execute, 1));
        program.push(NpuInst::Post(post));
        program.extend(then(Unit::Pipe, Queue::Store, 2));
        for k in 0..conv.kernels {
            for p in 0..positions {
                let (h, w) = (p / u64::from(conv.cols), p % u64::from(conv.cols));
                let from = output.address(h, w, k.into()) as u32;
                assert!(u64::from(from) < out_end, "case {case}");
                let to = (1 << 18) + (p * kernels + u64::from(k)) as u32;
                program.push(NpuInst::Store(Transfer {
                    ddr: to,
                    sram: from,
                    run: 1,
                    counts: [1; 3],
                    ..Transfer::default()
                }));
            }
        }
        program.push(NpuInst::End);
        let before = ddr.clone();
        let result = Simulator::new(machine).run(&program, &mut ddr);
        assert!(result.is_ok(), "case {case}: {}", result.unwrap_err());
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
        let mut machine = NpuMachine::default();
        if case % 2 == 1 {
            machine.kernels = rng.pick(&[4, 8, 16]);
            machine.depth = rng.pick(&[4, 8, 16]);
            machine.positions = rng.pick(&[1, 3, 4, 16]);
            machine.banks = rng.pick(&[1, 2, 4, 8]);
            machine.word_bytes = rng.pick(&[8, 16, 64]);
        }
        let dw = case % 3 == 2;
        let (conv, _) = random_conv(&mut rng, &machine, dw);
        let inst = if dw { NpuInst::DwConv(conv) } else { NpuInst::Conv(conv) };
        let cost = cost(&machine, &inst);
        assert_eq!((cost.cycles, cost.weight_words), reference::cycles(&machine, &conv, dw), "case {case}: {conv:?}");
    }
}

/// Rows of `n` bytes under the mode 8C.
fn row(base: u32, n: u16) -> Feature {
    Feature { base, tile_w: 1, tile_c: 8, row: u32::from(n).next_multiple_of(8), col: 0, chan: 8 }
}

#[test]
fn multiplies_are_depthwise_convolutions() {
    let mut rng = Rng(9);
    for case in 0..cases("GRADUS_NPU_MULTIPLIES", 60) {
        let n = rng.range(1, 4096) as u16;
        let (signed, zero_a, zero_b) = (rng.chance(50), rng.range(0, 100) as i16, rng.range(0, 100) as i16);
        let mut ddr = Ddr::new(1 << 16);
        let bytes = rng.bytes(16_384);
        ddr.write(0, &bytes);
        // No bias, factor 1, two binary places.
        ddr.write(8192, &[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
        let kernels = Weights { base: 4096, tile_w: 1, tile_k: 8, tile_d: 1, kernel: 8, ..Weights::default() };
        let conv = Conv {
            feature: row(0, n),
            weights: kernels,
            height: 1,
            width: 1,
            rows: 1,
            cols: 1,
            kernels: n,
            depth: 1,
            kernel: [1; 2],
            stride: [1; 2],
            dilation: [1; 2],
            feature_zero: zero_a,
            weight_zero: zero_b,
            signed_feature: signed,
            signed_weights: signed,
            ..Conv::default()
        };
        let post = Post { rows: 1, cols: 1, kernels: n, params: 8192, clamp: [-128, 127], ..Post::default() };
        let mut program = vec![load_all(16_384)];
        program.extend(then(Unit::Load, Queue::Execute, 0));
        program.push(NpuInst::DwConv(conv));
        program.extend(then(Unit::Array, Queue::Execute, 1));
        program.push(NpuInst::Post(Post { output: row(1 << 15, n), ..post }));
        program.extend(then(Unit::Pipe, Queue::Store, 2));
        let transfer = Transfer { ddr: 1 << 15, sram: 1 << 15, run: n.into(), counts: [1; 3], ..Transfer::default() };
        program.extend([NpuInst::Store(transfer), NpuInst::End]);
        let statistics = run(&program, &mut ddr);
        assert_eq!(statistics.macs, u64::from(n));
        for i in 0..usize::from(n) {
            let value = |byte: u8| if signed { i128::from(byte as i8) } else { i128::from(byte) };
            let product = (value(bytes[i]) - i128::from(zero_a)) * (value(bytes[4096 + i]) - i128::from(zero_b));
            let expected = round_half_even(product, 2).clamp(-128, 127) as u8;
            assert_eq!(ddr.bytes[(1 << 15) + i], expected, "case {case}, element {i}");
        }
    }
}

#[test]
fn residuals_and_tables_are_those_of_the_definition() {
    let mut rng = Rng(10);
    for case in 0..cases("GRADUS_NPU_POSTS", 200) {
        let (kernels, cols) = (rng.range(1, 20) as u16, rng.range(1, 9) as u16);
        let mut ddr = Ddr::new(1 << 16);
        let bytes = rng.bytes(1 << 15);
        ddr.write(0, &bytes);
        ddr.write(1024, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let (other, end) = place_feature(&mut rng, 2048, [1, cols.into(), kernels.into()]);
        let in_place = rng.chance(50);
        let (output, _) =
            if in_place { (other, end) } else { place_feature(&mut rng, end, [1, cols.into(), kernels.into()]) };
        let byte = |rng: &mut Rng| rng.range(0, 255) as i16 - 128;
        let residual = Residual {
            feature: other,
            zero: byte(&mut rng),
            other_zero: byte(&mut rng),
            scale: rng.next() as i32 >> rng.range(0, 31),
            other_scale: rng.next() as i32 >> rng.range(0, 31),
            shift: rng.range(0, 35) as u8,
            signed: rng.chance(50),
            sum_zero: byte(&mut rng),
            sum_clamp: [-100, 120],
        };
        let table = rng.chance(50).then_some(1 << 14);
        let post = Post { rows: 1, cols, kernels, params: 1024, clamp: [-128, 127], output, table, ..Post::default() };
        // Positions are bytes 0 to 8, the one kernel of each channel is a byte from 64 on: a product of two bytes.
        let feature = Feature { base: 0, tile_w: 1, tile_c: 1, row: 0, col: 1, chan: 0 };
        let weights = Weights { base: 64, tile_w: 1, tile_k: 1, tile_d: 1, kernel: 1, ..Weights::default() };
        let conv = Conv {
            feature,
            weights,
            height: 1,
            width: cols,
            rows: 1,
            cols,
            kernels,
            depth: 1,
            kernel: [1; 2],
            stride: [1; 2],
            dilation: [1; 2],
            signed_feature: true,
            signed_weights: true,
            ..Conv::default()
        };
        let mut program = vec![load_all(1 << 15)];
        program.extend(then(Unit::Load, Queue::Execute, 0));
        program.push(NpuInst::Conv(conv));
        program.extend(then(Unit::Array, Queue::Execute, 1));
        program.push(NpuInst::Post(Post { residual: Some(residual), table_stride: 256, ..post }));
        program.extend(then(Unit::Pipe, Queue::Store, 2));
        let whole = Transfer { ddr: 1 << 15, run: 1 << 15, counts: [1; 3], ..Transfer::default() };
        program.extend([NpuInst::Store(whole), NpuInst::End]);
        let before = ddr.clone();
        run(&program, &mut ddr);
        for (p, k) in (0..cols).flat_map(|p| (0..kernels).map(move |k| (p, k))) {
            let signed = |at: usize| i128::from(before.bytes[at] as i8);
            let first = (signed(p.into()) * signed(64 + usize::from(k))).clamp(-128, 127);
            let at = other.address(0, p.into(), k.into()) as usize;
            let b = if residual.signed { signed(at) } else { i128::from(before.bytes[at]) };
            let left = (first - i128::from(residual.zero)) * i128::from(residual.scale);
            let right = (b - i128::from(residual.other_zero)) * i128::from(residual.other_scale);
            let sum = round_half_even(left + right, residual.shift.into()) + i128::from(residual.sum_zero);
            let sum = sum.clamp(-100, 120) as u8;
            let looked_up = table.map(|t| before.bytes[t as usize + 256 * usize::from(k) + usize::from(sum)]);
            let found = ddr.bytes[(1 << 15) + output.address(0, p.into(), k.into()) as usize];
            assert_eq!(found, looked_up.unwrap_or(sum), "case {case}, position {p}, kernel {k}: {residual:?}");
        }
    }
}

#[test]
fn transfers_are_charged_in_bursts() {
    let machine = NpuMachine::default();
    let charged = |ddr: u32, run: u32, counts: [u32; 3], ddr_strides: [u32; 3]| {
        let transfer = Transfer { ddr, run, counts, ddr_strides, ..Transfer::default() };
        let cost = cost(&machine, &NpuInst::Load(transfer));
        assert_eq!(cost.cycles, (cost.ddr_bytes * 4).div_ceil(15));
        cost.ddr_bytes
    };
    assert_eq!(charged(0, 128, [1; 3], [0; 3]), 128);
    assert_eq!(charged(127, 2, [1; 3], [0; 3]), 256);
    // Adjacent runs are one.
    assert_eq!(charged(0, 16, [1, 2, 4], [0, 64, 16]), 128);
    assert_eq!(charged(0, 16, [1, 2, 4], [0, 512, 128]), 1024);
    let slices = Move { slice: 8, counts: [1, 2, 3, 4], ..Move::default() };
    assert_eq!(cycles(&machine, &NpuInst::Move(slices)), 24 + 4);
    let post = Post { rows: 3, cols: 5, kernels: 9, clamp: [0, 1], output: row(0, 8), ..Post::default() };
    assert_eq!(cycles(&machine, &NpuInst::Post(post)), 15 + 8);
}
