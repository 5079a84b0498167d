//! Words of operands: registers, memories, sets of events.

/// Words with their values.
pub type Words = &'static [(&'static str, i64)];

macro_rules! numbered {
    ($prefix:literal: $($n:literal)*) => { &[$((concat!($prefix, $n), $n)),*] };
}

/// Vector registers.
pub const VECTORS: Words =
    numbered!("v": 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
/// Scalar registers.
pub const SCALARS: Words =
    numbered!("r": 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
/// Parts of a vector register.
pub const PARTS: Words = &[("lo", 0), ("hi", 1), ("all", 2)];
/// Halves of the output channels.
pub const HALVES: Words = &[("lo", 0), ("hi", 1)];
/// Quarters of a vector register.
pub const QUARTERS: Words = numbered!("q": 0 1 2 3);
/// Feature RAMs.
pub const FRAMS: Words = numbered!("fram": 0 1);
/// Kernels of the weight RAM.
pub const WRAMS: Words = numbered!("wram": 0 1);
/// Result blocks.
pub const BLOCKS: Words = numbered!("block": 0 1);
/// Outputs of a step.
pub const PIXELS: Words = numbered!("pixel": 0 1 2 3 4 5 6 7);
/// Memories with write pointers.
pub const PORTS: Words = &[("fram0", 0), ("fram1", 1), ("wram0", 2), ("wram1", 3)];
/// Configuration registers.
pub const CONFIGS: Words = &[("stride", 0), ("jump", 1), ("mask", 2), ("zero", 3)];
/// Whether a write pointer returns to the start.
pub const FLAGS: Words = &[("keep", 0), ("rewind", 1)];

/// Events, in the order of their bits.
const EVENT: [&str; 6] = ["fram0", "fram1", "wram0", "wram1", "engine", "config"];
/// Number of sets of events.
const SETS: usize = 1 << EVENT.len();
/// Bytes of the longest word.
const LONGEST: usize = 40;

/// The words of all sets with their lengths.
static SET_BYTES: [([u8; LONGEST], usize); SETS] = {
    let mut all = [([0; LONGEST], 0); SETS];
    let mut set = 0;
    while set < SETS {
        all[set] = set_word(set);
        set += 1;
    }
    all
};

/// Sets of events: the words of the events, joined by `_`; the empty set is `none`.
pub const EVENTS: Words = &{
    let mut words = [("none", 0); SETS];
    let mut set = 1;
    while set < SETS {
        let (bytes, len) = &SET_BYTES[set];
        words[set] = match std::str::from_utf8(bytes.split_at(*len).0) {
            Ok(word) => (word, set as i64),
            Err(_) => panic!("events are ASCII"),
        };
        set += 1;
    }
    words
};

const fn set_word(set: usize) -> ([u8; LONGEST], usize) {
    let (mut bytes, mut len, mut event) = ([0; LONGEST], 0, 0);
    while event < EVENT.len() {
        let word = EVENT[event].as_bytes();
        let mut i = 0;
        if set >> event & 1 != 0 {
            if len > 0 {
                bytes[len] = b'_';
                len += 1;
            }
            while i < word.len() {
                bytes[len] = word[i];
                (i, len) = (i + 1, len + 1);
            }
        }
        event += 1;
    }
    (bytes, len)
}
