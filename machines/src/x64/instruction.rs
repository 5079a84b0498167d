//! Instructions as data: declarations with their encodings, and instructions with their registers.

use super::types::{Register, RegisterClass, Width};
use gradus_ir::Extension;
use smallvec::SmallVec;

/// The operation of an instruction, by which simulators and verifiers know its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Vector sum `reg = src + rm`.
    Add,
    /// Vector difference `reg = src - rm`.
    Sub,
    /// Vector product `reg = src * rm`.
    Mul,
    /// Vector maximum: `src` if it is greater than `rm`, else `rm`.
    Max,
    /// Vector minimum: `src` if it is less than `rm`, else `rm`.
    Min,
    /// Fused `reg = src * rm + reg`.
    Fma,
    /// Fused `reg = -(src * rm) + reg`.
    NegFma,
    /// `reg += sums of four products` of unsigned bytes of `src` and signed bytes of `rm`, in i32.
    Dot,
    /// Sums of two products of signed 16-bit integers of `src` and `rm`, in i32.
    DotPairs,
    /// Integer sum of 32-bit lanes.
    AddInt,
    /// Bitwise exclusive or.
    Xor,
    /// Vector load or register move `reg = rm`.
    Load,
    /// Vector store `rm = reg`.
    Store,
    /// Load of bytes, zero-extended to the lanes.
    LoadBytes,
    /// Load of the lanes of which `src` has the sign bit; the others are zero.
    LoadSigned,
    /// Broadcast of a scalar in memory to all lanes.
    Broadcast,
    /// Lanes of `src` and `rm`, one after the other, at the indices in `reg`.
    Permute,
    /// Lanes of `rm` at the indices in `src`.
    Pick,
    /// Mask register from a general-purpose register.
    MaskMove,
    /// Hint to load a cache line.
    Prefetch,
    /// Zeroes the upper halves of vector registers 0 to 15.
    ZeroUpper,
    /// General-purpose `reg = rm`.
    Move,
    /// General-purpose `reg = imm`, zero-extended from 32 bits.
    MoveImm,
    /// Address computation `reg = base + index + displacement`.
    Lea,
    /// Sum of 64-bit registers `reg += rm`.
    AddReg,
    /// Difference of 64-bit registers `reg -= rm`.
    SubReg,
    /// Comparison of 64-bit registers, which sets the flags.
    CmpReg,
    /// `reg += imm`.
    AddImm,
    /// `reg -= imm`.
    SubImm,
    /// Comparison with an immediate, which sets the flags.
    CmpImm,
    /// Logical shift right by `imm` bits.
    Shr,
    /// Jump if the flags fulfil the condition.
    JumpIf(Condition),
    /// Unconditional jump.
    Jump,
    /// Return.
    Ret,
}

/// A condition of the flags that a comparison `a, b` sets, unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// a < b.
    Below,
    /// a >= b.
    AboveOrEqual,
    /// a != b.
    NotEqual,
}

/// The opcode map of a VEX or EVEX encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpcodeMap {
    /// `0F`
    M0F = 1,
    /// `0F38`
    M0F38 = 2,
}

/// The encoding of an instruction form (Intel SDM, volume 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// VEX or EVEX with a ModRM byte.
    Vector(VectorEncoding),
    /// `VEX.L0 op /r` from a general-purpose register; the SIMD prefix is `pp`.
    Mask {
        /// SIMD prefix: 0 none, 1 `66`, 2 `F3`, 3 `F2`.
        pp: u8,
        /// Operand size bit.
        w: bool,
        /// Opcode.
        opcode: u8,
    },
    /// `REX.W op /r`.
    Reg(u8),
    /// `REX.W 83 /digit ib` or `REX.W 81 /digit id`.
    Imm(u8),
    /// `REX.W C1 /digit ib`.
    Shift(u8),
    /// `B8+r id`.
    MoveImm,
    /// `0F 18 /digit`.
    Prefetch(u8),
    /// An opcode with a 32-bit offset from the end of the instruction.
    Jump(&'static [u8]),
    /// A fixed sequence of bytes.
    Fixed(&'static [u8]),
}

/// A VEX or EVEX encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VectorEncoding {
    /// Opcode map.
    pub map: OpcodeMap,
    /// SIMD prefix: 0 none, 1 `66`, 2 `F3`, 3 `F2`.
    pub pp: u8,
    /// EVEX.W; VEX.W is the same where it matters, and 0 otherwise.
    pub w: bool,
    /// Opcode.
    pub opcode: u8,
    /// Size in bytes of an element.
    pub element: u8,
    /// Operands.
    pub operands: VectorOperands,
    /// Whether there is a VEX form.
    pub vex: bool,
}

