//! What ops cost, for each target.

use gradus_ir::{Module, Op};

/// A way to tell what programs cost. Constants and what stays where it is cost nothing.
pub struct CostModel {
    /// The target, or what is counted.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// What an op costs; at least 1, so that what needs less is less.
    pub cost: fn(&Module, Op) -> u64,
}

/// All cost models. The first is the default.
pub const MODELS: &[CostModel] = &[
    CostModel { name: "ops", doc: "the number of ops", cost: |_, _| 1 },
    CostModel { name: "scalar", doc: "cycles of a scalar processor, roughly", cost: scalar },
    CostModel {
        name: "arbitrary",
        doc: "costs that mean nothing: any side of a rule may be chosen, to test rules",
        cost: arbitrary,
    },
];

/// What takes longer than one cycle, by the latencies of common processors.
fn scalar(m: &Module, op: Op) -> u64 {
    match m.name_text(op) {
        "arith.muli" | "arith.mulsi_extended" | "arith.mului_extended" => 3,
        "arith.addf" | "arith.subf" | "arith.mulf" | "math.fma" => 4,
        "arith.divsi" | "arith.divui" | "arith.remsi" | "arith.remui" | "arith.ceildivsi" | "arith.floordivsi" => 20,
        "arith.divf" | "math.sqrt" => 14,
        "math.powf" | "math.exp" | "math.log" | "math.sin" | "math.cos" | "math.tanh" => 60,
        "math.fpowi" | "math.ipowi" => 40,
        _ => 1,
    }
}

fn arbitrary(m: &Module, op: Op) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    1 + m.name_text(op).bytes().fold(0xcbf2_9ce4_8422_2325, mix) % 13
}
