//! `convert-graph-to-npu`: compiles networks of bytes to programs of the npu.
//!
//! | file | contents |
//! |---|---|
//! | `read.rs`, `conv.rs`, `matrix.rs`, `binary.rs`, `view.rs` | ops as layers, values as views of features |
//! | `parts.rs`, `pool.rs`, `bands.rs` | boxes of features; maxima as layers, of large features by bands of rows |
//! | `network.rs`, `scale.rs` | layers and features, and factors that equal the floats of the reference |
//! | `elementwise_layouts.rs`, `row_padding.rs` | the layouts of products of elements; padding between rows |
//! | `host.rs` | layouts of operands and results on the host |
//! | `shape.rs`, `tiling.rs` | the tiles of a layer and the bytes that they take; their choice |
//! | `price.rs`, `timeline.rs`, `estimate.rs` | cycles of instructions, of steps, and of layers |
//! | `cascade.rs` | layers that take turns |
//! | `residency.rs` | the features that stay in SRAM, which layers take turns, offsets |
//! | `steps.rs` | tiles in order, with the buffers that they stream |
//! | `placement.rs`, `reservations.rs`, `slot_times.rs` | the places of these buffers, and the times of loads |
//! | `schedule_ops.rs`, `schedule_check.rs` | steps as ops, and whether given ones are possible |
//! | `emit.rs`, `extent.rs`, `order.rs` | instructions, the bytes that they access, and the tokens that order them |
//! | `given.rs` | choices as attributes, and whether given ones are possible |
//! | `weight_mode.rs`, `weight_layout.rs` | the modes of constant weights, and their bytes with taps for zero points |
//! | `constants.rs` | the image of the constants |
//! | `moves.rs` | copies of features as slices of the mover |
//! | `program.rs` | all of these in order |

mod bands;
mod binary;
mod cascade;
mod constants;
mod conv;
mod elementwise_layouts;
mod emit;
mod estimate;
mod extent;
mod given;
mod host;
mod matrix;
mod moves;
mod network;
mod order;
mod parts;
mod placement;
mod pool;
mod price;
mod program;
mod read;
mod reservations;
mod residency;
mod row_padding;
mod scale;
mod schedule_check;
mod schedule_ops;
mod shape;
mod slot_times;
mod steps;
#[cfg(test)]
mod tests;
mod tiling;
mod timeline;
mod view;
mod weight_layout;
mod weight_mode;

use crate::emit::Emitter;
use crate::layers::{
    self, Accelerator, ChoiceOptions, Comparison, LayerChoices, LayerFigures, LayerOptions, OFFLOAD, ProgramOps, Road,
    machine_of,
};
use elementwise_layouts::Layout;
pub use extent::{Extent, Space, extents};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{
    Attr, Block, Builder, DType, Diagnostic, Loc, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, Refusal,
    Tensor, Value, Violation,
};
use gradus_machines::npu;
use gradus_networks::graph::{QLinearConvOp, QLinearMulOp};
use gradus_simulators::npu::{NpuMachine, Simulator, Unit};
use network::{FeatureId, Layer, ProductSide};
use program::{CompiledNetwork, NotPossible, compile};
use read::{OPS, Read, Reader, Setting};
use rustc_hash::{FxHashMap, FxHashSet};
use schedule_ops::ScheduleOps;
use weight_mode::WeightMode;

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

Convolutions, also of groups, depthwise convolutions, matrix products, sums, products, tables, pools of maxima, paddings, resampling to the
nearest elements, slices and concatenations of quantized tensors of images or of sequences become layers of a program, an op of the host
between them begins another program. The rows of the images of a batch follow each other in one feature; layers whose windows have several
taps compute an image each. Sums and tables are computed at the store of the convolution before them. Requantization of convolutions is exact. A sum or product gets integer factors
that give the bytes of the reference for all pairs of operands; if there are none, a summand that is a constant for each channel becomes
a table, and others stay on the host or, with `allow-steps`, get the nearest factors.

A multiply is a depthwise convolution whose kernels are the other operand: of its channels, or, after a reshape of both to
`1 x 1 x H*W*C`, of its elements. So is a convolution whose kernels are computed, a number for each channel. Both have the same layout then: the `mode` of the fewest cycles, if nothing else reads them, otherwise
layers copy what differs into the layout that costs least. In a matrix product of two tensors one is weights where it is, since the
bytes of its feature are those of the mode 8K8D or of its transpose: the operand that keeps more of the array busy, or the one that
`weights` names. Reshapes and transpositions are views of features: heads of a transformer are ranges of channels.

In SRAM rows are padded where positions of neighbouring rows, which the array reads in one cycle, would be in one bank; the distance of rows
is a field of the instructions.

