//! Mnemonics and fields of all instruction forms, in order. Words and text are visitors of this declaration; the ops of the
//! dialect `npu` declare their operands themselves.

use super::{Conv, Feature, Inst, Move, Post, Queue, Residual, Transfer, Unit, Weights};
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

impl Inst {
    /// Returns the opcode.
    pub fn opcode(&self) -> usize {
        match self {
            Inst::Load(_) => 0,
            Inst::Store(_) => 1,
            Inst::Move(_) => 2,
            Inst::Conv(_) => 3,
            Inst::DwConv(_) => 4,
            Inst::Post(_) => 5,
            Inst::Signal { .. } => 6,
            Inst::Wait { .. } => 7,
            Inst::End => 8,
        }
    }

    /// Returns the instruction of an opcode whose fields are zero.
    pub fn blank(opcode: usize) -> Option<Inst> {
        let all = [
            Inst::Load(Transfer::default()),
            Inst::Store(Transfer::default()),
            Inst::Move(Move::default()),
            Inst::Conv(Conv::default()),
            Inst::DwConv(Conv::default()),
            Inst::Post(Post::default()),
            Inst::Signal { unit: Unit::Load, token: 0 },
            Inst::Wait { queue: Queue::Load, token: 0 },
            Inst::End,
        ];
        all.get(opcode).copied()
    }

    /// Visits the fields in order.
    ///
    /// # Errors
    /// Those of the visitor.
    pub fn visit_fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        match self {
            Inst::Load(t) | Inst::Store(t) => t.visit_fields(v),
            Inst::Move(m) => m.visit_fields(v),
            Inst::Conv(conv) | Inst::DwConv(conv) => conv.visit_fields(v),
            Inst::Post(post) => post.visit_fields(v),
            Inst::Signal { unit, token } => {
                unit.visit("unit", v)?;
                token.visit("token", v)
            }
            Inst::Wait { queue, token } => {
                queue.visit("queue", v)?;
                token.visit("token", v)
            }
            Inst::End => Ok(()),
        }
    }
}
