//! `form-layers`: ops of networks as programs of a machine, and their layers.

use crate::layers::{LayerOptions, OFFLOAD, Road};
use crate::roads::road_of;
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "form-layers",
    doc: "Form programs of a machine, and their layers, of the ops of networks

# Before / After

```mlir
%0 = graph.conv %x, %w : ...
%1 = graph.relu %0 : tensor<1x16x8x8xf32>                               // becomes:

%1 = layer.program \"cluster\" -> tensor<1x16x8x8xf32> {
  %0 = layer.fused -> tensor<1x16x8x8xf32> {
    %2 = graph.conv %x, %w : ...
    %3 = graph.relu %2 : tensor<1x16x8x8xf32>
    layer.yield %3 : tensor<1x16x8x8xf32>
  }
  layer.yield %0 : tensor<1x16x8x8xf32>
}
```

# Does

Decides which ops a machine computes, and which of them are one layer, so that no tensor is between them. An op of the host on which a
later one depends begins another program. Ops of a program that are in no layer, such as reshapes and concatenations, only rename elements.
Layers are in the order in which the machine computes them.

# Refuses

Other ops stay on the host. A remark on each of them says why.

# Cost

Linear in the number of ops and layers.",
    options: &[
        PassOption { name: "target", doc: "Target: npu or cluster", kind: OptionKind::Text("npu") },
        PassOption {
            name: "allow-steps",
            doc: "npu: take sums and products whose result is a step from that of the reference for some pairs of bytes",
            kind: OptionKind::Bool(false),
        },
        PassOption {
            name: "clusters",
            doc: "cluster: number of clusters of the sub-device; 0 for all of the machine",
            kind: OptionKind::Int(0),
        },
        PassOption {
            name: "without",
            doc: "Techniques that are left out, to see what they give, separated by commas. npu: multiplies, skewed-rows; cluster: \
                  fusion, in-place, divisions, prefetch, multicast, streaming, cascades",
            kind: OptionKind::Text(""),
        },
    ],
    statistics: &[("num-host", "Number of ops that stay on the host")],
    rewrites: Rewrites::Tags(&[OFFLOAD]),
    stays: "on the host",
    samples: &[
        // With it, bytes are a step from the reference, of which later ops make more.
        ("allow-steps", |_| Vec::new()),
    ],
    floats: |options| match options.bool("allow-steps") {
        true => FloatChange::Quantizes,
        false => FloatChange::None,
    },
    make: |options| {
        let road = road_of(options.text("target"))?;
        let options = LayerOptions {
            allow_steps: options.bool("allow-steps"),
            clusters: options.int("clusters"),
            without: options.text("without").to_owned(),
        };
        Ok(Box::new(FormLayers { road, options }))
    },
    ..PassInfo::DEFAULT
};

struct FormLayers {
    road: &'static Road,
    options: LayerOptions,
}

impl Pass for FormLayers {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        (self.road.form)(m, root, &self.options, cx)
    }
}
