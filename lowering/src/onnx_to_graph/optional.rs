//! Optional values: one that is there is the value itself, so that nothing is left of them after the import. The same holds for copies of
//! sequences.

use super::{Importer, Stop};
use crate::onnx::inline::VersionedNode;
use gradus_ir::{Builder, Loc, Tensor, Type};
use gradus_networks::graph::SequenceType;

/// Binds the result of a node to its operand.
pub(super) fn wrapped<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, _: Loc) -> Result<(), Stop> {
    let (Some(input), Some(output)) = (given(node), node.proto.output.first()) else {
        return Err("values that are absent are not supported".into());
    };
    let value = i.value(input)?;
    i.name(output, value)
}

/// Binds the result of an `Identity` of a sequence to its operand; that of a tensor is an op.
pub(super) fn identity<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, loc: Loc) -> Result<(), Stop> {
    let value = given(node).map(|input| i.value(input)).transpose()?;
    match value.is_some_and(|v| SequenceType::element_of(&i.ctx, i.module.value_type(v)).is_some()) {
        true => wrapped(i, node, loc),
        false => i.as_op(node, loc),
    }
}

/// Imports an `OptionalHasElement`, whose result is known.
pub(super) fn has_element<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, loc: Loc) -> Result<(), Stop> {
    let is_there = given(node).map(|input| i.value(input)).transpose()?.is_some();
    let bit = i.ctx.dense_attr(i.ctx.tensor_type(&[], Type::I1), &Tensor::from_bools(&[], vec![u8::from(is_there)]));
    let (ty, block) = (i.ctx.tensor_type(&[], Type::I1), i.scopes.last().block);
    let made = Builder::at_end(&mut i.module, block).constant(bit, ty, "graph", loc);
    let value = made.ok_or("no constant can be of type tensor<i1>")?;
    i.name(node.proto.output.first().map_or("", String::as_str), value)
}

/// Returns the name of the operand, if there is one.
fn given(node: &VersionedNode) -> Option<&str> {
    node.proto.input.first().map(String::as_str).filter(|name| !name.is_empty())
}
