//! `tensor.extract` and `tensor.insert`.

use super::cast::{CastOp, before_cast, replace_and_cast};
use super::types::{ranked_element, shape};
use super::{FromElementsOp, GenerateOp, SplatOp, data, names};
use crate::constraint::{ANY, INDEX, RANKED_TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, Effects, Folded, InsertPoint, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter,
    Traits, TypeRelation, ValueMap, Violation, op,
};

/// Extracts an element. Out-of-bounds indices are undefined behavior.
///
/// ```mlir
/// %0 = tensor.extract %a[%i, %j] : tensor<4x?xf32>
/// ```
#[op(
    "tensor.extract",
    effects = Effects::MayUb,
    relations = &[TypeRelation::Derived {
        to: "result",
        from: "tensor",
        of: ranked_element,
        summary: "result type matches element type of tensor",
    }],
    verify = verify_extract,
    fold = fold_extract,
    eval = extract,
    moves = &["tensor"],
    patterns = &[EXTRACT_FROM_CAST, EXTRACT_FROM_GENERATE, EXTRACT_FROM_INDEX_CAST],
    result_names = |_, _| names("extracted"),
    format = "$tensor `[` $indices `]` attr-dict `:` type($tensor)"
)]
pub struct ExtractOp {
    /// Tensor of the extracted element.
    tensor: Operand<RANKED_TENSOR>,
    /// Indices, one per dimension.
    indices: Operands<INDEX>,
    /// Element.
    result: OpResult<ANY>,
}

/// Returns a copy of a tensor with one element replaced. Out-of-bounds indices are undefined behavior.
///
/// ```mlir
/// %0 = tensor.insert %s into %a[%i, %j] : tensor<4x?xf32>
/// ```
#[op(
    "tensor.insert",
    traits = Traits::NO_CONSTANT_FOLDING,
    effects = Effects::MayUb,
    relations = &[
        TypeRelation::Derived {
            to: "result",
            from: "dest",
            of: |_, ty| Some(ty),
            summary: "result type matches type of dest",
        },
        TypeRelation::Derived {
            to: "scalar",
            from: "dest",
            of: ranked_element,
            summary: "scalar type matches element type of dest",
        },
    ],
    verify = verify_insert,
    fold = fold_insert,
    eval = insert,
    moves = &["scalar", "dest"],
    patterns = &[INSERT_INTO_CAST],
    result_names = |_, _| names("inserted"),
    format = "$scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest)"
)]
pub struct InsertOp {
    /// Element.
    scalar: Operand<ANY>,
    /// Destination tensor.
    dest: Operand<RANKED_TENSOR>,
    /// Indices, one per dimension.
    indices: Operands<INDEX>,
    /// Updated tensor.
    result: OpResult<RANKED_TENSOR>,
}

/// Extracts from the source of a cast.
const EXTRACT_FROM_CAST: Pattern = Pattern { name: "extract from cast", run: extract_from_cast };

/// Extracts from `tensor.generate` by inlining its body.
const EXTRACT_FROM_GENERATE: Pattern = Pattern { name: "extract from generate", run: extract_from_generate };

/// Extracts from an index cast by casting the extracted element.
const EXTRACT_FROM_INDEX_CAST: Pattern = Pattern { name: "extract from index cast", run: extract_from_index_cast };

/// Inserts into the source of a cast, and casts the result.
const INSERT_INTO_CAST: Pattern = Pattern { name: "insert into cast", run: insert_into_cast };

fn verify_extract(m: &Module, op: Op) -> Result<(), Violation> {
    let op = ExtractOp(op);
    if op.indices(m).len() == shape(&m.ctx, m.value_type(op.tensor(m))).len() {
        return Ok(());
    }
    Err("incorrect number of indices for extract_element".into())
}

fn verify_insert(m: &Module, op: Op) -> Result<(), Violation> {
    let op = InsertOp(op);
    if op.indices(m).len() == shape(&m.ctx, m.value_type(op.dest(m))).len() {
        return Ok(());
    }
    Err("incorrect number of indices".into())
}

