//! Operators of the domain `com.microsoft`, which onnxruntime's optimizer and quantizers write, as standard ones.
//!
//! All are rows of [`OPERATORS`]. An operator becomes nodes of the newest standard version.

use super::expansion::{F32, I64, Operator, PASSED, row};
use super::rewrite::{Adapted, NodeRewrite, float_attr, int_attr, ints_attr, string_attr};
use gradus_ir::tensor::Tensor;

/// The domain.
pub(super) const DOMAIN: &str = "com.microsoft";

/// The operators.
#[rustfmt::skip]
pub(super) const OPERATORS: &[Operator] = &[
    row("Attention", 6, &["do_rotary", "mask_filter_value", "num_heads", "qkv_hidden_sizes", "scale", "unidirectional"], attention),
    row("BiasGelu", 2, &[], |n| {
        let sum = n.emit("Add", &[&n.at(0), &n.at(1)], vec![]);
        n.end("Gelu", &[&sum], vec![])
    }),
    row("DequantizeLinear", 3, PASSED, |n| n.same("DequantizeLinear")),
    row("DynamicQuantizeMatMul", 5, &[], dynamic_quantize_matmul),
    row("EmbedLayerNormalization", 9, &["epsilon", "mask_index_type"], embed_layer_normalization),
    row("FastGelu", 2, &[], |n| {
        let sum = n.plus(&n.at(0), &n.at(1));
        n.end("Gelu", &[&sum], vec![string_attr("approximate", "tanh")])
    }),
    row("FusedConv", 4, PASSED, |n| fused(n, "Conv")),
    row("FusedGemm", 3, PASSED, |n| fused(n, "Gemm")),
    row("FusedMatMul", 2, &["alpha", "transA", "transB", "transBatchA", "transBatchB"], fused_matmul),
    row("Gelu", 1, PASSED, |n| n.same("Gelu")),
    row("GroupQueryAttention", 9, &["do_rotary", "kv_num_heads", "local_window_size", "num_heads", "rotary_interleaved", "scale", "softcap"],
        group_query_attention),
    row("LayerNormalization", 3, PASSED, |n| n.same("LayerNormalization")),
    row("MatMulIntegerToFloat", 7, &[], |n| {
        let [a, b, a_scale, b_scale, a_zero, b_zero, bias] = n.all();
        let scale = n.emit("Mul", &[&a_scale, &b_scale], vec![]);
        integer_product(n, [&a, &b, &a_zero, &b_zero], &scale, &bias)
    }),
    row("MatMulNBits", 6, &["K", "N", "accuracy_level", "bits", "block_size"], matmul_n_bits),
    row("MultiHeadAttention", 8, &["mask_filter_value", "num_heads", "scale", "unidirectional"], multi_head_attention),
    row("QGemm", 9, &["alpha", "transA", "transB"], quantized_gemm),
    row("QLinearAdd", 8, PASSED, |n| n.same("QLinearAdd")),
    row("QLinearAveragePool", 5, PASSED, |n| n.between_quantized("AveragePool", &["channels_last"])),
    row("QLinearConcat", usize::MAX, &["axis"], quantized_concat),
    row("QLinearGlobalAveragePool", 5, PASSED, |n| n.between_quantized("GlobalAveragePool", &["channels_last"])),
    row("QLinearLeakyRelu", 5, PASSED, |n| n.between_quantized("LeakyRelu", &[])),
    row("QLinearMul", 8, PASSED, |n| n.same("QLinearMul")),
    row("QLinearReduceMean", 5, &["axes", "keepdims"], quantized_mean),
    row("QLinearSigmoid", 5, PASSED, |n| n.between_quantized("Sigmoid", &[])),
    row("QLinearSoftmax", 5, PASSED, |n| {
        // Before version 13 the axes from the given one on were one.
        if n.int("opset", FLATTENS) < FLATTENS {
            n.node.attribute.push(int_attr("legacy_flatten", 1));
        }
        n.between_quantized("Softmax", &["opset"])
    }),
    row("QuantizeLinear", 3, PASSED, |n| n.same("QuantizeLinear")),
    row("QuickGelu", 1, &["alpha"], |n| {
        let (x, alpha) = (n.at(0), n.float("alpha", 1.702));
        let scaled = n.scaled(&x, alpha);
        let gate = n.emit("Sigmoid", &[&scaled], vec![]);
        n.end("Mul", &[&x, &gate], vec![])
    }),
    row("RotaryEmbedding", 4, &["interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"], rotary_embedding),
    row("SkipLayerNormalization", 5, &["epsilon"], |n| skip_normalization(n, true)),
    row("SkipSimplifiedLayerNormalization", 4, &["epsilon"], |n| skip_normalization(n, false)),
    row("TransposeMatMul", 2, &["alpha", "transA", "transB", "transBatchA", "transBatchB"], fused_matmul),
];

