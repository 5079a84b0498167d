//! The valid signatures of ops, found by trial.

use crate::declared::signatures;
use crate::domain;
use gradus_ir::rules::OpSignature;
use gradus_ir::{Context, DYNAMIC, OpInfo, OpName, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A cache of signatures per op.
pub(super) struct Signatures {
    ctx: Arc<Context>,
    types: Vec<Type>,
    tensors: Vec<Type>,
    known: FxHashMap<OpName, Arc<[OpSignature]>>,
}

impl Signatures {
    pub(super) fn new(ctx: &Arc<Context>) -> Signatures {
        Signatures { ctx: ctx.clone(), types: types(ctx), tensors: tensors(ctx), known: FxHashMap::default() }
    }

    /// Adds types to try.
    pub(super) fn know(&mut self, types: impl Iterator<Item = Type>) {
        for ty in types {
            if !self.types.contains(&ty) {
                self.types.push(ty);
                self.known.clear();
            }
        }
    }

    /// Whether values of a type have several elements.
    pub(super) fn is_shaped(&self, ty: Type) -> bool {
        self.ctx.is_shaped(ty)
    }

    /// Returns tensor types of a rank.
    pub(super) fn tensors_of(&self, rank: i64) -> Vec<Type> {
        let fits = |ty: &Type| self.ctx.static_shape(*ty).is_some_and(|shape| shape.len() as i64 == rank);
        self.tensors.iter().copied().filter(fits).collect()
    }

    /// Returns the signatures of an op, in deterministic order.
    pub(super) fn of(&mut self, op: OpName) -> Arc<[OpSignature]> {
        let ctx = &self.ctx;
        let takes = |info: &OpInfo, ty: Type| info.operands.first().is_none_or(|spec| (spec.ty.check)(ctx, ty));
        let find = || {
            let Some(info) = ctx.op_info(op) else { return Vec::new().into() };
            let few = [Type::I1, Type::I32, Type::INDEX, Type::F32].into_iter();
            let scalars = few.chain(domain::declared_types(ctx)).any(|ty| takes(info, ty));
            signatures(ctx, info, if scalars { &self.types } else { &self.tensors }).into()
        };
        self.known.entry(op).or_insert_with(find).clone()
    }
}

/// Returns the types to try: mostly scalars, and small vectors and tensors.
fn types(ctx: &Context) -> Vec<Type> {
    let scalars =
        [Type::I1, Type::I8, Type::I16, Type::I32, Type::I64, Type::INDEX, Type::F16, Type::BF16, Type::F32, Type::F64];
    let mut types = scalars.to_vec();
    for elem in [Type::I1, Type::I8, Type::I32, Type::I64, Type::INDEX, Type::F32, Type::F64] {
        types.extend([&[3][..], &[2, 2]].map(|shape| ctx.vector_type(shape, elem)));
        types.extend([&[][..], &[5], &[1, 2], &[2, 3, 1]].map(|shape| ctx.tensor_type(shape, elem)));
    }
    types.extend(domain::declared_types(ctx));
    types
}

/// Returns the types to try for ops on tensors only, as in networks: many tensors with equal numbers of elements,
/// images and filters of compatible shapes, and a few dynamic ones.
fn tensors(ctx: &Context) -> Vec<Type> {
    let float: &[&[i64]] = &[
        &[],
        &[2],
        &[3],
        &[6],
        &[1, 6],
        &[2, 3],
        &[3, 2],
        &[2, 2],
        &[1, 2, 2],
        &[2, 2, 2],
        &[1, 2, 3, 1],
        &[1, 3, 2, 2],
        &[1, 2, 2, 2],
        &[2, 1, 1, 1],
        &[2, 3, 1, 1],
        &[3, 2, 1, 1],
        &[3, 3, 1, 1],
        &[2, 3, 1, 2],
        &[1, 2, 1, 1],
        &[3, 1, 1],
    ];
    let whole: &[&[i64]] = &[&[], &[2], &[2, 3], &[3, 2]];
    let lists: &[&[i64]] = &[&[1], &[2], &[4], &[2, 3]];
    let of = |elem: Type, shapes: &[&[i64]]| shapes.iter().map(|s| ctx.tensor_type(s, elem)).collect::<Vec<_>>();
    let mut types = of(Type::F32, float);
    let bytes: &[&[i64]] = &[&[], &[2], &[2, 2], &[2, 3], &[3, 2], &[DYNAMIC, 3]];
    let dynamic: &[&[i64]] = &[&[DYNAMIC], &[DYNAMIC, 3]];
    types
        .extend([of(Type::I32, whole), of(Type::I8, bytes), of(Type::I64, lists), of(Type::I1, &whole[1..2])].concat());
    types.extend(of(Type::F32, dynamic));
    types
}
