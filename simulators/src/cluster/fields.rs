//! The declaration of all records: function, fields and their order. Bytes and text are visitors of it.

use super::{Conv, Elem, Lrn, Map, Pool, Record, Scale, Softmax, Stage, StridedBox, Tile, Transfer, Window};
use crate::fields::{Fields, Visitor, records, variants, words};

words! { Elem { F32 = "f32", F16 = "f16", I8 = "i8", U8 = "u8" } }

records! {
    Tile { offset, row, pixel, channel, rows, cols, channels, elem }
    StridedBox { offset, row, pixel }
    Transfer { from, to, rows, cols, bytes }
    Scale { scale, zero }
    Window { kernel, stride, dilation, first }
    Conv {
        task, input, output, weights, weights_elem, bias, window, group_in, group_out, skip, zero, weights_zero; stages
    }
    Pool { task, input, output, window, is_max, divisor; stages }
    Map { task, input, output; stages }
    Softmax { task, input, output }
    Lrn { task, input, output, before, size, alpha, beta, bias }
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

/// The names of the functions. A function's id is its index, plus 1: zeros are no record.
pub const FUNCTIONS: [&str; 10] = ["fetch", "store", "send", "notify", "wait", "conv", "pool", "map", "softmax", "lrn"];

impl Record {
    /// Returns the index of the function in [`FUNCTIONS`].
    pub fn function(&self) -> usize {
        match self {
            Record::Fetch { .. } => 0,
            Record::Store { .. } => 1,
            Record::Send { .. } => 2,
            Record::Notify { .. } => 3,
            Record::Wait { .. } => 4,
            Record::Conv(_) => 5,
            Record::Pool(_) => 6,
            Record::Map(_) => 7,
            Record::Softmax(_) => 8,
            Record::Lrn(_) => 9,
        }
    }

    /// Returns the record of a function whose fields are zero; `None` for an index beyond [`FUNCTIONS`].
    pub fn blank(function: usize) -> Option<Record> {
        let transfer = Transfer::default();
        let all = [
            Record::Fetch { transfer, clusters: 0, event: 0 },
            Record::Store { transfer, event: 0 },
            Record::Send { transfer, clusters: 0, event: 0 },
            Record::Notify { clusters: 0, event: 0 },
            Record::Wait { event: 0, count: 0 },
            Record::Conv(Conv::default()),
            Record::Pool(Pool::default()),
            Record::Map(Map::default()),
            Record::Softmax(Softmax::default()),
            Record::Lrn(Lrn::default()),
        ];
        all.get(function).copied()
    }

    /// Visits the fields in order.
    ///
    /// # Errors
    /// Those of the visitor.
    pub fn visit_fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        match self {
            Record::Fetch { transfer, clusters, event } | Record::Send { transfer, clusters, event } => {
                transfer.visit("transfer", v)?;
                clusters.visit("clusters", v)?;
                event.visit("event", v)
            }
            Record::Store { transfer, event } => {
                transfer.visit("transfer", v)?;
                event.visit("event", v)
            }
            Record::Notify { clusters, event } => {
                clusters.visit("clusters", v)?;
                event.visit("event", v)
            }
            Record::Wait { event, count } => {
                event.visit("event", v)?;
                count.visit("count", v)
            }
            Record::Conv(conv) => conv.visit_fields(v),
            Record::Pool(pool) => pool.visit_fields(v),
            Record::Map(map) => map.visit_fields(v),
            Record::Softmax(softmax) => softmax.visit_fields(v),
            Record::Lrn(lrn) => lrn.visit_fields(v),
        }
    }
}