/// The first version in which a softmax does not flatten.
const FLATTENS: i64 = 13;

impl NodeRewrite<'_> {
    /// Computes an operator of floats from the quantized operand and quantizes its result; operands are x, its scale and zero point, and those
    /// of the result. `dropped`: attributes that the operator does not have.
    fn between_quantized(&mut self, op_type: &str, dropped: &[&str]) -> Adapted {
        if self.int("channels_last", 0) != 0 {
            return Err("channels in the last dimension are not supported".into());
        }
        let [x, scale, zero, y_scale, y_zero] = self.all();
        let attributes = self.node.attribute.iter().filter(|a| !dropped.contains(&a.name.as_str())).cloned().collect();
        let x = self.emit("DequantizeLinear", &[&x, &scale, &zero], vec![]);
        let y = self.emit(op_type, &[&x], attributes);
        self.end("QuantizeLinear", &[&y, &y_scale, &y_zero], vec![])
    }

    /// Applies the function that the attribute `activation` names.
    fn activated(&mut self, x: &str) -> Adapted {
        let name = self.word("activation", "");
        let list = self.attr("activation_params").map(|a| a.floats.clone());
        let single = ["activation_alpha", "activation_beta", "activation_gamma"];
        let single = single.map(|name| self.attr(name).map(|a| a.f));
        let param = |k: usize| list.as_ref().and_then(|l| l.get(k).copied()).or(single[k]);
        let named = |names: &[&str]| {
            let pairs = names.iter().enumerate().filter_map(|(k, name)| Some(float_attr(name, param(k)?)));
            pairs.collect::<Vec<_>>()
        };
        match name.as_str() {
            "" => self.end("Identity", &[x], vec![]),
            "Relu" | "Tanh" | "Sigmoid" | "Softplus" | "Softsign" => self.end(&name, &[x], vec![]),
            "LeakyRelu" | "Elu" | "ThresholdedRelu" => self.end(&name, &[x], named(&["alpha"])),
            "HardSigmoid" => self.end(&name, &[x], named(&["alpha", "beta"])),
            "Clip" => {
                let bounds = [param(0), param(1)];
                let [min, max] = bounds.map(|bound| bound.map_or(String::new(), |bound| self.number_like("", bound)));
                self.end("Clip", &[x, &min, &max], vec![])
            }
            other => Err(format!("activation '{other}' is not supported").into()),
        }
    }
}

/// A product or convolution with a summand and an activation.
fn fused(n: &mut NodeRewrite<'_>, op_type: &str) -> Adapted {
    let own = ["activation", "activation_params", "activation_alpha", "activation_beta", "activation_gamma"];
    let attributes = n.node.attribute.iter().filter(|a| !own.contains(&a.name.as_str())).cloned().collect();
    let [x, w, b, z] = n.all();
    let product = n.emit(op_type, &[&x, &w, &b], attributes);
    let sum = n.plus(&product, &z);
    n.activated(&sum)
}

fn fused_matmul(n: &mut NodeRewrite<'_>) -> Adapted {
    if n.int("transBatchA", 0) != 0 || n.int("transBatchB", 0) != 0 {
        return Err("transposed batches are not supported".into());
    }
    let a = if n.int("transA", 0) != 0 { n.transposed(0)? } else { n.at(0) };
    let b = if n.int("transB", 0) != 0 { n.transposed(1)? } else { n.at(1) };
    let alpha = n.float("alpha", 1.0);
    if alpha == 1.0 {
        return n.end("MatMul", &[&a, &b], vec![]);
    }
    let factor = n.number_like(&n.at(0), alpha);
    let product = n.emit("MatMul", &[&a, &b], vec![]);
    n.end("Mul", &[&product, &factor], vec![])
}

/// A product of integers, as a float of a scale, with a summand.
fn integer_product(n: &mut NodeRewrite<'_>, operands: [&str; 4], scale: &str, bias: &str) -> Adapted {
    let product = n.emit("MatMulInteger", &operands, vec![]);
    let product = n.cast(&product, F32);
    if bias.is_empty() {
        return n.end("Mul", &[&product, scale], vec![]);
    }
    let scaled = n.emit("Mul", &[&product, scale], vec![]);
    n.end("Add", &[&scaled, bias], vec![])
}

