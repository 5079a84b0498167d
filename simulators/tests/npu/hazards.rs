//! Hazards: double-buffered programs whose tokens are all needed, and mutants of them.

use super::random::{Rng, cases};
use gradus_simulators::npu::*;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A program with its inputs.
pub struct Case {
    pub code: Vec<NpuInst>,
    pub ddr: Ddr,
}

const DDR: usize = 1 << 14;
/// Sizes of the buffers in SRAM, and the first byte of the results in DDR.
const BUFFER: u32 = 2048;
const RESULTS: u32 = 8192;

/// What tiles have in common.
struct Shape {
    conv: Conv,
    post: Post,
    dw: bool,
    moves: bool,
    input_bytes: u32,
    output_bytes: u32,
    tiles: u32,
}

fn transfer(ddr: u32, sram: u32, run: u32) -> Transfer {
    Transfer { ddr, sram, run, counts: [1; 3], ..Transfer::default() }
}

fn shape(rng: &mut Rng) -> Shape {
    let dw = rng.chance(30);
    let kernels = rng.range(1, 12) as u16;
    let depth = if dw { 1 } else { rng.range(1, 12) as u16 };
    let channels = u32::from(if dw { kernels } else { depth });
    let (rows, cols) = (rng.range(1, 4) as u16, rng.range(1, 5) as u16);
    let taps = rng.range(1, 2) as u16;
    let (height, width) = (u32::from(rows + taps - 1), u32::from(cols + taps - 1));
    let blocks = channels.div_ceil(8);
    let feature = Feature { base: 0, tile_w: 1, tile_c: 8, row: width * 8 * blocks, col: 8 * blocks, chan: 8 };
    let weights = Weights {
        base: 5 * BUFFER,
        tile_w: 1,
        tile_k: 8,
        tile_d: if dw { 1 } else { 8 },
        ky: 512 * u32::from(taps),
        kx: 512,
        kernel: 128,
        depth: 64,
    };
    let out = (u32::from(kernels)).div_ceil(8);
    let output = Feature { base: 0, tile_w: 1, tile_c: 8, row: u32::from(cols) * 8 * out, col: 8 * out, chan: 8 };
    let conv = Conv {
        feature,
        weights,
        height: height as u16,
        width: width as u16,
        rows,
        cols,
        kernels,
        depth,
        kernel: [taps; 2],
        stride: [1; 2],
        dilation: [1; 2],
        signed_feature: true,
        signed_weights: true,
        ..Conv::default()
    };
    let residual =
        Residual { feature: output, scale: 3, other_scale: 5, shift: 3, signed: true, ..Residual::default() };
    let post = Post {
        rows,
        cols,
        kernels,
        params: 4 * BUFFER,
        param_stride: 12,
        clamp: [-128, 127],
        residual: rng.chance(30).then_some(Residual { sum_clamp: [-128, 127], ..residual }),
        table: rng.chance(30).then_some(4 * BUFFER + 512),
        output,
        ..Post::default()
    };
    let (input_bytes, output_bytes) = (height * feature.row, u32::from(rows) * output.row);
    Shape { conv, post, dw, moves: rng.chance(30), input_bytes, output_bytes, tiles: rng.range(3, 5) as u32 }
}

/// Tiles `t` alternate between two buffers each of input, accumulators and output.
pub fn random_program(rng: &mut Rng) -> Case {
    let shape = shape(rng);
    let mut ddr = Ddr::new(DDR);
    let bytes = rng.bytes(RESULTS as usize);
    ddr.write(0, &bytes);
    for k in 0..12 {
        ddr.write(4096 + 12 * k, &[0, 0, 0, 0, 1 + k as u8, 0, 0, 0, 6, 0, 0, 0]);
    }
    let mut code =
        vec![NpuInst::Load(transfer(4096, 4 * BUFFER, 1024)), NpuInst::Load(transfer(5120, 5 * BUFFER, 2048))];
    load(&shape, 0, &mut code);
    for t in 0..shape.tiles {
        if t + 1 < shape.tiles {
            load(&shape, t + 1, &mut code);
        }
        execute(&shape, t, &mut code);
        store(&shape, t, &mut code);
    }
    code.push(NpuInst::End);
    Case { code, ddr }
}

/// Tokens of a buffer, each from one unit to one queue.
const FULL: u8 = 0;
const FREE: u8 = 2;
const SUMS: u8 = 4;
const SUMS_FREE: u8 = 6;
const OUT_FULL: u8 = 8;
const OUT_FREE: u8 = 10;
const COPIED: u8 = 12;

fn signal(unit: Unit, token: u8) -> NpuInst {
    NpuInst::Signal { unit, token }
}

fn wait(queue: Queue, token: u8) -> NpuInst {
    NpuInst::Wait { queue, token }
}

