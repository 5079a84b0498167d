//! Hazards, as a table.

/// A class of faults: hazards between two instructions, and errors of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum FaultKind {
    /// A convolution of pixels whose writes may not be visible.
    FramRaw,
    /// A write to a feature RAM from which a convolution may still read.
    FramWar,
    /// A convolution with weights whose writes may not be visible.
    WramRaw,
    /// A write to a kernel from which a convolution may still read.
    WramWar,
    /// A read of a result block that may not be complete.
    ResultRaw,
    /// A result block overwritten before it was read.
    ResultUnread,
    /// A convolution on an engine that may still work.
    EngineBusy,
    /// A write beyond the rows or columns of a feature RAM.
    FramOverrun,
    /// A write beyond a kernel.
    WramOverrun,
    /// Poison that is stored, computed with, or branched on.
    Uninitialized,
    /// An address outside of memory.
    MemoryBounds,
    /// A use of configuration that may not have taken effect, or was never written.
    StaleConfig,
    /// A value that a configuration register or a scale does not take, or an operand that the machine does not have.
    BadValue,
    /// A branch out of the program, or no `halt` at its end.
    BadBranch,
    /// More cycles than allowed.
    CycleLimit,
}

/// A row of the table of hazards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// Class.
    pub class: FaultKind,
    /// Name, in messages and statistics.
    pub name: &'static str,
    /// The pair of instructions, or the instruction.
    pub pair: &'static str,
    /// Effect under `stall`.
    pub stall: &'static str,
    /// Condition under which `reject` rejects.
    pub reject: &'static str,
}

macro_rules! hazards {
    ($($class:ident $name:literal $pair:literal $stall:literal $reject:literal;)*) => {
        /// All hazards.
        pub const HAZARDS: &[Hazard] = &[$(Hazard {
            class: FaultKind::$class,
            name: $name,
            pair: $pair,
            stall: $stall,
            reject: $reject,
        }),*];
    };
}

#[rustfmt::skip]
hazards! {
    FramRaw       "fram-raw"       "nndwf, nnmacg on the same fram"           "nnmacg waits until the write is visible"  "no nnsync of the fram between";
    FramWar       "fram-war"       "nnmacg, nndwf to the same fram"           "nndwf waits until the convolution ends"   "no nnsync of the engine between";
    WramRaw       "wram-raw"       "nndww, nnmacg with the same kernel"       "nnmacg waits until the write is visible"  "no nnsync of the kernel between";
    WramWar       "wram-war"       "nnmacg, nndww to the same kernel"         "nndww waits until the convolution ends"   "no nnsync of the engine between";
    ResultRaw     "result-raw"     "nnmacg, nndrdocb of the same block"       "nndrdocb waits until the convolution ends" "no nnsync of the engine between";
    ResultUnread  "result-unread"  "nnmacg, nnmacg to the same block"         "none: the first result is lost"           "no nndrdocb of the block between";
    EngineBusy    "engine-busy"    "nnmacg, nnmacg"                           "the second waits until the first ends"    "no nnsync of the engine between";
    FramOverrun   "fram-overrun"   "nndwf"                                    "rejected"                                 "the pixel is beyond the rows or columns";
    WramOverrun   "wram-overrun"   "nndww, nnptr"                             "rejected"                                 "the byte is beyond the kernel";
    Uninitialized "uninitialized"  "sa, sw, add, and, rq, addi, madd, djnz"   "rejected"                                 "an operand is poison";
    MemoryBounds  "memory-bounds"  "la, ls, lb, lw, sa, sw"                   "rejected"                                 "a byte is outside of memory";
    StaleConfig   "stale-config"   "nncfg, nndwf or nnmacg or rq"             "the use waits until it has taken effect; rejected if never written" "no nnsync of configuration between";
    BadValue      "bad-value"      "nncfg, rq; any, before the start"          "rejected"                                 "a value or an operand is out of range";
    BadBranch     "bad-branch"     "djnz"                                     "rejected"                                 "the destination is outside of the program";
    CycleLimit    "cycle-limit"    "any"                                      "rejected"                                 "more cycles than allowed";
}

impl FaultKind {
    /// Number of classes.
    pub const COUNT: usize = HAZARDS.len();

    /// Returns the name.
    pub fn name(self) -> &'static str {
        HAZARDS[self as usize].name
    }
}
