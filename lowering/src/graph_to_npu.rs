//! `convert-graph-to-npu`: compiles networks of bytes to programs of the npu.
//!
//! | file | contents |
//! |---|---|
//! | `read.rs`, `scale.rs`, `network.rs` | ops as layers, and factors that equal the floats of the reference |
//! | `shape.rs`, `tiling.rs` | the tiles of a layer and the bytes that they take; their choice |
//! | `price.rs`, `timeline.rs`, `estimate.rs` | cycles of instructions, of steps, and of layers |
//! | `residency.rs` | the features that stay in SRAM, layers that take turns, offsets |
//! | `steps.rs`, `taken.rs`, `pace.rs` | tiles in order, with what they stream, its places and times |
//! | `emit.rs`, `extent.rs`, `order.rs` | instructions, the bytes that they access, and the tokens that order them |
//! | `constants.rs`, `program.rs` | the image of the constants; all of these in order |

mod constants;
mod emit;
mod estimate;
mod extent;
mod machine;
mod network;
mod order;
mod pace;
mod price;
mod program;
mod read;
mod residency;
mod scale;
mod shape;
mod steps;
mod taken;
#[cfg(test)]
mod tests;
mod tiling;
mod timeline;

use crate::emit::Emitter;
use crate::partition::levels;
pub use extent::{Extent, Space, extents};
use gradus_cost::CostModel;
use gradus_dialects::layout::TiledLayout;
use gradus_dialects::npu;
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::symbols::symbol_name;
use gradus_ir::{
    Block, Builder, DType, Diagnostic, Module, Op, OpInfo, Pass, PassContext, PassInfo, Tensor, Traits, Type, Value,
};
use gradus_simulators::npu::Machine;
pub use machine::machine;
use network::{FeatureId, Role};
use program::{Program, compile};
use read::{OPS, Packing, Reader};
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

Convolutions, depthwise convolutions, sums, products, tables and concatenations of quantized tensors of one image become layers of
a program, an op of the host between them begins another program. A multiply is a depthwise convolution whose kernels are the other
operand: of its channels, or, after a reshape of both to `1 x 1 x H*W*C`, of its elements. Sums and tables are computed at the store of
the convolution before them. Requantization of convolutions is exact. A sum or product gets integer factors that give the bytes of the
reference for all pairs of operands; if there are none, it stays on the host or, with `allow-steps`, gets the nearest ones.

Each layer is divided into tiles of rows and kernels that fit into half of the accumulators. Features stay in SRAM as long as
they fit; others are streamed in tiles, and a convolution and a pointwise one after it may take turns by tiles, so that what is between
them is never stored. These choices minimize estimated cycles, of which a recurrence over the tiles is the source; the planner assigns
the offsets. Constants and tiles are loaded as early as memory allows, but not so early that they block a queue. Tokens order the units
by the bytes that instructions access. Of the programs by several weighings of the estimates the fastest is taken, by their cycles
without values.

# Refuses

Other ops and types, batches, grouped convolutions, parameters that are not constant, and sums and products without exact factors
stay on the host, with a remark for ops that the machine could have computed.

# Cost

Linear in the number of layers, tiles and constants, and four rounds of trials of what stays in SRAM.",
    options: &[
        PassOption { name: "target", doc: "Target whose machine is meant", kind: OptionKind::Text("npu") },
        PassOption {
            name: "allow-steps",
            doc: "Compile sums and products whose result is a step from that of the reference for some pairs of bytes",
            kind: OptionKind::Bool(false),
        },
    ],
    statistics: &[
        ("num-programs", "Number of programs"),
        ("num-layers", "Number of layers"),
        ("num-instructions", "Number of instructions"),
        ("num-host", "Number of ops that stay on the host though others like them are compiled"),
    ],
    rounds: |options| options.bool("allow-steps"),
    make: |options| {
        let (target, allow_steps) = (options.text("target").to_owned(), options.bool("allow-steps"));
        Ok(Box::new(GraphToNpu { target, allow_steps }))
    },
    ..PassInfo::DEFAULT
};

struct GraphToNpu {
    target: String,
    /// Whether sums and products may be a step from the reference.
    allow_steps: bool,
}

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    OPS.iter().copied()
}

impl Pass for GraphToNpu {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let fail = |m: &Module, why: String| Diagnostic::error(m.loc(root), why);
        let model = CostModel::named(&m.ctx, &self.target).map_err(|e| fail(m, e.to_string()))?;
        let description = model.machine(&m.ctx).map_err(|e| fail(m, e.to_string()))?;
        let machine = machine(&description).map_err(|e| fail(m, e))?;
        let functions: Vec<Op> =
            m.ops_under(root).into_iter().filter(|&op| m.has_trait(op, Traits::FUNCTION)).collect();
        for function in functions {
            let blocks: Vec<Block> = m.regions(function).iter().flat_map(|&r| m.region_blocks(r)).collect();
            let &[block] = &blocks[..] else { continue };
            self.convert(m, function, block, &machine, cx)?;
        }
        Ok(())
    }
}