/// Loads the input of tile `t`; with a residual also the buffer of its output.
fn load(shape: &Shape, t: u32, code: &mut Vec<NpuInst>) {
    let b = (t % 2) as u8;
    if t >= 2 {
        code.push(wait(Queue::Load, FREE + b));
    }
    code.push(NpuInst::Load(transfer(t * 800, u32::from(b) * BUFFER, shape.input_bytes)));
    code.push(signal(Unit::Load, FULL + b));
}

fn execute(shape: &Shape, t: u32, code: &mut Vec<NpuInst>) {
    let (b, again) = ((t % 2) as u8, t + 2 < shape.tiles);
    let (input, output) = (u32::from(b) * BUFFER, u32::from(2 + b) * BUFFER);
    code.push(wait(Queue::Execute, FULL + b));
    if t >= 2 {
        code.push(wait(Queue::Execute, SUMS_FREE + b));
    }
    let acc = u32::from(b) * 4096;
    let conv = Conv { feature: Feature { base: input, ..shape.conv.feature }, acc, ..shape.conv };
    code.push(if shape.dw { NpuInst::DwConv(conv) } else { NpuInst::Conv(conv) });
    if again {
        code.push(signal(Unit::Array, FREE + b));
    }
    code.push(signal(Unit::Array, SUMS + b));
    let target = Feature { base: output, ..shape.post.output };
    if t >= 2 {
        code.push(wait(Queue::Execute, OUT_FREE + b));
    }
    if shape.post.residual.is_some() || shape.moves {
        // The residual is part of the parameters, moved to where the result will be.
        let counts = [1, 1, 1, shape.output_bytes.div_ceil(8)];
        let strides = [0, 0, 0, 8];
        let from = 5 * BUFFER;
        code.push(NpuInst::Move(Move {
            from,
            to: output,
            slice: 8,
            counts,
            from_strides: strides,
            to_strides: strides,
        }));
        code.push(signal(Unit::Mover, COPIED));
        code.push(wait(Queue::Execute, COPIED));
    }
    code.push(wait(Queue::Execute, SUMS + b));
    let residual = shape.post.residual.map(|r| Residual { feature: target, ..r });
    code.push(NpuInst::Post(Post { acc, output: target, residual, ..shape.post }));
    if again {
        code.push(signal(Unit::Pipe, SUMS_FREE + b));
    }
    code.push(signal(Unit::Pipe, OUT_FULL + b));
}

fn store(shape: &Shape, t: u32, code: &mut Vec<NpuInst>) {
    let b = (t % 2) as u8;
    code.push(wait(Queue::Store, OUT_FULL + b));
    let to = RESULTS + t * 1024;
    code.push(NpuInst::Store(transfer(to, u32::from(2 + b) * BUFFER, shape.output_bytes)));
    if t + 2 < shape.tiles {
        code.push(signal(Unit::Store, OUT_FREE + b));
    }
}

fn run_on(machine: &NpuMachine, fill: u8, code: &[NpuInst], ddr: &Ddr) -> Result<Ddr, Fault> {
    let mut ddr = ddr.clone();
    let poison = ddr.bytes.iter_mut().zip(&ddr.initialized).filter(|(_, is)| !**is);
    poison.for_each(|(byte, _)| *byte = fill);
    let mut simulator = Simulator::new(machine.clone());
    (simulator.fill, simulator.limit) = (fill, 1 << 22);
    simulator.run(code, &mut ddr)?;
    // Poison is no value.
    let poison = ddr.bytes.iter_mut().zip(&ddr.initialized).filter(|(_, is)| !**is);
    poison.for_each(|(byte, _)| *byte = 0);
    Ok(ddr)
}

#[test]
fn each_token_of_a_double_buffered_program_is_needed() {
    let (mut rng, machine) = (Rng(7), NpuMachine::default());
    for case in 0..cases("GRADUS_NPU_PROGRAMS", 100) {
        let Case { code, ddr } = random_program(&mut rng);
        let result = run_on(&machine, 0, &code, &ddr);
        assert!(result.is_ok(), "case {case}: {}\n{}", result.unwrap_err(), disassemble(&code));
        for (at, inst) in code.iter().enumerate() {
            if matches!(inst, NpuInst::Signal { .. } | NpuInst::Wait { .. }) {
                let mut without = code.clone();
                without.remove(at);
                let result = run_on(&machine, 0, &without, &ddr);
                assert!(result.is_err(), "case {case}: without {at}: {inst}\n{}", disassemble(&code));
            }
        }
    }
}

/// Changes one number or word.
struct Change<'a> {
    rng: &'a mut Rng,
    /// Counts down to the field.
    at: u64,
    count: u64,
}

impl Change<'_> {
    fn is_chosen(&mut self) -> bool {
        self.count += 1;
        self.count - 1 == self.at
    }
}

