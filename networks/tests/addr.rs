//! Tests of the epilogue that products share.

use gradus_ir::OpDecl;
use gradus_networks::addr::{ConvPlanesOp, DepthwiseOp, GemmOp, IndirectGemmOp};

/// Every stage is an operand or attribute of every product; only products of bytes are requantized.
#[test]
fn stages_are_declared() {
    let of_bytes = [GemmOp::INFO, IndirectGemmOp::INFO, DepthwiseOp::INFO];
    let stages = of_bytes.map(|info| (info, &["bias", "add", "low", "high", "scale"][..]));
    for (info, stages) in stages.into_iter().chain([(ConvPlanesOp::INFO, &["bias", "add", "low", "high"][..])]) {
        for &stage in stages {
            let is_operand = info.operands.iter().any(|group| group.name == stage);
            assert!(is_operand || info.attrs.iter().any(|attr| attr.name == stage), "{} {stage}", info.name);
        }
    }
}
