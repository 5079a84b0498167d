//! `fuse-epilogues`: fusion of elementwise ops into the store of table-driven products.

use super::by_patterns::{ByPatterns, names};
use super::propagate_layouts::{made, reshaped};
use crate::addr::{ConvPlanesOp, has_stage, has_stage_after, is_product};
use crate::graph::{AddOp, ClipOp, ConcatOp, HardSwishOp, MulOp, ReluOp, ReshapeOp, SliceOp, SumOp, TransposeOp};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{Attr, Module, Op, OpDecl, OpInfo, OpState, PassInfo, Pattern, PatternRewriter, Type, Value};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "fuse-epilogues",
    doc: "Fuse elementwise ops into the epilogue of table-driven products

# Before / After

```mlir
%0 = addr.gemm %a[%base + %relative], %b : (...) -> tensor<4x8xf32>   // becomes:
%1 = graph.add %0, %y : (...) -> tensor<4x8xf32>
%2 = graph.relu %1 : tensor<4x8xf32>
                              //   %2 = addr.gemm %a[%base + %relative], %b plus %y {low = 0.0 : f32} : (...) -> tensor<4x8xf32>
```

# Does

Fuses these ops into a single-use product: `graph.add` and `graph.sum` of two tensors of equal shape, `graph.add` of a constant per column,
`graph.relu`, `graph.clip` with constant bounds, `graph.hard_swish`, and after it `graph.mul` and `graph.add` of a number. Sums may stand behind
a reshape, `graph.relu` and `graph.hard_swish` behind reshapes, transpositions and slices, and `graph.relu` behind a `graph.concat` of products.

# Refuses

Additions of tensors after a clamp, and types other than `f32`; with `rounding`, other than `f32` and `bf16`. A `bf16` sum of a product and a residual is
rounded once then, not twice, and a clamp before the rounding makes 0 of a negative sum that would be rounded to -0.

# Cost

Linear in the number of ops.",
    options: &[PassOption {
        name: "rounding",
        doc: "Also fuse into bf16 products, whose sums are then rounded once, after the epilogue",
        kind: OptionKind::Bool(false),
    }],
    statistics: &[("num-changes", "Number of changes")],
    rewrites: Rewrites::Names(|_| names(PATTERNS)),
    floats: |options| if options.bool("rounding") { FloatChange::Rounds } else { FloatChange::None },
    make: |options| Ok(Box::new(ByPatterns(if options.bool("rounding") { PATTERNS } else { EXACT }))),
    ..PassInfo::DEFAULT
};

/// Lists the patterns on products for each element type, given with the word that it adds to their names.
macro_rules! patterns {
    ($($element:ident $of:literal),+) => { &[$(
        pattern!(concat!("bias-of-", $of, "product"), bias, $element),
        pattern!(concat!("reshape-of-", $of, "product"), before_reshape, $element),
        pattern!(concat!("moved-", $of, "product"), before_movement, $element),
        pattern!(concat!("add-to-", $of, "product"), add_to_product, $element),
        pattern!(concat!("relu-of-", $of, "product"), relu_of_product, $element),
        pattern!(concat!("relu-of-", $of, "concat"), relu_of_concat, $element),
        pattern!(concat!("clip-of-", $of, "product"), clip_of_product, $element),
        pattern!(concat!("hard-swish-of-", $of, "product"), hard_swish_of_product, $element),
        pattern!(concat!("scaled-", $of, "product"), scaled_product, $element),
        pattern!(concat!("shifted-", $of, "product"), shifted_product, $element),
    )+] };
}

macro_rules! pattern {
    ($name:expr, $run:ident, $element:ident) => {
        Pattern { name: $name, run: |r, op| $run(r, op, Type::$element).is_some() }
    };
}

/// Ops that move elements of their first operand.
const MOVEMENT: &[&OpInfo] = &[ReshapeOp::INFO, TransposeOp::INFO, SliceOp::INFO];

const PATTERNS: &[Pattern] = patterns![F32 "", BF16 "bf16-"];

/// The patterns that change no rounding.
const EXACT: &[Pattern] = patterns![F32 ""];

/// Returns the product of an element type that defines `value`, if `user` is its only user.
fn product(m: &Module, user: Op, value: Value, element: Type) -> Option<Op> {
    let op = m.defining_op(value).filter(|_| m.has_one_use(value))?;
    (is_product(m, op)
        && m.parent_block(op) == m.parent_block(user)
        && m.ctx.element_type(m.value_type(value)) == element)
        .then_some(op)
}

