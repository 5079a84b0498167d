//! `addr`: products and pools that find their operands by tables of addresses.
//!
//! Source: the seed on static compiled representations. [`Access`](crate::layout::Access) makes the tables; here they are
//! constants like others, so layers of the same geometry share them, and large ones can be resources.

mod quantized;
mod reads;
mod window;

pub use reads::{Places, Reads};
pub use window::{DepthwiseOp, PoolOp};

use crate::constraint::{F32, RANKED_TENSOR, UNIT, kind};
use crate::graph::Inputs;
use crate::layout::{MAX_ENTRIES, ZERO_PAGE, absolute};
use gradus_ir::eval::{Datum, Trap, floats_to_tensor};
use gradus_ir::layout::times;
use gradus_ir::work::{Contraction, Work};
use gradus_ir::{
    AttrKind, AttrText, DType, DYNAMIC, Dialect, Effects, Module, Op, OpArgs, OpDecl, Tensor, Traits, Type,
    TypeConstraint, op,
};
use gradus_reference_kernels as kernels;
use quantized::{is_byte, quantized};

/// Offsets in elements.
const OFFSETS: TypeConstraint = TypeConstraint {
    summary: "ranked tensor of 32-bit signless integer values",
    check: |c, t| (RANKED_TENSOR.check)(c, t) && c.element_type(t) == Type::I32,
    only: None,
};

/// Whether the word is there.
const FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// How many elements lie side by side.
const RUN: AttrKind = AttrKind {
    text: AttrText::Bare(Type::I64),
    ..kind("64-bit signless integer attribute whose value is positive", |c, a| {
        c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|n| n > 0)
    })
};

/// The product of the elements of a buffer that tables name with a matrix: c[m, n] is the sum of
/// `a[base[m] + relative[k]] * b[n, k]`.
///
/// Offsets are elements of `a` in row-major order; `running` ones are added to the one before. What is not in the buffer is
/// undefined behavior. Floats are summed as in `graph.matmul`, 8-bit integers in 32 bits. A `bias` for each column is added
/// to the sums, and after `plus` a number for each element; what is less than `low` then or greater than `high` becomes that.
///
/// `b` may be in panels, as `layout.pack` into `NK16n` has it: for each so many columns, and each summand, a factor for each column. Then
/// `columns` says how many there are.
///
/// Eight-bit factors may have zero points `a_zero` and `b_zero`, which are subtracted from them. With a `scale` sums are
/// quantized: that times the scale in 64 bits, plus the zero point after `zero`, is rounded half to even and saturated.
///
/// ```mlir
/// %c = addr.gemm %a[%base + %relative], %b : (tensor<1x1x4x4xf32>, tensor<4xi32>, tensor<9xi32>, tensor<2x9xf32>) -> tensor<4x2xf32>
/// ```
#[op(
    "addr.gemm",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::MayUb,
    speculatable = is_inside,
    infer = infer_gemm,
    work = work,
    eval = gemm,
    format = "$a `[` $base `+` $relative `]` (`running` $running^)? `,` $b (`columns` $columns^)? (`a_zero` $a_zero^)? (`b_zero` $b_zero^)? (`bias` $bias^)? (`plus` $add^)? (`scale` $scale^ `zero` $zero)? attr-dict `:` functional-type(operands, results)"
)]
pub struct GemmOp {
    /// Whether each offset is added to the one before.
    running: OptAttribute<FLAG>,
    /// The buffer.
    a: Operand<RANKED_TENSOR>,
    /// An offset for each row of the result.
    base: Operand<OFFSETS>,
    /// An offset for each summand.
    relative: Operand<OFFSETS>,
    /// The other factors: a row for each column of the result; or panels of them.
    b: Operand<RANKED_TENSOR>,
    /// How many columns the result has, if `b` is in panels, the last of which may have more.
    columns: OptAttribute<RUN>,
    /// What is subtracted from each element of the buffer.
    a_zero: OptOperand<RANKED_TENSOR>,
    /// What is subtracted from the other factors, for each column of the result or for all.
    b_zero: OptOperand<RANKED_TENSOR>,
    /// What is added, for each column of the result.
    bias: OptOperand<RANKED_TENSOR>,
    /// What is added, for each element of the result.
    add: OptOperand<RANKED_TENSOR>,
    /// What sums are multiplied with to be quantized, for each column of the result or for all.
    scale: OptOperand<RANKED_TENSOR>,
    /// What is added then.
    zero: OptOperand<RANKED_TENSOR>,
    /// The least that results are.
    low: OptAttribute<F32>,
    /// The greatest that results are.
    high: OptAttribute<F32>,
    /// The product.
    c: OpResult<RANKED_TENSOR>,
}

