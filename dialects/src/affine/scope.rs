//! Validity of values as dimensions and symbols of affine ops.
//!
//! An *affine scope* is the region of an op such as a function. Values defined at its top level are symbols, since they
//! are invariant in it. Induction variables are dimensions, and so are affine functions of dimensions.

use crate::memref;
use gradus_ir::effects::is_speculatable;
use gradus_ir::{
    Block, DYNAMIC, Def, Extension, Module, Op, OpDecl, Region, Traits, Type, Value, ValueList, Violation,
};
use std::collections::HashMap;

/// The affine class of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum AffineClass {
    Neither,
    Dim,
    Symbol,
}

/// Of an op: the values that it makes dimensions.
pub(super) enum DimValues {
    /// Its results, affine functions of its operands.
    Results,
    /// The first arguments of its blocks, induction variables.
    Args(u32),
}
impl Extension for DimValues {}

fn dim_values(m: &Module, op: Op) -> Option<&'static DimValues> {
    m.info(op)?.extension()
}

/// An affine scope with cached classes of values.
pub(super) struct Scope<'m> {
    m: &'m Module,
    /// The scope's region, and the enclosing ones up to isolation: values at their top levels are symbols.
    regions: Vec<Region>,
    known: HashMap<Value, AffineClass>,
    /// Remaining budget of visited values.
    left: u32,
}

/// Maximum number of visited values per query; beyond it, a value counts as a dimension.
const MAX_VALUES: u32 = 1000;

