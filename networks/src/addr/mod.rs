//! `addr`: products and pools whose operands are addressed by tables, or by the geometry from which a table is computed.
//!
//! Source: the seed on static compiled representations. An [`AccessFunction`](crate::layout::AccessFunction) computes
//! the tables. They are ordinary constants, so layers of the same geometry share them, and large ones can be resources.
//! Evaluation, checks and kernels read them as an [`AddressTable`](crate::layout::AddressTable). The kinds of addressing
//! are separate ops, because their operands differ.

mod division;
mod geometry;
mod planes;
mod product;
mod sparse;
mod table;
mod window;

pub use division::{Division, SparseShape};
pub use geometry::{GEOMETRY, Geometry, GeometryAttr, GeometryKind};
pub use planes::{ConvPlanesOp, bands_of, channels_per_filter};
pub use product::{has_stage, has_stage_after};
pub use sparse::{SparseGemm, SparseGemmOp};
pub use table::{StaticAccess, constant_table};
pub use window::{DepthwiseOp, PoolOp};

use crate::graph::Inputs;
use gradus_dialects::constraint::{F32, RANKED_TENSOR, UNIT, kind};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost, elements};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::times;
use gradus_ir::{
    AttrDecl, AttrKind, AttrText, DType, DYNAMIC, Dialect, Effects, Module, Op, OpArgs, OpDecl, OpInfo, Tensor, Traits,
    Type, TypeConstraint, Violation, op,
};
use gradus_reference_kernels as kernels;
use product::{ACTIVATION, epilogue, infer_sums, product_op, zero_points};
use std::ops::Range;
use table::{gathered, table};

/// A table of offsets, in elements.
const OFFSETS: TypeConstraint = TypeConstraint {
    summary: "ranked tensor of 32-bit signless integer values",
    check: |c, t| (RANKED_TENSOR.check)(c, t) && c.element_type(t) == Type::I32,
    only: None,
};

/// A keyword that sets a unit attribute.
const FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// Number of contiguous elements per run.
const RUN: AttrKind = AttrKind {
    text: AttrText::Bare(Type::I64),
    ..kind("64-bit signless integer attribute whose value is positive", |c, a| {
        c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|n| n > 0)
    })
};

product_op! {
    /// Matrix product of gathered elements: `c[m, n] = sum over k of a[base[m] + relative[k]] * b[n, k]`.
    ///
    /// Addresses count elements of `a` in row-major order. With `running`, `relative` is delta-encoded. An address outside
    /// the buffer is undefined behavior. Floats accumulate as in `graph.matmul`, 8-bit integers in 32 bits.
    ///
    /// `b` is a matrix `[N, K]`, or packed panels `[ceil(N / nr), K, nr]` as `layout.pack` into `NK16n` produces them; then
    /// `columns` gives N.
    ///
    /// `base` may be `[G, M]`, for products of G groups: then each of G equal parts of the columns has a base of its own for each
    /// row, `c[m, n] = sum over k of a[base[n / (N / G), m] + relative[k]] * b[n, k]`. Panels of packed `b` belong to one group.
    ///
    /// Epilogue, in this order: `bias`, one summand per column; `plus`, one summand per element of the result; clamping to
    /// `low` and `high`; `activation = "hard_swish"`; multiplication by `factor`; addition of `addend`.
    ///
    /// With `block`, the result is `[N / block, M, block]`: blocks of columns one behind the other, as in layouts with blocked channels,
    /// or with a block of 1, in layouts with channels first. So is `plus`.
    ///
    /// 8-bit factors may have zero points `a_zero` and `b_zero`, which are subtracted before the product. `scale`
    /// requantizes the sums: they are multiplied by the scale in 64 bits, added to the zero point after `zero`, rounded
    /// half to even and saturated.
    ///
    /// ```mlir
    /// %c = addr.gemm %a[%base + %relative], %b : (tensor<1x1x4x4xf32>, tensor<4xi32>, tensor<9xi32>, tensor<2x9xf32>) -> tensor<4x2xf32>
    /// ```
    "addr.gemm" "$a `[` $base `+` $relative `]` (`running` $running^)? `,` $b (`columns` $columns^)?" infer infer_gemm eval gemm
    pub struct GemmOp {
        /// Whether `relative` is delta-encoded.
        running: OptAttribute<FLAG>,
        /// Buffer of the left factors.
        a: Operand<RANKED_TENSOR>,
        /// Base address of each row, `[M]`, or of each row of each group, `[G, M]`.
        base: Operand<OFFSETS>,
        /// Offset of each reduction index, `[K]`.
        relative: Operand<OFFSETS>,
        /// Right factors, `[N, K]` or packed panels `[P, K, nr]`.
        b: Operand<RANKED_TENSOR>,
        /// Number of columns N, for packed panels only.
        columns: OptAttribute<RUN>,
        /// Number of columns of a block of the result, if these are one behind the other.
        block: OptAttribute<RUN>,
        /// Product, `[M, N]` or `[N / block, M, block]`.
        c: OpResult<RANKED_TENSOR>,
    }
}

