//! Run-time vectors.

use super::types;
pub(super) use crate::tensor::data::{element, element_of, position, put, put_scalars, take};
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::tensor::checked_len;
use gradus_ir::{Attr, Context, DType, EvalFn, Folded, OpArgs, OpDecl, OpInfo, Tensor, Type};

/// Returns the extents of a vector in executions; empty for other types.
pub(super) fn extents(ctx: &Context, ty: Type) -> Result<Vec<usize>, Trap> {
    let shape = ctx.executed_shape(ty).filter(|_| types::vector(ctx, ty).is_some()).unwrap_or_default();
    let shape: Vec<usize> = shape.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
    match checked_len(&shape) {
        Some(n) if n <= MAX_ELEMENTS => Ok(shape),
        _ => Err(Trap::unknown(format!("vectors of more than {MAX_ELEMENTS} elements"))),
    }
}

/// Maximum number of elements of a vector.
const MAX_ELEMENTS: usize = 1 << 22;

/// Returns the storage type of vector elements.
pub(super) fn dtype(ctx: &Context, ty: Type) -> Result<DType, Trap> {
    ctx.dtype(ctx.element_type(ty)).ok_or_else(|| Trap::unsupported("vectors of this element type"))
}

/// Creates a vector or scalar from elements.
pub(super) fn value_of(ctx: &Context, ty: Type, elements: &[Datum]) -> Result<Datum, Trap> {
    match types::vector(ctx, ty) {
        Some(_) => Datum::from_elements(dtype(ctx, ty)?, &extents(ctx, ty)?, elements),
        None => elements.first().cloned().ok_or_else(|| Trap::unsupported("a scalar without a numeric element type")),
    }
}

/// Returns the elements of a vector or scalar; `None` for poison as a whole.
pub(super) fn elements(datum: &Datum) -> Result<Option<Vec<Datum>>, Trap> {
    match datum {
        Datum::Poison => Ok(None),
        Datum::Tensor(_) | Datum::PoisonTensor(_) => {
            datum.elements().map(Some).ok_or_else(|| Trap::unsupported("vectors of this element type"))
        }
        scalar => Ok(Some(vec![scalar.clone()])),
    }
}

/// Creates a vector, or a scalar, of the elements of `from` at linear indices.
pub(super) fn pick(
    ctx: &Context,
    ty: Type,
    from: &Tensor,
    numbers: impl IntoIterator<Item = usize>,
) -> Result<Datum, Trap> {
    let numbers: Vec<usize> = numbers.into_iter().collect();
    match types::vector(ctx, ty) {
        Some(_) => Ok(Datum::Tensor(take(from, &extents(ctx, ty)?, numbers))),
        None => element(from, numbers.first().copied().unwrap_or(0)),
    }
}

/// Returns all indices of a shape, last dimension fastest.
pub(super) fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let count = shape.iter().product();
    (0..count).map(move |mut n| {
        let mut index = vec![0; shape.len()];
        for (i, &d) in index.iter_mut().zip(shape).rev() {
            *i = n % d;
            n /= d;
        }
        index
    })
}

/// Returns the linear index of in-bounds indices.
pub(super) fn linear_index(shape: &[usize], index: impl IntoIterator<Item = usize>) -> usize {
    shape.iter().zip(index).fold(0, |n, (&d, i)| n * d + i)
}

/// Combines two values elementwise by `kind`; their type is that of the first operand of `args`.
pub(super) fn combine(args: &OpArgs<'_>, ty: Type, kind: &str, a: Datum, b: Datum) -> Result<Datum, Trap> {
    combine_with(args, Attr::EMPTY_DICT, ty, kind, a, b)
}

/// [`combine`] with flags from the properties `props`.
pub(super) fn combine_with(
    args: &OpArgs<'_>,
    props: Attr,
    ty: Type,
    kind: &str,
    a: Datum,
    b: Datum,
) -> Result<Datum, Trap> {
    let info = combining_op(kind).ok_or_else(|| Trap::unsupported("this combining kind"))?;
    apply(args, info, props, ty, &[a, b])
}

/// Evaluates an `arith` or `math` op, which poison makes poison, on values with the element type of the first operand of `args`.
pub(super) fn apply(
    args: &OpArgs<'_>,
    info: &'static OpInfo,
    props: Attr,
    ty: Type,
    data: &[Datum],
) -> Result<Datum, Trap> {
    if data.iter().any(|datum| matches!(datum, Datum::Poison)) {
        return Ok(Datum::Poison);
    }
    let args = OpArgs { info, op: None, operands: &args.operands[..1], props, result_types: &[ty], ..*args };
    eval_op(&args, data)?.pop().ok_or_else(|| Trap::unsupported("an op without a result"))
}

/// Returns the op of a `#vector.kind<...>`.
pub(super) fn combining_op(kind: &str) -> Option<&'static OpInfo> {
    use crate::arith;
    Some(match kind {
        "add" => arith::AddIOp::INFO,
        "addf" => arith::AddFOp::INFO,
        "mul" => arith::MulIOp::INFO,
        "mulf" => arith::MulFOp::INFO,
        "minui" => arith::MinUIOp::INFO,
        "minsi" => arith::MinSIOp::INFO,
        "maxui" => arith::MaxUIOp::INFO,
        "maxsi" => arith::MaxSIOp::INFO,
        "minnumf" => arith::MinNumFOp::INFO,
        "maxnumf" => arith::MaxNumFOp::INFO,
        "minimumf" => arith::MinimumFOp::INFO,
        "maximumf" => arith::MaximumFOp::INFO,
        "and" => arith::AndIOp::INFO,
        "or" => arith::OrIOp::INFO,
        "xor" => arith::XOrIOp::INFO,
        _ => return None,
    })
}

/// Folds an insertion of a constant into a constant. Larger vectors are left alone, since chains of insertions would
/// create many large constants.
pub(super) fn fold_small(args: &OpArgs<'_>, constants: &[Option<Attr>], eval: EvalFn) -> Option<Folded> {
    let (ctx, &ty) = (args.ctx(), args.result_types.first()?);
    if types::count(ctx, ty) > MAX_FOLDED_ELEMENTS {
        return None;
    }
    let operands: Option<Vec<Datum>> = constants.iter().map(|c| ctx.attr_datum((*c)?)).collect();
    let result = eval(args, &operands?).ok()?.pop().filter(|result| !result.has_poison())?;
    ctx.datum_attr(ty, &result).map(Folded::from)
}

const MAX_FOLDED_ELEMENTS: i64 = 1024;
