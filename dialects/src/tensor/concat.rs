//! `tensor.concat`.

use super::cast::{cast_before, replace_and_cast};
use super::types::{keeps_extents, shape, with_shape};
use super::{data, names};
use crate::constraint::{I64, RANKED_TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, Context, DYNAMIC, Effects, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter,
    Tensor, Traits, Type, Value, Violation, op,
};

/// Concatenates tensors along a dimension. Other extents that differ are undefined behavior.
///
/// ```mlir
/// %0 = tensor.concat dim(0) %a, %b : (tensor<3x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
/// ```
#[op(
    "tensor.concat",
    traits = Traits::NO_CONSTANT_FOLDING,
    effects = Effects::MayUb,
    verify = verify,
    fold = fold_concat,
    eval = concat,
    moves = &["inputs"],
    patterns = &[SINGLE_INPUT, KNOWN_INPUTS, KNOWN_RESULT],
    result_names = |_, _| names("concat"),
    format = "`dim` `` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)"
)]
pub struct ConcatOp {
    /// Dimension of the concatenation.
    dim: Attribute<I64>,
    /// Tensors.
    inputs: Operands<RANKED_TENSOR>,
    /// Concatenated tensor.
    result: OpResult<RANKED_TENSOR>,
}

/// Replaces the concatenation of one tensor by a cast.
const SINGLE_INPUT: Pattern = Pattern { name: "single input", run: single_input };

/// Propagates static extents among inputs and from the result to the inputs.
const KNOWN_INPUTS: Pattern = Pattern { name: "known inputs", run: known_inputs };

/// Propagates static extents from the inputs to the result.
const KNOWN_RESULT: Pattern = Pattern { name: "known result", run: known_result };

fn parts(m: &Module, op: Op) -> (usize, Vec<Type>, Type) {
    let concat = ConcatOp(op);
    let dim = concat.dim(m).and_then(|a| m.ctx.as_int(a)).and_then(|d| usize::try_from(d).ok());
    let inputs = concat.inputs(m).iter().map(|&v| m.value_type(v)).collect();
    (dim.unwrap_or(usize::MAX), inputs, m.value_type(concat.result(m)))
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let (dim, inputs, result) = parts(m, op);
    if inputs.is_empty() {
        return Err("requires at least one input".into());
    }
    let rank = shape(ctx, result).len();
    if inputs.iter().any(|&ty| shape(ctx, ty).len() != rank) {
        return Err("rank of concatenated inputs must match result rank".into());
    }
    let elem = ctx.element_type(result);
    if inputs.iter().any(|&ty| ctx.element_type(ty) != elem) {
        return Err("inputs and result element type must match".into());
    }
    if dim >= rank {
        return Err("concatenation dim must be less than the tensor rank".into());
    }
    let inferred = inferred(ctx, dim, &inputs)?;
    let fits = |(&a, &b): (&i64, &i64)| a == b || a == DYNAMIC || b == DYNAMIC;
    if !shape(ctx, result).iter().zip(&inferred).all(fits) {
        let (have, want) = (ctx.display_type(result), ctx.display_type(with_shape(ctx, result, &inferred)));
        return Err(format!("result type '{have}'does not match inferred shape '{want}' static sizes").into());
    }
    Ok(())
}

/// Returns the result shape implied by the inputs.
fn inferred(ctx: &Context, dim: usize, inputs: &[Type]) -> Result<Vec<i64>, Violation> {
    let mut all: Vec<i64> = shape(ctx, inputs[0]).to_vec();
    for &ty in &inputs[1..] {
        for (i, (sum, &extent)) in all.iter_mut().zip(shape(ctx, ty)).enumerate() {
            *sum = match (*sum, extent) {
                (DYNAMIC, _) | (_, DYNAMIC) if i == dim => DYNAMIC,
                (a, b) if i == dim => a.saturating_add(b),
                (DYNAMIC, known) | (known, DYNAMIC) => known,
                (a, b) if a == b => a,
                _ => {
                    return Err(
                        format!("static concatenation size mismatch along non-concatenated dimension {i}").into()
                    );
                }
            };
        }
    }
    Ok(all)
}

fn fold_concat(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let &[only] = args.operands else { return None };
    (args.result_types == [args.operand_type(0)]).then(|| only.into())
}

fn single_input(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let &[only] = m.operands(op) else { return false };
    let ty = m.value_type(m.result(op, 0));
    let Some(value) = cast_before(r, op, only, ty) else { return false };
    r.replace(op, &[value]);
    true
}

/// Returns the result shape known from inputs and type, if they agree.
fn known_shape(ctx: &Context, dim: usize, inputs: &[Type], result: Type) -> Option<Vec<i64>> {
    let mut known = inferred(ctx, dim, inputs).ok()?;
    for (a, &b) in known.iter_mut().zip(shape(ctx, result)) {
        match (*a, b) {
            (DYNAMIC, b) => *a = b,
            (a, b) if a != b && b != DYNAMIC => return None,
            _ => {}
        }
    }
    Some(known)
}

fn known_inputs(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ctx = m.ctx.clone();
    let (dim, types, result) = parts(m, op);
    let Some(known) = known_shape(&ctx, dim, &types, result) else { return false };
    let values: Vec<Value> = m.operands(op).to_vec();
    let mut changed = false;
    for (i, (&value, &ty)) in values.iter().zip(&types).enumerate() {
        let mut extents = known.clone();
        extents[dim] = shape(&ctx, ty)[dim];
        let want = with_shape(&ctx, ty, &extents);
        if want == ty || !keeps_extents(&ctx, ty, want) {
            continue;
        }
        let Some(value) = cast_before(r, op, value, want) else { return changed };
        r.modify(op, |m| m.set_operand(op, i, value));
        changed = true;
    }
    changed
}

fn known_result(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ctx = &m.ctx;
    let (dim, types, result) = parts(m, op);
    let Some(known) = known_shape(ctx, dim, &types, result) else { return false };
    let want = with_shape(ctx, result, &known);
    if want == result {
        return false;
    }
    let mut state = OpState::new(ctx, ConcatOp::INFO.name, m.loc(op));
    state.operand_group(m.operands(op));
    state.inherent(ctx, "dim", ConcatOp(op).dim(m));
    state.result_types.push(want);
    replace_and_cast(r, op, state)
}

fn concat(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let tensors: Vec<&Tensor> = data.iter().map(Datum::tensor).collect::<Result<_, _>>()?;
    let dim = args.int("dim").and_then(|d| usize::try_from(d).ok()).unwrap_or(0);
    let mut shape = tensors[0].shape().to_vec();
    for tensor in &tensors[1..] {
        let others = |s: &[usize]| [&s[..dim], &s[dim + 1..]].concat();
        if others(&shape) != others(tensor.shape()) {
            return Err(Trap::Ub("tensors of different extents are concatenated".into()));
        }
        shape[dim] += tensor.shape()[dim];
    }
    data::extents(&shape.iter().map(|&d| d as i64).collect::<Vec<_>>())?;
    let outer: usize = shape[..dim].iter().product();
    let mut bytes = Vec::new();
    for i in 0..outer {
        for tensor in &tensors {
            let row = tensor.bytes().len() / outer;
            bytes.extend_from_slice(&tensor.bytes()[i * row..(i + 1) * row]);
        }
    }
    Ok(vec![Datum::Tensor(Tensor::new(tensors[0].dtype(), shape, bytes.into())?)])
}
