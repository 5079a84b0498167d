//! The names that nodes see: those of their graph, and of the graphs around it.

use super::Initial;
use crate::onnx::proto::{GraphProto, TypeProto};
use gradus_ir::{Block, Value};
use std::collections::HashMap;

/// The names of a graph.
pub(super) struct GraphScope<'a> {
    /// The block with the ops of its nodes.
    pub block: Block,
    /// Initializers by name; each is turned into a constant on first use.
    pub constants: HashMap<&'a str, Initial<'a>>,
    /// Values by name; `None` after a reported error.
    pub values: HashMap<String, Option<Value>>,
    /// Types that the model states.
    declared: HashMap<&'a str, &'a TypeProto>,
}

impl<'a> GraphScope<'a> {
    pub(super) fn new(graph: &'a GraphProto, block: Block) -> GraphScope<'a> {
        let stated = graph.input.iter().chain(&graph.value_info).chain(&graph.output);
        let declared = stated.filter_map(|v| Some((v.name.as_str(), v.r#type.as_ref()?))).collect();
        let (constants, values) = Default::default();
        GraphScope { block, constants, values, declared }
    }
}

/// The meaning of a name.
pub(super) enum Named<'a> {
    /// A value; `None` after a reported error.
    Value(Option<Value>),
    /// An initializer without a constant in the innermost graph.
    Initial(Initial<'a>),
}

/// The scopes around a node, innermost last; there is always one.
pub(super) struct GraphScopes<'a>(Vec<GraphScope<'a>>);

impl<'a> GraphScopes<'a> {
    pub(super) fn new(outermost: GraphScope<'a>) -> GraphScopes<'a> {
        GraphScopes(vec![outermost])
    }

    pub(super) fn last(&self) -> &GraphScope<'a> {
        self.0.last().expect("there is a scope")
    }

    pub(super) fn last_mut(&mut self) -> &mut GraphScope<'a> {
        self.0.last_mut().expect("there is a scope")
    }

    /// Returns the number of scopes.
    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, scope: GraphScope<'a>) {
        self.0.push(scope);
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    /// Returns the meaning of a name. The constant of an initializer is in the graph that uses it, so that it dominates all uses.
    pub(super) fn find(&self, name: &str) -> Option<Named<'a>> {
        self.0.iter().rev().find_map(|scope| match (scope.values.get(name), scope.constants.get(name)) {
            (_, Some(&initial)) if !std::ptr::eq(scope, self.last()) => Some(Named::Initial(initial)),
            (Some(&value), _) => Some(Named::Value(value)),
            (None, Some(&initial)) => Some(Named::Initial(initial)),
            (None, None) => None,
        })
    }

    /// Returns the type that the model states for a name.
    pub(super) fn declared(&self, name: &str) -> Option<&'a TypeProto> {
        self.0.iter().rev().find_map(|scope| scope.declared.get(name).copied())
    }
}
