//! What shares an input is computed together. Filters and factors that are constant are put together beforehand.

use gradus_ir::rules::{Rule, rule};

#[rustfmt::skip]
pub(super) const MERGE: &[Rule] = &[
    rule("concat-matmul",         "concat{axis = A}(matmul(x: X, b: B), matmul(x: X, c: C)): R => matmul(x, concat{axis = 1}(b, c)): R  if last_axis(A, R), matrices(X, B), matrices(X, C)"),
    rule("concat-conv",           "concat{axis = 1}(conv{* = P}(x, v), conv{* = P}(x, w)) => conv{* = P}(x, concat{axis = 0}(v, w))  if one_group(P)"),
    rule("concat-conv-bias",      "concat{axis = 1}(conv{* = P}(x, v, b), conv{* = P}(x, w, c)) => conv{* = P}(x, concat{axis = 0}(v, w), concat{axis = 0}(b, c)) if one_group(P)"),
    rule("concat-relu",           "concat{axis = A}(relu(x), relu(y)) => relu(concat{axis = A}(x, y))"),
    rule("concat-sigmoid",        "concat{axis = A}(sigmoid(x), sigmoid(y)) => sigmoid(concat{axis = A}(x, y))"),
];
