//! Registers and their types.

use gradus_dialects::constraint::kind;
use gradus_ir::{AttrKind, AttrText, Context, ParamArgs, Type, TypeConstraint, TypeDecl, ty};

/// The class of a register: its size and lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterClass {
    /// 64-bit general-purpose registers: addresses.
    X,
    /// Their low halves: i32.
    W,
    /// The first 32 bits of vector registers: f32.
    S,
    /// The first 64 bits of vector registers: f64.
    D,
    /// Vector registers of four 32-bit lanes.
    V4S,
    /// Vector registers of two 64-bit lanes.
    V2D,
}

impl RegisterClass {
    /// Returns the size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            RegisterClass::W | RegisterClass::S => 4,
            RegisterClass::X | RegisterClass::D => 8,
            RegisterClass::V4S | RegisterClass::V2D => 16,
        }
    }

    /// Returns the size of a lane in bytes.
    pub fn lane_bytes(self) -> usize {
        if matches!(self, RegisterClass::X | RegisterClass::D | RegisterClass::V2D) { 8 } else { 4 }
    }

    /// Whether it is a vector of several lanes.
    pub fn is_vector(self) -> bool {
        matches!(self, RegisterClass::V4S | RegisterClass::V2D)
    }

    /// Returns the class of vectors with lanes of this size.
    pub fn vector(self) -> RegisterClass {
        if self.lane_bytes() == 8 { RegisterClass::V2D } else { RegisterClass::V4S }
    }

    /// Whether its registers are general-purpose ones.
    pub fn is_general(self) -> bool {
        matches!(self, RegisterClass::X | RegisterClass::W)
    }
}

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    /// Class.
    pub class: RegisterClass,
    /// Number in encodings.
    pub number: u8,
}

/// Number of registers, where those of several classes share their storage.
pub const NUM_REGISTERS: usize = 64;

impl Register {
    /// Returns the index of its storage, below [`NUM_REGISTERS`].
    pub fn index(self) -> usize {
        usize::from(self.number) + if self.class.is_general() { 0 } else { 32 }
    }

    /// Returns the type of values in this register.
    pub fn ty(self, ctx: &Context) -> Type {
        let number = ctx.int_attr(Type::I64, i64::from(self.number));
        match self.class {
            RegisterClass::X => X::get(ctx, number).map(|t| t.0),
            RegisterClass::W => W::get(ctx, number).map(|t| t.0),
            RegisterClass::S => S::get(ctx, number).map(|t| t.0),
            RegisterClass::D => D::get(ctx, number).map(|t| t.0),
            RegisterClass::V4S => V4S::get(ctx, number).map(|t| t.0),
            RegisterClass::V2D => V2D::get(ctx, number).map(|t| t.0),
        }
        .expect("numbers of registers are in range")
    }

    /// Returns the register of a register type.
    pub fn of(ctx: &Context, ty: Type) -> Option<Register> {
        let of =
            |class, params: ParamArgs<'_>| Some(Register { class, number: params.int("number").unwrap_or(0) as u8 });
        None.or_else(|| of(RegisterClass::V4S, V4S::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::W, W::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::S, S::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::X, X::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::V2D, V2D::cast(ctx, ty)?.params(ctx)))
            .or_else(|| of(RegisterClass::D, D::cast(ctx, ty)?.params(ctx)))
    }
}

macro_rules! numbered {
    ($name:ident, $count:literal, $summary:literal) => {
        const $name: AttrKind = AttrKind {
            text: AttrText::Bare(Type::I64),
            ..kind($summary, |c, a| {
                c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..$count).contains(&v))
            })
        };
    };
}

numbered!(GENERAL, 31, "number from 0 to 30");
numbered!(VECTOR, 32, "number from 0 to 31");

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
    X "a64.x" GENERAL "0";
    /// The low half of a general-purpose register.
    W "a64.w" GENERAL "1";
    /// The first 32 bits of a vector register.
    S "a64.s" VECTOR "1";
    /// The first 64 bits of a vector register.
    D "a64.d" VECTOR "1";
    /// A vector register of four 32-bit lanes.
    V4S "a64.v4s" VECTOR "31";
    /// A vector register of two 64-bit lanes.
    V2D "a64.v2d" VECTOR "31";
}

/// Any register.
pub const REGISTER: TypeConstraint =
    TypeConstraint { summary: "register of a64", check: |c, t| Register::of(c, t).is_some(), only: None };
/// Registers of addresses.
pub const ADDRESS: TypeConstraint = X::TYPE;
