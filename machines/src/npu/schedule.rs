//! The schedule of a program as ops: steps in order, the buffers in SRAM that they stream, and the places of these.
//!
//! Time is counted in slots: each has the convolution of a step, beside the requantization and the stores of the step before.

use crate::parameters::{FLAG, range, range_text};
use gradus_dialects::constraint::{I64, I64_ARRAY, I64_LIST, MEMREF, QUOTED};
use gradus_ir::{
    Attr, Context, Directive, Effects, Module, Op, OpParser, OpPrinter, Param, ParseResult, Traits, Violation, op,
};
use std::io;
use std::ops::Range;

/// The rows and channels of a tile.
const TILE_RANGES: Directive = Directive {
    name: "TileRanges",
    parse: |p, params| parse_ranges(p, params, &["rows", "channels"]),
    print: |p, params| print_ranges(p, params, &["rows", "channels"]),
};

/// The kernels of constants.
const CONSTANTS_RANGES: Directive = Directive {
    name: "ConstantsRanges",
    parse: |p, params| parse_ranges(p, params, &["kernels"]),
    print: |p, params| print_ranges(p, params, &["kernels"]),
};

/// The rows and kernels of a step.
const STEP_RANGES: Directive = Directive {
    name: "StepRanges",
    parse: |p, params| parse_ranges(p, params, &["rows", "kernels"]),
    print: |p, params| print_ranges(p, params, &["rows", "kernels"]),
};

/// Constants of some kernels of a layer in SRAM: weights, parameters of requantization, tables.
///
/// They are loaded from DDR, in parts, each issued before the convolution of its slot. `at` is the first byte in SRAM.
///
/// ```mlir
/// %y = layer.program "npu" -> tensor<1x8x4x4xui8> {
///   %0 = graph.relu %x : tensor<1x8x4x4xui8>
///   layer.schedule {
///     %c = npu.constants 0 kernels 0:8 at 1024 slots [0] : memref<128xi8>
///   }
///   layer.yield %0 : tensor<1x8x4x4xui8>
/// }
/// ```
#[op(
    "npu.constants",
    effects = Effects::Unknown,
    parents = &["layer.schedule"],
    directives = &[&CONSTANTS_RANGES],
    format = "$layer custom<ConstantsRanges>($kernels) (`at` $at^)? (`slots` $slots^)? attr-dict `:` type($buffer)",
    verify = |m, op| range_of(m, op, "kernels").map(drop)
)]
pub struct ConstantsOp {
    /// Number of the layer, in the order of the program.
    layer: Attribute<I64>,
    /// First kernel, and end.
    kernels: Attribute<I64_ARRAY>,
    /// First byte.
    at: OptAttribute<I64>,
    /// The slot of each part of the load.
    slots: OptAttribute<I64_LIST>,
    /// Its bytes.
    buffer: OpResult<MEMREF>,
}

/// Rows and channels of a feature in SRAM: loaded from DDR before their first use, or stored there after their last one. Otherwise one layer
/// writes them, and the next one reads them.
///
/// ```mlir
/// %y = layer.program "npu" -> tensor<1x8x4x4xui8> {
///   %0 = graph.relu %x : tensor<1x8x4x4xui8>
///   layer.schedule {
///     %c = npu.constants 0 kernels 0:8 at 1024 slots [0] : memref<128xi8>
///     %a = npu.tile 0 load rows 0:4 channels 0:8 at 0 slots [0] : memref<128xi8>
///     %b = npu.tile 1 store rows 0:4 channels 0:8 at 512 : memref<128xi8>
///     npu.step 0 "relu" slot 1 rows 0:4 kernels 0:8 constants %c input %a output %b
///   }
///   layer.yield %0 : tensor<1x8x4x4xui8>
/// }
/// ```
#[op(
    "npu.tile",
    effects = Effects::Unknown,
    parents = &["layer.schedule"],
    directives = &[&TILE_RANGES],
    format = "$feature (`load` $load^)? (`store` $store^)? custom<TileRanges>($rows, $channels) (`at` $at^)? (`slots` $slots^)? attr-dict `:` type($buffer)",
    verify = |m, op| range_of(m, op, "rows").and(range_of(m, op, "channels")).map(drop)
)]
pub struct TileOp {
    /// Number of the feature.
    feature: Attribute<I64>,
    /// Whether it is loaded from DDR.
    load: OptAttribute<FLAG>,
    /// Whether it is stored in DDR.
    store: OptAttribute<FLAG>,
    /// First row, and end.
    rows: Attribute<I64_ARRAY>,
    /// First channel, and end.
    channels: Attribute<I64_ARRAY>,
    /// First byte.
    at: OptAttribute<I64>,
    /// The slot of each part of the load.
    slots: OptAttribute<I64_LIST>,
    /// Its bytes.
    buffer: OpResult<MEMREF>,
}