fn dynamic_quantize_matmul(n: &mut NodeRewrite<'_>) -> Adapted {
    let [a, b, b_scale, b_zero, bias] = n.all();
    let [a, a_scale, a_zero] = n.emit_many("DynamicQuantizeLinear", &[&a], vec![]);
    let scale = n.emit("Mul", &[&a_scale, &b_scale], vec![]);
    integer_product(n, [&a, &b, &a_zero, &b_zero], &scale, &bias)
}

fn quantized_gemm(n: &mut NodeRewrite<'_>) -> Adapted {
    let [a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero] = n.all();
    let a = if n.int("transA", 0) != 0 { n.transposed(0)? } else { a };
    let b = if n.int("transB", 0) != 0 { n.transposed(3)? } else { b };
    let product = n.emit("MatMulInteger", &[&a, &b, &a_zero, &b_zero], vec![]);
    let sum = n.plus(&product, &c);
    let scale = n.emit("Mul", &[&a_scale, &b_scale], vec![]);
    let scale = n.scaled(&scale, n.float("alpha", 1.0));
    let sum = n.cast(&sum, F32);
    if y_scale.is_empty() {
        return n.end("Mul", &[&sum, &scale], vec![]);
    }
    let y = n.emit("Mul", &[&sum, &scale], vec![]);
    n.end("QuantizeLinear", &[&y, &y_scale, &y_zero], vec![])
}

fn quantized_concat(n: &mut NodeRewrite<'_>) -> Adapted {
    let inputs = n.node.input.clone();
    let (Some([scale, zero]), Some(parts)) = (inputs.first_chunk(), inputs.get(2..)) else {
        return Err("the scale and the zero point of the result are missing".into());
    };
    let part = |n: &mut NodeRewrite<'_>, part: &[String]| {
        let names: Vec<&str> = part.iter().map(String::as_str).collect();
        n.emit("DequantizeLinear", &names, vec![])
    };
    let parts: Vec<String> = parts.chunks(3).map(|one| part(n, one)).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let attributes = n.attrs(&["axis"]);
    let all = n.emit("Concat", &parts, attributes);
    n.end("QuantizeLinear", &[&all, scale, zero], vec![])
}

fn quantized_mean(n: &mut NodeRewrite<'_>) -> Adapted {
    let [x, scale, zero, y_scale, y_zero] = n.all();
    let axes = n.attr("axes").map(|a| a.ints.clone());
    let axes = axes.map_or(String::new(), |axes| n.list(&axes));
    let attributes = n.attrs(&["keepdims"]);
    let x = n.emit("DequantizeLinear", &[&x, &scale, &zero], vec![]);
    let y = n.emit("ReduceMean", &[&x, &axes], attributes);
    n.end("QuantizeLinear", &[&y, &y_scale, &y_zero], vec![])
}

/// The default of the attribute `epsilon` of normalizations after a sum.
const EPSILON: f32 = 1e-12;

/// Makes the sum that is normalized the result `i`, if the node has that, and keeps the others up to `kept`.
fn result_sum(n: &mut NodeRewrite<'_>, sum: &str, i: usize, kept: usize) {
    if let Some(name) = n.node.output.get(i).filter(|name| !name.is_empty()).cloned() {
        n.emit_as(&name, "Identity", &[sum], vec![]);
    }
    n.node.output.truncate(kept);
}

fn skip_normalization(n: &mut NodeRewrite<'_>, has_mean: bool) -> Adapted {
    let [x, skip, gamma, fourth, fifth] = n.all();
    let (beta, bias) = if has_mean { (fourth, fifth) } else { (String::new(), fourth) };
    let epsilon = float_attr("epsilon", n.float("epsilon", EPSILON));
    n.only_absent(1..3, "the mean and the deviation are not supported")?;
    let sum = n.plus(&x, &skip);
    let sum = n.plus(&sum, &bias);
    result_sum(n, &sum, 3, 1);
    match has_mean {
        true => n.end("LayerNormalization", &[&sum, &gamma, &beta], vec![int_attr("axis", -1), epsilon]),
        false => n.end("RMSNormalization", &[&sum, &gamma], vec![int_attr("axis", -1), epsilon]),
    }
}

