//! `tensor.gather` and `tensor.scatter`.

use super::types::{INDEX_TENSOR, shape, with_shape};
use super::{data, names};
use crate::constraint::{I64_ARRAY, RANKED_TENSOR, UNIT};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, AttrKind, AttrText, DYNAMIC, Directive, Effects, Folded, Module, Op, OpArgs, OpParser, Tensor, Traits, Type,
    Violation, op,
};

/// Gathers slices of a tensor at rows of coordinates.
///
/// The gathered dimensions have extent 1 in a slice. The result shape is the shape of `indices` without its last
/// dimension, followed by the slice shape, with or without its gathered dimensions. Out-of-bounds coordinates, and
/// equal ones if `unique`, are undefined behavior.
///
/// ```mlir
/// %0 = tensor.gather %a[%coordinates] gather_dims([0, 2]) unique : (tensor<4x5x6xf32>, tensor<7x2xindex>) -> tensor<7x5xf32>
/// ```
#[op(
    "tensor.gather",
    traits = Traits::NO_CONSTANT_FOLDING,
    effects = Effects::MayUb,
    directives = &[&DIMS],
    verify = verify_gather,
    fold = fold_gather,
    eval = gather,
    moves = &["source"],
    result_names = |_, _| names("gather"),
    format = "$source `[` $indices `]` `gather_dims` `(` custom<Dims>($gather_dims) `)` (`unique` $unique^)? attr-dict
              `:` functional-type(operands, results)"
)]
pub struct GatherOp {
    /// Tensor of the gathered slices.
    source: Operand<RANKED_TENSOR>,
    /// Coordinates.
    indices: Operand<INDEX_TENSOR>,
    /// Gathered dimensions.
    gather_dims: Attribute<I64_ARRAY>,
    /// Whether coordinates are guaranteed unique.
    unique: OptAttribute<UNIQUE>,
    /// Slices.
    result: OpResult<RANKED_TENSOR>,
}

/// Returns a copy of a tensor with slices at rows of coordinates replaced; the inverse of `tensor.gather`. Coordinates
/// must be unique.
///
/// ```mlir
/// %0 = tensor.scatter %s into %a[%coordinates] scatter_dims([0, 2]) unique : (tensor<7x5xf32>, tensor<4x5x6xf32>, tensor<7x2xindex>) -> tensor<4x5x6xf32>
/// ```
#[op(
    "tensor.scatter",
    traits = Traits::NO_CONSTANT_FOLDING,
    effects = Effects::MayUb,
    directives = &[&DIMS],
    verify = verify_scatter,
    eval = scatter,
    moves = &["source", "dest"],
    result_names = |_, _| names("scatter"),
    format = "$source `into` $dest `[` $indices `]` `scatter_dims` `(` custom<Dims>($scatter_dims) `)` (`unique` $unique^)?
              attr-dict `:` functional-type(operands, results)"
)]
pub struct ScatterOp {
    /// Slices.
    source: Operand<RANKED_TENSOR>,
    /// Destination tensor.
    dest: Operand<RANKED_TENSOR>,
    /// Coordinates.
    indices: Operand<INDEX_TENSOR>,
    /// Gathered dimensions.
    scatter_dims: Attribute<I64_ARRAY>,
    /// Guarantee that coordinates are unique.
    unique: OptAttribute<UNIQUE>,
    /// Updated tensor.
    result: OpResult<RANKED_TENSOR>,
}

const UNIQUE: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// `custom<Dims>($attr)`: `[0, 1]` for `array<i64: 0, 1>`.
const DIMS: Directive = Directive {
    name: "Dims",
    parse: |p, params| {
        p.expect("[")?;
        let dims = p.list("]", OpParser::integer)?;
        let attr = p.ctx().i64_array_attr(&dims);
        p.set_attr(params[0], attr);
        Ok(())
    },
    print: |p, params| {
        let dims = p.inherent(params[0]).and_then(|a| p.ctx().as_ints(a)).unwrap_or_default();
        p.text("[");
        p.list(dims, |p, n| p.text(&n.to_string()));
        p.text("]");
        Ok(())
    },
};

fn dims_of(m: &Module, attr: Option<Attr>) -> Vec<i64> {
    attr.and_then(|a| m.ctx.as_ints(a)).unwrap_or_default()
}

fn verify_gather(m: &Module, op: Op) -> Result<(), Violation> {
    let op = GatherOp(op);
    let (whole, indices) = (m.value_type(op.source(m)), m.value_type(op.indices(m)));
    let dims = dims_of(m, op.gather_dims(m));
    verify_dims(m, &dims, indices, whole, ("gather", "source"))?;
    verify_slices(m, &dims, indices, whole, m.value_type(op.result(m)), "result")
}

fn verify_scatter(m: &Module, op: Op) -> Result<(), Violation> {
    let op = ScatterOp(op);
    let (whole, indices) = (m.value_type(op.dest(m)), m.value_type(op.indices(m)));
    let dims = dims_of(m, op.scatter_dims(m));
    verify_dims(m, &dims, indices, whole, ("scatter", "dest"))?;
    if op.unique(m).is_none() {
        return Err("requires 'unique' attribute to be set".into());
    }
    verify_slices(m, &dims, indices, whole, m.value_type(op.source(m)), "source")
}

