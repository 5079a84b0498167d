//! The ranges of fields, which need no memory to be checked.

use super::{Conv, Feature, NUM_TOKENS, NpuInst, NpuMachine, Post, Weights};

/// Largest number of products in one sum: taps times depth.
pub const MAX_TERMS: u64 = 1 << 22;

/// Checks that each field of an instruction is in its range.
///
/// # Errors
/// The rule that is violated.
pub fn check(machine: &NpuMachine, inst: &NpuInst) -> Result<(), &'static str> {
    match inst {
        NpuInst::Load(t) | NpuInst::Store(t) => rules(&[
            (t.run >= 1, "a run has at least 1 byte"),
            (t.counts.iter().all(|&n| n >= 1), "a number of runs is at least 1"),
        ]),
        NpuInst::Move(m) => rules(&[
            ((1..=64).contains(&m.slice), "a slice has 1 to 64 bytes"),
            (m.counts.iter().all(|&n| n >= 1), "a number of slices is at least 1"),
        ]),
        NpuInst::Conv(conv) => check_conv(machine, conv),
        NpuInst::DwConv(conv) => {
            rules(&[(conv.depth == 1, "the depth of a depthwise convolution is 1")])?;
            check_conv(machine, conv)
        }
        NpuInst::Post(post) => check_post(machine, post),
        NpuInst::Signal { token, .. } | NpuInst::Wait { token, .. } => {
            rules(&[(usize::from(*token) < NUM_TOKENS, "a token is less than 32")])
        }
        NpuInst::End => Ok(()),
    }
}

fn rules(rules: &[(bool, &'static str)]) -> Result<(), &'static str> {
    rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(rule))
}

/// Returns whether `low <= high` are values of a signed or of an unsigned byte.
fn is_byte_range([low, high]: [i16; 2]) -> bool {
    low <= high && ((low >= -128 && high <= 127) || (low >= 0 && high <= 255))
}

fn is_byte(value: i16, signed: bool) -> bool {
    if signed { (-128..=127).contains(&value) } else { (0..=255).contains(&value) }
}

fn check_feature(feature: &Feature) -> Result<(), &'static str> {
    rules(&[(feature.tile_w >= 1 && feature.tile_c >= 1, "the tiles of a feature are at least 1")])
}

fn check_conv(machine: &NpuMachine, conv: &Conv) -> Result<(), &'static str> {
    let Conv { kernel, stride, dilation, .. } = *conv;
    let Weights { tile_w, tile_k, tile_d, .. } = conv.weights;
    let terms = u64::from(kernel[0]) * u64::from(kernel[1]) * u64::from(conv.depth);
    check_feature(&conv.feature)?;
    rules(&[
        (tile_w >= 1 && tile_k >= 1 && tile_d >= 1, "the tiles of weights are at least 1"),
        (conv.height >= 1 && conv.width >= 1, "the input has at least one position"),
        (conv.rows >= 1 && conv.cols >= 1, "the output has at least one position"),
        (conv.kernels >= 1 && conv.depth >= 1, "there is at least one kernel, of depth 1 or more"),
        (kernel[0] >= 1 && kernel[1] >= 1, "a kernel has at least one tap"),
        (stride[0] >= 1 && stride[1] >= 1, "a stride is at least 1"),
        (dilation[0] >= 1 && dilation[1] >= 1, "a dilation is at least 1"),
        (terms <= MAX_TERMS, "a sum has at most 2^22 products"),
        (is_byte(conv.pad_value, conv.signed_feature), "the value of padding is a byte of the feature"),
        (is_byte(conv.feature_zero, conv.signed_feature), "the zero point of the feature is a byte of it"),
        (is_byte(conv.feature_zero, conv.signed_feature), "the zero point of a feature is a byte of it"),
        (
            conv.weight_zero == 0 || (machine.weight_bits == 9 && is_byte(conv.weight_zero, conv.signed_weights)),
            "a zero point of weights is a byte of theirs, and needs weights of 9 bits",
        ),
        (conv.acc.is_multiple_of(machine.kernels), "the first accumulator begins a block"),
    ])
}

fn check_post(machine: &NpuMachine, post: &Post) -> Result<(), &'static str> {
    check_feature(&post.output)?;
    rules(&[
        (post.rows >= 1 && post.cols >= 1 && post.kernels >= 1, "the result has at least one element"),
        (post.acc.is_multiple_of(machine.kernels), "the first accumulator begins a block"),
        (matches!(post.param_stride, 0 | 12), "parameters are 12 bytes apart, or repeated with 0"),
        (matches!(post.table_stride, 0 | 256), "tables are 256 bytes apart, or repeated with 0"),
        (is_byte_range(post.clamp), "the bounds of a result are bytes"),
    ])?;
    let Some(residual) = &post.residual else { return Ok(()) };
    check_feature(&residual.feature)?;
    rules(&[
        (residual.shift <= 62, "a shift is at most 62"),
        (is_byte_range(residual.sum_clamp), "the bounds of a sum are bytes"),
    ])
}
