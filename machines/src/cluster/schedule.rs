//! The schedule of a program as ops: tasks in order, the features and constants that they need, and their places.
//!
//! A feature has a buffer at the same place of each cluster, which has a box of it: rows, columns and channels, each from a first one to an
//! end. `[0:12 0:56 0:64, none]` is the box of the first cluster, and that the second one has none.

use crate::parameters::{FLAG, range, range_text};
use gradus_dialects::constraint::{I64, I64_ARRAY, MEMREF, QUOTED};
use gradus_ir::{
    Attr, Context, Directive, Effects, Module, Op, OpDecl, OpParser, OpPrinter, Param, ParseResult, Value, Violation,
    op,
};
use std::io;
use std::ops::Range;

/// Rows, columns and channels of a feature, each from a first one to an end.
pub type ClusterBox = [[u32; 2]; 3];

/// Numbers of a box.
const BOX: usize = 6;

/// Boxes of a feature, each list after its keyword.
const FEATURE_BOXES: Directive = Directive {
    name: "FeatureBoxes",
    parse: |p, params| parse_boxes(p, params, &["stored", "needed"]),
    print: |p, params| print_boxes(p, params, &["stored", "needed"]),
};

/// Boxes of a task, each list after its keyword.
const TASK_BOXES: Directive = Directive {
    name: "TaskBoxes",
    parse: |p, params| parse_boxes(p, params, &["boxes", "ready", "saved"]),
    print: |p, params| print_boxes(p, params, &["boxes", "ready", "saved"]),
};

/// The parts of constants, `[0:64 on 31]`.
const UNITS: Directive = Directive { name: "Units", parse: parse_units, print: print_units };

/// A feature in the memories of clusters, `stored` in each of them. The clusters read `needed`, which others send to them.
///
/// `feature` is the number of the feature. One that is `read` is loaded from DDR, before the tasks that follow; tasks write the others.
/// `needed` is as `stored` by default. `at` is its first byte in the memory of a cluster.
///
/// ```mlir
/// %y = layer.program "cluster" -> tensor<1x8x4x4xf32> {
///   %0 = graph.relu %x : tensor<1x8x4x4xf32>
///   layer.schedule {
///     %a = cluster.feature 0 read stored [0:4 0:4 0:8] at 0 : memref<512xi8>
///     %b = cluster.feature 1 stored [0:4 0:4 0:8] needed none at 512 : memref<512xi8>
///     cluster.task 0 "relu" boxes [0:4 0:4 0:8] saved [0:4 0:4 0:8] reads(%a) writes(%b)
///   }
///   layer.yield %0 : tensor<1x8x4x4xf32>
/// }
/// ```
#[op(
    "cluster.feature",
    effects = Effects::Unknown,
    parents = &["layer.schedule"],
    directives = &[&FEATURE_BOXES],
    format = "$feature (`read` $read^)? custom<FeatureBoxes>($stored, $needed) (`at` $at^)? attr-dict `:` type($buffer)",
    verify = |m, op| verify_boxes(m, op, &["stored", "needed"])
)]
pub struct FeatureOp {
    /// Number of the feature.
    feature: Attribute<I64>,
    /// Whether it is loaded from DDR.
    read: OptAttribute<FLAG>,
    /// The box that each cluster stores.
    stored: OptAttribute<I64_ARRAY>,
    /// The box that each cluster reads.
    needed: OptAttribute<I64_ARRAY>,
    /// First byte.
    at: OptAttribute<I64>,
    /// Its bytes.
    buffer: OpResult<MEMREF>,
}

