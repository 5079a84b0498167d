//! `convert-graph-to-addr`: lowers convolutions, pools and matrix products to table-driven ops.
//!
//! A convolution reads its input in a chosen layout, NHWC by default, so that summands form contiguous runs.
//! `layout.pack` and `layout.unpack` convert at the boundaries.

mod choose;
mod conv;
mod options;
mod pool;
mod quantized;
mod transposed;
mod winograd;

use crate::emit::{Emitter, ProductOperands};
use crate::operands::extents;
use choose::{ConvChooser, ImageLayout};
use conv::StaticConv;
use gradus_cost::CostModel;
use gradus_ir::conversion::{ConversionConfig, ConversionPattern, ConversionTarget, apply_counted_conversion};
use gradus_ir::pass::{FloatChange, Rewrites};
use gradus_ir::{
    Builder, Diagnostic, InsertPoint, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, PatternRewriter,
    Refusal, Value,
};
use gradus_networks::addr::Geometry;
use gradus_networks::graph::{
    AveragePoolOp, ConvIntegerOp, ConvOp, ConvTransposeOp, GemmOp, GlobalAveragePoolOp, GlobalMaxPoolOp,
    MatMulIntegerOp, MatMulOp, MaxPoolOp, QLinearConvOp, QLinearMatMulOp,
};
use gradus_networks::layout::image_layout;
use options::{ConvOptions, OPTIONS};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-graph-to-addr",
    doc: "Lower convolutions, pools and matrix products to table-driven ops

# Before / After

```mlir
%y = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>   // becomes:

%a = layout.pack %x into <\"NHWC\"> : tensor<1x2x4x4xf32> -> tensor<1x4x4x2xf32>
%b = graph.reshape (layout.pack %w into <\"NHWC\">) : tensor<3x18xf32>
%base = arith.constant dense<[0, 2, 8, 10]> : tensor<4xi32>
%relative = arith.constant dense<[0, 1, 2, 3, 4, 5, 8, ...]> : tensor<18xi32>
%c = addr.gemm %a[%base + %relative], %b : (...) -> tensor<4x3xf32>
%y = layout.unpack (graph.reshape %c) from <\"NHWC\"> : tensor<1x2x2x3xf32> -> tensor<1x3x2x2xf32>
```

# Does

Lowers `graph.conv`, `graph.conv_transpose`, `graph.gemm`, `graph.matmul` and pools of static shape, and quantized products and convolutions with constant
weights, zero points and scales. A convolution without padding in a layout in which addresses are separable becomes `addr.gemm`.
Otherwise it becomes `addr.indirect_gemm`, with one address per run of summands and -1 for padding runs; if runs are shorter than
`min-run`, the image is copied with its padding instead. Each group is a product of its own; depthwise convolutions are one op. Groups
of few channels of quantized convolutions are merged, where the weights for other groups are the zero point.

Images are read in `layout`; `auto` is channels last. An image of other rank is read in the layout without the dimensions that it lacks,
or with its others outside the next inner one. If addresses in the layout are not separable, a remark names the dimension and the tile, and
they become indirect. Images whose tables would be too large are read with channels last. Pools write the layout that they read; a pool with
the attribute `layout.images` for channels first stays, since its windows need no table.
Depthwise convolutions of images of one or two dimensions with channels first are `addr.conv_planes`, in other layouts than
channels last products of groups. An op with the attribute `layout.images` is read in that layout, with channels first as
`addr.conv_planes`; a depthwise one reads images in bands of rows such as `NHC7hW`, and writes them where `layout.results` says so. Filters are permuted to the order of the summands.

A transposed convolution with constant finite filters is a convolution for each residue of the output position modulo the strides; the
results are interleaved. A depthwise one of at most 32 bits with channels last is one `addr.depthwise`, in which taps that read nothing have the
address -1. With other filters, each input position is multiplied by all taps, and an `addr.pool` sums the products of each output position
(col2im); depthwise products are elementwise, and 16-bit floats are summed in f32.

With a `target`, the cheapest lowering of each convolution on floats is selected: layout (`auto` also tries the layout of an argument),
padding by addresses or by a copy, and algorithm. Winograd convolution applies to f32 with constant 3x3 filters and stride 1: it
computes 2x2 results at once by F(2x2, 3x3), with 16 instead of 36 multiplications per tile and channel, in strips of the image, with
16 transformed weights per filter. Results round differently, and an infinity or NaN reaches all results of its tile. The cost of a
candidate is the sum of the prices of its ops in the target's cost model; `report` lists all candidates.

# Refuses

Dynamic or empty shapes, products with a batched right operand, and means of f16, whose sums may overflow. A remark on each says why.

# Cost

