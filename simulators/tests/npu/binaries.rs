//! Words and text: round trips, and damaged input.

use super::random::{Rng, cases};
use gradus_simulators::npu::*;
use gradus_simulators::{Binary, BinaryError};
use std::convert::Infallible;

/// Sets all fields to random values of their range.
struct Random<'a>(&'a mut Rng);

impl Visitor for Random<'_> {
    type Error = Infallible;

    fn number(&mut self, _: &'static str, _: usize, [low, high]: [i64; 2], _: i64) -> Result<i64, Infallible> {
        let small = self.0.chance(50);
        Ok(if small { self.0.range(0, 9) as i64 } else { low + (self.0.next() % (high - low + 1) as u64) as i64 })
    }

    fn word(&mut self, _: &'static str, words: &[&'static str], _: usize) -> Result<usize, Infallible> {
        Ok(self.0.range(0, words.len() as u64 - 1) as usize)
    }

    fn present(&mut self, _: &'static str, _: bool) -> Result<bool, Infallible> {
        Ok(self.0.chance(50))
    }

    fn begin(&mut self, _: &'static str, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }
}

fn random_inst(rng: &mut Rng) -> NpuInst {
    let mut inst = NpuInst::blank(rng.range(0, MNEMONICS.len() as u64 - 1) as usize).expect("an opcode");
    let Ok(()) = inst.visit_fields(&mut Random(rng));
    inst
}

#[test]
fn words_and_text_are_lossless() {
    let mut rng = Rng(3);
    for _ in 0..cases("GRADUS_NPU_ROUND_TRIPS", 500) {
        let program: Vec<NpuInst> = (0..rng.range(0, 12)).map(|_| random_inst(&mut rng)).collect();
        assert_eq!(decode(&encode(&program)), Ok(program.clone()));
        let text = disassemble(&program);
        assert_eq!(assemble(&text), Ok(program), "{text}");
    }
}

#[test]
fn binaries_are_those_of_their_machine() {
    let mut rng = Rng(4);
    let program = ProgramImage {
        code: (0..9).map(|_| random_inst(&mut rng)).collect(),
        constants: rng.bytes(90),
        ddr_bytes: 1000,
        operands: vec![100, 200],
        results: vec![300],
    };
    let machine = NpuMachine::default();
    let binary = Binary::read(&program.to_binary(&machine).write()).expect("a binary");
    assert_eq!(ProgramImage::from_binary(&binary, &machine), Ok(program.clone()));
    let other = NpuMachine { banks: 8, ..NpuMachine::default() };
    let refused = Err(BinaryError { at: 0, reason: "a program of another machine" });
    assert_eq!(ProgramImage::from_binary(&binary, &other), refused);
    let outside = ProgramImage { results: vec![1001], ..program };
    let refused = Err(BinaryError { at: 0, reason: "a place beyond DDR" });
    assert_eq!(ProgramImage::from_binary(&outside.to_binary(&machine), &machine), refused);
}

#[test]
fn damaged_binaries_are_refused_or_safe() {
    let (mut rng, machine) = (Rng(5), NpuMachine::default());
    let (mut decoded, count) = (0, cases("GRADUS_NPU_BINARIES", 1500));
    for _ in 0..count {
        let mut bytes = encode(&super::hazards::random_program(&mut rng).code);
        for _ in 0..rng.range(1, 4) {
            let at = rng.range(0, bytes.len() as u64 - 1) as usize;
            match rng.range(0, 3) {
                0 => bytes[at] ^= 1 << rng.range(0, 7),
                1 => bytes[at] = rng.next() as u8,
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, rng.next() as u8),
            }
        }
        let Ok(mut code) = decode(&bytes) else { continue };
        decoded += 1;
        assert_eq!(encode(&code), bytes);
        code.push(NpuInst::End);
        let _ = code.iter().map(|inst| cycles(&machine, inst)).fold(0, u64::wrapping_add);
        let mut simulator = Simulator::new(machine.clone());
        simulator.limit = 1 << 20;
        let _ = simulator.run(&code, &mut Ddr::new(1 << 14));
    }
    assert!(decoded > count / 8, "only {decoded} of {count} are read");
}

#[test]
fn damaged_text_is_refused_or_safe() {
    let mut rng = Rng(6);
    for _ in 0..cases("GRADUS_NPU_TEXTS", 2000) {
        let mut text: Vec<char> = random_inst(&mut rng).to_string().chars().collect();
        for _ in 0..rng.range(1, 3) {
            let at = rng.range(0, text.len() as u64 - 1) as usize;
            text[at] = rng.pick(&['=', ',', '{', ']', '9', 'x', ' ', 'é', '-']);
        }
        let text: String = text.into_iter().collect();
        if let Ok(program) = assemble(&text) {
            assert_eq!(assemble(&disassemble(&program)), Ok(program), "{text}");
        }
    }
}
