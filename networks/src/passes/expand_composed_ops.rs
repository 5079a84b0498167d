//! `expand-composed-ops`: ops that are compositions of others as those.

mod crop;
mod einsum;
mod elementwise;
mod fourier;
mod loss;
mod norm;
mod pool;
mod reduce;
mod rotary;
mod state;
pub(super) mod tensor_emitter;
mod transposed;

use crate::graph;
use gradus_ir::pass::{FloatChange, Rewrites};
use gradus_ir::{
    Attr, DType, Diagnostic, Module, Op, OpArgs, OpDecl, OpInfo, Pass, PassContext, PassInfo, Refusal, Tensor, Type,
    Value,
};
use gradus_reference_kernels::shape::normalize_axis;
use tensor_emitter::{TensorEmitter, replace_by};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "expand-composed-ops",
    doc: "Compute normalizations, Fourier transforms and other compositions by the ops that they consist of

# Before / After

```mlir
%y = graph.einsum %a, %b {equation = \"bij,bkj->bik\"} : (tensor<2x4x8xf32>, tensor<2x3x8xf32>) -> tensor<2x4x3xf32>
// becomes:
%0 = graph.transpose %b {perm = array<i64: 0, 2, 1>} : (tensor<2x3x8xf32>) -> tensor<2x8x3xf32>
%y = graph.matmul %a, %0 : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
```

# Does

| op | replacement |
|---|---|
| `graph.mean` | sum, and division by the number of operands |
| `graph.swiglu` | `graph.swish` and a product |
| `graph.is_nan`, `graph.is_inf` | comparisons with the operand and with infinity |
| `graph.reduce_log_sum_exp` | sum of exponentials of differences from the maximum, where that is finite |
| `graph.lp_normalization` | quotient of the norm; 0 where that is 0 |
| `graph.mean_variance_normalization` | differences from the mean, divided by the root of their mean square |
| `graph.batch_normalization` | product and sum with a factor and an addend per channel; in training, reductions for the statistics |
| `graph.layer_normalization`, `graph.rms_normalization` of other floats than f32, or with statistics | the op in f32, or reductions |
| `graph.instance_normalization`, `graph.group_normalization` | `graph.layer_normalization` of rows, product and sum per channel |
| `graph.lp_pool` | `graph.average_pool` of absolute values, or of powers in f64, times the size of the window |
| `graph.global_lp_pool` | reduction of the image axes |
| `graph.softmax_cross_entropy_loss` | `graph.log_softmax` and `graph.negative_log_likelihood_loss` |
| `graph.einsum` | transpositions, reductions and `graph.matmul`, or products of elements where nothing is summed |
| `graph.dft` | `graph.matmul` with a constant matrix of cosines and sines |
| `graph.stft` | `graph.conv` whose filters are the windowed rows of that matrix and whose stride is the frame step |
| `graph.rotary_embedding` | slices, products, sums and a concatenation |
| `graph.causal_conv_with_state` | a concatenation with the past positions, `graph.conv`, `graph.swish`, and a slice |
| `graph.center_crop_pad` with a constant shape | slices and paddings |
| `graph.conv_transpose` with constant filters and strides of 1 | `graph.conv` with the taps in reverse |

Floats narrower than 32 bits are converted to f32 where the op is rounded once and its replacement several times. A batch normalization of f32
or bf16 with constants stays for the rules that fold it into convolutions, and an op whose operands are all constant, which folds.

# Refuses

Ops whose replacement depends on a rank, an extent or an operand that is not known, and those of element types without the ops of the
replacement. A remark names the op and the rule.

# Cost

Linear in the number of ops; products of the extents of a transform for its matrix, which has at most 8 Mi elements.",
    statistics: &[("num-ops", "Number of ops that were replaced")],
    stays: "one op",
    rewrites: Rewrites::Tags(&["expand-composed-op"]),
    floats: |_| FloatChange::Rounds,
    make: |_| Ok(Box::new(ExpandComposedOps)),
    ..PassInfo::DEFAULT
};

/// Emits the results of an op.
type Expansion = fn(&mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal>;

/// The ops that are expanded.
const EXPANSIONS: &[(&OpInfo, Expansion)] = &[
    (graph::MeanOp::INFO, elementwise::mean),
    (graph::SwigluOp::INFO, elementwise::swiglu),
    (graph::IsNaNOp::INFO, elementwise::is_nan),
    (graph::IsInfOp::INFO, elementwise::is_inf),
    (graph::ReduceLogSumExpOp::INFO, reduce::log_sum_exp),
    (graph::LpNormalizationOp::INFO, norm::lp),
    (graph::MeanVarianceNormalizationOp::INFO, norm::mean_variance),
    (graph::BatchNormalizationOp::INFO, norm::batch),
    (graph::LayerNormalizationOp::INFO, norm::layer),
    (graph::RmsNormalizationOp::INFO, norm::rms),
    (graph::InstanceNormalizationOp::INFO, norm::instance),
    (graph::GroupNormalizationOp::INFO, norm::group),
    (graph::LpPoolOp::INFO, pool::windows),
    (graph::GlobalLpPoolOp::INFO, pool::images),
    (graph::SoftmaxCrossEntropyLossOp::INFO, loss::softmax_cross_entropy),
    (graph::EinsumOp::INFO, einsum::einsum),
    (graph::DftOp::INFO, fourier::dft),
    (graph::StftOp::INFO, fourier::stft),
    (graph::RotaryEmbeddingOp::INFO, rotary::embedding),
    (graph::CausalConvWithStateOp::INFO, state::causal_convolution),
    (graph::CenterCropPadOp::INFO, crop::center),
    (graph::ConvTransposeOp::INFO, transposed::convolution),
];

struct ExpandComposedOps;

impl Pass for ExpandComposedOps {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for op in m.ops_under(root) {
            let Some(info) = m.info(op) else { continue };
            let Some(&(_, expansion)) = EXPANSIONS.iter().find(|(known, _)| std::ptr::eq(*known, info)) else {
                continue;
            };
            let is_constant = m.operands(op).iter().all(|&value| m.constant(value).is_some());
            if is_constant || norm::folds_into_others(m, op) || norm::is_basic(m, op) || transposed::stays(m, op) {
                continue;
            }
            let replaced = replace_by(m, op, |e| {
                let values = expansion(&mut ComposedOp { e, op })?;
                e.status()?;
                // An expansion is known to succeed only now.
                if !cx.allows("expand-composed-op", e.module(), op) {
                    return Err(NOT_ALLOWED.into());
                }
                Ok(values)
            });
            match replaced {
                Ok(()) => cx.count("num-ops", 1),
                Err(refusal) if refusal.rule == NOT_ALLOWED => {}
                Err(refusal) => cx.refuse(m, op, &refusal),
            }
        }
        Ok(())
    }
}