Linear in the number of ops and the size of the tables: one entry per output pixel and filter position.",
    options: OPTIONS,
    statistics: &[("num-lowered", "Number of operations lowered")],
    stays: "in graph",
    rewrites: Rewrites::Names(|_| LOWERINGS.map(|(_, name, _)| name.to_owned()).into()),
    samples: &[
        ("target", CostModel::names),
        ("layout", |_| ["NCHW", "NHWC", "CHWN", "NCWH", "HWNC"].map(str::to_owned).into()),
    ],
    floats: |_| FloatChange::Reorders,
    make: |options| {
        Ok(Box::new(GraphToAddr { options: ConvOptions::of(options)?, target: options.text("target").to_owned() }))
    },
    ..PassInfo::DEFAULT
};

struct GraphToAddr {
    options: ConvOptions,
    /// The target that chooses; empty for none.
    target: String,
}

impl Pass for GraphToAddr {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        if !self.target.is_empty() {
            let price = CostModel::named(&m.ctx, &self.target).and_then(|model| model.price(&m.ctx));
            self.options.price = Some(price.map_err(|error| Diagnostic::error(m.loc(root), error.to_string()))?);
        }
        let all = ConvChooser { options: &self.options, remarks: Mutex::default(), refused: Mutex::default() };
        let chooser = &all;
        let pattern = |(info, name, lower): (&'static OpInfo, _, Lower)| {
            ConversionPattern::new(name, info.name, move |r, op, _| {
                if pool::is_planar(r.module(), op) {
                    return Err("a pool of planes, which has a kernel".into());
                }
                let lowered = r.build(InsertPoint::Before(op), |b| lower(b, op, chooser));
                let value = lowered.inspect_err(|refusal| lock(&chooser.refused).push((op, *refusal)))?;
                r.replace(op, &[value]);
                Ok(())
            })
        };
        let patterns: Vec<ConversionPattern<'_>> = LOWERINGS.into_iter().map(pattern).collect();
        let mut target = ConversionTarget::new("addr");
        for info in ops() {
            target.unknown_op(info.name);
        }
        target.legal_unknown();
        let config = ConversionConfig { fold: false, ..ConversionConfig::PARTIAL };
        let report = apply_counted_conversion(m, root, &target, &patterns, config, cx.actions())?;
        cx.count("num-lowered", report.converted);
        drop(patterns);
        lock(&all.remarks).drain(..).for_each(|remark| cx.emit(remark));
        lock(&all.refused).drain(..).for_each(|(op, refusal)| cx.refuse(m, op, &refusal));
        Ok(())
    }
}

/// Maximum number of groups.
const MAX_GROUPS: u64 = 1 << 12;

/// Locks a list that patterns extend.
fn lock<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates ops that compute the result of an op, or refuses the op.
type Lower = fn(&mut Builder<'_>, Op, &ConvChooser<'_>) -> Result<Value, Refusal>;

/// The rule of ops of which the tables cannot be emitted.
const NO_TABLE: &str = "address tables that are too large, or a layout that the image does not have";

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    LOWERINGS.into_iter().map(|(info, _, _)| info)
}

/// The ops that are lowered, each with the name of its pattern.
const LOWERINGS: [(&OpInfo, &str, Lower); 12] = [
    (ConvOp::INFO, "conv-to-gemm", lower_conv),
    (ConvTransposeOp::INFO, "conv-transpose-to-gemm", transposed::lower),
    (GemmOp::INFO, "gemm-to-gemm", lower_gemm),
    (MatMulOp::INFO, "matmul-to-gemm", lower_matmul),
    (ConvIntegerOp::INFO, "conv-integer-to-gemm", quantized::lower),
    (MatMulIntegerOp::INFO, "matmul-integer-to-gemm", quantized::lower),
    (QLinearConvOp::INFO, "qlinear-conv-to-gemm", quantized::lower),
    (QLinearMatMulOp::INFO, "qlinear-matmul-to-gemm", quantized::lower),
    (MaxPoolOp::INFO, "max-pool-to-pool", pool::lower),
    (AveragePoolOp::INFO, "average-pool-to-pool", pool::lower),
    (GlobalMaxPoolOp::INFO, "global-max-pool-to-pool", pool::lower),
    (GlobalAveragePoolOp::INFO, "global-average-pool-to-pool", pool::lower),
];

