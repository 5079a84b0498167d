//! Instructions as data: declarations with their encodings, and instructions with their registers.

use super::types::{Register, RegisterClass};
use gradus_ir::Extension;
use smallvec::SmallVec;

/// The operation of an instruction, by which the simulator knows its meaning. Lanes are i32, or floats in forms of floats;
/// a scalar register is one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// `d = mem[base + offset]`.
    Load,
    /// `mem[base + offset] = d`.
    Store,
    /// `d = imm << shift`, in each lane.
    Move,
    /// `d = !(imm << shift)`, in each lane.
    MoveNot,
    /// `d` with the 16 bits at `shift` replaced by `imm`.
    MoveKeep,
    /// `d = n` in each lane.
    Duplicate,
    /// `d = n * m`.
    Mul,
    /// `d = a + n * m`, of floats fused.
    MulAdd,
    /// `d = a - n * m`, of floats fused.
    MulSub,
    /// `d = n + (m << shift)`.
    Add,
    /// `d = n - (m << shift)`.
    Sub,
    /// `d = m << shift`.
    Shift,
    /// `d = -(m << shift)`.
    Neg,
    /// `d = n + (imm << shift)`, on addresses.
    AddImm,
    /// `d = d + n * imm`.
    MulAddImm,
    /// `d = d + imm * mem[base + offset]`.
    LoadMulAdd,
    /// Return.
    Ret,
}

/// The unit that executes an instruction. A bundle has one instruction of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Loads.
    Load,
    /// Moves of immediates, and address computation.
    Move,
    /// Multiplication and addition.
    Multiply,
    /// Stores.
    Store,
}

/// The operands of a form, and the fields of their encodings (Arm ARM, C4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `d, [n, #offset]`: a multiple of the access size, in 12 bits.
    Memory,
    /// `d, #imm16, lsl #shift`.
    Wide,
    /// `d, #imm8, lsl #shift`.
    Modified,
    /// `d, n`, from a general-purpose register.
    Duplicate,
    /// `d, n, m`.
    Three,
    /// `d, n, m, lsl #shift`.
    Shifted,
    /// `d, m, lsl #shift`.
    Source,
    /// `d, n, m, a`.
    Four,
    /// `d, n, #imm12, lsl #shift`.
    AddImm,
    /// `d, n, m[lane]`.
    Element,
    /// `d, n, #imm`, of the extension: 12 bits, signed.
    MulImm,
    /// `d, #imm, [n, #offset]`, of the extension: 8 bits, signed, and 12 bits, in access sizes.
    LoadMul,
    /// No operands.
    Fixed,
}

/// An instruction form: what its op declares beyond operands.
#[derive(Debug)]
pub struct Instruction {
    /// Name of its op, the dialect and the mnemonic.
    pub name: &'static str,
    /// Operation.
    pub operation: Operation,
    /// Operands.
    pub form: Form,
    /// Whether lanes are floats.
    pub is_float: bool,
    /// Classes of the result, or of the stored register, each with the bits of the encoding without its fields; of
    /// extensions, 0.
    pub encodings: &'static [(RegisterClass, u32)],
}

impl Extension for Instruction {}

impl PartialEq for Instruction {
    fn eq(&self, other: &Instruction) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Instruction {
    /// Returns the mnemonic.
    pub fn mnemonic(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, mnemonic)| mnemonic)
    }

    /// Whether the form reads its result register.
    pub fn is_tied(&self) -> bool {
        use Operation::{LoadMulAdd, MoveKeep, MulAdd, MulAddImm, MulSub};
        matches!(self.operation, MoveKeep | MulAddImm | LoadMulAdd)
            || matches!(self.operation, MulAdd | MulSub) && self.form != Form::Four
    }

    /// Whether it multiplies and adds.
    pub fn multiplies(&self) -> bool {
        use Operation::{Add, LoadMulAdd, Mul, MulAdd, MulAddImm, MulSub, Neg, Shift, Sub};
        matches!(self.operation, Mul | MulAdd | MulSub | Add | Sub | Shift | Neg | MulAddImm | LoadMulAdd)
    }

    /// Whether it belongs to the extension, which has no encodings.
    pub fn is_extension(&self) -> bool {
        matches!(self.form, Form::MulImm | Form::LoadMul)
    }

    /// Returns the units that execute it.
    pub fn units(&self) -> &'static [Unit] {
        use Operation::{AddImm, Duplicate, Load, LoadMulAdd, Move, MoveKeep, MoveNot, Ret, Store};
        match self.operation {
            Load => &[Unit::Load],
            Store => &[Unit::Store],
            Move | MoveNot | MoveKeep | Duplicate | AddImm => &[Unit::Move],
            LoadMulAdd => &[Unit::Load, Unit::Multiply],
            Ret => &[],
            _ => &[Unit::Multiply],
        }
    }

    /// Returns the bits of the encoding for a class; `None` if there is no such form.
    pub fn bits(&self, class: RegisterClass) -> Option<u32> {
        self.encodings.iter().find(|(of, _)| *of == class).map(|(_, bits)| *bits)
    }
}

