//! Algebraic rules: commuting movement with computation, composition, and constant folding.

use gradus_ir::rules::{Rule, approx, rule};

#[rustfmt::skip]
pub(super) const ALGEBRA: &[Rule] = &[
    // Composition.
    rule("transpose-transpose",   "transpose{* = P}(transpose{* = Q}(x: X)) => transpose{perm = both_perms(P, Q, X)}(x)"),
    rule("reshape-reshape",       "reshape(reshape(x, C), D): T => reshape(x, extents(T)): T"),
    // Commuting with elementwise ops.
    rule("transpose-relu",        "relu(transpose{* = P}(x)) => transpose{* = P}(relu(x))"),
    rule("relu-transpose",        "transpose{* = P}(relu(x)) => relu(transpose{* = P}(x))"),
    rule("transpose-sigmoid",     "sigmoid(transpose{* = P}(x)) => transpose{* = P}(sigmoid(x))"),
    rule("transpose-tanh",        "tanh(transpose{* = P}(x)) => transpose{* = P}(tanh(x))"),
    rule("transpose-add",         "add(transpose{* = P}(x: T), transpose{* = P}(y: T)) => transpose{* = P}(add(x, y))"),
    rule("transpose-mul",         "mul(transpose{* = P}(x: T), transpose{* = P}(y: T)) => transpose{* = P}(mul(x, y))"),
    rule("reshape-relu",          "relu(reshape(x, C): T) => reshape(relu(x), extents(T)): T"),
    rule("reshape-add",           "add(reshape(x: S, C): T, reshape(y: S, D): T) => reshape(add(x, y), extents(T)): T"),
    // Matrix products.
    rule("transpose-matmul",      "transpose{* = P}(matmul(a: A, b: B)) => matmul(transpose(b), transpose(a))       if matrices(A, B), reverses_axes(P)"),
    rule("matmul-transposed",     "matmul(transpose{* = P}(a: A), transpose{* = Q}(b: B)) => transpose(matmul(b, a)) if matrices(A, B), reverses_axes(P), reverses_axes(Q)"),
    approx("matmul-left",         "matmul(matmul(a: A, b: B), c: C) => matmul(a, matmul(b, c))               if matrices(A, B), matrices(B, C)"),
    approx("matmul-right",        "matmul(a: A, matmul(b: B, c: C)) => matmul(matmul(a, b), c)               if matrices(A, B), matrices(B, C)"),
    approx("matmul-sum-left",     "add(matmul(a, b: B), matmul(a, c: B)) => matmul(a, add(b, c))"),
    approx("matmul-sum-right",    "add(matmul(a: A, c), matmul(b: A, c)) => matmul(add(a, b), c)"),
    approx("matmul-concat",       "add(matmul(a: A, b: B), matmul(c: C, d: D)) => matmul(concat{axis = 1}(a, c), concat{axis = 0}(b, d)) if matrices(A, B), matrices(C, D)"),
    // Constants.
    approx("add-constants",       "add(add(x, C), D) => add(x, add(C, D))"),
    approx("mul-constants",       "mul(mul(x, C), D) => mul(x, mul(C, D))"),
    approx("mul-of-add-constants","mul(add(x: T, C), D): T => add(mul(x, D), mul(C, D)): T"),
    approx("add-associates",      "add(add(x: T, y: T), z: T) => add(x, add(y, z))"),
];

#[rustfmt::skip]
pub(super) const FUSE: &[Rule] = &[
    approx("conv-norm",           "batch_normalization{* = N}(conv{* = P}(x, W), S, B, M, V) => conv{* = P}(x, norm_filters(W, S, V, N), norm_bias(S, B, M, V, N))  if inference(N)"),
    approx("conv-bias-norm",      "batch_normalization{* = N}(conv{* = P}(x, W, C), S, B, M, V) => conv{* = P}(x, norm_filters(W, S, V, N), norm_bias_of(C, S, B, M, V, N)) if inference(N)"),
    approx("conv-add",            "add(conv{* = P}(x, w), C): R => conv{* = P}(x, w, per_filter(C, R)): R"),
    approx("conv-bias-add",       "add(conv{* = P}(x, w, B), C): R => conv{* = P}(x, w, add(B, per_filter(C, R))): R"),
    approx("conv-scaled",         "mul(conv{* = P}(x, W), C): R => conv{* = P}(x, mul(W, reshape(per_filter(C, R), channel_kernels(R)))): R"),
    approx("conv-bias-scaled",    "mul(conv{* = P}(x, W, B), C): R => conv{* = P}(x, mul(W, reshape(per_filter(C, R), channel_kernels(R))), mul(B, per_filter(C, R))): R"),
    approx("conv-subtract",       "sub(conv{* = P}(x, w), C): R => conv{* = P}(x, w, neg(per_filter(C, R))): R"),
    approx("conv-bias-subtract",  "sub(conv{* = P}(x, w, B), C): R => conv{* = P}(x, w, sub(B, per_filter(C, R))): R"),
    approx("conv-divided",        "div(conv{* = P}(x, W), C): R => conv{* = P}(x, div(W, reshape(per_filter(C, R), channel_kernels(R)))): R"),
    approx("conv-bias-divided",   "div(conv{* = P}(x, W, B), C): R => conv{* = P}(x, div(W, reshape(per_filter(C, R), channel_kernels(R))), div(B, per_filter(C, R))): R"),
    approx("norm-add",            "add(batch_normalization{* = N}(x, S, B, M, V), C): R => batch_normalization{* = N}(x, S, add(B, per_filter(C, R)), M, V): R  if inference(N)"),
    approx("norm-scaled",         "mul(batch_normalization{* = N}(x, S, B, M, V), C): R => batch_normalization{* = N}(x, mul(S, per_filter(C, R)), mul(B, per_filter(C, R)), M, V): R  if inference(N)"),
    approx("swish",               "mul(x: T, sigmoid(x)): T => swish(x): T"),
    approx("hard-swish",          "div(mul(x: T, clip(add(x, 3.0): T, 0.0, 6.0): T): T, 6.0): T => hard_swish(x): T"),
    approx("hard-swish-gate",     "mul(x: T, div(clip(add(x, 3.0): T, 0.0, 6.0): T, 6.0): T): T => hard_swish(x): T"),
    approx("matmul-scaled",       "mul(matmul(a, B: T): R, C: S): R => matmul(a, scaled(B, C)): R   if row_of(S, T)"),
];
