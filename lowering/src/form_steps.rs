//! `form-steps`: lowers straight-line code on tensors to steps on buffers.

mod draft;
mod emit;
mod in_place;

use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo, Traits};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "form-steps",
    doc: "Lower straight-line code on tensors to steps on buffers

# Before / After

```mlir
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.add %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}   // becomes:

func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %bx = sched.to_buffer %x : tensor<4x8xf32> to memref<4x8xf32>
  %by = sched.to_buffer %y : tensor<4x8xf32> to memref<4x8xf32>
  %b = memref.alloc() : memref<4x8xf32>
  sched.step reads(%bx, %by : memref<4x8xf32>, memref<4x8xf32>) writes(%b : memref<4x8xf32>) {
  ^bb0(%a0: tensor<4x8xf32>, %a1: tensor<4x8xf32>):
    %0 = graph.add %a0, %a1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = graph.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sched.yield %1 : tensor<4x8xf32>
  }
  %r = sched.to_tensor %b : memref<4x8xf32> to tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
```

# Does

Each op becomes a step that reads buffers and writes a buffer of its own, named after the op's location. A broadcasting or elementwise op
whose operand of the same type is computed by such ops and used nowhere else joins their step. With `group`, another op joins a step
just before that has the same op with the same types, if it reads nothing that comes later: a target may run them at the same time. It does
not join several ops whose results are read already.
Reshapes, and slices and parts that are
contiguous, are views of their operand's buffer. The parts of a concatenation that are used nowhere else are written in place, through
a strided view of the result; others are copied. Buffers have no place yet: see `plan-memory`.

# Refuses

Functions with control flow, memory, unknown extents, or values other than tensors whose elements have a size in bytes; they are left as
they are. A remark on each says why.

# Cost

Linear in the number of ops and operands.",
    options: &[
        PassOption { name: "fuse", doc: "Join elementwise ops into one step", kind: OptionKind::Bool(true) },
        PassOption { name: "group", doc: "Maximum number of independent ops with the same name and types in one step", kind: OptionKind::Int(1) },
        PassOption { name: "in-place", doc: "Make slices views, and write parts of a concatenation in place", kind: OptionKind::Bool(true) },
    ],
    statistics: &[
        ("num-steps", "Number of steps"),
        ("num-fused", "Number of ops that joined the step of another"),
        ("num-grouped", "Number of ops that joined a step of the same ops"),
        ("num-in-place", "Number of parts of concatenations written in place"),
        ("num-copies", "Number of copies"),
    ],
    stays: "without steps",
    rewrites: Rewrites::Tags(&["form-steps"]),
    make: |options| {
        let group = usize::try_from(options.int("group")).ok().filter(|&n| n > 0).ok_or("group must be at least 1")?;
        Ok(Box::new(FormSteps(draft::FormStepsOptions { fuse: options.bool("fuse"), in_place: options.bool("in-place"), group })))
    },
    ..PassInfo::DEFAULT
};

struct FormSteps(draft::FormStepsOptions);

impl Pass for FormSteps {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for function in
            m.ops_under(root).into_iter().filter(|&op| m.has_trait(op, Traits::FUNCTION)).collect::<Vec<_>>()
        {
            let Some(block) = m.regions(function).first().and_then(|&region| m.entry(region)) else { continue };
            let schedule = match draft::ScheduleDraft::of(m, block, self.0) {
                Ok(schedule) => schedule,
                Err(refusal) => {
                    cx.refuse(m, function, &refusal);
                    continue;
                }
            };
            if !cx.allows("form-steps", m, function) {
                continue;
            }
            for (name, count) in schedule.statistics() {
                cx.count(name, count);
            }
            emit::emit(m, schedule);
        }
        Ok(())
    }
}