fn embed_layer_normalization(n: &mut NodeRewrite<'_>) -> Adapted {
    let [ids, segments, words, positions, segment_table, gamma, beta, mask, at] = n.all();
    let epsilon = float_attr("epsilon", n.float("epsilon", EPSILON));
    let word = n.emit("Gather", &[&words, &ids], vec![]);
    let position = if at.is_empty() {
        let shape = n.emit("Shape", &[&ids], vec![int_attr("start", 1), int_attr("end", 2)]);
        let (zero, axis) = (n.list(&[0]), n.list(&[0]));
        n.emit("Slice", &[&positions, &zero, &shape, &axis], vec![])
    } else {
        n.emit("Gather", &[&positions, &at], vec![])
    };
    let mut sum = n.emit("Add", &[&word, &position], vec![]);
    if !segments.is_empty() && !segment_table.is_empty() {
        let segment = n.emit("Gather", &[&segment_table, &segments], vec![]);
        sum = n.emit("Add", &[&sum, &segment], vec![]);
    }
    if let Some(name) = n.node.output.get(1).filter(|name| !name.is_empty()).cloned() {
        let axis = n.list(&[1]);
        let counted = if mask.is_empty() {
            let zero = n.constant(&Tensor::scalar(0_i32));
            let like = n.cast(&ids, 6);
            n.emit("Mul", &[&like, &zero], vec![])
        } else {
            mask
        };
        n.emit_as(&name, "ReduceSum", &[&counted, &axis], vec![int_attr("keepdims", 0)]);
    }
    result_sum(n, &sum, 2, 1);
    n.end("LayerNormalization", &[&sum, &gamma, &beta], vec![int_attr("axis", -1), epsilon])
}

fn rotary_embedding(n: &mut NodeRewrite<'_>) -> Adapted {
    let [x, at, cos, sin] = n.all();
    if n.rank(1)? != 2 {
        return Err("positions that are no matrix are not supported".into());
    }
    if n.int("is_packed_batching", 0) != 0 || n.float("scale", 1.0) != 1.0 {
        return Err("packed batches and scales are not supported".into());
    }
    let mut attributes = n.attrs(&["interleaved", "num_heads", "rotary_embedding_dim"]);
    let width = |name: &str| n.values.shape(name).and_then(|(dims, _)| dims.last().copied()).filter(|&width| width > 0);
    // Without a number of heads, those of the widths of the caches.
    if n.rank(0)? == 3 && n.int("num_heads", 0) == 0 {
        let heads = width(&x).zip(width(&cos)).map(|(all, half)| all / (2 * half)).filter(|&heads| heads > 0);
        attributes.retain(|a| a.name != "num_heads");
        attributes.push(int_attr("num_heads", heads.ok_or("the number of heads is needed, but not known")?));
    }
    n.end("RotaryEmbedding", &[&x, &cos, &sin, &at], attributes)
}

/// Returns the summand of the scores for a mask of keys, `[B, T]`, in which 0 hides a key.
fn summand_of_mask(n: &mut NodeRewrite<'_>, mask: &str) -> String {
    let hidden = n.float("mask_filter_value", -10000.0);
    let mask = n.cast(mask, F32);
    let one = n.constant(&Tensor::scalar(1.0_f32));
    let is_hidden = n.emit("Sub", &[&one, &mask], vec![]);
    let summand = n.scaled(&is_hidden, hidden);
    let axes = n.list(&[1, 2]);
    n.emit("Unsqueeze", &[&summand, &axes], vec![])
}

/// Ends with the attention of queries, keys and values `[B, S, H * D]`.
fn attention_of(n: &mut NodeRewrite<'_>, qkv: [&str; 3], mask: &str, past: [&str; 2]) -> Adapted {
    let heads = n.int("num_heads", 0);
    let mut attributes = vec![int_attr("q_num_heads", heads), int_attr("kv_num_heads", heads)];
    let scale = n.float("scale", 0.0);
    if scale != 0.0 {
        attributes.push(float_attr("scale", scale));
    }
    if n.int("unidirectional", 0) != 0 {
        attributes.push(int_attr("is_causal", 1));
    }
    let [q, k, v] = qkv;
    n.end("Attention", &[q, k, v, mask, past[0], past[1]], attributes)
}

