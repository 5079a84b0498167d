//! Linearization of multi-dimensional indices: `affine.linearize_index`, `affine.delinearize_index`.

mod patterns;

use super::scope::DimValues;
use crate::constraint::{I64_ARRAY, INDEX, UNIT};
use crate::directives::{index_list, print_index_list};
use crate::views::{Mixed, mixed_entries, runtime_entries};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, AttrKind, AttrText, DYNAMIC, Directive, Effects, FoldResult, Folded, Module, Op, OpArgs, Traits, Type,
    Violation, op,
};
use patterns::{DELINEARIZE, LINEARIZE};

/// A unit attribute spelled as a keyword.
const UNIT_FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// `custom<Basis>($dynamic, $static)`: `(%n, 4)`.
const BASIS: Directive = Directive {
    name: "Basis",
    parse: |p, params| {
        p.expect("(")?;
        let (values, statics) = index_list(p, ")")?;
        p.set_operands(params[0], values);
        p.set_attr(params[1], p.ctx().i64_array_attr(&statics));
        Ok(())
    },
    print: |p, params| {
        print_index_list(p, params[0], params[1], "(", ")");
        Ok(())
    },
};

/// Splits a linear index into indices of a multi-dimensional basis, last dimension fastest.
///
/// The size of the first dimension is optional. If it is given, an out-of-bounds linear index yields poison.
///
/// ```mlir
/// %0:3 = affine.delinearize_index %i into (2, %n, 5) : index, index, index
/// ```
#[op(
    "affine.delinearize_index",
    effects = Effects::MayUb,
    format = "$linear_index `into` custom<Basis>($dynamic_basis, $static_basis) attr-dict `:` type($multi_index)",
    directives = &[&BASIS],
    verify = verify_delinearize,
    fold = fold_delinearize,
    eval = delinearize,
    patterns = DELINEARIZE,
    extensions = &[&DimValues::Results]
)]
pub struct DelinearizeIndexOp {
    /// Linear index.
    linear_index: Operand<INDEX>,
    /// Dynamic sizes.
    dynamic_basis: Operands<INDEX>,
    /// All sizes, with placeholders for dynamic ones.
    static_basis: Attribute<I64_ARRAY>,
    /// Indices per dimension.
    multi_index: OpResults<INDEX>,
}

/// Combines multi-dimensional indices into a linear index, last dimension fastest.
///
/// The size of the first dimension is optional. With `disjoint`, an index outside its dimension yields poison.
///
/// ```mlir
/// %0 = affine.linearize_index disjoint [%i, %j, %k] by (2, %n, 5) : index
/// ```
#[op(
    "affine.linearize_index",
    traits = Traits::OPERAND_SEGMENTS,
    format = "(`disjoint` $disjoint^)? ` ` `[` $multi_index `]` `by` custom<Basis>($dynamic_basis, $static_basis) attr-dict `:` type($linear_index)",
    directives = &[&BASIS],
    verify = verify_linearize,
    fold = fold_linearize,
    eval = linearize,
    patterns = LINEARIZE,
    extensions = &[&DimValues::Results]
)]
pub struct LinearizeIndexOp {
    /// Indices per dimension.
    multi_index: Operands<INDEX>,
    /// Dynamic sizes.
    dynamic_basis: Operands<INDEX>,
    /// All sizes, with placeholders for dynamic ones.
    static_basis: Attribute<I64_ARRAY>,
    /// Whether every index is guaranteed to be in bounds.
    disjoint: OptAttribute<UNIT_FLAG>,
    /// Linear index.
    linear_index: OpResult<INDEX>,
}

impl DelinearizeIndexOp {
    /// Returns the given sizes.
    pub fn basis(self, m: &Module) -> Vec<Mixed> {
        m.args(self.0).map(|args| mixed_entries(&args, "dynamic_basis", "static_basis")).unwrap_or_default()
    }

    /// Returns one size per index; `None` for an omitted first size.
    pub fn padded_basis(self, m: &Module) -> Vec<Option<Mixed>> {
        pad(self.basis(m), m.num_results(self.0))
    }
}

impl LinearizeIndexOp {
    /// Returns the given sizes.
    pub fn basis(self, m: &Module) -> Vec<Mixed> {
        m.args(self.0).map(|args| mixed_entries(&args, "dynamic_basis", "static_basis")).unwrap_or_default()
    }

    /// Returns one size per index; `None` for an omitted first size.
    pub fn padded_basis(self, m: &Module) -> Vec<Option<Mixed>> {
        pad(self.basis(m), self.multi_index(m).len())
    }

    /// Whether every index is guaranteed to be in bounds.
    pub fn is_disjoint(self, m: &Module) -> bool {
        self.disjoint(m).is_some()
    }
}