impl VectorEncoding {
    /// Whether there is a second source beside `rm`.
    pub fn has_source(&self) -> bool {
        use VectorOperands::{Signed, Three, ThreeWhole};
        matches!(self.operands, Three | ThreeWhole | Signed)
    }
}

/// The operands of a vector instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorOperands {
    /// `reg, src, rm`; `rm` is a register, memory or a broadcast element.
    Three,
    /// `reg, src, rm`; `rm` is a register or memory: elements of bytes and words are not broadcast.
    ThreeWhole,
    /// `reg, src, rm`; `rm` is a vector in memory. There is no EVEX form.
    Signed,
    /// `reg, rm`; `rm` is a vector in memory or a register.
    Two,
    /// `rm, reg`, in memory.
    Stored,
    /// `reg, rm`; `rm` is one element in memory.
    Scalar,
    /// `reg, rm`; `rm` is a byte in memory for each element.
    Bytes,
}

/// An instruction form: what its op declares beyond operands.
#[derive(Debug)]
pub struct Instruction {
    /// Name of its op, `x64.` and the mnemonic.
    pub name: &'static str,
    /// Operation.
    pub operation: Operation,
    /// Encoding.
    pub encoding: Encoding,
    /// Cycles until a dependent instruction can start, on recent cores with 512-bit vectors; of a load, from L1.
    pub latency: u8,
}

impl Extension for Instruction {}

impl PartialEq for Instruction {
    fn eq(&self, other: &Instruction) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Instruction {
    /// Returns the vector encoding, if it is one.
    pub fn vector(&self) -> Option<&VectorEncoding> {
        if let Encoding::Vector(vector) = &self.encoding { Some(vector) } else { None }
    }

    /// Whether the form reads its result register.
    pub fn is_tied(&self) -> bool {
        use Operation::{AddImm, AddReg, Dot, Fma, NegFma, Permute, Shr, SubImm, SubReg};
        matches!(self.operation, Fma | NegFma | Dot | Permute | AddReg | SubReg | AddImm | SubImm | Shr)
    }

    /// Whether the form writes no register.
    pub fn has_no_result(&self) -> bool {
        use Operation::{CmpImm, CmpReg, Jump, JumpIf, Prefetch, Ret, Store, ZeroUpper};
        matches!(self.operation, Store | CmpReg | CmpImm | Prefetch | ZeroUpper | Jump | JumpIf(_) | Ret)
    }

    /// Whether control leaves the sequence.
    pub fn is_terminator(&self) -> bool {
        matches!(self.operation, Operation::Jump | Operation::JumpIf(_) | Operation::Ret)
    }
}

/// A memory operand: the address `base + index + displacement`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mem {
    /// Base register.
    pub base: u8,
    /// Index register, not `rsp`.
    pub index: Option<u8>,
    /// Displacement in bytes.
    pub displacement: i32,
    /// Whether one element is broadcast to all lanes.
    pub broadcast: bool,
}

impl Mem {
    /// The address `base + displacement`.
    pub fn at(base: u8, displacement: i32) -> Mem {
        Mem { base, index: None, displacement, broadcast: false }
    }

    /// The address with an index register.
    pub fn indexed(self, index: u8) -> Mem {
        Mem { index: Some(index), ..self }
    }

    /// The element at the address, broadcast.
    pub fn broadcast(self) -> Mem {
        Mem { broadcast: true, ..self }
    }
}

/// The operand that is a register or in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rm {
    /// A register.
    Reg(u8),
    /// Memory.
    Mem(Mem),
}

/// An instruction with its registers. Fields that its form does not use are zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inst {
    /// Form.
    pub what: &'static Instruction,
    /// Width of vectors.
    pub width: Width,
    /// Register in ModRM.reg: the result, or the stored value.
    pub reg: u8,
    /// First source of three-operand forms.
    pub src: u8,
    /// Last operand.
    pub rm: Rm,
    /// Immediate, or the offset of a jump from the end of the instruction.
    pub imm: i32,
    /// Mask register of a load or store; 0 for none. Masked-off elements of a load are zero.
    pub mask: u8,
}

impl Inst {
    /// Creates an instruction without vectors.
    pub fn scalar(what: &'static Instruction, reg: u8, rm: Rm, imm: i32) -> Inst {
        Inst { what, width: Width::Xmm, reg, src: 0, rm, imm, mask: 0 }
    }

