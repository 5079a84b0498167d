//! `schedule-layers`: the steps of programs, in order.

use crate::layers::ScheduleLevel;
use crate::roads::on_programs;
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "schedule-layers",
    doc: "Write the steps of programs of layers, in order, by the choices for the layers

# Before / After

```mlir
%0 = layer.program \"cluster\" -> tensor<1x8x4x4xf32> {
  ...
  layer.yield %1 : tensor<1x8x4x4xf32>
}                                                                       // becomes:

%0 = layer.program \"cluster\" -> tensor<1x8x4x4xf32> {
  ...
  layer.schedule {
    %buffer = cluster.feature 0 read stored [0:2 0:4 0:8, 2:4 0:4 0:8] needed [0:2 0:4 0:8, 2:4 0:4 0:8]  : memref<256xi8>
    %buffer_0 = cluster.feature 1 stored [0:2 0:4 0:8, 2:4 0:4 0:8] needed [none, none]  : memref<256xi8>
    cluster.task 0 \"relu\" boxes [0:2 0:4 0:8, 2:4 0:4 0:8] reads(%buffer) writes(%buffer_0) ready ...
  }
  layer.yield %1 : tensor<1x8x4x4xf32>
}
```

# Does

Divides each layer into steps by its tiles and division, and lists what they read and write: of clusters the boxes of features and the parts
of constants that each of them needs, with the tasks that read constants. Nothing has a place yet. A program that has a schedule keeps it,
so that steps can be edited.

# Refuses

Programs whose layers have no choices, which `choose-layers` makes, and choices that are not possible.

# Cost

Linear in the number of steps.",
    statistics: &[("num-schedules", "Number of schedules")],
    make: |_| Ok(Box::new(ScheduleLayers(ScheduleLevel::Steps))),
    ..PassInfo::DEFAULT
};

/// The pass that writes a level of schedules.
pub(crate) struct ScheduleLayers(pub(crate) ScheduleLevel);

impl Pass for ScheduleLayers {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        on_programs(m, root, &mut |road, m| (road.schedule)(m, root, self.0, cx))
    }
}
