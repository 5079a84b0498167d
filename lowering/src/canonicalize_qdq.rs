//! `canonicalize-qdq`: quantized layers in the form that has the fewest ops between dequantize and quantize.
//!
//! `affine.rs` folds sums, products and normalizations by constants into the weights before them.

pub(crate) mod affine;

use crate::emit::erase_dead;
use crate::qdq_to_integer::movement::{self, Moved};
use crate::qdq_to_integer::quantization::Quantization;
use gradus_ir::pass::{FloatChange, Rewrites};
use gradus_ir::{Builder, Diagnostic, Module, Op, OpDecl, OpState, Pass, PassContext, PassInfo};
use gradus_networks::graph::QuantizeLinearOp;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "canonicalize-qdq",
    doc: "Fold and move what is between the ops of quantized layers and their quantizations

# Before / After

```mlir
%w = graph.dequantize_linear %q, %s, %z : (tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<8x8x3x3xf32>
%0 = graph.conv %x, %w : (...) -> tensor<1x8x4x4xf32>
%1 = graph.batch_normalization %0, ... : (...) -> tensor<1x8x4x4xf32>
%2 = graph.max_pool %1 {...} : (...) -> tensor<1x8x2x2xf32>
%3 = graph.quantize_linear %2, %sy, %zy : (...) -> tensor<1x8x2x2xui8>    // becomes:

%w = graph.dequantize_linear %q, %s2, %z2 {axis = 0 : i64} : (tensor<8x8x3x3xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x8x3x3xf32>
%0 = graph.conv %x, %w, %bias : (...) -> tensor<1x8x4x4xf32>
%1 = graph.quantize_linear %0, %sy, %zy : (...) -> tensor<1x8x4x4xui8>
%2 = graph.max_pool %1 {...} : (...) -> tensor<1x8x2x2xui8>
```

# Does

- Sums, differences, products and quotients by a constant for each column, and `graph.batch_normalization`, after a convolution or matrix product by
  constant quantized weights, are folded into the scales of the weights, one for each column, and the bias. A negative factor negates the weights.
  A `graph.matmul` gets a bias as a `graph.gemm`.
- Ops that move elements, or select the largest, are computed before a dequantization, and after a quantization.

Integers do not change; the scales and the bias are rounded to f32.

# Refuses

Negative factors of weights with the integer -128, and functions that do not depend on the columns alone.

# Cost

Linear in the number of ops and weights.",
    statistics: &[
        ("num-folded", "Number of operations that were folded into weights and bias"),
        ("num-moved", "Number of operations that moved before a dequantization or after a quantization"),
    ],
    rewrites: Rewrites::Tags(&["fold-affine", "move-before-dequantize", "move-after-quantize"]),
    floats: |_| FloatChange::Quantizes,
    make: |_| Ok(Box::new(CanonicalizeQdq)),
    ..PassInfo::DEFAULT
};

struct CanonicalizeQdq;

impl Pass for CanonicalizeQdq {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for op in m.ops_under(root) {
            let Some(folded) = affine::FoldedProduct::of(m, op).filter(|_| cx.allows("fold-affine", m, op)) else {
                continue;
            };
            cx.count("num-folded", folded.emit(m).unwrap_or(0));
        }
        for op in m.ops_under(root) {
            if let Some(moved) = Moved::of(m, op).filter(|_| cx.allows("move-before-dequantize", m, op)) {
                cx.count("num-moved", u64::from(moved.emit(m, op).is_some()));
            }
        }
        for op in m.ops_under(root) {
            let mut quantize = op;
            while let Some(moved) = movable(m, quantize).filter(|_| cx.allows("move-after-quantize", m, quantize)) {
                let Some(earlier) = move_before(m, quantize, moved) else { break };
                cx.count("num-moved", 1);
                quantize = earlier;
            }
        }
        erase_dead(m, root);
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}

/// Returns the op before a quantization that may be computed on its integers instead.
fn movable(m: &Module, op: Op) -> Option<Op> {
    let x = QuantizeLinearOp::cast(m, op)?.x(m);
    let moved = m.defining_op(x).filter(|&moved| movement::commutes(m, moved) && m.has_one_use(x))?;
    let is_scalar = Quantization::of_quantize(m, op).is_ok();
    let source = *m.operands(moved).first()?;
    (is_scalar && m.defining_op(source).is_some() && m.constant(source).is_none()).then_some(moved)
}

/// Computes `moved` after the quantization `op` of its result; returns the new quantization.
fn move_before(m: &mut Module, op: Op, moved: Op) -> Option<Op> {
    let (source, ty) = (m.operands(moved)[0], m.value_type(m.result(op, 0)));
    let integers = m.ctx.with_element(m.value_type(source), m.ctx.element_type(ty));
    let mut quantize = OpState::like(m, op);
    quantize.operands.push(source);
    quantize.operands.extend_from_slice(&m.operands(op)[1..]);
    quantize.result_types.push(integers);
    let mut after = OpState::like(m, moved);
    after.operands.extend_from_slice(m.operands(moved));
    after.result_types.push(ty);
    let mut b = Builder::before(m, op);
    let quantize = b.try_create(quantize).ok()?;
    after.operands[0] = b.module.result(quantize, 0);
    let after = b.try_create(after).ok()?;
    let value = m.result(after, 0);
    m.replace_all_uses(m.result(op, 0), value);
    Some(quantize)
}