/// The product of runs of elements of a buffer with a matrix: c[m, n] is the sum of
/// `a[bases[m, k / run] + k % run] * b[n, k]`.
///
/// A run at -1 is zeros, or zero points, which is what padding is. All else is as in `addr.gemm`.
///
/// ```mlir
/// %c = addr.indirect_gemm %a[%bases] run 4, %b : (tensor<1x3x3x4xf32>, tensor<9x9xi32>, tensor<2x36xf32>) -> tensor<9x2xf32>
/// ```
#[op(
    "addr.indirect_gemm",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::MayUb,
    speculatable = is_inside,
    infer = infer_gemm,
    work = work,
    eval = indirect_gemm,
    format = "$a `[` $bases `]` `run` $run `,` $b (`columns` $columns^)? (`a_zero` $a_zero^)? (`b_zero` $b_zero^)? (`bias` $bias^)? (`plus` $add^)? (`scale` $scale^ `zero` $zero)? attr-dict `:` functional-type(operands, results)"
)]
pub struct IndirectGemmOp {
    /// How many elements lie side by side.
    run: Attribute<RUN>,
    /// The buffer.
    a: Operand<RANKED_TENSOR>,
    /// An offset for each row of the result and run of summands.
    bases: Operand<OFFSETS>,
    /// The other factors: a row for each column of the result; or panels of them.
    b: Operand<RANKED_TENSOR>,
    /// How many columns the result has, if `b` is in panels, the last of which may have more.
    columns: OptAttribute<RUN>,
    /// What is subtracted from each element of the buffer.
    a_zero: OptOperand<RANKED_TENSOR>,
    /// What is subtracted from the other factors, for each column of the result or for all.
    b_zero: OptOperand<RANKED_TENSOR>,
    /// What is added, for each column of the result.
    bias: OptOperand<RANKED_TENSOR>,
    /// What is added, for each element of the result.
    add: OptOperand<RANKED_TENSOR>,
    /// What sums are multiplied with to be quantized, for each column of the result or for all.
    scale: OptOperand<RANKED_TENSOR>,
    /// What is added then.
    zero: OptOperand<RANKED_TENSOR>,
    /// The least that results are.
    low: OptAttribute<F32>,
    /// The greatest that results are.
    high: OptAttribute<F32>,
    /// The product.
    c: OpResult<RANKED_TENSOR>,
}

fn shape<'a>(args: &OpArgs<'a>, name: &str) -> &'a [i64] {
    args.opt_operand(name).and_then(|v| args.ctx().shape(args.module.value_type(v))).unwrap_or(&[])
}

/// Rows and summands as the tables have them.
fn extents(args: &OpArgs<'_>) -> Result<[i64; 2], String> {
    match (shape(args, "base"), shape(args, "relative"), shape(args, "bases")) {
        (&[m], &[k], []) => Ok([m, k]),
        ([], [], &[m, runs]) => Ok([m, times(runs, args.int("run").unwrap_or(1))]),
        _ if args.opt_operand("bases").is_some() => Err("requires a matrix of offsets".into()),
        _ => Err("requires vectors of offsets".into()),
    }
}

