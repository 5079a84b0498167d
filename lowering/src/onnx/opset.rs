//! Conversion of ONNX operators from old versions to the newest one. All differences are rows of [`ADAPTERS`].
//!
//! A node of an old version is rewritten to an equivalent node of the newest version before it is imported: attributes
//! become operands, changed defaults become explicit, and replaced operators get their successor's name. Additions need
//! no row.

use super::proto::{AttributeType, DataType, NodeProto};
use super::rewrite::{Adapted, NodeRewrite, ValueFacts, float_attr, tensor_proto, value_attr};
use super::tensor::dtype;
use super::{domains, is_standard, random};
use gradus_ir::tensor::Tensor;

type Adapt = fn(&mut NodeRewrite<'_>) -> Adapted;

/// All versions.
const ANY: i64 = i64::MAX;
const LOGIC: &[&str] = &["Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"];
#[rustfmt::skip]
const REDUCE: &[&str] = &[
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSumSquare",
];

/// Adapters: operators (empty for all), the version before which the adapter applies, and the function that converts a
/// node to that version. Rows apply in order, so a node may pass through several versions.
const ADAPTERS: &[(&[&str], i64, Adapt)] = &[
    // A hint to an early memory planner.
    (&[], 6, |n| n.drop("consumed_inputs")),
    (&["Constant"], ANY, constant),
    (&["Cast"], 6, cast_by_name),
    (&["Concat"], 4, |n| n.default_int("axis", 1)),
    (&["Selu"], 6, selu),
    (&["LpPool", "GlobalLpPool"], 2, float_p),
    (LOGIC, 7, broadcast),
    (&["PRelu"], 7, channel_slope),
    (&["Gemm"], 7, |n| n.drop("broadcast")),
    (&["BatchNormalization"], 7, |n| n.drop("is_test")),
    (&["BatchNormalization"], 9, spatial),
    (&["BatchNormalization"], 14, |n| n.only_outputs(1, "training mode is not supported")),
    (&["GroupNormalization"], 21, scale_per_group),
    (&["Dropout"], 7, |n| n.drop("is_test")),
    (&["Dropout"], 12, |n| n.float_to_input("ratio", 1)),
    (&["RNN", "GRU", "LSTM"], 7, |n| n.drop("output_sequence")),
    (&["DFT"], 20, |n| n.default_int("axis", 1).and_then(|()| n.int_to_input("axis", 2))),
    (&["Reshape"], 5, |n| n.ints_to_input("shape", 1)),
    (&["Tile"], 6, |_| Err("tiling along one axis (before version 6) is not supported".into())),
    (&["Squeeze", "Unsqueeze", "ReduceSum"], 13, |n| n.ints_to_input("axes", 1)),
    (REDUCE, 18, |n| n.ints_to_input("axes", 1)),
    (&["Split"], 13, |n| n.ints_to_input("split", 1)),
    (&["Split"], 18, count_outputs),
    (&["Slice"], 10, slice),
    (&["Pad"], 2, |n| n.rename_attr("paddings", "pads")),
    (&["Pad"], 11, |n| n.ints_to_input("pads", 1).and_then(|()| n.float_to_input("value", 2))),
    (&["Clip"], 11, |n| n.float_to_input("min", 1).and_then(|()| n.float_to_input("max", 2))),
    (&["TopK"], 10, |n| n.int_to_input("k", 1)),
    (random::OPERATORS, ANY, random::adapt),
    (&["Scatter"], ANY, |n| n.rename("ScatterElements")),
    (&["SimplifiedLayerNormalization"], ANY, |n| n.rename("RMSNormalization")),
    (&["Softmax", "LogSoftmax", "Hardmax"], 13, flattening),
    (&["GridSample"], 20, |n| n.rename_words("mode", &[("bilinear", "linear"), ("bicubic", "cubic")])),
    (&["RoiAlign"], 16, |n| n.default_string("coordinate_transformation_mode", "output_half_pixel")),
    (&["Upsample"], 7, upsample_factors),
    (&["Upsample"], 9, |n| n.floats_to_input("scales", 1)),
    (&["Upsample"], 11, |n| n.rename("Resize")),
    (&["Resize"], 11, resize_without_roi),
    (&["Resize"], ANY, resize_without_empties),
];

/// Converts a node to the newest version. Returns it after the nodes that define its new operands.
///
/// # Errors
/// The node is malformed, or has no counterpart in the newest version.
pub fn modernize(node: NodeProto, version: i64, values: &dyn ValueFacts) -> Adapted<Vec<NodeProto>> {
    let mut rewrite = NodeRewrite { node, before: Vec::new(), values };
    if !is_standard(&rewrite.node.domain) {
        domains::expand(&mut rewrite)?;
        rewrite.before.push(rewrite.node);
        return Ok(rewrite.before);
    }
    for (ops, below, adapt) in ADAPTERS {
        if version < *below && (ops.is_empty() || ops.contains(&rewrite.node.op_type.as_str())) {
            adapt(&mut rewrite)?;
        }
    }
    rewrite.before.push(rewrite.node);
    Ok(rewrite.before)
}

/// Returns the name that an operator has in the newest version.
pub fn newest_name(op_type: &str, version: i64) -> &str {
    match op_type {
        random if random::OPERATORS.contains(&random) => "Constant",
        "Scatter" => "ScatterElements",
        "SimplifiedLayerNormalization" => "RMSNormalization",
        "Upsample" if version < 11 => "Resize",
        same => same,
    }
}

/// Replaces the attributes `value_int`, `value_floats` and the like of a constant by `value`.
fn constant(n: &mut NodeRewrite<'_>) -> Adapted {
    let Some(a) = n.node.attribute.iter_mut().find(|a| a.name != "value") else { return Ok(()) };
    let (name, ints, floats) = (a.name.clone(), std::mem::take(&mut a.ints), std::mem::take(&mut a.floats));
    let tensor = match name.as_str() {
        "value_int" => Tensor::scalar(a.i),
        "value_float" => Tensor::scalar(a.f),
        "value_ints" => Tensor::from_vec(&[ints.len()], ints),
        "value_floats" => Tensor::from_vec(&[floats.len()], floats),
        "value_string" | "value_strings" => return Err("strings are not supported".into()),
        "sparse_value" => return Err("sparse constants are not supported".into()),
        _ => return Ok(()),
    };
    n.drop(&name)?;
    n.node.attribute.push(value_attr(tensor_proto(&tensor)));
    Ok(())
}

/// The largest number of a [`DataType`].
const MAX_DATA_TYPE: i32 = DataType::Float6e3m2 as i32;

/// Converts the attribute `to` of `Cast` from the name of a type, as before version 6, to its number.
fn cast_by_name(n: &mut NodeRewrite<'_>) -> Adapted {
    let Some(to) = n.take("to", AttributeType::String)? else { return Ok(()) };
    let word = String::from_utf8_lossy(&to.s).to_ascii_uppercase();
    let known = (1..=MAX_DATA_TYPE).find(|&n| {
        DataType::try_from(n).is_ok_and(|t| dtype(n).is_ok() && format!("{t:?}").eq_ignore_ascii_case(&word))
    });
    n.set_int("to", known.ok_or_else(|| format!("element type '{word}' is not supported"))?.into());
    Ok(())
}

/// Makes the old defaults explicit, which were rounded to four digits.
fn selu(n: &mut NodeRewrite<'_>) -> Adapted {
    for (name, f) in [("alpha", 1.6732), ("gamma", 1.0507)] {
        if !n.node.attribute.iter().any(|a| a.name == name) {
            n.node.attribute.push(float_attr(name, f));
        }
    }
    Ok(())
}

/// Converts the order of the norm from a float.
fn float_p(n: &mut NodeRewrite<'_>) -> Adapted {
    let Some(a) = n.take("p", AttributeType::Float)? else { return Ok(()) };
    if a.f.fract() != 0.0 || !(1.0..1024.0).contains(&a.f) {
        return Err(format!("attribute 'p': {} is not a supported order", a.f).into());
    }
    n.set_int("p", a.f as i64);
    Ok(())
}

/// Converts broadcasting at `axis`; today the second operand is aligned at the last dimension.
fn broadcast(n: &mut NodeRewrite<'_>) -> Adapted {
    let (axis, on) = (n.take_int("axis")?, n.take_int("broadcast")?);
    let Some(axis) = axis.filter(|_| on == Some(1)) else { return Ok(()) };
    let (a, b) = (n.rank(0)?, n.rank(1)?);
    let start = if axis < 0 { axis.saturating_add(a as i64) } else { axis };
    let start = usize::try_from(start).ok().filter(|s| *s <= a && b <= a - s);
    let start = start.ok_or_else(|| format!("axis {axis} does not align rank {b} with rank {a}"))?;
    if a - start > b {
        n.append_dims(1, b, a - start - b);
    }
    Ok(())
}

/// Converts a slope of rank 1, which was per channel and not per position of the last dimension.
fn channel_slope(n: &mut NodeRewrite<'_>) -> Adapted {
    let (x, slope) = (n.rank(0)?, n.rank(1)?);
    if slope == 1 && x > 2 {
        n.append_dims(1, 1, x - 2);
    }
    Ok(())
}

/// Converts scale and bias per group to scale and bias per channel.
fn scale_per_group(n: &mut NodeRewrite<'_>) -> Adapted {
    let groups = n.node.attribute.iter().find(|a| a.name == "num_groups").map_or(0, |a| a.i);
    let channels = n.values.shape(n.input(0)).and_then(|(dims, _)| dims.get(1).copied()).filter(|&c| c >= 0);
    let channels = channels.ok_or("the number of channels is needed, but not known")?;
    if groups <= 0 || channels % groups != 0 {
        return Err(format!("{channels} channels do not split into {groups} groups").into());
    }
    for i in [1, 2] {
        n.insert_with(i, "Unsqueeze", vec![1]);
        n.insert_with(i, "Expand", vec![groups, channels / groups]);
        n.insert_with(i, "Reshape", vec![-1]);
    }
    Ok(())
}

/// Rejects statistics per position.
fn spatial(n: &mut NodeRewrite<'_>) -> Adapted {
    match n.take_int("spatial")? {
        Some(0) => Err("statistics per position (spatial = 0) are not supported".into()),
        _ => Ok(()),
    }
}

/// Makes the number of equal parts explicit.
fn count_outputs(n: &mut NodeRewrite<'_>) -> Adapted {
    if n.input(1).is_empty() {
        n.set_int("num_outputs", n.node.output.len() as i64);
    }
    Ok(())
}

fn slice(n: &mut NodeRewrite<'_>) -> Adapted {
    n.ints_to_input("starts", 1)?;
    n.ints_to_input("ends", 2)?;
    n.ints_to_input("axes", 3)
}

/// Converts the flattening at `axis`, which equals the new semantics only for the last dimension.
fn flattening(n: &mut NodeRewrite<'_>) -> Adapted {
    let axis = n.take_int("axis")?.unwrap_or(1);
    let rank = n.rank(0).ok();
    let last = axis == -1 || rank.is_some_and(|r| axis.checked_add(1) == Some(r as i64));
    if !last {
        n.set_int("legacy_flatten", 1);
    }
    n.set_int("axis", if last { -1 } else { axis });
    Ok(())
}

/// Converts one factor attribute per spatial dimension.
fn upsample_factors(n: &mut NodeRewrite<'_>) -> Adapted {
    let height = n.take("height_scale", AttributeType::Float)?;
    let width = n.take("width_scale", AttributeType::Float)?;
    if let (Some(h), Some(w)) = (height, width) {
        n.insert_constant(1, &Tensor::from_vec(&[4], vec![1.0, 1.0, h.f, w.f]));
    }
    Ok(())
}

/// Makes the old coordinate transformation explicit and moves the factors from the second operand.
fn resize_without_roi(n: &mut NodeRewrite<'_>) -> Adapted {
    if n.node.input.len() > 2 {
        return Err("takes at most 2 inputs before version 11".into());
    }
    if n.node.input.len() == 2 {
        n.node.input.insert(1, String::new());
    }
    for a in n.node.attribute.iter_mut().filter(|a| a.name == "mode" && a.s == "bilinear") {
        a.s = "linear".into();
    }
    n.set_string("coordinate_transformation_mode", "asymmetric");
    n.set_string("nearest_mode", "floor");
    Ok(())
}

/// Removes empty tensors that stand for absent operands, as required in version 11 and still produced.
fn resize_without_empties(n: &mut NodeRewrite<'_>) -> Adapted {
    for i in 1..n.node.input.len() {
        if n.values.shape(n.input(i)).is_some_and(|(dims, _)| dims.contains(&0)) {
            n.node.input[i].clear();
        }
    }
    Ok(())
}
