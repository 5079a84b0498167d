//! Merging of products and convolutions with a common input into one, whose slices are the results. Constant filters
//! and factors are concatenated at compile time. Poison elements of one product's own operand would make the results of the other ones
//! poison.
//!
//! Source: TASO (Jia et al., SOSP 2019).

use gradus_ir::rules::{Rule, approx, rule};

#[rustfmt::skip]
pub(super) const MERGE: &[Rule] = &[
    rule("concat-matmul",         "concat{axis = A}(matmul(x: X, b: B), matmul(x: X, c: C)): R => matmul(x, concat{axis = 1}(b, c)): R  if last_axis(A, R), matrices(X, B), matrices(X, C), unpoisoned(b), unpoisoned(c)"),
    rule("concat-conv",           "concat{axis = 1}(conv{* = P}(x, v), conv{* = P}(x, w)) => conv{* = P}(x, concat{axis = 0}(v, w))  if ungrouped(P), unpoisoned(v), unpoisoned(w)"),
    rule("concat-conv-bias",      "concat{axis = 1}(conv{* = P}(x, v, b), conv{* = P}(x, w, c)) => conv{* = P}(x, concat{axis = 0}(v, w), concat{axis = 0}(b, c)) if ungrouped(P), unpoisoned(v), unpoisoned(w), unpoisoned(b), unpoisoned(c)"),
    rule("matmul-pair",           "matmul(x: X, b: B): R, matmul(x, c: C): S => slice(matmul(x, concat{axis = 1}(b, c)), origin(R), extents(R)): R, slice(matmul(x, concat{axis = 1}(b, c)), after_columns(R), end_after_columns(R, S)): S if matrices(X, B), matrices(X, C), unpoisoned(b), unpoisoned(c)"),
    rule("matmul-pair-of-rows",   "matmul(a: A, x: X): R, matmul(b: B, x): S => slice(matmul(concat{axis = 0}(a, b), x), origin(R), extents(R)): R, slice(matmul(concat{axis = 0}(a, b), x), after_rows(R), end_after_rows(R, S)): S    if matrices(A, X), matrices(B, X), unpoisoned(a), unpoisoned(b)"),
    rule("conv-pair",             "conv{* = P}(x, v: V): R, conv{* = P}(x, w: W): S => slice(conv{* = P}(x, concat{axis = 0}(v, w)), origin(R), extents(R)): R, slice(conv{* = P}(x, concat{axis = 0}(v, w)), after_columns(R), end_after_columns(R, S)): S if ungrouped(P), stackable(V, W), unpoisoned(v), unpoisoned(w)"),
    rule("conv-bias-pair",        "conv{* = P}(x, v: V, b): R, conv{* = P}(x, w: W, c): S => slice(conv{* = P}(x, concat{axis = 0}(v, w), concat{axis = 0}(b, c)), origin(R), extents(R)): R, slice(conv{* = P}(x, concat{axis = 0}(v, w), concat{axis = 0}(b, c)), after_columns(R), end_after_columns(R, S)): S if ungrouped(P), stackable(V, W), unpoisoned(v), unpoisoned(w), unpoisoned(b), unpoisoned(c)"),
    approx("conv-sum",            "add(conv{* = P}(x, v): T, conv{* = P}(y, w): T) => conv{* = P}(concat{axis = 1}(x, y), concat{axis = 1}(v, w)): T if ungrouped(P)"),
    approx("conv-sum-of-filters", "add(conv{* = P}(x, v: W), conv{* = P}(x, w: W)) => conv{* = P}(x, add(v, w))"),
    // Slices and concatenations.
    rule("slice-whole",           "slice(x: T, S, E): T => x                                                  if known_extents(T)"),
    rule("slice-slice",           "slice(slice(x, S, E): T, F, G): R => slice(x, shifted(F, S, T), shifted(G, S, T)): R"),
    rule("slice-relu",            "relu(slice(x, S, E)) => slice(relu(x), S, E)"),
    rule("slice-sigmoid",         "sigmoid(slice(x, S, E)) => slice(sigmoid(x), S, E)"),
    rule("slice-tanh",            "tanh(slice(x, S, E)) => slice(tanh(x), S, E)"),
    rule("slice-add",             "add(slice(x: T, S, E), slice(y: T, S, E)) => slice(add(x, y), S, E)        if known_extents(T)"),
    rule("slice-mul",             "mul(slice(x: T, S, E), slice(y: T, S, E)) => slice(mul(x, y), S, E)        if known_extents(T)"),
    rule("concat-relu",           "concat{axis = A}(relu(x), relu(y)) => relu(concat{axis = A}(x, y))"),
    rule("concat-sigmoid",        "concat{axis = A}(sigmoid(x), sigmoid(y)) => sigmoid(concat{axis = A}(x, y))"),
];