fn lower_conv(b: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Result<Value, Refusal> {
    let operands = ProductOperands::of([("bias", ConvOp(op).b(b.module))]);
    let conv = StaticConv::of(b.module, op, operands)?;
    let has_layout = image_layout(b.module, op).is_some();
    let value = match chooser.layout_of(b.module, op, &conv).ok_or_else(|| conv.other_axes())? {
        ImageLayout::ChannelsLast if conv.is_depthwise() => conv.lower_depthwise(b, op, chooser.options),
        ImageLayout::ChannelsFirst if conv.is_planar(b.module) && (conv.is_depthwise() || has_layout) => {
            conv.lower_planes(b, op)
        }
        _ => chooser.lower(b, op, &conv),
    };
    value.ok_or(NO_TABLE.into())
}

/// Lowers a product of the rows of `a` and `b`, both of static shape.
fn rows_product(
    e: &mut Emitter<'_, '_>,
    [a, b]: [Value; 2],
    operands: &ProductOperands,
    options: &ConvOptions,
) -> Option<Value> {
    let extents = |e: &Emitter<'_, '_>, v| e.m().ctx.static_shape(e.m().value_type(v)).map(<[i64]>::to_vec);
    let (&[rows, depth], &[_, _]) = (&extents(e, a)?[..], &extents(e, b)?[..]) else { return None };
    let geometry = Geometry::rows(rows, depth).ok()?;
    let table = options.table(&geometry)?;
    options.describe(e, &geometry);
    e.gemm(a, (&table, 1), b, operands)
}

fn lower_gemm(b: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Result<Value, Refusal> {
    let (gemm, m) = (GemmOp(op), &*b.module);
    [gemm.a(m), gemm.b(m), m.result(op, 0)].into_iter().chain(gemm.c(m)).try_for_each(|v| check_floats(m, v))?;
    emit_gemm(b, op, chooser).ok_or(NO_TABLE.into())
}

fn emit_gemm(builder: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Option<Value> {
    let (gemm, m) = (GemmOp(op), &*builder.module);
    let args = m.args(op)?;
    let scale = |name| args.attr(name).map_or(Some(1.0), |a| m.ctx.as_float(a));
    let (alpha, beta) = (scale("alpha")?, scale("beta")?);
    let [is_column, is_row] = ["transA", "transB"].map(|name| args.flag(name));
    let (a, b, c) = (gemm.a(m), gemm.b(m), gemm.c(m));
    let result = m.ctx.static_shape(m.value_type(m.result(op, 0)))?.to_vec();
    let summand = c.and_then(|c| m.ctx.static_shape(m.value_type(c))).map(<[i64]>::to_vec);
    let mut e = Emitter::of(builder, op);
    let a = if is_column { e.transpose(a)? } else { a };
    let b = if is_row { b } else { e.transpose(b)? };
    let is_bias = alpha == 1.0 && beta == 1.0 && summand.as_deref() == Some(&result[1..]);
    let bias = c.filter(|_| is_bias);
    let mut sums = rows_product(&mut e, [a, b], &ProductOperands::of([("bias", bias)]), chooser.options)?;
    if alpha != 1.0 {
        sums = e.scaled(sums, vec![alpha])?;
    }
    let Some(c) = c.filter(|_| !is_bias) else { return Some(sums) };
    let c = if beta == 1.0 { c } else { e.scaled(c, vec![beta])? };
    e.add(sums, c)
}

fn lower_matmul(b: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Result<Value, Refusal> {
    let (matmul, m) = (MatMulOp(op), &*b.module);
    let factors = [matmul.a(m), matmul.b(m)];
    [factors[0], factors[1], m.result(op, 0)].into_iter().try_for_each(|value| check_floats(m, value))?;
    matrix_product(b, op, factors, &ProductOperands::default(), chooser.options)
}

/// Lowers a product of a batch of matrices and one matrix, of static shape.
fn matrix_product(
    builder: &mut Builder<'_>,
    op: Op,
    [a, b]: [Value; 2],
    operands: &ProductOperands,
    options: &ConvOptions,
) -> Result<Value, Refusal> {
    let m = &*builder.module;
    let shape = |value| m.ctx.shape(m.value_type(value)).map(<[i64]>::to_vec).unwrap_or_default();
    let (left, right, result) = (shape(a), shape(b), shape(m.result(op, 0)));
    if right.len() != 2 {
        return Err(Refusal::of(b, "a right operand of {} axes, which is no matrix").with([right.len()]));
    }
    let Some((depth, outer)) = left.split_last().filter(|(_, outer)| !outer.is_empty()) else {
        return Err(Refusal::of(a, "a left operand that is a vector"));
    };
    let mut e = Emitter::of(builder, op);
    let mut emit = || {
        let a = e.reshape(a, &[outer.iter().product(), *depth])?;
        let b = e.transpose(b)?;
        let product = rows_product(&mut e, [a, b], operands, options)?;
        e.reshape(product, &result)
    };
    emit().ok_or(NO_TABLE.into())
}

/// Checks that a value is a float tensor of static, nonempty shape.
fn check_floats(m: &Module, value: Value) -> Result<(), Refusal> {
    let is_float = m.ctx.float_kind(m.ctx.element_type(m.value_type(value))).is_some();
    is_float.then_some(()).ok_or(Refusal::of(value, "elements other than floats"))?;
    extents(m, value).map(drop)
}
