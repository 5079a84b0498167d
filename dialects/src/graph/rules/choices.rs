//! Equivalent ops for accelerators that support only some of them.

use gradus_ir::rules::{Rule, approx, rule};

/// Elementwise products as depthwise convolutions: of equal shapes with one 1x1 kernel per element, of one factor per
/// channel with one kernel per channel.
#[rustfmt::skip]
pub(super) const MUL: &[Rule] = &[
    rule("mul-as-conv",         "mul(a: T, b: T): T => reshape(conv{group = elements(T)}(reshape(a, as_channels(T)), reshape(b, as_kernels(T))), extents(T)): T"),
    rule("mul-channels-as-conv", "mul(a: T, b: S): T => conv{group = channels(T)}(a, reshape(b, channel_kernels(T))): T             if per_channel(S, T)"),
    rule("mul-scalar-as-conv",  "mul(a: T, b: S): T => conv{group = channels(T)}(a, expand(reshape(b, one_kernel(T)), channel_kernels(T))): T if one_element(S), has_channels(T)"),
];

/// Matrix products as 1x1 convolutions, and back.
#[rustfmt::skip]
pub(super) const MATMUL: &[Rule] = &[
    rule("matmul-as-conv",      "matmul(a: A, b: B): R => reshape(conv(reshape(a, as_pixels(A)), reshape(transpose(b), as_filters(B))), extents(R)): R  if matrices(A, B)"),
    rule("conv-as-matmul",      "conv{* = P}(x: X, w: W): R => reshape(matmul(reshape(w, as_matrix(W)), reshape(x, as_columns(X))), extents(R)): R        if pointwise(P, W)"),
    rule("gemm-as-matmul",      "gemm{* = P}(a, b, c) => add(matmul(a, b), c)                            if plain_gemm(P)"),
];

/// 1x1 convolutions as 3x3 convolutions with zero-padded filters. Approximate, because zeros times infinities are NaN.
#[rustfmt::skip]
pub(super) const ENLARGE: &[Rule] = &[
    approx("conv-of-3x3",         "conv{* = P}(x, w: F): R => conv{* = pad_by_one(P)}(x, pad(w, pads_to_3x3(F))): R       if is_1x1(F)"),
    approx("conv-bias-of-3x3",    "conv{* = P}(x, w: F, b): R => conv{* = pad_by_one(P)}(x, pad(w, pads_to_3x3(F)), b): R if is_1x1(F)"),
];
