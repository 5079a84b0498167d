//! `convert-graph-to-cluster`: compiles networks to programs of a processor of clusters.
//!
//! | file | contents |
//! |---|---|
//! | `read.rs`, `read/` | ops as layers with stages; concatenations, slices and shuffles as parts of features |
//! | `network.rs`, `region.rs` | layers and features; the boxes that layers read and write |
//! | `split.rs`, `choose.rs` | divisions of a layer among clusters, and their choice by cost |
//! | `schedule.rs`, `fit.rs` | steps, tiles, features in memories; features that go to DDR |
//! | `memory.rs`, `image.rs` | offsets in the memories of clusters and in DDR, prefetch |
//! | `emit.rs`, `sync.rs` | records, and the events that order them |
//! | `search.rs`, `compile.rs` | candidates of choices, which are compiled and timed; the fastest remains |

mod choose;
mod compile;
mod emit;
mod fit;
mod image;
mod memory;
mod network;
mod read;
mod region;
mod schedule;
mod search;
mod split;
mod sync;
#[cfg(test)]
mod tests;

use crate::emit::Emitter;
use crate::offload::{Accelerator, Level, OFFLOAD, Programs, machine_of, offload};
use compile::{Compiled, Settings};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{Attr, Builder, Diagnostic, Loc, Module, Op, OpInfo, Pass, PassContext, PassInfo, Refusal, Value};
use gradus_machines::cluster;
use gradus_simulators::cluster::ClusterMachine;
use network::{Layer, Role};
use read::{OPS, Reader};
use rustc_hash::{FxHashMap, FxHashSet};
use search::compile;

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

Convolutions, products with constant matrices, pools, normalizations and elementwise ops of one image become layers of a program; an op
of the host between them begins another program. Elementwise ops are stages of the layer before them: activations, batch normalizations,
residual sums, requantization. Padding is part of a convolution's window. Producers write their part of a concatenation, consumers read
their slice, and the producers of shuffled channels write them at their distance, so that nothing is copied.

Each layer is divided among all clusters, or fewer: by rows, columns, channels, or by two of them, so that the estimated cycles of the slowest
cluster and of the exchange with its neighbours in the network are least. Constants are read from DDR once, by multicast to all clusters
that need them, in slices of at most `slice` bytes (machine description), and as early as memory allows. A cluster sends what it has computed to
the clusters that read it. Events are placed where an access must follow another one and nothing orders them yet.

Where features do not fit into the memories of the clusters they go to DDR, and layers are executed by tiles of rows; neighbouring layers
with tiles are executed depth first if that is faster. Candidates of these choices are compiled and timed; the fastest remains.

# Refuses

Other ops and types, batches, weights that are not constant, and layers for which the memory of a cluster is too small stay on the host.
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
        let mut settings = Settings::default();
        for without in options.text("without").split(',').filter(|name| !name.is_empty()) {
            let found = settings.names().into_iter().find(|(name, _)| *name == without).map(|(_, setting)| *setting = false);
            found.ok_or_else(|| format!("there is no optimization '{without}'"))?;
        }
        let (target, clusters) = (options.text("target").to_owned(), options.int("clusters"));
        Ok(Box::new(GraphToCluster { target, clusters, settings }))
    },
    ..PassInfo::DEFAULT
};

struct GraphToCluster {
    target: String,
    clusters: i64,
    settings: Settings,
}

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    OPS.iter().copied()
}

impl Pass for GraphToCluster {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let mut machine = machine_of(m, root, &self.target, ClusterMachine::of)?;
        if self.clusters != 0 {
            let all = machine.clusters;
            let clusters = u32::try_from(self.clusters).ok().filter(|n| (1..=all).contains(n));
            let message = || Diagnostic::error(m.loc(root), format!("the machine has 1 to {all} clusters"));
            machine.clusters = clusters.ok_or_else(message)?;
        }
        offload(m, root, &ClusterOffload { machine, settings: self.settings }, cx)
    }
}

/// The clusters as a pass uses them.
struct ClusterOffload {
    machine: ClusterMachine,
    settings: Settings,
}

/// A program with the values that it reads and computes.
struct ClusterCall {
    operands: Vec<Value>,
    results: Vec<Value>,
    layers: usize,
    compiled: Compiled,
}

impl Accelerator for ClusterOffload {
    type Program = ClusterCall;

    const PREFIX: &'static str = "cluster";

    fn check(&self, m: &Module, op: Op) -> Result<(), Refusal> {
        read::check(m, op)
    }

