//! Operator coverage of a model.

use super::node::declaration;
use super::{named_loc, version};
use crate::onnx::{inline, is_standard, node_place, operator, opset, proto::decode_model};
use bytes::Bytes;
use gradus_ir::{Context, Diagnostic};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The operators of a model by name, with their domain unless that is the standard one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Supported operators and their number of nodes.
    pub supported: Vec<(String, usize)>,
    /// Unsupported operators.
    pub unsupported: Vec<Unsupported>,
}

/// An unsupported operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The operator.
    pub op: String,
    /// Number of nodes.
    pub count: usize,
    /// The nodes, by name.
    pub places: Vec<String>,
}

/// Lists the operators of a model and whether they are supported. Attributes and types of nodes are not checked.
///
/// # Errors
/// The file is not a model, or its functions cannot be inlined.
pub fn check(ctx: &Arc<Context>, bytes: Bytes, name: &str) -> Result<Coverage, Vec<Diagnostic>> {
    let fail = |place: &str, why: String| vec![Diagnostic::error(named_loc(ctx, place), why)];
    let mut model = decode_model(bytes).map_err(|error| fail(name, error.to_string()))?;
    let version = version(&model).map_err(|why| fail(name, why))?;
    let nodes = model.graph.take().unwrap_or_default().node;
    let nodes = inline::inline(nodes, &model.functions, version).map_err(|(place, why)| fail(&place, why))?;
    let mut places: BTreeMap<(bool, String), Vec<String>> = BTreeMap::new();
    for node in &nodes {
        let newest = opset::newest_name(&node.proto.op_type, node.version);
        let supported = is_standard(&node.proto.domain) && declaration(ctx, newest).is_some();
        let place = node_place(&node.proto).to_owned();
        places.entry((supported, operator(&node.proto))).or_default().push(place);
    }
    let mut coverage = Coverage::default();
    for ((supported, op), places) in places {
        if supported {
            coverage.supported.push((op, places.len()));
        } else {
            coverage.unsupported.push(Unsupported { op, count: places.len(), places });
        }
    }
    Ok(coverage)
}
