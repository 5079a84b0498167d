//! Matrix products with a mapping to convolutions, and the rules that choose one.

use gradus_dialects::constraint::{BYTE_TENSOR, INT_TENSOR, kind};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost, Strategy};
use gradus_ir::rules::{ArgKind, Rule, RuleFunction, rule};
use gradus_ir::{AttrKind, AttrText, OpArgs, Traits, Type, op};
use gradus_networks::graph::{infer_integer_product, matmul_integer, product};

/// Depthwise convolutions: nine factors of a row form the filter of one channel.
static DIAGONAL: Strategy = Strategy { name: "diagonal" };
/// Dense convolutions: one output channel per row, one input channel per nine columns.
static DENSE: Strategy = Strategy { name: "dense" };

/// The mapping of a matrix product to 3x3 convolutions.
const MAPPING: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[(DIAGONAL.name, 0), (DENSE.name, 1)]),
    ..kind("diagonal or dense", |c, a| {
        c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..2).contains(&v))
    })
};

/// Matrix product of 8-bit integers in i32, computed by 3x3 convolutions: `(a - a_zero_point)(b - b_zero_point)`.
///
/// `diagonal`: nine elements of a row of `a` form a diagonal filter, which keeps 32 columns of `b` apart as channels.
/// `dense`: 32 rows of `a` are output channels, and 288 reduction indices are nine pixels of 32 input channels. Zero
/// points are those of `graph.matmul_integer`; the engine computes without them, and their terms are added to the result.
///
/// ```mlir
/// %c = nna.matmul diagonal %a, %b a_zero %z : (tensor<4x18xui8>, tensor<18x64xi8>, tensor<ui8>) -> tensor<4x64xi32>
/// ```
#[op(
    "nna.matmul",
    traits = Traits::OPERAND_SEGMENTS,
    infer = infer_integer_product,
    extensions = &[&DeclaredCost(cost)],
    eval = matmul_integer,
    format = "$mapping $a `,` $b (`a_zero` $a_zero_point^)? (`b_zero` $b_zero_point^)? attr-dict `:` functional-type(operands, results)"
)]
pub struct MatMulOp {
    /// Mapping to convolutions: `diagonal` or `dense`.
    mapping: Attribute<MAPPING>,
    /// Left matrix, `[M, K]`.
    a: Operand<BYTE_TENSOR>,
    /// Right matrix, `[K, N]`.
    b: Operand<BYTE_TENSOR>,
    /// Zero point of `a`: a scalar, or one per row.
    a_zero_point: OptOperand<BYTE_TENSOR>,
    /// Zero point of `b`: a scalar, or one per column.
    b_zero_point: OptOperand<BYTE_TENSOR>,
    /// Product, `[M, N]`.
    y: OpResult<INT_TENSOR>,
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let mapping = if args.int("mapping") == Some(0) { &DIAGONAL } else { &DENSE };
    OpCost::Contract(Contraction { strategy: Some(mapping), ..product(args) })
}

/// Rules that replace products of 8-bit integers by integer products, and these by `nna.matmul` with either mapping.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("byte-product",      "graph.matmul(a, b): R => graph.cast{to = element(R)}(graph.matmul_integer(a, b)): R"),
    rule("quantized-product", "graph.qlinear_matmul(a, r: F, y, b, s: G, z, t: H, w: V): R => graph.cast{to = element(R)}(graph.add(graph.round(graph.mul(graph.cast{to = f64}(graph.matmul_integer(a, b, y, z)), graph.cast{to = f64}(graph.div(graph.mul(s, r), t)))), graph.cast{to = f64}(w))): R  if scalar(F), per_column(G), scalar(H), scalar(V)"),
    rule("diagonal-filters",  "graph.matmul_integer(a, b) => nna.matmul{mapping = diagonal}(a, b)"),
    rule("dense-filters",     "graph.matmul_integer(a, b) => nna.matmul{mapping = dense}(a, b)"),
    rule("diagonal-filters-zero", "graph.matmul_integer{operandSegmentSizes = S}(a, b, z) => nna.matmul{mapping = diagonal, operandSegmentSizes = S}(a, b, z)"),
    rule("dense-filters-zero",    "graph.matmul_integer{operandSegmentSizes = S}(a, b, z) => nna.matmul{mapping = dense, operandSegmentSizes = S}(a, b, z)"),
    rule("diagonal-filters-zeros", "graph.matmul_integer(a, b, y, z) => nna.matmul{mapping = diagonal}(a, b, y, z)"),
    rule("dense-filters-zeros",    "graph.matmul_integer(a, b, y, z) => nna.matmul{mapping = dense}(a, b, y, z)"),
];

const TYPE: &[ArgKind] = &[ArgKind::Type];

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[&RuleFunction] = &[
    &RuleFunction::test("scalar", "a tensor of one element and rank 0 or 1", TYPE, |m, x| m.ctx.static_shape(x[0].ty()).is_some_and(|dims| dims.is_empty() || dims == [1])),
    &RuleFunction::test("per_column", "a scalar or vector", TYPE, |m, x| m.ctx.static_shape(x[0].ty()).is_some_and(|dims| dims.len() < 2)),
];
