//! `x64`: instructions of x86-64 as ops, whose values are registers.
//!
//! A function stands at one of two levels: as instructions (`x64.func`) or as bytes (`x64.code`). `x64.call` runs either.
//!
//! | file | contents |
//! |---|---|
//! | `instruction.rs` | encodings and operations of declarations; instructions as data |
//! | `ops.rs` | the instruction forms, a row each |
//! | `types.rs` | registers and their types |
//! | `encode.rs` | instructions to bytes |
//! | `decode.rs` | bytes to instructions, by a table of its own |
//! | `lift.rs` | instructions to ops and back |
//! | `call.rs` | functions, calls, and the registers that a call passes |
//! | `dispatch.rs` | products by one function per pattern of nonzeros |
//! | `simulate.rs` | execution of instructions over checked memory |

mod call;
mod decode;
mod dispatch;
mod encode;
mod instruction;
mod lift;
pub mod ops;
mod simulate;
mod types;

pub use call::{Abi, CallOp, CodeOp, FuncOp, code_of, disassemble};
pub use decode::decode;
pub use dispatch::{Dispatch, DispatchOp, functions_of};
pub use encode::encode;
pub use instruction::{
    Condition, Encoding, Inst, Instruction, Mem, OpcodeMap, Operation, Registers, Rm, VectorEncoding, VectorOperands,
};
pub use lift::{assemble, decode_all, lift};
pub use simulate::ColumnRange;
pub use types::{Flags, Gpr, Mask, NUM_REGISTERS, Register, RegisterClass, Width, Xmm, Ymm, Zmm};

use gradus_dialects::constraint::UNIT;
use gradus_ir::{AttrKind, AttrText, Dialect, OpDecl, OpInfo, TypeDecl};
use lift::verify;

/// A keyword that sets a unit attribute.
const FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// All instruction forms.
pub fn instructions() -> impl Iterator<Item = &'static Instruction> {
    OPS.iter().filter_map(|info| info.extension::<Instruction>())
}

const OPS: &[&OpInfo] = &{
    const TABLES: [&[&OpInfo]; 3] = [
        &[CallOp::INFO, CodeOp::INFO, DispatchOp::INFO, FuncOp::INFO, ops::JmpOp::INFO, ops::RetOp::INFO],
        ops::STRAIGHT,
        ops::JUMPS,
    ];
    let mut all = [CallOp::INFO; TABLES[0].len() + TABLES[1].len() + TABLES[2].len()];
    let (mut i, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            all[i] = TABLES[table][row];
            (i, row) = (i + 1, row + 1);
        }
        table += 1;
    }
    all
};

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "x64",
    doc: "Machine code of x86-64: instructions with AVX2 and AVX-512 on registers, functions, calls.",
    ops: OPS,
    types: &[Flags::INFO, Gpr::INFO, Mask::INFO, Xmm::INFO, Ymm::INFO, Zmm::INFO],
    ..Dialect::DEFAULT
};
