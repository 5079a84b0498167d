//! `convert-graph-to-addr`: convolutions and matrix products as products that find their operands by tables.
//!
//! A convolution reads its input with channels last, so that runs of summands lie side by side. What is around it stays as it
//! was, between `layout.pack` and `layout.unpack`.

mod emit;
mod pool;

use emit::Emitter;
use gradus_dialects::graph::kernels::shape::Window;
use gradus_dialects::graph::{ConvOp, GemmOp, MatMulOp};
use gradus_dialects::layout::{
    self, Access, Indirection, LayoutError, MAX_ENTRIES, Order, Tables, TiledLayout, ZERO_PAGE,
};
use gradus_ir::{Diagnostic, Module, Op, OpDecl, Pass, PassContext, PassInfo, Value};

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "convert-graph-to-addr",
    doc: "Lower convolutions and matrix products to products by address tables

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

Replaces `graph.conv`, `graph.gemm`, `graph.matmul` and pools of known extents. Where the input is padded, each run of summands has an
address of its own, and what is padding none; where runs would be shorter than `min-run`, the input is padded instead. Each
group is a product of its own; channels that are groups of their own are computed side by side.

# Refuses

Leaves alone what has unknown extents or none, products of more than two axes on the right, and `graph.gemm` that scales,
transposes its left operand or adds more than a number for each column, and means of
floats of 16 bits, whose sums may be too large for them.

# Cost

Linear in the number of ops and the size of tables, which have an entry for each pixel of the output and position of the filter.",
    options: &[gradus_ir::pass::PassOption {
        name: "min-run",
        doc: "How many channels a padded input has at least that is not copied to have its padding",
        kind: gradus_ir::pass::OptionKind::Int(8),
    }],
    statistics: &[("num-lowered", "Number of operations lowered")],
    rounds: true,
    make: |options| Ok(Box::new(GraphToAddr { min_run: u64::try_from(options.int("min-run")).unwrap_or(0) })),
    ..PassInfo::DEFAULT
};

struct GraphToAddr {
    min_run: u64,
}

impl Pass for GraphToAddr {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for op in m.ops_under(root) {
            let lowered = if let Some(conv) = ConvOp::cast(m, op) {
                Conv::of(m, conv).and_then(|conv| conv.lower(m, op, self.min_run))
            } else if let Some(gemm) = GemmOp::cast(m, op) {
                lower_gemm(m, gemm)
            } else if let Some(matmul) = MatMulOp::cast(m, op) {
                lower_matmul(m, matmul)
            } else {
                pool::lower(m, op)
            };
            if let Some(value) = lowered {
                let result = m.result(op, 0);
                m.replace_all_uses(result, value);
                m.erase_op(op);
                cx.count("num-lowered", 1);
            }
        }
        Ok(())
    }
}

/// Where products find the elements of the image.
enum Table {
    Sums(Tables),
    Each(Indirection),
}

/// A convolution of known extents.
struct Conv {
    x: Value,
    w: Value,
    bias: Option<Value>,
    /// Of the input: batch, channels, image.
    input: Vec<i64>,
    /// Of the filters: how many, channels of a group, extents.
    filters: Vec<i64>,
    group: u64,
    window: Window,
}

/// The letters of a tensor's axes: batch and channels, and of an image up to three.
fn axes(rank: usize) -> Option<String> {
    let image = "DHW".get(3_usize.checked_sub(rank.checked_sub(2)?)?..)?;
    Some(format!("NC{image}"))
}

/// The same with channels last.
fn channels_last(axes: &str) -> Option<TiledLayout> {
    format!("N{}C", &axes[2..]).parse().ok()
}

impl Conv {
    fn of(m: &Module, conv: ConvOp) -> Option<Conv> {
        let extents = |v| m.ctx.static_shape(m.value_type(v)).filter(|d| !d.contains(&0)).map(<[i64]>::to_vec);
        let (input, filters) = (extents(conv.x(m))?, extents(conv.w(m))?);
        extents(m.result(conv.0, 0))?;
        let (group, window) = conv.window(m).ok()?;
        Some(Conv { x: conv.x(m), w: conv.w(m), bias: conv.b(m), input, filters, group: group as u64, window })
    }

