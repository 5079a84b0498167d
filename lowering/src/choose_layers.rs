//! `choose-layers`: tiles, divisions and places for the layers of programs.

use crate::graph_to_npu;
use crate::layers::ChoiceOptions;
use crate::roads::on_programs;
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "choose-layers",
    doc: "Choose tiles, divisions and places for the layers of programs

# Before / After

```mlir
%0 = layer.fused -> tensor<1x32x8x8xi8> {                               // becomes:

%0 = layer.fused by [#npu.tiles<rows = 8, kernels = 32, to = \"sram\">] -> tensor<1x32x8x8xi8> {
```

# Does

Writes the choices of the fewest estimated cycles as attributes: for the npu tiles, the order of loops, what stays in SRAM and at which
byte, modes, and layers that take turns; for clusters the division of each layer, tiles, and what goes to DDR. A program whose layers all
have choices stays as it is, so that choices can be edited, and kept in files. If some layers have choices, they keep them, and the others
get those that they would have without them.

# Refuses

Layers for which a memory of the machine is too small leave their program. A remark on each says why.

# Cost

Npu: four rounds of trials of what stays in SRAM, by several weighings. Clusters: some ten to four hundred candidates, which are compiled and
timed.",
    options: &[
        PassOption {
            name: "report",
            doc: "Explain the choice for each layer in a remark: estimated cycles of the layer by itself, their bound, the next best choice",
            kind: OptionKind::Bool(false),
        },
        PassOption {
            name: "weights",
            doc: "npu: operand of products of two tensors that is the weights: left or right, the cheaper one by default",
            kind: OptionKind::Text(""),
        },
        PassOption {
            name: "mode",
            doc: "npu: mode of products of elements, such as 8c, 4w4c or 8w4c-by-columns, or of constant weights, such as 8k8d, 2k4d, 8w4d or \
                  2w, the cheapest one by default",
            kind: OptionKind::Text(""),
        },
    ],
    statistics: &[
        ("num-candidates", "Number of candidates that were timed"),
        ("num-host", "Number of ops that leave their program"),
    ],
    stays: "on the host",
    samples: &[
        ("weights", |_| ["left", "right"].map(str::to_owned).into()),
        ("mode", |_| ["8c", "4w4c", "8w4c-by-columns"].map(str::to_owned).into()),
    ],
    make: |options| {
        let forced =
            ChoiceOptions { report: options.bool("report"), weights: options.text("weights").to_owned(), mode: options.text("mode").to_owned() };
        graph_to_npu::check_forced(&forced)?;
        Ok(Box::new(ChooseLayers { forced }))
    },
    ..PassInfo::DEFAULT
};

struct ChooseLayers {
    forced: ChoiceOptions,
}

impl Pass for ChooseLayers {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        on_programs(m, root, &mut |road, m| (road.choose)(m, root, &self.forced, cx))
    }
}
