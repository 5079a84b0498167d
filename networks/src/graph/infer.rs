//! Shape inference. An unknown extent is `?` ([`DYNAMIC`]), a shape of unknown rank is `None`.

use gradus_ir::eval::{Datum, eval_op};
use gradus_ir::tensor::Tensor;
use gradus_ir::{AttrData, DYNAMIC, FoldResult, Folded, Module, OpArgs, Type, TypeData, Value, Violation};

/// Result of shape inference.
pub(super) type Types = Result<Vec<Type>, Violation>;

/// Extents, or [`DYNAMIC`]; `None` for unknown rank.
pub(super) type Dims = Option<Vec<i64>>;

/// Returns a static extent.
pub(super) fn known(dim: i64) -> Option<usize> {
    usize::try_from(dim).ok()
}

/// Returns the extents if all are static.
pub(super) fn all_known(dims: &[i64]) -> Option<Vec<usize>> {
    dims.iter().map(|&d| known(d)).collect()
}

/// Converts static extents to those of a type.
pub(super) fn extents(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|&d| i64::try_from(d).unwrap_or(DYNAMIC)).collect()
}

/// Returns the type of the operand `name`.
pub(super) fn ty(args: &OpArgs<'_>, name: &str) -> Result<Type, Violation> {
    let value = args.opt_operand(name).ok_or_else(|| format!("requires the operand '{name}'"))?;
    Ok(args.module.value_type(value))
}

/// Returns the element type of the operand `name`.
pub(super) fn elem(args: &OpArgs<'_>, name: &str) -> Result<Type, Violation> {
    Ok(args.ctx().element_type(ty(args, name)?))
}

/// Returns the common element type of the operands that are present.
pub(super) fn common_elem(args: &OpArgs<'_>, names: &[&str]) -> Result<Type, Violation> {
    let values = names.iter().flat_map(|name| args.operand(name));
    common(args, values)
}

/// Returns the common element type of values.
fn common<'a>(args: &OpArgs<'_>, values: impl Iterator<Item = &'a Value>) -> Result<Type, Violation> {
    let ctx = args.ctx();
    let mut types = values.map(|&v| ctx.element_type(args.module.value_type(v)));
    let first = types.next().ok_or("requires an operand")?;
    match types.find(|&t| t != first) {
        None => Ok(first),
        Some(other) => {
            let (a, b) = (ctx.display_type(first), ctx.display_type(other));
            Err(format!("requires operands of the same element type, but got '{a}' and '{b}'").into())
        }
    }
}

/// Returns the shape of the operand `name`.
pub(super) fn dims(args: &OpArgs<'_>, name: &str) -> Dims {
    let ty = ty(args, name).ok()?;
    args.ctx().shape(ty).map(<[i64]>::to_vec)
}

/// Maximum rank inferred from the length of a list of axes, against exhaustion of memory by huge ranks.
const MAX_RANK: usize = 1 << 10;

/// Returns the length of a vector operand of axes or extents, if it is static.
pub(super) fn list_len(args: &OpArgs<'_>, name: &str) -> Option<usize> {
    match dims(args, name)?.as_slice() {
        &[n] => known(n).filter(|&n| n <= MAX_RANK),
        _ => None,
    }
}

/// Returns `rank` unknown extents.
pub(super) fn unknown(rank: usize) -> Vec<i64> {
    vec![DYNAMIC; rank]
}

/// Returns the tensor type of a shape.
pub(super) fn tensor(args: &OpArgs<'_>, dims: Dims, elem: Type) -> Type {
    match dims {
        Some(dims) => args.ctx().tensor_type(&dims, elem),
        None => args.ctx().ty(TypeData::UnrankedTensor(elem)),
    }
}

/// Returns one result of the given shape and element type.
pub(super) fn one(args: &OpArgs<'_>, dims: Dims, elem: Type) -> Types {
    Ok(vec![tensor(args, dims, elem)])
}

/// Infers the type of the first operand.
pub(super) fn same(args: &OpArgs<'_>) -> Types {
    let first = args.operands.first().ok_or("requires an operand")?;
    Ok(vec![args.module.value_type(*first)])
}

