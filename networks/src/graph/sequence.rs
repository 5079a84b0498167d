//! Sequences of tensors. Negative positions count from the end; positions outside trap.

use super::args::{Inputs, int, one};
use super::{ELEM_TYPE, GENERIC, infer};
use gradus_dialects::constraint::{I64, INT_TENSOR, TENSOR};
use gradus_dialects::tensor::general;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::random::Random;
use gradus_ir::{
    AttrKind, AttrText, Context, DYNAMIC, Module, Op, OpArgs, OpDecl, OpInfo, OwnValue, ParamArgs, Tensor, Type,
    TypeData, TypeDecl, TypeInfo, Value, Violation, op, ty,
};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::normalize_axis;
use std::fmt;

/// A tensor type as a parameter.
const TENSOR_TYPE: AttrKind = AttrKind {
    summary: "tensor type",
    check: |c, a| c.as_type(a).is_some_and(|t| (TENSOR.check)(c, t)),
    text: AttrText::Type,
};

/// A sequence of tensors.
///
/// Its elements have the element type of the parameter, and the extents that this has; open ones may differ between elements.
#[ty("graph.sequence", contains = contains, draw = draw, examples = &["tensor<4xf32>", "tensor<?x3xi64>", "tensor<*xf32>"])]
pub struct SequenceType {
    /// The type of the elements.
    element: Param<TENSOR_TYPE>,
}

impl SequenceType {
    /// Returns the type of the elements of a sequence type; `None` for other types.
    pub fn element_of(ctx: &Context, ty: Type) -> Option<Type> {
        SequenceType::cast(ctx, ty)?.params(ctx).ty("element")
    }

    /// Returns the type of sequences of tensors of a type.
    pub fn of(ctx: &Context, element: Type) -> Type {
        SequenceType::get(ctx, ctx.type_attr(element)).map_or(Type::NONE, |ty| ty.0)
    }
}

/// The value of a sequence.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TensorSequence(pub Vec<Tensor>);

impl OwnValue for TensorSequence {
    fn parts(&self) -> Option<&[Tensor]> {
        Some(&self.0)
    }
}

