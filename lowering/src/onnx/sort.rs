//! The order of nodes. Models should have their nodes sorted, but not all tools write them so, and runtimes accept any order.

use super::inline::VersionedNode;
use super::node_place;
use std::collections::HashMap;

/// Maximum number of nodes of a cycle that a message names.
const MAX_NAMED: usize = 8;

/// The progress of a depth-first search at a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Returns the nodes such that each comes after those whose results it uses. Sorted nodes keep their order. `is_given`: whether a name
/// is that of a graph input or an initializer. Linear in the number of names.
///
/// # Errors
/// The place of a node that depends on itself, and the cycle.
pub fn sort(
    nodes: Vec<VersionedNode>,
    is_given: impl Fn(&str) -> bool,
) -> Result<Vec<VersionedNode>, (String, String)> {
    let mut makers: HashMap<&str, usize> = HashMap::new();
    for (i, node) in nodes.iter().enumerate() {
        for name in node.proto.output.iter().filter(|name| !name.is_empty() && !is_given(name)) {
            makers.entry(name).or_insert(i);
        }
    }
    let (mut visits, mut order) = (vec![Visit::New; nodes.len()], Vec::with_capacity(nodes.len()));
    // The nodes on the path from the root, each with the number of inputs that were followed.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..nodes.len() {
        let mut next = (visits[root] == Visit::New).then_some(root);
        while next.is_some() || !path.is_empty() {
            if let Some(node) = next.take() {
                visits[node] = Visit::Open;
                path.push((node, 0));
            }
            let Some((node, followed)) = path.last_mut() else { break };
            let Some(name) = nodes[*node].proto.input.get(*followed) else {
                visits[*node] = Visit::Done;
                order.push(*node);
                path.pop();
                continue;
            };
            *followed += 1;
            let Some(&maker) = makers.get(name.as_str()) else { continue };
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