fn attention(n: &mut NodeRewrite<'_>) -> Adapted {
    let [x, weights, bias, mask, past, summand] = n.all();
    if !past.is_empty() || n.node.attribute.iter().any(|a| a.name == "do_rotary" && a.i != 0) {
        return Err("past keys and rotary embeddings are not supported".into());
    }
    n.only_absent(1..n.node.output.len(), "present keys are not supported")?;
    let mut mask = match (mask.is_empty(), n.values.shape(&mask).map(|(dims, _)| dims.len())) {
        (true, _) => String::new(),
        (false, Some(2)) => summand_of_mask(n, &mask),
        _ => return Err("a mask that is no matrix is not supported".into()),
    };
    mask = n.plus(&mask, &summand);
    let product = n.emit("MatMul", &[&x, &weights], vec![]);
    let product = n.plus(&product, &bias);
    let sizes = n.attr("qkv_hidden_sizes").map(|a| a.ints.clone());
    let [q, k, v] = match sizes {
        Some(sizes) => {
            let sizes = n.list(&sizes);
            n.emit_many("Split", &[&product, &sizes], vec![int_attr("axis", -1)])
        }
        None => n.emit_many("Split", &[&product], vec![int_attr("axis", -1), int_attr("num_outputs", 3)]),
    };
    attention_of(n, [&q, &k, &v], &mask, ["", ""])
}

fn multi_head_attention(n: &mut NodeRewrite<'_>) -> Adapted {
    let [q, k, v, bias, padding, summand, past_key, past_value] = n.all();
    if k.is_empty() || v.is_empty() || n.rank(0)? != 3 || n.rank(1)? != 3 || n.rank(2)? != 3 {
        return Err("packed or split queries, keys and values are not supported".into());
    }
    let mut parts = [q, k, v];
    if !bias.is_empty() {
        let width = |i: usize| n.values.shape(n.input(i)).and_then(|(dims, _)| dims.last().copied());
        let widths = [width(0), width(1), width(2)].map(|w| w.filter(|&w| w >= 0));
        let mut first = 0_i64;
        for (part, width) in parts.iter_mut().zip(widths) {
            let width = width.ok_or("the width of a factor is needed, but not known")?;
            let end = first.saturating_add(width);
            let summand = n.sliced(&bias, 0, first, end);
            *part = n.plus(part, &summand);
            first = end;
        }
    }
    let mask = match (padding.is_empty(), n.values.shape(&padding).map(|(dims, _)| dims.len())) {
        (true, _) => String::new(),
        (false, Some(2)) => summand_of_mask(n, &padding),
        _ => return Err("a mask that is no matrix is not supported".into()),
    };
    let mask = n.plus(&mask, &summand);
    let [q, k, v] = &parts;
    attention_of(n, [q, k, v], &mask, [&past_key, &past_value])
}

/// Attention of causal queries whose keys are shared by groups of heads, perhaps rotated by their positions. Batches are of one length: the
/// numbers of keys only tell the positions.
fn group_query_attention(n: &mut NodeRewrite<'_>) -> Adapted {
    let [q, k, v, past_key, past_value, last, _, cos, sin] = n.all();
    let [heads, kv_heads] = ["num_heads", "kv_num_heads"].map(|name| n.int(name, 0));
    if heads <= 0 || kv_heads <= 0 {
        return Err("the numbers of heads are needed".into());
    }
    let mut qkv = [q, k, v];
    if qkv[1].is_empty() {
        // Queries, keys and values are side by side.
        let width = n.values.shape(&qkv[0]).and_then(|(dims, _)| dims.last().copied()).filter(|&width| width > 0);
        let all = width.ok_or("the width of packed queries is needed, but not known")?;
        let size = all / heads.saturating_add(kv_heads.saturating_mul(2));
        let sizes = n.list(&[size * heads, size * kv_heads, size * kv_heads]);
        let packed = qkv[0].clone();
        qkv = n.emit_many("Split", &[&packed, &sizes], vec![int_attr("axis", -1)]);
    }
    if n.int("do_rotary", 0) != 0 {
        let positions = positions_of(n, &qkv[0], &last);
        for (x, heads) in qkv.iter_mut().zip([heads, kv_heads]).take(2) {
            let attributes =
                vec![int_attr("interleaved", n.int("rotary_interleaved", 0)), int_attr("num_heads", heads)];
            *x = n.emit("RotaryEmbedding", &[x, &cos, &sin, &positions], attributes);
        }
    }
    let mut attributes =
        vec![int_attr("q_num_heads", heads), int_attr("kv_num_heads", kv_heads), int_attr("is_causal", 1)];
    let window = n.int("local_window_size", -1);
    if window > 0 {
        attributes.push(int_attr("left_window_size", window - 1));
    }
    for name in ["scale", "softcap"] {
        let value = n.float(name, 0.0);
        attributes.extend((value != 0.0).then(|| float_attr(name, value)));
    }
    let [q, k, v] = &qkv;
    n.end("Attention", &[q, k, v, "", &past_key, &past_value], attributes)
}