/// Computes rows and kernels of the result of a layer: a convolution in its slot, and the requantization in the next one.
///
/// An operand without a tile is in SRAM as a whole. The `kernels` of a product of elements are elements of the rows.
#[op(
    "npu.step",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::Unknown,
    parents = &["layer.schedule"],
    directives = &[&STEP_RANGES],
    format = "$layer ($name^)? `slot` $slot custom<StepRanges>($rows, $kernels) `constants` $constants (`input` $input^)? \
              (`weights` $weights^)? (`sum` $sum^)? (`output` $output^)? attr-dict",
    verify = |m, op| range_of(m, op, "rows").and(range_of(m, op, "kernels")).map(drop)
)]
pub struct StepOp {
    /// Number of the layer, in the order of the program.
    layer: Attribute<I64>,
    /// Names of the sources of its ops.
    name: OptAttribute<QUOTED>,
    /// The slot of the convolution.
    slot: Attribute<I64>,
    /// First row, and end.
    rows: Attribute<I64_ARRAY>,
    /// First kernel, and end.
    kernels: Attribute<I64_ARRAY>,
    /// The constants of the kernels.
    constants: Operand<MEMREF>,
    /// The tile of the input.
    input: OptOperand<MEMREF>,
    /// The tile of the feature that is the weights.
    weights: OptOperand<MEMREF>,
    /// The tile of the other operand of a sum.
    sum: OptOperand<MEMREF>,
    /// The tile of the result.
    output: OptOperand<MEMREF>,
}

/// Returns the range of an attribute, which is not empty.
///
/// # Errors
/// The attribute has no such range.
pub fn range_of(m: &Module, op: Op, name: &str) -> Result<Range<usize>, Violation> {
    let numbers = m.inherent_attr(op, name).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default();
    let number = |i: usize| numbers.get(i).and_then(|&n| u32::try_from(n).ok());
    let found = number(0).zip(number(1)).filter(|(first, end)| numbers.len() == 2 && first < end);
    let (first, end) = found.ok_or_else(|| format!("requires a range as '{name}'"))?;
    Ok(first as usize..end as usize)
}

/// Returns the attribute of a range.
pub fn range_attr(ctx: &Context, range: Range<usize>) -> Attr {
    ctx.i64_array_attr(&[range.start as i64, range.end as i64])
}

fn parse_ranges(p: &mut OpParser<'_, '_>, to: &[Param], words: &[&str]) -> ParseResult<()> {
    for (&to, word) in to.iter().zip(words) {
        p.expect_word(word)?;
        let range = range(p)?;
        let attr = p.ctx().i64_array_attr(&range);
        p.set_attr(to, attr);
    }
    Ok(())
}

fn print_ranges(p: &mut OpPrinter<'_, '_>, from: &[Param], words: &[&str]) -> io::Result<()> {
    let text = |(&from, word): (&Param, &&str)| {
        let range = p.inherent(from).and_then(|a| p.ctx().as_ints(a)).unwrap_or_default();
        format!("{word} {}", range_text(&range))
    };
    let ranges: Vec<String> = from.iter().zip(words).map(text).collect();
    p.text(&ranges.join(" "));
    Ok(())
}
