//! `convert-graph-to-cluster`: compiles networks to programs of a processor of clusters.
//!
//! | file | contents |
//! |---|---|
//! | `read.rs`, `read/` | ops as layers with stages; concatenations, slices and shuffles as parts of features |
//! | `network.rs`, `region.rs` | layers and features; the boxes that layers read and write |
//! | `split.rs`, `choose.rs` | divisions of a layer among clusters, and their choice by cost |
//! | `schedule.rs`, `fit.rs` | steps, tiles, features in memories; features that go to DDR |
//! | `memory.rs`, `image.rs` | offsets in the memories of clusters and in DDR, prefetch |
//! | `emit.rs`, `upsample.rs`, `sync.rs` | records, and the events that order them |
//! | `given.rs` | choices as attributes, and whether given ones are possible |
//! | `schedule_ops.rs`, `schedule_check.rs` | schedules as ops, and whether given ones are possible |
//! | `search.rs`, `compile.rs` | candidates of choices, which are compiled and timed; the fastest remains |

mod choose;
mod compile;
mod emit;
mod fit;
mod given;
mod image;
mod memory;
mod network;
mod read;
mod region;
mod schedule;
mod schedule_check;
mod schedule_ops;
mod search;
mod split;
mod sync;
#[cfg(test)]
mod tests;
mod upsample;

use crate::emit::Emitter;
use crate::layers::{
    self, Accelerator, ChoiceOptions, Comparison, LayerChoices, LayerFigures, LayerOptions, OFFLOAD, ProgramOps, Road,
    machine_of,
};
use compile::{Compiled, Settings, compile_by, compile_schedule};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{
    Attr, Block, Builder, Diagnostic, Loc, Module, Op, OpInfo, Pass, PassContext, PassInfo, Refusal, Value, Violation,
};
use gradus_machines::cluster;
use gradus_simulators::cluster::ClusterMachine;
use image::constants;
use network::{Layer, Network, Role};
use read::{OPS, Reader};
use rustc_hash::FxHashSet;
use schedule_ops::ScheduleOps;
use search::{RejectedDivisions, compile};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-graph-to-cluster",
    doc: "Compile networks to programs of a processor of clusters

# Before / After

```mlir
%0 = graph.conv %x, %w, %b ... : (tensor<1x16x8x8xf32>, ...) -> tensor<1x32x8x8xf32>
%1 = graph.relu %0 : tensor<1x32x8x8xf32>                               // becomes:

%1 = cluster.call @cluster0(%x) : (tensor<1x16x8x8xf32>) -> tensor<1x32x8x8xf32>
cluster.program @cluster0 ...
```

# Does

Convolutions, products with constant matrices, pools, means of images, resampling to the nearest elements by integer factors,
normalizations and elementwise ops of one image become layers of a program; an op of the host between them begins another program. Elementwise ops are stages of the layer before them: activations, batch normalizations,
residual sums, requantization. Padding is part of a convolution's window; without one after
it, it is a convolution of each channel by 1. Producers write their part of a concatenation, consumers read
their slice, and the producers of shuffled channels write them at their distance, so that nothing is copied.

Each layer is divided among all clusters, or fewer: by rows, columns, channels, or by two of them, so that the estimated cycles of the slowest
cluster and of the exchange with its neighbours in the network are least. Constants are read from DDR once, by multicast to all clusters
that need them, in slices of at most `slice` bytes (machine description), and as early as memory allows. A cluster sends what it has computed to
the clusters that read it. Events are placed where an access must follow another one and nothing orders them yet.

Where features do not fit into the memories of the clusters they go to DDR, and layers are executed by tiles of rows; neighbouring layers
with tiles are executed depth first if that is faster. Candidates of these choices are compiled and timed; the fastest remains.

# Refuses

Other ops and types, batches of images (except bytes of one pixel), weights that are not constant, and layers for which the memory of a cluster is too small stay on the host.
A remark on each says why.

