//! `math`: mathematical functions of floats and integers, elementwise on vectors and tensors of them.
//!
//! Results are those of the platform's math library, so folded constants equal those of mlir-opt and of the compiled
//! program bit by bit.

mod classify;
mod float;
mod int;
mod rules;

pub use classify::*;
pub use float::*;
pub use int::*;

use gradus_ir::{Dialect, OpDecl};

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "math",
    doc: "Mathematical functions of floats and integers, scalar or elementwise.",
    ops: &[
        AbsFOp::INFO,
        AcosOp::INFO,
        AcoshOp::INFO,
        AsinOp::INFO,
        AsinhOp::INFO,
        AtanOp::INFO,
        AtanhOp::INFO,
        CbrtOp::INFO,
        CeilOp::INFO,
        CosOp::INFO,
        CoshOp::INFO,
        ErfOp::INFO,
        ErfcOp::INFO,
        ExpOp::INFO,
        Exp2Op::INFO,
        ExpM1Op::INFO,
        FloorOp::INFO,
        LogOp::INFO,
        Log10Op::INFO,
        Log1pOp::INFO,
        Log2Op::INFO,
        RoundOp::INFO,
        RoundEvenOp::INFO,
        RsqrtOp::INFO,
        SinOp::INFO,
        SinhOp::INFO,
        SqrtOp::INFO,
        TanOp::INFO,
        TanhOp::INFO,
        TruncOp::INFO,
        Atan2Op::INFO,
        CopySignOp::INFO,
        PowFOp::INFO,
        FmaOp::INFO,
        ClampFOp::INFO,
        FPowIOp::INFO,
        SincosOp::INFO,
        IsFiniteOp::INFO,
        IsInfOp::INFO,
        IsNaNOp::INFO,
        IsNormalOp::INFO,
        AbsIOp::INFO,
        CountLeadingZerosOp::INFO,
        CtPopOp::INFO,
        CountTrailingZerosOp::INFO,
        IPowIOp::INFO,
    ],
    constant: None,
    rule_groups: rules::GROUPS,
    rule_functions: rules::FUNCTIONS,
    ..Dialect::DEFAULT
};
