//! Equivalent ops for accelerators that support only some of them.

use gradus_ir::rules::{Rule, approx, rule};

/// Elementwise products as depthwise convolutions with 1x1 filters; 8-bit integers accumulate in i32, whose low bits are
/// the wrapped product. Operands are reshaped, expanded if that does not suffice, and broadcast at run time if dynamic
/// extents decide. A poison element would make all elements of the convolution poison. A product of quantized tensors is computed in `f32`, a
/// convolution of them in integers: the rules ask for constant scales with which all pairs of bytes have the same result.
#[rustfmt::skip]
pub(super) const MUL: &[Rule] = &[
    rule("mul-as-conv",          "mul(a: S, b: T): R => reshape(conv{group = factor_groups(S, T)}(reshape(a, as_features(S, T)), reshape(b, as_factors(S, T))), inferred_extents(R)): R  if unpoisoned(a), unpoisoned(b)"),
    rule("mul-as-integer-conv",  "mul(a: S, b: T): R => reshape(cast{to = element(R)}(conv_integer{group = factor_groups(S, T)}(reshape(a, as_features(S, T)), reshape(b, as_factors(S, T)))), inferred_extents(R)): R  if bytes(R), unpoisoned(a), unpoisoned(b)"),
    rule("mul-expanded",         "mul(a: S, b: T): R => mul(a, expand(b, expansion(S, T))): R"),
    rule("mul-dynamic-as-conv",  "mul(a: S, b: T): R => reshape{allowzero = 1}(conv{group = all_channels(R)}(reshape(expand(a, shape(b)), all_as_features(R)), reshape(expand(b, shape(a)), all_as_factors(R))), shape(expand(a, shape(b)))): R  if decided_at_run_time(S, T), unpoisoned(a), unpoisoned(b)"),
    rule("mul-dynamic-as-integer-conv", "mul(a: S, b: T): R => reshape{allowzero = 1}(cast{to = element(R)}(conv_integer{group = all_channels(R)}(reshape(expand(a, shape(b)), all_as_features(R)), reshape(expand(b, shape(a)), all_as_factors(R)))), shape(expand(a, shape(b)))): R  if bytes(R), decided_at_run_time(S, T), unpoisoned(a), unpoisoned(b)"),
    rule("reshape-same",         "reshape(a: S, C): S => a  if known_extents(S)"),
    rule("qlinear-mul-as-conv",  "qlinear_mul(a: S, A, K, b: T, B, L, C, M): R => reshape(qlinear_conv{group = factor_groups(S, T)}(reshape(a, as_features(S, T)), A, K, reshape(b, as_factors(S, T)), B, L, C, M), inferred_extents(R)): R  if rounds_alike(A, K, B, L, C, M), unpoisoned(a), unpoisoned(b)"),
    rule("qlinear-mul-swapped",  "qlinear_mul(a, r, y, b, s, z, t, w): R => qlinear_mul(b, s, z, a, r, y, t, w): R"),
    rule("qlinear-mul-expanded", "qlinear_mul(a: S, r, y, b: T, s, z, t, w): R => qlinear_mul(a, r, y, expand(b, expansion(S, T)), s, z, t, w): R"),
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
