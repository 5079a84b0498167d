//! Inlining of model-local functions.

use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
use super::{domains, is_standard, node_place, operator};
use prost::Message;
use std::collections::HashMap;

/// A node, and the version of the standard operators that it is written against.
pub struct VersionedNode {
    /// The node.
    pub proto: NodeProto,
    /// The version.
    pub version: i64,
    /// The graphs that the node runs, by the attribute that held each: the branches of an `If`, the body of a loop.
    pub bodies: Vec<(String, Body)>,
}

/// A graph: the main one, or one that a node runs.
pub struct Body {
    /// The graph without its nodes.
    pub graph: GraphProto,
    /// Its nodes, without calls.
    pub nodes: Vec<VersionedNode>,
}

/// Maximum nesting depth of calls, since functions may call functions.
const MAX_DEPTH: usize = 32;
/// Maximum total size in bytes of all inlined bodies, against exponential expansion.
const MAX_BYTES: usize = 1 << 28;
/// Size in bytes charged for an empty node.
const NODE_BYTES: usize = 256;

/// Returns the version of the standard operators that `imports` names.
pub fn standard_version(imports: &[OperatorSetIdProto]) -> Option<i64> {
    imports.iter().find(|i| is_standard(&i.domain)).map(|i| i.version)
}

/// Returns a graph with calls of `functions` inlined, in the graphs that its nodes run too. Values inside a call are named after its
/// first result.
///
/// # Errors
/// The place of the call and the reason: recursion, or an expansion above the limits.
pub fn inline(graph: GraphProto, functions: &[FunctionProto], version: i64) -> Result<Body, (String, String)> {
    let mut names = HashMap::new();
    for f in functions {
        names.insert((standard(&f.domain), f.name.as_str(), f.overload.as_str()), f);
    }
    Inliner { functions: names, bytes: 0 }.body(graph, version, 0)
}

/// Normalizes the two names of the standard domain.
fn standard(domain: &str) -> &str {
    if is_standard(domain) { "" } else { domain }
}

struct Inliner<'a> {
    functions: HashMap<(&'a str, &'a str, &'a str), &'a FunctionProto>,
    /// Total size of the bodies inlined so far.
    bytes: usize,
}

impl Inliner<'_> {
    /// Returns a graph with its calls inlined. `depth`: the number of calls around it.
    fn body(&mut self, mut graph: GraphProto, version: i64, depth: usize) -> Result<Body, (String, String)> {
        let protos = std::mem::take(&mut graph.node);
        let mut nodes = Vec::with_capacity(protos.len());
        for proto in protos {
            self.add(proto, version, depth, &mut nodes)?;
        }
        Ok(Body { graph, nodes })
    }

    /// Adds a node, or those of the function that it calls.
    fn add(
        &mut self,
        mut proto: NodeProto,
        version: i64,
        depth: usize,
        out: &mut Vec<VersionedNode>,
    ) -> Result<(), (String, String)> {
        let key = (standard(&proto.domain), proto.op_type.as_str(), proto.overload.as_str());
        let declared = self.functions.get(&key).copied();
        let known = if declared.is_none() { domains::function(&proto) } else { Ok(None) };
        let known = known.map_err(|why| (node_place(&proto).to_owned(), format!("{}: {why}", operator(&proto))))?;
        let Some(function) = declared.or(known.as_ref()) else {
            let (graphs, others) = proto.attribute.into_iter().partition::<Vec<_>, _>(|a| a.g.is_some());
            proto.attribute = others;
            let mut bodies = Vec::new();
            for a in graphs {
                bodies.push((a.name, self.body(*a.g.unwrap_or_default(), version, depth)?));
            }
            out.push(VersionedNode { proto, version, bodies });
            return Ok(());
        };
        let proto = &proto;
        let fail = |why: &str| Err((node_place(proto).to_owned(), format!("function '{}': {why}", function.name)));
        if depth == MAX_DEPTH {
            return fail("calls are nested too deeply, or it calls itself");
        }
        if proto.input.len() > function.input.len() || proto.output.len() > function.output.len() {
            return fail("called with more inputs or outputs than it has");
        }
        let version = standard_version(&function.opset_import).unwrap_or(version);
        let call = Call::new(function, proto);
        for inner in function.node.iter().map(|n| call.node(n)).chain(call.copies()) {
            self.bytes += inner.encoded_len() + NODE_BYTES;
            if self.bytes > MAX_BYTES {
                return fail("the model expands to too many nodes");
            }
            self.add(inner, version, depth + 1, out)?;
        }
        Ok(())
    }
}

