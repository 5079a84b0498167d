//! Verification of declared constraints on operands, results and inherent attributes.

use super::{Check, plural};
use crate::Violation;
use crate::context::Context;
use crate::intern::{Attr, OpName, Type};
use crate::module::{Module, Op};
use crate::op_info::{Arity, OpInfo, SegmentSizes, ValueSpec, group_range, segment_sizes};
use crate::traits::Traits;
use crate::types::TypeData;
use rustc_hash::{FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The key that determines the outcome of these checks. Most ops share it with others.
struct CheckKey {
    name: OpName,
    props: Attr,
    operands: usize,
    /// Operand types, then result types.
    types: SmallVec<[Type; 8]>,
}

impl CheckKey {
    fn of(m: &Module, op: Op) -> CheckKey {
        let (name, props, operands) = (m.name(op), m.props(op), m.operands(op).len());
        CheckKey { name, props, operands, types: types_of(m, op).collect() }
    }

    /// Whether this is the signature of `op`.
    fn is_of(&self, m: &Module, op: Op) -> bool {
        let operands = m.operands(op).len();
        self.name == m.name(op)
            && self.props == m.props(op)
            && self.operands == operands
            && self.types.len() == operands + m.num_results(op)
            && types_of(m, op).zip(&self.types).all(|(a, b)| a == *b)
    }

    /// Returns the position in the cache of the signature of `op`.
    fn slot(m: &Module, op: Op) -> usize {
        let mut hasher = FxHasher::default();
        (m.name(op), m.props(op)).hash(&mut hasher);
        types_of(m, op).for_each(|ty| ty.hash(&mut hasher));
        (hasher.finish() >> 32) as usize % SIGNATURES
    }
}

/// Returns the types of the operands, then those of the results.
fn types_of(m: &Module, op: Op) -> impl Iterator<Item = Type> + '_ {
    m.operands(op).iter().copied().chain(m.results(op)).map(|value| m.value_type(value))
}

/// Number of signatures in the cache.
const SIGNATURES: usize = 256;

/// Number of ops that are verified before there is a cache: it takes longer to allocate than a few ops to verify.
const UNCACHED: usize = 8;

/// The checks, with a cache of signatures and attributes that passed.
#[derive(Default)]
pub(super) struct Declared {
    /// Number of ops verified without the cache.
    uncached: usize,
    /// A direct-mapped cache of signatures, by hash.
    signatures: Vec<Option<CheckKey>>,
    /// Verified attribute dictionaries: they can be large, so each is verified once.
    attrs: FxHashSet<(OpName, Attr)>,
}

impl Declared {
    pub(super) fn check(&mut self, m: &Module, op: Op, info: &OpInfo) -> Check {
        if self.uncached < UNCACHED {
            self.uncached += 1;
            declared_values(m, op, info)?;
            declared_attrs(&m.ctx, info, m.props(op))?;
            return declared_types(m, op, info);
        }
        if self.signatures.is_empty() {
            self.signatures.resize_with(SIGNATURES, || None);
        }
        let slot = &mut self.signatures[CheckKey::slot(m, op)];
        if slot.as_ref().is_some_and(|known| known.is_of(m, op)) {
            return Ok(());
        }
        declared_values(m, op, info)?;
        let attrs = (m.name(op), m.props(op));
        if !self.attrs.contains(&attrs) {
            declared_attrs(&m.ctx, info, attrs.1)?;
            self.attrs.insert(attrs);
        }
        declared_types(m, op, info)?;
        *slot = Some(CheckKey::of(m, op));
        Ok(())
    }
}

fn declared_values(m: &Module, op: Op, info: &OpInfo) -> Check {
    let ctx = &m.ctx;
    let operand = |i: usize| m.value_type(m.operands(op)[i]);
    let result = |i: usize| m.value_type(m.result(op, i));
    let sizes = |on: Traits, name: &str, total: usize, groups: usize| -> Result<Option<SegmentSizes>, Violation> {
        if !info.traits.has(on) {
            return Ok(None);
        }
        let sizes = segment_sizes(ctx, m.props(op), name).ok_or_else(|| format!("requires attribute '{name}'"))?;
        let what = if on == Traits::OPERAND_SEGMENTS { "operand" } else { "result" };
        if sizes.len() != groups {
            let have = sizes.len();
            return Err(format!(
                "'{name}' attribute for specifying {what} segments must have {groups} elements, but got {have}"
            )
            .into());
        }
        let sum: i128 = sizes.iter().map(|&s| i128::from(s)).sum();
        if sum != total as i128 || sizes.iter().any(|&s| s < 0) {
            return Err(format!(
                "{what} count ({total}) does not match with the total size ({sum}) specified in attribute '{name}'"
            )
            .into());
        }
        Ok(Some(sizes))
    };
    let n = m.operands(op).len();
    let segments = sizes(Traits::OPERAND_SEGMENTS, "operandSegmentSizes", n, info.operands.len())?;
    value_groups(ctx, "operand", info.operands, segments.as_deref(), n, operand)?;
    let n = m.num_results(op);
    let segments = sizes(Traits::RESULT_SEGMENTS, "resultSegmentSizes", n, info.results.len())?;
    value_groups(ctx, "result", info.results, segments.as_deref(), n, result)
}

