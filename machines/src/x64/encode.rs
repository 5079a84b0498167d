//! The emitter: instructions to bytes (Intel SDM, volume 2, sections 2.1 to 2.7).

use super::instruction::{Encoding, Inst, Mem, OpcodeMap, Rm, VectorEncoding, VectorOperands};

/// The bytes of an instruction, at most 15.
struct InstructionBytes {
    bytes: [u8; 16],
    len: usize,
}

impl InstructionBytes {
    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn word(&mut self, value: i32) {
        self.extend(&value.to_le_bytes());
    }
}

/// Appends the bytes of an instruction. Registers must be in range: 32 vectors, 16 general-purpose registers, 8 masks.
pub fn encode(inst: &Inst, out: &mut Vec<u8>) {
    let mut to = InstructionBytes { bytes: [0; 16], len: 0 };
    match inst.what.encoding {
        Encoding::Vector(ref vector) if inst.is_evex() => evex(&mut to, inst, vector),
        Encoding::Vector(ref vector) => {
            let w = vector.w && vector.operands == VectorOperands::Three && vector.map == OpcodeMap::M0F38;
            vex(&mut to, inst, (vector.map as u8, vector.pp, w, vector.opcode));
        }
        Encoding::Mask { pp, w, opcode } => vex(&mut to, inst, (1, pp, w, opcode)),
        Encoding::Reg(opcode) => {
            let (x, b) = extensions(inst.rm);
            to.push(0x48 | (inst.reg >> 3) << 2 | x << 1 | b);
            to.push(opcode);
            modrm(&mut to, inst.reg, inst.rm, 1);
        }
        Encoding::Imm(digit) => {
            let byte = i8::try_from(inst.imm);
            to.push(0x48 | inst.reg >> 3);
            to.push(if byte.is_ok() { 0x83 } else { 0x81 });
            modrm(&mut to, digit, Rm::Reg(inst.reg), 1);
            match byte {
                Ok(byte) => to.push(byte.cast_unsigned()),
                Err(_) => to.word(inst.imm),
            }
        }
        Encoding::Shift(digit) => {
            to.extend(&[0x48 | inst.reg >> 3, 0xc1]);
            modrm(&mut to, digit, Rm::Reg(inst.reg), 1);
            to.push(inst.imm as u8);
        }
        Encoding::MoveImm => {
            if inst.reg > 7 {
                to.push(0x41);
            }
            to.push(0xb8 | inst.reg & 7);
            to.word(inst.imm);
        }
        Encoding::Prefetch(digit) => {
            let (x, b) = extensions(inst.rm);
            if x | b != 0 {
                to.push(0x40 | x << 1 | b);
            }
            to.extend(&[0x0f, 0x18]);
            modrm(&mut to, digit, inst.rm, 1);
        }
        Encoding::Jump(opcode) => {
            to.extend(opcode);
            to.word(inst.imm);
        }
        Encoding::Fixed(bytes) => to.extend(bytes),
    }
    out.extend_from_slice(&to.bytes[..to.len]);
}

/// Fourth bits of the index and the base, or of a register.
fn extensions(rm: Rm) -> (u8, u8) {
    match rm {
        Rm::Reg(r) => (r >> 4, r >> 3 & 1),
        Rm::Mem(mem) => (mem.index.unwrap_or(0) >> 3, mem.base >> 3),
    }
}

fn vex(to: &mut InstructionBytes, inst: &Inst, (map, pp, w, opcode): (u8, u8, bool, u8)) {
    let (x, b) = extensions(inst.rm);
    let (reg, src) = (inst.reg >> 3 & 1, !inst.src & 15);
    let last = u8::from(w) << 7 | src << 3 | (inst.width as u8) << 2 | pp;
    if x | b == 0 && map == 1 && !w {
        to.extend(&[0xc5, (reg ^ 1) << 7 | last]);
    } else {
        to.extend(&[0xc4, (reg ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | map, last]);
    }
    to.push(opcode);
    modrm(to, inst.reg, inst.rm, 1);
}

fn evex(to: &mut InstructionBytes, inst: &Inst, vector: &VectorEncoding) {
    let (x, b) = extensions(inst.rm);
    let (reg, reg_high) = (inst.reg >> 3 & 1, inst.reg >> 4);
    let broadcast = matches!(inst.rm, Rm::Mem(mem) if mem.broadcast);
    let is_zeroing = inst.mask != 0 && vector.operands != VectorOperands::Stored;
    to.push(0x62);
    to.push((reg ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | (reg_high ^ 1) << 4 | vector.map as u8);
    to.push(u8::from(vector.w) << 7 | (!inst.src & 15) << 3 | 4 | vector.pp);
    let length = (inst.width as u8) << 5 | u8::from(broadcast) << 4;
    to.push(u8::from(is_zeroing) << 7 | length | (inst.src >> 4 ^ 1) << 3 | inst.mask);
    to.push(vector.opcode);
    modrm(to, inst.reg, inst.rm, inst.access_bytes().max(1) as i32);
}

/// ModRM, SIB and displacement; 8-bit displacements are multiples of `scale`.
fn modrm(to: &mut InstructionBytes, reg: u8, rm: Rm, scale: i32) {
    let reg = (reg & 7) << 3;
    let Mem { base, index, displacement, .. } = match rm {
        Rm::Reg(r) => return to.push(0xc0 | reg | r & 7),
        Rm::Mem(mem) => mem,
    };
    let small = i8::try_from(displacement / scale).ok().filter(|_| displacement % scale == 0);
    let mode = match small {
        Some(0) if base & 7 != 5 => 0,
        Some(_) => 0x40,
        None => 0x80,
    };
    match index {
        Some(index) => to.extend(&[mode | reg | 4, (index & 7) << 3 | base & 7]),
        None if base & 7 == 4 => to.extend(&[mode | reg | 4, 0x24]),
        None => to.push(mode | reg | base & 7),
    }
    match (mode, small) {
        (0x40, Some(byte)) => to.push(byte.cast_unsigned()),
        (0x80, _) => to.word(displacement),
        _ => {}
    }
}