impl<'m> Scope<'m> {
    /// Returns the innermost scope around an op.
    pub(super) fn around(m: &'m Module, op: Op) -> Scope<'m> {
        let mut regions = Vec::new();
        let mut at = op;
        while let Some(block) = m.parent_block(at) {
            let (Some(region), Some(parent)) = (m.parent_region(block), m.block_op(block)) else { break };
            // An unregistered op may be a scope.
            let has = |t| m.info(parent).map_or(t == Traits::AFFINE_SCOPE, |i| i.traits.has(t));
            // Regions around the scope count too unless it is isolated.
            if has(Traits::AFFINE_SCOPE) || !regions.is_empty() {
                regions.push(region);
                if has(Traits::ISOLATED) {
                    break;
                }
            }
            at = parent;
        }
        Scope { m, regions, known: HashMap::new(), left: MAX_VALUES }
    }

    /// Whether the value is a valid dimension; symbols are.
    pub(super) fn is_dim(&mut self, value: Value) -> bool {
        self.class(value) >= AffineClass::Dim
    }

    /// Whether the value is a valid symbol.
    pub(super) fn is_symbol(&mut self, value: Value) -> bool {
        self.class(value) == AffineClass::Symbol
    }

    /// Returns the class of a value.
    pub(super) fn class(&mut self, value: Value) -> AffineClass {
        if let Some(class) = self.plain_class(value) {
            return class;
        }
        // Visit operands first, without recursion.
        let mut stack = vec![(value, false)];
        while let Some((value, seen)) = stack.pop() {
            if self.known.contains_key(&value) {
                continue;
            }
            let computed = self.m.defining_op(value).filter(|_| self.plain_class(value).is_none());
            let Some(op) = computed else {
                let class = self.plain_class(value).unwrap_or(AffineClass::Neither);
                self.known.insert(value, class);
                continue;
            };
            if seen {
                let class = self.computed_class(op);
                self.known.insert(value, class);
            } else if self.left == 0 {
                self.known.insert(value, AffineClass::Dim);
            } else {
                self.left -= 1;
                stack.push((value, true));
                stack.extend(self.inputs(op).into_iter().map(|v| (v, false)));
            }
        }
        self.known.get(&value).copied().unwrap_or(AffineClass::Neither)
    }

    /// Sets the class of a value.
    pub(super) fn assume(&mut self, value: Value, class: AffineClass) {
        self.known.insert(value, class);
    }

    /// Returns the class of a value that does not depend on operands.
    fn plain_class(&self, value: Value) -> Option<AffineClass> {
        let m = self.m;
        if m.value_type(value) != Type::INDEX {
            return Some(AffineClass::Neither);
        }
        if let Some(&known) = self.known.get(&value) {
            return Some(known);
        }
        if self.is_top(value) || m.constant(value).is_some() {
            return Some(AffineClass::Symbol);
        }
        let Def::Result(op, _) = m.def(value) else {
            return Some(if is_induction_var(m, value) { AffineClass::Dim } else { AffineClass::Neither });
        };
        if m.has_trait(op, Traits::EXTENT) {
            return self.extent_class(op);
        }
        m.operands(op).is_empty().then(|| self.computed_class(op))
    }

    /// Returns the class of an op's result from its operands' classes.
    fn computed_class(&self, op: Op) -> AffineClass {
        let m = self.m;
        let inputs = self.inputs(op);
        if m.has_trait(op, Traits::EXTENT) {
            let is_symbol = |v: &Value| self.known.get(v) == Some(&AffineClass::Symbol);
            return if inputs.first().is_some_and(is_symbol) { AffineClass::Symbol } else { AffineClass::Neither };
        }
        let least = inputs.iter().filter_map(|v| self.known.get(v)).min().copied().unwrap_or(AffineClass::Symbol);
        let is_affine = matches!(dim_values(m, op), Some(DimValues::Results));
        match least {
            AffineClass::Symbol if is_speculatable(m, op) && m.regions(op).is_empty() => AffineClass::Symbol,
            AffineClass::Symbol | AffineClass::Dim if is_affine => AffineClass::Dim,
            _ => AffineClass::Neither,
        }
    }

    fn is_top(&self, value: Value) -> bool {
        let region = self.m.def_block(value).and_then(|b| self.m.parent_region(b));
        region.is_some_and(|r| self.regions.contains(&r))
    }

    /// Returns the operands that determine the class of an op's result.
    fn inputs(&self, op: Op) -> ValueList {
        match self.m.has_trait(op, Traits::EXTENT) {
            true => extent_value(self.m, op).into_iter().collect(),
            false => self.m.operands(op).into(),
        }
    }

    /// Returns the class of a `dim` op that does not depend on operands: a symbol if the shaped value is at the top
    /// level of a scope or the extent is static.
    fn extent_class(&self, op: Op) -> Option<AffineClass> {
        let (m, shaped) = (self.m, *self.m.operands(op).first()?);
        if m.def_block(shaped).is_some_and(|b| is_scope(m, b)) {
            return Some(AffineClass::Symbol);
        }
        let Some((source, dim)) = memory_source(m, op) else { return Some(AffineClass::Neither) };
        match m.ctx.shape(m.value_type(m.result(source, 0))).and_then(|shape| shape.get(dim)) {
            None => Some(AffineClass::Neither),
            Some(&DYNAMIC) => None,
            Some(_) => Some(AffineClass::Symbol),
        }
    }
}

/// Returns the op that allocates or views the memref whose extent `op` returns, through casts, and the dimension.
fn memory_source(m: &Module, op: Op) -> Option<(Op, usize)> {
    let &[mut shaped, dim] = m.operands(op) else { return None };
    let dim = usize::try_from(m.constant_int(dim)?).ok()?;
    while let Some(cast) = memref::CastOp::defining(m, shaped) {
        shaped = cast.source(m);
        m.ctx.shape(m.value_type(shaped))?;
    }
    let known = memref::AllocOp::defining(m, shaped).is_some()
        || memref::ViewOp::defining(m, shaped).is_some()
        || memref::SubViewOp::defining(m, shaped).is_some();
    Some((m.defining_op(shaped).filter(|_| known)?, dim))
}

/// Returns the operand that defines the extent returned by `op`.
fn extent_value(m: &Module, op: Op) -> Option<Value> {
    let (source, dim) = memory_source(m, op)?;
    let shape = m.ctx.shape(m.value_type(m.result(source, 0)))?;
    let at = shape[..dim].iter().filter(|&&d| d == DYNAMIC).count();
    let sizes = memref::AllocOp::cast(m, source)
        .map(|alloc| alloc.dynamic_sizes(m))
        .or_else(|| memref::ViewOp::cast(m, source).map(|view| view.sizes(m)))
        .or_else(|| memref::SubViewOp::cast(m, source).map(|view| view.sizes(m)))?;
    sizes.get(at).copied()
}

/// Whether the value is a symbol in the scope of its definition.
pub(super) fn is_symbol(m: &Module, value: Value) -> bool {
    match m.def(value) {
        Def::Result(op, _) => Scope::around(m, op).is_symbol(value),
        Def::Arg(block, _) => m.value_type(value) == Type::INDEX && is_scope(m, block),
    }
}

/// Whether the value is a dimension in the scope of its definition.
pub(super) fn is_dim(m: &Module, value: Value) -> bool {
    match m.def(value) {
        Def::Result(op, _) => Scope::around(m, op).is_dim(value),
        Def::Arg(block, _) => m.value_type(value) == Type::INDEX && (is_scope(m, block) || is_induction_var(m, value)),
    }
}

/// Whether the block's parent op opens an affine scope.
fn is_scope(m: &Module, block: Block) -> bool {
    m.block_op(block).is_some_and(|op| m.info(op).is_none_or(|i| i.traits.has(Traits::AFFINE_SCOPE)))
}

/// Whether the value is an induction variable of an affine loop.
pub(super) fn is_induction_var(m: &Module, value: Value) -> bool {
    let Def::Arg(block, i) = m.def(value) else { return false };
    let Some(op) = m.block_op(block) else { return false };
    matches!(dim_values(m, op), Some(&DimValues::Args(count)) if i < count)
}

/// Verifies that operands are valid as dimensions (the first `num_dims`) and symbols.
pub(super) fn check_identifiers(m: &Module, op: Op, operands: &[Value], num_dims: u32) -> Result<(), Violation> {
    let mut scope = Scope::around(m, op);
    for (i, &operand) in operands.iter().enumerate() {
        if i < num_dims as usize {
            if !scope.is_dim(operand) {
                return Err("operand cannot be used as a dimension id".into());
            }
        } else if !scope.is_symbol(operand) {
            return Err("operand cannot be used as a symbol".into());
        }
    }
    Ok(())
}