fn fold_extract(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (m, ctx, tensor) = (args.module, args.ctx(), args.operands[0]);
    if let Some(splat) = SplatOp::defining(m, tensor) {
        return Some(splat.input(m).into());
    }
    if let Some(insert) = InsertOp::defining(m, tensor)
        && *insert.indices(m) == args.operands[1..]
    {
        return Some(insert.scalar(m).into());
    }
    if let Some(gradus_ir::AttrData::Dense(dense)) = constants[0].map(|c| ctx.attr_data(c))
        && dense.splat
    {
        return data::constant_element(ctx, constants[0]?, 0).map(Folded::from);
    }
    let indices: Option<Vec<i64>> = constants[1..].iter().map(|c| ctx.as_int((*c)?)).collect();
    let extents: Option<Vec<usize>> =
        ctx.static_shape(args.operand_type(0))?.iter().map(|&d| usize::try_from(d).ok()).collect();
    let at = data::position(&extents?, &indices?).ok()?;
    if let Some(elements) = FromElementsOp::defining(m, tensor).map(|op| op.elements(m)) {
        return elements.get(at).map(|&element| element.into());
    }
    data::constant_element(ctx, constants[0]?, at).map(Folded::from)
}

/// Folds the insertion of a scalar into a splat of the same scalar.
fn fold_insert(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let splat = data::splat_constant(args.ctx(), constants[0]?, args.operand_type(1))?;
    (constants[1] == Some(splat)).then(|| args.operands[1].into())
}

fn extract_from_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(source) = CastOp::defining(m, ExtractOp(op).tensor(m)).map(|cast| cast.source(m)) else { return false };
    if m.ctx.shape(m.value_type(source)).is_none() {
        return false;
    }
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

fn extract_from_generate(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(generate) = GenerateOp::defining(m, ExtractOp(op).tensor(m)) else { return false };
    let Some(block) = m.entry(generate.body(m)).filter(|_| gradus_ir::effects::is_memory_free(m, generate.0)) else {
        return false;
    };
    let Some(end) = m.last_op(block) else { return false };
    let Some(&element) = m.operands(end).first() else { return false };
    let args = m.block_args(block).iter().copied();
    let mut map: ValueMap = args.zip(ExtractOp(op).indices(m)).collect();
    let body: Vec<Op> = m.block_ops(block).filter(|&inner| inner != end).collect();
    for inner in body {
        r.clone_op(inner, &mut map, InsertPoint::Before(op));
    }
    let element = map.get(&element).copied().unwrap_or(element);
    r.replace(op, &[element]);
    true
}

fn extract_from_index_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let cast = crate::arith::IndexCastOp::defining(m, ExtractOp(op).tensor(m));
    let Some(source) = cast.map(|cast| cast.input(m)) else { return false };
    let mut state = OpState::new(&m.ctx, ExtractOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    state.operand_group(&ExtractOp(op).indices(m));
    let Ok(extract) = r.create_before(op, state) else { return false };
    let m = r.module();
    let mut state = OpState::new(&m.ctx, crate::arith::IndexCastOp::INFO.name, m.loc(op));
    state.operand_group(&[m.result(extract, 0)]);
    state.result_types.push(m.value_type(m.result(op, 0)));
    r.replace_with(op, state).is_ok()
}

fn insert_into_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let insert = InsertOp(op);
    let Some(dest) = before_cast(m, insert.dest(m)) else { return false };
    let mut state = OpState::new(&m.ctx, InsertOp::INFO.name, m.loc(op));
    state.operand_group(&[insert.scalar(m)]);
    state.operand_group(&[dest]);
    state.operand_group(&insert.indices(m));
    replace_and_cast(r, op, state)
}

/// Returns the linear index of run-time indices.
fn position(shape: &[usize], indices: &[Datum]) -> Result<usize, Trap> {
    let indices: Vec<i64> = indices.iter().map(Datum::int).collect::<Result<_, _>>()?;
    data::position(shape, &indices)
}

fn extract(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let tensor = data[0].tensor()?;
    Ok(vec![data::element(tensor, position(tensor.shape(), &data[1..])?)?])
}

fn insert(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let tensor = data[1].tensor()?;
    let at = position(tensor.shape(), &data[2..])?;
    let scalar = Datum::from_elements(tensor.dtype(), &[], &data[..1])?;
    Ok(vec![Datum::Tensor(data::put(scalar.tensor()?, tensor, [at]))])
}
