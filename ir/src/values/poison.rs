//! Evaluation on poison: the results of an op with poison operands, from its declaration.
//!
//! | declaration | results |
//! |---|---|
//! | [`Traits::SEES_POISON`] | as the op's semantics says |
//! | [`OpInfo::moves`] | the poison elements move with the others |
//! | elementwise, [`Traits::BROADCASTING`] | an element is poison if an element that it depends on is |
//! | other ops | all poison |
//!
//! An op that may be undefined behavior is so if it would be for some value of a poison element.

use crate::context::Context;
use crate::effects::Effects;
use crate::intern::Type;
use crate::module::Value;
use crate::op_info::{EvalFn, OpArgs, OpInfo};
use crate::traits::Traits;
use crate::types::{DYNAMIC, TypeData};
use crate::values::datum::Datum;
use crate::values::defined::{eval_defined, poison_results, same_shapes};
use crate::values::numbers::ints_to_tensor;
use crate::values::poison_tensor::{PoisonTensor, filled};
use crate::values::tensor::{Tensor, checked_len};
use crate::values::trap::Trap;

impl OpInfo {
    /// Whether each element of the results depends on the elements at the same index only.
    pub fn is_elementwise(&self) -> bool {
        self.scalar.is_some() || self.traits.has(Traits::ELEMENTWISE)
    }
}

impl Context {
    /// Returns poison of a type; with static extents it has as many poison elements.
    pub fn poison_of(&self, ty: Type) -> Datum {
        let shaped = || {
            let ty = self.repr(ty);
            let dtype = self.dtype(self.element_type(ty)).filter(|_| is_tensor(self, ty))?;
            let shape: Option<Vec<usize>> = self.static_shape(ty)?.iter().map(|&d| usize::try_from(d).ok()).collect();
            let shape = shape.filter(|shape| checked_len(shape).is_some_and(|n| n <= MAX_EXPANDED))?;
            PoisonTensor::all(dtype, &shape)
        };
        shaped().unwrap_or(Datum::Poison)
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
        let n = checked_len(&shape).filter(|&n| n <= MAX_PROBED)?;
        let dtype = self.dtype(self.element_type(ty))?;
        if dtype.is_float() {
            return Tensor::new(dtype, shape, vec![0; n * dtype.size()].into()).ok().map(Datum::Tensor);
        }
        Some(Datum::Tensor(ints_to_tensor(dtype, &shape, &vec![value; n])))
    }
}

fn is_tensor(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::Tensor { .. } | TypeData::Vector { .. })
}

/// Maximum number of elements of values that replace a poison operand.
const MAX_PROBED: usize = 1 << 12;

/// Maximum number of elements of a poison constant that has a mask.
const MAX_EXPANDED: usize = 1 << 26;

/// Evaluates an op on operands of which at least one has poison.
pub(crate) fn evaluate(args: &OpArgs<'_>, eval: EvalFn, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let info = args.info;
    let expanded = |(i, datum): (usize, &Datum)| match (datum, args.operands.get(i)) {
        (Datum::Poison, Some(&value)) => args.ctx().poison_of(args.module.value_type(value)),
        _ => datum.clone(),
    };
    let operands: Vec<Datum> = operands.iter().enumerate().map(expanded).collect();
    if info.traits.has(Traits::SEES_POISON) {
        return eval_defined(args, eval, &operands);
    }
    if let Some(is_ub) = info.poison_is_ub
        && (0..operands.len()).any(|i| operands[i].has_poison() && is_ub(args, i))
    {
        return Err(Trap::Ub("the op depends on a poison operand".into()));
    }
    let shaped = operands.iter().any(|d| d.shape().is_some());
    if !info.moves.is_empty() && moved_poison(args, &operands) {
        return moved(args, eval, &operands);
    }
    if shaped && info.is_elementwise() {
        let are_known = (0..operands.len()).all(|i| has_known_extents(args, i, &operands[i]));
        return match are_known && same_shapes(&operands) {
            true => elementwise(args, eval, &operands),
            false => Ok(poison_results(args)),
        };
    }
    if info.effects == Effects::MayUb {
        probe(args, eval, &mut operands.clone(), 0)?;
    }
    if info.traits.has(Traits::BROADCASTING) && operands.iter().all(|d| d.shape().is_some()) {
        return broadcast(args, eval, &operands);
    }
    Ok(poison_results(args))
}

