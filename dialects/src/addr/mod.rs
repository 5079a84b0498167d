//! `addr`: products and pools whose operands are addressed by tables.
//!
//! Source: the seed on static compiled representations. An [`AccessFunction`](crate::layout::AccessFunction) computes
//! the tables. They are ordinary constants, so layers of the same geometry share them, and large ones can be resources.
//! Evaluation, checks and kernels read them as an [`AddressTable`](crate::layout::AddressTable). The kinds of addressing
//! are separate ops, because their operands differ.

mod product;
mod table;
mod window;

pub use product::{has_stage, has_stage_after, is_product};
pub use table::{StaticAccess, constant_table};
pub use window::{DepthwiseOp, PoolOp};

use crate::constraint::{F32, RANKED_TENSOR, UNIT, kind};
use crate::graph::Inputs;
use crate::op_cost::{Contraction, DeclaredCost, OpCost, elements};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::times;
use gradus_ir::{
    AttrKind, AttrText, DType, DYNAMIC, Dialect, Effects, Module, Op, OpArgs, OpDecl, Tensor, Traits, Type,
    TypeConstraint, op,
};
use gradus_reference_kernels as kernels;
use product::{epilogue, infer_sums, product_op, zero_points};
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
    /// Epilogue, in this order: `bias`, one summand per column; `plus`, one summand per element of the result; clamping to
    /// `low` and `high`.
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
        /// Base address of each row, `[M]`.
        base: Operand<OFFSETS>,
        /// Offset of each reduction index, `[K]`.
        relative: Operand<OFFSETS>,
        /// Right factors, `[N, K]` or packed panels `[P, K, nr]`.
        b: Operand<RANKED_TENSOR>,
        /// Number of columns N, for packed panels only.
        columns: OptAttribute<RUN>,
        /// Product, `[M, N]`.
        c: OpResult<RANKED_TENSOR>,
    }
}

product_op! {
    /// Matrix product of gathered runs: `c[m, n] = sum over k of a[bases[m, k / run] + k % run] * b[n, k]`.
    ///
    /// The base -1 denotes padding: a run of zeros, or of zero points. Everything else is as in `addr.gemm`.
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
        /// Base address of each row and run, `[M, K / run]`.
        bases: Operand<OFFSETS>,
        /// Right factors, `[N, K]` or packed panels `[P, K, nr]`.
        b: Operand<RANKED_TENSOR>,
        /// Number of columns N, for packed panels only.
        columns: OptAttribute<RUN>,
        /// Product, `[M, N]`.
        c: OpResult<RANKED_TENSOR>,
    }
}

fn shape<'a>(args: &OpArgs<'a>, name: &str) -> &'a [i64] {
    args.opt_operand(name).and_then(|v| args.ctx().shape(args.module.value_type(v))).unwrap_or(&[])
}

/// Returns the extents M and K according to the tables.
fn extents(args: &OpArgs<'_>) -> Result<[i64; 2], String> {
    match (shape(args, "base"), shape(args, "relative"), shape(args, "bases")) {
        (&[m], &[k], []) => Ok([m, k]),
        ([], [], &[m, runs]) => Ok([m, times(runs, args.int("run").unwrap_or(1))]),
        _ if args.opt_operand("bases").is_some() => Err("requires 'bases' of rank 2".into()),
        _ => Err("requires 'base' and 'relative' of rank 1".into()),
    }
}

/// Returns the extents N and K according to the right factor.
fn rhs_extents(args: &OpArgs<'_>) -> Result<[i64; 2], String> {
    match (shape(args, "b"), args.int("columns")) {
        (&[n, k], None) => Ok([n, k]),
        (&[panels, k, width], Some(n)) => {
            let fits = panels == DYNAMIC || width == DYNAMIC || width > 0 && panels == (n - 1) / width + 1;
            if fits {
                Ok([n, k])
            } else {
                Err(format!("requires panels for {n} columns, but 'b' has {panels} of width {width}"))
            }
        }
        (_, None) => Err("requires 'b' of rank 2".into()),
        (_, Some(_)) => Err("requires 'b' of rank 3, because 'columns' is present".into()),
    }
}

fn infer_gemm(args: &OpArgs<'_>) -> Result<Vec<Type>, String> {
    let [m, k] = extents(args)?;
    let [n, depth] = rhs_extents(args)?;
    if k != depth && k != DYNAMIC && depth != DYNAMIC {
        return Err(format!("'b' has {depth} columns, but the offsets address {k}"));
    }
    infer_sums(args, [m, n])
}

/// Whether two extents are equal or one of them is dynamic.
fn is_compatible(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let [m, k] = extents(args).unwrap_or([1, 1]).map(|n| u64::try_from(n).unwrap_or(1));
    let n = rhs_extents(args).ok().and_then(|[n, _]| u64::try_from(n).ok()).unwrap_or(1);
    let runs = args.opt_operand("bases").map_or(0, |bases| elements(args, args.module.value_type(bases)));
    OpCost::Contract(Contraction { runs, ..Contraction::dense(1, m, k, n) })
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
        let (a, b) = (inputs.get("a")?, unpacked_rhs(args, inputs.get("b")?)?);
        let is_short = matches!(a.dtype(), DType::I8 | DType::U8);
        let [a_zero, b_zero] = if is_short { zero_points(inputs)? } else { [None, None] };
        let a = gathered(a, &table, a_zero)?.reshape(vec![table.rows(), table.depth()])?;
        let sums = if is_short { kernels::matmul_integer(&a, &b, a_zero, b_zero) } else { kernels::matmul(&a, &b) }?;
        epilogue(args, data, sums)
    })
}

/// Returns the right factor as `[K, N]`.
fn unpacked_rhs(args: &OpArgs<'_>, b: &Tensor) -> Result<Tensor, Trap> {
    let (&[panels, k, width], Some(columns)) = (b.shape(), args.int("columns")) else {
        return Ok(kernels::transpose(b, &[1, 0])?);
    };
    let all = kernels::transpose(b, &[1, 0, 2])?.reshape(vec![k, panels * width])?;
    Ok(kernels::slice(&all, &[0], &[columns], &[1], &[])?)
}

/// Whether an op is one of this dialect.
pub fn is_table_op(m: &Module, op: Op) -> bool {
    m.is_one_of(op, DIALECT.ops)
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "addr",
    doc: "Products and pools whose operands are addressed by tables.",
    ops: &[GemmOp::INFO, IndirectGemmOp::INFO, PoolOp::INFO, DepthwiseOp::INFO],
    ..Dialect::DEFAULT
};