/// Columns of the result and summands, as the second factor has them.
fn factor(args: &OpArgs<'_>) -> Result<[i64; 2], String> {
    match (shape(args, "b"), args.int("columns")) {
        (&[n, k], None) => Ok([n, k]),
        (&[panels, k, width], Some(n)) => {
            let fits = panels == DYNAMIC || width == DYNAMIC || width > 0 && panels == (n - 1) / width + 1;
            if fits { Ok([n, k]) } else { Err(format!("requires panels of {n} columns, not {panels} of {width}")) }
        }
        (_, None) => Err("requires a matrix as second factor".into()),
        (_, Some(_)) => Err("requires panels, which have three axes, as second factor".into()),
    }
}

fn infer_gemm(args: &OpArgs<'_>) -> Result<Vec<Type>, String> {
    let [m, k] = extents(args)?;
    let [n, depth] = factor(args)?;
    if k != depth && k != DYNAMIC && depth != DYNAMIC {
        return Err(format!("requires as many columns of the second factor as summands, but got {depth} and {k}"));
    }
    infer_sums(args, [m, n])
}

/// A matrix of sums of products, that are of 32 bits if the factors are bytes.
fn infer_sums(args: &OpArgs<'_>, [m, n]: [i64; 2]) -> Result<Vec<Type>, String> {
    let ctx = args.ctx();
    let [a, b] = ["a", "b"].map(|name| quantized::elem(args, name));
    let are_bytes = [a, b].iter().flatten().all(|&elem| is_byte(ctx, elem));
    let elem = a.filter(|_| a == b || are_bytes).ok_or("requires factors of one element type")?;
    let sums = if are_bytes { Type::I32 } else { elem };
    check_summands(args, [m, n], sums)?;
    Ok(vec![ctx.tensor_type(&[m, n], quantized::check(args, n, sums)?)])
}

/// That what is added to sums is of their type, and of theirs or a row's extents.
fn check_summands(args: &OpArgs<'_>, [m, n]: [i64; 2], sums: Type) -> Result<(), String> {
    let ctx = args.ctx();
    if let Some(bias) = args.opt_operand("bias").map(|v| args.module.value_type(v)) {
        let fits = matches!(ctx.shape(bias), Some(&[have]) if same(have, n));
        if !fits || ctx.element_type(bias) != sums {
            return Err(format!("requires a bias of {}", ctx.display_type(ctx.tensor_type(&[n], sums))));
        }
    }
    if let Some(add) = args.opt_operand("add").map(|v| args.module.value_type(v)) {
        let fits = |shape: &[i64]| matches!(shape, &[a, b] if [(a, m), (b, n)].iter().all(|&(a, b)| same(a, b)));
        if !ctx.shape(add).is_some_and(fits) || ctx.element_type(add) != sums {
            return Err(format!("requires {} to add", ctx.display_type(ctx.tensor_type(&[m, n], sums))));
        }
    }
    if ["low", "high"].iter().any(|name| args.attr(name).is_some()) && ctx.float_kind(sums).is_none() {
        return Err("requires sums of floats to bound them".into());
    }
    Ok(())
}