    fn compile(&self, m: &Module, levels: &[Level], cx: &mut PassContext<'_>) -> Programs<ClusterCall> {
        levels.iter().map(|level| compile_level(m, level, self, &mut |n| cx.progress("candidates", n))).collect()
    }

    fn report(&self, m: &Module, level: &Level, program: &ClusterCall, cx: &mut PassContext<'_>) {
        let compiled = &program.compiled;
        cx.count("num-layers", program.layers as u64);
        cx.count("num-records", compiled.program.records.iter().map(|records| records.len() as u64).sum());
        cx.count("num-candidates", compiled.candidates.len() as u64);
        let best = compiled.estimate.cycles;
        let (tiled, spilled) = (compiled.choices.groups.iter().filter(|g| g.tiles > 1), compiled.choices.in_ddr.iter());
        let cycles = |cycles: Option<u64>| cycles.map_or("too large".to_owned(), |n| n.to_string());
        let candidates = compiled.candidates.iter().map(|(name, n)| format!("{name}: {}", cycles(*n)));
        let text = format!(
            "{} layers in {} steps take about {best} cycles, bound {}; {} groups of layers are executed by tiles, {} features go to DDR; \
             {} bytes of a cluster are used, {} are live at once; candidates, with their cycles: {}",
            program.layers,
            compiled.schedule.steps.len(),
            compiled.estimate.bound(),
            tiled.count(),
            spilled.filter(|in_ddr| **in_ddr).count(),
            compiled.memory.peak,
            compiled.memory.lower_bound,
            candidates.collect::<Vec<_>>().join("; "),
        );
        cx.emit(Diagnostic::remark(m.loc(level.machine[0]), text));
    }

    fn define(&self, b: &mut Builder<'_>, name: &str, level: &Level, program: &ClusterCall) -> Option<()> {
        let (loc, code) = (b.module.loc(level.machine[0]), &program.compiled.program);
        // A compute record has the location of its op.
        let sources = program.compiled.sources.iter();
        let locations: Vec<Loc> = sources.map(|&source| b.module.loc(level.machine[source])).collect();
        let location = |cluster: usize, index: usize| {
            let task = code.records[cluster][index].task();
            task.and_then(|task| locations.get(task as usize)).copied().unwrap_or(loc)
        };
        cluster::NewProgram { name, machine: &self.machine, code }.build_with(b, loc, location);
        Some(())
    }

    fn call(
        &self,
        e: &mut Emitter<'_, '_>,
        callee: Attr,
        program: &ClusterCall,
        renamed: &FxHashMap<Value, Value>,
    ) -> Option<Vec<(Value, Value)>> {
        let operands: Vec<Value> = program.operands.iter().map(|v| *renamed.get(v).unwrap_or(v)).collect();
        let types: Vec<_> = program.results.iter().map(|&v| e.m().value_type(v)).collect();
        let call = e.op("cluster.call", &[&operands], &[("callee", callee)], &types)?;
        Some(program.results.iter().copied().zip(e.m().results(call)).collect())
    }
}

/// Compiles a level, or returns an op that the clusters do not compute.
fn compile_level(
    m: &Module,
    level: &Level,
    ClusterOffload { machine, settings }: &ClusterOffload,
    progress: &mut dyn FnMut(u64),
) -> Result<ClusterCall, (Op, Refusal)> {
    let ops: FxHashSet<Op> = level.machine.iter().copied().collect();
    let kept = |value: Value| m.uses(value).any(|(user, _)| !ops.contains(&user));
    let mut reader = Reader::new(m, *settings, &kept);
    let mut operands = Vec::new();
    for &op in &level.machine {
        for &value in m.operands(op) {
            let is_inner = m.defining_op(value).is_some_and(|op| ops.contains(&op));
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
    for (source, &op) in level.machine.iter().enumerate() {
        for value in m.results(op).filter(|&v| kept(v)) {
            reader.result(value, results.len(), (source, op)).map_err(|refusal| (op, refusal))?;
            results.push(value);
        }
    }
    let net = reader.finish();
    let layers = net.layers.len();
    if net.layers.iter().all(Layer::is_copy) {
        return Err((level.machine[0], "a program that computes nothing".into()));
    }
    let compiled = compile(&net, machine, *settings, progress);
    let compiled = compiled.map_err(|(source, refusal)| (level.machine[source], refusal))?;
    Ok(ClusterCall { operands, results, layers, compiled })
}