/// Infers the type of the first operand; all operands must have the same element type.
pub(super) fn same_and_common(args: &OpArgs<'_>) -> Types {
    common(args, args.operands.iter())?;
    same(args)
}

/// Infers the shape of the first operand with boolean elements.
pub(super) fn test(args: &OpArgs<'_>) -> Types {
    let ty = same(args)?[0];
    Ok(vec![args.ctx().with_element(ty, Type::I1)])
}

/// Broadcasts shapes by NumPy's rules.
pub(super) fn broadcast(shapes: impl IntoIterator<Item = Dims>) -> Result<Dims, Violation> {
    let mut out = Vec::new();
    let mut ranked = true;
    for shape in shapes {
        match shape {
            Some(shape) => out = broadcast_two(&out, &shape)?,
            None => ranked = false,
        }
    }
    Ok(ranked.then_some(out))
}

fn broadcast_two(a: &[i64], b: &[i64]) -> Result<Vec<i64>, Violation> {
    let rank = a.len().max(b.len());
    let at = |s: &[i64], i: usize| if i + s.len() < rank { 1 } else { s[i + s.len() - rank] };
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y || y == 1 => Ok(x),
            (1, y) => Ok(y),
            // The unknown extent is 1 or equal to the other one, which is not 1.
            (DYNAMIC, known) | (known, DYNAMIC) => Ok(known),
            _ => Err(format!("shapes {} and {} do not broadcast", display(a), display(b)).into()),
        })
        .collect()
}

/// Formats a shape for messages.
pub(super) fn display(dims: &[i64]) -> String {
    let text: Vec<String> = dims.iter().map(|&d| known(d).map_or("?".to_owned(), |d| d.to_string())).collect();
    format!("[{}]", text.join(", "))
}

/// Merges two extents; an error if both are static and differ.
pub(super) fn unify(a: i64, b: i64) -> Result<i64, Violation> {
    match (a, b) {
        (DYNAMIC, d) | (d, DYNAMIC) => Ok(d),
        (a, b) if a == b => Ok(a),
        (a, b) => Err(format!("extents {a} and {b} should be equal").into()),
    }
}

fn shapes<'a>(args: &OpArgs<'a>) -> impl Iterator<Item = Dims> + use<'a> {
    let (module, operands) = (args.module, args.operands);
    operands.iter().map(|&v| module.ctx.shape(module.value_type(v)).map(<[i64]>::to_vec))
}

/// Infers an elementwise op whose operands have the same element type.
pub(super) fn elementwise(args: &OpArgs<'_>) -> Types {
    let elem = common(args, args.operands.iter())?;
    one(args, broadcast(shapes(args))?, elem)
}

/// Infers an elementwise op whose result has the element type of the first operand.
pub(super) fn elementwise_like_first(args: &OpArgs<'_>) -> Types {
    let elem = args.ctx().element_type(same(args)?[0]);
    one(args, broadcast(shapes(args))?, elem)
}

/// Infers an elementwise comparison, whose result is boolean.
pub(super) fn comparison(args: &OpArgs<'_>) -> Types {
    common(args, args.operands.iter())?;
    one(args, broadcast(shapes(args))?, Type::I1)
}

/// Infers an op whose operands have the same element type and broadcast to the first one.
pub(super) fn like_first(args: &OpArgs<'_>) -> Types {
    common(args, args.operands.iter())?;
    let first = shapes(args).next().flatten();
    if let (Some(first), Some(all)) = (first, broadcast(shapes(args))?)
        && (first.len() != all.len() || first.iter().zip(&all).any(|(&a, &b)| unify(a, b).is_err()))
    {
        return Err(format!("requires operands that broadcast to {}", display(&first)).into());
    }
    same(args)
}

/// Maximum length of the constant lists that define shapes.
const MAX_LIST: i64 = 1 << 12;

/// Maximum number of elements and evaluation steps of computed shapes.
const MAX_COMPUTED: i64 = 1 << 8;
const MAX_STEPS: u32 = 32;

/// Returns a small tensor operand known at inference time, but only while result types are inferred, not while an
/// existing op is verified: folding its operands may make an op undefined behavior, but not invalid.
pub(super) fn constant(args: &OpArgs<'_>, name: &str) -> Option<Tensor> {
    if args.op.is_some() { None } else { always(args, name) }
}

