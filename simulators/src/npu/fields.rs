//! Mnemonics and fields of all instruction forms, in order. Words and text are visitors of this declaration; the ops of the
//! dialect `npu` declare their operands themselves.

use super::{Conv, Feature, Move, NpuInst, Post, Queue, Residual, Transfer, Unit, Weights};
use crate::fields::{Fields, Visitor, records, words};

words! { Unit { Load = "load", Store = "store", Array = "array", Pipe = "pipe", Mover = "mover" } }
words! { Queue { Load = "load", Store = "store", Execute = "execute" } }

records! {
    Feature { base, tile_w, tile_c, row, col, chan }
    Weights { base, tile_w, tile_k, tile_d, ky, kx, kernel, depth }
    Transfer { ddr, sram, run, counts, ddr_strides, sram_strides }
    Move { from, to, slice, counts, from_strides, to_strides }
    Conv {
        feature, weights, height, width, rows, cols, kernels, depth, kernel, stride, dilation, pad, pad_value, feature_zero,
        weight_zero, signed_feature, signed_weights, accumulate, acc
    }
    Residual { feature, zero, other_zero, scale, other_scale, shift, signed, sum_zero, sum_clamp }
    Post {
        acc, rows, cols, kernels, params, param_stride, zero, clamp, residual, table, table_stride, output
    }
}

/// The mnemonics; an opcode is an index into them.
pub const MNEMONICS: [&str; 9] = ["load", "store", "move", "conv", "dwconv", "post", "signal", "wait", "end"];

impl NpuInst {
    /// Returns the opcode.
    pub fn opcode(&self) -> usize {
        match self {
            NpuInst::Load(_) => 0,
            NpuInst::Store(_) => 1,
            NpuInst::Move(_) => 2,
            NpuInst::Conv(_) => 3,
            NpuInst::DwConv(_) => 4,
            NpuInst::Post(_) => 5,
            NpuInst::Signal { .. } => 6,
            NpuInst::Wait { .. } => 7,
            NpuInst::End => 8,
        }
    }

    /// Returns the instruction of an opcode whose fields are zero.
    pub fn blank(opcode: usize) -> Option<NpuInst> {
        let all = [
            NpuInst::Load(Transfer::default()),
            NpuInst::Store(Transfer::default()),
            NpuInst::Move(Move::default()),
            NpuInst::Conv(Conv::default()),
            NpuInst::DwConv(Conv::default()),
            NpuInst::Post(Post::default()),
            NpuInst::Signal { unit: Unit::Load, token: 0 },
            NpuInst::Wait { queue: Queue::Load, token: 0 },
            NpuInst::End,
        ];
        all.get(opcode).copied()
    }

    /// Visits the fields in order.
    ///
    /// # Errors
    /// Those of the visitor.
    pub fn visit_fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        match self {
            NpuInst::Load(t) | NpuInst::Store(t) => t.visit_fields(v),
            NpuInst::Move(m) => m.visit_fields(v),
            NpuInst::Conv(conv) | NpuInst::DwConv(conv) => conv.visit_fields(v),
            NpuInst::Post(post) => post.visit_fields(v),
            NpuInst::Signal { unit, token } => {
                unit.visit("unit", v)?;
                token.visit("token", v)
            }
            NpuInst::Wait { queue, token } => {
                queue.visit("queue", v)?;
                token.visit("token", v)
            }
            NpuInst::End => Ok(()),
        }
    }
}
