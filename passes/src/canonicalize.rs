//! `canonicalize`.

use gradus_ir::pass::Options;
use gradus_ir::rewrite::rewrite_greedily;
use gradus_ir::{Diagnostic, Module, Op, Pass, PassInfo};

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "canonicalize",
    doc: "Folds constants and applies every op's own simplifications until nothing changes.

# Before / After

```mlir
%c2 = arith.constant 2 : i32
%0 = arith.addi %c2, %c2 : i32      // becomes: %c4_i32 = arith.constant 4 : i32
```

# Does

Evaluates ops whose operands are constants, applies folders and canonicalization patterns, drops ops without effect whose
results are unused, and keeps one copy of each constant at the start of the region that holds it.

# Refuses

Nothing.

# Cost

Linear in the number of ops and of changes.",
    anchor: None,
    options: &[],
    make: |_: &Options| Ok(Box::new(Canonicalize { changes: 0 })),
};

struct Canonicalize {
    changes: u64,
}

impl Pass for Canonicalize {
    fn run(&mut self, m: &mut Module, op: Op) -> Result<(), Diagnostic> {
        self.changes += rewrite_greedily(m, op);
        Ok(())
    }

    fn statistics(&self) -> Vec<(&'static str, u64)> {
        vec![("changes", self.changes)]
    }
}