/// Computes an elementwise op before the reshape of a product, so that it can join the product.
fn before_reshape(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    if !m.is_one_of(op, &[AddOp::INFO, SumOp::INFO]) {
        return None;
    }
    let (operands, ty) = (m.operands(op).to_vec(), m.value_type(m.result(op, 0)));
    let source = |&v: &Value| {
        let reshape = ReshapeOp::defining(m, v).filter(|_| m.has_one_use(v))?;
        product(m, reshape.0, reshape.x(m), element).map(|_| reshape.x(m))
    };
    let found = operands.iter().position(|v| source(v).is_some())?;
    let are_whole = operands.iter().all(|&v| m.value_type(v) == ty && product(m, op, v, element).is_none());
    let x = source(&operands[found]).filter(|_| are_whole)?;
    let inner = m.value_type(x);
    let mut state = OpState::like(m, op);
    for (i, v) in operands.into_iter().enumerate() {
        let before = if i == found { x } else { reshaped(r, op, v, inner).and_then(|state| made(r, op, state))? };
        state.operands.push(before);
    }
    state.result_types.push(inner);
    let value = made(r, op, state)?;
    let state = reshaped(r, op, value, ty)?;
    r.replace_with(op, state).ok().map(drop)
}

/// Computes a function of each element before its product is reshaped, transposed or sliced.
fn before_movement(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    let &[moved] = m.operands(op) else { return None };
    let movement = |user: Op, value: Value| {
        let found = m.defining_op(value).filter(|&found| m.is_one_of(found, MOVEMENT) && m.has_one_use(value))?;
        (m.parent_block(found) == m.parent_block(user)).then_some(found)
    };
    let outer = m.is_one_of(op, &[ReluOp::INFO, HardSwishOp::INFO]).then(|| movement(op, moved)).flatten()?;
    let (mut inner, x) = (outer, m.operands(outer)[0]);
    while product(m, inner, m.operands(inner)[0], element).is_none() {
        inner = movement(inner, m.operands(inner)[0])?;
    }
    let ty = m.value_type(moved);
    let (mut before, mut after) = (OpState::like(m, op), OpState::with_operands_of(m, outer));
    before.operands.push(x);
    before.result_types.push(m.value_type(x));
    after.operands[0] = made(r, op, before)?;
    after.result_types.push(ty);
    r.replace_with(op, after).ok().map(drop)
}

/// Makes the addition of a constant per column the bias of a product of an element type, which may be reshaped.
fn bias(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    let (add, ty) = (AddOp::cast(m, op)?, m.value_type(m.result(op, 0)));
    let inner = |value: Value| match ReshapeOp::defining(m, value) {
        Some(reshape) if m.has_one_use(value) => product(m, reshape.0, reshape.x(m), element),
        _ => product(m, op, value, element),
    };
    let sides = [(add.a(m), add.b(m)), (add.b(m), add.a(m))];
    let (product, rows, columns) = sides.into_iter().find_map(|(x, columns)| Some((inner(x)?, x, columns)))?;
    // The bias of planes is per plane.
    ConvPlanesOp::cast(m, product).is_none().then_some(())?;
    let of = m.value_type(m.result(product, 0));
    let extents = |ty: Type| m.ctx.static_shape(ty);
    let (&[_, n], [.., last]) = (extents(of)?, extents(ty)?) else { return None };
    let ([ones @ .., own], is_constant) = (extents(m.value_type(columns))?, m.constant(columns).is_some()) else {
        return None;
    };
    let fits = *last == n && *own == n && ones.iter().all(|&d| d == 1) && m.value_type(rows) == ty;
    (fits && is_open(m, product, "bias") && is_constant && n > 0).then_some(())?;
    let flat = m.ctx.tensor_type(&[n], m.ctx.element_type(of));
    let mut columns = columns;
    if m.value_type(columns) != flat {
        let state = reshaped(r, op, columns, flat)?;
        columns = made(r, op, state)?;
    }
    let m = r.module();
    let mut state = OpState::with_operands_of(m, product);
    state.loc = m.loc(op);
    state.set_operand_group(m.info(product)?, "bias", &[columns]);
    state.result_types.push(of);
    if of == ty {
        return r.replace_with(op, state).ok().map(drop);
    }
    let sums = made(r, op, state)?;
    let state = reshaped(r, op, sums, ty)?;
    r.replace_with(op, state).ok().map(drop)
}

/// Returns a bound of a product's clamp.
fn bound(m: &Module, product: Op, name: &str) -> Option<f64> {
    m.ctx.as_float(m.args(product)?.attr(name)?)
}

/// Replaces an op by a copy of the product with more stages: attributes, and an optional residual.
fn replace(
    r: &mut Rewriter<'_>,
    op: Op,
    product: Op,
    stages: &[(&str, Option<Attr>)],
    add: Option<Value>,
) -> Option<()> {
    let m = r.module();
    let info = m.info(product)?;
    let mut state = OpState::with_operands_of(m, product);
    state.loc = m.loc(op);
    if let Some(add) = add {
        state.set_operand_group(info, "add", &[add]);
    }
    for &(name, attr) in stages.iter().filter(|(_, attr)| attr.is_some()) {
        state.set_inherent(&m.ctx, name, attr);
    }
    state.result_types.push(m.value_type(m.result(op, 0)));
    r.replace_with(op, state).ok().map(drop)
}

