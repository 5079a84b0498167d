//! `npu`: instructions as ops, as data and as bytes.

use gradus_ir::{Builder, Loc, Module, Tensor};
use gradus_machines::npu::{NewProgram, Program, instruction};
use gradus_simulators::Binary;
use gradus_simulators::npu::{GroupKind, MNEMONICS, NUM_TOKENS, NpuInst, NpuMachine, Visitor};
use std::convert::Infallible;

/// Sets all fields to pseudo-random values of their range.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 33
    }
}

impl Visitor for Random {
    type Error = Infallible;

    fn number(&mut self, name: &'static str, _: usize, [low, high]: [i64; 2], _: i64) -> Result<i64, Infallible> {
        if name == "token" {
            return Ok((self.next() % NUM_TOKENS as u64) as i64);
        }
        Ok(match self.next() % 4 {
            0 => low,
            1 => high,
            _ => low + (self.next() as i64 % (high - low + 1)),
        })
    }

    fn word(&mut self, _: &'static str, words: &[&'static str], _: usize) -> Result<usize, Infallible> {
        Ok((self.next() % words.len() as u64) as usize)
    }

    fn present(&mut self, _: &'static str, _: bool) -> Result<bool, Infallible> {
        Ok(self.next().is_multiple_of(2))
    }

    fn begin(&mut self, _: &'static str, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }
}

/// A random instruction. An op without a table has no stride of tables.
fn random_inst(random: &mut Random, opcode: usize) -> NpuInst {
    let mut inst = NpuInst::blank(opcode).expect("an opcode");
    let Ok(()) = inst.visit_fields(random);
    if let NpuInst::Post(post) = &mut inst
        && post.table.is_none()
    {
        post.table_stride = 0;
    }
    inst
}

#[test]
fn ops_data_and_bytes_are_the_same_program() {
    let mut random = Random(1);
    for case in 0..200 {
        let opcodes =
            (0..case % 12).map(|_| (random.next() % (MNEMONICS.len() as u64 - 1)) as usize).collect::<Vec<_>>();
        let mut instructions: Vec<NpuInst> =
            opcodes.into_iter().map(|opcode| random_inst(&mut random, opcode)).collect();
        instructions.push(NpuInst::End);
        let machine = NpuMachine { banks: 1 << (case % 6), kernels: 4 + case, ..NpuMachine::default() };
        let constants = Tensor::from_vec(&[3], vec![1u8, 2, case as u8]);
        let ctx = gradus_machines::context();
        let mut m = Module::new(ctx);
        let new = NewProgram {
            name: "p",
            machine: &machine,
            instructions: &instructions,
            constants: &constants,
            ddr_bytes: 4096,
            operands: &[3, 100],
            results: &[200],
            bubbles: 0,
            repeated: 0,
        };
        let block = m.body();
        let op = new.build(&mut Builder::at_end(&mut m, block), Loc::UNKNOWN);
        let program = Program::of(&m, op).expect("a program");
        assert_eq!(program.instructions, instructions, "case {case}");
        let binary = Binary::read(&program.to_binary().write()).expect("a binary");
        assert_eq!(Program::from_binary(&binary, &machine), Ok(program));
        assert!(Program::from_binary(&binary, &NpuMachine { burst: 64, ..machine }).is_err());
        assert!(instruction(&m, op).is_err());
    }
}