/// Whether extents can be the same.
fn same(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

fn work(args: &OpArgs<'_>) -> Work {
    let [m, k] = extents(args).unwrap_or([1, 1]).map(|n| u64::try_from(n).unwrap_or(1));
    let n = factor(args).ok().and_then(|[n, _]| u64::try_from(n).ok()).unwrap_or(1);
    Work::Contract(Contraction::dense(1, m, k, n))
}

/// The constant offsets of an operand, unless they are more than a table may have.
fn constant(args: &OpArgs<'_>, name: &str) -> Option<Vec<i32>> {
    let (table, ctx) = (args.opt_operand(name)?, args.ctx());
    let extents = ctx.static_shape(args.module.value_type(table))?;
    if extents.iter().fold(1, |n, &d| times(n, d)) > MAX_ENTRIES as i64 {
        return None;
    }
    let attr = args.module.constant(table)?;
    offsets(&args.ctx().dense_tensor(attr)?)
}

fn offsets(table: &Tensor) -> Option<Vec<i32>> {
    (table.dtype() == DType::I32).then(|| table.as_slice::<i32>().into_owned())
}

/// The offsets of an op's summands, none added to another.
fn relative(args: &OpArgs<'_>, table: Vec<i32>) -> Vec<i32> {
    if args.attr("running").is_some() { absolute(&table) } else { table }
}

/// The least and the greatest.
fn span(mut offsets: impl Iterator<Item = i32>) -> Option<[i64; 2]> {
    let first = i64::from(offsets.next()?);
    Some(offsets.map(i64::from).fold([first, first], |[low, high], at| [low.min(at), high.max(at)]))
}

/// The least and the greatest sum of two tables.
fn span_of_sums(base: &[i32], relative: &[i32]) -> Option<[i64; 2]> {
    let ([low, high], [first, last]) = (span(base.iter().copied())?, span(relative.iter().copied())?);
    Some([low + first, high + last])
}

/// The least and the greatest address of runs.
fn span_of_runs(bases: &[i32], run: i64) -> Option<[i64; 2]> {
    let [first, last] = span(bases.iter().copied().filter(|&base| base != ZERO_PAGE))?;
    Some([first, last.saturating_add(run - 1)])
}

/// That addresses are in a buffer.
fn check_inside(span: Option<[i64; 2]>, elements: i64) -> Result<(), String> {
    let outside = |&at: &i64| at < 0 || at >= elements;
    let outside = span.and_then(|span| span.into_iter().find(outside));
    outside.map_or(Ok(()), |at| Err(format!("element {at} is not in a buffer of {elements}")))
}

/// Whether all addresses are known before anything runs, and inside.
fn is_inside(m: &Module, op: Op) -> bool {
    is_static(m, op) && Reads::of(m, op).is_some_and(|reads| reads.check().is_ok())
}

/// Whether the sizes of all operands are known.
fn is_static(m: &Module, op: Op) -> bool {
    m.operands(op).iter().all(|&v| m.ctx.static_shape(m.value_type(v)).is_some())
}

/// How many elements the buffer has, as far as that is known.
fn buffer(args: &OpArgs<'_>) -> i64 {
    let size = shape(args, "a").iter().fold(1, |n, &d| times(n, d));
    if size == DYNAMIC { i64::MAX } else { size }
}

/// Computes with 32 bits what is of floats of 16, so that sums are rounded once, as those of `graph.conv` are.
fn widened(data: &[Datum], eval: impl FnOnce(&[Datum]) -> Result<Tensor, Trap>) -> Result<Vec<Datum>, Trap> {
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

fn gemm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    widened(data, |data| gemm_of(args, data))
}

fn gemm_of(args: &OpArgs<'_>, data: &[Datum]) -> Result<Tensor, Trap> {
    let [a, base, table, b] = [data[0].tensor()?, data[1].tensor()?, data[2].tensor()?, data[3].tensor()?];
    let [base, table] = [base, table].map(|t| offsets(t).unwrap_or_default());
    let relative = relative(args, table);
    check_inside(span_of_sums(&base, &relative), a.len() as i64).map_err(Trap::Ub)?;
    let at = |&m: &i32| relative.iter().map(move |&k| Some((i64::from(m) + i64::from(k)) as usize)).collect::<Vec<_>>();
    let sums = product(args, a, &[base.len(), relative.len()], base.iter().flat_map(at), b, Inputs::new(args, data))?;
    quantized(args, data, finish(args, sums, data)?)
}

fn indirect_gemm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    widened(data, |data| indirect_gemm_of(args, data))
}

