//! The order of nodes. Models should have their nodes sorted, but not all tools write them so, and runtimes accept any order.

use super::inline::{Body, VersionedNode};
use super::node_place;
use super::proto::GraphProto;
use std::collections::{HashMap, HashSet};

/// Maximum number of nodes of a cycle that a message names.
const MAX_NAMED: usize = 8;

/// The progress of a depth-first search at a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Returns a graph whose nodes each come after those whose results they use, or that graphs use which they run; the same for the nodes of
/// these graphs. Sorted nodes keep their order. Linear in the number of names, but for the depth of nested graphs.
///
/// # Errors
/// The place of a node that depends on itself, and the cycle.
pub fn sort(body: Body) -> Result<Body, (String, String)> {
    let Body { graph, mut nodes } = body;
    for node in &mut nodes {
        let mut bodies = Vec::with_capacity(node.bodies.len());
        for (name, body) in node.bodies.drain(..) {
            bodies.push((name, sort(body)?));
        }
        node.bodies = bodies;
    }
    let given: HashSet<&str> = given(&graph).collect();
    let nodes = sorted(nodes, |name| given.contains(name))?;
    drop(given);
    Ok(Body { graph, nodes })
}

/// Returns the names of a graph's inputs and initializers.
fn given(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let sparse = graph.sparse_initializer.iter().filter_map(|s| s.values.as_ref());
    let initializers = graph.initializer.iter().chain(sparse).map(|t| t.name.as_str());
    graph.input.iter().map(|input| input.name.as_str()).chain(initializers)
}

/// Returns the names that a node uses: its inputs, and the free names of its graphs.
fn uses(node: &VersionedNode) -> Vec<&str> {
    let mut names: Vec<&str> = node.proto.input.iter().map(String::as_str).collect();
    for (_, body) in &node.bodies {
        let results = body.nodes.iter().flat_map(|inner| &inner.proto.output).map(String::as_str);
        let own: HashSet<&str> = given(&body.graph).chain(results).collect();
        let outputs = body.graph.output.iter().map(|output| output.name.as_str());
        names.extend(body.nodes.iter().flat_map(uses).chain(outputs).filter(|name| !own.contains(name)));
    }
    names
}

fn sorted(nodes: Vec<VersionedNode>, is_given: impl Fn(&str) -> bool) -> Result<Vec<VersionedNode>, (String, String)> {
    let mut makers: HashMap<&str, usize> = HashMap::new();
    for (i, node) in nodes.iter().enumerate() {
        for name in node.proto.output.iter().filter(|name| !name.is_empty() && !is_given(name)) {
            makers.entry(name).or_insert(i);
        }
    }
    let used: Vec<Vec<&str>> = nodes.iter().map(uses).collect();
    let (mut visits, mut order) = (vec![Visit::New; nodes.len()], Vec::with_capacity(nodes.len()));
    // The nodes on the path from the root, each with the number of names that were followed.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..nodes.len() {
        let mut next = (visits[root] == Visit::New).then_some(root);
        while next.is_some() || !path.is_empty() {
            if let Some(node) = next.take() {
                visits[node] = Visit::Open;
                path.push((node, 0));
            }
            let Some((node, followed)) = path.last_mut() else { break };
            let Some(name) = used[*node].get(*followed) else {
                visits[*node] = Visit::Done;
                order.push(*node);
                path.pop();
                continue;
            };
            *followed += 1;
            let Some(&maker) = makers.get(name) else { continue };
            match visits[maker] {
                Visit::New => next = Some(maker),
                Visit::Open => return Err(cycle(&nodes, &path, maker)),
                Visit::Done => {}
            }
        }
    }
    let mut nodes: Vec<Option<VersionedNode>> = nodes.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|i| nodes[i].take()).collect())
}

/// Returns the place of `first` and a message with the nodes from there to the end of the path, whose last one uses it.
fn cycle(nodes: &[VersionedNode], path: &[(usize, usize)], first: usize) -> (String, String) {
    let place = |i: usize| format!("'{}'", node_place(&nodes[i].proto));
    let on_cycle = path.iter().map(|&(node, _)| node).skip_while(|&node| node != first);
    let mut places: Vec<String> = on_cycle.map(place).collect();
    if places.len() > MAX_NAMED {
        places.truncate(MAX_NAMED);
        places.push("...".to_owned());
    }
    places.push(place(first));
    (node_place(&nodes[first].proto).to_owned(), format!("the nodes form a cycle: {}", places.join(" uses ")))
}
