//! Registers and their types.

use gradus_dialects::constraint::kind;
use gradus_ir::{AttrKind, AttrText, Context, Module, Op, ParamArgs, Type, TypeConstraint, TypeDecl, ty};
use std::ops::Range;

/// The width of vector registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Width {
    /// 128 bits.
    Xmm = 0,
    /// 256 bits.
    Ymm = 1,
    /// 512 bits.
    Zmm = 2,
}

impl Width {
    /// Returns the size in bytes.
    pub fn bytes(self) -> usize {
        16 << self as usize
    }
}

/// The class of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RegisterClass {
    /// General-purpose registers, by their number in encodings.
    Gpr,
    /// Vector registers of a width.
    Vector(Width),
    /// Mask registers.
    Mask,
    /// The flags.
    Flags,
}

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    /// Class.
    pub class: RegisterClass,
    /// Number in encodings.
    pub number: u8,
}

/// Number of registers, where vectors of all widths share theirs.
pub const NUM_REGISTERS: usize = 57;

impl Register {
    /// A general-purpose register.
    pub fn gpr(number: u8) -> Register {
        Register { class: RegisterClass::Gpr, number }
    }

    /// The flags.
    pub const FLAGS: Register = Register { class: RegisterClass::Flags, number: 0 };

    /// Returns the index of its storage, below [`NUM_REGISTERS`].
    pub fn index(self) -> usize {
        let first = match self.class {
            RegisterClass::Gpr => 0,
            RegisterClass::Vector(_) => 16,
            RegisterClass::Mask => 48,
            RegisterClass::Flags => 56,
        };
        first + usize::from(self.number)
    }

    /// Returns the type of values in this register.
    pub fn ty(self, ctx: &Context) -> Type {
        let number = ctx.int_attr(Type::I64, i64::from(self.number));
        match self.class {
            RegisterClass::Gpr => Gpr::get(ctx, number).map(|t| t.0),
            RegisterClass::Vector(Width::Xmm) => Xmm::get(ctx, number).map(|t| t.0),
            RegisterClass::Vector(Width::Ymm) => Ymm::get(ctx, number).map(|t| t.0),
            RegisterClass::Vector(Width::Zmm) => Zmm::get(ctx, number).map(|t| t.0),
            RegisterClass::Mask => Mask::get(ctx, number).map(|t| t.0),
            RegisterClass::Flags => Flags::get(ctx).map(|t| t.0),
        }
        .expect("numbers of registers are in range")
    }

    /// Returns the register of a register type.
    pub fn of(ctx: &Context, ty: Type) -> Option<Register> {
        let of = |class, params: ParamArgs<'_>| {
            let number = params.int("number").unwrap_or(0) as u8;
            Some(Register { class, number })
        };
        None.or_else(|| of(RegisterClass::Vector(Width::Zmm), Zmm::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::Gpr, Gpr::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::Vector(Width::Ymm), Ymm::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::Vector(Width::Xmm), Xmm::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::Mask, Mask::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::Flags, Flags::cast(ctx, ty)?.params(ctx)))
    }
}

/// The names of general-purpose registers, by number.
#[rustfmt::skip]
const NAMES: &[(&str, i64)] = &[
    ("rax", 0), ("rcx", 1), ("rdx", 2), ("rbx", 3), ("rsp", 4), ("rbp", 5), ("rsi", 6), ("rdi", 7), ("r8", 8),
    ("r9", 9), ("r10", 10), ("r11", 11), ("r12", 12), ("r13", 13), ("r14", 14), ("r15", 15),
];

macro_rules! numbered {
    ($name:ident, $count:literal, $summary:literal, $text:expr) => {
        const $name: AttrKind = AttrKind {
            text: $text,
            ..kind($summary, |c, a| {
                c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..$count).contains(&v))
            })
        };
    };
}

numbered!(GPR_NUMBER, 16, "general-purpose register", AttrText::Cases(Type::I64, NAMES));
numbered!(VECTOR_NUMBER, 32, "number from 0 to 31", AttrText::Bare(Type::I64));
numbered!(MASK_NUMBER, 8, "number from 0 to 7", AttrText::Bare(Type::I64));

macro_rules! register_types {
    ($($(#[$doc:meta])* $Name:ident $name:literal $KIND:ident $example:literal;)*) => { $(
        $(#[$doc])*
        #[ty($name, format = "`<` $number `>`", examples = &[$example])]
        pub struct $Name {
            /// The register.
            number: Param<$KIND>,
        }
    )* };
}

register_types! {
    /// A 64-bit general-purpose register.
    Gpr "x64.gpr" GPR_NUMBER "rcx";
    /// A 128-bit vector register.
    Xmm "x64.xmm" VECTOR_NUMBER "1";
    /// A 256-bit vector register.
    Ymm "x64.ymm" VECTOR_NUMBER "1";
    /// A 512-bit vector register.
    Zmm "x64.zmm" VECTOR_NUMBER "31";
    /// A mask register.
    Mask "x64.mask" MASK_NUMBER "1";
}

/// The flags of a comparison.
#[ty("x64.flags")]
pub struct Flags {}

/// Any register.
pub const REGISTER: TypeConstraint =
    TypeConstraint { summary: "register of x64", check: |c, t| Register::of(c, t).is_some(), only: None };
/// General-purpose registers.
pub const GPR: TypeConstraint = Gpr::TYPE;
/// Mask registers.
pub const MASK: TypeConstraint = Mask::TYPE;
/// The flags.
pub const FLAGS: TypeConstraint = Flags::TYPE;

/// The operands that a conditional jump forwards to a successor.
pub(super) fn carried(m: &Module, op: Op, i: usize) -> Range<usize> {
    let taken = m.operand_group(op, 1).len();
    if i == 0 { 1..1 + taken } else { 1 + taken..m.operands(op).len() }
}
