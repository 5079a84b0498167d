//! `rewrite`: rewrite rules as IR.
//!
//! The ops up to `match` are the pattern, those between `match` and `replace` the replacement. SSA values are handles
//! of values, types and attributes of the rewritten program, so each of these can be a variable; using a handle twice
//! requires equality. [`read`] converts a rule to the form that drivers apply
//! ([`CompiledRule`](gradus_ir::rules::CompiledRule)), [`write`] does the reverse.

mod read;
mod text;
mod verify;
mod write;

pub use read::{read, rules_of};
pub use write::write;

use crate::constraint::{F64, I64, STRING, SYMBOL_NAME, UNIT, kind};
use gradus_ir::{
    AttrData, AttrKind, AttrText, Context, Dialect, Effects, OpArgs, OpDecl, Traits, Type, TypeConstraint, TypeDecl,
    Violation, op, ty,
};

/// Handle of a value.
#[ty("rewrite.value")]
pub struct ValueHandle {}

/// Handle of a type.
#[ty("rewrite.type")]
pub struct TypeHandle {}

/// Handle of an attribute.
#[ty("rewrite.attribute")]
pub struct AttributeHandle {}

const VALUE: TypeConstraint = ValueHandle::TYPE;
const TYPE: TypeConstraint = TypeHandle::TYPE;
const ATTRIBUTE: TypeConstraint = AttributeHandle::TYPE;
/// Handles of all kinds.
const HANDLE: TypeConstraint = TypeConstraint {
    summary: "handle of a value, type or attribute",
    check: |c, t| [VALUE, TYPE, ATTRIBUTE].iter().any(|kind| (kind.check)(c, t)),
    only: None,
};

fn value_type(ctx: &Context) -> Type {
    ValueHandle::get(ctx).expect("no parameters").0
}

fn type_type(ctx: &Context) -> Type {
    TypeHandle::get(ctx).expect("no parameters").0
}

fn attribute_type(ctx: &Context) -> Type {
    AttributeHandle::get(ctx).expect("no parameters").0
}

/// A type attribute, spelled as a type.
const ANY_TYPE: AttrKind =
    AttrKind { text: AttrText::Type, ..kind("any type attribute", |c, a| c.as_type(a).is_some()) };
/// An array of strings.
const STRINGS: AttrKind = kind("string array attribute", |c, a| {
    c.as_array(a).is_some_and(|list| list.iter().all(|&e| c.as_str(e).is_some()))
});
/// A dictionary.
const DICT: AttrKind = kind("dictionary of named attribute values", |c, a| matches!(c.attr_data(a), AttrData::Dict(_)));
/// The keyword `approx`.
const APPROX: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// A rewrite rule: a pattern and its replacement.
///
/// The new values must refine the old ones: they are equal wherever the old ones are defined and not poison. Floats
/// must be equal bit by bit unless the rule is `approx`. Among applicable rules, those of higher `benefit` are tried
/// first.
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
    /// Name of the rule.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Priority among applicable rules; 1 by default.
    benefit: OptAttribute<I64>,
    /// Whether the results may differ by rounding, or by one percent.
    approx: OptAttribute<APPROX>,
    /// Pattern and replacement.
    body: Region,
}

/// A type variable, or a fixed type.
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
    /// The type; absent for a type variable.
    is: OptAttribute<ANY_TYPE>,
    /// Handle of the type.
    result: OpResult<TYPE>,
}

/// A value variable: an arbitrary operand in the pattern.
#[op(
    "rewrite.value",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![value_type(args.ctx())]),
    verify = verify::matched,
    format = "(`:` $type^)? attr-dict"
)]
pub struct ValueOp {
    /// Type of the value.
    r#type: OptOperand<TYPE>,
    /// Handle of the value.
    result: OpResult<VALUE>,
}

/// A constant operand in the pattern, or a new constant with the value `of` in the replacement.
///
/// Conditions and computations see the value attribute of the constant.
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
    /// Value of a new constant.
    of: OptOperand<ATTRIBUTE>,
    /// Type of the constant.
    r#type: OptOperand<TYPE>,
    /// Handle of the constant.
    result: OpResult<VALUE>,
}

/// A numeric constant, scalar or splat. In the replacement, its type defaults to that of the replaced value.
#[op(
    "rewrite.number",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![value_type(args.ctx())]),
    verify = verify::number,
    format = "$number (`:` $type^)? attr-dict"
)]
pub struct NumberOp {
    /// The number, for floats and integers.
    number: Attribute<F64>,
    /// Type of the constant.
    r#type: OptOperand<TYPE>,
    /// Handle of the constant.
    result: OpResult<VALUE>,
}

/// An attribute variable of a matched op.
#[op(
    "rewrite.attribute",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    infer = |args| Ok(vec![attribute_type(args.ctx())]),
    verify = verify::matched,
    format = "attr-dict"
)]
pub struct AttributeOp {
    /// Handle of the attribute.
    result: OpResult<ATTRIBUTE>,
}

/// A matched op, or a new one.
///
/// Operands of commutative ops match in any order. In the pattern, omitted attributes and result types match anything.
/// In the replacement, omitted attributes have their defaults, and omitted result types are inferred from the operands
/// or, for the op that replaces the root, taken from the root. `{* = %a}` binds all attributes that are not listed. An
/// op with several results lists one type per result.
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
    /// Name of the op.
    name: Attribute<STRING>,
    /// Names of the attributes in `attribute_values`.
    attribute_names: OptAttribute<STRINGS>,
    /// Attributes with fixed values.
    attributes: OptAttribute<DICT>,
    /// Operands.
    args: Operands<VALUE>,
    /// Attributes given as handles.
    attribute_values: Operands<ATTRIBUTE>,
    /// Types of the results.
    types: Operands<TYPE>,
    /// Handles of the results.
    results: OpResults<VALUE>,
}

fn infer_op(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    Ok(vec![value_type(args.ctx()); args.operand("types").len().max(1)])
}

/// A named condition, checked after the pattern has matched.
#[op(
    "rewrite.where",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    verify = verify::condition,
    format = "$name `(` $args `)` (`with` $params^)? attr-dict-with-keyword"
)]
pub struct WhereOp {
    /// Name of the condition.
    name: Attribute<STRING>,
    /// Named constant parameters.
    params: OptAttribute<DICT>,
    /// Arguments.
    args: Operands<HANDLE>,
}

/// An attribute computed by a named function. If the function fails, the rule does not apply.
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
    /// Name of the function.
    name: Attribute<STRING>,
    /// Named constant parameters.
    params: OptAttribute<DICT>,
    /// Arguments.
    args: Operands<HANDLE>,
    /// Handle of the computed attribute.
    result: OpResult<ATTRIBUTE>,
}

/// The roots of the pattern, each given by one of its results. Earlier ops are matched, later ops are created.
#[op(
    "rewrite.match",
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    verify = verify::roots,
    format = "$roots attr-dict"
)]
pub struct MatchOp {
    /// Results of the root ops.
    roots: Operands<VALUE>,
}

/// The values that replace the roots' results, one per root.
#[op(
    "rewrite.replace",
    traits = Traits::TERMINATOR,
    effects = Effects::Unknown,
    parents = &["rewrite.rule"],
    format = "$values attr-dict"
)]
pub struct ReplaceOp {
    /// Replacement values.
    values: Operands<VALUE>,
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "rewrite",
    doc: "Rewrite rules as IR: patterns and replacements.",
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
    types: &[ValueHandle::INFO, TypeHandle::INFO, AttributeHandle::INFO],
    ..Dialect::DEFAULT
};