# Cost

Some ten to four hundred candidates, fewer for larger programs, each linear in the number of layers, slices and tiles, and quadratic in the
number of clusters.",
    options: &[
        PassOption { name: "target", doc: "Target whose machine is meant", kind: OptionKind::Text("cluster") },
        PassOption {
            name: "clusters",
            doc: "Number of clusters of the sub-device; 0 for all of the machine",
            kind: OptionKind::Int(0),
        },
        PassOption {
            name: "without",
            doc: "Optimizations to leave out, separated by commas: fusion, in-place, divisions, prefetch, multicast, streaming, cascades",
            kind: OptionKind::Text(""),
        },
    ],
    statistics: &[
        ("num-programs", "Number of programs"),
        ("num-layers", "Number of layers"),
        ("num-records", "Number of records of all clusters"),
        ("num-candidates", "Number of candidates that were timed"),
        ("num-host", "Number of ops that stay on the host"),
    ],
    rewrites: Rewrites::Tags(&[OFFLOAD]),
    stays: "on the host",
    samples: &[
        ("without", |_| Settings::default().names().map(|(name, _)| name.to_owned()).into()),
    ],
    floats: |_| FloatChange::Reorders,
    make: |options| {
        Road::of::<ClusterLayers>().check_target(options.text("target"))?;
        let (clusters, without) = (options.int("clusters"), options.text("without").to_owned());
        let options = LayerOptions { clusters, without, ..LayerOptions::default() };
        Settings::without(&options)?;
        Ok(Box::new(GraphToCluster { options }))
    },
    ..PassInfo::DEFAULT
};

struct GraphToCluster {
    options: LayerOptions,
}

/// Whether the machine computes an op, with its operands, by a program of its own.
pub fn computes(m: &Module, op: Op) -> bool {
    layers::computes::<ClusterLayers>(m, op)
}

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    OPS.iter().copied()
}

impl Pass for GraphToCluster {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        Road::of::<ClusterLayers>().whole(m, root, (&self.options, &ChoiceOptions::default()), cx)
    }
}

/// The clusters as passes on layers use them.
pub(crate) struct ClusterLayers {
    machine: ClusterMachine,
    settings: Settings,
}

/// The ops of a program as layers, with the values that it reads and computes.
pub(crate) struct ReadProgram {
    net: Network,
    operands: Vec<Value>,
    results: Vec<Value>,
}

/// A compiled program with its layers.
pub(crate) struct CompiledLayers {
    read: ReadProgram,
    compiled: Compiled,
    /// Empty for given choices.
    rejected: RejectedDivisions,
}

impl Accelerator for ClusterLayers {
    type Network = ReadProgram;
    type Program = CompiledLayers;
    type Steps = ScheduleOps;

    const NAME: &'static str = "cluster";
    const COMPARISON: Comparison = Comparison::Programs;

    fn new(m: &Module, root: Op, options: &LayerOptions, _: &ChoiceOptions) -> Result<Self, Diagnostic> {
        let mut machine = machine_of(m, root, Self::NAME, ClusterMachine::of)?;
        let error = |message: String| Diagnostic::error(m.loc(root), message);
        if options.clusters != 0 {
            let all = machine.clusters;
            let clusters = u32::try_from(options.clusters).ok().filter(|n| (1..=all).contains(n));
            machine.clusters = clusters.ok_or_else(|| error(format!("the machine has 1 to {all} clusters")))?;
        }
        if options.allow_steps {
            return Err(error("the clusters compute sums and products exactly, without steps".into()));
        }
        Ok(ClusterLayers { machine, settings: Settings::without(options).map_err(error)? })
    }

    fn check(&self, m: &Module, op: Op) -> Result<(), Refusal> {
        read::check(m, op)
    }

