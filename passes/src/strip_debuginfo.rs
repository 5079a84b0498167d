//! `strip-debuginfo`: removal of locations.

use gradus_ir::pass::Rewrites;
use gradus_ir::{Diagnostic, Loc, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "strip-debuginfo",
    class: "StripDebugInfo",
    doc: "Remove all locations

# Before / After

```mlir
%0 = arith.addi %a, %b : i32 loc(\"f.c\":3:5)     // becomes: ... loc(unknown)
```

# Does

Sets the location of every op and block argument to `unknown`.

# Refuses

Nothing.

# Cost

Linear in the number of ops.",
    rewrites: Rewrites::Tags(&["strip-locations"]),
    make: |_| Ok(Box::new(StripDebugInfo)),
    ..PassInfo::DEFAULT
};

struct StripDebugInfo;

impl Pass for StripDebugInfo {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for inner in m.ops_under(op) {
            if !cx.allows("strip-locations", m, inner) {
                continue;
            }
            m.set_loc(inner, Loc::UNKNOWN);
            for region in m.regions(inner).to_vec() {
                for block in m.region_blocks(region).collect::<Vec<_>>() {
                    for i in 0..m.block_args(block).len() {
                        m.set_arg_loc(block, i, Loc::UNKNOWN);
                    }
                }
            }
        }
        Ok(())
    }
}