impl fmt::Display for TensorSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, tensor) in self.0.iter().enumerate() {
            write!(f, "{}{tensor:?}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

/// Whether a tensor is of a tensor type.
fn is_of(ctx: &Context, tensor: &Tensor, ty: Type) -> bool {
    let fits = |(&want, &have): (&i64, &usize)| want == DYNAMIC || infer::known(want) == Some(have);
    ctx.dtype(ctx.element_type(ty)) == Some(tensor.dtype())
        && ctx.shape(ty).is_none_or(|shape| shape.len() == tensor.rank() && shape.iter().zip(tensor.shape()).all(fits))
}

fn contains(params: &ParamArgs<'_>, value: &Datum) -> bool {
    let Some(element) = params.ty("element") else { return false };
    value.as_own::<TensorSequence>().is_ok_and(|s| s.0.iter().all(|tensor| is_of(params.ctx, tensor, element)))
}

/// Most elements, and largest open extent, of sequences that are drawn.
const MAX_DRAWN: u64 = 4;

fn draw(params: &ParamArgs<'_>, random: &mut Random) -> Datum {
    let ctx = params.ctx;
    let element = params.ty("element").unwrap_or(Type::NONE);
    let (Some(dtype), shape) = (ctx.dtype(ctx.element_type(element)), ctx.shape(element)) else {
        return Datum::own(TensorSequence::default());
    };
    let mut tensor = || {
        let extent = |&d: &i64| infer::known(d).unwrap_or_else(|| random.below(MAX_DRAWN) as usize);
        let shape: Vec<usize> = shape.unwrap_or(&[]).iter().map(extent).collect();
        let len = shape.iter().product();
        let numbers: Vec<i64> = (0..len).map(|_| random.below(MAX_DRAWN).cast_signed()).collect();
        kernels::cast(&Tensor::from_vec(&shape, numbers), dtype).ok()
    };
    let tensors = (0..MAX_DRAWN / 2).filter_map(|_| tensor()).collect();
    Datum::own(TensorSequence(tensors))
}

/// Returns the value of a sequence operand, which is the first.
fn sequence(data: &[Datum]) -> Result<&[Tensor], Trap> {
    let first = data.first().ok_or_else(|| Trap::unsupported("a sequence is needed"))?;
    Ok(&first.as_own::<TensorSequence>()?.0)
}

/// Returns the type of the elements of the operand `input_sequence`.
fn element(args: &OpArgs<'_>) -> Result<Type, Violation> {
    let ty = infer::ty(args, "input_sequence")?;
    SequenceType::element_of(args.ctx(), ty).ok_or_else(|| "requires a sequence".into())
}

/// Returns the type of sequences with elements of all these types.
fn of_all(ctx: &Context, types: impl IntoIterator<Item = Type>) -> infer::Types {
    let mut types = types.into_iter();
    let mut all = types.next().ok_or("requires an element")?;
    for ty in types {
        all = general(ctx, all, ty).ok_or("requires elements of the same element type")?;
    }
    Ok(vec![SequenceType::of(ctx, all)])
}

/// Sequence of the given tensors.
///
/// ```mlir
/// %s = graph.sequence_construct %a, %b : (tensor<4xf32>, tensor<2xf32>) -> !graph.sequence<tensor<?xf32>>
/// ```
#[op("graph.sequence_construct", format = GENERIC, infer = infer_construct, eval = construct)]
pub struct SequenceConstructOp {
    /// The elements.
    inputs: Operands<TENSOR>,
    /// The sequence.
    output_sequence: OpResult<SequenceType::TYPE>,
}

fn infer_construct(args: &OpArgs<'_>) -> infer::Types {
    of_all(args.ctx(), args.operands.iter().map(|&v: &Value| args.module.value_type(v)))
}

fn construct(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let tensors = data.iter().map(|datum| datum.tensor().cloned()).collect::<Result<Vec<Tensor>, _>>()?;
    let first = tensors.first().ok_or_else(|| Violation::from("a sequence of no tensors has no element type"))?;
    if tensors.iter().any(|tensor| tensor.dtype() != first.dtype()) {
        return Err(Violation::from("a sequence of tensors of several element types").into());
    }
    Ok(vec![Datum::own(TensorSequence(tensors))])
}

/// Empty sequence.
///
/// The type of the result may say more about the elements that later ops add than `dtype` does.
///
/// ```mlir
/// %s = graph.sequence_empty {dtype = i64} : () -> !graph.sequence<tensor<*xi64>>
/// ```
#[op(
    "graph.sequence_empty",
    format = "attr-dict `:` functional-type(operands, results)",
    infer = infer_empty,
    verify = verify_empty,
    eval = |_, _| Ok(vec![Datum::own(TensorSequence::default())])
)]
pub struct SequenceEmptyOp {
    /// Element type; f32 when absent.
    dtype: OptAttribute<ELEM_TYPE>,
    /// The sequence.
    output: OpResult<SequenceType::TYPE>,
}

/// Returns the element type of an empty sequence.
fn empty_element(args: &OpArgs<'_>) -> Type {
    args.attr("dtype").and_then(|attr| args.ctx().as_type(attr)).unwrap_or(Type::F32)
}

fn infer_empty(args: &OpArgs<'_>) -> infer::Types {
    if let [stated] = args.result_types
        && verify_stated(args, *stated).is_ok()
    {
        return Ok(vec![*stated]);
    }
    Ok(vec![SequenceType::of(args.ctx(), args.ctx().ty(TypeData::UnrankedTensor(empty_element(args))))])
}

fn verify_stated(args: &OpArgs<'_>, stated: Type) -> Result<(), Violation> {
    let element = SequenceType::element_of(args.ctx(), stated).map(|ty| args.ctx().element_type(ty));
    if element == Some(empty_element(args)) { Ok(()) } else { Err("requires a result of its element type".into()) }
}

