//! What values are when a program is executed.
//!
//! An op's meaning is the `eval` of its declaration: a function from [`Datum`]s to [`Datum`]s. Poison is a value; the
//! functions never see it, since an op with a poison operand gives poison unless its declaration says otherwise.

use crate::attrs::{AttrData, Int};
use crate::context::{Attr, Context, Type};
use crate::effects::Effects;
use crate::memory::MemRef;
use crate::op_info::{EvalFn, OpArgs, Traits};
use crate::tensor::{DType, Tensor};
use crate::types::{DYNAMIC, TypeData};

/// A run-time value.
#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    /// The result of broken promises, such as an overflow under `nsw`.
    Poison,
    /// An integer or `index` of at most 64 bits: sign-extended, zero-extended for unsigned types.
    Int(i64),
    /// A float of any type that `f64` holds exactly.
    Float(f64),
    /// A tensor or vector.
    Tensor(Tensor),
    /// A view of memory.
    MemRef(Box<MemRef>),
}

/// Why execution stopped without a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// The program has no meaning here: undefined behaviour, with the reason.
    Ub(String),
    /// The program stops itself, with the reason.
    Abort(String),
    /// It was given up: too many ops, or too many nested calls.
    Limit(String),
    /// The evaluator cannot do it (a type it does not know, too much memory), with the reason.
    Unsupported(String),
}

impl Trap {
    /// An op used in a way that its evaluation does not cover.
    pub fn unsupported(reason: impl Into<String>) -> Trap {
        Trap::Unsupported(reason.into())
    }
}

impl From<String> for Trap {
    fn from(reason: String) -> Trap {
        Trap::Unsupported(reason)
    }
}

impl std::fmt::Display for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trap::Ub(reason) => write!(f, "undefined behavior: {reason}"),
            Trap::Abort(reason) => write!(f, "aborted: {reason}"),
            Trap::Limit(reason) => write!(f, "given up: {reason}"),
            Trap::Unsupported(reason) => write!(f, "cannot be executed: {reason}"),
        }
    }
}

impl Datum {
    /// The integer. An error for anything else: the program was not verified.
    pub fn int(&self) -> Result<i64, Trap> {
        match self {
            Datum::Int(v) => Ok(*v),
            other => Err(Trap::unsupported(format!("expected an integer, found {other:?}"))),
        }
    }

    /// The integer that decides what runs next. Poison there is undefined behaviour.
    pub fn decide(&self) -> Result<i64, Trap> {
        match self {
            Datum::Poison => Err(Trap::Ub("control flow depends on poison".into())),
            other => other.int(),
        }
    }

    /// The float.
    pub fn float(&self) -> Result<f64, Trap> {
        match self {
            Datum::Float(v) => Ok(*v),
            other => Err(Trap::unsupported(format!("expected a float, found {other:?}"))),
        }
    }

    /// Whether it is or holds a float that is no number. Which bits that has is not defined.
    pub fn has_nan(&self) -> bool {
        match self {
            Datum::Float(v) => v.is_nan(),
            Datum::Tensor(t) => t.dtype().is_float() && t.to_f64().into_iter().any(f64::is_nan),
            _ => false,
        }
    }

    /// The view of memory. Poison is undefined behaviour, as the address of an access is.
    pub fn memref(&self) -> Result<&MemRef, Trap> {
        match self {
            Datum::MemRef(view) => Ok(view),
            Datum::Poison => Err(Trap::Ub("an access to memory at a poison address".into())),
            other => Err(Trap::unsupported(format!("expected a memref, found {other:?}"))),
        }
    }

    /// The elements of a tensor or vector, last dimension fastest; `None` when they are of a type without scalar values.
    pub fn elements(&self) -> Option<Vec<Datum>> {
        let Datum::Tensor(tensor) = self else { return None };
        if tensor.dtype().is_float() {
            return Some(tensor.to_f64().into_iter().map(Datum::Float).collect());
        }
        // One bit is its own sign, as it is for scalars.
        let sign = if tensor.dtype() == DType::Bool { -1 } else { 1 };
        Some(tensor.to_i64()?.into_iter().map(|v| Datum::Int(v * sign)).collect())
    }

    /// The tensor.
    pub fn tensor(&self) -> Result<&Tensor, Trap> {
        match self {
            Datum::Tensor(t) => Ok(t),
            other => Err(Trap::unsupported(format!("expected a tensor, found {other:?}"))),
        }
    }
}