    fn lower(&self, m: &mut Module, op: Op, min_run: u64) -> Option<Value> {
        let axes = axes(self.input.len())?;
        let last = channels_last(&axes)?;
        if self.group > 1 && self.filters[1] == 1 && self.filters[0] as u64 == self.group {
            return self.lower_depthwise(m, op);
        }
        let is_padded = self.window.pads_begin.iter().chain(&self.window.pads_end).any(|&pad| pad > 0);
        // A copy with its padding is read as if there were none.
        let is_copied = is_padded && (self.filters[1] as u64) < min_run;
        let table = self.table(&last, &axes, is_copied)?;
        let mut e = Emitter::before(m, op);
        let x = if is_copied { self.padded(&mut e)? } else { self.x };
        let a = e.pack(x, &last, &axes)?;
        let packed = e.pack(self.w, &last, &axes)?;
        let depth = self.filters[1..].iter().product();
        let rows = e.reshape(packed, &[self.filters[0], depth])?;
        let (rows, biases) = (e.split(rows, self.group)?, self.biases(&mut e)?);
        let mut products = Vec::new();
        for (g, (b, bias)) in rows.into_iter().zip(biases).enumerate() {
            // Channels lie side by side, those of a group behind those of the one before.
            let further = g as i32 * self.filters[1] as i32;
            products.push(match &table {
                Table::Sums(tables) => {
                    let relative: Vec<i32> = tables.relative.iter().map(|offset| offset + further).collect();
                    e.gemm(a, &tables.base, &relative, b, bias)?
                }
                Table::Each(table) => {
                    let there = |&base: &i32| if base == ZERO_PAGE { base } else { base + further };
                    let bases = table.bases.iter().map(there).collect();
                    e.indirect_gemm(a, &Indirection { bases, ..*table }, b, bias)?
                }
            });
        }
        let product = e.concat(&products, 1)?;
        as_image(&mut e, op, product)
    }

    /// Where the first group reads, in the input or a copy with its padding. `None` if that, for all groups, is too large.
    fn table(&self, last: &TiledLayout, axes: &str, is_copied: bool) -> Option<Table> {
        let input = if is_copied { self.padded_extents() } else { self.input.clone() };
        let placed = last.of(axes, &input).ok()?;
        let access = access(&self.window, input[0] as u64, self.filters[1] as u64, !is_copied);
        match access.tables(&placed) {
            Ok(tables) => Some(Table::Sums(tables)),
            Err(LayoutError::TooLarge) => None,
            Err(_) => {
                let table = access.indirection(&placed).ok()?;
                let entries = (table.bases.len() as u64).checked_mul(self.group)?;
                (entries <= MAX_ENTRIES).then_some(Table::Each(table))
            }
        }
    }

    /// Each channel by itself.
    fn lower_depthwise(&self, m: &mut Module, op: Op) -> Option<Value> {
        let axes = axes(self.input.len())?;
        let (last, table) = (channels_last(&axes)?, places(&self.window, &self.input)?);
        let mut e = Emitter::before(m, op);
        let a = e.pack(self.x, &last, &axes)?;
        let positions = self.window.kernel.iter().product::<usize>() as i64;
        let rows = e.reshape(self.w, &[self.filters[0], positions])?;
        let w = e.transpose(rows)?;
        let sums = e.depthwise(a, &table, w, self.bias)?;
        as_image(&mut e, op, sums)
    }

    fn padded_extents(&self) -> Vec<i64> {
        let around = self.window.pads_begin.iter().zip(&self.window.pads_end).map(|(&a, &b)| (a + b) as i64);
        let image = self.input[2..].iter().zip(around).map(|(&d, pads)| d + pads);
        self.input[..2].iter().copied().chain(image).collect()
    }

    fn padded(&self, e: &mut Emitter<'_>) -> Option<Value> {
        let ends = [&self.window.pads_begin, &self.window.pads_end];
        let pads: Vec<i64> =
            ends.iter().flat_map(|pads| [0, 0].into_iter().chain(pads.iter().map(|&p| p as i64))).collect();
        e.pad(self.x, &pads)
    }

    /// The bias of each group.
    fn biases(&self, e: &mut Emitter<'_>) -> Option<Vec<Option<Value>>> {
        let Some(bias) = self.bias else { return Some(vec![None; self.group as usize]) };
        Some(e.split(bias, self.group)?.into_iter().map(Some).collect())
    }
}

/// What a window over so many channels reads; from the start of the padding if that is not in the buffer.
fn access(w: &Window, batch: u64, channels: u64, from_padding: bool) -> Access {
    let window = |i: usize| layout::Window {
        outputs: w.output[i] as u64,
        taps: w.kernel[i] as u64,
        stride: w.strides[i] as u64,
        dilation: w.dilations[i] as u64,
        start: if from_padding { -(w.pads_begin[i] as i64) } else { 0 },
    };
    let windows: Vec<_> = (0..w.output.len()).map(window).collect();
    Access::conv(batch, 1, channels, &windows, Order::ChannelsLast)
}