fn verify_empty(m: &Module, op: Op) -> Result<(), Violation> {
    m.with_args(op, |args| verify_stated(args, args.result_types[0])).unwrap_or(Ok(()))
}

/// The same sequence as one of another type, which says more or less about the extents of its elements. Elements that are not of the type trap.
///
/// ```mlir
/// %t = graph.sequence_cast %s : (!graph.sequence<tensor<4xf32>>) -> !graph.sequence<tensor<?xf32>>
/// ```
#[op("graph.sequence_cast", format = GENERIC, infer = infer_cast, verify = verify_cast, eval = cast)]
pub struct SequenceCastOp {
    /// The sequence.
    input: Operand<SequenceType::TYPE>,
    /// The sequence.
    output: OpResult<SequenceType::TYPE>,
}

fn infer_cast(args: &OpArgs<'_>) -> infer::Types {
    match args.result_types {
        [stated] if SequenceType::element_of(args.ctx(), *stated).is_some() => Ok(vec![*stated]),
        _ => Ok(vec![infer::ty(args, "input")?]),
    }
}

fn verify_cast(m: &Module, op: Op) -> Result<(), Violation> {
    let of = |v| SequenceType::element_of(&m.ctx, m.value_type(v));
    match (of(m.operands(op)[0]), of(m.result(op, 0))) {
        (Some(from), Some(to)) if general(&m.ctx, from, to).is_some() => Ok(()),
        _ => Err("requires sequences of the same element type".into()),
    }
}

fn cast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let element = args.result_types.first().and_then(|&ty| SequenceType::element_of(args.ctx(), ty));
    let fits = sequence(data)?.iter().all(|tensor| element.is_some_and(|ty| is_of(args.ctx(), tensor, ty)));
    if fits { Ok(data.to_vec()) } else { Err(Violation::from("an element of other extents").into()) }
}

/// Element of a sequence.
///
/// ```mlir
/// %x = graph.sequence_at %s, %i : (!graph.sequence<tensor<?xf32>>, tensor<i64>) -> tensor<?xf32>
/// ```
#[op("graph.sequence_at", format = GENERIC, infer = |args| Ok(vec![element(args)?]), eval = at)]
pub struct SequenceAtOp {
    /// The sequence.
    input_sequence: Operand<SequenceType::TYPE>,
    /// Position, a scalar.
    position: Operand<INT_TENSOR>,
    /// The element.
    tensor: OpResult<TENSOR>,
}

fn at(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (all, position) = (sequence(data)?, Inputs::new(args, data).int("position")?);
    let at = kernels::resolve(position.unwrap_or(-1), all.len())?;
    Ok(vec![Datum::Tensor(all[at].clone())])
}

/// Sequence without one of its elements, the last when no position is given.
///
/// ```mlir
/// %t = graph.sequence_erase %s, %i : (!graph.sequence<tensor<?xf32>>, tensor<i64>) -> !graph.sequence<tensor<?xf32>>
/// ```
#[op("graph.sequence_erase", format = GENERIC, infer = |args| of_all(args.ctx(), [element(args)?]), eval = erase)]
pub struct SequenceEraseOp {
    /// The sequence.
    input_sequence: Operand<SequenceType::TYPE>,
    /// Position, a scalar.
    position: OptOperand<INT_TENSOR>,
    /// The other elements.
    output_sequence: OpResult<SequenceType::TYPE>,
}

fn erase(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (mut all, position) = (sequence(data)?.to_vec(), Inputs::new(args, data).int("position")?);
    all.remove(kernels::resolve(position.unwrap_or(-1), all.len())?);
    Ok(vec![Datum::own(TensorSequence(all))])
}

/// Sequence with one more element, before the position; at the end when none is given.
///
/// ```mlir
/// %t = graph.sequence_insert %s, %x : (!graph.sequence<tensor<?xf32>>, tensor<4xf32>) -> !graph.sequence<tensor<?xf32>>
/// ```
#[op("graph.sequence_insert", format = GENERIC, infer = infer_insert, eval = insert)]
pub struct SequenceInsertOp {
    /// The sequence.
    input_sequence: Operand<SequenceType::TYPE>,
    /// The new element.
    tensor: Operand<TENSOR>,
    /// Position, a scalar.
    position: OptOperand<INT_TENSOR>,
    /// The sequence with the new element.
    output_sequence: OpResult<SequenceType::TYPE>,
}

