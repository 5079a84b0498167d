//! The emitter and the decoder against another assembler, iced-x86, on random instructions.

use gradus_ir::random::Random;
use gradus_machines::x64::{
    Encoding, Inst, Instruction, Mem, Operation, Register, RegisterClass, Rm, VectorOperands, Width, decode, encode,
    instructions,
};
use iced_x86::{Decoder, DecoderOptions, Encoder, OpKind};

/// Number of instructions; `X64_INSTRUCTIONS` in the environment sets another.
fn count() -> usize {
    std::env::var("X64_INSTRUCTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000)
}

fn mem(random: &mut Random) -> Mem {
    let displacement = match random.below(4) {
        0 => 0,
        1 => random.below(256) as i32 - 128,
        2 => (random.below(300) as i32 - 150) * random.pick(&[4, 8, 16, 32, 64]),
        _ => random.below(1 << 32) as u32 as i32,
    };
    let index = Some(random.below(16) as u8).filter(|&index| index != 4 && random.percent(50));
    Mem { base: random.below(16) as u8, index, displacement, broadcast: false }
}

/// Draws an instruction; `None` if the draw is not one.
fn draw(random: &mut Random, what: &'static Instruction) -> Option<Inst> {
    let gpr = |random: &mut Random| random.below(16) as u8;
    let imm = |random: &mut Random| {
        if random.percent(50) { random.below(256) as i32 - 128 } else { random.below(1 << 32) as u32 as i32 }
    };
    Some(match what.encoding {
        Encoding::Vector(vector) => {
            let width = random.pick(&[Width::Xmm, Width::Ymm, Width::Zmm]);
            let register = |random: &mut Random| {
                let count = random.pick(&[16, 32]);
                random.below(count) as u8
            };
            let may_broadcast = vector.operands == VectorOperands::Three;
            let is_memory = vector.operands == VectorOperands::Signed;
            let is_register = vector.has_source() && !is_memory || vector.operands == VectorOperands::Two;
            let rm = if is_register && random.percent(50) {
                Rm::Reg(register(random))
            } else {
                Rm::Mem(Mem { broadcast: may_broadcast && random.percent(50), ..mem(random) })
            };
            let src = if vector.has_source() { register(random) } else { 0 };
            let inst = Inst::vector(what, width, register(random), src, rm);
            let is_move = matches!(vector.operands, VectorOperands::Two | VectorOperands::Stored);
            let inst = if is_move && random.percent(50) { inst.masked(random.below(8) as u8) } else { inst };
            return Some(inst).filter(Inst::exists);
        }
        Encoding::Mask { .. } => Inst::scalar(what, random.below(8) as u8, Rm::Reg(gpr(random)), 0),
        Encoding::Reg(_) if what.operation == Operation::Lea => {
            Inst::scalar(what, gpr(random), Rm::Mem(mem(random)), 0)
        }
        Encoding::Reg(_) => Inst::scalar(what, gpr(random), Rm::Reg(gpr(random)), 0),
        Encoding::Imm(_) | Encoding::MoveImm => Inst::scalar(what, gpr(random), Rm::Reg(0), imm(random)),
        Encoding::Shift(_) => Inst::scalar(what, gpr(random), Rm::Reg(0), random.below(64) as i32),
        Encoding::Prefetch(_) => Inst::scalar(what, 0, Rm::Mem(mem(random)), 0),
        Encoding::Jump(_) => Inst::scalar(what, 0, Rm::Reg(0), imm(random)),
        Encoding::Fixed(_) => Inst::scalar(what, 0, Rm::Reg(0), 0),
    })
}

fn name_of(register: Register) -> String {
    const NAMES: [&str; 16] =
        ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];
    let n = register.number;
    match register.class {
        RegisterClass::Gpr => NAMES[usize::from(n)].to_owned(),
        RegisterClass::Vector(width) => format!("{}{n}", ["xmm", "ymm", "zmm"][width as usize]),
        RegisterClass::Mask => format!("k{n}"),
        RegisterClass::Flags => "flags".to_owned(),
    }
}

/// The name of the 64-bit register of which this is the low half.
fn shown(register: iced_x86::Register) -> String {
    format!("{:?}", if register.is_gpr() { register.full_register() } else { register }).to_lowercase()
}

