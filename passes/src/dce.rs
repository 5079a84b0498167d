//! `dce`: dead code elimination.

use gradus_ir::effects::is_dead;
use gradus_ir::entity::SideTable;
use gradus_ir::pass::Rewrites;
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo, Value};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "dce",
    class: "DCE",
    doc: "Erase dead ops

# Before / After

```mlir
%0 = arith.addi %a, %b : i32        // erased if %0 has no uses
```

# Does

Erases ops without effects and uses, transitively.

# Refuses

Ops that may have effects, including unregistered ops.

# Cost

Linear in the number of ops.",
    statistics: &[("num-dce'd", "Number of operations DCE'd")],
    rewrites: Rewrites::Tags(&["erase-dead-op"]),
    make: |_| Ok(Box::new(Dce)),
    ..PassInfo::DEFAULT
};

struct Dce;

impl Pass for Dce {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        // Users follow definitions, so a backward walk finds most dead ops in one pass.
        let mut erased = SideTable::new(false);
        let mut ops = m.ops_under(op);
        ops.remove(0);
        while let Some(op) = ops.pop() {
            if erased[op] || !is_dead(m, op) || !cx.allows("erase-dead-op", m, op) {
                continue;
            }
            cx.count("num-dce'd", 1);
            for inner in m.ops_under(op) {
                erased[inner] = true;
            }
            let operands: Vec<Value> = m.operands(op).to_vec();
            m.erase_op(op);
            ops.extend(operands.into_iter().filter_map(|v| m.defining_op(v)));
        }
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}