fn infer_insert(args: &OpArgs<'_>) -> infer::Types {
    of_all(args.ctx(), [element(args)?, infer::ty(args, "tensor")?])
}

fn insert(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (i, mut all) = (Inputs::new(args, data), sequence(data)?.to_vec());
    let at = match i.int("position")? {
        Some(position) if usize::try_from(position) != Ok(all.len()) => kernels::resolve(position, all.len())?,
        _ => all.len(),
    };
    all.insert(at, i.get("tensor")?.clone());
    Ok(vec![Datum::own(TensorSequence(all))])
}

/// Number of elements of a sequence.
///
/// ```mlir
/// %n = graph.sequence_length %s : (!graph.sequence<tensor<?xf32>>) -> tensor<i64>
/// ```
#[op(
    "graph.sequence_length",
    format = GENERIC,
    infer = |args| Ok(vec![args.ctx().tensor_type(&[], Type::I64)]),
    eval = |_, data| Ok(vec![Datum::Tensor(Tensor::from_vec(&[], vec![sequence(data)?.len() as i64]))])
)]
pub struct SequenceLengthOp {
    /// The sequence.
    input_sequence: Operand<SequenceType::TYPE>,
    /// Its length, a scalar.
    length: OpResult<TENSOR>,
}

/// Concatenation of the elements of a sequence along an axis, or along a new one. Poison if other extents of the elements
/// differ.
///
/// ```mlir
/// %y = graph.concat_from_sequence %s {axis = 0 : i64, new_axis = 1 : i64} : (!graph.sequence<tensor<3xf32>>) -> tensor<?x3xf32>
/// ```
#[op("graph.concat_from_sequence", format = GENERIC, infer = infer_concat, eval = concat)]
pub struct ConcatFromSequenceOp {
    /// The sequence.
    input_sequence: Operand<SequenceType::TYPE>,
    /// Axis of the result.
    axis: Attribute<I64>,
    /// Whether the axis is new.
    #[default = "0 : i64"]
    new_axis: OptAttribute<I64>,
    /// The elements, one after the other.
    concat_result: OpResult<TENSOR>,
}

fn infer_concat(args: &OpArgs<'_>) -> infer::Types {
    let element = element(args)?;
    let (ctx, is_new) = (args.ctx(), args.flag("new_axis"));
    let Some(mut dims) = ctx.shape(element).map(<[i64]>::to_vec) else { return Ok(vec![element]) };
    let at = normalize_axis(int(args, "axis")?, dims.len() + usize::from(is_new))?;
    if is_new {
        dims.insert(at, DYNAMIC);
    } else {
        dims[at] = DYNAMIC;
    }
    infer::one(args, Some(dims), ctx.element_type(element))
}

fn concat(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (all, axis) = (sequence(data)?, int(args, "axis")?);
    if let (true, Some(empty)) = (all.is_empty(), empty_concat(args)) {
        return Ok(vec![Datum::Tensor(empty)]);
    }
    let is_new = args.flag("new_axis");
    let others = |x: &Tensor| {
        let axis = normalize_axis(axis, x.rank()).ok().filter(|_| !is_new);
        x.shape().iter().enumerate().filter(|(i, _)| Some(*i) != axis).map(|(_, &d)| d).collect::<Vec<_>>()
    };
    if all.windows(2).any(|pair| others(&pair[0]) != others(&pair[1])) {
        return Ok(vec![args.ctx().poison_of(args.result_types[0])]);
    }
    if !is_new {
        return one(kernels::concat(&all.iter().collect::<Vec<_>>(), axis));
    }
    let wide: Vec<Tensor> = all.iter().map(|x| kernels::unsqueeze(x, &[axis])).collect::<Result<_, _>>()?;
    one(kernels::concat(&wide.iter().collect::<Vec<_>>(), axis))
}

