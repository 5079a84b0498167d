//! The fields of what instructions have in common, in order. Words and text are visitors of such declarations; the ops of the dialect `npu`
//! declare their operands themselves.

use super::{Feature, Queue, Unit, Weights};
use crate::fields::{records, words};

words! { Unit { Load = "load", Store = "store", Array = "array", Pipe = "pipe", Mover = "mover" } }
words! { Queue { Load = "load", Store = "store", Execute = "execute" } }

records! {
    Feature { base, tile_w, tile_c, row, col, chan }
    Weights { base, tile_w, tile_k, tile_d, ky, kx, kernel, depth }
}
