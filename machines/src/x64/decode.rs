//! The decoder of exactly the instructions of the dialect. Its table is independent of the emitter's declarations; what
//! the emitter does not emit (other prefixes, rounding modes, longer encodings than necessary of a VEX prefix) is refused.

use super::instruction::{Encoding, Inst, Instruction, Mem, Rm, VectorOperands};
use super::ops;
use super::types::Width;

/// A cursor over the bytes of an instruction.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.bytes.get(self.at - 1).copied()
    }

    fn word(&mut self) -> Option<i32> {
        let word = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        word.try_into().ok().map(i32::from_le_bytes)
    }
}

/// Decodes the instruction at the start of `bytes`. Returns it with its length; `None` if it is not one of the dialect.
pub fn decode(bytes: &[u8]) -> Option<(Inst, usize)> {
    let mut c = Cursor { bytes, at: 0 };
    let inst = match c.byte()? {
        0x62 => evex(&mut c)?,
        0xc5 if bytes.get(..3) == Some(&[0xc5, 0xf8, 0x77]) => {
            c.at = 3;
            plain(&ops::VZEROUPPER)
        }
        0xc4 | 0xc5 => vex(&mut c)?,
        0xc3 => plain(&ops::RET),
        0xe9 => Inst { imm: c.word()?, ..plain(&ops::JMP) },
        0x0f => two_bytes(&mut c)?,
        rex @ 0x48..=0x4f => wide(&mut c, rex)?,
        rex @ (0x41 | 0xb8..=0xbf) => {
            let (high, opcode) = if rex == 0x41 { (8, c.byte()?) } else { (0, rex) };
            if rex == 0x41 && opcode == 0x0f {
                c.at = 0;
                return prefetch(&mut c).map(|inst| (inst, c.at));
            }
            (opcode & 0xf8 == 0xb8).then_some(())?;
            Inst { imm: c.word()?, reg: high | opcode & 7, ..plain(&ops::MOV_IMM) }
        }
        0x42 | 0x43 => {
            c.at = 0;
            prefetch(&mut c)?
        }
        _ => return None,
    };
    Some((inst, c.at))
}

fn plain(what: &'static Instruction) -> Inst {
    Inst::scalar(what, 0, Rm::Reg(0), 0)
}

fn two_bytes(c: &mut Cursor<'_>) -> Option<Inst> {
    let what = match c.byte()? {
        0x82 => &ops::JB,
        0x83 => &ops::JAE,
        0x85 => &ops::JNE,
        0x18 => {
            c.at = 0;
            return prefetch(c);
        }
        _ => return None,
    };
    Some(Inst { imm: c.word()?, ..plain(what) })
}

fn prefetch(c: &mut Cursor<'_>) -> Option<Inst> {
    let mut rex = 0;
    let mut byte = c.byte()?;
    if byte & 0xfc == 0x40 {
        rex = byte;
        byte = c.byte()?;
    }
    (byte == 0x0f && c.byte()? == 0x18).then_some(())?;
    let (digit, rm) = modrm(c, (rex >> 1 & 1, rex & 1), 1)?;
    let what = match digit {
        1 => &ops::PREFETCHT0,
        2 => &ops::PREFETCHT1,
        _ => return None,
    };
    matches!(rm, Rm::Mem(_)).then_some(Inst { rm, ..plain(what) })
}

/// Instructions with REX.W.
fn wide(c: &mut Cursor<'_>, rex: u8) -> Option<Inst> {
    let opcode = c.byte()?;
    let (high, extended) = (rex << 1 & 8, (rex >> 1 & 1, rex & 1));
    let what = match opcode {
        0x8b => &ops::MOV,
        0x8d => &ops::LEA,
        0x03 => &ops::ADD,
        0x2b => &ops::SUB,
        0x3b => &ops::CMP,
        0x83 | 0x81 | 0xc1 => {
            let (digit, rm) = modrm(c, extended, 1)?;
            let (Rm::Reg(reg), 0, 0) = (rm, high, extended.0) else { return None };
            let imm = if opcode == 0x81 { c.word()? } else { i32::from(c.byte()?.cast_signed()) };
            let what = match (opcode, digit) {
                (0xc1, 5) => &ops::SHR,
                (0x83 | 0x81, 0) => &ops::ADD_IMM,
                (0x83 | 0x81, 5) => &ops::SUB_IMM,
                (0x83 | 0x81, 7) => &ops::CMP_IMM,
                _ => return None,
            };
            let imm = if opcode == 0xc1 { imm & 0xff } else { imm };
            return Some(Inst { reg: reg & 15, imm, ..plain(what) });
        }
        _ => return None,
    };
    let (reg, rm) = modrm(c, extended, 1)?;
    let is_lea = opcode == 0x8d;
    match rm {
        Rm::Reg(r) if !is_lea && r < 16 => Some(Inst { reg: high | reg, rm, ..plain(what) }),
        Rm::Mem(_) if is_lea => Some(Inst { reg: high | reg, rm, ..plain(what) }),
        _ => None,
    }
}

