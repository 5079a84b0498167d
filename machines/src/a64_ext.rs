//! `a64_ext`: instructions that a processor for sparse matrices adds to AArch64. They have no encodings and are simulated.
//!
//! Source: the seed on sparse matrices that are compiled into code, paragraphs 60 to 68.

use crate::a64::ops::{FLAG, NUMBER, instructions};
use crate::a64::{ADDRESS, Form, Instruction, Operation, REGISTER, RegisterClass, verify};
use RegisterClass::{V4S, W};
use gradus_ir::{Dialect, Effects, OpDecl, OpInfo, Traits, op};

instructions! { FORMS;
    /// Product of the second source and a signed 12-bit immediate, added to the first source.
    ///
    /// ```mlir
    /// %1 = a64_ext.madd_imm %0, %b imm 2 : (!a64.w<3>, !a64.w<1>) -> !a64.w<3>
    /// ```
    MADD_IMM MAddImmOp "a64_ext.madd_imm" MulAddImm MulImm false [W 0, V4S 0];
    /// Product of a number in memory and a signed 8-bit immediate, added to the source: load, scale, accumulate.
    ///
    /// ```mlir
    /// %1 = a64_ext.ldr_sc_acc %0 [%b] offset 12 imm 2 : (!a64.w<3>, !a64.x<0>) -> !a64.w<3>
    /// ```
    LDR_SC_ACC LdrScAccOp "a64_ext.ldr_sc_acc" LoadMulAdd LoadMul false [W 0, V4S 0];
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "a64_ext",
    doc: "Instructions for sparse products that extend AArch64: multiply-add with immediates, load with scaling and accumulation.",
    ops: FORMS,
    ..Dialect::DEFAULT
};