    fn read(&self, m: &Module, ProgramOps { ops, fusion }: ProgramOps<'_>) -> Result<ReadProgram, (Op, Refusal)> {
        let inside: FxHashSet<Op> = ops.iter().copied().collect();
        let kept = |value: Value| m.uses(value).any(|(user, _)| !inside.contains(&user));
        let may_fuse = |a: usize, b: usize| fusion.may_fuse(ops[a], ops[b]);
        let mut reader = Reader::new(m, self.settings, &kept, &may_fuse);
        let mut operands = Vec::new();
        for &op in ops {
            for &value in m.operands(op) {
                let is_inner = m.defining_op(value).is_some_and(|op| inside.contains(&op));
                if is_inner || reader.features.contains_key(&value) || m.constant(value).is_some() {
                    continue;
                }
                if let Ok(id) = reader.feature(value, Role::Operand(operands.len())) {
                    reader.features.insert(value, id);
                    operands.push(value);
                }
            }
            reader.read(op).map_err(|refusal| (op, refusal))?;
        }
        let mut results = Vec::new();
        for (source, &op) in ops.iter().enumerate() {
            for value in m.results(op).filter(|&v| kept(v)) {
                reader.result(value, results.len(), (source, op)).map_err(|refusal| (op, refusal))?;
                results.push(value);
            }
        }
        let net = reader.finish();
        if net.layers.iter().all(Layer::is_copy) {
            return Err((ops[0], "a program that computes nothing".into()));
        }
        Ok(ReadProgram { net, operands, results })
    }

    fn layers(read: &ReadProgram, ops: &[Op]) -> Vec<Vec<Op>> {
        read.net.layers.iter().map(|layer| layer.sources.iter().map(|&source| ops[source]).collect()).collect()
    }

    fn choose(&self, ops: &[Op], read: ReadProgram, cx: &mut PassContext<'_>) -> Result<Self::Program, (Op, Refusal)> {
        let compiled = compile(&read.net, &self.machine, self.settings, &mut |n| cx.progress("candidates", n));
        let (compiled, rejected) = compiled.map_err(|(source, refusal)| (ops[source], refusal))?;
        cx.count("num-candidates", compiled.candidates.len() as u64);
        Ok(CompiledLayers { read, compiled, rejected })
    }

    fn compile(
        &self,
        m: &Module,
        ops: &[Op],
        read: ReadProgram,
        choices: &LayerChoices,
        steps: Option<ScheduleOps>,
    ) -> Result<Self::Program, (Op, Refusal)> {
        let refused = |(layer, refusal): (usize, Refusal)| (ops[read.net.layers[layer].source()], refusal);
        let split = |(layer, &attr): (usize, &Attr)| {
            cluster::LayerSplit::from_attr(&m.ctx, attr)
                .ok_or((layer, Refusal::from("choices other than '#cluster.split'")))
        };
        let splits = choices.layers.iter().enumerate().map(split).collect::<Result<Vec<_>, _>>().map_err(refused)?;
        let reads = choices.program.iter().find_map(|&attr| cluster::Reads::from_attr(&m.ctx, attr));
        let reads = reads.unwrap_or_else(|| given::default_reads(&self.machine));
        let (given, effort) = given::choices_of(&read.net, &self.machine, &splits, reads).map_err(refused)?;
        let compiled = match steps {
            None => compile_by(&read.net, &self.machine, self.settings, given, effort),
            Some(steps) => {
                let schedule = steps.check(&read.net, &self.machine, &given)?;
                compile_schedule(&read.net, &self.machine, self.settings, (given, effort), schedule)
            }
        };
        let compiled = compiled.map_err(|(source, refusal)| (ops[source], refusal))?;
        Ok(CompiledLayers { read, compiled, rejected: Vec::new() })
    }

    fn read_steps(m: &Module, block: Block) -> Result<ScheduleOps, (Op, Violation)> {
        schedule_ops::read(m, block)
    }

