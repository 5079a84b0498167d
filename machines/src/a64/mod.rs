//! `a64`: instructions of AArch64 as ops, whose values are registers.
//!
//! A function stands at one of two levels: as instructions (`a64.func`) or as bytes (`a64.code`). `a64.call` runs either, in a
//! simulator. Functions are straight-line code for a panel of columns. `a64_ext` has further instructions.
//!
//! | file | contents |
//! |---|---|
//! | `instruction.rs` | forms and operations of declarations; instructions as data |
//! | `ops.rs` | the instruction forms, a row each |
//! | `types.rs` | registers and their types |
//! | `encode.rs` | instructions to bytes and back |
//! | `text.rs` | instructions as assembly text |
//! | `lift.rs` | instructions to ops and back; bundles |
//! | `call.rs` | functions and calls |
//! | `dispatch.rs` | products by one function per pattern of nonzeros |
//! | `simulate.rs` | execution over checked memory; counts of instructions and cycles |

mod call;
mod dispatch;
mod encode;
mod instruction;
mod lift;
pub mod ops;
mod simulate;
mod text;
mod types;

pub use call::{CallOp, CodeOp, FuncOp, Panels, callee_of, disassembly};
pub use dispatch::{DispatchOp, dispatch_counts};
pub use encode::{encode, is_in_range};
pub use instruction::{Form, Inst, Instruction, Operation, Registers, Unit};
pub use lift::{inst_of, instructions_of, lift};
pub use simulate::{INPUT, InstructionCounts, OUTPUT, POOL, bundles};
pub use text::listing;
pub use types::{ADDRESS, D, NUM_REGISTERS, REGISTER, Register, RegisterClass, S, V2D, V4S, W, X};

pub(crate) use lift::verify;

use gradus_ir::{Dialect, OpDecl, OpInfo, TypeDecl};

/// All instruction forms that have encodings.
pub fn instructions() -> impl Iterator<Item = &'static Instruction> {
    OPS.iter().filter_map(|info| info.extension::<Instruction>())
}

/// Decodes an instruction. Loads and stores of vectors have lanes of 32 bits.
pub fn decode(word: u32) -> Option<Inst> {
    encode::decode(word, instructions())
}

/// Decodes a whole function.
///
/// # Errors
/// The position of the first byte that is not the start of an instruction of the dialect.
pub fn decode_all(bytes: &[u8]) -> Result<Vec<Inst>, usize> {
    let (words, rest) = bytes.as_chunks::<4>();
    let all: Result<Vec<Inst>, usize> =
        words.iter().enumerate().map(|(i, word)| decode(u32::from_le_bytes(*word)).ok_or(4 * i)).collect();
    if rest.is_empty() { all } else { all.and(Err(bytes.len() - rest.len())) }
}

/// Returns the bytes of instructions; `None` if one has no encoding.
pub fn assemble(all: &[Inst]) -> Option<Vec<u8>> {
    let words: Option<Vec<[u8; 4]>> = all.iter().map(|inst| Some(encode(inst)?.to_le_bytes())).collect();
    Some(words?.concat())
}

const OPS: &[&OpInfo] = &{
    const OTHERS: [&OpInfo; 5] = [CallOp::INFO, CodeOp::INFO, DispatchOp::INFO, FuncOp::INFO, ops::RetOp::INFO];
    let mut all = [CallOp::INFO; OTHERS.len() + ops::FORMS.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < OTHERS.len() { OTHERS[i] } else { ops::FORMS[i - OTHERS.len()] };
        i += 1;
    }
    all
};

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "a64",
    doc: "Machine code of AArch64: instructions on general-purpose and vector registers, functions, calls.",
    ops: OPS,
    types: &[D::INFO, S::INFO, V2D::INFO, V4S::INFO, W::INFO, X::INFO],
    ..Dialect::DEFAULT
};
