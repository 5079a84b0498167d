//! Rules of canonicalization: chains of clamps, and padding before convolutions.

use gradus_ir::rules::{Rule, rule};

#[rustfmt::skip]
pub(in crate::graph) const CANONICAL: &[Rule] = &[
    // Clamps. A relu of the bound -0 is -0, where the relu of a negative number is +0. Where no number is within both clamps, the
    // result is a bound, but a clamp to that bound leaves a zero of the other sign.
    rule("relu-clip",             "relu(clip(x, L, H)) => clip(x, relu(L), relu(H)) if nonnegative(H)"),
    rule("relu-clip-low",         "relu(clip(x, L)) => clip(x, relu(L))"),
    rule("clip-relu",             "clip(relu(x), L: T, H) => clip(x, add(relu(L), 0: T): T, H)"),
    rule("clip-low-relu",         "clip(relu(x), L: T) => clip(x, add(relu(L), 0: T): T)"),
    rule("clip-clip",             "clip(clip(x, L, H), M, N) => clip(x, clip(L, M, N), clip(H, M, N)) if ordered(M, N), ordered(L, N), ordered(M, H)"),
    rule("clip-low-clip",         "clip(clip(x, L, H), M) => clip(x, clip(L, M), clip(H, M)) if ordered(M, H)"),
    rule("clip-clip-low",         "clip(clip(x, L), M, N) => clip(x, clip(L, M, N), N) if ordered(M, N), ordered(L, N)"),
    rule("clip-low-clip-low",     "clip(clip(x, L), M) => clip(x, clip(L, M))"),
    rule("leaky-relu-relu",       "leaky_relu(relu(x): T) => relu(x): T"),
    // Padding with zeros, whose value is absent after canonicalization.
    rule("conv-pad",              "conv{* = P}(pad{* = M}(x, C), w) => conv{* = padded(P, M, C)}(x, w)"),
    rule("conv-bias-pad",         "conv{* = P}(pad{* = M}(x, C), w, b) => conv{* = padded(P, M, C)}(x, w, b)"),
];
