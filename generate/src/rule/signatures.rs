//! Which types and attributes ops can have, found by trying.

use crate::declared::signatures;
use gradus_ir::rules::Signature;
use gradus_ir::{Context, OpName, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Those that were found, for each op that was asked for.
pub(super) struct Signatures {
    ctx: Arc<Context>,
    types: Vec<Type>,
    known: FxHashMap<OpName, Arc<[Signature]>>,
}

impl Signatures {
    pub(super) fn new(ctx: &Arc<Context>) -> Signatures {
        Signatures { ctx: ctx.clone(), types: types(ctx), known: FxHashMap::default() }
    }

    /// These types are tried, too.
    pub(super) fn know(&mut self, types: impl Iterator<Item = Type>) {
        for ty in types {
            if !self.types.contains(&ty) {
                self.types.push(ty);
                self.known.clear();
            }
        }
    }

    /// Those of an op, in an order that is always the same.
    pub(super) fn of(&mut self, op: OpName) -> Arc<[Signature]> {
        let (ctx, types) = (&self.ctx, &self.types);
        let find = || ctx.op_info(op).map_or(Vec::new(), |info| signatures(ctx, info, types)).into();
        self.known.entry(op).or_insert_with(find).clone()
    }
}

/// The types that are tried: scalars, more often than others, and small vectors and tensors.
fn types(ctx: &Context) -> Vec<Type> {
    let scalars =
        [Type::I1, Type::I8, Type::I16, Type::I32, Type::I64, Type::INDEX, Type::F16, Type::BF16, Type::F32, Type::F64];
    let mut types = scalars.to_vec();
    for elem in [Type::I1, Type::I8, Type::I32, Type::I64, Type::INDEX, Type::F32, Type::F64] {
        types.extend([&[3][..], &[2, 2]].map(|shape| ctx.vector_type(shape, elem)));
        types.extend([&[][..], &[5], &[1, 2], &[2, 3, 1]].map(|shape| ctx.tensor_type(shape, elem)));
    }
    types
}
