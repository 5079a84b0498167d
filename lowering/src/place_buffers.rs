//! `place-buffers`: places of the buffers that the steps of programs read and write.

use crate::layers::ScheduleLevel;
use crate::schedule_layers::ScheduleLayers;
use gradus_ir::PassInfo;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "place-buffers",
    doc: "Give the buffers of schedules places in the memories of the machine

# Before / After

```mlir
%buffer = cluster.feature 0 read stored [0:4 0:4 0:8] needed [0:4 0:4 0:8]  : memref<512xi8>
                                                                        // becomes:

%buffer = cluster.feature 0 read stored [0:4 0:4 0:8] needed [0:4 0:4 0:8] at 1024 : memref<512xi8>
```

# Does

Plans the bytes of all buffers, which share bytes if they are not live at once, and moves reads from memory to the step before which they
begin: as early as memory allows. Places that are given are planned again.

# Refuses

Programs without a schedule, and schedules that the network or the machine does not allow: boxes that lack what a step reads, channels without
constants, memories that are too small. The error is at the step.

# Cost

That of `plan-memory`.",
    statistics: &[("num-schedules", "Number of schedules")],
    make: |_| Ok(Box::new(ScheduleLayers(ScheduleLevel::Places))),
    ..PassInfo::DEFAULT
};
