//! `convert-graph-to-npu`: compiles networks of bytes to programs of the npu.
//!
//! | file | contents |
//! |---|---|
//! | `read.rs`, `conv.rs`, `matrix.rs`, `binary.rs`, `view.rs` | ops as layers, values as views of features |
//! | `network.rs`, `scale.rs` | layers and features, and factors that equal the floats of the reference |
//! | `elementwise_layouts.rs`, `row_padding.rs` | the layouts of products of elements; padding between rows |
//! | `host.rs` | layouts of operands and results on the host |
//! | `shape.rs`, `tiling.rs` | the tiles of a layer and the bytes that they take; their choice |
//! | `price.rs`, `timeline.rs`, `estimate.rs` | cycles of instructions, of steps, and of layers |
//! | `residency.rs` | the features that stay in SRAM, layers that take turns, offsets |
//! | `steps.rs`, `reservations.rs`, `slot_times.rs` | tiles in order, with what they stream, its places and times |
//! | `emit.rs`, `extent.rs`, `order.rs` | instructions, the bytes that they access, and the tokens that order them |
//! | `constants.rs`, `program.rs` | the image of the constants; all of these in order |

mod binary;
mod constants;
mod conv;
mod elementwise_layouts;
mod emit;
mod estimate;
mod extent;
mod host;
mod matrix;
mod network;
mod order;
mod price;
mod program;
mod read;
mod reservations;
mod residency;
mod row_padding;
mod scale;
mod shape;
mod slot_times;
mod steps;
#[cfg(test)]
mod tests;
mod tiling;
mod timeline;
mod view;

use crate::emit::Emitter;
use crate::offload::{Accelerator, Level, OFFLOAD, Programs, machine_of, offload};
pub use extent::{Extent, Space, extents};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{
    Attr, Builder, DType, Diagnostic, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, Refusal, Tensor, Value,
};
use gradus_machines::npu;
use gradus_networks::graph::QLinearMulOp;
use gradus_simulators::npu::NpuMachine;
use network::FeatureId;
use program::{CompiledNetwork, compile};
use read::{OPS, ProductSide, Read, Reader, Setting};
use rustc_hash::{FxHashMap, FxHashSet};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-graph-to-npu",
    doc: "Compile networks of bytes to programs of the npu

# Before / After

```mlir
%0 = graph.qlinear_conv %x, ... : (tensor<1x16x8x8xi8>, ...) -> tensor<1x32x8x8xi8>
%1 = graph.qlinear_mul %0, ..., %s, ... : (...) -> tensor<1x32x8x8xi8>
%y = graph.softmax ...                                                  // becomes:

%a = layout.pack %x into <\"NHCW8c\"> : tensor<1x16x8x8xi8> -> tensor<1x8x2x8x8xi8>
%b = npu.call @npu0(%a, ...) : (...) -> tensor<1x8x4x8x8xi8>
%1 = layout.unpack %b from <\"NHCW8c\"> : tensor<1x8x4x8x8xi8> -> tensor<1x32x8x8xi8>
%y = graph.softmax ...
npu.program @npu0 ...
```

# Does

Convolutions, also of groups, depthwise convolutions, matrix products, sums, products, tables and concatenations of quantized tensors
of one image or of sequences become layers of a program, an op of the host between them begins another program. Sums and tables are
computed at the store of the convolution before them. Requantization of convolutions is exact. A sum or product gets integer factors
that give the bytes of the reference for all pairs of operands; if there are none, a summand that is a constant for each channel becomes
a table, and others stay on the host or, with `allow-steps`, get the nearest factors.

A multiply is a depthwise convolution whose kernels are the other operand: of its channels, or, after a reshape of both to
`1 x 1 x H*W*C`, of its elements. Both have the same layout then: the `mode` of the fewest cycles, if nothing else reads them, otherwise
layers copy what differs into the layout that costs least. In a matrix product of two tensors one is weights where it is, since the
bytes of its feature are those of the mode 8K8D or of its transpose: the operand that keeps more of the array busy, or the one that
`weights` names. Reshapes and transpositions are views of features: heads of a transformer are ranges of channels.

In SRAM rows are padded where positions of neighbouring rows, which the array reads in one cycle, would be in one bank; the distance of rows
is a field of the instructions.

