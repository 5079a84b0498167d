//! Evaluation of ops on run-time values.
//!
//! An op's semantics is the `eval` of its declaration, a function of [`Datum`]s. These functions see no poison unless the
//! op declares [`Traits::SEES_POISON`]; `poison.rs` derives the results for poison operands.

use crate::attrs::{AttrData, Int};
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::op_info::OpArgs;
use crate::traits::Traits;
use crate::types::TypeData;
pub use crate::values::datum::{Datum, map_int};
pub use crate::values::defined::check_results;
use crate::values::defined::{eval_defined, poison_results, same_shapes};
use crate::values::memory::Memory;
pub use crate::values::numbers::{floats_to_tensor, ints_to_tensor};
use crate::values::poison;
pub use crate::values::poison_tensor::PoisonTensor;
pub use crate::values::trap::Trap;

impl Context {
    /// Returns the value of a constant's attribute; `None` if the evaluator does not support it.
    pub fn attr_datum(&self, attr: Attr) -> Option<Datum> {
        match self.attr_data(attr) {
            AttrData::Integer { value: Int::Small(v), .. } => Some(Datum::Int(*v)),
            AttrData::Float { .. } => self.as_float(attr).map(Datum::Float),
            AttrData::Dense(_) | AttrData::Sparse { .. } => {
                self.dense_tensor(attr).or_else(|| self.scalable_tensor(attr)).map(Datum::Tensor)
            }
            AttrData::Dialect { .. } if attr == self.poison_attr() => Some(Datum::Poison),
            AttrData::Declared { .. } => self.attr_info(attr)?.value?(&self.attr_params(attr)?),
            _ => None,
        }
    }

    /// Returns the attribute of poison constants.
    pub fn poison_attr(&self) -> Attr {
        self.default_attr("#ub.poison")
    }

    /// Returns the attribute for a value of type `ty`; `None` if the value is not of that type.
    pub fn datum_attr(&self, ty: Type, datum: &Datum) -> Option<Attr> {
        if datum.is_all_poison() {
            return Some(self.poison_attr());
        }
        if let Some((info, params)) = self.declared(ty) {
            return info.constant?(&params, datum);
        }
        match datum {
            Datum::Int(v) if self.int_width(ty).is_some() => Some(self.int_attr(ty, *v)),
            Datum::Float(v) if self.float_kind(ty).is_some() => Some(self.float_attr(ty, *v)),
            Datum::Tensor(t) => {
                let shape = self.static_shape(ty)?;
                let fits = shape.iter().map(|&d| d as usize).eq(t.shape().iter().copied())
                    && self.dtype(self.element_type(ty)) == Some(t.dtype());
                fits.then(|| self.dense_attr(ty, t))
            }
            _ => None,
        }
    }

    /// Returns the type as whose values the values of a type are computed: the type itself, unless it is a declared one
    /// with a `repr`.
    pub fn repr(&self, ty: Type) -> Type {
        self.declared(ty).and_then(|(info, params)| Some(info.repr?(&params))).unwrap_or(ty)
    }

    /// Whether a value is of the kind of a type: an integer, a float, a tensor of its element type, a memref, or a value of
    /// a declared type.
    pub(crate) fn has_kind(&self, ty: Type, value: &Datum) -> bool {
        match value {
            Datum::Poison => true,
            _ if matches!(self.type_data(ty), TypeData::Declared { .. }) => self.is_of_declared(ty, value),
            Datum::Int(_) => self.int_width(ty).is_some() || !self.is_evaluated(ty),
            Datum::Float(_) => self.float_kind(ty).is_some() || !self.is_evaluated(ty),
            Datum::Tensor(_) | Datum::PoisonTensor(_) => {
                let dtype = value.masked().map(|(tensor, _)| tensor.dtype());
                self.is_shaped(ty) && self.dtype(self.element_type(ty)) == dtype
            }
            Datum::MemRef(_) => matches!(self.type_data(ty), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. }),
            Datum::Own(_) => !self.is_evaluated(ty),
        }
    }

    /// Whether a value is one of a declared type.
    fn is_of_declared(&self, ty: Type, value: &Datum) -> bool {
        let Some((info, params)) = self.declared(ty) else { return true };
        info.contains.is_none_or(|contains| contains(&params, value))
            && info.repr.is_none_or(|repr| self.has_kind(repr(&params), value))
    }

    /// Whether values of the type are integers, floats, tensors or memrefs, rather than defined by a dialect.
    fn is_evaluated(&self, ty: Type) -> bool {
        !matches!(self.type_data(ty), TypeData::Dialect { .. })
    }

    /// Whether a value matches the shape of a type; scalars always do.
    pub fn has_shape(&self, ty: Type, value: &Datum) -> bool {
        let (Some(have), Some(want)) = (value.shape(), self.executed_shape(self.repr(ty))) else { return true };
        let fits = |(&want, &have): (&i64, &usize)| want < 0 || want as u64 == have as u64;
        want.len() == have.len() && want.iter().zip(have).all(fits)
    }

    /// Whether a value is one of a type: of its kind and its shape.
    pub fn is_value(&self, ty: Type, value: &Datum) -> bool {
        self.has_kind(ty, value) && self.has_shape(ty, value)
    }
}

/// Evaluates an op. Poison operands are treated as the op's declaration says, see [`OpInfo::moves`](crate::OpInfo::moves)
/// and [`Traits::SEES_POISON`].
pub fn eval_op(args: &OpArgs<'_>, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let Some(eval) = args.info.eval else {
        return Err(Trap::unknown(format!("'{}' has no executable semantics", args.info.name)));
    };
    if operands.iter().any(Datum::has_poison) && !args.info.traits.has(Traits::TERMINATOR) {
        return poison::evaluate(args, eval, operands);
    }
    if [Traits::SAME_TYPE, Traits::ELEMENTWISE].into_iter().any(|t| args.info.traits.has(t)) && !same_shapes(operands) {
        return Ok(poison_results(args));
    }
    let results = eval_defined(args, eval, operands)?;
    let whole = results.contains(&Datum::Poison) && args.info.is_elementwise();
    if whole && operands.iter().any(|operand| operand.shape().is_some()) {
        // One poison element does not make the others poison.
        return poison::elementwise(args, eval, operands);
    }
    Ok(results)
}

/// Evaluates an op declared by a [`ScalarFn`](crate::ScalarFn): its `eval`.
pub fn evaluate_scalar(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let scalar = args.info.scalar.ok_or_else(|| Trap::unsupported("an op that computes no number"))?;
    Ok(vec![scalar(args)?.map(data)?])
}

/// Executes an op declared by an [`ElementAccessFn`](crate::ElementAccessFn): its `exec`.
pub fn execute_access(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let access = args.info.access.ok_or_else(|| Trap::unsupported("an op that accesses no element"))?;
    match (access(args)?, data) {
        (access, [value, to, at @ ..]) if access.writes => {
            access.store(value.clone(), to, at.iter(), memory).map(|()| Vec::new())
        }
        (access, [from, at @ ..]) if !access.writes => Ok(vec![access.load(from, at.iter(), memory)?]),
        _ => Err(Trap::unsupported("an access without operands")),
    }
}