/// The form of a vector opcode.
fn form(map: u8, pp: u8, w: bool, opcode: u8) -> Option<&'static Instruction> {
    Some(match (map, pp, w, opcode) {
        (1, 0, false, 0x58) => &ops::VADDPS,
        (1, 0, false, 0x5c) => &ops::VSUBPS,
        (1, 0, false, 0x59) => &ops::VMULPS,
        (1, 0, false, 0x5f) => &ops::VMAXPS,
        (1, 0, false, 0x5d) => &ops::VMINPS,
        (1, 0, false, 0x57) => &ops::VXORPS,
        (1, 0, false, 0x10) => &ops::VMOVUPS,
        (1, 0, false, 0x11) => &ops::VMOVUPS_STORE,
        (1, 1, true, 0x58) => &ops::VADDPD,
        (1, 1, true, 0x5c) => &ops::VSUBPD,
        (1, 1, true, 0x59) => &ops::VMULPD,
        (1, 1, true, 0x10) => &ops::VMOVUPD,
        (1, 1, true, 0x11) => &ops::VMOVUPD_STORE,
        (1, 1, false, 0xf5) => &ops::VPMADDWD,
        (1, 1, false, 0xfe) => &ops::VPADDD,
        (2, 1, false, 0xb8) => &ops::VFMADD231PS,
        (2, 1, false, 0xbc) => &ops::VFNMADD231PS,
        (2, 1, true, 0xb8) => &ops::VFMADD231PD,
        (2, 1, true, 0xbc) => &ops::VFNMADD231PD,
        (2, 1, false, 0x50) => &ops::VPDPBUSD,
        (2, 1, false, 0x77) => &ops::VPERMI2PS,
        (2, 1, false, 0x16) => &ops::VPERMPS,
        (2, 1, false, 0x2c) => &ops::VMASKMOVPS,
        (2, 1, false, 0x31) => &ops::VPMOVZXBD,
        (2, 1, false, 0x18) => &ops::VBROADCASTSS,
        (2, 1, true, 0x19) => &ops::VBROADCASTSD,
        _ => return None,
    })
}

fn vex(c: &mut Cursor<'_>) -> Option<Inst> {
    let (reg, x, b, map, last) = if c.bytes[0] == 0xc5 {
        let last = c.byte()?;
        (!last >> 7 & 1, 0, 0, 1, last & 0x7f)
    } else {
        let first = c.byte()?;
        (!first >> 7 & 1, !first >> 6 & 1, !first >> 5 & 1, first & 0x1f, c.byte()?)
    };
    let (w, src, length, pp) = (last >> 7 == 1, !last >> 3 & 15, last >> 2 & 1, last & 3);
    let opcode = c.byte()?;
    if opcode == 0x92 {
        let (reg_low, rm) = modrm(c, (x, b), 1)?;
        let Rm::Reg(r) = rm else { return None };
        let is_kmov = map == 1 && pp == 0 && !w && length == 0 && src == 0 && reg == 0 && r < 16;
        return is_kmov.then_some(Inst { reg: reg_low, rm, ..plain(&ops::KMOVW) });
    }
    // VEX.W is ignored in map 0F and is that of EVEX for multiply-adds; the emitter leaves it 0 elsewhere.
    let is_double = map == 1 && pp == 1 && !matches!(opcode, 0xf5 | 0xfe) || (map, opcode) == (2, 0x19);
    let is_ignored = is_double && !w;
    let what = form(map, pp, w || is_ignored, opcode)?;
    let Encoding::Vector(vector) = &what.encoding else { return None };
    let is_canonical = vector.vex && (!w || map == 2 && matches!(opcode, 0xb8 | 0xbc));
    let width = if length == 1 { Width::Ymm } else { Width::Xmm };
    let (low, rm) = modrm(c, (x, b), 1)?;
    let rm = if let Rm::Reg(r) = rm { Rm::Reg(r & 15) } else { rm };
    let inst = Inst::vector(what, width, reg << 3 | low, src, rm);
    (is_canonical && fits(vector.operands, &inst)).then_some(inst)
}