/// Reads constants of a layer from DDR into the memories of clusters, before the tasks that follow: a task that reads parameters.
///
/// Each part has a range of output channels, for the clusters of a mask: bit `i` is cluster `i`. All parts have the same first byte `at`.
///
/// ```mlir
/// %y = layer.program "cluster" -> tensor<1x8x4x4xf32> {
///   %0 = graph.conv %x, %w : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
///   layer.schedule {
///     %c = cluster.parameters 0 [0:8 on 3] at 0 : memref<256xi8>
///   }
///   layer.yield %0 : tensor<1x8x4x4xf32>
/// }
/// ```
#[op(
    "cluster.parameters",
    effects = Effects::Unknown,
    parents = &["layer.schedule"],
    directives = &[&UNITS],
    format = "$layer custom<Units>($units) (`at` $at^)? attr-dict `:` type($buffer)",
    verify = |m, op| units(m, op).map(drop)
)]
pub struct ParametersOp {
    /// Number of the layer.
    layer: Attribute<I64>,
    /// First output channel, end, and mask of clusters of each part.
    units: Attribute<I64_ARRAY>,
    /// First byte.
    at: OptAttribute<I64>,
    /// Its bytes.
    buffer: OpResult<MEMREF>,
}

/// Computes a box of the result of a layer on each cluster.
///
/// `layer` is the number of the layer, in the order of the program. It reads its input, the operands of its stages, and its constants if it
/// has some. Then the boxes `ready` of the feature are complete, `boxes` by default: clusters send them to those that need them. Those that
/// are `saved` go to DDR.
#[op(
    "cluster.task",
    effects = Effects::Unknown,
    parents = &["layer.schedule"],
    directives = &[&TASK_BOXES],
    format = "$layer ($name^)? custom<TaskBoxes>($boxes, $ready, $saved) `reads` `(` $reads `)` `writes` `(` $output `)` attr-dict",
    verify = |m, op| verify_boxes(m, op, &["boxes", "ready", "saved"])
)]
pub struct TaskOp {
    /// Number of the layer.
    layer: Attribute<I64>,
    /// Names of the sources of its ops.
    name: OptAttribute<QUOTED>,
    /// Box of the result that each cluster computes.
    boxes: OptAttribute<I64_ARRAY>,
    /// Features, then constants.
    reads: Operands<MEMREF>,
    /// The feature that it writes.
    output: Operand<MEMREF>,
    /// Boxes that are complete after it.
    ready: OptAttribute<I64_ARRAY>,
    /// Boxes of them that go to DDR.
    saved: OptAttribute<I64_ARRAY>,
}

/// Returns a list of integers.
fn ints(m: &Module, op: Op, name: &str) -> Vec<i64> {
    m.inherent_attr(op, name).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default()
}

/// Returns the boxes of an attribute, one for each cluster, or none if no cluster has one; an empty box is all zeros. `None` if there is no
/// attribute.
///
/// # Errors
/// The attribute has no boxes of numbers of 32 bits, or one ends before its first element.
pub fn boxes(m: &Module, op: Op, name: &str) -> Result<Option<Vec<ClusterBox>>, Violation> {
    if m.inherent_attr(op, name).is_none() {
        return Ok(None);
    }
    let numbers = ints(m, op, name);
    let boxed = |six: &[i64]| {
        let axis = |i: usize| Some([u32::try_from(six[2 * i]).ok()?, u32::try_from(six[2 * i + 1]).ok()?]);
        let axes = [axis(0)?, axis(1)?, axis(2)?];
        axes.iter().all(|[first, end]| first <= end).then_some(axes)
    };
    let found = numbers.len().is_multiple_of(BOX).then(|| numbers.chunks_exact(BOX).map(boxed).collect::<Option<_>>());
    found.flatten().map(Some).ok_or_else(|| format!("requires boxes as '{name}'").into())
}

/// Returns the attribute of boxes.
pub fn boxes_attr(ctx: &Context, boxes: impl IntoIterator<Item = ClusterBox>) -> Attr {
    let numbers: Vec<i64> = boxes.into_iter().flatten().flatten().map(i64::from).collect();
    ctx.i64_array_attr(&numbers)
}

/// Returns the parts of constants: their output channels, and the mask of their clusters.
///
/// # Errors
/// The attribute has no such parts.
pub fn units(m: &Module, op: Op) -> Result<Vec<(Range<u32>, u32)>, Violation> {
    let numbers = ints(m, op, "units");
    let unit = |three: &[i64]| {
        let number = |i: usize| u32::try_from(three[i]).ok();
        let (first, end, clusters) = (number(0)?, number(1)?, number(2)?);
        (first < end).then_some((first..end, clusters))
    };
    let found = numbers.len().is_multiple_of(3).then(|| numbers.chunks_exact(3).map(unit).collect::<Option<Vec<_>>>());
    found.flatten().ok_or_else(|| "requires ranges of channels, each with a mask of clusters".into())
}