Each layer is divided into tiles of rows and kernels that fit into half of the accumulators. Features stay in SRAM as long as
they fit; others are streamed in tiles, and a convolution and a pointwise one after it may take turns by tiles, so that what is between
them is never stored. These choices minimize estimated cycles, of which a recurrence over the tiles is the source; the planner assigns
the offsets. Constants and tiles are loaded as early as memory allows, but not so early that they block a queue. Tokens order the units
by the bytes that instructions access. Of the programs by several weighings of the estimates the fastest is taken, by their cycles
without values.

# Refuses

Other ops and types, batches of images unless these have one pixel and windows have one tap, more than 64 groups, parameters that
are not constant, reshapes that cut an axis elsewhere, and sums and products without exact factors stay on the host. A remark on each says why.

# Cost

Linear in the number of layers, tiles and constants, and four rounds of trials of what stays in SRAM.",
    options: &[
        PassOption { name: "target", doc: "Target whose machine is meant", kind: OptionKind::Text("npu") },
        PassOption {
            name: "allow-steps",
            doc: "Compile sums and products whose result is a step from that of the reference for some pairs of bytes",
            kind: OptionKind::Bool(false),
        },
        PassOption {
            name: "weights",
            doc: "Operand of products of two tensors that is the weights: left or right, the cheaper one by default",
            kind: OptionKind::Text(""),
        },
        PassOption {
            name: "mode",
            doc: "Mode of products of elements, such as 8c, 4w4c or 8w4c-by-columns, the cheapest one by default",
            kind: OptionKind::Text(""),
        },
        PassOption {
            name: "without",
            doc: "Technique that is left out, to see its gain",
            kind: OptionKind::Word(
                "nothing",
                &[
                    ("nothing", "the program of the fewest cycles"),
                    ("multiplies", "products of two tensors stay on the host"),
                    ("skewed-rows", "rows of features in SRAM are dense"),
                ],
            ),
        },
    ],
    statistics: &[
        ("num-programs", "Number of programs"),
        ("num-layers", "Number of layers"),
        ("num-instructions", "Number of instructions"),
        ("num-host", "Number of ops that stay on the host"),
    ],
    rewrites: Rewrites::Tags(&[OFFLOAD]),
    stays: "on the host",
    samples: &[
        // With it, bytes are a step from the reference, of which later ops make more.
        ("allow-steps", |_| Vec::new()),
        ("weights", |_| ["left", "right"].map(str::to_owned).into()),
        ("mode", |_| ["8c", "4w4c", "8w4c-by-columns"].map(str::to_owned).into()),
    ],
    floats: |options| match options.bool("allow-steps") {
        true => FloatChange::Quantizes,
        false => FloatChange::None,
    },
    make: |options| {
        let (target, allow_steps) = (options.text("target").to_owned(), options.bool("allow-steps"));
        let weights = match options.text("weights") {
            "" => None,
            "left" => Some(ProductSide::Left),
            "right" => Some(ProductSide::Right),
            other => return Err(format!("weights: left or right, not '{other}'")),
        };
        let mode = match options.text("mode") {
            "" => None,
            text => Some(elementwise_layouts::parse(text).ok_or_else(|| format!("mode: one such as 8c or 4w4c, not '{text}'"))?),
        };
        let without = options.text("without").to_owned();
        Ok(Box::new(GraphToNpu { target, allow_steps, weights, mode, without }))
    },
    ..PassInfo::DEFAULT
};

struct GraphToNpu {
    target: String,
    /// Whether sums and products may be a step from the reference.
    allow_steps: bool,
    /// The operand of products that is the weights, `None` for the cheaper one.
    weights: Option<ProductSide>,
    /// The layout of products of elements, `None` for the cheapest one.
    mode: Option<elementwise_layouts::Layout>,
    /// The technique that is left out.
    without: String,
}

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    OPS.iter().copied()
}

impl Pass for GraphToNpu {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let machine = machine_of(m, root, &self.target, NpuMachine::of)?;
        let setting = Setting {
            machine: &machine,
            allow_steps: self.allow_steps,
            weights: self.weights,
            mode: self.mode,
            pads_rows: self.without != "skewed-rows",
        };
        offload(m, root, &NpuOffload { setting, multiplies: self.without != "multiplies" }, cx)
    }
}

/// The npu as a pass uses it.
struct NpuOffload<'a> {
    setting: Setting<'a>,
    /// Whether it computes products of two tensors.
    multiplies: bool,
}