fn indirect_gemm_of(args: &OpArgs<'_>, data: &[Datum]) -> Result<Tensor, Trap> {
    let [a, bases, b] = [data[0].tensor()?, data[1].tensor()?, data[2].tensor()?];
    let &[rows, runs] = bases.shape() else { return Err(Trap::unsupported("a table that is no matrix")) };
    let run = args.int("run").unwrap_or(1);
    let bases = offsets(bases).unwrap_or_default();
    check_inside(span_of_runs(&bases, run), a.len() as i64).map_err(Trap::Ub)?;
    let depth = kernels::shape::checked_elements(&[runs, run as usize])?;
    let at = |&base: &i32| (0..run).map(move |i| usize::try_from(base).ok().map(|base| base + i as usize));
    let sums = product(args, a, &[rows, depth], bases.iter().flat_map(at), b, Inputs::new(args, data))?;
    quantized(args, data, finish(args, sums, data)?)
}

/// Sums with a bias and other summands added, and bounded.
fn finish(args: &OpArgs<'_>, mut sums: Tensor, data: &[Datum]) -> Result<Tensor, Trap> {
    for name in ["bias", "add"] {
        if let Some(more) = Inputs::new(args, data).opt(name)? {
            sums = kernels::add(&sums, more)?;
        }
    }
    let bound = |name: &str| {
        let value = args.attr(name).and_then(|a| args.ctx().as_float(a))?;
        Some(floats_to_tensor(sums.dtype(), &[], vec![value]))
    };
    let (low, high) = (bound("low"), bound("high"));
    if low.is_some() || high.is_some() {
        sums = kernels::clip(&sums, low.as_ref(), high.as_ref())?;
    }
    Ok(sums)
}

/// The product of the elements of `a` that are named, `None` for zero, as a matrix, with the transpose of `b`.
fn product(
    args: &OpArgs<'_>,
    a: &Tensor,
    shape: &[usize; 2],
    elements: impl Iterator<Item = Option<usize>>,
    b: &Tensor,
    inputs: Inputs<'_>,
) -> Result<Tensor, Trap> {
    let size = a.dtype().size();
    let mut bytes = Vec::with_capacity(kernels::shape::checked_elements(shape)? * size);
    let is_short = matches!(a.dtype(), DType::I8 | DType::U8);
    let [a_zero, b_zero] = if is_short { [inputs.opt("a_zero")?, inputs.opt("b_zero")?] } else { [None, None] };
    let zero = a_zero.map_or_else(|| vec![0; size], |zero| zero.bytes().to_vec());
    for at in elements {
        bytes.extend_from_slice(at.map_or(&zero[..], |i| &a.bytes()[i * size..][..size]));
    }
    let (a, b) = (Tensor::new(a.dtype(), shape.to_vec(), bytes.into())?, by_columns(args, b)?);
    Ok(if is_short { kernels::matmul_integer(&a, &b, a_zero, b_zero) } else { kernels::matmul(&a, &b) }?)
}

/// The second factor with a column for each column of the result.
fn by_columns(args: &OpArgs<'_>, b: &Tensor) -> Result<Tensor, Trap> {
    let (&[panels, k, width], Some(columns)) = (b.shape(), args.int("columns")) else {
        return Ok(kernels::transpose(b, &[1, 0])?);
    };
    let all = kernels::transpose(b, &[1, 0, 2])?.reshape(vec![k, panels * width])?;
    Ok(kernels::slice(&all, &[0], &[columns], &[1], &[])?)
}

/// Whether an op is one of this dialect, all of which read by tables.
pub fn reads_by_tables(m: &Module, op: Op) -> bool {
    m.info(op).is_some_and(|info| DIALECT.ops.iter().any(|own| std::ptr::eq(*own, info)))
}

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "addr",
    doc: "Products and pools that find their operands by tables of addresses.",
    ops: &[GemmOp::INFO, IndirectGemmOp::INFO, PoolOp::INFO, DepthwiseOp::INFO],
    ..Dialect::DEFAULT
};