/// Returns the concatenation of no elements, if the type of the result says all other extents.
fn empty_concat(args: &OpArgs<'_>) -> Option<Tensor> {
    let (ctx, ty) = (args.ctx(), *args.result_types.first()?);
    let dims = ctx.shape(ty)?;
    let axis = normalize_axis(int(args, "axis").ok()?, dims.len()).ok()?;
    let extent = |(i, &d): (usize, &i64)| if i == axis { Some(0) } else { infer::known(d) };
    let shape: Vec<usize> = dims.iter().enumerate().map(extent).collect::<Option<_>>()?;
    Tensor::new(ctx.dtype(ctx.element_type(ty))?, shape, Vec::new().into()).ok()
}

/// Parts of a tensor along an axis: of the extents of `split`, of its only extent each, or of one each.
///
/// ```mlir
/// %s = graph.split_to_sequence %x {keepdims = 0 : i64} : (tensor<4x3xf32>) -> !graph.sequence<tensor<3xf32>>
/// ```
#[op("graph.split_to_sequence", format = GENERIC, infer = infer_split, eval = split)]
pub struct SplitToSequenceOp {
    /// Operand.
    input: Operand<TENSOR>,
    /// Extents of the parts: a scalar for all, or a vector.
    split: OptOperand<INT_TENSOR>,
    /// Axis.
    #[default = "0 : i64"]
    axis: OptAttribute<I64>,
    /// Whether parts keep the axis, if there is no `split`.
    #[default = "1 : i64"]
    keepdims: OptAttribute<I64>,
    /// The parts.
    output_sequence: OpResult<SequenceType::TYPE>,
}

fn infer_split(args: &OpArgs<'_>) -> infer::Types {
    let (ctx, elem) = (args.ctx(), infer::elem(args, "input")?);
    let Some(mut dims) = infer::dims(args, "input") else { return of_all(ctx, [infer::tensor(args, None, elem)]) };
    let axis = normalize_axis(int(args, "axis")?, dims.len())?;
    match (args.opt_operand("split").is_some(), args.flag("keepdims")) {
        (true, _) => dims[axis] = DYNAMIC,
        (false, true) => dims[axis] = 1,
        (false, false) => drop(dims.remove(axis)),
    }
    of_all(ctx, [infer::tensor(args, Some(dims), elem)])
}

fn split(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x, axis) = (i.get("input")?, int(args, "axis")?);
    let extent = x.shape()[normalize_axis(axis, x.rank())?];
    let negative = || Trap::from(Violation::from("a part with less than no elements"));
    let sizes: Vec<usize> = match (i.opt("split")?, i.ints("split")?.as_deref()) {
        (Some(list), Some(&[size])) if list.rank() == 0 => {
            let size = usize::try_from(size).ok().filter(|&size| size > 0).ok_or_else(negative)?;
            (0..extent).step_by(size).map(|first| size.min(extent - first)).collect()
        }
        (_, Some(sizes)) => {
            sizes.iter().map(|&n| usize::try_from(n).map_err(|_| negative())).collect::<Result<_, _>>()?
        }
        (_, None) => vec![1; extent],
    };
    let mut parts = kernels::split(x, axis, &sizes)?;
    if args.opt_operand("split").is_none() && !args.flag("keepdims") {
        parts = parts.iter().map(|part| kernels::squeeze(part, Some(&[axis]))).collect::<Result<_, _>>()?;
    }
    Ok(vec![Datum::own(TensorSequence(parts))])
}

/// Types of this file.
pub const TYPES: &[&TypeInfo] = &[SequenceType::INFO];

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    SequenceConstructOp::INFO,
    SequenceEmptyOp::INFO,
    SequenceCastOp::INFO,
    SequenceAtOp::INFO,
    SequenceEraseOp::INFO,
    SequenceInsertOp::INFO,
    SequenceLengthOp::INFO,
    ConcatFromSequenceOp::INFO,
    SplitToSequenceOp::INFO,
]];