/// Whether operand `i` has known extents: poison of a tensor with dynamic extents has none. Ops that combine elements
/// are evaluated on more values than they have operands; these are scalars.
fn has_known_extents(args: &OpArgs<'_>, i: usize, operand: &Datum) -> bool {
    let is_shaped = |&v: &Value| args.ctx().is_shaped(args.ctx().repr(args.module.value_type(v)));
    !matches!(operand, Datum::Poison) || !args.operands.get(i).is_some_and(is_shaped)
}

/// Whether all poison is in operands whose elements the op moves, and of known extents.
fn moved_poison(args: &OpArgs<'_>, operands: &[Datum]) -> bool {
    let moves = |i: usize| args.info.moves.iter().any(|group| args.operand_range(group).contains(&i));
    (0..operands.len()).all(|i| !operands[i].has_poison() || moves(i) && has_known_extents(args, i, &operands[i]))
}

/// Evaluates an op that moves elements: on the elements, on zeros, and on zeros with marks at the poison elements.
/// Result elements that differ between the last two are poison.
fn moved(args: &OpArgs<'_>, eval: EvalFn, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let mut runs = [operands.to_vec(), operands.to_vec(), operands.to_vec()];
    for group in args.info.moves {
        for i in args.operand_range(group) {
            let ty = args.ctx().repr(args.operand_type(i));
            let [values, zeros, marks] = &mut runs;
            (values[i], zeros[i], marks[i]) = stand_ins(args.ctx(), ty, &operands[i])?;
        }
    }
    let [values, zeros, marks] = runs;
    let results = eval_defined(args, eval, &values)?;
    let differ = eval(args, &zeros)?.into_iter().zip(eval(args, &marks)?);
    Ok(results.into_iter().zip(differ).map(|(result, (zeros, marks))| marked(result, &zeros, &marks)).collect())
}

/// Returns a value in place of a possibly poison one, zeros, and zeros with marks at the poison elements.
fn stand_ins(ctx: &Context, ty: Type, datum: &Datum) -> Result<(Datum, Datum, Datum), Trap> {
    if let Some((tensor, mask)) = datum.masked() {
        let zeros = vec![0; tensor.bytes().len()].into();
        let zeros = Tensor::new(tensor.dtype(), tensor.shape().to_vec(), zeros)?;
        let marks = mask.map_or_else(|| zeros.clone(), |mask| filled(&zeros, mask, || 1));
        return Ok((Datum::Tensor(tensor.clone()), Datum::Tensor(zeros), Datum::Tensor(marks)));
    }
    let unknown = || Trap::unsupported("poison of this type");
    let zero = ctx.splat_datum(ty, 0, None, 1).ok_or_else(unknown)?;
    let mark = if let Datum::Float(_) = zero { Some(Datum::Float(1.0)) } else { ctx.splat_datum(ty, -1, None, 1) };
    match datum {
        Datum::Poison => Ok((zero.clone(), zero, mark.ok_or_else(unknown)?)),
        scalar => Ok((scalar.clone(), zero.clone(), zero)),
    }
}

/// Returns a result that is poison where `zeros` and `marks` differ.
fn marked(result: Datum, zeros: &Datum, marks: &Datum) -> Datum {
    match (&result, zeros, marks) {
        // Poison of other extents than those of its type, which has no elements.
        (Datum::Tensor(tensor), Datum::Tensor(zeros), _) if tensor.shape() != zeros.shape() => result,
        (Datum::Tensor(tensor), Datum::Tensor(zeros), Datum::Tensor(marks)) => {
            let size = tensor.dtype().size();
            let pairs = zeros.bytes().chunks_exact(size).zip(marks.bytes().chunks_exact(size));
            PoisonTensor::datum(tensor.clone(), pairs.map(|(zero, mark)| zero != mark).collect())
        }
        (Datum::Int(_) | Datum::Float(_), zero, mark) if zero == mark => result,
        (Datum::PoisonTensor(_), ..) => result,
        _ => Datum::Poison,
    }
}

/// Evaluates an elementwise op on tensors and vectors of one shape; scalar operands belong to each element.
pub(crate) fn elementwise(args: &OpArgs<'_>, eval: EvalFn, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let len = operands.iter().find_map(Datum::masked).map_or(0, |(tensor, _)| tensor.len());
    let mut mask = vec![operands.contains(&Datum::Poison); len];
    for of in operands.iter().filter_map(|d| d.masked()?.1) {
        mask.iter_mut().zip(of).for_each(|(poison, &of)| *poison |= of);
    }
    if args.info.effects == Effects::MayUb || operands.contains(&Datum::Poison) {
        return rows(args, eval, operands, &mask);
    }
    let clean = |d: &Datum| d.masked().map_or_else(|| d.clone(), |(tensor, _)| Datum::Tensor(tensor.clone()));
    let results = eval_defined(args, eval, &operands.iter().map(clean).collect::<Vec<_>>())?;
    if results.contains(&Datum::Poison) {
        return rows(args, eval, operands, &mask);
    }
    Ok(results.into_iter().map(|result| with_mask(result, &mask)).collect())
}

