//! Evaluation of ops on run-time values.
//!
//! An op's semantics is the `eval` of its declaration, a function of [`Datum`]s. Poison is a value that these functions
//! never see: an op with a poison operand results in poison unless its declaration says otherwise.

use crate::attrs::{AttrData, Int};
use crate::context::Context;
pub use crate::datum::{Datum, floats_to_tensor, ints_to_tensor, map_int};
use crate::effects::Effects;
use crate::intern::{Attr, Type};
use crate::memory::Memory;
use crate::op_info::{EvalFn, OpArgs};
use crate::tensor::Tensor;
use crate::traits::Traits;
pub use crate::trap::Trap;
use crate::types::{DYNAMIC, TypeData};

impl Context {
    /// Returns the value of a constant's attribute; `None` if the evaluator does not support it.
    pub fn attr_datum(&self, attr: Attr) -> Option<Datum> {
        match self.attr_data(attr) {
            AttrData::Integer { value: Int::Small(v), .. } => Some(Datum::Int(*v)),
            AttrData::Float { .. } => self.as_float(attr).map(Datum::Float),
            AttrData::Dense(_) => self.dense_tensor(attr).map(Datum::Tensor),
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
        if *datum == Datum::Poison {
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
    fn has_kind(&self, ty: Type, value: &Datum) -> bool {
        match value {
            Datum::Poison => true,
            _ if matches!(self.type_data(ty), TypeData::Declared { .. }) => self.is_of_declared(ty, value),
            Datum::Int(_) => self.int_width(ty).is_some() || !self.is_evaluated(ty),
            Datum::Float(_) => self.float_kind(ty).is_some() || !self.is_evaluated(ty),
            Datum::Tensor(tensor) => self.is_shaped(ty) && self.dtype(self.element_type(ty)) == Some(tensor.dtype()),
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
        let (Datum::Tensor(tensor), Some(shape)) = (value, self.shape(self.repr(ty))) else { return true };
        let fits = |(&want, &have): (&i64, &usize)| want < 0 || want as u64 == have as u64;
        shape.len() == tensor.shape().len() && shape.iter().zip(tensor.shape()).all(fits)
    }

    /// Whether a value is one of a type: of its kind and its shape.
    pub fn is_value(&self, ty: Type, value: &Datum) -> bool {
        self.has_kind(ty, value) && self.has_shape(ty, value)
    }

    /// Returns the integer wrapped to the type, or its splat: dynamic extents are those of `like`, else `open`;
    /// unranked tensors have rank 0. For floats, zero. `None` for other or too large types.
    fn splat_datum(&self, ty: Type, value: i64, like: Option<&[usize]>, open: usize) -> Option<Datum> {
        if let Some(width) = self.int_width(ty).filter(|width| (1..=64).contains(width)) {
            let shift = 64 - width;
            let unsigned = self.is_unsigned(ty);
            let zero_extended = ((value << shift).cast_unsigned() >> shift).cast_signed();
            return Some(Datum::Int(if unsigned { zero_extended } else { value << shift >> shift }));
        }
        if self.float_kind(ty).is_some() {
            return Some(Datum::Float(0.0));
        }
        let extent = |(i, &d): (usize, &i64)| match usize::try_from(d) {
            Ok(known) => known,
            Err(_) => like.and_then(|like| like.get(i).copied()).unwrap_or(open),
        };
        let shape: Vec<usize> = self.shape(ty).unwrap_or_default().iter().enumerate().map(extent).collect();
        let n = crate::tensor::checked_len(&shape).filter(|&n| n <= MAX_PROBED)?;
        let dtype = self.dtype(self.element_type(ty))?;
        if dtype.is_float() {
            return Tensor::new(dtype, shape, vec![0; n * dtype.size()].into()).ok().map(Datum::Tensor);
        }
        Some(Datum::Tensor(ints_to_tensor(dtype, &shape, &vec![value; n])))
    }
}

/// Evaluates an op with poison semantics: a poison operand makes every result poison, or the op is undefined behavior
/// if it would be for some value of that operand.
pub fn eval_op(args: &OpArgs<'_>, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let Some(eval) = args.info.eval else {
        return Err(Trap::unsupported(format!("'{}' has no executable semantics", args.info.name)));
    };
    if operands.contains_poison() && !args.info.traits.has(Traits::TERMINATOR) {
        if args.info.effects == Effects::MayUb {
            probe(args, eval, &mut operands.to_vec(), 0)?;
        }
        return Ok(vec![Datum::Poison; args.result_types.len()]);
    }
    if [Traits::SAME_TYPE, Traits::ELEMENTWISE].into_iter().any(|t| args.info.traits.has(t)) && !same_shapes(operands) {
        return Ok(vec![Datum::Poison; args.result_types.len()]);
    }
    eval_defined(args, eval, operands)
}

/// Checks the number and types of result values. An error is a mistake in the declaration.
pub fn check_results(args: &OpArgs<'_>, results: &[Datum]) -> Result<(), Trap> {
    let (ctx, info) = (args.ctx(), args.info);
    // These values are not those of the op's results.
    if info.traits.has(Traits::TERMINATOR) || info.traits.has(Traits::COMBINING) {
        return Ok(());
    }
    let (found, wanted) = (results.len(), args.result_types.len());
    if found != wanted {
        return Err(Trap::unsupported(format!("its semantics give {found} values for {wanted} results")));
    }
    match results.iter().zip(args.result_types).find(|(result, ty)| !ctx.has_kind(**ty, result)) {
        None => Ok(()),
        Some((result, &ty)) => {
            let (kind, ty) = (result.kind(), ctx.display_type(ty));
            Err(Trap::unsupported(format!("its semantics give {kind} for a result of type '{ty}'")))
        }
    }
}

/// Evaluates an op on operands without poison. Checks the results against the shapes of their types.
fn eval_defined(args: &OpArgs<'_>, eval: EvalFn, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let results = eval(args, operands)?;
    check_results(args, &results)?;
    let mismatch = results.iter().zip(args.result_types).find(|(result, ty)| !args.ctx().has_shape(**ty, result));
    match mismatch {
        None => Ok(results),
        Some((result, &ty)) if args.info.effects == Effects::MayUb => {
            let (shape, ty) = (result.tensor()?.shape(), args.ctx().display_type(ty));
            Err(Trap::Ub(format!("the result has extents {shape:?}, but is a {ty}")))
        }
        // The op may be hoisted to where its operands' shapes do not match.
        Some(_) => Ok(vec![Datum::Poison; args.result_types.len()]),
    }
}

/// Whether all tensors have the same shape: results for unmatched elements are undefined.
fn same_shapes(operands: &[Datum]) -> bool {
    let mut shapes = operands.iter().filter_map(|d| if let Datum::Tensor(t) = d { Some(t.shape()) } else { None });
    let first = shapes.next();
    shapes.all(|shape| Some(shape) == first)
}

/// Maximum number of elements of values that replace a poison operand.
const MAX_PROBED: usize = 1 << 12;

/// Evaluates the op with numbers for the poison operands from index `from` on: an invalid divisor, an invalid index,
/// and the minimum, which cannot be negated. Returns an error if the op is undefined behavior for one of them.
fn probe(args: &OpArgs<'_>, eval: EvalFn, operands: &mut [Datum], from: usize) -> Result<(), Trap> {
    let next = (from..operands.len()).find(|&i| operands[i] == Datum::Poison);
    let Some(i) = next else {
        return match eval_defined(args, eval, operands) {
            Err(Trap::Ub(reason)) => Err(Trap::Ub(reason)),
            _ => Ok(()),
        };
    };
    let ctx = args.ctx();
    let ty = ctx.repr(args.operand_type(i));
    if matches!(ctx.type_data(ty), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. }) {
        return Err(Trap::Ub("a memref is poison".into()));
    }
    let least =
        ctx.int_width(ctx.element_type(ty)).filter(|width| (1..=64).contains(width)).map(|width| -1 << (width - 1));
    // The other operands give the dynamic extents.
    let like = operands.iter().find_map(|d| if let Datum::Tensor(t) = d { Some(t.shape().to_vec()) } else { None });
    // Without them two extents are tried, one of which differs from any static extent.
    let opens =
        if like.is_none() && ctx.shape(ty).is_some_and(|shape| shape.contains(&DYNAMIC)) { 1..=2 } else { 1..=1 };
    for number in [Some(0), Some(-1), least].into_iter().flatten() {
        for open in opens.clone() {
            let Some(datum) = ctx.splat_datum(ty, number, like.as_deref(), open) else { return Ok(()) };
            operands[i] = datum;
            probe(args, eval, operands, i + 1)?;
        }
    }
    operands[i] = Datum::Poison;
    Ok(())
}

trait ContainsPoison {
    fn contains_poison(&self) -> bool;
}

impl ContainsPoison for [Datum] {
    fn contains_poison(&self) -> bool {
        self.iter().any(|d| matches!(d, Datum::Poison))
    }
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