/// Whether the operands are those of the form.
fn fits(operands: VectorOperands, inst: &Inst) -> bool {
    let is_memory = matches!(inst.rm, Rm::Mem(_));
    if !inst.exists() {
        return false;
    }
    match operands {
        VectorOperands::Three | VectorOperands::ThreeWhole => true,
        VectorOperands::Signed => is_memory,
        VectorOperands::Two => inst.src == 0,
        VectorOperands::Stored | VectorOperands::Scalar | VectorOperands::Bytes => inst.src == 0 && is_memory,
    }
}

fn evex(c: &mut Cursor<'_>) -> Option<Inst> {
    let (p0, p1, p2) = (c.byte()?, c.byte()?, c.byte()?);
    (p0 & 0x0c == 0 && p1 & 4 == 4).then_some(())?;
    let what = form(p0 & 3, p1 & 3, p1 >> 7 == 1, c.byte()?)?;
    let Encoding::Vector(vector) = &what.encoding else { return None };
    // The same opcode is another instruction.
    (vector.operands != VectorOperands::Signed).then_some(())?;
    let width = [Width::Xmm, Width::Ymm, Width::Zmm].into_iter().nth(usize::from(p2 >> 5 & 3))?;
    let (broadcast, zeroing, mask) = (p2 >> 4 & 1 == 1, p2 >> 7 == 1, p2 & 7);
    let scale = match vector.operands {
        VectorOperands::Scalar => i32::from(vector.element),
        _ if broadcast => i32::from(vector.element),
        VectorOperands::Bytes => width.bytes() as i32 / i32::from(vector.element),
        _ => width.bytes() as i32,
    };
    let (low, mut rm) = modrm(c, (!p0 >> 6 & 1, !p0 >> 5 & 1), scale)?;
    match &mut rm {
        Rm::Mem(mem) => mem.broadcast = broadcast,
        Rm::Reg(_) if broadcast => return None,
        Rm::Reg(_) => {}
    }
    let src = !p1 >> 3 & 15 | (!p2 >> 3 & 1) << 4;
    let reg = low | (!p0 >> 7 & 1) << 3 | (!p0 >> 4 & 1) << 4;
    let inst = Inst::vector(what, width, reg, src, rm).masked(mask);
    let is_mask_valid = match vector.operands {
        VectorOperands::Two => zeroing == (mask != 0),
        VectorOperands::Stored => !zeroing,
        _ => mask == 0 && !zeroing,
    };
    let is_broadcast_valid = !broadcast || vector.operands == VectorOperands::Three;
    (is_mask_valid && is_broadcast_valid && fits(vector.operands, &inst)).then_some(inst)
}

/// ModRM, SIB and displacement: the register field and the operand. 8-bit displacements are multiples of `scale`.
fn modrm(c: &mut Cursor<'_>, (x, b): (u8, u8), scale: i32) -> Option<(u8, Rm)> {
    let byte = c.byte()?;
    let (mode, reg, low) = (byte >> 6, byte >> 3 & 7, byte & 7);
    if mode == 3 {
        return Some((reg, Rm::Reg(x << 4 | b << 3 | low)));
    }
    let (mut base, mut index) = (b << 3 | low, None);
    if low == 4 {
        let sib = c.byte()?;
        base = b << 3 | sib & 7;
        index = Some(x << 3 | sib >> 3 & 7).filter(|&index| index != 4);
        (sib >> 6 == 0).then_some(())?;
    } else if x != 0 {
        return None;
    }
    let displacement = match mode {
        // Without a base register; relative to the instruction pointer.
        0 if base & 7 == 5 => return None,
        0 => 0,
        1 => i32::from(c.byte()?.cast_signed()) * scale,
        _ => c.word()?,
    };
    Some((reg, Rm::Mem(Mem { base, index, displacement, broadcast: false })))
}
