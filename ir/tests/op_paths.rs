//! `#[op]` under paths other than an import: the key `crate` names the IR.

use gradus_ir::scalar::Scalar;
use gradus_ir::{Context, Dialect, OpDecl, TypeConstraint};

/// A module that shadows the one which an import of `#[op]` brings along.
mod op {}

const ANY: TypeConstraint = TypeConstraint { summary: "any type", check: |_, _| true, only: None };

/// An op declared by its path, with an evaluator, whose expansion names the IR as well.
#[gradus_ir::op("t.same", crate = gradus_ir, scalar = |_| Ok(Scalar::ints(|x| Ok(Some(x[0])))))]
struct Same {
    /// A value.
    value: Operand<ANY>,
    /// The same value.
    result: OpResult<ANY>,
}

#[test]
fn the_key_crate_names_the_ir() {
    static DIALECT: Dialect = Dialect { name: "t", ops: &[Same::INFO], ..Dialect::DEFAULT };
    let ctx = Context::new(&[&DIALECT]);
    let info = ctx.dialects()[0].ops[0];
    assert_eq!((info.name, info.operands.len(), info.scalar.is_some(), info.eval.is_some()), ("t.same", 1, true, true));
}