product_op! {
    /// Matrix product of gathered runs: `c[m, n] = sum over k of a[bases[m, k / run] + k % run] * b[n, k]`.
    ///
    /// The base -1 denotes padding: a run of zeros, or of zero points. With groups, `bases` is `[G, M, K / run]`. Everything else
    /// is as in `addr.gemm`.
    ///
    /// ```mlir
    /// %c = addr.indirect_gemm %a[%bases] run 4, %b : (tensor<1x3x3x4xf32>, tensor<9x9xi32>, tensor<2x36xf32>) -> tensor<9x2xf32>
    /// ```
    "addr.indirect_gemm" "$a `[` $bases `]` `run` $run `,` $b (`columns` $columns^)?" infer infer_gemm eval gemm
    pub struct IndirectGemmOp {
        /// Number of contiguous elements per run.
        run: Attribute<RUN>,
        /// Buffer of the left factors.
        a: Operand<RANKED_TENSOR>,
        /// Base address of each row and run, `[M, K / run]` or `[G, M, K / run]`.
        bases: Operand<OFFSETS>,
        /// Right factors, `[N, K]` or packed panels `[P, K, nr]`.
        b: Operand<RANKED_TENSOR>,
        /// Number of columns N, for packed panels only.
        columns: OptAttribute<RUN>,
        /// Number of columns of a block of the result, if these are one behind the other.
        block: OptAttribute<RUN>,
        /// Product, `[M, N]` or `[N / block, M, block]`.
        c: OpResult<RANKED_TENSOR>,
    }
}

fn shape<'a>(args: &OpArgs<'a>, name: &str) -> &'a [i64] {
    args.opt_operand(name).and_then(|v| args.ctx().shape(args.module.value_type(v))).unwrap_or(&[])
}

/// Returns the number of groups of a product; `None` if it is not known.
pub fn groups(args: &OpArgs<'_>) -> Option<usize> {
    usize::try_from(extents(args).ok()?[0]).ok()
}

/// Returns the number of groups G, and the extents M and K, according to the tables.
fn extents(args: &OpArgs<'_>) -> Result<[i64; 3], Violation> {
    let run = args.int("run").unwrap_or(1);
    match (shape(args, "base"), shape(args, "relative"), shape(args, "bases")) {
        (&[m], &[k], []) => Ok([1, m, k]),
        (&[groups, m], &[k], []) => Ok([groups, m, k]),
        ([], [], &[m, runs]) => Ok([1, m, times(runs, run)]),
        ([], [], &[groups, m, runs]) => Ok([groups, m, times(runs, run)]),
        _ if args.opt_operand("bases").is_some() => Err("requires 'bases' of rank 2, or 3 with groups".into()),
        _ => Err("requires 'base' of rank 1, or 2 with groups, and 'relative' of rank 1".into()),
    }
}