/// A call: the substitution of the function's names.
struct Call<'a> {
    function: &'a FunctionProto,
    call: &'a NodeProto,
    names: HashMap<&'a str, &'a str>,
    prefix: &'a str,
}

impl<'a> Call<'a> {
    fn new(function: &'a FunctionProto, call: &'a NodeProto) -> Self {
        let actual = |list: &'a [String], i: usize| list.get(i).map_or("", String::as_str);
        let mut names = HashMap::new();
        for (i, name) in function.input.iter().enumerate() {
            names.insert(name.as_str(), actual(&call.input, i));
        }
        for (i, name) in function.output.iter().enumerate() {
            let to = actual(&call.output, i);
            if !to.is_empty() {
                names.entry(name.as_str()).or_insert(to);
            }
        }
        let prefix = call.output.iter().find(|o| !o.is_empty()).map_or("", String::as_str);
        Call { function, call, names, prefix }
    }

    fn name(&self, name: &str) -> String {
        match self.names.get(name) {
            Some(&to) => to.to_owned(),
            None if name.is_empty() => String::new(),
            None => format!("{}//{name}", self.prefix),
        }
    }

    /// Returns a node of the body with the caller's names.
    fn node(&self, n: &NodeProto) -> NodeProto {
        let names = |list: &[String]| list.iter().map(|v| self.name(v)).collect();
        NodeProto {
            input: names(&n.input),
            output: names(&n.output),
            name: format!("{}/{}", node_place(self.call), node_place(n)),
            attribute: n.attribute.iter().filter_map(|a| self.attribute(a)).collect(),
            op_type: n.op_type.clone(),
            domain: n.domain.clone(),
            overload: n.overload.clone(),
            doc_string: String::new(),
        }
    }

    /// Returns an attribute of the body; `None` if it refers to an attribute that the caller omitted.
    fn attribute(&self, a: &AttributeProto) -> Option<AttributeProto> {
        if let Some(graph) = &a.g {
            return Some(AttributeProto { g: Some(Box::new(self.graph(graph))), ..a.clone() });
        }
        if a.ref_attr_name.is_empty() {
            return Some(a.clone());
        }
        let mut given = self.call.attribute.iter().chain(&self.function.attribute_proto);
        let value = given.find(|g| g.name == a.ref_attr_name)?;
        Some(AttributeProto { name: a.name.clone(), ..value.clone() })
    }

    /// Returns a graph that a node of the body runs, with the caller's names.
    fn graph(&self, graph: &GraphProto) -> GraphProto {
        let infos = |list: &[ValueInfoProto]| {
            list.iter().map(|v| ValueInfoProto { name: self.name(&v.name), ..v.clone() }).collect()
        };
        let mut initializer = graph.initializer.clone();
        initializer.iter_mut().for_each(|t| t.name = self.name(&t.name));
        GraphProto {
            node: graph.node.iter().map(|n| self.node(n)).collect(),
            input: infos(&graph.input),
            output: infos(&graph.output),
            value_info: infos(&graph.value_info),
            initializer,
            ..graph.clone()
        }
    }

    /// Returns identity nodes for results whose name already stands for an input or another result.
    fn copies(&self) -> impl Iterator<Item = NodeProto> {
        let pairs = self.function.output.iter().zip(&self.call.output);
        pairs.filter(|(from, to)| !to.is_empty() && self.names.get(from.as_str()) != Some(&to.as_str())).map(
            |(from, to)| NodeProto {
                input: vec![self.name(from)],
                output: vec![to.clone()],
                name: node_place(self.call).to_owned(),
                op_type: "Identity".to_owned(),
                ..NodeProto::default()
            },
        )
    }
}
