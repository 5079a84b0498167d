//! The instruction forms, a row each.

use super::instruction::{Form, Instruction, Operation};
use super::types::RegisterClass::{D, S, V2D, V4S, W, X};
use super::types::{ADDRESS, REGISTER};
use super::verify;
use gradus_dialects::constraint::{UNIT, kind};
use gradus_ir::{AttrKind, AttrText, Effects, OpDecl, OpInfo, Traits, Type, op};

/// A 32-bit number.
pub(crate) const NUMBER: AttrKind = AttrKind {
    text: AttrText::Bare(Type::I32),
    ..kind("32-bit signless integer attribute", |c, a| c.attr_type(a) == Some(Type::I32))
};

/// A keyword that sets a unit attribute.
pub(crate) const FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// Declares instruction forms: the op and its data.
macro_rules! instructions {
    ($LIST:ident; $($(#[$doc:meta])* $STATIC:ident $Op:ident $name:literal $operation:ident $form:ident $is_float:literal
        [$($class:ident $bits:literal),*];)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $STATIC: Instruction = Instruction {
                name: $name,
                operation: Operation::$operation,
                form: Form::$form,
                is_float: $is_float,
                encodings: &[$(($class, $bits)),*],
            };

            $(#[$doc])*
            #[op(
                $name,
                traits = Traits::OPERAND_SEGMENTS,
                effects = Effects::Unknown,
                extensions = &[&$STATIC],
                format = "($sources^)? (`lane` $lane^)? (`[` $base^ `]`)? (`offset` $offset^)? (`imm` $immediate^)? (`shift` $shift^)? (`bundled` $bundled^)? attr-dict `:` functional-type(operands, results)",
                verify = verify
            )]
            pub struct $Op {
                /// Source registers; the first is the one that the result overwrites, in forms that read it.
                sources: Operands<REGISTER>,
                /// Base register of a memory operand.
                base: OptOperand<ADDRESS>,
                /// Lane of the last source.
                lane: OptAttribute<NUMBER>,
                /// Offset of a memory operand, in bytes.
                offset: OptAttribute<NUMBER>,
                /// Immediate.
                immediate: OptAttribute<NUMBER>,
                /// Bits by which the immediate or the last source is shifted left.
                shift: OptAttribute<NUMBER>,
                /// Whether it issues together with the instruction before it.
                bundled: OptAttribute<FLAG>,
                /// Result.
                result: OptResult<REGISTER>,
            }
        )*

        /// The forms.
        pub(crate) const $LIST: &[&OpInfo] = &[$($Op::INFO),*];
    };
}
pub(crate) use instructions;

#[rustfmt::skip]
instructions! { FORMS;
    /// Load.
    ///
    /// ```mlir
    /// %w1 = a64.ldr [%b] offset 12 : (!a64.x<0>) -> !a64.w<1>
    /// ```
    LDR LdrOp "a64.ldr" Load Memory false
        [W 0xb940_0000, S 0xbd40_0000, D 0xfd40_0000, V4S 0x3dc0_0000, V2D 0x3dc0_0000];
    /// Store.
    STR StrOp "a64.str" Store Memory false
        [W 0xb900_0000, S 0xbd00_0000, D 0xfd00_0000, V4S 0x3d80_0000, V2D 0x3d80_0000];
    /// Move of a 16-bit immediate at bit 0 or 16; other bits are zero.
    MOVZ MovZOp "a64.movz" Move Wide false [W 0x5280_0000];
    /// Move of the complement of such an immediate.
    MOVN MovNOp "a64.movn" MoveNot Wide false [W 0x1280_0000];
    /// Move of 16 bits; other bits stay.
    MOVK MovKOp "a64.movk" MoveKeep Wide false [W 0x7280_0000];
    /// Move of an 8-bit immediate at bit 0, 8, 16 or 24 to each lane.
    MOVI MovIOp "a64.movi" Move Modified false [V4S 0x4f00_0400];
    /// Move of the complement of such an immediate to each lane.
    MVNI MvnIOp "a64.mvni" MoveNot Modified false [V4S 0x6f00_0400];
    /// Copy of a general-purpose register to each lane.
    DUP DupOp "a64.dup" Duplicate Duplicate false [V4S 0x4e04_0c00];
    /// Product.
    MUL MulOp "a64.mul" Mul Three false [W 0x1b00_7c00, V4S 0x4ea0_9c00];
    /// Product of the first two sources, added to the third.
    ///
    /// ```mlir
    /// %3 = a64.madd %w1, %w2, %w3 : (!a64.w<1>, !a64.w<2>, !a64.w<3>) -> !a64.w<3>
    /// ```
    MADD MAddOp "a64.madd" MulAdd Four false [W 0x1b00_0000];
    /// Products of lanes of the last two sources, added to the first.
    MLA MlaOp "a64.mla" MulAdd Three false [V4S 0x4ea0_9400];
    /// Sum, of scalars with the second source shifted left.
    ADD AddOp "a64.add" Add Shifted false [W 0x0b00_0000, V4S 0x4ea0_8400];
    /// Difference, of scalars with the second source shifted left.
    SUB SubOp "a64.sub" Sub Shifted false [W 0x4b00_0000, V4S 0x6ea0_8400];
    /// Move of a register, shifted left.
    ORR OrrOp "a64.orr" Shift Source false [W 0x2a00_03e0];
    /// Negation of a register, shifted left.
    NEG NegOp "a64.neg" Neg Source false [W 0x4b00_03e0];
    /// Sum of an address and a 12-bit immediate at bit 0 or 12.
    ADD_IMM AddImmOp "a64.add_imm" AddImm AddImm false [X 0x9100_0000];
    /// Sum of floats.
    FADD FAddOp "a64.fadd" Add Three true [S 0x1e20_2800, D 0x1e60_2800, V4S 0x4e20_d400, V2D 0x4e60_d400];
    /// Difference of floats.
    FSUB FSubOp "a64.fsub" Sub Three true [S 0x1e20_3800, D 0x1e60_3800, V4S 0x4ea0_d400, V2D 0x4ee0_d400];
    /// Product of floats, with one lane of the last source.
    FMUL FMulOp "a64.fmul" Mul Element true [S 0x5f80_9000, D 0x5fc0_9000, V4S 0x4f80_9000, V2D 0x4fc0_9000];
    /// Fused multiply-add of floats: the first source plus the second times one lane of the third.
    FMLA FMlaOp "a64.fmla" MulAdd Element true [S 0x5f80_1000, D 0x5fc0_1000, V4S 0x4f80_1000, V2D 0x4fc0_1000];
    /// Fused multiply-subtract of floats: the first source minus the second times one lane of the third.
    FMLS FMlsOp "a64.fmls" MulSub Element true [S 0x5f80_5000, D 0x5fc0_5000, V4S 0x4f80_5000, V2D 0x4fc0_5000];
}

/// `a64.ret`
pub static RET: Instruction = Instruction {
    name: "a64.ret",
    operation: Operation::Ret,
    form: Form::Fixed,
    is_float: false,
    encodings: &[(X, 0xd65f_03c0)],
};

/// Return.
#[op("a64.ret", traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE), extensions = &[&RET], format = "attr-dict")]
pub struct RetOp {}