/// Returns the attribute of parts of constants.
pub fn units_attr(ctx: &Context, units: impl IntoIterator<Item = (Range<u32>, u32)>) -> Attr {
    let numbers = units.into_iter().flat_map(|(channels, mask)| [channels.start, channels.end, mask].map(i64::from));
    ctx.i64_array_attr(&numbers.collect::<Vec<_>>())
}

/// Returns the value of an operand or result as the op that is its buffer.
pub fn buffer_of(m: &Module, value: Value) -> Option<Op> {
    m.defining_op(value).filter(|&op| m.is_one_of(op, &[FeatureOp::INFO, ParametersOp::INFO]))
}

fn verify_boxes(m: &Module, op: Op, names: &[&str]) -> Result<(), Violation> {
    let counts = names.iter().map(|name| boxes(m, op, name).map(|boxes| boxes.map_or(0, |boxes| boxes.len())));
    let counts = counts.collect::<Result<Vec<_>, _>>()?;
    match counts.iter().any(|&n| n != counts[0] && n != 0) {
        true => Err("requires boxes of the same clusters".into()),
        false => Ok(()),
    }
}

fn parse_boxes(p: &mut OpParser<'_, '_>, to: &[Param], words: &[&str]) -> ParseResult<()> {
    for (&to, word) in to.iter().zip(words) {
        if !p.eat_word(word) {
            continue;
        }
        let mut numbers = Vec::new();
        if !p.eat_word("none") {
            p.expect("[")?;
            numbers = p.list("]", box_of)?.concat();
        }
        let attr = p.ctx().i64_array_attr(&numbers);
        p.set_attr(to, attr);
    }
    Ok(())
}

/// Parses a box, `0:4 0:4 0:8` or `none`.
fn box_of(p: &mut OpParser<'_, '_>) -> ParseResult<[i64; BOX]> {
    let mut numbers = [0; BOX];
    if !p.eat_word("none") {
        for pair in numbers.chunks_exact_mut(2) {
            pair.copy_from_slice(&range(p)?);
        }
    }
    Ok(numbers)
}

fn print_boxes(p: &mut OpPrinter<'_, '_>, from: &[Param], words: &[&str]) -> io::Result<()> {
    let text = |six: &[i64]| match six.iter().all(|&n| n == 0) {
        true => "none".to_owned(),
        false => six.chunks(2).map(range_text).collect::<Vec<_>>().join(" "),
    };
    let mut lists = Vec::new();
    for (&from, word) in from.iter().zip(words) {
        let Some(numbers) = p.inherent(from).and_then(|a| p.ctx().as_ints(a)) else { continue };
        let boxes: Vec<String> = numbers.chunks(BOX).map(text).collect();
        lists.push(if boxes.is_empty() { format!("{word} none") } else { format!("{word} [{}]", boxes.join(", ")) });
    }
    p.text(&lists.join(" "));
    Ok(())
}

fn parse_units(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    p.expect("[")?;
    let units = p.list("]", |p| {
        let [first, end] = range(p)?;
        p.expect_word("on")?;
        Ok([first, end, p.integer()?])
    })?;
    let attr = p.ctx().i64_array_attr(&units.concat());
    p.set_attr(params[0], attr);
    Ok(())
}

fn print_units(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> io::Result<()> {
    let numbers = p.inherent(params[0]).and_then(|a| p.ctx().as_ints(a)).unwrap_or_default();
    let text = |three: &[i64]| match three {
        [channels @ .., mask] => format!("{} on {mask}", range_text(channels)),
        [] => String::new(),
    };
    p.text(&format!("[{}]", numbers.chunks(3).map(text).collect::<Vec<_>>().join(", ")));
    Ok(())
}
