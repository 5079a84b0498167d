//! `convert-f32-to-bf16`: computes networks in bf16.

use crate::f32_to_f16::{BF16, F32ToNarrow};
use gradus_ir::PassInfo;
use gradus_ir::pass::{FloatChange, Rewrites};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-f32-to-bf16",
    doc: "Compute networks in bf16 instead of f32

# Before / After

```mlir
%w = graph.constant dense<...> : tensor<8x3x3x3xf32>      // becomes:
%y = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
return %y : tensor<1x8x6x6xf32>
                                // %w = graph.constant dense<...> : tensor<8x3x3x3xbf16>
                                // %h = graph.cast %x to bf16 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xbf16>
                                // %0 = graph.conv %h, %w : (...) -> tensor<1x8x6x6xbf16>
                                // %y = graph.cast %0 to f32 : (tensor<1x8x6x6xbf16>) -> tensor<1x8x6x6xf32>
                                // return %y : tensor<1x8x6x6xf32>
```

# Does

The same as `convert-f32-to-f16`, to a type with the range of f32 and 8 significant bits, but parameters of batch normalizations stay
f32: `propagate-layouts` combines them. It is the pass of `--precision bf16`.

An op in bf16 multiplies and adds in f32 and rounds each element of its results once, half to even. `gradus check --floats=rounding` allows
one rounding to bf16 for each op and constant; other modes report constants that bf16 does not represent.

# Refuses

The ops that `convert-f32-to-f16` refuses; and constants with a finite element that would become infinite, or of nonzero elements that would
all become zero.

# Cost

Linear in the number of ops and the size of the constants.",
    statistics: &[
        ("num-converted", "Number of operations in bf16"),
        ("num-kept", "Number of operations on f32 tensors that stay f32"),
    ],
    stays: "in f32",
    rewrites: Rewrites::Tags(&[BF16.rewrite]),
    floats: |_| FloatChange::Rounds,
    make: |_| Ok(Box::new(F32ToNarrow(&BF16))),
    ..PassInfo::DEFAULT
};