A maximum is `max(a, b) = a + max(b - a, 0)`: a depthwise convolution with the weights -1 and 1, which the pipe clamps, and a sum. Windows
are divided into rows and columns, along which maxima of 2, 4, ... neighbours are computed, or one after the other, whichever is less work: a
value takes the pipe a sixteenth of a cycle, and the host several cycles for each tap. An image that does not fit into SRAM is pooled by
bands of rows. If one layer, or those of a concatenation, write it for the pool alone, they compute each band just before, so that it never
goes to DDR. Concatenations, slices and resampled images are boxes of features, which one layer writes and others read, with rows and
columns at a distance.

Constant weights have the mode of the multipliers, or one of fewer bytes that takes fewer cycles: 8K8D, 2K4C, 8W4C, 4W4C, 2W or 4W.
A multiplier of 8 bits does not subtract the zero point of weights: taps of constant weight do, as convolutions into the same accumulators.
A layer that copies bytes may be moves of slices instead, which leave padding behind and run beside the array.

Each layer is divided into tiles of rows and kernels that fit into half of the accumulators. Rows or kernels are the outer loop, and the
inner one goes back and forth where it would load something again. Features stay in SRAM as long as they fit; others are streamed in
tiles, and layers that follow each other may take turns by tiles, so that what is between them is never stored; rows that the windows of
two tiles read are computed for both. These choices minimize estimated cycles, of which a recurrence over the tiles is the source; the planner assigns
the offsets. Constants and tiles are loaded as early as memory allows, but not so early that they block a queue. Tokens order the units
by the bytes that instructions access. Of the programs by several weighings of the estimates the fastest is taken, by their cycles
without values.

# Refuses

Other ops and types, windows of several taps on batches of images of one pixel, more than 64 groups, parameters that are not constant,
reshapes that cut an axis elsewhere, slices and concatenations along an axis that is an inner part of an axis of the feature, such as the
rows of a batch, and sums and products without exact factors stay on the host. A remark on each says why.

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
            doc: "Mode of products of elements, such as 8c, 4w4c or 8w4c-by-columns, or of constant weights, such as 8k8d, 2k4d, 8w4d or 2w, the \
                  cheapest one by default",
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
        ("mode", |_| ["8c", "4w4c", "8w4c-by-columns", "2k4d"].map(str::to_owned).into()),
    ],
    floats: |options| match options.bool("allow-steps") {
        true => FloatChange::Quantizes,
        false => FloatChange::None,
    },
    make: |options| {
        Road::of::<NpuLayers>().check_target(options.text("target"))?;
        let [weights, mode] = ["weights", "mode"].map(|name| options.text(name).to_owned());
        let forced = ChoiceOptions { weights, mode, ..ChoiceOptions::default() };
        check_forced(&forced)?;
        let without = match options.text("without") {
            "nothing" => String::new(),
            technique => technique.to_owned(),
        };
        let options = LayerOptions { allow_steps: options.bool("allow-steps"), without, ..LayerOptions::default() };
        Ok(Box::new(GraphToNpu { options, forced }))
    },
    ..PassInfo::DEFAULT
};

struct GraphToNpu {
    options: LayerOptions,
    forced: ChoiceOptions,
}

/// Whether the machine computes an op, with its operands, by a program of its own.
pub fn computes(m: &Module, op: Op) -> bool {
    layers::computes::<NpuLayers>(m, op)
}

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    OPS.iter().copied()
}

/// Checks the options of choices.
///
/// # Errors
/// A text that is no operand, or no mode.
pub(crate) fn check_forced(forced: &ChoiceOptions) -> Result<(), String> {
    if !["", "left", "right"].contains(&forced.weights.as_str()) {
        return Err(format!("weights: left or right, not '{}'", forced.weights));
    }
    let mode = &forced.mode[..];
    let is_mode = mode.is_empty() || elementwise_layouts::parse(mode).is_some() || WeightMode::parse(mode).is_some();
    is_mode.then_some(()).ok_or_else(|| format!("mode: one such as 8c, 4w4c or 2k4d, not '{mode}'"))
}

impl Pass for GraphToNpu {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        Road::of::<NpuLayers>().whole(m, root, (&self.options, &self.forced), cx)
    }
}

/// The npu as passes on layers use it.
pub(crate) struct NpuLayers {
    machine: NpuMachine,
    /// Whether sums and products may be a step from the reference.
    allow_steps: bool,
    /// Whether it computes products of two tensors.
    multiplies: bool,
    /// Whether rows of features in SRAM are padded.
    pads_rows: bool,
    /// The operand of products that is the weights, `None` for the cheaper one.
    weights: Option<ProductSide>,
    /// The mode of products of elements, `None` for the cheapest one.
    mode: Option<Layout>,
    /// The mode of constant weights, `None` for the cheapest one.
    weight_mode: Option<WeightMode>,
}

