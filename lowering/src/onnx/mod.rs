//! The ONNX format: messages ([`proto`]), tensors ([`tensor`]), operator versions ([`opset`]), model-local
//! functions ([`inline`]), operators of other domains ([`domains`]), and the order of nodes ([`sort`]).
//!
//! This module uses only the tensors of the IR; [`onnx_to_graph`](crate::onnx_to_graph) creates ops.

pub mod domains;
mod expansion;
pub mod inline;
mod machine_learning;
mod microsoft;
pub mod opset;
pub mod proto;
mod quantized_lstm;
mod random;
pub mod rewrite;
pub mod sort;
pub mod tensor;
mod trees;

use proto::{AttributeProto, AttributeType, NodeProto};

/// The newest supported version of the standard operators.
pub const NEWEST: i64 = 28;

/// Returns the kind of an attribute's value. Early producers omit it; it is then the kind of the field that is set.
pub fn attribute_type(a: &AttributeProto) -> AttributeType {
    let stated = AttributeType::try_from(a.r#type).unwrap_or(AttributeType::Undefined);
    let filled = [
        (!a.ints.is_empty(), AttributeType::Ints),
        (!a.floats.is_empty(), AttributeType::Floats),
        (!a.strings.is_empty(), AttributeType::Strings),
        (!a.s.is_empty(), AttributeType::String),
        (a.t.is_some(), AttributeType::Tensor),
        (a.g.is_some(), AttributeType::Graph),
        (a.f != 0.0, AttributeType::Float),
    ];
    match stated {
        AttributeType::Undefined => filled.iter().find(|f| f.0).map_or(AttributeType::Int, |f| f.1),
        stated => stated,
    }
}

/// Returns the name of a node in messages and locations: its own, or that of its first result.
pub fn node_place(node: &NodeProto) -> &str {
    let outputs = node.output.iter();
    std::iter::once(&node.name).chain(outputs).find(|n| !n.is_empty()).map_or("<unnamed node>", String::as_str)
}

/// Returns the operator, with its domain unless that is the standard one: `Conv`, `com.microsoft.FusedConv`.
pub fn operator(node: &NodeProto) -> String {
    if is_standard(&node.domain) { node.op_type.clone() } else { format!("{}.{}", node.domain, node.op_type) }
}

/// Whether the domain is the standard one, which has two names.
pub fn is_standard(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}
