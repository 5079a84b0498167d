//! `choose-plans`: mappings, loop orders and operands of products on the nna, as attributes.

use crate::layers::machine_of;
use crate::matmul_to_nna::choose_plans;
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};
use gradus_simulators::nna::PricedMachine;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "choose-plans",
    doc: "Choose the plans of products on the nna

# Before / After

```mlir
%0 = graph.matmul_integer %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
// becomes:

%0 = graph.matmul_integer %a, %b {nna.plans = [#nna.plan<\"diagonal\", resident = 2>]} : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
```

# Does

Writes the plan of the fewest cycles for each product that the machine computes: mapping to convolutions, order of loops, resident kernels,
the code of the last columns, and the operand that takes the place of the weights. A reduction that is divided has a plan for each part.
`convert-matmul-to-nna` obeys plans, so that they can be edited, and kept in files. Ops with plans keep them.

# Refuses

Plans that are given, but that the machine does not have for the product. Other ops are left alone: `convert-matmul-to-nna` says why.

# Cost

A program for each plan of each product; the context keeps them for `convert-matmul-to-nna`.",
    options: &[
        PassOption { name: "target", doc: "Target whose machine is meant", kind: OptionKind::Text("nna") },
        PassOption {
            name: "report",
            doc: "Explain each choice in a remark: cycles of all calls, their bound, cycles with those of the host",
            kind: OptionKind::Bool(false),
        },
    ],
    statistics: &[("num-chosen", "Number of products that get plans")],
    make: |options| Ok(Box::new(ChoosePlans { target: options.text("target").to_owned(), report: options.bool("report") })),
    ..PassInfo::DEFAULT
};

struct ChoosePlans {
    target: String,
    report: bool,
}

impl Pass for ChoosePlans {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let machine = machine_of(m, root, &self.target, PricedMachine::of)?;
        m.ops_under(root).into_iter().try_for_each(|op| choose_plans(m, op, self.report, &machine, cx))
    }
}