impl Accelerator for NpuOffload<'_> {
    type Program = (Read, CompiledNetwork);

    const PREFIX: &'static str = "npu";

    fn check(&self, m: &Module, op: Op) -> Result<(), Refusal> {
        match !self.multiplies && QLinearMulOp::cast(m, op).is_some() {
            true => Err("products of two tensors are left out".into()),
            false => read::check(m, op),
        }
    }

    fn compile(&self, m: &Module, levels: &[Level], _: &mut PassContext<'_>) -> Programs<Self::Program> {
        let read: Vec<Read> =
            levels.iter().map(|level| read_level(m, &self.setting, level)).collect::<Result<_, _>>()?;
        let compile = |(read, level): (Read, &Level)| {
            let program = compile(&read.net, self.setting.machine).map_err(|refusal| (level.machine[0], refusal))?;
            Ok((read, program))
        };
        read.into_iter().zip(levels).map(compile).collect()
    }

    fn report(&self, m: &Module, _: &Level, (read, program): &Self::Program, cx: &mut PassContext<'_>) {
        for (op, pairs) in &read.steps {
            let what = m.name_text(*op);
            let why = format!("'{what}' is a step from the reference for {pairs} of 65,536 pairs of bytes");
            cx.emit(Diagnostic::remark(m.loc(*op), why));
        }
        cx.count("num-layers", read.net.layers.len() as u64);
        cx.count("num-instructions", program.instructions.len() as u64);
    }

    fn define(&self, b: &mut Builder<'_>, name: &str, level: &Level, (read, program): &Self::Program) -> Option<()> {
        let places = |id: FeatureId| program.steps.ddr[id].map(|at| at as i64);
        let operands = read.operands.iter().map(|&(_, id, _)| places(id)).collect::<Option<Vec<i64>>>()?;
        let results = read.results.iter().map(|&id| places(id)).collect::<Option<Vec<i64>>>()?;
        let loc = b.module.loc(level.machine[0]);
        let constants = Tensor::new(DType::U8, vec![program.constants.len()], program.constants.clone().into()).ok()?;
        let new = npu::NewProgram {
            name,
            machine: self.setting.machine,
            instructions: &program.instructions,
            constants: &constants,
            ddr_bytes: program.steps.ddr_bytes as i64,
            operands: &operands,
            results: &results,
            bubbles: read.net.bubbles_dropped(self.setting.machine),
        };
        new.build(b, loc);
        Some(())
    }

    fn call(
        &self,
        e: &mut Emitter<'_, '_>,
        callee: Attr,
        (read, _): &Self::Program,
        renamed: &FxHashMap<Value, Value>,
    ) -> Option<Vec<(Value, Value)>> {
        let mut values = Vec::new();
        for &(value, id, packing) in &read.operands {
            let value = *renamed.get(&value).unwrap_or(&value);
            values.push(host::pack(e, value, &read.net.features[id], packing)?);
        }
        let of_result = |id: usize| {
            let (old, _, view) = read.values.iter().find(|(_, i, _)| read.results[*i] == id)?;
            Some(host::Result { feature: &read.net.features[id], value: *old, view })
        };
        let packed = read.results.iter().map(|&id| of_result(id)?.packed_type(e.m()));
        let types = packed.collect::<Option<Vec<_>>>()?;
        let call = e.op("npu.call", &[&values], &[("callee", callee)], &types)?;
        let results: Vec<Value> = e.m().results(call).collect();
        let new = read.values.iter().map(|(old, i, view)| {
            let first = of_result(read.results[*i])?;
            Some((*old, first.unpack(e, results[*i], *old, view)?))
        });
        new.collect()
    }
}

/// Reads the ops of a level.
fn read_level(m: &Module, setting: &Setting<'_>, level: &Level) -> Result<Read, (Op, Refusal)> {
    let ops: FxHashSet<Op> = level.machine.iter().copied().collect();
    let mut reader = Reader::new(m, setting, &ops);
    for &op in &level.machine {
        reader.read(op).map_err(|refusal| (op, refusal))?;
    }
    for (op, value) in level.machine.iter().flat_map(|&op| m.results(op).map(move |value| (op, value))) {
        if m.uses(value).any(|(user, _)| !ops.contains(&user)) {
            reader.result(value, op).map_err(|refusal| (op, refusal))?;
        }
    }
    Ok(reader.finish())
}
