//! `rewrite`: rules as programs.
//!
//! A rule says what is matched, up to `match`, and what takes its place, up to `replace`. Its values are handles: of values,
//! of types and of attributes of the program that it is applied to, so all of these can be variables. Handles of operands
//! that are used twice stand for one value. [`read`] makes the rule of it that drivers apply
//! ([`Compiled`](gradus_ir::rules::Compiled)), [`write`] does the reverse.

mod read;
mod text;
mod verify;
mod write;

pub use read::{read, rules_of};
pub use write::write;

use crate::constraint::{F64, I64, STRING, SYMBOL_NAME, UNIT, kind};
use gradus_ir::{
    AttrData, AttrKind, AttrText, Context, Dialect, Effects, OpArgs, OpDecl, Traits, Type, TypeConstraint, op,
};

/// The handle of a value.
const VALUE: TypeConstraint = handle("handle of a value", |c, t| t == value_type(c));
/// The handle of a type.
const TYPE: TypeConstraint = handle("handle of a type", |c, t| t == type_type(c));
/// The handle of an attribute.
const ATTRIBUTE: TypeConstraint = handle("handle of an attribute", |c, t| t == attribute_type(c));
/// Any handle.
const HANDLE: TypeConstraint = handle("handle of a value, type or attribute", |c, t| {
    [value_type(c), type_type(c), attribute_type(c)].contains(&t)
});

const fn handle(summary: &'static str, check: fn(&Context, Type) -> bool) -> TypeConstraint {
    TypeConstraint { summary, check, only: None }
}

fn value_type(ctx: &Context) -> Type {
    ctx.parse_type("!rewrite.value").expect("is a type")
}

fn type_type(ctx: &Context) -> Type {
    ctx.parse_type("!rewrite.type").expect("is a type")
}

fn attribute_type(ctx: &Context) -> Type {
    ctx.parse_type("!rewrite.attribute").expect("is a type")
}

/// A type, written as one.
const ANY_TYPE: AttrKind =
    AttrKind { text: AttrText::Type, ..kind("any type attribute", |c, a| c.as_type(a).is_some()) };
/// Strings.
const STRINGS: AttrKind = kind("string array attribute", |c, a| {
    c.as_array(a).is_some_and(|list| list.iter().all(|&e| c.as_str(e).is_some()))
});
/// A dictionary.
const DICT: AttrKind = kind("dictionary of named attribute values", |c, a| matches!(c.attr_data(a), AttrData::Dict(_)));
/// Whether the word `approx` is there.
const APPROX: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// A rule: what is matched, and what takes its place.
///
/// The new values must refine the old ones: be equal whenever those are defined and not poison. Floats must be equal bit by
/// bit, unless the rule is `approx`. Of the rules that fit an op, those of more `benefit` are tried first.
///
/// ```mlir
/// rewrite.rule @subtract_negated benefit(2) {
///   %x = value
///   %y = value
///   %minus_one = number -1.0
///   %negated = op "arith.muli"(%y, %minus_one)
///   %sum = op "arith.addi"(%x, %negated)
///   where "not_i1"(%x)
///   match %sum
///   %difference = op "arith.subi"(%x, %y)
///   replace %difference
/// }
/// ```
#[op(
    "rewrite.rule",
    traits = Traits::ISOLATED.and(Traits::SYMBOL).and(Traits::SINGLE_BLOCK),
    effects = Effects::Unknown,
    default_dialect = "rewrite",
    verify_regions = verify::rule,
    format = "$sym_name (`benefit` `(` $benefit^ `)`)? (`approx` $approx^)? attr-dict-with-keyword $body"
)]
pub struct RuleOp {
    /// The name.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Which of several rules is tried first; 1 if it does not say.
    benefit: OptAttribute<I64>,
    /// Whether floats may come out a little otherwise: by rounding, or by one percent.
    approx: OptAttribute<APPROX>,
    /// What is matched, and what replaces it.
    body: Region,
}

/// A type that the rule does not know, or one that it does.
///
/// ```mlir
/// rewrite.rule @back_and_forth {
///   %t = type
///   %i32 = type : i32
///   %x = value : %t
///   %wide = op "arith.extsi"(%x) : %i32
///   %back = op "arith.trunci"(%wide) : %t
///   match %back
///   replace %x
/// }
/// ```
#[op(
    "rewrite.type",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![type_type(args.ctx())]),
    format = "(`:` $is^)? attr-dict"
)]
pub struct TypeOp {
    /// The only type that it can be.
    is: OptAttribute<ANY_TYPE>,
    /// The type.
    result: OpResult<TYPE>,
}

/// Any value that is an operand of what is matched.
#[op(
    "rewrite.value",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![value_type(args.ctx())]),
    verify = verify::matched,
    format = "(`:` $type^)? attr-dict"
)]
pub struct ValueOp {
    /// Its type.
    r#type: OptOperand<TYPE>,
    /// The value.
    result: OpResult<VALUE>,
}

/// A constant among the operands of what is matched, or a new one that an attribute is the value of.
///
/// Conditions and computations on it are about the attribute that is its value.
#[op(
    "rewrite.constant",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![value_type(args.ctx())]),
    verify = verify::constant,
    format = "(`(` $of^ `)`)? (`:` $type^)? attr-dict"
)]
pub struct ConstantOp {
    /// What a new one is the value of.
    of: OptOperand<ATTRIBUTE>,
    /// Its type.
    r#type: OptOperand<TYPE>,
    /// The constant.
    result: OpResult<VALUE>,
}