fn verify_dims(m: &Module, dims: &[i64], indices: Type, whole: Type, (op, of): (&str, &str)) -> Result<(), Violation> {
    let rank = shape(&m.ctx, whole).len();
    let error = |message: &str| Err(Violation::from(format!("{op}_dims {message}")));
    if dims.is_empty() {
        return error("must be non-empty");
    }
    if dims.len() > rank {
        return error(&format!("overflow {of} rank"));
    }
    if shape(&m.ctx, indices).last() != Some(&(dims.len() as i64)) {
        return error("length must match the size of last dimension of indices");
    }
    for (i, &dim) in dims.iter().enumerate() {
        if dim < 0 {
            return error("value must be non-negative");
        }
        if dim >= rank as i64 {
            return error(&format!("value must be smaller than {of} rank"));
        }
        if i > 0 && dims[i - 1] >= dim {
            return error("values must be strictly increasing");
        }
    }
    Ok(())
}

/// Verifies the type of slices of `whole`, which may omit unit dimensions.
fn verify_slices(
    m: &Module,
    dims: &[i64],
    indices: Type,
    whole: Type,
    slices: Type,
    which: &str,
) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let rows = shape(ctx, indices).split_last().map_or(&[][..], |(_, rows)| rows);
    let extents = shape(ctx, whole).iter().zip(0..);
    let full: Vec<i64> = extents.clone().map(|(&d, i)| if dims.contains(&i) { 1 } else { d }).collect();
    let reduced: Vec<i64> = extents.filter(|(_, i)| !dims.contains(i)).map(|(&d, _)| d).collect();
    let [full, reduced] = [full, reduced].map(|slice| with_shape(ctx, whole, &[rows, &slice].concat()));
    if slices == full || slices == reduced {
        return Ok(());
    }
    let [full, reduced, slices] = [full, reduced, slices].map(|ty| ctx.display_type(ty));
    Err(format!("{which} type mismatch: expected '{full}' or its rank-reduced variant '{reduced}' (got: '{slices}')")
        .into())
}

/// Folds gathering from a splat.
fn fold_gather(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    data::retyped_constant(args.ctx(), constants[0]?, *args.result_types.first()?, true).map(Folded::from)
}

/// Returns the linear indices of all slices, concatenated.
fn numbers(shape: &[usize], indices: &Tensor, dims: &[i64], unique: bool) -> Result<Vec<usize>, Trap> {
    let rows = indices.to_i64().ok_or_else(|| Trap::unsupported("expected a tensor of integers"))?;
    let mut numbers = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for row in rows.chunks_exact(dims.len().max(1)) {
        if unique && !seen.insert(row) {
            return Err(Trap::Ub(format!("the coordinates {row:?} are not unique")));
        }
        let mut offsets = vec![0; shape.len()];
        let mut sizes: Vec<i64> = shape.iter().map(|&d| d as i64).collect();
        for (&dim, &at) in dims.iter().zip(row) {
            let dim = usize::try_from(dim).map_err(|_| Trap::unsupported("a negative dimension"))?;
            (offsets[dim], sizes[dim]) = (at, 1);
        }
        numbers.extend(data::part(shape, &[offsets, sizes, vec![1; shape.len()]])?);
        data::extents(&[numbers.len() as i64])?;
    }
    Ok(numbers)
}

/// Returns the shape of the slices of type `ty`; dynamic extents are those of the coordinates or of `whole`.
fn slices_shape(args: &OpArgs<'_>, ty: Type, whole: &[usize], indices: &[usize], dims: &[i64]) -> Vec<usize> {
    let want = shape(args.ctx(), ty);
    let rows = indices.split_last().map_or(&[][..], |(_, rows)| rows);
    let reduced = want.len() < rows.len() + whole.len();
    let extents = whole.iter().zip(0..).filter_map(|(&d, i)| match dims.contains(&i) {
        true if reduced => None,
        true => Some(1),
        false => Some(d),
    });
    debug_assert!(want.iter().all(|&d| d >= 0 || d == DYNAMIC));
    rows.iter().copied().chain(extents).collect()
}

fn gather(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (source, indices) = (data[0].tensor()?, data[1].tensor()?);
    let dims = args.ints("gather_dims").unwrap_or_default();
    let numbers = numbers(source.shape(), indices, &dims, args.flag("unique"))?;
    let shape = slices_shape(args, args.result_types[0], source.shape(), indices.shape(), &dims);
    Ok(vec![Datum::Tensor(data::take(source, &shape, numbers))])
}

fn scatter(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    if args.result_types[0] != args.operand_type(1) {
        return Err(Trap::unsupported("a tensor type that changes between iterations"));
    }
    let (source, dest, indices) = (data[0].tensor()?, data[1].tensor()?, data[2].tensor()?);
    let dims = args.ints("scatter_dims").unwrap_or_default();
    let numbers = numbers(dest.shape(), indices, &dims, true)?;
    if numbers.len() != source.len() {
        return Err(Trap::Ub("the shapes of slices and coordinates do not match".into()));
    }
    Ok(vec![Datum::Tensor(data::put(source, dest, numbers))])
}
