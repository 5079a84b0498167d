//! `graph`: neural networks as graphs of tensor ops, with the semantics of ONNX operators.
//!
//! There is one op per ONNX operator, named after it (see [`operator`]), with the operands and attributes of the newest
//! opset, in order and by name. Deviations: the attribute `to` of `graph.cast` is a type, not a type number, behaviour
//! that the newest opset dropped has an attribute of its own (`legacy_flatten` of `graph.softmax`), and a convolution with
//! `group = -1` has one group per channel. Elementwise ops on quantized tensors are those of `com.microsoft` and TOSA.
//! Optional trailing results are present if the op has that many results.

mod args;
mod attention;
mod binary;
mod conv_op;
mod generate;
mod index;
mod infer;
mod linear;
mod movement;
mod norm;
mod parts;
mod pool;
mod qlinear;
mod quantized;
mod recurrent;
mod reduce;
mod region;
mod repeat;
mod reshape;
mod resize;
mod rules;
mod search;
mod sequence;
mod signal;
mod unary;
mod vision;

pub(crate) use args::Inputs;
pub use attention::*;
pub use binary::*;
pub(crate) use conv_op::conv_op;
pub use generate::*;
pub use index::*;
pub use linear::*;
pub use movement::*;
pub use norm::*;
pub use parts::TensorSlice;
pub use pool::*;
pub use qlinear::*;
pub use quantized::*;
pub use recurrent::*;
pub use reduce::*;
pub use region::*;
pub use repeat::*;
pub use reshape::*;
pub use resize::*;
pub use search::*;
pub use sequence::*;
pub use signal::*;
pub use unary::*;
pub use vision::*;

use gradus_dialects::constraint::{TENSOR, kind};
use gradus_ir::{
    AttrData, AttrKind, AttrText, Context, DType, Dialect, Folded, Module, OpArgs, OpInfo, Tensor, Type, Value,
};

/// The custom form of ops whose operands are identified by position.
const GENERIC: &str = "operands attr-dict `:` functional-type(operands, results)";

/// A tensor element type.
const ELEM_TYPE: AttrKind = AttrKind {
    summary: "type attribute of an element type",
    check: |c, a| c.as_type(a).is_some_and(|t| c.dtype(t).is_some()),
    text: AttrText::Type,
};

/// A dense elements attribute.
const DENSE: AttrKind = kind("elements attribute of tensor type", |c, a| {
    let elements = matches!(
        c.attr_data(a),
        AttrData::Dense(_) | AttrData::DenseResource { .. } | AttrData::DenseStrings { .. } | AttrData::Sparse { .. }
    );
    elements && c.attr_type(a).is_some_and(|t| (TENSOR.check)(c, t))
});

/// Folds an op of one result to a value of the same type.
fn same_as(args: &OpArgs<'_>, value: Value) -> Option<Folded> {
    (args.result_types == [args.module.value_type(value)]).then(|| value.into())
}

/// ONNX type numbers (`TensorProto.DataType`) and element types.
const ONNX_TYPES: &[(i64, DType)] = &[
    (1, DType::F32),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::I32),
    (7, DType::I64),
    (9, DType::Bool),
    (10, DType::F16),
    (11, DType::F64),
    (12, DType::U32),
    (13, DType::U64),
    (16, DType::BF16),
    (17, DType::F8E4M3FN),
    (18, DType::F8E4M3FNUZ),
    (19, DType::F8E5M2),
    (20, DType::F8E5M2FNUZ),
    (21, DType::U4),
    (22, DType::I4),
    (23, DType::F4E2M1FN),
    (24, DType::F8E8M0FNU),
    (25, DType::U2),
    (26, DType::I2),
    (27, DType::F6E2M3FN),
    (28, DType::F6E3M2FN),
];

/// Returns the element type of an ONNX type number.
pub fn onnx_dtype(number: i64) -> Option<DType> {
    ONNX_TYPES.iter().find(|t| t.0 == number).map(|t| t.1)
}

/// Returns the ONNX type number of an element type.
pub fn onnx_number(dtype: DType) -> Option<i64> {
    ONNX_TYPES.iter().find(|t| t.1 == dtype).map(|t| t.0)
}

/// Returns the IR type of an ONNX type number.
pub fn onnx_type(ctx: &Context, number: i64) -> Option<Type> {
    onnx_dtype(number).map(|dtype| ctx.dtype_type(dtype))
}

/// Returns the small tensor of a value that is constant, or computed by ops of this dialect from constants and static shapes.
pub fn known_value(m: &Module, value: Value) -> Option<Tensor> {
    infer::known_tensor(m, value)
}

/// Returns the op for an ONNX operator: the one that has the operator's name but for case and underscores.
///
/// ```
/// let op = gradus_networks::graph::operator("GlobalAveragePool").expect("an op");
/// assert_eq!(op.name, "graph.global_average_pool");
/// ```
pub fn operator(onnx_type: &str) -> Option<&'static OpInfo> {
    let letters = |name: &'static str| name.chars().skip("graph.".len()).filter(|c| *c != '_');
    DIALECT.ops.iter().copied().find(|info| letters(info.name).eq(onnx_type.chars().map(|c| c.to_ascii_lowercase())))
}

/// The ops of each file.
const FILES: &[&[&[&OpInfo]]] = &[
    generate::OPS,
    unary::OPS,
    binary::OPS,
    linear::OPS,
    attention::OPS,
    quantized::OPS,
    qlinear::OPS,
    pool::OPS,
    norm::OPS,
    reduce::OPS,
    reshape::OPS,
    movement::OPS,
    repeat::OPS,
    index::OPS,
    search::OPS,
    resize::OPS,
    vision::OPS,
    region::OPS,
    recurrent::OPS,
    signal::OPS,
    sequence::OPS,
];

const fn count(files: &[&[&[&OpInfo]]]) -> usize {
    let (mut n, mut i) = (0, 0);
    while i < files.len() {
        let mut j = 0;
        while j < files[i].len() {
            n += files[i][j].len();
            j += 1;
        }
        i += 1;
    }
    n
}

const fn flatten<const N: usize>(files: &[&[&[&'static OpInfo]]]) -> [&'static OpInfo; N] {
    let mut out = [&OpInfo::DEFAULT; N];
    let (mut n, mut i) = (0, 0);
    while i < files.len() {
        let mut j = 0;
        while j < files[i].len() {
            let mut k = 0;
            while k < files[i][j].len() {
                out[n] = files[i][j][k];
                (n, k) = (n + 1, k + 1);
            }
            j += 1;
        }
        i += 1;
    }
    out
}

const OPS: [&OpInfo; count(FILES)] = flatten(FILES);

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "graph",
    doc: "Neural networks: tensor ops with the semantics of ONNX operators.",
    ops: &OPS,
    types: TYPES,
    constant: Some("graph.constant"),
    rules: rules::CANONICAL,
    rule_groups: rules::GROUPS,
    rule_functions: rules::FUNCTIONS,
    ..Dialect::DEFAULT
};
