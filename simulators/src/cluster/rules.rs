//! The ranges of fields, which need no memory to be checked.

use super::operands::{Elem, Scale, Stage, Stages, Tile, Window};

/// Largest number of products in one sum, and of taps of a window.
pub const MAX_TERMS: u64 = 1 << 22;

/// The rule that is violated, if one is.
pub(super) type Rule = Result<(), &'static str>;

pub(super) fn rules(rules: &[(bool, &'static str)]) -> Rule {
    rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(rule))
}

pub(super) fn extents(tile: &Tile) -> [u32; 3] {
    [tile.rows, tile.cols, tile.channels]
}

pub(super) fn check_pair(input: &Tile, output: &Tile) -> Rule {
    check_tile(input)?;
    check_tile(output)
}

fn check_tile(tile: &Tile) -> Rule {
    let size = tile.elem.bytes();
    let dims = [(tile.rows, tile.row), (tile.cols, tile.pixel), (tile.channels, tile.channel)];
    let strides = dims.into_iter().filter(|dim| dim.0 > 1).map(|dim| dim.1);
    rules(&[
        (extents(tile).iter().all(|&n| n >= 1), "a tile has at least one element"),
        (strides.chain([tile.offset]).all(|n| n.is_multiple_of(size)), "elements are aligned to their size"),
    ])
}

pub(super) fn check_window(window: &Window, terms: u64) -> Rule {
    let positive = |pair: [u32; 2]| pair.iter().all(|&n| n >= 1);
    let taps = u64::from(window.kernel[0]) * u64::from(window.kernel[1]);
    rules(&[
        (positive(window.kernel), "a window has at least one tap"),
        (positive(window.stride) && positive(window.dilation), "strides and dilations are at least 1"),
        (taps.saturating_mul(terms) <= MAX_TERMS, "a window has at most 2^22 products"),
    ])
}

/// Whether a zero point is a value of a type.
pub(super) fn is_value(zero: i32, elem: Elem) -> bool {
    match elem {
        Elem::I8 => i8::try_from(zero).is_ok(),
        Elem::U8 => u8::try_from(zero).is_ok(),
        Elem::F32 | Elem::F16 => zero == 0,
    }
}

/// Checks stages; `sums` are integers, which the first stage turns into bytes.
pub(super) fn check_stages(stages: &Stages, output: &Tile, sums: bool) -> Rule {
    let len = stages.iter().take_while(|stage| stage.is_some()).count();
    rules(&[
        (stages[len..].iter().all(Option::is_none), "no stage follows an absent one"),
        (
            matches!(stages[0], Some(Stage::Requantize { .. })) == sums,
            "the sums of a convolution of bytes, and only they, begin with their requantization",
        ),
        (
            !stages[1..].iter().flatten().any(|stage| matches!(stage, Stage::Requantize { .. })),
            "only the first stage requantizes",
        ),
    ])?;
    stages.iter().flatten().try_for_each(|stage| check_stage(stage, output))
}

fn check_stage(stage: &Stage, output: &Tile) -> Rule {
    if let Some(other) = stage.other() {
        check_tile(other)?;
        let may_broadcast = matches!(stage, Stage::Mul { .. } | Stage::QuantizedMul { .. });
        let fits = |(a, b): (u32, u32)| a == b || (may_broadcast && a == 1);
        let fits = extents(other).into_iter().zip(extents(output)).all(fits);
        rules(&[(fits, "the other operand has the extents of the output")])?;
    }
    let byte = |to: Scale, elem: Elem| {
        rules(&[(
            !elem.is_float() && is_value(to.zero, elem),
            "the result of a quantization is a byte, and its zero point too",
        )])
    };
    match stage {
        Stage::Requantize { scales, zero, elem } => {
            rules(&[(scales.is_multiple_of(4), "elements are aligned to their size")])?;
            byte(Scale { scale: 1.0, zero: *zero }, *elem)
        }
        Stage::Affine { scales } => rules(&[(scales.is_multiple_of(4), "elements are aligned to their size")]),
        Stage::QuantizedAdd { to, elem, .. } | Stage::QuantizedMul { to, elem, .. } | Stage::Quantize { to, elem } => {
            byte(*to, *elem)
        }
        Stage::Table { from, to, .. } => rules(&[(!from.is_float() && !to.is_float(), "tables are of bytes")]),
        _ => Ok(()),
    }
}
