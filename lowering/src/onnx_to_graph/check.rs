//! Operator coverage of a model, and whether it can be imported.

use super::node::is_supported;
use super::{DecodedModel, ImportOptions, named_loc};
use crate::onnx::inline::{Body, VersionedNode};
use crate::onnx::{node_place, operator};
use bytes::Bytes;
use gradus_ir::{Context, Diagnostic};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The operators of a model by name, with their domain unless that is the standard one.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Supported operators and their number of nodes.
    pub supported: Vec<(String, usize)>,
    /// Unsupported operators.
    pub unsupported: Vec<Unsupported>,
    /// The other errors of the import.
    pub errors: Vec<Diagnostic>,
    /// The warnings of the import.
    pub warnings: Vec<Diagnostic>,
}

impl Coverage {
    /// Whether the model can be imported.
    pub fn is_complete(&self) -> bool {
        self.unsupported.is_empty() && self.errors.is_empty()
    }
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

/// Lists the operators of a model and whether they are supported, and imports it.
///
/// # Errors
/// The file is not a model, its functions cannot be inlined, or its nodes form a cycle.
pub fn check(
    ctx: &Arc<Context>,
    bytes: Bytes,
    name: &str,
    options: &ImportOptions,
) -> Result<Coverage, Vec<Diagnostic>> {
    let source = DecodedModel::read(ctx, bytes, name)?;
    let mut places: BTreeMap<(bool, String), Vec<String>> = BTreeMap::new();
    for node in all_nodes(&source.body) {
        let supported = is_supported(ctx, node);
        places.entry((supported, operator(&node.proto))).or_default().push(node_place(&node.proto).to_owned());
    }
    let (warnings, errors) = match source.build(ctx, options) {
        Ok(imported) => (imported.warnings, Vec::new()),
        Err(errors) => (Vec::new(), errors),
    };
    let mut coverage = Coverage { errors, warnings, ..Coverage::default() };
    for ((supported, op), places) in places {
        if supported {
            coverage.supported.push((op, places.len()));
        } else {
            coverage.errors.retain(|error| !places.iter().any(|place| error.loc == named_loc(ctx, place)));
            coverage.unsupported.push(Unsupported { op, count: places.len(), places });
        }
    }
    Ok(coverage)
}

/// Returns the nodes of a graph and of those that its nodes run.
fn all_nodes(body: &Body) -> Vec<&VersionedNode> {
    let mut nodes = Vec::new();
    for node in &body.nodes {
        nodes.push(node);
        nodes.extend(node.bodies.iter().flat_map(|(_, body)| all_nodes(body)));
    }
    nodes
}
