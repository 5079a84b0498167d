//! Optional values: one that is there is the value itself, so that nothing is left of them after the import.

use super::{Importer, Stop};
use crate::onnx::inline::VersionedNode;
use gradus_ir::{Builder, Loc, Tensor, Type};

/// Binds the result of a node to its operand.
pub(super) fn wrapped<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, _: Loc) -> Result<(), Stop> {
    let (Some(input), Some(output)) = (given(node), node.proto.output.first()) else {
        return Err("values that are absent are not supported".into());
    };
    let value = i.value(input)?;
    i.name(output, value)
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