impl Visitor for Change<'_> {
    type Error = Infallible;

    fn number(&mut self, _: &'static str, _: usize, [low, high]: [i64; 2], value: i64) -> Result<i64, Infallible> {
        if !self.is_chosen() {
            return Ok(value);
        }
        let delta = self.rng.pick(&[-64, -8, -1, 1, 2, 8, 64, 4096]);
        let wild = low + (self.rng.next() % (high - low + 1) as u64) as i64;
        Ok(if self.rng.chance(10) { wild } else { (value + delta).clamp(low, high) })
    }

    fn word(&mut self, _: &'static str, words: &[&'static str], index: usize) -> Result<usize, Infallible> {
        Ok(if self.is_chosen() { (index + 1) % words.len() } else { index })
    }

    fn present(&mut self, _: &'static str, present: bool) -> Result<bool, Infallible> {
        Ok(present)
    }

    fn begin(&mut self, _: &'static str, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }
}

fn mutate(rng: &mut Rng, code: &mut Vec<NpuInst>) {
    let at = rng.range(0, code.len() as u64 - 2) as usize;
    match rng.range(0, 5) {
        0 => drop(code.remove(at)),
        1 => code.insert(at, code[at]),
        2 => code.swap(at, at + 1),
        3 => {
            let inst = code.remove(at);
            let to = rng.range(0, code.len() as u64 - 1) as usize;
            code.insert(to, inst);
        }
        _ => {
            let mut count = Change { rng, at: u64::MAX, count: 0 };
            let Ok(()) = code[at].visit_fields(&mut count);
            let chosen = count.count.saturating_sub(1);
            let at_field = rng.range(0, chosen);
            let Ok(()) = code[at].visit_fields(&mut Change { rng, at: at_field, count: 0 });
        }
    }
}

/// Latencies and rates that change which unit is ahead.
fn latency_tables() -> [NpuMachine; 3] {
    let machine = NpuMachine::default();
    let fast = NpuMachine { ddr_rate: 4096, read_latency: 0, write_latency: 0, ..machine.clone() };
    let slow = NpuMachine {
        ddr_rate: 4,
        read_latency: 3,
        write_latency: 9000,
        start: 1,
        post_latency: 900,
        ..machine.clone()
    };
    [machine, NpuMachine { start: 5000, move_start: 700, ..fast }, slow]
}

#[test]
fn mutants_are_rejected_or_mean_the_same_on_all_latencies() {
    let (mut rng, machines) = (Rng(8), latency_tables());
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let total = cases("GRADUS_NPU_MUTANTS", 1000);
    for case in 0..total {
        let Case { code, ddr } = random_program(&mut rng);
        let expected = run_on(&machines[0], 0, &code, &ddr).expect("a valid program");
        let mut mutant = code.clone();
        (0..rng.range(1, 2)).for_each(|_| mutate(&mut rng, &mut mutant));
        let result = match run_on(&machines[0], 0, &mutant, &ddr) {
            Err(fault) => {
                *counts.entry(fault.class.name()).or_default() += 1;
                continue;
            }
            Ok(result) => result,
        };
        *counts.entry(if result == expected { "same" } else { "different" }).or_default() += 1;
        for machine in &machines {
            for fill in [0, 0x55, 0xff] {
                let again = run_on(machine, fill, &mutant, &ddr);
                let text = || disassemble(&mutant);
                assert!(again.as_ref() == Ok(&result), "case {case}: {:?}\n{}", again.err(), text());
            }
        }
    }
    let count = |names: &[&str]| names.iter().map(|name| counts.get(name).copied().unwrap_or(0)).sum::<u64>();
    assert!(count(&["read after write", "write after read", "write after write"]) > total / 20, "{counts:?}");
    assert!(count(&["deadlock"]) > 0 && count(&["poison"]) > 0 && count(&["same"]) > 0, "{counts:?}");
    assert!(count(&["different"]) > total / 20, "{counts:?}");
    println!("{counts:?}");
}

#[test]
fn an_interlock_waits_for_hazards() {
    let machine = NpuMachine { interlock: Interlock::Stall, ..NpuMachine::default() };
    let mut ddr = Ddr::new(4096);
    ddr.write(0, &[7; 256]);
    let load = NpuInst::Load(transfer(0, 0, 256));
    let code =
        [load, NpuInst::Wait { queue: Queue::Store, token: 0 }, NpuInst::Store(transfer(1024, 0, 256)), NpuInst::End];
    let mut with_signal = code.to_vec();
    with_signal.insert(1, NpuInst::Signal { unit: Unit::Load, token: 0 });
    let ordered = Simulator::new(NpuMachine::default()).run(&with_signal, &mut ddr.clone()).expect("valid");
    let unordered = [code[0], code[2], code[3]];
    let fault = Simulator::new(NpuMachine::default()).run(&unordered, &mut ddr.clone()).expect_err("a hazard");
    assert_eq!((fault.class, fault.at, fault.other), (FaultClass::ReadAfterWrite, 1, Some(0)));
    assert_eq!(fault.place, Some((AddressSpace::Sram, 0)));
    let stalled = Simulator::new(machine).run(&unordered, &mut ddr).expect("an interlock");
    assert!(stalled.stalls.hazard > 0 && stalled.cycles <= ordered.cycles);
    assert_eq!(ddr.read(1024, 256), Some(&[7; 256][..]));
}
