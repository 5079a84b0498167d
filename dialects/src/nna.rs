//! `nna`: an engine for 3x3 convolutions of pixels of 32 channels.
//!
//! Source: the seed on products of matrices on a convolution engine. What is here chooses the engine and how; its
//! instructions are a step below.

use crate::constraint::{TENSOR, kind};
use crate::graph::infer_product;
use gradus_ir::eval::Datum;
use gradus_ir::rules::{Rule, RuleGroup, rule};
use gradus_ir::work::{Contraction, Patches, Way, Work};
use gradus_ir::{AttrKind, AttrText, Dialect, OpArgs, OpDecl, Type, op};
use gradus_reference_kernels as kernels;

/// How a product becomes convolutions.
const MAPPING: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[("diagonal", 0), ("dense", 1)]),
    ..kind("diagonal or dense", |c, a| {
        c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..2).contains(&v))
    })
};

/// The product of two matrices by 3x3 convolutions.
///
/// `diagonal`: nine factors of a row of `a` are a filter that keeps 32 columns of `b`, as channels, apart. `dense`: 32 rows
/// of `a` are output channels, and 288 of what is summed over are nine pixels of 32 input channels. The engine's numbers are
/// 8-bit integers; what has others must be quantized before it gets there.
///
/// ```mlir
/// %c = nna.matmul diagonal %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi8>
/// ```
#[op(
    "nna.matmul",
    infer = infer_product,
    work = work,
    eval = |_, data| Ok(vec![Datum::Tensor(kernels::matmul(data[0].tensor()?, data[1].tensor()?)?)]),
    format = "$mapping operands attr-dict `:` functional-type(operands, results)"
)]
pub struct MatMulOp {
    /// How it becomes convolutions.
    mapping: Attribute<MAPPING>,
    /// The left matrix.
    a: Operand<TENSOR>,
    /// The right matrix.
    b: Operand<TENSOR>,
    /// The product.
    y: OpResult<TENSOR>,
}

fn work(args: &OpArgs<'_>) -> Work {
    let mapping = if args.int("mapping") == Some(0) { Patches::Diagonal } else { Patches::Dense };
    Work::Contract(Contraction { way: Way::Patches(mapping), ..crate::graph::product(args) })
}

#[rustfmt::skip]
const RULES: &[Rule] = &[
    rule("diagonal-filters", "graph.matmul(a: A, b: B) => nna.matmul{mapping = diagonal}(a, b)  if matrices(A, B)"),
    rule("dense-filters",    "graph.matmul(a: A, b: B) => nna.matmul{mapping = dense}(a, b)     if matrices(A, B)"),
];

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "nna",
    doc: "An engine for 3x3 convolutions: what is done on it, and how.",
    ops: &[MatMulOp::INFO],
    rule_groups: &[RuleGroup {
        name: "matmul-on-nna",
        doc: "products of matrices on the engine for 3x3 convolutions",
        rules: RULES,
    }],
    ..Dialect::DEFAULT
};