/// A constant that is a number everywhere. A new one is of the type of what is replaced if it says none.
#[op(
    "rewrite.number",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![value_type(args.ctx())]),
    verify = verify::number,
    format = "$number (`:` $type^)? attr-dict"
)]
pub struct NumberOp {
    /// The number, also of integers.
    number: Attribute<F64>,
    /// Its type.
    r#type: OptOperand<TYPE>,
    /// The constant.
    result: OpResult<VALUE>,
}

/// An attribute of an op that is matched.
#[op(
    "rewrite.attribute",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![attribute_type(args.ctx())]),
    verify = verify::matched,
    format = "attr-dict"
)]
pub struct AttributeOp {
    /// The attribute.
    result: OpResult<ATTRIBUTE>,
}

/// An op that is matched, or a new one.
///
/// Operands of commutative ops match in any order. Attributes that are not mentioned can be anything; new ops have their
/// defaults. `{* = %a}` mentions all others together. An op with several results names a type for each. Types of results that are not named can be anything; those of
/// new ops follow from the operands, and of what replaces the root from the root.
///
/// ```mlir
/// rewrite.rule @compare_narrow {
///   %t = type
///   %a = value : %t
///   %b = value : %t
///   %p = attribute
///   %wide_a = op "arith.extsi"(%a)
///   %wide_b = op "arith.extsi"(%b)
///   %wide = op "arith.cmpi"(%wide_a, %wide_b) {predicate = %p}
///   match %wide
///   %narrow = op "arith.cmpi"(%a, %b) {predicate = %p}
///   replace %narrow
/// }
/// ```
#[op(
    "rewrite.op",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = infer_op,
    verify = verify::op,
    directives = &[&text::OP],
    format = "custom<RewriteOp>($name, $args, $attribute_values, $attribute_names, $attributes, $types) attr-dict-with-keyword"
)]
pub struct OpOp {
    /// Its name.
    name: Attribute<STRING>,
    /// Its attributes that are handles, by name.
    attribute_names: OptAttribute<STRINGS>,
    /// Its other attributes that matter.
    attributes: OptAttribute<DICT>,
    /// Its operands.
    args: Operands<VALUE>,
    /// The attributes that are handles.
    attribute_values: Operands<ATTRIBUTE>,
    /// The types of its results.
    types: Operands<TYPE>,
    /// Its results.
    results: OpResults<VALUE>,
}

fn infer_op(args: &OpArgs<'_>) -> Result<Vec<Type>, String> {
    Ok(vec![value_type(args.ctx()); args.operand("types").len().max(1)])
}

/// A condition by name. It is asked once all is matched.
#[op(
    "rewrite.where",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    verify = verify::condition,
    format = "$name `(` $args `)` (`with` $params^)? attr-dict-with-keyword"
)]
pub struct WhereOp {
    /// Its name.
    name: Attribute<STRING>,
    /// The attributes that it takes besides, by name.
    params: OptAttribute<DICT>,
    /// What it is about.
    args: Operands<HANDLE>,
}

/// An attribute that is computed by name. If there is none, the rule does not apply.
///
/// ```mlir
/// rewrite.rule @not_of_compare {
///   %p = attribute
///   %a = value
///   %b = value
///   %ones = number -1.0
///   %compared = op "arith.cmpi"(%a, %b) {predicate = %p}
///   %not = op "arith.xori"(%compared, %ones)
///   match %not
///   %negated = compute "negated"(%p)
///   %new = op "arith.cmpi"(%a, %b) {predicate = %negated}
///   replace %new
/// }
/// ```
#[op(
    "rewrite.compute",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![attribute_type(args.ctx())]),
    verify = verify::computation,
    format = "$name `(` $args `)` (`with` $params^)? attr-dict-with-keyword"
)]
pub struct ComputeOp {
    /// Its name.
    name: Attribute<STRING>,
    /// The attributes that it takes besides, by name.
    params: OptAttribute<DICT>,
    /// What it is computed from.
    args: Operands<HANDLE>,
    /// The attribute.
    result: OpResult<ATTRIBUTE>,
}

/// The ops that are replaced, each by one of its results. What comes before is matched, what comes after is new.
#[op(
    "rewrite.match",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    verify = verify::roots,
    format = "$roots attr-dict"
)]
pub struct MatchOp {
    /// Results of the ops.
    roots: Operands<VALUE>,
}

/// What replaces the results of the ops that are matched, one value for each.
#[op(
    "rewrite.replace",
    traits = Traits::TERMINATOR,
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    format = "$values attr-dict"
)]
pub struct ReplaceOp {
    /// The new values.
    values: Operands<VALUE>,
}

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "rewrite",
    doc: "Rules as programs: what is matched, and what takes its place.",
    ops: &[
        RuleOp::INFO,
        TypeOp::INFO,
        ValueOp::INFO,
        ConstantOp::INFO,
        NumberOp::INFO,
        AttributeOp::INFO,
        OpOp::INFO,
        WhereOp::INFO,
        ComputeOp::INFO,
        MatchOp::INFO,
        ReplaceOp::INFO,
    ],
    attrs: &[],
    ..Dialect::DEFAULT
};
