//! One op as another one that some accelerator has.

use gradus_ir::rules::{Rule, approx, rule};

/// Products of elements as depthwise convolutions: of equal shapes through `1*1*C1`, one kernel for each element; with one
/// factor for each channel, one kernel for each of them.
#[rustfmt::skip]
pub(super) const MUL: &[Rule] = &[
    rule("mul-as-conv",         "mul(a: T, b: T): T => reshape(conv{group = elements(T)}(reshape(a, as_channels(T)), reshape(b, as_kernels(T))), extents(T)): T"),
    rule("mul-channels-as-conv", "mul(a: T, b: S): T => conv{group = channels(T)}(a, reshape(b, channel_kernels(T))): T             if per_channel(S, T)"),
    rule("mul-scalar-as-conv",  "mul(a: T, b: S): T => conv{group = channels(T)}(a, expand(reshape(b, one_kernel(T)), channel_kernels(T))): T if one_element(S), has_channels(T)"),
];

/// Products of matrices as convolutions with filters of one position, and back.
#[rustfmt::skip]
pub(super) const MATMUL: &[Rule] = &[
    rule("matmul-as-conv",      "matmul(a: A, b: B): R => reshape(conv(reshape(a, as_pixels(A)), reshape(transpose(b), as_filters(B))), extents(R)): R  if matrices(A, B)"),
    rule("conv-as-matmul",      "conv{* = P}(x: X, w: W): R => reshape(matmul(reshape(w, as_matrix(W)), reshape(x, as_columns(X))), extents(R)): R        if pointwise(P, W)"),
    rule("gemm-as-matmul",      "gemm{* = P}(a, b, c) => add(matmul(a, b), c)                            if plain_gemm(P)"),
];

/// Convolutions of one position as such of 3x3, with zeros around, which are multiplied too.
#[rustfmt::skip]
pub(super) const ENLARGE: &[Rule] = &[
    approx("conv-of-3x3",         "conv{* = P}(x, w: F): R => conv{* = padded_by_one(P)}(x, pad(w, margins(F))): R       if one_position(F)"),
    approx("conv-bias-of-3x3",    "conv{* = P}(x, w: F, b): R => conv{* = padded_by_one(P)}(x, pad(w, margins(F)), b): R if one_position(F)"),
];
