//! `nna`: a 3x3 convolution engine for pixels of 32 channels.
//!
//! Source: the seed on products of matrices on a convolution engine. The ops choose how work is mapped to the engine;
//! its instructions are a level below.

use crate::constraint::{TENSOR, kind};
use crate::graph::infer_product;
use gradus_ir::eval::Datum;
use gradus_ir::op_cost::{Contraction, ContractionKind, Conv3x3Mapping, OpCost};
use gradus_ir::rules::{Rule, RuleGroup, rule};
use gradus_ir::{AttrKind, AttrText, Dialect, OpArgs, OpDecl, Type, op};
use gradus_reference_kernels as kernels;

/// The mapping of a matrix product to 3x3 convolutions.
const MAPPING: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[("diagonal", 0), ("dense", 1)]),
    ..kind("diagonal or dense", |c, a| {
        c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..2).contains(&v))
    })
};

/// Matrix product, computed by 3x3 convolutions.
///
/// `diagonal`: nine elements of a row of `a` form a diagonal filter, which keeps 32 columns of `b` apart as channels.
/// `dense`: 32 rows of `a` are output channels, and 288 reduction indices are nine pixels of 32 input channels. The
/// engine computes with 8-bit integers; other types must be quantized first.
///
/// ```mlir
/// %c = nna.matmul diagonal %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi8>
/// ```
#[op(
    "nna.matmul",
    infer = infer_product,
    cost = cost,
    eval = |_, data| Ok(vec![Datum::Tensor(kernels::matmul(data[0].tensor()?, data[1].tensor()?)?)]),
    format = "$mapping operands attr-dict `:` functional-type(operands, results)"
)]
pub struct MatMulOp {
    /// Mapping to convolutions: `diagonal` or `dense`.
    mapping: Attribute<MAPPING>,
    /// Left matrix, `[M, K]`.
    a: Operand<TENSOR>,
    /// Right matrix, `[K, N]`.
    b: Operand<TENSOR>,
    /// Product, `[M, N]`.
    y: OpResult<TENSOR>,
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let mapping = if args.int("mapping") == Some(0) { Conv3x3Mapping::Diagonal } else { Conv3x3Mapping::Dense };
    OpCost::Contract(Contraction { kind: ContractionKind::Conv3x3(mapping), ..crate::graph::product(args) })
}

#[rustfmt::skip]
const RULES: &[Rule] = &[
    rule("diagonal-filters", "graph.matmul(a: A, b: B) => nna.matmul{mapping = diagonal}(a, b)  if matrices(A, B)"),
    rule("dense-filters",    "graph.matmul(a: A, b: B) => nna.matmul{mapping = dense}(a, b)     if matrices(A, B)"),
];

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "nna",
    doc: "A 3x3 convolution engine and mappings of products to it.",
    ops: &[MatMulOp::INFO],
    rule_groups: &[RuleGroup {
        name: "matmul-on-nna",
        doc: "matrix products on the 3x3 convolution engine",
        rules: RULES,
    }],
    ..Dialect::DEFAULT
};