/// Compares an instruction with the one that iced-x86 decodes.
fn compare(inst: &Inst, other: &iced_x86::Instruction) {
    let mnemonic = inst.what.name.trim_start_matches("x64.").trim_end_matches("_store").trim_end_matches("_imm");
    assert_eq!(format!("{:?}", other.mnemonic()).to_lowercase(), mnemonic, "{inst:?}");
    let registers = inst.registers();
    let kinds = (0..other.op_count()).map(|i| (other.op_kind(i), i));
    let theirs: Vec<String> =
        kinds.filter(|(kind, _)| *kind == OpKind::Register).map(|(_, i)| shown(other.op_register(i))).collect();
    let is_flags = |register: &Register| register.class == RegisterClass::Flags;
    let result = registers.result.filter(|r| !is_flags(r));
    let tied = usize::from(inst.what.is_tied());
    let sources = registers.sources.iter().skip(tied).filter(|r| !is_flags(r)).copied();
    let ours: Vec<String> = result.into_iter().chain(sources).map(name_of).collect();
    assert_eq!(ours, theirs, "{inst:?}");
    let name = |register: Option<Register>| register.map_or("none".to_owned(), name_of);
    if let Rm::Mem(mem) = inst.rm {
        assert_eq!(
            (name(registers.base), name(registers.index)),
            (shown(other.memory_base()), shown(other.memory_index())),
            "{inst:?}"
        );
        assert_eq!(other.memory_displacement64() as u32 as i32, mem.displacement, "{inst:?}");
        assert_eq!((other.is_broadcast(), other.memory_index_scale()), (mem.broadcast, 1), "{inst:?}");
    }
    assert_eq!(name(registers.mask), shown(other.op_mask()), "{inst:?}");
    assert_eq!(other.zeroing_masking(), inst.mask != 0 && inst.what.operation != Operation::Store, "{inst:?}");
    match inst.what.encoding {
        Encoding::Jump(_) => {
            let target = (0x10_0000 + other.len() as i64 + i64::from(inst.imm)) as u64;
            assert_eq!(other.near_branch64(), target, "{inst:?}");
        }
        Encoding::Imm(_) | Encoding::MoveImm | Encoding::Shift(_) => {
            let last = other.op_count() - 1;
            assert_eq!(other.immediate(last) as u32 as i32, inst.imm, "{inst:?}");
        }
        _ => {}
    }
}

/// Each instruction has the bytes that iced-x86 emits for the instruction that it decodes from them, is that instruction,
/// and decodes to itself.
#[test]
fn bytes_are_those_of_another_assembler() {
    let forms: Vec<_> = instructions().collect();
    let (mut random, mut seen) = (Random::of(7), 0);
    while seen < count() {
        let form = random.pick(&forms);
        let Some(inst) = draw(&mut random, form) else { continue };
        let mut bytes = Vec::new();
        encode(&inst, &mut bytes);
        let mut decoder = Decoder::with_ip(64, &bytes, 0x10_0000, DecoderOptions::NONE);
        let other = decoder.decode();
        assert!(!other.is_invalid() && other.len() == bytes.len(), "{inst:?}: {bytes:x?}");
        compare(&inst, &other);
        let mut encoder = Encoder::new(64);
        encoder.encode(&other, 0x10_0000).unwrap_or_else(|e| panic!("{inst:?}: {e}"));
        assert_eq!(encoder.take_buffer(), bytes, "{inst:?}");
        assert_eq!(decode(&bytes), Some((inst, bytes.len())), "{bytes:x?}");
        seen += 1;
    }
    assert!(forms.len() >= 35, "{} forms", forms.len());
}

/// The decoder accepts only what the other one decodes to the same length, and never panics.
#[test]
fn damaged_bytes_are_refused_or_mean_the_same() {
    let forms: Vec<_> = instructions().collect();
    let mut random = Random::of(11);
    let mut accepted = 0;
    for _ in 0..count() {
        let form = random.pick(&forms);
        let Some(inst) = draw(&mut random, form) else { continue };
        let mut bytes = Vec::new();
        encode(&inst, &mut bytes);
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << random.below(8);
        if let Some((inst, len)) = decode(&bytes) {
            let other = Decoder::with_ip(64, &bytes[..len], 0x10_0000, DecoderOptions::NONE).decode();
            assert!(!other.is_invalid() && other.len() == len, "{inst:?}: {bytes:x?}");
            compare(&inst, &other);
            accepted += 1;
        }
        bytes.truncate(at);
        let _ = decode(&bytes);
    }
    assert!(accepted > count() / 10, "{accepted} accepted");
}
