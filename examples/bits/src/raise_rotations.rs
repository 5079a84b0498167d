//! `raise-rotations`.

use crate::dialect::RotLOp;
use gradus::dialects::arith::{OrIOp, ShLIOp, ShRUIOp};
use gradus::prelude::*;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "raise-rotations",
    doc: "Find rotations that are written as two shifts.

# Before / After

```mlir
%0 = arith.shli %x, %c5 : i32    // becomes: %0 = bits.rotl %x, %c5 : i32
%1 = arith.shrui %x, %c27 : i32
%2 = arith.ori %0, %1 : i32
```

# Does

Replaces the or of two shifts of one value, left and right by constants that add up to the width.

# Refuses

Nothing.

# Cost

Linear in the number of ops.",
    statistics: &[("num-changes", "Number of changes")],
    make: |_| Ok(Box::new(RaiseRotations)),
    ..PassInfo::DEFAULT
};

const PATTERNS: &[Pattern] = &[Pattern { name: "or-of-shifts", run: or_of_shifts }];

struct RaiseRotations;

impl Pass for RaiseRotations {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let driver = GreedyOptions { patterns: Some(PATTERNS), ..GreedyOptions::default() };
        let done = driver.run(m, op, cx.actions());
        cx.count("num-changes", done.changes);
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}

fn or_of_shifts(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(or) = OrIOp::cast(m, op) else { return false };
    let (a, b, loc) = (or.lhs(m), or.rhs(m), m.loc(op));
    let Some((x, amount)) = rotation(m, a, b).or_else(|| rotation(m, b, a)) else { return false };
    let rotated = r.build(InsertPoint::Before(op), |b| RotLOp::build(b, loc, x, amount, &[]).result(b.module));
    r.replace(op, &[rotated]);
    true
}

/// Returns the rotated value and the amount if the `or` of two shifts is a left rotation.
fn rotation(m: &Module, left: Value, right: Value) -> Option<(Value, Value)> {
    let left = ShLIOp::cast(m, m.defining_op(left)?)?;
    let right = ShRUIOp::cast(m, m.defining_op(right)?)?;
    let (x, amount) = (left.lhs(m), left.rhs(m));
    let width = m.ctx.int_width(m.value_type(x))?;
    let sum = m.constant_int(amount)?.checked_add(m.constant_int(right.rhs(m))?)?;
    (right.lhs(m) == x && sum == i64::from(width)).then_some((x, amount))
}
