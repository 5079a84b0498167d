//! The instruction forms, a row each.

use super::instruction::{Condition, Encoding, Instruction, OpcodeMap, Operation, VectorEncoding, VectorOperands};
use super::types::{FLAGS, GPR, MASK, REGISTER};
use super::{FLAG, types, verify};
use gradus_dialects::constraint::kind;
use gradus_ir::{AttrKind, AttrText, Effects, OpDecl, OpInfo, Traits, Type, op};

/// A 32-bit number.
const NUMBER: AttrKind = AttrKind {
    text: AttrText::Bare(Type::I32),
    ..kind("32-bit signless integer attribute", |c, a| c.attr_type(a) == Some(Type::I32))
};

/// Declares instruction forms: the op and its data.
macro_rules! instructions {
    ($($(#[$doc:meta])* $STATIC:ident $Op:ident $name:literal $operation:ident, $encoding:expr, $latency:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $STATIC: Instruction = Instruction {
                name: $name,
                operation: Operation::$operation,
                encoding: $encoding,
                latency: $latency,
            };

            $(#[$doc])*
            #[op(
                $name,
                traits = Traits::OPERAND_SEGMENTS,
                effects = Effects::Unknown,
                extensions = &[&$STATIC],
                format = "($sources^)? (`[` $base^ `]`)? (`index` $index^)? (`offset` $displacement^)? (`broadcast` $broadcast^)? (`mask` $mask^)? (`imm` $immediate^)? attr-dict `:` functional-type(operands, results)",
                verify = verify
            )]
            pub struct $Op {
                /// Source registers; the first is the one that the result overwrites, in forms that read it.
                sources: Operands<REGISTER>,
                /// Base register of a memory operand.
                base: OptOperand<GPR>,
                /// Index register of a memory operand.
                index: OptOperand<GPR>,
                /// Mask of the elements that are loaded or stored; other loaded elements are zero.
                mask: OptOperand<MASK>,
                /// Displacement of a memory operand, in bytes.
                displacement: OptAttribute<NUMBER>,
                /// Whether the memory operand is one element for all lanes.
                broadcast: OptAttribute<FLAG>,
                /// Immediate.
                immediate: OptAttribute<NUMBER>,
                /// Result.
                result: OptResult<REGISTER>,
            }
        )*

        /// The forms without control flow.
        pub(super) const STRAIGHT: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

/// `reg, src, rm`.
const fn three(map: OpcodeMap, pp: u8, w: bool, opcode: u8) -> Encoding {
    vector(map, pp, w, opcode, VectorOperands::Three, true)
}

const fn vector(map: OpcodeMap, pp: u8, w: bool, opcode: u8, operands: VectorOperands, vex: bool) -> Encoding {
    Encoding::Vector(VectorEncoding { map, pp, w, opcode, element: if w { 8 } else { 4 }, operands, vex })
}

use OpcodeMap::{M0F, M0F38};
use VectorOperands::{Scalar, Signed, Stored, Two};

#[rustfmt::skip]
instructions! {
    /// Sum of f32 lanes.
    VADDPS VAddPsOp "x64.vaddps" Add, three(M0F, 0, false, 0x58), 4;
    /// Difference of f32 lanes.
    VSUBPS VSubPsOp "x64.vsubps" Sub, three(M0F, 0, false, 0x5c), 4;
    /// Product of f32 lanes.
    VMULPS VMulPsOp "x64.vmulps" Mul, three(M0F, 0, false, 0x59), 4;
    /// Maximum of f32 lanes: the first if it is greater than the second, else the second, also if one is NaN.
    VMAXPS VMaxPsOp "x64.vmaxps" Max, three(M0F, 0, false, 0x5f), 4;
    /// Minimum of f32 lanes: the first if it is less than the second, else the second, also if one is NaN.
    VMINPS VMinPsOp "x64.vminps" Min, three(M0F, 0, false, 0x5d), 4;
    /// Fused multiply-add of f32 lanes: `x0 + x1 * x2`.
    ///
    /// ```mlir
    /// %1 = x64.vfmadd231ps %0, %b [%pool] offset 128 broadcast : (!x64.zmm<0>, !x64.zmm<31>, !x64.gpr<rdx>) -> !x64.zmm<0>
    /// ```
    VFMADD231PS VFMAdd231PsOp "x64.vfmadd231ps" Fma, three(M0F38, 1, false, 0xb8), 4;
    /// Fused negated multiply-add of f32 lanes: `x0 - x1 * x2`.
    VFNMADD231PS VFNMAdd231PsOp "x64.vfnmadd231ps" NegFma, three(M0F38, 1, false, 0xbc), 4;
    /// Sum of f64 lanes.
    VADDPD VAddPdOp "x64.vaddpd" Add, three(M0F, 1, true, 0x58), 4;
    /// Difference of f64 lanes.
    VSUBPD VSubPdOp "x64.vsubpd" Sub, three(M0F, 1, true, 0x5c), 4;
    /// Product of f64 lanes.
    VMULPD VMulPdOp "x64.vmulpd" Mul, three(M0F, 1, true, 0x59), 4;
    /// Fused multiply-add of f64 lanes: `x0 + x1 * x2`.
    VFMADD231PD VFMAdd231PdOp "x64.vfmadd231pd" Fma, three(M0F38, 1, true, 0xb8), 4;
    /// Fused negated multiply-add of f64 lanes: `x0 - x1 * x2`.
    VFNMADD231PD VFNMAdd231PdOp "x64.vfnmadd231pd" NegFma, three(M0F38, 1, true, 0xbc), 4;
    /// Dot products of four unsigned with four signed bytes, added to i32 lanes.
    VPDPBUSD VPDPBusdOp "x64.vpdpbusd" Dot, vector(M0F38, 1, false, 0x50, VectorOperands::Three, false), 5;
    /// Dot products of two signed 16-bit integers with two, in i32 lanes.
    VPMADDWD VPMAddWdOp "x64.vpmaddwd" DotPairs, vector(M0F, 1, false, 0xf5, VectorOperands::ThreeWhole, true), 5;
    /// Sum of i32 lanes.
    VPADDD VPAddDOp "x64.vpaddd" AddInt, three(M0F, 1, false, 0xfe), 1;
    /// Lanes of `x1` and `x2`, numbered one after the other, at the indices of `x0`.
    ///
    /// ```mlir
    /// %1 = x64.vpermi2ps %0, %a, %b : (!x64.zmm<0>, !x64.zmm<2>, !x64.zmm<3>) -> !x64.zmm<0>
    /// ```
    VPERMI2PS VPermI2PsOp "x64.vpermi2ps" Permute, vector(M0F38, 1, false, 0x77, VectorOperands::Three, false), 3;
    /// Lanes of `x1` at the indices of `x0`.
    ///
    /// ```mlir
    /// %1 = x64.vpermps %i, %a : (!x64.ymm<1>, !x64.ymm<2>) -> !x64.ymm<1>
    /// ```
    VPERMPS VPermPsOp "x64.vpermps" Pick, three(M0F38, 1, false, 0x16), 3;
    /// Load of the f32 lanes of which `x0` has the sign bit; the others are zero.
    ///
    /// ```mlir
    /// %1 = x64.vmaskmovps %m [%b] offset 28 : (!x64.ymm<4>, !x64.gpr<rdi>) -> !x64.ymm<2>
    /// ```
    VMASKMOVPS VMaskMovPsOp "x64.vmaskmovps" LoadSigned, vector(M0F38, 1, false, 0x2c, Signed, true), 8;
    /// Load of bytes, zero-extended to i32 lanes.
    VPMOVZXBD VPMovZxBdOp "x64.vpmovzxbd" LoadBytes, vector(M0F38, 1, false, 0x31, VectorOperands::Bytes, true), 8;
    /// Bitwise exclusive or.
    VXORPS VXorPsOp "x64.vxorps" Xor, three(M0F, 0, false, 0x57), 1;
    /// Load or move of f32 lanes.
    VMOVUPS VMovUpsOp "x64.vmovups" Load, vector(M0F, 0, false, 0x10, Two, true), 7;
    /// Store of f32 lanes.
    VMOVUPS_STORE VMovUpsStoreOp "x64.vmovups_store" Store, vector(M0F, 0, false, 0x11, Stored, true), 4;
    /// Load or move of f64 lanes.
    VMOVUPD VMovUpdOp "x64.vmovupd" Load, vector(M0F, 1, true, 0x10, Two, true), 7;
    /// Store of f64 lanes.
    VMOVUPD_STORE VMovUpdStoreOp "x64.vmovupd_store" Store, vector(M0F, 1, true, 0x11, Stored, true), 4;
    /// Broadcast of an f32 in memory.
    VBROADCASTSS VBroadcastSsOp "x64.vbroadcastss" Broadcast, vector(M0F38, 1, false, 0x18, Scalar, true), 7;
    /// Broadcast of an f64 in memory.
    VBROADCASTSD VBroadcastSdOp "x64.vbroadcastsd" Broadcast, vector(M0F38, 1, true, 0x19, Scalar, true), 7;
    /// Mask of 16 bits from a register.
    KMOVW KMovWOp "x64.kmovw" MaskMove, Encoding::Mask { pp: 0, w: false, opcode: 0x92 }, 3;
    /// Zeroes the upper halves of vector registers.
    VZEROUPPER VZeroUpperOp "x64.vzeroupper" ZeroUpper, Encoding::Fixed(&[0xc5, 0xf8, 0x77]), 1;
    /// Loads a cache line ahead of its use.
    PREFETCHT0 PrefetchT0Op "x64.prefetcht0" Prefetch, Encoding::Prefetch(1), 1;
    /// Loads a cache line ahead of its use, into the L2 cache.
    PREFETCHT1 PrefetchT1Op "x64.prefetcht1" Prefetch, Encoding::Prefetch(2), 1;
    /// Register move.
    MOV MovOp "x64.mov" Move, Encoding::Reg(0x8b), 1;
    /// A constant of 32 bits, zero-extended.
    MOV_IMM MovImmOp "x64.mov_imm" MoveImm, Encoding::MoveImm, 1;
    /// Address computation.
    LEA LeaOp "x64.lea" Lea, Encoding::Reg(0x8d), 1;
    /// Sum.
    ADD AddOp "x64.add" AddReg, Encoding::Reg(0x03), 1;
    /// Sum with an immediate.
    ADD_IMM AddImmOp "x64.add_imm" AddImm, Encoding::Imm(0), 1;
    /// Difference.
    SUB SubOp "x64.sub" SubReg, Encoding::Reg(0x2b), 1;
    /// Difference with an immediate.
    SUB_IMM SubImmOp "x64.sub_imm" SubImm, Encoding::Imm(5), 1;
    /// Comparison of two registers.
    CMP CmpOp "x64.cmp" CmpReg, Encoding::Reg(0x3b), 1;
    /// Comparison with an immediate.
    CMP_IMM CmpImmOp "x64.cmp_imm" CmpImm, Encoding::Imm(7), 1;
    /// Logical shift right.
    SHR ShrOp "x64.shr" Shr, Encoding::Shift(5), 1;
}

/// Declares conditional jumps.
macro_rules! jumps {
    ($($(#[$doc:meta])* $STATIC:ident $Op:ident $name:literal $condition:ident, $opcode:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $STATIC: Instruction = Instruction {
                name: $name,
                operation: Operation::JumpIf(Condition::$condition),
                encoding: Encoding::Jump(&[0x0f, $opcode]),
                latency: 1,
            };

            $(#[$doc])*
            #[op(
                $name,
                traits = Traits::TERMINATOR.and(Traits::OPERAND_SEGMENTS),
                effects = Effects::Unknown,
                extensions = &[&$STATIC],
                successor_operands = types::carried,
                format = "$flags `,` $taken (`(` $taken_operands^ `:` type($taken_operands) `)`)? `,` $next (`(` $next_operands^ `:` type($next_operands) `)`)? attr-dict"
            )]
            pub struct $Op {
                /// Flags of a comparison.
                flags: Operand<FLAGS>,
                /// Arguments of the destination.
                taken_operands: Operands<REGISTER>,
                /// Arguments of the block that follows.
                next_operands: Operands<REGISTER>,
                /// Destination of the jump.
                taken: Successor,
                /// The block that follows.
                next: Successor,
            }
        )*

        /// The conditional jumps.
        pub(super) const JUMPS: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

jumps! {
    /// Jump if below, unsigned.
    JB JbOp "x64.jb" Below, 0x82;
    /// Jump if above or equal, unsigned.
    JAE JaeOp "x64.jae" AboveOrEqual, 0x83;
    /// Jump if not equal.
    JNE JneOp "x64.jne" NotEqual, 0x85;
}

/// `x64.jmp`
pub static JMP: Instruction =
    Instruction { name: "x64.jmp", operation: Operation::Jump, encoding: Encoding::Jump(&[0xe9]), latency: 1 };

/// Unconditional jump, or the end of a block that continues in the next one.
#[op(
    "x64.jmp",
    traits = Traits::TERMINATOR,
    extensions = &[&JMP],
    successor_operands = |m, op, _| 0..m.operands(op).len(),
    format = "$target (`(` $operands^ `:` type($operands) `)`)? attr-dict"
)]
pub struct JmpOp {
    /// Arguments of the destination.
    operands: Operands<REGISTER>,
    /// Destination.
    target: Successor,
}

/// `x64.ret`
pub static RET: Instruction =
    Instruction { name: "x64.ret", operation: Operation::Ret, encoding: Encoding::Fixed(&[0xc3]), latency: 1 };

/// Return.
#[op("x64.ret", traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE), extensions = &[&RET], format = "attr-dict")]
pub struct RetOp {}