impl GraphToNpu {
    /// Compiles the ops of a function.
    fn convert(
        &self,
        m: &mut Module,
        function: Op,
        block: Block,
        machine: &Machine,
        cx: &mut PassContext<'_>,
    ) -> Result<(), Diagnostic> {
        let mut refused = FxHashSet::default();
        let compiled = loop {
            match compile_all(m, block, machine, self.allow_steps, &refused) {
                Ok(compiled) => break compiled,
                Err((op, why)) => {
                    cx.emit(Diagnostic::remark(m.loc(op), format!("'{}' stays on the host: {why}", m.name_text(op))));
                    cx.count("num-host", 1);
                    refused.insert(op);
                }
            }
        };
        let Some(end) = m.terminator(block).filter(|_| !compiled.is_empty()) else { return Ok(()) };
        let mut renamed = FxHashMap::default();
        for level in compiled {
            for (op, pairs) in &level.steps {
                let what = m.name_text(*op);
                let why = format!("'{what}' is a step from the reference for {pairs} of 65,536 pairs of bytes");
                cx.emit(Diagnostic::remark(m.loc(*op), why));
            }
            if !level.ops.is_empty() {
                cx.count("num-programs", 1);
                cx.count("num-layers", level.layers as u64);
                cx.count("num-instructions", level.program.instructions.len() as u64);
                emit(m, function, end, machine, &level, &mut renamed)?;
            }
            level.host.iter().for_each(|&op| m.move_before(op, end));
            level.ops.iter().rev().for_each(|&op| m.erase_op(op));
        }
        Ok(())
    }
}

/// A program of a level with the values that it reads and computes.
struct Compiled {
    ops: Vec<Op>,
    host: Vec<Op>,
    operands: Vec<(Value, FeatureId, Packing)>,
    results: Vec<(Value, FeatureId)>,
    layers: usize,
    /// Ops whose results may be a step from the reference, with the number of pairs of bytes.
    steps: Vec<(Op, usize)>,
    program: Program,
}

/// Compiles the programs of all levels, or returns an op that the machine does not compute.
fn compile_all(
    m: &Module,
    block: Block,
    machine: &Machine,
    allow_steps: bool,
    refused: &FxHashSet<Op>,
) -> Result<Vec<Compiled>, (Op, String)> {
    let mut all = Vec::new();
    for level in levels(m, block, &|op| read::is_candidate(m, op) && !refused.contains(&op)) {
        let ops: FxHashSet<Op> = level.machine.iter().copied().collect();
        let kept = |value: Value| m.uses(value).any(|(user, _)| !ops.contains(&user));
        let mut reader = Reader::new(m, machine, allow_steps, &kept);
        let mut operands = Vec::new();
        for &op in &level.machine {
            for &value in m.operands(op) {
                let is_known = reader.features.contains_key(&value);
                let is_constant = m.constant(value).is_some();
                if is_known || is_constant || read::feature_extents(m, value).is_none() {
                    continue;
                }
                if let Some(id) = reader.feature(value, Role::Operand(operands.len())) {
                    reader.features.insert(value, id);
                    operands.push((value, id));
                }
            }
            reader.read(op).ok_or((op, "the machine does not compute it with these operands".to_owned()))?;
        }
        let values = level.machine.iter().flat_map(|&op| m.results(op));
        let mut results = Vec::new();
        for value in values.filter(|&v| kept(v)).collect::<Vec<_>>() {
            let Some(id) = reader.result(value, results.len()) else { continue };
            results.push((value, id));
        }
        let packing = |value: Value| reader.packings.get(&value).copied().unwrap_or(Packing::Blocks);
        let operands = operands.into_iter().map(|(value, id)| (value, id, packing(value))).collect();
        let steps = std::mem::take(&mut reader.steps);
        let net = reader.finish();
        let program = compile(&net, machine).map_err(|why| (level.machine[0], why))?;
        all.push(Compiled {
            ops: level.machine,
            host: level.host,
            operands,
            results,
            layers: net.layers.len(),
            steps,
            program,
        });
    }
    Ok(all)
}

