//! `convert-layers-to-programs`: programs of machines by the choices for their layers.

use crate::roads::on_programs;
use gradus_ir::pass::FloatChange;
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-layers-to-programs",
    doc: "Compile programs of layers by the choices for them

# Before / After

```mlir
%0 = layer.program \"npu\" -> tensor<1x32x8x8xi8> {
  ...
}                                                                       // becomes:

%a = layout.pack %x into <\"NHCW8c\"> : tensor<1x16x8x8xi8> -> tensor<1x8x2x8x8xi8>
%b = npu.call @npu0(%a) : (tensor<1x8x2x8x8xi8>) -> tensor<1x8x4x8x8xi8>
%0 = layout.unpack %b from <\"NHCW8c\"> : tensor<1x8x4x8x8xi8> -> tensor<1x32x8x8xi8>
npu.program @npu0 ...
```

# Does

Decides nothing: transfers and events follow from the schedule. A program without a schedule gets that of its choices, as `schedule-layers` and
`place-buffers` write it. A choice or a step that the machine or the network does not allow is an error at its op, with the rule.

# Refuses

Programs without choices, which `choose-layers` makes.

# Cost

Linear in the number of layers, constants and tiles.",
    statistics: &[
        ("num-programs", "Number of programs"),
        ("num-layers", "Number of layers"),
        ("num-instructions", "Number of instructions of the npu"),
        ("num-records", "Number of records of all clusters"),
    ],
    floats: |_| FloatChange::Reorders,
    make: |_| Ok(Box::new(ConvertLayers)),
    ..PassInfo::DEFAULT
};

struct ConvertLayers;

impl Pass for ConvertLayers {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        on_programs(m, root, &mut |road, m| (road.convert)(m, root, cx))
    }
}