/// An instruction with its registers. Fields that its form does not use are zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inst {
    /// Form.
    pub what: &'static Instruction,
    /// Class of the result, or of the stored register.
    pub class: RegisterClass,
    /// Result, or the stored register.
    pub d: u8,
    /// First source, or the base of a memory operand.
    pub n: u8,
    /// Second source.
    pub m: u8,
    /// Third source.
    pub a: u8,
    /// Lane of the second source.
    pub lane: u8,
    /// Bits by which an operand is shifted.
    pub shift: u8,
    /// Immediate.
    pub imm: i32,
    /// Offset of a memory operand in bytes.
    pub offset: u32,
    /// Whether it issues together with the instruction before it. Instructions of a bundle read registers before any of
    /// them writes one.
    pub bundled: bool,
}

/// The registers of an instruction, in the order of its op's operands.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Registers {
    /// Sources; the first is the overwritten one, in tied forms.
    pub sources: SmallVec<[Register; 3]>,
    /// Base of a memory operand.
    pub base: Option<Register>,
    /// Result.
    pub result: Option<Register>,
}

impl Inst {
    /// Creates an instruction whose fields other than the result are zero.
    pub fn new(what: &'static Instruction, class: RegisterClass, d: u8) -> Inst {
        Inst { what, class, d, n: 0, m: 0, a: 0, lane: 0, shift: 0, imm: 0, offset: 0, bundled: false }
    }

    /// With sources `n` and `m`.
    pub fn of(self, n: u8, m: u8) -> Inst {
        Inst { n, m, ..self }
    }

    /// With the memory operand `[base, #offset]`.
    pub fn at(self, base: u8, offset: usize) -> Inst {
        Inst { n: base, offset: offset as u32, ..self }
    }

    /// With an immediate.
    pub fn imm(self, imm: i32) -> Inst {
        Inst { imm, ..self }
    }

    /// With a shift.
    pub fn shifted(self, shift: u8) -> Inst {
        Inst { shift, ..self }
    }

    /// Returns the registers that it reads and writes.
    pub fn registers(&self) -> Registers {
        let in_class = |number| Register { class: self.class, number };
        let mut all = Registers::default();
        if self.what.is_tied() || self.what.operation == Operation::Store {
            all.sources.push(in_class(self.d));
        }
        match self.what.form {
            Form::Memory | Form::LoadMul => all.base = Some(Register { class: RegisterClass::X, number: self.n }),
            Form::Wide | Form::Modified | Form::Fixed => {}
            Form::Duplicate => all.sources.push(Register { class: RegisterClass::W, number: self.n }),
            Form::Three | Form::Shifted => all.sources.extend([in_class(self.n), in_class(self.m)]),
            Form::Source => all.sources.push(in_class(self.m)),
            Form::Four => all.sources.extend([in_class(self.n), in_class(self.m), in_class(self.a)]),
            Form::AddImm | Form::MulImm => all.sources.push(in_class(self.n)),
            Form::Element => {
                let lanes = Register { class: self.class.vector(), number: self.m };
                all.sources.extend([in_class(self.n), lanes]);
            }
        }
        let has_result = !matches!(self.what.operation, Operation::Store | Operation::Ret);
        all.result = has_result.then(|| in_class(self.d));
        all
    }
}
