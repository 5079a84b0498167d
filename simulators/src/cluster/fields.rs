//! The declaration of the fields of what records have in common, and their order. Bytes and text are visitors of it.

use super::{Elem, Scale, Stage, StridedBox, Tile, Transfer, Window};
use crate::fields::{records, variants, words};

words! { Elem { F32 = "f32", F16 = "f16", I8 = "i8", U8 = "u8" } }

records! {
    Tile { offset, row, pixel, channel, rows, cols, channels, elem }
    StridedBox { offset, row, pixel }
    Transfer { from, to, rows, cols, bytes }
    Scale { scale, zero }
    Window { kernel, stride, dilation, first }
}

variants! {
    Stage {
        Requantize = "requantize" { scales, zero, elem }
        Affine = "affine" { scales }
        Add = "add" { other }
        Mul = "mul" { other }
        QuantizedAdd = "quantized_add" { other, x, y, to, elem }
        QuantizedMul = "quantized_mul" { other, x, y, to, elem }
        Clamp = "clamp" { low, high }
        Leaky = "leaky" { slope }
        Sigmoid = "sigmoid" { }
        HardSigmoid = "hard_sigmoid" { alpha, beta }
        HardSwish = "hard_swish" { }
        Table = "table" { tables, per_channel, from, to }
        Quantize = "quantize" { to, elem }
        Dequantize = "dequantize" { from }
    }
}