/// Makes further elements of a tensor poison.
fn with_mask(result: Datum, mask: &[bool]) -> Datum {
    match result {
        Datum::Tensor(tensor) => PoisonTensor::datum(tensor, mask.to_vec()),
        Datum::PoisonTensor(poison) => {
            let both = poison.mask().iter().zip(mask).map(|(a, b)| a | b).collect();
            PoisonTensor::datum(poison.tensor().clone(), both)
        }
        other => other,
    }
}

/// Evaluates an elementwise op element by element, on tensors with extents of 1.
fn rows(args: &OpArgs<'_>, eval: EvalFn, operands: &[Datum], mask: &[bool]) -> Result<Vec<Datum>, Trap> {
    let shape = operands.iter().find_map(Datum::shape).unwrap_or(&[]);
    let ones = vec![1; shape.len()];
    let types: Vec<_> = args.result_types.iter().map(|&ty| args.ctx().dtype(args.ctx().element_type(ty))).collect();
    let dtypes: Option<Vec<_>> = types.into_iter().collect();
    let dtypes = dtypes.ok_or_else(|| Trap::unsupported("tensors of this element type"))?;
    let mut columns: Vec<_> = dtypes.iter().map(|_| (Vec::new(), Vec::with_capacity(mask.len()))).collect();
    for (i, &poison) in mask.iter().enumerate() {
        let row = operands.iter().map(|d| element(d, i, &ones)).collect::<Result<Vec<_>, Trap>>()?;
        let results = if !poison {
            eval(args, &row)?
        } else if args.info.effects == Effects::MayUb {
            probe(args, eval, &mut row.clone(), 0)?;
            vec![Datum::Poison; columns.len()]
        } else {
            vec![Datum::Poison; columns.len()]
        };
        for (((bytes, mask), &dtype), result) in columns.iter_mut().zip(&dtypes).zip(&results) {
            mask.push(result.has_poison());
            match result.masked() {
                Some((tensor, _)) => bytes.extend_from_slice(tensor.bytes()),
                None => bytes.resize(bytes.len() + dtype.size(), 0),
            }
        }
    }
    let whole = |((bytes, mask), dtype): ((Vec<u8>, Vec<bool>), _)| {
        Ok(PoisonTensor::datum(Tensor::new(dtype, shape.to_vec(), bytes.into())?, mask))
    };
    columns.into_iter().zip(dtypes).map(whole).collect()
}

/// Returns element `i` of a tensor as a tensor of extents `ones`; other values as they are.
fn element(datum: &Datum, i: usize, ones: &[usize]) -> Result<Datum, Trap> {
    let Some((tensor, mask)) = datum.masked() else { return Ok(datum.clone()) };
    let size = tensor.dtype().size();
    let one = Tensor::new(tensor.dtype(), ones.to_vec(), tensor.bytes().slice(i * size..(i + 1) * size))?;
    Ok(PoisonTensor::datum(one, vec![mask.is_some_and(|mask| mask[i])]))
}

/// Evaluates a broadcasting op on operands of known extents.
fn broadcast(args: &OpArgs<'_>, eval: EvalFn, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let clean = |d: &Datum| match d {
        Datum::PoisonTensor(poison) => Datum::Tensor(filled(poison.tensor(), poison.mask(), || 1)),
        other => other.clone(),
    };
    let mut found = eval_defined(args, eval, &operands.iter().map(clean).collect::<Vec<_>>())?;
    let [result] = &mut found[..] else { return Ok(poison_results(args)) };
    let Some(shape) = result.shape().map(<[usize]>::to_vec) else { return Ok(poison_results(args)) };
    for (tensor, of) in operands.iter().filter_map(Datum::masked) {
        let Some(of) = of else { continue };
        let mask: Vec<bool> = broadcast_indices(tensor.shape(), &shape).into_iter().map(|i| of[i]).collect();
        *result = with_mask(std::mem::replace(result, Datum::Poison), &mask);
    }
    Ok(found)
}