/// Creates a program and its call. `renamed`: new values of results of earlier programs.
fn emit(
    m: &mut Module,
    function: Op,
    end: Op,
    machine: &Machine,
    level: &Compiled,
    renamed: &mut FxHashMap<Value, Value>,
) -> Result<(), Diagnostic> {
    let first = level.ops[0];
    let fail = |m: &Module| Diagnostic::error(m.loc(first), "the program cannot be created");
    let name = define(m, function, machine, level).ok_or_else(|| fail(m))?;
    let lanes = machine.depth as usize;
    let mut b = Builder::before(m, end);
    let mut e = Emitter::of(&mut b, first);
    let mut call = || {
        let mut values = Vec::new();
        for &(value, _, packing) in &level.operands {
            values.push(pack(&mut e, *renamed.get(&value).unwrap_or(&value), packing, lanes)?);
        }
        let mut types = Vec::new();
        for &(value, _) in &level.results {
            types.push(packed_type(e.m(), value, lanes)?);
        }
        let callee = e.m().ctx.symbol_attr(&name);
        let call = e.op("npu.call", &[&values], &[("callee", callee)], &types)?;
        let results: Vec<Value> = e.m().results(call).collect();
        for (&(old, _), packed) in level.results.iter().zip(results) {
            let ty = e.m().value_type(old);
            let (layout, axes) = layout_of(e.m(), old, lanes)?;
            renamed.insert(old, e.unpack(packed, &layout, axes, ty)?);
        }
        Some(())
    };
    call().ok_or_else(|| fail(m))?;
    for (old, _) in &level.results {
        m.replace_all_uses(*old, renamed[old]);
    }
    Ok(())
}

/// The layout of a feature in DDR and the letters of its axes.
fn layout_of(m: &Module, value: Value, lanes: usize) -> Option<(TiledLayout, &'static str)> {
    let (levels, axes) = match m.ctx.shape(m.value_type(value))?.len() {
        4 => ("NHCW", "NCHW"),
        3 => ("NCW", "NCW"),
        2 => ("NC", "NC"),
        _ => return None,
    };
    Some((format!("{levels}{lanes}c").parse().ok()?, axes))
}

fn packed_type(m: &Module, value: Value, lanes: usize) -> Option<Type> {
    let (layout, axes) = layout_of(m, value, lanes)?;
    let ty = m.value_type(value);
    let extents = layout.extents(axes, m.ctx.shape(ty)?).ok()?;
    Some(m.ctx.tensor_type(&extents, m.ctx.element_type(ty)))
}

/// Lays out an operand.
fn pack(e: &mut Emitter<'_, '_>, value: Value, packing: Packing, lanes: usize) -> Option<Value> {
    let Packing::Rows { pads: [before, after], zero } = packing else {
        let (layout, axes) = layout_of(e.m(), value, lanes)?;
        return e.pack(value, &layout, axes);
    };
    let ty = e.m().value_type(value);
    let (rank, elem) = (e.m().ctx.shape(ty)?.len(), e.m().ctx.element_type(ty));
    let mut list = vec![0_i64; 2 * rank];
    (list[rank - 1], list[2 * rank - 1]) = (before as i64, after as i64);
    let padded = if before + after > 0 {
        let byte = Tensor::new(e.m().ctx.dtype(elem)?, vec![], vec![zero as u8].into()).ok()?;
        let byte = Some(e.constant(&byte, elem)?);
        e.pad(value, &list, byte)?
    } else {
        value
    };
    let (layout, axes) = if rank == 4 { ("NHWC", "NCHW") } else { ("NWC", "NCW") };
    e.pack(padded, &layout.parse().ok()?, axes)
}

/// Defines the program in the symbol table around a function. Returns its name.
fn define(m: &mut Module, function: Op, machine: &Machine, level: &Compiled) -> Option<String> {
    let table = std::iter::successors(m.parent_op(function), |&op| m.parent_op(op))
        .find(|&op| m.has_trait(op, Traits::SYMBOL_TABLE))?;
    let block = m.entry(*m.regions(table).first()?)?;
    let taken: FxHashSet<String> =
        m.block_ops(block).filter_map(|op| Some(m.ctx.text(symbol_name(m, op)?).to_owned())).collect();
    let name = (0..).map(|i| format!("npu{i}")).find(|name| !taken.contains(name))?;
    let places = |id: FeatureId| level.program.steps.ddr[id].map(|at| at as i64);
    let operands = level.operands.iter().map(|&(_, id, _)| places(id)).collect::<Option<Vec<i64>>>()?;
    let results = level.results.iter().map(|&(_, id)| places(id)).collect::<Option<Vec<i64>>>()?;
    let loc = m.loc(level.ops[0]);
    let constants =
        Tensor::new(DType::U8, vec![level.program.constants.len()], level.program.constants.clone().into()).ok()?;
    let mut b = Builder::at_end(m, block);
    let program = npu::NewProgram {
        name: &name,
        machine,
        instructions: &level.program.instructions,
        constants: &constants,
        ddr_bytes: level.program.steps.ddr_bytes as i64,
        operands: &operands,
        results: &results,
    };
    program.build(&mut b, loc);
    Some(name)
}