impl Accelerator for NpuLayers {
    type Network = Read;
    type Program = (Read, CompiledNetwork);
    type Steps = ScheduleOps;

    const NAME: &'static str = "npu";
    const COMPARISON: Comparison = Comparison::Layers;

    fn new(m: &Module, root: Op, options: &LayerOptions, forced: &ChoiceOptions) -> Result<Self, Diagnostic> {
        let (mut multiplies, mut pads_rows) = (true, true);
        for technique in options.left_out() {
            let of_technique = match technique {
                "multiplies" => &mut multiplies,
                "skewed-rows" => &mut pads_rows,
                other => return Err(Diagnostic::error(m.loc(root), format!("the npu has no technique '{other}'"))),
            };
            *of_technique = false;
        }
        if options.clusters != 0 {
            return Err(Diagnostic::error(m.loc(root), "the npu has no clusters"));
        }
        let weights = ["left", "right"].into_iter().position(|side| side == forced.weights);
        Ok(NpuLayers {
            machine: machine_of(m, root, Self::NAME, NpuMachine::of)?,
            allow_steps: options.allow_steps,
            multiplies,
            pads_rows,
            weights: weights.map(|side| ProductSide::ALL[side]),
            mode: elementwise_layouts::parse(&forced.mode),
            weight_mode: WeightMode::parse(&forced.mode),
        })
    }

    fn check(&self, m: &Module, op: Op) -> Result<(), Refusal> {
        let is_product = || match QLinearConvOp::cast(m, op) {
            Some(conv) => m.constant(conv.w(m)).is_none(),
            None => QLinearMulOp::cast(m, op).is_some(),
        };
        match !self.multiplies && is_product() {
            true => Err("products of two tensors are left out".into()),
            false => read::check(m, op),
        }
    }

    fn read(&self, m: &Module, ProgramOps { ops, fusion }: ProgramOps<'_>) -> Result<Read, (Op, Refusal)> {
        let setting = Setting {
            machine: &self.machine,
            allow_steps: self.allow_steps,
            weights: self.weights,
            mode: self.mode,
            pads_rows: self.pads_rows,
        };
        let inside: FxHashSet<Op> = ops.iter().copied().collect();
        let mut reader = Reader::new(m, &setting, &inside, fusion);
        for &op in ops {
            reader.read(op).map_err(|refusal| (op, refusal))?;
        }
        for (op, value) in ops.iter().flat_map(|&op| m.results(op).map(move |value| (op, value))) {
            if m.uses(value).any(|(user, _)| !inside.contains(&user)) {
                reader.result(value, op).map_err(|refusal| (op, refusal))?;
            }
        }
        let mut read = reader.finish();
        read.net.weight_mode = self.weight_mode;
        Ok(read)
    }

    fn layers(read: &Read, _: &[Op]) -> Vec<Vec<Op>> {
        read.net.layers.iter().map(|layer| layer.ops.clone()).collect()
    }

    fn explain(&self, m: &Module, read: &Read, cx: &mut PassContext<'_>) {
        for (op, pairs) in &read.steps {
            let what = m.name_text(*op);
            let why = format!("'{what}' is a step from the reference for {pairs} of 65,536 pairs of bytes");
            cx.emit(Diagnostic::remark(m.loc(*op), why));
        }
    }

    fn choose(&self, ops: &[Op], read: Read, _: &mut PassContext<'_>) -> Result<Self::Program, (Op, Refusal)> {
        let program = compile(&read.net, &self.machine).map_err(|refusal| (ops[0], refusal))?;
        Ok((read, program))
    }

    fn compile(
        &self,
        m: &Module,
        ops: &[Op],
        read: Read,
        choices: &LayerChoices,
        steps: Option<ScheduleOps>,
    ) -> Result<Self::Program, (Op, Refusal)> {
        let at = |index: usize| read.net.layers.get(index).and_then(|layer| layer.ops.first()).copied();
        let refused = |(index, refusal): (usize, Refusal)| (at(index).unwrap_or(ops[0]), refusal);
        let planned = choices.program.iter().find_map(|&attr| npu::Planned::from_attr(&m.ctx, attr));
        let planned = planned.unwrap_or_else(program::for_whole_machine);
        let tiles = |(index, &attr): (usize, &Attr)| {
            npu::LayerTiles::from_attr(&m.ctx, attr).ok_or((index, Refusal::from("choices other than '#npu.tiles'")))
        };
        let tiles = choices.layers.iter().enumerate().map(tiles).collect::<Result<Vec<_>, _>>().map_err(refused)?;
        let residency = given::residency_of(&read.net, &tiles).map_err(refused)?;
        let program = program::compile_by(&read.net, &self.machine, planned, residency, steps.as_ref());
        let program = program.map_err(|why| match why {
            NotPossible::Layer(index, refusal) => refused((index, refusal)),
            NotPossible::Step(op, refusal) => (op, refusal),
        })?;
        given::check_read(&tiles, &given::tiles_of(&read.net, &program.residency)).map_err(refused)?;
        Ok((read, program))
    }

