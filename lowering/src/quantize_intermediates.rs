//! `quantize-intermediates`: one op between dequantize and quantize, where a quantized layer has several.
//!
//! | file | contents |
//! |---|---|
//! | `function.rs` | functions of one value, and the quantization of their argument |
//! | `plan.rs` | the values between the ops of a layer, their ranges and errors |

mod function;
mod plan;

use crate::emit::Emitter;
use crate::qdq_to_integer::quantization::Quantization;
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{Builder, Diagnostic, Module, Op, OpDecl, Pass, PassContext, PassInfo, Value};
use gradus_networks::graph::{DequantizeLinearOp, QuantizeLinearOp};
use plan::LayerPlanner;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "quantize-intermediates",
    doc: "Quantize the values between the ops of a quantized layer

# Before / After

```mlir
%0 = graph.conv %x, %w : (...) -> tensor<1x8x2x2xf32>     // %0 = graph.conv %x, %w : (...) -> tensor<1x8x2x2xf32>
%1 = graph.hard_swish %0 : tensor<1x8x2x2xf32>            // %1 = graph.quantize_linear %0, %s, %z : (...) -> tensor<1x8x2x2xui8>
%2 = graph.quantize_linear %1, %sy, %zy : (...)           // %2 = graph.dequantize_linear %1, %s, %z : (...) -> tensor<1x8x2x2xf32>
                                                          // %3 = graph.hard_swish %2 : tensor<1x8x2x2xf32>
                                                          // %4 = graph.quantize_linear %3, %sy, %zy : (...)
```

# Does

Quantizes to 8 bits what one op of a quantized layer computes for another one, so that `convert-qdq-to-integer` finds one op between each
`graph.dequantize_linear` and `graph.quantize_linear`: the argument of functions (SiLU, hard swish, leaky ReLU, GELU, ...), and operands of a sum, a
product, a mean or a concatenation. Scale and zero point follow from the range that reaches the result: the argument outside of which the
result is saturated or constant, the summand beyond which the sum is clamped, or the largest sum that the weights permit.

A value that is quantized has an error of half a step, times the slope of the ops after it, in steps of the result. The largest one over the
range is measured on a grid; those of a layer are added.

# Refuses

Layers whose error exceeds `steps`, with a remark; intermediate values with other uses, or of unknown range; ops that have no
integer form.

# Cost

Linear in the number of ops and weights; some 10,000 evaluations for each function.",
    statistics: &[("num-quantized", "Number of intermediate values that were quantized")],
    options: &[PassOption {
        name: "steps",
        doc: "Largest error of a result by intermediate quantization, in steps of the result; 0 allows exact ones only",
        kind: OptionKind::Int(3),
    }],
    stays: "in floats",
    rewrites: Rewrites::Tags(&["quantize-intermediate"]),
    floats: |options| match options.int("steps") {
        ..1 => FloatChange::Quantizes,
        _ => FloatChange::Requantizes,
    },
    make: |options| Ok(Box::new(QuantizeIntermediates { steps: options.int("steps") as f64 })),
    ..PassInfo::DEFAULT
};

struct QuantizeIntermediates {
    /// Largest error of a result, in its steps.
    steps: f64,
}

impl Pass for QuantizeIntermediates {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for op in m.ops_under(root) {
            if QuantizeLinearOp::cast(m, op).is_none() {
                continue;
            }
            match LayerPlanner::of(m, op, self.steps) {
                Ok(plan) if !plan.is_empty() && cx.allows("quantize-intermediate", m, op) => {
                    for (value, q) in plan {
                        cx.count("num-quantized", u64::from(insert(m, value, &q).is_some()));
                    }
                }
                Err(Some((made, refusal))) => cx.refuse(m, made, &refusal),
                _ => {}
            }
        }
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}

/// Quantizes and dequantizes a value for all its uses.
fn insert(m: &mut Module, value: Value, q: &Quantization) -> Option<()> {
    let (made, ty) = (m.defining_op(value)?, m.value_type(value));
    let integers = m.ctx.with_element(ty, q.elem);
    let uses = Vec::from_iter(m.uses(value));
    let mut b = Builder::after(m, made);
    let mut e = Emitter::on_graph(&mut b, made);
    let [scale, zero] = q.constants(&mut e)?;
    let quantized = e.typed(QuantizeLinearOp::INFO.name, &[value, scale, zero], &[], integers)?;
    let value = e.typed(DequantizeLinearOp::INFO.name, &[quantized, scale, zero], &[], ty)?;
    uses.into_iter().for_each(|(user, i)| m.set_operand(user, i, value));
    Some(())
}
