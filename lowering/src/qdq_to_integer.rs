//! `convert-qdq-to-integer`: turns quantized networks from QDQ form into integer ops.
//!
//! | file | contents |
//! |---|---|
//! | `quantization.rs` | scales and zero points |
//! | `table.rs` | functions of one quantized tensor, as tables |
//! | `product.rs` | convolutions, matrix products and means |
//! | `elementwise.rs` | sums, products and concatenations |
//! | `movement.rs` | ops that commute with dequantization |
//! | `joined.rs` | functions of one tensor that several ops compute |

mod elementwise;
mod joined;
pub(crate) mod movement;
mod product;
pub(crate) mod quantization;
pub(crate) mod table;
mod transposed;

use crate::emit::{Emitter, erase_dead};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{Builder, Diagnostic, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, Refusal, Value};
use gradus_networks::graph::{
    AddOp, AveragePoolOp, ClipOp, ConcatOp, ConvOp, ConvTransposeOp, GemmOp, GlobalAveragePoolOp, MatMulOp, MulOp,
    QuantizeLinearOp, ReduceMeanOp, ReluOp, SumOp,
};
use quantization::Quantization;
use table::Lookup;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-qdq-to-integer",
    doc: "Turn quantized networks from QDQ form into integer ops

# Before / After

```mlir
%0 = graph.dequantize_linear %x, %sx, %zx : (tensor<1x8x4x4xui8>, ...) -> tensor<1x8x4x4xf32>    // becomes:
%1 = graph.dequantize_linear %w, %sw, %zw : (tensor<8x8x3x3xi8>, ...) -> tensor<8x8x3x3xf32>
%2 = graph.conv %0, %1 : (...) -> tensor<1x8x2x2xf32>
%3 = graph.relu %2 : tensor<1x8x2x2xf32>
%4 = graph.quantize_linear %3, %sy, %zy : (...) -> tensor<1x8x2x2xui8>
                                    // %4 = graph.qlinear_conv %x, %sx, %zx, %w, %sw, %zw, %sy, %zy : (...) -> tensor<1x8x2x2xui8>
```

# Does

Replaces an op between `graph.dequantize_linear` and `graph.quantize_linear` with constant scales and zero points:

- `graph.conv` and `graph.gemm` with constant weights, per tensor or per output channel, become `graph.qlinear_conv`, with the bias in
  i32; `graph.matmul` by a constant, or with `products` by any tensor, becomes `graph.qlinear_matmul`. `graph.average_pool`, `graph.global_average_pool` and a
  `graph.reduce_mean` of rows and columns become depthwise convolutions with weights 1 and scale 1 / count; a `graph.conv_transpose` becomes a
  convolution for each remainder of its strides, and their results are interleaved.
- `graph.add`, `graph.sum` of two tensors and `graph.mul` become `graph.qlinear_add` and `graph.qlinear_mul`; a `graph.concat` joins the
  integers, requantized by tables where parameters differ.
- Elementwise functions of one quantized tensor, such as `graph.sigmoid`, and `graph.batch_normalization` become `graph.table`, with a
  table for all channels or one each. Requantization to the same parameters disappears.
- A table of a table, and a sum or product of functions of one tensor, as of GELU, become one table.
- `graph.relu` and `graph.clip` before the quantization become a table too, or nothing if the range of the integers is the clamp.
- `graph.max_pool`, `graph.resize` to the nearest elements, `graph.pad` by a constant, and ops that move elements are computed on integers,
  before the dequantization.

Products, means and sums of products are exact in integers and rounded once, half to even. The floats are rounded at each operation, so
an element may differ by one step where its value is halfway between two. All other results are equal.

# Refuses

Floats other than f32, integers other than of 8 bits, parameters that are not constant or vary along an axis other than the
output channels of weights, sums that may exceed 32 bits, biases that are not constant, and floats with other uses. A remark says why
an op before a quantization stays in floats.

# Cost

Linear in the number of ops and constants; 256 evaluations per table and channel.",
    statistics: &[
        ("num-integer", "Number of operations that became integer operations"),
        ("num-tables", "Number of functions that became tables"),
        ("num-joined", "Number of operations on functions of one tensor that became tables"),
        ("num-moved", "Number of operations that moved before a dequantization"),
    ],
    options: &[PassOption {
        name: "products",
        doc: "Turn products of two tensors that are not constant into products of integers too",
        kind: OptionKind::Bool(false),
    }],
    stays: "in floats",
    rewrites: Rewrites::Tags(&["move-before-dequantize", "qdq-to-integer", "join-functions"]),
    floats: |_| FloatChange::Quantizes,
    make: |options| Ok(Box::new(QdqToInteger { products: options.bool("products") })),
    ..PassInfo::DEFAULT
};

struct QdqToInteger {
    /// Whether products of two tensors that are not constant are computed on integers.
    products: bool,
}

impl Pass for QdqToInteger {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        // Definitions precede users, so dequantizations have moved down to each op that is visited.
        for op in m.ops_under(root) {
            if let Some(moved) = movement::Moved::of(m, op).filter(|_| cx.allows("move-before-dequantize", m, op)) {
                cx.count("num-moved", u64::from(moved.emit(m, op).is_some()));
                continue;
            }
            match Integer::of(m, op, self.products) {
                Ok(Some(found)) if cx.allows("qdq-to-integer", m, op) => {
                    let statistic = found.statistic();
                    let Some(value) = found.emit(m, op) else { continue };
                    cx.count(statistic, 1);
                    let result = m.result(op, 0);
                    m.replace_all_uses(result, value);
                }
                Err((made, refusal)) => cx.refuse(m, made, &refusal),
                Ok(_) => {}
            }
        }
        for op in m.ops_under(root) {
            let Some(lookup) = joined::of(m, op).filter(|_| cx.allows("join-functions", m, op)) else { continue };
            let (result, ty) = (m.result(op, 0), m.value_type(m.result(op, 0)));
            let Some(value) = lookup.emit(&mut Emitter::on_graph(&mut Builder::before(m, op), op), ty) else {
                continue;
            };
            cx.count("num-joined", 1);
            m.replace_all_uses(result, value);
        }
        erase_dead(m, root);
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}