/// Makes a tensor of an element type the residual of the product that it is added to.
fn add_to_product(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    m.is_one_of(op, &[AddOp::INFO, SumOp::INFO]).then_some(())?;
    let (&[a, b], ty) = (m.operands(op), m.value_type(m.result(op, 0))) else { return None };
    let has_room = |&product: &Op| is_open(m, product, "add");
    let found = [(a, b), (b, a)].into_iter().find_map(|(x, y)| Some((product(m, op, x, element).filter(has_room)?, y)));
    let (product, other) = found.filter(|_| [a, b].iter().all(|&v| m.value_type(v) == ty))?;
    replace(r, op, product, &[], Some(other))
}

fn relu_of_product(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    let product = product(m, op, ReluOp::cast(m, op)?.x(m), element)?;
    bounded(r, op, product, [Some(0.0), None])
}

/// Fuses a relu of a concatenation into each of the concatenated products.
fn relu_of_concat(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    let concat = ConcatOp::defining(m, ReluOp::cast(m, op)?.x(m))?;
    let parts = m.operands(concat.0).to_vec();
    let is_product = |&part: &Value| product(m, concat.0, part, element).is_some();
    if !m.has_one_use(m.result(concat.0, 0)) || !parts.iter().all(is_product) {
        return None;
    }
    let mut all = OpState::like(m, concat.0);
    all.result_types.push(m.value_type(m.result(op, 0)));
    for part in parts {
        let m = r.module();
        let mut state = OpState::like(m, op);
        state.operands.push(part);
        state.result_types.push(m.value_type(part));
        // Directly after its product, so that live ranges do not grow.
        let next = m.next_op(m.defining_op(part)?)?;
        let relu = r.create_before(next, state).ok()?;
        all.operands.push(r.module().result(relu, 0));
    }
    r.replace_with(op, all).ok().map(drop)
}

fn clip_of_product(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    let clip = ClipOp::cast(m, op)?;
    bounded(r, op, product(m, op, clip.x(m), element)?, clip.constant_bounds(m)?)
}

/// Replaces an op by the product with its clamp composed with `low` and `high`.
fn bounded(r: &mut Rewriter<'_>, op: Op, product: Op, [low, high]: [Option<f64>; 2]) -> Option<()> {
    let m = r.module();
    let own = ["low", "high"].map(|name| bound(m, product, name));
    // A bound that is NaN makes every result NaN.
    if has_stage_after(m, product, "high") || [low, high].into_iter().chain(own).flatten().any(f64::is_nan) {
        return None;
    }
    // The later clamp also bounds the earlier bounds. Equal bounds would keep a zero of the other sign.
    let within = |x: f64| x.max(low.unwrap_or(f64::NEG_INFINITY)).min(high.unwrap_or(f64::INFINITY));
    let [low, high] = [own[0].map(within).or(low), own[1].map(within).or(high)];
    if low.zip(high).is_some_and(|(low, high)| low >= high) {
        return None;
    }
    let attr = |bound: Option<f64>| bound.map(|bound| m.ctx.float_attr(Type::F32, bound));
    replace(r, op, product, &[("low", attr(low)), ("high", attr(high))], None)
}

fn hard_swish_of_product(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    let product = product(m, op, HardSwishOp::cast(m, op)?.x(m), element)?;
    is_open(m, product, "activation").then_some(())?;
    replace(r, op, product, &[("activation", Some(m.ctx.string_attr("hard_swish")))], None)
}

fn scaled_product(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    let mul = MulOp::cast(m, op)?;
    with_number(r, op, [mul.a(m), mul.b(m)], "factor", element)
}

fn shifted_product(r: &mut Rewriter<'_>, op: Op, element: Type) -> Option<()> {
    let m = r.module();
    let add = AddOp::cast(m, op)?;
    with_number(r, op, [add.a(m), add.b(m)], "addend", element)
}

/// Makes a constant number a stage of the product with an activation that it is combined with.
fn with_number(r: &mut Rewriter<'_>, op: Op, [a, b]: [Value; 2], stage: &str, element: Type) -> Option<()> {
    let m = r.module();
    let number = |value: Value| m.ctx.as_uniform(m.constant(value)?).filter(|number| number.is_finite());
    let found = [(a, b), (b, a)].into_iter().find_map(|(x, y)| Some((product(m, op, x, element)?, x, number(y)?)));
    let (product, x, number) = found.filter(|(_, x, _)| m.value_type(*x) == m.value_type(m.result(op, 0)))?;
    (has_stage(m, product, "activation") && is_open(m, product, stage)).then_some(x)?;
    replace(r, op, product, &[(stage, Some(m.ctx.float_attr(Type::F32, number)))], None)
}

/// Whether a stage may be added to the epilogue of a product.
fn is_open(m: &Module, product: Op, stage: &str) -> bool {
    !has_stage(m, product, stage) && !has_stage_after(m, product, stage)
}
