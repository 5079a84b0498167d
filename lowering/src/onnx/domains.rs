//! Operators of other domains, as standard ones: a table for each domain.

use super::expansion::{Operator, PASSED};
use super::proto::{AttributeProto, FunctionProto, NodeProto};
use super::rewrite::{Adapted, NodeRewrite};
use super::{machine_learning, microsoft, quantized_lstm};

/// The domains, and their operators.
const DOMAINS: &[(&str, &[Operator])] =
    &[(machine_learning::DOMAIN, machine_learning::OPERATORS), (microsoft::DOMAIN, microsoft::OPERATORS)];

/// Operators of other domains that run graphs, as functions of standard ones.
const FUNCTIONS: &[(&str, &str, Build)] = &[(microsoft::DOMAIN, "DynamicQuantizeLSTM", quantized_lstm::function)];

/// Builds the function of a node; the error is the form that is not supported.
type Build = fn(&NodeProto) -> Adapted<FunctionProto>;

/// Returns the function that a node calls without declaring it, if there is one.
///
/// # Errors
/// A form of the operator that is not supported.
pub(super) fn function(node: &NodeProto) -> Adapted<Option<FunctionProto>> {
    let known = FUNCTIONS.iter().find(|(domain, name, _)| *domain == node.domain && *name == node.op_type);
    known.map(|(.., build)| build(node)).transpose()
}

/// Returns the domains, and the names of the known operators of each, in order.
pub fn operators() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    DOMAINS.iter().map(|&(domain, operators)| {
        let functions = FUNCTIONS.iter().filter(move |(of, ..)| *of == domain).map(|&(_, name, _)| name);
        let mut names: Vec<&str> = operators.iter().map(|known| known.name).chain(functions).collect();
        names.sort_unstable();
        (domain, names)
    })
}

/// Whether the operator of a node is one of a table.
pub fn is_known(node: &NodeProto) -> bool {
    find(node).is_some()
}

fn find(node: &NodeProto) -> Option<&'static Operator> {
    let (_, operators) = DOMAINS.iter().find(|(domain, _)| *domain == node.domain)?;
    operators.iter().find(|known| known.name == node.op_type)
}

/// Turns a node of another domain into standard ones.
///
/// # Errors
/// An unknown operator, input or attribute, or a form that has no counterpart.
pub(super) fn expand(n: &mut NodeRewrite<'_>) -> Adapted {
    let known = find(&n.node).ok_or("the operator is not supported")?;
    if n.node.input.iter().skip(known.inputs).any(|name| !name.is_empty()) {
        return Err(format!("inputs after the first {} are not supported", known.inputs).into());
    }
    let is_unknown = |a: &&AttributeProto| known.attributes != PASSED && !known.attributes.contains(&a.name.as_str());
    match n.node.attribute.iter().find(is_unknown) {
        Some(a) => Err(format!("attribute '{}' is not supported", a.name).into()),
        None => (known.expand)(n),
    }
}