/// Returns the positions of queries `[B, S, ...]`, of which the last has the one that is given for each batch.
fn positions_of(n: &mut NodeRewrite<'_>, x: &str, last: &str) -> String {
    let shape = n.emit("Shape", &[x], vec![int_attr("start", 1), int_attr("end", 2)]);
    let [scalar, column] = [n.list(&[]), n.list(&[-1, 1])];
    let count = n.emit("Reshape", &[&shape, &scalar], vec![]);
    let [zero, one] = [0_i64, 1].map(|k| n.constant(&Tensor::scalar(k)));
    let range = n.emit("Range", &[&zero, &count, &one], vec![]);
    let last = n.cast(last, I64);
    let last = n.emit("Reshape", &[&last, &column], vec![]);
    let end = n.emit("Add", &[&last, &one], vec![]);
    let first = n.emit("Sub", &[&end, &count], vec![]);
    n.emit("Add", &[&first, &range], vec![])
}

/// Number of bits of a packed weight.
const BITS: i64 = 4;
/// Zero point of packed weights that have none of their own.
const MIDDLE: u8 = 8;

fn matmul_n_bits(n: &mut NodeRewrite<'_>) -> Adapted {
    let [a, b, scales, zeros, indices, bias] = n.all();
    let (bits, block) = (n.int("bits", 4), n.int("block_size", 0));
    let [rows, depth] = ["N", "K"].map(|name| n.int(name, 0));
    let are_extents = [block, rows, depth].iter().all(|&n| n > 0 && i32::try_from(n).is_ok());
    if bits != BITS || !are_extents || !indices.is_empty() {
        return Err("only weights of 4 bits in blocks, in order, are supported".into());
    }
    if !zeros.is_empty() && n.values.shape(&zeros).is_some_and(|(_, dtype)| dtype.is_float()) {
        return Err("zero points of floats are not supported".into());
    }
    let blocks = (depth + block - 1) / block;
    let weights = unpacked(n, &b, &[rows, blocks * block]);
    let scales = n.reshaped(&scales, &[rows, blocks]);
    let zeros = if zeros.is_empty() {
        let (middle, shape) = (n.constant(&Tensor::scalar(MIDDLE)), n.list(&[rows, blocks]));
        n.emit("Expand", &[&middle, &shape], vec![])
    } else {
        let all = unpacked(n, &zeros, &[rows, (blocks + 1) / 2 * 2]);
        n.sliced(&all, 1, 0, blocks)
    };
    let attributes = vec![int_attr("axis", 1), int_attr("block_size", block)];
    let weights = n.emit("DequantizeLinear", &[&weights, &scales, &zeros], attributes);
    let weights = if depth == blocks * block { weights } else { n.sliced(&weights, 1, 0, depth) };
    let weights = n.emit("Transpose", &[&weights], vec![ints_attr("perm", vec![1, 0])]);
    if bias.is_empty() {
        return n.end("MatMul", &[&a, &weights], vec![]);
    }
    let product = n.emit("MatMul", &[&a, &weights], vec![]);
    n.end("Add", &[&product, &bias], vec![])
}

/// Returns the elements of 4 bits of a tensor of bytes, low ones first, as bytes of a shape.
fn unpacked(n: &mut NodeRewrite<'_>, bytes: &str, shape: &[i64]) -> String {
    let bytes = n.reshaped(bytes, &[-1, 1]);
    let [mask, shift] = [15_u8, 4].map(|byte| n.constant(&Tensor::scalar(byte)));
    let low = n.emit("BitwiseAnd", &[&bytes, &mask], vec![]);
    let high = n.emit("BitShift", &[&bytes, &shift], vec![string_attr("direction", "RIGHT")]);
    let both = n.emit("Concat", &[&low, &high], vec![int_attr("axis", 1)]);
    n.reshaped(&both, shape)
}

impl NodeRewrite<'_> {
    /// Rejects results other than the first, in a range.
    fn only_absent(&self, range: std::ops::Range<usize>, otherwise: &str) -> Adapted {
        let are_absent = range.into_iter().all(|i| self.node.output.get(i).is_none_or(String::is_empty));
        if are_absent { Ok(()) } else { Err(otherwise.to_owned().into()) }
    }
}
