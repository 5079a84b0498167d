//! The declarations of the passes on layers.

use super::levels::OFFLOAD;
use super::{Forced, LayerOptions, ROADS, Road};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{Diagnostic, Module, Op, OpDecl, Pass, PassContext, PassInfo};
use gradus_networks::layer::ProgramOp;

/// The pass that forms layers.
pub const FORM: PassInfo = PassInfo {
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

What the machine does not compute stays on the host. A remark on each op says why.

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
    floats: |options| match options.bool("allow-steps") {
        true => FloatChange::Quantizes,
        false => FloatChange::None,
    },
    make: |options| {
        let target = options.text("target").to_owned();
        let of_target = ROADS.iter().find(|road| road.target == target);
        let road = of_target.ok_or_else(|| format!("there is no machine '{target}' with layers"))?;
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

/// The pass that chooses for layers.
pub const CHOOSE: PassInfo = PassInfo {
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
have choices stays as it is, so that choices can be edited, and kept in files. Of the choices of a program with some, modes and operands
are obeyed.

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
            doc: "npu: mode of products of elements, such as 8c, 4w4c or 8w4c-by-columns, the cheapest one by default",
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
            Forced { report: options.bool("report"), weights: options.text("weights").to_owned(), mode: options.text("mode").to_owned() };
        forced.check()?;
        Ok(Box::new(ChooseLayers { forced }))
    },
    ..PassInfo::DEFAULT
};

struct ChooseLayers {
    forced: Forced,
}

impl Pass for ChooseLayers {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        check_machines(m, root)?;
        ROADS.iter().try_for_each(|road| (road.choose)(m, root, &self.forced, cx))
    }
}

/// The pass that compiles programs.
pub const CONVERT: PassInfo = PassInfo {
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

Decides nothing: tiles in order, their transfers, places and events follow from the choices. A choice that the machine or the network
does not allow is an error at its layer, which says what it violates.

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
        check_machines(m, root)?;
        ROADS.iter().try_for_each(|road| (road.convert)(m, root, cx))
    }
}

/// Checks that the machine of each program is one.
fn check_machines(m: &Module, root: Op) -> Result<(), Diagnostic> {
    for program in m.ops_under(root).into_iter().filter_map(|op| ProgramOp::cast(m, op)) {
        let name = program.machine(m).and_then(|name| m.ctx.as_str(name)).unwrap_or("");
        if ROADS.iter().all(|road| road.target != name) {
            let message = format!("there is no machine '{name}' with layers");
            return Err(Diagnostic::error(m.loc(program.0), message));
        }
    }
    Ok(())
}