/// Returns for each element of the shape `to` the linear index of the element of `from` that is broadcast to it.
fn broadcast_indices(from: &[usize], to: &[usize]) -> Vec<usize> {
    let mut indices = vec![0];
    for (dim, &extent) in to.iter().enumerate() {
        let own = (dim + from.len()).checked_sub(to.len()).map_or(1, |i| from[i]);
        let at = |n: usize, i: usize| if own == 1 { n } else { n * own + i };
        indices = indices.iter().flat_map(|&n| (0..extent).map(move |i| at(n, i))).collect();
    }
    indices
}

/// Evaluates the op with numbers for the poison operands and elements from operand `from` on: an invalid divisor, an
/// invalid index, and the minimum, which cannot be negated. Returns an error if the op is undefined behavior for one of
/// them, or if that is not known because a limit is exceeded.
fn probe(args: &OpArgs<'_>, eval: EvalFn, operands: &mut [Datum], from: usize) -> Result<(), Trap> {
    let Some(i) = (from..operands.len()).find(|&i| operands[i].has_poison()) else {
        return match eval_defined(args, eval, operands) {
            Ok(_) | Err(Trap::Abort(_)) => Ok(()),
            Err(trap) => Err(trap),
        };
    };
    let (poison, mut unknown) = (operands[i].clone(), Ok(()));
    for candidate in candidates(args, operands, i)? {
        operands[i] = candidate;
        match probe(args, eval, operands, i + 1) {
            Err(Trap::Ub(reason)) => return Err(Trap::Ub(reason)),
            other => unknown = unknown.and(other),
        }
    }
    operands[i] = poison;
    unknown
}

/// Returns the values that replace poison operand `i`; none if its type has none.
fn candidates(args: &OpArgs<'_>, operands: &[Datum], i: usize) -> Result<Vec<Datum>, Trap> {
    let ctx = args.ctx();
    let ty = ctx.repr(args.operand_type(i));
    if matches!(ctx.type_data(ty), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. }) {
        return Err(Trap::Ub("a memref is poison".into()));
    }
    let least =
        ctx.int_width(ctx.element_type(ty)).filter(|width| (1..=64).contains(width)).map(|width| -1 << (width - 1));
    let numbers = [Some(0), Some(-1), least].into_iter().flatten();
    if let Some((tensor, Some(mask))) = operands[i].masked() {
        let integers = !tensor.dtype().is_float();
        let with = |number: i64| with_numbers(tensor, mask, number);
        return Ok(numbers.filter(|&n| n == 0 || integers).filter_map(with).collect());
    }
    // The other operands give the dynamic extents.
    let like = operands.iter().find_map(Datum::shape).map(<[usize]>::to_vec);
    // Without them two extents are tried, one of which differs from any static extent.
    let open = like.is_none() && ctx.shape(ty).is_some_and(|shape| shape.contains(&DYNAMIC));
    let opens = if open { 1..=2 } else { 1..=1 };
    let pairs = numbers.flat_map(|number| opens.clone().map(move |open| (number, open)));
    Ok(pairs.filter_map(|(number, open)| ctx.splat_datum(ty, number, like.as_deref(), open)).collect())
}

/// Returns a tensor with a number for its poison elements; `None` if it is too large.
fn with_numbers(tensor: &Tensor, mask: &[bool], number: i64) -> Option<Datum> {
    if tensor.len() > MAX_PROBED || number == 0 {
        return (tensor.len() <= MAX_PROBED).then(|| Datum::Tensor(tensor.clone()));
    }
    let splat = ints_to_tensor(tensor.dtype(), tensor.shape(), &vec![number; tensor.len()]);
    let size = tensor.dtype().size();
    let mut bytes = tensor.bytes().to_vec();
    let elements = bytes.chunks_exact_mut(size).zip(splat.bytes().chunks_exact(size)).zip(mask);
    elements.filter(|(_, poison)| **poison).for_each(|((element, number), _)| element.copy_from_slice(number));
    Tensor::new(tensor.dtype(), tensor.shape().to_vec(), bytes.into()).ok().map(Datum::Tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_broadcast() {
        assert_eq!(broadcast_indices(&[3], &[2, 3]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(broadcast_indices(&[2, 1], &[2, 3]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(broadcast_indices(&[], &[2]), [0, 0]);
        assert_eq!(broadcast_indices(&[1, 4], &[0, 4]), [0usize; 0]);
    }
}
