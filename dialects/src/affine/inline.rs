//! Validity of affine ops after inlining.

use super::dma;
use super::scope::{AffineClass, Scope};
use gradus_ir::{Attr, AttrData, Module, Op, ValueList};
use smallvec::SmallVec;

/// Whether affine ops in the first region of `callee` stay valid when inlined at `call`, whose region is no scope:
/// top-level values are no longer symbols, and arguments become call operands.
pub fn can_inline(m: &Module, call: Op, callee: Op) -> bool {
    let Some(entry) = m.regions(callee).first().and_then(|&body| m.entry(body)) else { return false };
    let mut there = Scope::around(m, call);
    for (&arg, &operand) in m.block_args(entry).iter().zip(m.operands(call)) {
        let class = there.class(operand);
        there.assume(arg, class);
    }
    let affine = |op: &Op| m.info(*op).is_some_and(|info| info.name.starts_with("affine."));
    m.ops_under(callee).into_iter().filter(affine).all(|op| {
        let mut here = Scope::around(m, op);
        let needed: ValueList = m.operands(op).into();
        needed
            .into_iter()
            .enumerate()
            .all(|(i, value)| there.class(value) >= use_of_operand(m, op, i).unwrap_or_else(|| here.class(value)))
    })
}

/// Returns the required class of an operand. `None` if the op has several maps.
fn use_of_operand(m: &Module, op: Op, operand: usize) -> Option<AffineClass> {
    if let Some(places) = dma::memref_accesses(m, op) {
        let is_index = places.iter().any(|place| place.indices.contains(&operand));
        return Some(if is_index { AffineClass::Dim } else { AffineClass::Neither });
    }
    let inputs = |&(_, attr): &(_, Attr)| match m.ctx.attr_data(attr) {
        AttrData::AffineMap(map) => Some(map.num_inputs()),
        AttrData::IntegerSet(set) => Some((set.num_dims + set.num_symbols) as usize),
        _ => None,
    };
    let all: SmallVec<[usize; 2]> = m.ctx.dict_entries(m.props(op)).iter().filter_map(inputs).collect();
    match all[..] {
        [] => Some(AffineClass::Neither),
        [inputs] if operand + inputs < m.operands(op).len() => Some(AffineClass::Neither),
        [_] => Some(AffineClass::Dim),
        _ => None,
    }
}