/// Returns the extents N and K according to the right factor of `groups` groups.
fn rhs_extents(args: &OpArgs<'_>, groups: i64) -> Result<[i64; 2], Violation> {
    let [n, k] = match (shape(args, "b"), args.int("columns")) {
        (&[n, k], None) => [n, k],
        (&[_, k, _], Some(n)) => [n, k],
        (_, None) => return Err("requires 'b' of rank 2".into()),
        (_, Some(_)) => return Err("requires 'b' of rank 3, because 'columns' is present".into()),
    };
    if groups != DYNAMIC && n != DYNAMIC && n.checked_rem(groups) != Some(0) {
        return Err(format!("requires columns that {groups} groups divide, not {n}").into());
    }
    match *shape(args, "b") {
        [panels, _, width] if ![panels, width, groups].contains(&DYNAMIC) => {
            let fits = width > 0 && n / groups > 0 && Some(panels) == groups.checked_mul((n / groups - 1) / width + 1);
            fits.then_some([n, k])
                .ok_or_else(|| format!("requires panels for {n} columns, but 'b' has {panels} of width {width}").into())
        }
        _ => Ok([n, k]),
    }
}

fn infer_gemm(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let [groups, m, k] = extents(args)?;
    let [n, depth] = rhs_extents(args, groups)?;
    if k != depth && k != DYNAMIC && depth != DYNAMIC {
        return Err(format!("'b' has {depth} columns, but the offsets address {k}").into());
    }
    infer_sums(args, [m, n])
}

/// Whether two extents are equal or one of them is dynamic.
fn is_compatible(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let [groups, m, k] = extents(args).unwrap_or([1; 3]);
    let [n, _] = rhs_extents(args, groups).unwrap_or([1; 2]);
    let [groups, m, k, n] = [groups.max(1), m, k, n].map(|extent| u64::try_from(extent).unwrap_or(1));
    let runs = args.opt_operand("bases").map_or(0, |bases| elements(args, args.module.value_type(bases)));
    OpCost::Contract(Contraction { runs, ..Contraction::dense(groups, m, k, n / groups) })
}

/// Whether all addresses are constant and in bounds.
fn is_inside(m: &Module, op: Op) -> bool {
    is_static(m, op) && StaticAccess::of(m, op).is_some_and(|reads| reads.check().is_ok())
}

/// Whether all operands have static shapes.
fn is_static(m: &Module, op: Op) -> bool {
    m.operands(op).iter().all(|&v| m.ctx.static_shape(m.value_type(v)).is_some())
}

/// Evaluates ops on 16-bit floats in f32, so that sums are rounded once, as in `graph.conv`.
fn in_f32(data: &[Datum], eval: impl FnOnce(&[Datum]) -> Result<Tensor, Trap>) -> Result<Vec<Datum>, Trap> {
    let dtype = data[0].tensor()?.dtype();
    if !matches!(dtype, DType::F16 | DType::BF16) {
        return Ok(vec![Datum::Tensor(eval(data)?)]);
    }
    let wide = |datum: &Datum| match datum {
        Datum::Tensor(t) if t.dtype() == dtype => Ok(Datum::Tensor(kernels::cast(t, DType::F32)?)),
        _ => Ok(datum.clone()),
    };
    let wide = data.iter().map(wide).collect::<Result<Vec<_>, Trap>>()?;
    Ok(vec![Datum::Tensor(kernels::cast(&eval(&wide)?, dtype)?)])
}