/// The rule of an expansion that the caller of the pass forbids.
const NOT_ALLOWED: &str = "not allowed";

/// An op to expand, and the emitter of its replacement.
struct ComposedOp<'e, 'm> {
    e: &'e mut TensorEmitter<'m>,
    op: Op,
}

impl ComposedOp<'_, '_> {
    fn args(&self) -> Result<OpArgs<'_>, Refusal> {
        self.e.module().args(self.op).ok_or_else(|| "no declaration".into())
    }

    /// Returns all operands.
    fn operands(&self) -> Vec<Value> {
        self.e.module().operands(self.op).to_vec()
    }

    /// Returns the values of optional operands.
    fn optional(&self, name: &str) -> Option<Value> {
        self.args().ok()?.opt_operand(name)
    }

    /// Returns the value of an operand.
    fn operand(&self, name: &str) -> Result<Value, Refusal> {
        self.optional(name).ok_or_else(|| "an operand that is missing".into())
    }

    fn attr(&self, name: &str) -> Option<Attr> {
        self.args().ok()?.attr(name)
    }

    fn int(&self, name: &'static str) -> Result<i64, Refusal> {
        self.args()?.int(name).ok_or_else(|| Refusal::of_attr(name, "an attribute that is missing"))
    }

    fn float(&self, name: &'static str) -> Result<f64, Refusal> {
        self.args()?.float(name).ok_or_else(|| Refusal::of_attr(name, "an attribute that is missing"))
    }

    fn ints(&self, name: &str) -> Vec<i64> {
        self.args().ok().and_then(|args| args.ints(name)).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> bool {
        self.args().is_ok_and(|args| args.flag(name))
    }

    /// Returns the extents of a tensor, some of which may be open.
    fn shape(&self, value: Value) -> Result<Vec<i64>, Refusal> {
        self.e.shape(value).map(<[i64]>::to_vec).ok_or_else(|| Refusal::of(value, "a tensor of unknown rank"))
    }

    /// Returns the elements of an operand that is known.
    fn known(&self, value: Value) -> Result<Tensor, Refusal> {
        graph::known_value(self.e.module(), value).ok_or_else(|| Refusal::of(value, "an operand that is not constant"))
    }

    /// Returns the integer of an optional scalar operand, which must be known.
    fn known_int(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.optional(name) else { return Ok(None) };
        match self.known(value)?.to_i64().as_deref() {
            Some(&[number]) => Ok(Some(number)),
            _ => Err(Refusal::of(value, "an operand of other than one integer")),
        }
    }

    /// Sets the element type of numbers to that of a tensor of floats.
    fn in_type_of(&mut self, value: Value) -> Result<(), Refusal> {
        let elem = self.e.elem_of(value);
        self.e.elem = elem;
        let is_float = self.e.module().ctx.dtype(elem).is_some_and(DType::is_float);
        if is_float { Ok(()) } else { Err(Refusal::of(value, "elements that are no floats")) }
    }

    /// Converts tensors to f32, or f64 if one has this type: to the element type of intermediate results, which is that of numbers from
    /// now on.
    fn widened<const N: usize>(&mut self, values: [Value; N]) -> Result<[Value; N], Refusal> {
        for value in values {
            if ![Type::F16, Type::BF16, Type::F32, Type::F64].contains(&self.e.elem_of(value)) {
                return Err(Refusal::of(value, "an element type other than f16, bf16, f32 and f64"));
            }
        }
        let has_double = values.iter().any(|&value| self.e.elem_of(value) == Type::F64);
        let elem = if has_double { Type::F64 } else { Type::F32 };
        self.e.elem = elem;
        Ok(values.map(|value| self.e.convert(value, elem)))
    }
}

/// Returns an axis of a tensor of rank `rank` as its position.
fn position(axis: i64, rank: usize) -> Result<usize, Refusal> {
    normalize_axis(axis, rank).map_err(|_| "an axis that the operand does not have".into())
}

/// Returns the product of extents that are known.
fn known_product(extents: &[i64]) -> Result<i64, Refusal> {
    let product = extents.iter().try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d) });
    product.ok_or_else(|| "extents that are not known".into())
}