fn value_groups(
    ctx: &Context,
    what: &str,
    specs: &[ValueSpec],
    sizes: Option<&[i64]>,
    total: usize,
    ty: impl Fn(usize) -> Type,
) -> Check {
    let fixed = specs.iter().filter(|s| s.arity == Arity::One).count();
    if total < fixed || (fixed == specs.len() && total > fixed) {
        let most = if fixed == specs.len() { "" } else { "or more " };
        return Err(match fixed {
            0 => format!("requires zero {what}s").into(),
            1 if most.is_empty() => format!("requires a single {what}").into(),
            _ => format!("expected {fixed} {most}{what}{}, but found {total}", plural(fixed)).into(),
        });
    }
    for (i, spec) in specs.iter().enumerate() {
        let range = group_range(specs, sizes, total, i);
        if spec.arity == Arity::Optional && range.len() > 1 {
            return Err(
                format!("{what} group '{}' requires at most 1 element, but found {}", spec.name, range.len()).into()
            );
        }
        for at in range {
            if at >= total {
                return Err(format!("{what} group '{}' is incomplete", spec.name).into());
            }
            if !(spec.ty.check)(ctx, ty(at)) {
                let (summary, found) = (spec.ty.summary, ctx.display_type(ty(at)));
                let many = if spec.arity == Arity::Variadic { "variadic of " } else { "" };
                return Err(format!("{what} #{at} must be {many}{summary}, but got '{found}'").into());
            }
        }
    }
    Ok(())
}

fn declared_attrs(ctx: &Context, info: &OpInfo, props: Attr) -> Check {
    for spec in info.attrs {
        match ctx.dict_get(props, ctx.str(spec.name)) {
            None if !spec.optional && spec.default.is_none() => {
                return Err(format!("requires attribute '{}'", spec.name).into());
            }
            Some(value) if !(spec.kind.check)(ctx, value) => {
                let summary = spec.kind.summary;
                return Err(format!("attribute '{}' failed to satisfy constraint: {summary}", spec.name).into());
            }
            _ => {}
        }
    }
    if let Some((key, _)) = ctx.dict_entries(props).iter().find(|e| !info.is_inherent(ctx.text(e.0))) {
        return Err(format!("has no property '{}'", ctx.text(*key)).into());
    }
    Ok(())
}

/// Verifies the declared type relations and those that traits imply.
fn declared_types(m: &Module, op: Op, info: &OpInfo) -> Check {
    crate::typing::check(m, op, info)?;
    if info.traits.has(Traits::SAME_TYPE) {
        let mut types = m.operands(op).iter().map(|&v| m.value_type(v)).chain(m.results(op).map(|v| m.value_type(v)));
        let first = types.next();
        if types.any(|t| Some(t) != first) {
            return Err("requires the same type for all operands and results".into());
        }
    }
    if info.traits.has(Traits::ELEMENTWISE) { same_shapes(m, op) } else { Ok(()) }
}

/// Verifies that vector and tensor operands and results have compatible shapes, with no scalars among them.
fn same_shapes(m: &Module, op: Op) -> Check {
    let ctx = &m.ctx;
    let types: Vec<Type> = m.operands(op).iter().copied().chain(m.results(op)).map(|v| m.value_type(v)).collect();
    let Some(shaped) = types.iter().find(|&&t| ctx.is_shaped(t)) else { return Ok(()) };
    let is_vector = |ty| matches!(ctx.type_data(ty), TypeData::Vector { .. });
    for &ty in &types {
        let compatible = match (ctx.shape(*shaped), ctx.shape(ty)) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y || *x < 0 || *y < 0),
            _ => ctx.is_shaped(ty),
        };
        if !compatible {
            return Err("requires the same shape for all operands and results".into());
        }
        if is_vector(*shaped) != is_vector(ty) {
            return Err("all non-scalar operands/results must have the same shape and base type".into());
        }
    }
    Ok(())
}
