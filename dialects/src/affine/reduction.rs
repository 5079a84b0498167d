//! Reduction kinds of `affine.parallel`.

use crate::memref::combining_op;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::{Attr, Context, OpArgs, OpInfo, Signedness, Type, TypeData, Value};

/// A reduction kind.
#[derive(Debug)]
pub struct ReductionKind {
    /// Keyword in the assembly format.
    pub word: &'static str,
    /// Number in attributes.
    pub number: i64,
    /// Supported types.
    fits: Fits,
    /// Identity element.
    identity: Identity,
}

#[derive(Clone, Copy, Debug)]
enum Fits {
    Float,
    Integer,
    Signed,
    Unsigned,
    Anything,
    Nothing,
}

#[derive(Clone, Copy, Debug)]
enum Identity {
    Int(i64),
    Float(f64),
    /// The minimum or maximum of the integer type.
    Least,
    Greatest,
    None,
}

const fn reduction(word: &'static str, number: i64, fits: Fits, identity: Identity) -> ReductionKind {
    ReductionKind { word, number, fits, identity }
}

/// All reduction kinds, ordered by number.
pub const REDUCTIONS: [ReductionKind; 16] = [
    reduction("addf", 0, Fits::Float, Identity::Float(0.0)),
    reduction("addi", 1, Fits::Integer, Identity::Int(0)),
    reduction("andi", 2, Fits::Integer, Identity::Int(-1)),
    reduction("assign", 3, Fits::Anything, Identity::None),
    reduction("maximumf", 4, Fits::Float, Identity::Float(f64::NEG_INFINITY)),
    reduction("maxnumf", 5, Fits::Nothing, Identity::None),
    reduction("maxs", 6, Fits::Signed, Identity::Least),
    reduction("maxu", 7, Fits::Unsigned, Identity::Least),
    reduction("minimumf", 8, Fits::Float, Identity::Float(f64::INFINITY)),
    reduction("minnumf", 9, Fits::Nothing, Identity::None),
    reduction("mins", 10, Fits::Signed, Identity::Greatest),
    reduction("minu", 11, Fits::Unsigned, Identity::Greatest),
    reduction("mulf", 12, Fits::Float, Identity::Float(1.0)),
    reduction("muli", 13, Fits::Integer, Identity::Int(1)),
    reduction("ori", 14, Fits::Integer, Identity::Int(0)),
    reduction("xori", 15, Fits::Nothing, Identity::None),
];

impl ReductionKind {
    /// Returns the kind of a number.
    pub fn of(number: i64) -> Option<&'static ReductionKind> {
        REDUCTIONS.get(usize::try_from(number).ok()?)
    }

    /// Whether the reduction supports a type.
    pub(super) fn fits(&self, ctx: &Context, ty: Type) -> bool {
        let sign = match ctx.type_data(ty) {
            TypeData::Integer { sign, .. } => Some(*sign),
            _ => None,
        };
        match self.fits {
            Fits::Float => ctx.float_kind(ty).is_some(),
            Fits::Integer => sign.is_some(),
            Fits::Signed => sign == Some(Signedness::Signed),
            Fits::Unsigned => sign == Some(Signedness::Unsigned),
            Fits::Anything => true,
            Fits::Nothing => false,
        }
    }

    /// Returns the op that combines two values; `None` for `assign`.
    pub fn op(&self) -> Option<&'static OpInfo> {
        combining_op(self.number)
    }

    /// Returns the identity element of a type; `None` if there is none.
    pub fn identity(&self, ctx: &Context, ty: Type) -> Option<Attr> {
        let width = ctx.int_width(ty);
        let is_unsigned = ctx.is_unsigned(ty);
        let half = |width: u32| 1i64.checked_shl(width.checked_sub(1)?).filter(|_| width <= 64);
        Some(match self.identity {
            Identity::Int(value) => ctx.int_attr(ty, value),
            Identity::Float(value) => ctx.float_attr(ty, value),
            Identity::Least if is_unsigned => ctx.int_attr(ty, 0),
            Identity::Least => ctx.int_attr(ty, half(width?)?.wrapping_neg()),
            Identity::Greatest if is_unsigned => ctx.int_attr(ty, -1),
            Identity::Greatest => ctx.int_attr(ty, half(width?)?.wrapping_sub(1)),
            Identity::None => return None,
        })
    }

    /// Combines two values of the type of `like`.
    pub(super) fn combine(&self, args: &OpArgs<'_>, like: Value, a: Datum, b: Datum) -> Result<Datum, Trap> {
        let Some(info) = self.op() else { return Ok(b) };
        let ty = args.module.value_type(like);
        let args = OpArgs { info, op: None, operands: &[like], props: Attr::EMPTY_DICT, result_types: &[ty], ..*args };
        Ok(eval_op(&args, &[a, b])?.remove(0))
    }
}
