//! The ranges of fields, which need no memory to be checked.

use super::operands::Feature;

/// Largest number of products in one sum: taps times depth.
pub const MAX_TERMS: u64 = 1 << 22;

pub(super) fn rules(rules: &[(bool, &'static str)]) -> Result<(), &'static str> {
    rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(rule))
}

/// Returns whether `low <= high` are values of a signed or of an unsigned byte.
pub(super) fn is_byte_range([low, high]: [i16; 2]) -> bool {
    low <= high && ((low >= -128 && high <= 127) || (low >= 0 && high <= 255))
}

pub(super) fn is_byte(value: i16, signed: bool) -> bool {
    if signed { (-128..=127).contains(&value) } else { (0..=255).contains(&value) }
}

pub(super) fn check_feature(feature: &Feature) -> Result<(), &'static str> {
    rules(&[(feature.tile_w >= 1 && feature.tile_c >= 1, "the tiles of a feature are at least 1")])
}