impl Context {
    /// The value of a constant's attribute; `None` for attributes that evaluation does not know.
    pub fn attr_datum(&self, attr: Attr) -> Option<Datum> {
        match self.attr_data(attr) {
            AttrData::Integer { value: Int::Small(v), .. } => Some(Datum::Int(*v)),
            AttrData::Float { .. } => self.as_float(attr).map(Datum::Float),
            AttrData::Dense(_) => self.dense_tensor(attr).map(Datum::Tensor),
            AttrData::Dialect { .. } if attr == self.poison_attr() => Some(Datum::Poison),
            _ => None,
        }
    }

    /// How the text spells poison: a constant with this value is poison.
    pub fn poison_attr(&self) -> Attr {
        self.default_attr("#ub.poison")
    }

    /// The attribute of a value of type `ty`; `None` for a value that is not of that type.
    pub fn datum_attr(&self, ty: Type, datum: &Datum) -> Option<Attr> {
        match datum {
            Datum::Poison => Some(self.poison_attr()),
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

    /// Whether a value, if it is a tensor, has the extents that a type says.
    fn has_shape(&self, ty: Type, value: &Datum) -> bool {
        let (Datum::Tensor(tensor), Some(shape)) = (value, self.shape(ty)) else { return true };
        let fits = |(&want, &have): (&i64, &usize)| want < 0 || want as u64 == have as u64;
        shape.len() == tensor.shape().len() && shape.iter().zip(tensor.shape()).all(fits)
    }

    /// The integer, wrapped to the type, or the vector or tensor of only that, with the extents of `like` where they are open,
    /// or else `open`, and of rank 0 where even that is; of floats, zero. `None` for types of other things, or of many.
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

    /// Whether evaluation knows values of the type.
    pub fn can_evaluate(&self, ty: Type) -> bool {
        self.dtype(self.element_type(ty)).is_some() || self.int_width(ty).is_some_and(|w| w <= 64)
    }
}

/// Runs an op's meaning with poison handled: an op with a poison operand gives poison in every result. Where it would be
/// undefined if the poison were some number, it is undefined.
pub fn eval_op(args: &OpArgs<'_>, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let Some(eval) = args.info.eval else {
        return Err(Trap::unsupported(format!("'{}' has no executable meaning", args.info.name)));
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

/// What it is of operands that are not poison. Results have the extents that their types say.
fn eval_defined(args: &OpArgs<'_>, eval: EvalFn, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let results = eval(args, operands)?;
    let mismatch = results.iter().zip(args.result_types).find(|(result, ty)| !args.ctx().has_shape(**ty, result));
    match mismatch {
        None => Ok(results),
        Some((result, &ty)) if args.info.effects == Effects::MayUb => {
            let (shape, ty) = (result.tensor()?.shape(), args.ctx().display_type(ty));
            Err(Trap::Ub(format!("the result has extents {shape:?}, but is a {ty}")))
        }
        // It may run earlier than where the program says, where its operands need not go together.
        Some(_) => Ok(vec![Datum::Poison; args.result_types.len()]),
    }
}

/// Whether all tensors have the same extents: elements that have no counterpart give nothing that is defined.
fn same_shapes(operands: &[Datum]) -> bool {
    let mut shapes = operands.iter().filter_map(|d| if let Datum::Tensor(t) = d { Some(t.shape()) } else { None });
    let first = shapes.next();
    shapes.all(|shape| Some(shape) == first)
}

/// Vectors of more elements are not made to try what poison could be.
const MAX_PROBED: usize = 1 << 12;

/// Tries numbers for the poison operands from number `from` on: what is no divisor, what is no index, and what has no
/// negation. An error if the op is undefined for one.
fn probe(args: &OpArgs<'_>, eval: EvalFn, operands: &mut [Datum], from: usize) -> Result<(), Trap> {
    let next = (from..operands.len()).find(|&i| operands[i] == Datum::Poison);
    let Some(i) = next else {
        return match eval_defined(args, eval, operands) {
            Err(Trap::Ub(reason)) => Err(Trap::Ub(reason)),
            _ => Ok(()),
        };
    };
    let ctx = args.ctx();
    let ty = args.operand_type(i);
    if matches!(ctx.type_data(ty), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. }) {
        return Err(Trap::Ub("a memref is poison".into()));
    }
    let least =
        ctx.int_width(ctx.element_type(ty)).filter(|width| (1..=64).contains(width)).map(|width| -1 << (width - 1));
    // The others say how large a tensor of open size would be.
    let like = operands.iter().find_map(|d| if let Datum::Tensor(t) = d { Some(t.shape().to_vec()) } else { None });
    // One of these is not what another type says.
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

/// Applies a function of scalars to scalars or, element by element, to tensors and vectors of integers.
pub fn map_int(
    args: &[Datum],
    out: Option<DType>,
    f: impl Fn(&[i64]) -> Result<Option<i64>, Trap>,
) -> Result<Datum, Trap> {
    let Some(Datum::Tensor(first)) = args.iter().find(|a| matches!(a, Datum::Tensor(_))) else {
        let ints: Result<Vec<i64>, Trap> = args.iter().map(Datum::int).collect();
        return Ok(f(&ints?)?.map_or(Datum::Poison, Datum::Int));
    };
    let columns: Result<Vec<Vec<i64>>, Trap> = args
        .iter()
        .map(|a| {
            let tensor = a.tensor()?;
            let mut ints = tensor.to_i64().ok_or_else(|| Trap::unsupported("expected a tensor of integers"))?;
            if tensor.dtype() == DType::Bool {
                // One bit is its own sign, as it is for scalars.
                ints.iter_mut().for_each(|v| *v = -*v);
            }
            Ok(ints)
        })
        .collect();
    let columns = columns?;
    let mut row = vec![0; columns.len()];
    let mut result = Vec::with_capacity(first.len());
    for i in 0..first.len() {
        for (cell, column) in row.iter_mut().zip(&columns) {
            *cell = *column.get(i).ok_or_else(|| Trap::unsupported("tensors of different shapes"))?;
        }
        match f(&row)? {
            Some(v) => result.push(v),
            None => return Ok(Datum::Poison),
        }
    }
    let dtype = out.unwrap_or(first.dtype());
    Ok(Datum::Tensor(ints_to_tensor(dtype, first.shape(), &result)))
}

/// The tensor of `values`, each wrapped to the integer type.
pub fn ints_to_tensor(dtype: DType, shape: &[usize], values: &[i64]) -> Tensor {
    match dtype {
        DType::Bool => Tensor::from_bools(shape, values.iter().map(|&v| (v & 1) as u8).collect()),
        DType::I8 => Tensor::from_vec(shape, values.iter().map(|&v| v as i8).collect()),
        DType::U8 => Tensor::from_vec(shape, values.iter().map(|&v| v as u8).collect()),
        DType::I16 => Tensor::from_vec(shape, values.iter().map(|&v| v as i16).collect()),
        DType::U16 => Tensor::from_vec(shape, values.iter().map(|&v| v as u16).collect()),
        DType::I32 => Tensor::from_vec(shape, values.iter().map(|&v| v as i32).collect()),
        DType::U32 => Tensor::from_vec(shape, values.iter().map(|&v| v as u32).collect()),
        DType::U64 => Tensor::from_vec(shape, values.iter().map(|&v| v as u64).collect()),
        narrow if narrow.is_narrow() => Tensor::from_bits(narrow, shape, values.iter().map(|&v| v as u8).collect()),
        _ => Tensor::from_vec(shape, values.to_vec()),
    }
}

/// The tensor of `values`, each rounded to the float type.
pub fn floats_to_tensor(dtype: DType, shape: &[usize], values: Vec<f64>) -> Tensor {
    match (dtype, dtype.float_kind()) {
        (DType::F16, _) => Tensor::from_vec(shape, values.iter().map(|&v| half::f16::from_f64(v)).collect()),
        (DType::BF16, _) => Tensor::from_vec(shape, values.iter().map(|&v| half::bf16::from_f64(v)).collect()),
        (DType::F32, _) => Tensor::from_vec(shape, values.iter().map(|&v| v as f32).collect()),
        (narrow, Some(kind)) if narrow.is_narrow() => {
            let bits = |&v: &f64| crate::float::from_f64(kind, v) as u8;
            Tensor::from_bits(narrow, shape, values.iter().map(bits).collect())
        }
        _ => Tensor::from_vec(shape, values),
    }
}