/// Where the channels of each position of a window are, in an image of such extents whose channels are last: one run each.
fn places(window: &Window, image: &[i64]) -> Option<Indirection> {
    let axes = axes(image.len())?;
    let placed = channels_last(&axes)?.of(&axes, image).ok()?;
    let table = access(window, image[0] as u64, 1, true).indirection(&placed).ok()?;
    // Of a single channel, positions lie side by side.
    let all = |&base: &i32| (0..table.run as i32).map(move |i| if base == ZERO_PAGE { base } else { base + i });
    let bases = table.bases.iter().flat_map(all).collect();
    Some(Indirection { bases, runs: table.runs * table.run, run: u64::try_from(image[1]).ok()? })
}

/// Rows of channels as the image that an op makes.
fn as_image(e: &mut Emitter<'_>, op: Op, rows: Value) -> Option<Value> {
    let ty = e.m().value_type(e.m().result(op, 0));
    let extents = e.m().ctx.static_shape(ty)?.to_vec();
    let axes = axes(extents.len())?;
    let last = channels_last(&axes)?;
    let pixels: Vec<i64> = [&extents[..1], &extents[2..], &extents[1..2]].concat();
    let pixels = e.reshape(rows, &pixels)?;
    e.unpack(pixels, &last, &axes, ty)
}

/// Products of the rows of `a`, as a matrix, with those of `b`; their extents are known.
fn rows_product(e: &mut Emitter<'_>, a: Value, b: Value, bias: Option<Value>) -> Option<Value> {
    let extents = |e: &Emitter<'_>, v| e.m().ctx.static_shape(e.m().value_type(v)).map(<[i64]>::to_vec);
    let (&[rows, depth], &[_, _]) = (&extents(e, a)?[..], &extents(e, b)?[..]) else { return None };
    let plain: TiledLayout = "MK".parse().ok()?;
    let tables = Access::rows(rows as u64, depth as u64).tables(&plain.of("MK", &[rows, depth]).ok()?).ok()?;
    e.gemm(a, &tables.base, &tables.relative, b, bias)
}

fn lower_gemm(m: &mut Module, gemm: GemmOp) -> Option<Value> {
    let args = m.args(gemm.0)?;
    let scale = |name| args.attr(name).and_then(|a| m.ctx.as_float(a));
    let is_plain = scale("alpha") == Some(1.0) && scale("beta") == Some(1.0) && !args.flag("transA");
    let (by_rows, a, b, c) = (args.flag("transB"), gemm.a(m), gemm.b(m), gemm.c(m));
    let columns = m.ctx.shape(m.value_type(m.result(gemm.0, 0)))?.get(1).copied();
    let bias_fits = c.is_none_or(|c| matches!(m.ctx.shape(m.value_type(c)), Some(&[n]) if Some(n) == columns));
    if !is_plain || !bias_fits || !are_lowered(m, &[a, b, m.result(gemm.0, 0)]) {
        return None;
    }
    let mut e = Emitter::before(m, gemm.0);
    let b = if by_rows { b } else { e.transpose(b)? };
    rows_product(&mut e, a, b, c)
}

fn lower_matmul(m: &mut Module, matmul: MatMulOp) -> Option<Value> {
    let (a, b, result) = (matmul.a(m), matmul.b(m), m.result(matmul.0, 0));
    let extents = m.ctx.shape(m.value_type(a))?.to_vec();
    let shape = m.ctx.shape(m.value_type(result))?.to_vec();
    if !are_lowered(m, &[a, b, result]) || m.ctx.shape(m.value_type(b))?.len() != 2 || extents.len() < 2 {
        return None;
    }
    let (&depth, outer) = extents.split_last()?;
    let mut e = Emitter::before(m, matmul.0);
    let a = e.reshape(a, &[outer.iter().product(), depth])?;
    let b = e.transpose(b)?;
    let product = rows_product(&mut e, a, b, None)?;
    e.reshape(product, &shape)
}

/// Whether values are tensors of floats of known extents, none of them zero.
fn are_lowered(m: &Module, values: &[Value]) -> bool {
    values.iter().all(|&v| {
        let ty = m.value_type(v);
        let is_float = m.ctx.float_kind(m.ctx.element_type(ty)).is_some();
        is_float && m.ctx.static_shape(ty).is_some_and(|shape| !shape.contains(&0))
    })
}