/// Returns a small tensor operand if it is constant, or computed by ops of this dialect from constants and static
/// shapes.
pub(super) fn always(args: &OpArgs<'_>, name: &str) -> Option<Tensor> {
    known_tensor(args.module, args.opt_operand(name)?)
}

/// Returns the small tensor of a value that is constant, or computed by ops of this dialect from constants and static
/// shapes.
pub(super) fn known_tensor(m: &Module, value: Value) -> Option<Tensor> {
    known_value(m, value, &mut MAX_STEPS.clone())
}

/// Returns the shape of the first result by evaluating the op, if its operands are known.
pub(super) fn evaluated_shape(args: &OpArgs<'_>) -> Option<Vec<i64>> {
    if args.op.is_some() {
        return None;
    }
    let operands =
        args.operands.iter().map(|&v| known_value(args.module, v, &mut MAX_STEPS.clone()).map(Datum::Tensor));
    let operands = operands.collect::<Option<Vec<Datum>>>()?;
    let results = eval_op(args, &operands).ok()?;
    results.first().and_then(|r| r.tensor().ok()).map(|t| extents(t.shape()))
}

/// Returns the known small tensor of a value. `steps` limits the number of ops visited, because unverified IR may be
/// cyclic.
fn known_value(m: &Module, value: Value, steps: &mut u32) -> Option<Tensor> {
    let len = |ty| m.ctx.static_shape(ty).map(product);
    if let Some(attr) = m.constant(value) {
        let short = (0..=MAX_LIST).contains(&len(m.ctx.attr_type(attr)?)?);
        return if short { attr_tensor(m, attr) } else { None };
    }
    let op = m.defining_op(value)?;
    let info = m.info(op).filter(|info| info.name.starts_with("graph."))?;
    let index = m.results(op).position(|r| r == value)?;
    if !(0..=MAX_COMPUTED).contains(&len(m.value_type(value))?) {
        return None;
    }
    *steps = steps.checked_sub(1)?;
    m.with_args(op, |args| {
        let unknown = vec![None; args.operands.len()];
        if let Some(Folded::Results(results)) = info.fold.and_then(|fold| fold(args, &unknown)) {
            return match *results.get(index)? {
                FoldResult::Attr(attr) => attr_tensor(m, attr),
                FoldResult::Value(same) => known_value(m, same, steps),
            };
        }
        let operands = args.operands.iter().map(|&v| known_value(m, v, steps).map(Datum::Tensor));
        let operands = operands.collect::<Option<Vec<Datum>>>()?;
        let result = eval_op(args, &operands).ok()?.into_iter().nth(index)?;
        if let Datum::Tensor(t) = result { Some(t) } else { None }
    })?
}

/// Returns the tensor of a constant attribute.
pub(super) fn attr_tensor(m: &Module, attr: gradus_ir::Attr) -> Option<Tensor> {
    let ctx = &m.ctx;
    let AttrData::DenseResource { key, ty } = ctx.attr_data(attr) else { return ctx.dense_tensor(attr) };
    let gradus_ir::Resource::Blob(_, bytes) =
        m.resources.get("dialect_resources")?.get("builtin")?.get(ctx.text(*key))?
    else {
        return None;
    };
    let shape = all_known(ctx.static_shape(*ty)?)?;
    Tensor::new(ctx.dtype(ctx.element_type(*ty))?, shape, bytes.clone()).ok()
}

/// Returns the elements of a known integer operand.
pub(super) fn ints(args: &OpArgs<'_>, name: &str) -> Option<Vec<i64>> {
    constant(args, name)?.to_i64()
}

/// Returns the product of extents; [`DYNAMIC`] if one is dynamic or the product overflows.
pub(super) fn product(dims: &[i64]) -> i64 {
    let n = dims.iter().try_fold(1i64, |n, &d| if d == DYNAMIC { None } else { n.checked_mul(d) });
    n.unwrap_or(DYNAMIC)
}

/// Applies `f` to a static extent.
pub(super) fn map(dim: i64, f: impl Fn(i64) -> Option<i64>) -> i64 {
    if dim == DYNAMIC { DYNAMIC } else { f(dim).unwrap_or(DYNAMIC) }
}