/// The integer form of a quantized op, found from the `graph.quantize_linear` after it.
struct Integer {
    kind: IntegerOp,
    /// The clamp before the quantization, as a table; `None` if the range of the integers is the clamp.
    clamp: Option<Lookup>,
}

enum IntegerOp {
    Table(Lookup),
    Convolution(product::Convolution),
    Transposed(transposed::Transposed),
    MatMul(product::MatMul),
    Binary(elementwise::Binary),
    Concat(elementwise::Concat),
}

impl Integer {
    /// Returns the integer form of the op before a quantization; `None` of other ops.
    ///
    /// # Errors
    /// The op that stays in floats, and why.
    fn of(m: &Module, op: Op, products: bool) -> Result<Option<Integer>, (Op, Refusal)> {
        let Some(quantize) = QuantizeLinearOp::cast(m, op) else { return Ok(None) };
        if let Some(lookup) = Lookup::of(m, op) {
            return Ok(Some(Integer { kind: IntegerOp::Table(lookup), clamp: None }));
        }
        let (x, source) = (quantize.x(m), unclamped(m, quantize.x(m)));
        let Some(made) = m.defining_op(source).filter(|&op| m.is_one_of(op, &KINDS)) else { return Ok(None) };
        let of_kind = || {
            let to = Quantization::of_quantize(m, op)?;
            let kind = IntegerOp::of(m, made, &to, products)?;
            let mut between = std::iter::successors(Some(x), |&value| clamped(m, value));
            between.all(|value| m.has_one_use(value)).then_some(()).ok_or("floats with other uses")?;
            let clamp = match source == x {
                true => None,
                false => Some(Lookup::of_clamp(m, op, source, &to).ok_or("a clamp that is no table")?),
            };
            Ok(Some(Integer { kind, clamp: clamp.filter(|clamp| !clamp.is_identity()) }))
        };
        of_kind().map_err(|refusal| (made, refusal))
    }

    /// Returns the statistic that counts it.
    fn statistic(&self) -> &'static str {
        if matches!(self.kind, IntegerOp::Table(_)) { "num-tables" } else { "num-integer" }
    }

    /// Creates the integer ops before `op`, whose result they replace.
    fn emit(self, m: &mut Module, op: Op) -> Option<Value> {
        let ty = m.value_type(m.result(op, 0));
        let mut b = Builder::before(m, op);
        let mut e = Emitter::on_graph(&mut b, op);
        let value = match self.kind {
            IntegerOp::Table(lookup) => return lookup.emit(&mut e, ty),
            IntegerOp::Convolution(conv) => conv.emit(&mut e, ty),
            IntegerOp::Transposed(convs) => convs.emit(&mut e, ty),
            IntegerOp::MatMul(product) => product.emit(&mut e, ty),
            IntegerOp::Binary(binary) => binary.emit(&mut e, ty),
            IntegerOp::Concat(concat) => concat.emit(&mut e, ty),
        }?;
        match self.clamp {
            Some(clamp) => clamp.on(value).emit(&mut e, ty),
            None => Some(value),
        }
    }
}

/// The ops that have an integer form beside functions, which become tables.
pub(crate) const KINDS: [&OpInfo; 11] = [
    AddOp::INFO,
    AveragePoolOp::INFO,
    ConcatOp::INFO,
    ConvOp::INFO,
    ConvTransposeOp::INFO,
    GemmOp::INFO,
    GlobalAveragePoolOp::INFO,
    MatMulOp::INFO,
    MulOp::INFO,
    ReduceMeanOp::INFO,
    SumOp::INFO,
];

impl IntegerOp {
    /// Returns the kind of one of the ops [`KINDS`] whose result is quantized.
    fn of(m: &Module, op: Op, to: &Quantization, products: bool) -> Result<IntegerOp, Refusal> {
        if let Some(matmul) = MatMulOp::cast(m, op) {
            return product::MatMul::of(m, matmul, to, products).map(IntegerOp::MatMul);
        }
        if let Some(conv) = ConvTransposeOp::cast(m, op) {
            return transposed::Transposed::of(m, conv, to).map(IntegerOp::Transposed);
        }
        if let Some(concat) = ConcatOp::cast(m, op) {
            return elementwise::Concat::of(m, concat, to).map(IntegerOp::Concat);
        }
        match elementwise::integer_form(m, op) {
            Some(info) => elementwise::Binary::of(m, op, info, to).map(IntegerOp::Binary),
            None => product::Convolution::of(m, op, to).map(IntegerOp::Convolution),
        }
    }
}

/// Whether one of the ops [`KINDS`], whose result is quantized to `to`, has an integer form.
pub(crate) fn has_integer_form(m: &Module, op: Op, to: &Quantization) -> bool {
    IntegerOp::of(m, op, to, true).is_ok()
}

/// Returns the operand of a clamp that computes a value.
fn clamped(m: &Module, value: Value) -> Option<Value> {
    let op = m.defining_op(value).filter(|&op| m.is_one_of(op, &[ReluOp::INFO, ClipOp::INFO]))?;
    m.operands(op).first().copied()
}

/// Returns the value before clamps.
pub(crate) fn unclamped(m: &Module, value: Value) -> Value {
    std::iter::successors(Some(value), |&value| clamped(m, value)).last().unwrap_or(value)
}