/// Evaluates `addr.gemm` and `addr.indirect_gemm`.
fn gemm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    in_f32(data, |data| {
        let (inputs, table) = (Inputs::new(args, data), table(args, data)?);
        let (a, b) = (inputs.get("a")?, inputs.get("b")?);
        let is_short = matches!(a.dtype(), DType::I8 | DType::U8);
        let [a_zero, b_zero] = if is_short { zero_points(inputs)? } else { [None, None] };
        let is_separable = args.opt_operand("base").is_some();
        let groups = match *inputs.get(if is_separable { "base" } else { "bases" })?.shape() {
            [groups, _] if is_separable => groups,
            [groups, _, _] => groups,
            _ => 1,
        };
        let columns = args.int("columns").and_then(|n| usize::try_from(n).ok()).unwrap_or(b.shape()[0]);
        if !divides_columns(groups, columns, b) {
            return Err(Trap::Ub(format!("{groups} groups do not divide {columns} columns")));
        }
        let rows = table.rows().checked_div(groups).unwrap_or(0);
        let a = gathered(a, &table, a_zero)?.reshape(vec![table.rows(), table.depth()])?;
        let mut products = Vec::with_capacity(groups);
        for group in 0..groups {
            let of = |tensor: &Tensor, each: usize| part(tensor, group * each..(group + 1) * each);
            let (a, b) = (of(&a, rows)?, rhs(&of(b, b.shape()[0] / groups)?, columns / groups)?);
            let b_zero = match b_zero {
                Some(zero) if zero.shape().len() == 1 => Some(of(zero, columns / groups)?),
                other => other.cloned(),
            };
            products.push(match is_short {
                true => kernels::matmul_integer(&a, &b, a_zero, b_zero.as_ref()),
                false => kernels::matmul(&a, &b),
            }?);
        }
        epilogue(args, data, kernels::concat(&products.iter().collect::<Vec<_>>(), 1)?)
    })
}

/// Whether each of `groups` groups has an equal part of the columns and, of packed panels, of the panels.
fn divides_columns(groups: usize, columns: usize, b: &Tensor) -> bool {
    let Some(each) = columns.checked_div(groups).filter(|each| each * groups == columns) else { return false };
    let rows = match *b.shape() {
        [_, _, width] => each.checked_next_multiple_of(width).map_or(0, |end| end / width),
        _ => each,
    };
    rows * groups == b.shape()[0]
}

/// Returns part of a tensor along its first axis.
fn part(tensor: &Tensor, range: Range<usize>) -> Result<Tensor, Trap> {
    if range == (0..tensor.shape()[0]) {
        return Ok(tensor.clone());
    }
    Ok(kernels::slice(tensor, &[range.start as i64], &[range.end as i64], &[0], &[])?)
}

/// Returns a right factor, `[N, K]` or packed panels for N columns, as `[K, N]`.
fn rhs(b: &Tensor, columns: usize) -> Result<Tensor, Trap> {
    let &[panels, k, width] = b.shape() else { return Ok(kernels::transpose(b, &[1, 0])?) };
    let all = kernels::transpose(b, &[1, 0, 2])?.reshape(vec![k, panels * width])?;
    Ok(kernels::slice(&all, &[0], &[columns as i64], &[1], &[])?)
}

/// Whether an op has an address table.
pub fn is_table_op(m: &Module, op: Op) -> bool {
    m.is_one_of(op, OPS)
}

/// All products; the last has floats only.
const PRODUCTS: &[&OpInfo] = &[GemmOp::INFO, IndirectGemmOp::INFO, DepthwiseOp::INFO, ConvPlanesOp::INFO];

/// Whether an op is a product, which has an epilogue.
pub fn is_product(m: &Module, op: Op) -> bool {
    m.is_one_of(op, PRODUCTS)
}

/// The ops with tables, each at the position of its number in files of address tables.
pub const OPS: &[&OpInfo] = &[GemmOp::INFO, IndirectGemmOp::INFO, PoolOp::INFO, DepthwiseOp::INFO];

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "addr",
    doc: "Products and pools whose operands are addressed by tables, or by the geometry of a table.",
    ops: &[GemmOp::INFO, IndirectGemmOp::INFO, PoolOp::INFO, DepthwiseOp::INFO, ConvPlanesOp::INFO, SparseGemmOp::INFO],
    attrs: &[GeometryAttr::INFO],
    ..Dialect::DEFAULT
};
