//! `arith`: arithmetic on integers, `index` and floats, elementwise on vectors and tensors of them.
//!
//! The semantics is LLVM's: integers wrap; violated flags (`nsw`, `exact`) and too large shift amounts yield poison;
//! division by zero and overflow of signed division are undefined behavior.

mod cast;
mod compare;
mod constant;
pub(crate) mod float;
mod fold;
pub(crate) mod int;
mod range;
mod rules;

pub use cast::*;
pub use compare::*;
pub use constant::ConstantOp;
pub use float::*;
pub use int::*;

use gradus_ir::{AttrData, AttrKind, AttrText, Context, Dialect, Flags, OpArgs, OpDecl, Piece, Type, TypeData};

/// Fast-math flags.
pub const FASTMATH: AttrKind = AttrKind {
    summary: "Floating point fast math flags",
    check: |c, a| gradus_ir::verify::has_words(c, a, &FASTMATH.text),
    text: AttrText::Words {
        dialect: "arith",
        mnemonic: "fastmath",
        words: &["none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"],
        flags: Some(Flags { separator: ",", all: "fast" }),
    },
};

/// Integer overflow flags.
pub const OVERFLOW: AttrKind = AttrKind {
    summary: "Integer overflow arith flags",
    check: |c, a| gradus_ir::verify::has_words(c, a, &OVERFLOW.text),
    text: AttrText::Words {
        dialect: "arith",
        mnemonic: "overflow",
        words: &["none", "nsw", "nuw"],
        flags: Some(Flags { separator: ", ", all: "" }),
    },
};

/// Whether the bit enum attribute `name` of the op contains the word.
fn has_word(args: &OpArgs<'_>, name: &str, word: &str) -> bool {
    let Some(AttrData::Dialect { body, .. }) = args.attr(name).map(|attr| args.ctx().attr_data(attr)) else {
        return false;
    };
    body.iter().any(|piece| matches!(piece, Piece::Text(text) if text.split(['<', ',', '>']).any(|w| w.trim() == word)))
}

/// Whether the fast-math flags exclude NaNs (`nnan`), and infinities (`ninf`).
pub(crate) fn excludes_nan_and_inf(args: &OpArgs<'_>) -> (bool, bool) {
    let fast = has_word(args, "fastmath", "fast");
    (fast || has_word(args, "fastmath", "nnan"), fast || has_word(args, "fastmath", "ninf"))
}

/// Whether the op has the flags `nsw`, and `nuw`.
fn overflow_promises(args: &OpArgs<'_>) -> (bool, bool) {
    (has_word(args, "overflowFlags", "nsw"), has_word(args, "overflowFlags", "nuw"))
}

/// Returns the i1 type of the shape of `ty`: the result type of a comparison.
pub fn bool_like(ctx: &Context, ty: Type) -> Type {
    match ctx.type_data(ty) {
        TypeData::Vector { .. } | TypeData::Tensor { .. } | TypeData::UnrankedTensor(_) => {
            ctx.with_element(ty, Type::I1)
        }
        _ => Type::I1,
    }
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "arith",
    doc: "Arithmetic on integers and floats, scalar or elementwise.",
    ops: &[
        ConstantOp::INFO,
        AddIOp::INFO,
        SubIOp::INFO,
        MulIOp::INFO,
        AddUIExtendedOp::INFO,
        MulSIExtendedOp::INFO,
        MulUIExtendedOp::INFO,
        DivUIOp::INFO,
        DivSIOp::INFO,
        CeilDivUIOp::INFO,
        CeilDivSIOp::INFO,
        FloorDivSIOp::INFO,
        RemUIOp::INFO,
        RemSIOp::INFO,
        AndIOp::INFO,
        OrIOp::INFO,
        XOrIOp::INFO,
        ShLIOp::INFO,
        ShRUIOp::INFO,
        ShRSIOp::INFO,
        MaxSIOp::INFO,
        MaxUIOp::INFO,
        MinSIOp::INFO,
        MinUIOp::INFO,
        NegFOp::INFO,
        AddFOp::INFO,
        SubFOp::INFO,
        MulFOp::INFO,
        DivFOp::INFO,
        RemFOp::INFO,
        MaximumFOp::INFO,
        MinimumFOp::INFO,
        MaxNumFOp::INFO,
        MinNumFOp::INFO,
        ExtUIOp::INFO,
        ExtSIOp::INFO,
        ExtFOp::INFO,
        TruncIOp::INFO,
        TruncFOp::INFO,
        UIToFPOp::INFO,
        SIToFPOp::INFO,
        FPToUIOp::INFO,
        FPToSIOp::INFO,
        IndexCastOp::INFO,
        IndexCastUIOp::INFO,
        BitcastOp::INFO,
        CmpIOp::INFO,
        CmpFOp::INFO,
        SelectOp::INFO,
    ],
    enums: &[&FASTMATH, &OVERFLOW],
    constant: Some("arith.constant"),
    rules: rules::RULES,
    rule_groups: rules::GROUPS,
    rule_functions: rules::FUNCTIONS,
    ..Dialect::DEFAULT
};