    fn read_steps(m: &Module, block: Block) -> Result<ScheduleOps, (Op, Violation)> {
        ScheduleOps::read(m, block)
    }

    fn write_steps(
        &self,
        b: &mut Builder<'_>,
        sources: &[(Loc, Option<Attr>)],
        (_, program): &Self::Program,
        with_places: bool,
    ) {
        schedule_ops::write(b, &program.steps, with_places, sources);
    }

    fn choices(&self, m: &Module, (read, program): &Self::Program) -> LayerChoices {
        let planned = Some(&program.planned).filter(|planned| planned.divisor > 1);
        let tiles = given::tiles_of(&read.net, &program.residency);
        LayerChoices {
            program: planned.map(|planned| planned.to_attr(&m.ctx)).into_iter().collect(),
            layers: tiles.iter().map(|tiles| tiles.to_attr(&m.ctx)).collect(),
        }
    }

    fn figures(&self, m: &Module, (read, program): &Self::Program) -> Vec<LayerFigures> {
        given::figures(&read.net, &self.machine, &program.residency, &|tiles| tiles.to_attr(&m.ctx))
    }

    fn cycles(&self, (_, program): &Self::Program) -> u64 {
        let timed = Simulator::new(self.machine.clone()).time(&program.instructions);
        timed.map_or(0, |counts| counts.cycles)
    }

    fn count(&self, (read, program): &Self::Program, cx: &mut PassContext<'_>) {
        cx.count("num-layers", read.net.layers.len() as u64);
        cx.count("num-instructions", program.instructions.len() as u64);
    }

    fn define(&self, b: &mut Builder<'_>, name: &str, ops: &[Op], (read, program): &Self::Program) -> Option<()> {
        let places = |id: FeatureId| program.steps.ddr[id].map(|at| at as i64);
        let operands = read.operands.iter().map(|&(_, id, _)| places(id)).collect::<Option<Vec<i64>>>()?;
        let results = read.results.iter().map(|&id| places(id)).collect::<Option<Vec<i64>>>()?;
        let loc = b.module.loc(ops[0]);
        let constants = program.constants(&read.net, &self.machine);
        let constants = Tensor::new(DType::U8, vec![constants.len()], constants.into()).ok()?;
        let new = npu::NewProgram {
            name,
            machine: &self.machine,
            instructions: &program.instructions,
            constants: &constants,
            ddr_bytes: program.steps.ddr_bytes as i64,
            operands: &operands,
            results: &results,
            bubbles: read.net.bubbles_dropped(&self.machine),
            repeated: program.repeated(&read.net, &self.machine),
        };
        let defined = new.build(b, loc);
        let layers = emit::layers_of_units(&read.net, &program.residency, &program.steps, &self.machine);
        locate(b.module, defined, layers, &read.net.layers);
        Some(())
    }

    fn call(&self, e: &mut Emitter<'_, '_>, callee: Attr, (read, _): &Self::Program) -> Option<Vec<(Value, Value)>> {
        let mut values = Vec::new();
        for &(value, id, packing) in &read.operands {
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

/// Gives the instructions of array, pipe and mover the locations of the ops of their layers. `layers`: by unit, in order.
fn locate(m: &mut Module, program: Op, layers: FxHashMap<Unit, Vec<usize>>, all: &[Layer]) {
    let locs: Vec<Option<Loc>> = all.iter().map(|layer| layer.ops.first().map(|&op| m.loc(op))).collect();
    let mut layers: FxHashMap<Unit, _> = layers.into_iter().map(|(unit, of)| (unit, of.into_iter())).collect();
    for inst in m.ops_under(program) {
        let unit = npu::instruction(m, inst).ok().and_then(|inst| inst.unit());
        let layer = unit.and_then(|unit| layers.get_mut(&unit)?.next());
        if let Some(loc) = layer.and_then(|layer| locs[layer]) {
            m.set_loc(inst, loc);
        }
    }
}
