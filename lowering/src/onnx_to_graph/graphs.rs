//! The graphs that nodes run, as regions.

use super::scope::GraphScope;
use super::{Importer, Stop};
use crate::onnx::inline::{Body, VersionedNode};
use crate::onnx::proto::ValueInfoProto;
use gradus_dialects::arith;
use gradus_dialects::tensor::{self, CastOp, ExtractOp, general};
use gradus_ir::{Block, Builder, Context, Loc, Type, Value};
use gradus_networks::graph::{SequenceCastOp, SequenceType};

/// Largest number of nodes that are imported: bodies of loops are imported again when the types of their variables change.
const MAX_NODES: usize = 1 << 20;

/// Largest number of graphs around a node.
const MAX_DEPTH: usize = 64;

/// Returns the graph of an attribute.
pub(super) fn body<'a>(node: &'a VersionedNode, attribute: &str) -> Result<&'a Body, Stop> {
    let found = node.bodies.iter().find(|(name, _)| name == attribute).map(|(_, body)| body);
    found.ok_or_else(|| Stop::Because(format!("attribute '{attribute}' is missing")))
}

/// Returns the least general type that has the values of both types; `None` for a tensor and a sequence, and for different element types.
pub(super) fn general_type(ctx: &Context, a: Type, b: Type) -> Option<Type> {
    match [a, b].map(|ty| SequenceType::element_of(ctx, ty)) {
        [Some(a), Some(b)] => Some(SequenceType::of(ctx, general(ctx, a, b)?)),
        [None, None] => general(ctx, a, b),
        _ => None,
    }
}

/// Whether every value of type `from` is one of type `to`.
pub(super) fn is_instance(ctx: &Context, from: Type, to: Type) -> bool {
    from == to || general_type(ctx, from, to) == Some(to)
}

impl<'a> Importer<'a> {
    /// Returns a builder at the end of the innermost graph.
    pub(super) fn builder(&mut self) -> Builder<'_> {
        Builder::at_end(&mut self.module, self.scopes.last().block)
    }

    /// Imports a graph into a block, with values for its inputs. Returns its outputs.
    pub(super) fn within(&mut self, body: &'a Body, block: Block, inputs: &[Value]) -> Result<Vec<Value>, Stop> {
        if self.imported.saturating_add(body.nodes.len()) > MAX_NODES || self.scopes.depth() >= MAX_DEPTH {
            return Err("graphs with too many nodes, or nested too deeply".into());
        }
        let before = self.errors.len();
        self.scopes.push(GraphScope::new(&body.graph, block));
        self.initializers(&body.graph);
        for (input, &value) in body.graph.input.iter().zip(inputs) {
            self.input(&input.name, Some(value));
        }
        self.nodes(body);
        let outputs = body.graph.output.iter().map(|output| self.value(&output.name)).collect();
        self.scopes.pop();
        if self.errors.len() > before { Err(Stop::Reported) } else { outputs }
    }

    /// Binds the results of a node to their names, as tensors of the rank that the model states.
    pub(super) fn bind_results(&mut self, node: &VersionedNode, results: &[Value], loc: Loc) -> Result<(), Stop> {
        if results.len() < node.proto.output.len() {
            return Err(format!("there are {} outputs, more than its graphs have", node.proto.output.len()).into());
        }
        for (name, &value) in node.proto.output.iter().zip(results) {
            let value = match self.stated_rank(name, value) {
                Some(ty) => self.cast_in(self.scopes.last().block, value, ty, loc),
                None => value,
            };
            self.name(name, value)?;
        }
        Ok(())
    }

    /// Returns a value as one of a more or less specific type.
    pub(super) fn cast_in(&mut self, block: Block, value: Value, ty: Type, loc: Loc) -> Value {
        cast_at(&mut Builder::at_end(&mut self.module, block), value, ty, loc)
    }

    /// Returns a constant of type `index`.
    pub(super) fn index_in(&mut self, block: Block, n: i64, loc: Loc) -> Value {
        let attr = self.ctx.int_attr(Type::INDEX, n);
        let b = &mut Builder::at_end(&mut self.module, block);
        arith::ConstantOp::build(b, loc, attr, &[Type::INDEX]).result(b.module)
    }

    /// Returns the element of a tensor of one element.
    pub(super) fn element_in(&mut self, block: Block, tensor: Value, loc: Loc) -> Value {
        let ty = self.module.value_type(tensor);
        let scalar = self.ctx.tensor_type(&[], self.ctx.element_type(ty));
        let rank = self.ctx.shape(ty).map_or(0, <[i64]>::len);
        let zero = (rank > 0).then(|| self.index_in(block, 0, loc));
        let ranked = if self.ctx.shape(ty).is_none() { self.cast_in(block, tensor, scalar, loc) } else { tensor };
        let indices: Vec<Value> = zero.iter().copied().cycle().take(rank).collect();
        let made = ExtractOp::build(&mut Builder::at_end(&mut self.module, block), loc, ranked, &indices, &[]);
        made.result(&self.module)
    }

    /// Returns a tensor of one element as an input of a graph: of rank 0, unless the model states another.
    pub(super) fn input_of(&mut self, block: Block, element: Value, input: Option<&ValueInfoProto>, loc: Loc) -> Value {
        let stated = self.stated_type(input.and_then(|input| input.r#type.as_ref()));
        let rank = stated.and_then(|ty| self.ctx.shape(ty)).map_or(0, <[i64]>::len).min(1);
        let ty = self.ctx.tensor_type(&[1][..rank], self.module.value_type(element));
        let b = &mut Builder::at_end(&mut self.module, block);
        tensor::FromElementsOp::build(b, loc, &[element], &[ty]).result(b.module)
    }
}

/// Returns a value as one of a more or less specific type.
pub(super) fn cast_at(b: &mut Builder<'_>, value: Value, ty: Type, loc: Loc) -> Value {
    if b.module.value_type(value) == ty {
        return value;
    }
    match SequenceType::element_of(&b.module.ctx, ty) {
        Some(_) => SequenceCastOp::build(b, loc, value, &[ty]).output(b.module),
        None => CastOp::build(b, loc, value, &[ty]).dest(b.module),
    }
}
