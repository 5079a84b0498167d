//! The names that declarations of dialects, patterns, rules and passes use: `use gradus_ir::prelude::*`.

pub use crate::pass::{FloatChange, OptionKind, Options, PassOption};
pub use crate::random::Random;
pub use crate::rewriting::conversion::{
    ConversionPattern, ConversionRewriter, ConversionTarget, Match, Operands, apply_partial_conversion,
};
pub use crate::rewriting::greedy::GreedyOptions;
pub use crate::rewriting::rules::{Arg, ArgKind, Rule, RuleFunction, RuleGroup, approx, rule};
pub use crate::values::eval::{Datum, Trap, map_int};
pub use crate::{
    Attr, AttrDecl, AttrInfo, Block, Builder, Context, Diagnostic, Dialect, Extension, Folded, InsertPoint, Loc,
    Module, Op, OpArgs, OpDecl, OpInfo, OwnValue, ParamArgs, ParamError, Pass, PassContext, PassInfo, Pattern,
    PatternRewriter, Region, Representation, Rewriter, Traits, Type, TypeConstraint, TypeDecl, TypeInfo, TypeRelation,
    Value, Violation, attr, op, ty,
};