    fn write_steps(
        &self,
        b: &mut Builder<'_>,
        sources: &[(Loc, Option<Attr>)],
        CompiledLayers { compiled, .. }: &CompiledLayers,
        with_places: bool,
    ) {
        schedule_ops::write(b, &compiled.schedule, with_places.then_some(&compiled.memory), sources);
    }

    fn choices(&self, m: &Module, CompiledLayers { read, compiled, .. }: &CompiledLayers) -> LayerChoices {
        let (splits, reads) = given::splits_of(&read.net, compiled);
        let is_default = reads == given::default_reads(&self.machine);
        LayerChoices {
            program: (!is_default).then(|| reads.to_attr(&m.ctx)).into_iter().collect(),
            layers: splits.iter().map(|split| split.to_attr(&m.ctx)).collect(),
        }
    }

    fn figures(&self, m: &Module, program: &CompiledLayers) -> Vec<LayerFigures> {
        let CompiledLayers { read, compiled, rejected } = program;
        given::figures(&read.net, &self.machine, (compiled, rejected), &|split| split.to_attr(&m.ctx))
    }

    fn cycles(&self, program: &CompiledLayers) -> u64 {
        program.compiled.estimate.cycles
    }

    fn report(&self, m: &Module, op: Op, program: &CompiledLayers, cx: &mut PassContext<'_>) {
        let CompiledLayers { read, compiled, .. } = program;
        let best = compiled.estimate.cycles;
        let (tiled, spilled) = (compiled.choices.groups.iter().filter(|g| g.tiles > 1), compiled.choices.in_ddr.iter());
        let cycles = |cycles: Option<u64>| cycles.map_or("too large".to_owned(), |n| n.to_string());
        let candidates = compiled.candidates.iter().map(|(name, n)| format!("{name}: {}", cycles(*n)));
        let text = format!(
            "{} layers in {} steps take about {best} cycles, bound {}; {} groups of layers are executed by tiles, {} features go to DDR; \
             {} bytes of a cluster are used, {} are live at once; candidates, with their cycles: {}",
            read.net.layers.len(),
            compiled.schedule.steps.len(),
            compiled.estimate.bound(),
            tiled.count(),
            spilled.filter(|in_ddr| **in_ddr).count(),
            compiled.memory.peak,
            compiled.memory.lower_bound,
            candidates.collect::<Vec<_>>().join("; "),
        );
        cx.emit(Diagnostic::remark(m.loc(op), text));
    }

    fn count(&self, CompiledLayers { read, compiled, .. }: &CompiledLayers, cx: &mut PassContext<'_>) {
        cx.count("num-layers", read.net.layers.len() as u64);
        cx.count("num-records", compiled.program.records.iter().map(|records| records.len() as u64).sum());
    }

    fn define(&self, b: &mut Builder<'_>, name: &str, ops: &[Op], program: &CompiledLayers) -> Option<()> {
        let CompiledLayers { read, compiled, .. } = program;
        let (loc, mut code) = (b.module.loc(ops[0]), compiled.program.clone());
        code.constants = constants(&read.net, &compiled.schedule, &compiled.image);
        // A compute record has the location of its op.
        let locations: Vec<Loc> = compiled.sources.iter().map(|&source| b.module.loc(ops[source])).collect();
        let location = |cluster: usize, index: usize| {
            let task = code.records[cluster][index].task();
            task.and_then(|task| locations.get(task as usize)).copied().unwrap_or(loc)
        };
        cluster::NewProgram { name, machine: &self.machine, code: &code }.build_with(b, loc, location);
        Some(())
    }

    fn call(&self, e: &mut Emitter<'_, '_>, callee: Attr, program: &CompiledLayers) -> Option<Vec<(Value, Value)>> {
        let read = &program.read;
        let types: Vec<_> = read.results.iter().map(|&v| e.m().value_type(v)).collect();
        let call = e.op("cluster.call", &[&read.operands], &[("callee", callee)], &types)?;
        Some(read.results.iter().copied().zip(e.m().results(call)).collect())
    }
}