/// Prepends `None` for an omitted first size.
fn pad(basis: Vec<Mixed>, indices: usize) -> Vec<Option<Mixed>> {
    let missing = std::iter::repeat_n(None, indices.saturating_sub(basis.len()));
    missing.chain(basis.into_iter().map(Some)).collect()
}

/// Verifies the sizes for a number of indices; `message` is the error for a mismatch.
fn verify_basis(m: &Module, op: Op, indices: usize, message: &str) -> Result<Vec<i64>, Violation> {
    let args = m.args(op).ok_or("is not registered")?;
    let basis = args.ints("static_basis").unwrap_or_default();
    if indices != basis.len() && indices != basis.len() + 1 {
        return Err(message.into());
    }
    if basis.iter().filter(|&&size| size == DYNAMIC).count() != args.operand("dynamic_basis").len() {
        return Err("mismatch between dynamic and static basis (kDynamic marker but no corresponding dynamic basis entry) -- this can only happen due to an incorrect fold/rewrite".into());
    }
    Ok(basis)
}

fn verify_delinearize(m: &Module, op: Op) -> Result<(), Violation> {
    let message = "should return an index for each basis element and up to one extra index";
    let basis = verify_basis(m, op, m.num_results(op), message)?;
    if basis.iter().any(|&size| size <= 0 && size != DYNAMIC) {
        return Err("no basis element may be statically non-positive".into());
    }
    Ok(())
}

fn verify_linearize(m: &Module, op: Op) -> Result<(), Violation> {
    let message = "should be passed a basis element for each index except possibly the first";
    verify_basis(m, op, LinearizeIndexOp(op).multi_index(m).len(), message).map(|_| ())
}

/// Evaluates the sizes; `None` for an omitted first size.
fn sizes(args: &OpArgs<'_>, data: &[Datum], indices: usize) -> Result<Vec<Option<i64>>, Trap> {
    let basis = runtime_entries(args, data, "dynamic_basis", "static_basis")?;
    let missing = std::iter::repeat_n(None, indices.saturating_sub(basis.len()));
    Ok(missing.chain(basis.into_iter().map(Some)).collect())
}

fn delinearize(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let n = args.result_types.len();
    let sizes = sizes(args, data, n)?;
    if sizes.iter().flatten().any(|&size| size < 1) || strides(&sizes).is_none() {
        return Err(Trap::Ub("the basis has a non-positive size or overflows".into()));
    }
    let (mut rest, mut indices) = (data[0].int()?, vec![Datum::Poison; n]);
    for i in (1..n).rev() {
        let size = sizes[i].unwrap_or(1);
        indices[i] = Datum::Int(rest.rem_euclid(size));
        rest = rest.div_euclid(size);
    }
    // A given first size guarantees that the linear index is in bounds.
    if n == 0 || sizes[0].is_some_and(|size| !(0..size).contains(&rest)) {
        return Ok(vec![Datum::Poison; n]);
    }
    indices[0] = Datum::Int(rest);
    Ok(indices)
}

fn linearize(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let indices = &data[args.operand_range("multi_index")];
    let sizes = sizes(args, data, indices.len())?;
    let Some(strides) = strides(&sizes) else { return Ok(vec![Datum::Poison]) };
    // The order of summation must not matter for overflow.
    let (mut position, mut magnitude) = (0i128, 0i128);
    for ((index, size), stride) in indices.iter().zip(&sizes).zip(strides) {
        let index = index.int()?;
        if args.flag("disjoint") && (index < 0 || size.is_some_and(|size| index >= size)) {
            return Ok(vec![Datum::Poison]);
        }
        let term = i128::from(index) * i128::from(stride);
        (position, magnitude) = (position + term, magnitude.saturating_add(term.abs()));
    }
    let fits = magnitude <= i64::MAX.into();
    Ok(vec![if fits { Datum::Int(position as i64) } else { Datum::Poison }])
}

/// Returns the product of the sizes after each dimension; `None` on overflow.
fn strides(sizes: &[Option<i64>]) -> Option<Vec<i64>> {
    let mut strides = vec![1i64; sizes.len()];
    for i in (1..sizes.len()).rev() {
        strides[i - 1] = strides[i].checked_mul(sizes[i]?)?;
    }
    Some(strides)
}

/// Folds a single index to the linear index.
fn fold_delinearize(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    match args.result_types.len() {
        0 => None,
        1 => Some(Folded::Results(vec![FoldResult::Value(args.operands[0])])),
        _ => None,
    }
}

/// Folds no index to 0, and a single index to itself.
fn fold_linearize(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    match args.operand("multi_index") {
        [] => Some(args.ctx().int_attr(Type::INDEX, 0).into()),
        &[index] => Some(index.into()),
        _ => None,
    }
}