    /// Creates a vector instruction.
    pub fn vector(what: &'static Instruction, width: Width, reg: u8, src: u8, rm: Rm) -> Inst {
        Inst { what, width, reg, src, rm, imm: 0, mask: 0 }
    }

    /// The instruction under a mask.
    pub fn masked(self, mask: u8) -> Inst {
        Inst { mask, ..self }
    }

    /// Whether it needs AVX-512 (EVEX).
    pub fn is_evex(&self) -> bool {
        let Some(vector) = self.what.vector() else { return false };
        let rm = match self.rm {
            Rm::Reg(r) => r,
            Rm::Mem(mem) if mem.broadcast => return true,
            Rm::Mem(_) => 0,
        };
        !vector.vex || self.width == Width::Zmm || self.mask != 0 || (self.reg | self.src | rm) > 15
    }

    /// Whether the form has such vectors: some have no 128 bits, some no 512 and no registers from 16 on.
    pub fn exists(&self) -> bool {
        let Some(vector) = self.what.vector() else { return true };
        let has_128_bits = match self.what.operation {
            Operation::Broadcast => vector.element == 4,
            operation => operation != Operation::Pick,
        };
        (has_128_bits || self.width != Width::Xmm) && (vector.operands != VectorOperands::Signed || !self.is_evex())
    }

    /// The general-purpose register that it writes.
    pub fn written_gpr(&self) -> Option<u8> {
        let is_other = matches!(self.what.encoding, Encoding::Vector(_) | Encoding::Mask { .. });
        (!is_other && !self.what.has_no_result()).then_some(self.reg)
    }

    /// The size in bytes of its memory access without a mask; 0 without one.
    pub fn access_bytes(&self) -> usize {
        match (self.rm, &self.what.encoding) {
            (Rm::Mem(mem), Encoding::Vector(vector)) => match vector.operands {
                VectorOperands::Scalar => usize::from(vector.element),
                _ if mem.broadcast => usize::from(vector.element),
                VectorOperands::Bytes => self.width.bytes() / usize::from(vector.element),
                _ => self.width.bytes(),
            },
            _ => 0,
        }
    }
}

/// The registers of an instruction, in the order of its op's operands.
#[derive(Clone, Default, Debug)]
pub struct Registers {
    /// Sources; the first is the overwritten one, in tied forms.
    pub sources: SmallVec<[Register; 3]>,
    /// Base register.
    pub base: Option<Register>,
    /// Index register.
    pub index: Option<Register>,
    /// Mask.
    pub mask: Option<Register>,
    /// Result.
    pub result: Option<Register>,
}

impl Registers {
    /// Returns all registers that are read.
    pub fn read(&self) -> impl Iterator<Item = Register> {
        self.sources.iter().copied().chain(self.base).chain(self.index).chain(self.mask)
    }
}

impl Inst {
    /// Returns the registers that it reads and writes. Jumps read the flags.
    pub fn registers(&self) -> Registers {
        use Operation::{CmpImm, CmpReg, JumpIf, MaskMove, MoveImm, Store};
        let operation = self.what.operation;
        let class = if self.what.vector().is_some() { RegisterClass::Vector(self.width) } else { RegisterClass::Gpr };
        let in_class = |number| Register { class, number };
        let mut all = Registers::default();
        if self.what.is_tied() || matches!(operation, Store | CmpReg | CmpImm) {
            all.sources.push(in_class(self.reg));
        }
        match self.what.encoding {
            Encoding::Vector(ref vector) if vector.has_source() => {
                all.sources.push(in_class(self.src));
            }
            Encoding::Fixed(_) | Encoding::Jump(_) => {
                all.sources.extend(matches!(operation, JumpIf(_)).then_some(Register::FLAGS));
                return all;
            }
            _ => {}
        }
        match self.rm {
            Rm::Reg(_)
                if matches!(self.what.encoding, Encoding::Imm(_) | Encoding::Shift(_)) || operation == MoveImm => {}
            Rm::Reg(r) => all.sources.push(in_class(r)),
            Rm::Mem(mem) => {
                all.base = Some(Register::gpr(mem.base));
                all.index = mem.index.map(Register::gpr);
            }
        }
        all.mask = (self.mask != 0).then_some(Register { class: RegisterClass::Mask, number: self.mask });
        all.result = match operation {
            CmpReg | CmpImm => Some(Register::FLAGS),
            MaskMove => Some(Register { class: RegisterClass::Mask, number: self.reg }),
            _ if self.what.has_no_result() => None,
            _ => Some(in_class(self.reg)),
        };
        all
    }
}
