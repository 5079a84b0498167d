//! `cpu`: this machine, by kernels. Costs are cycles of a core.

use crate::{Executable, OpTimes, Precision, Signature, Statistic, Stop, Target, TargetError, cpu_probes};
use gradus_cost::{CostModel, Machine, MachineVariant, NEVER, Pricing, machine_numbers, price};
use gradus_dialects::op_cost::{Contraction, Factors, OpCost};
use gradus_ir::diag::Refused;
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, OpDecl, Type};
use gradus_lowering::sparse_to_x64::{BITS, Core, can_generate, has_narrow_vectors};
use gradus_networks::{graph, sparse};
use gradus_runtime::cpu::CompiledFunction;
use gradus_runtime::gemm::bytes::ByteIsa;
use gradus_runtime::workers::Workers;
use std::borrow::Borrow;

/// The declaration of the target. The pipeline merges no ops (`graph-merge`): products with a common operand read it in place, slices
/// of a merged result would be copied, and an elementwise op after a concatenation is fused into no product. Nor does it make depthwise convolutions
/// of multiplies (`mul-as-conv`): they cost more here, and would be most of the e-graph.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: "cpu",
        doc: "this machine: convolutions and matrix products by address tables, on its widest vectors",
        machine: include_str!("../machines/cpu-avx512.toml"),
        variants: &[
            MachineVariant {
                name: "amx",
                description: include_str!("../machines/cpu-amx.toml"),
                is_host: || ByteIsa::best() == ByteIsa::Amx,
            },
            MachineVariant {
                name: "avx2",
                description: include_str!("../machines/cpu-avx2.toml"),
                is_host: has_narrow_vectors,
            },
        ],
        cost: Pricing::Descriptors(|machine| price(Numbers::of(machine), Numbers::cost)),
        ops,
        supports: has_kernel_for_types,
        reference: Some(|machine| price(Numbers::of(machine), Numbers::reference)),
        groups: &[
            "graph-algebra",
            "graph-fuse",
            "graph-merge",
            "sparse",
            "sparse-integer",
            "mul-as-conv",
            "matmul-as-conv",
        ],
        approx: true,
    },
    pipeline: "builtin.module(canonicalize-qdq,quantize-intermediates,convert-qdq-to-integer{products=true},expand-composed-ops,canonicalize,outline-tensor-code,\
               saturate{target=cpu floats=approx rules=graph-algebra,graph-fuse,sparse,sparse-integer,matmul-as-conv},fuse-attention,\
               choose-layouts{target=cpu},divide-images{bands=$bands},overlap-bands,convert-sparse-to-x64,\
               convert-graph-to-addr{target=cpu winograd-strip=$winograd_strip},\
               propagate-layouts,fuse-epilogues{rounding=true},fold-shuffles,fold-packs,canonicalize,pack-panels,canonicalize,cse,\
               form-steps{group=4},dce,plan-memory)",
    precisions: &[Precision { name: "bf16", pass: "convert-f32-to-bf16", before: "convert-graph-to-addr" }],
    load: Some(load),
    load_owned: Some(load_owned),
    is_exact: gradus_runtime::cpu::is_exact,
    native: true,
    probes: cpu_probes::PROBES,
    ..Target::DEFAULT
};

/// Returns the ops with kernels, and those that the pipeline lowers to them, by name.
fn ops() -> Vec<&'static str> {
    let lowered = gradus_lowering::graph_to_addr::ops().chain(gradus_lowering::sparse_to_x64::ops());
    let ops = gradus_runtime::cpu::ops().chain(lowered);
    let mut names: Vec<&str> = ops.map(|info| info.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether there is a kernel for an op with its types: dense products and convolutions have none of f64 but loops, compressed rows are of f32 and
/// f64. Unrolled products need code that can be generated for them, sparse convolutions code or rows.
fn has_kernel_for_types(m: &Module, op: Op) -> bool {
    let is_of = |ty| m.results(op).all(|v| m.ctx.element_type(m.value_type(v)) == ty);
    if let Some(matmul) = sparse::MatMulOp::cast(m, op) {
        let is_csr = matmul.strategy(m).is_some_and(|strategy| *strategy == sparse::CSR);
        return if is_csr { is_of(Type::F32) || is_of(Type::F64) } else { can_generate(m, op) };
    }
    if graph::MatMulOp::cast(m, op).is_some() || graph::ConvOp::cast(m, op).is_some() {
        return !is_of(Type::F64);
    }
    let is_generated = sparse::ConvOp::cast(m, op).is_some() || sparse::IntegerMatMulOp::cast(m, op).is_some();
    !is_generated || can_generate(m, op)
}

machine_numbers! {
    /// The numbers of the cost model.
    struct Numbers {
        call,
        peak,
        byte_products,
        tile_share,
        bf16_products,
        l2_bandwidth,
        product_share,
        column_panel,
        run_starts,
        depthwise_share,
        planes_share,
        plane_sums_share,
        relayout,
        far_relayout,
        sparse_products,
        sparse_share,
        sparse_l1_share,
        sparse_rows,
        sparse_line,
        lane_slots,
        narrow_share,
        narrow_packing,
        pattern_call,
        csr_products,
        narrow_rows_share,
        csr_row,
        l1_bytes,
        l1_bandwidth,
        l2_bytes,
        code_bandwidth,
        far_code_bandwidth,
        reference_call,
        reference_product,
        batch,
        copies,
        csr_block,
        far_result_line,
        idle_elements,
        line_bytes,
        max_idle,
        odd_channels,
        nonzero_bytes,
        page_bytes,
        pair_share,
        pattern_tile,
        result_line,
        set_bytes,
        sparse_chunk,
        vector_bytes,
        /// Numbers of generated code.
        core: Core,
    }
}

/// Bytes per element.
const ELEMENT: u64 = size_of::<f32>() as u64;

impl Numbers {
    /// Whether a vector is shorter than a cache line: 256-bit vectors.
    fn is_narrow(&self) -> bool {
        self.vector_bytes < self.line_bytes
    }

    /// Elements of a cache line.
    fn line_elements(&self) -> u64 {
        (self.line_bytes / ELEMENT).max(1)
    }

    /// How many times as long a product takes if its left operand is constant, since it has few columns, or few filters for a constant image:
    /// their vectors have idle lanes, or they are computed by dot products.
    fn idle(&self, c: &Contraction) -> u64 {
        let lanes = self.line_elements();
        let few = if c.packed_for_constant > 0 { c.rows.min(c.columns).max(1) } else { lanes };
        (lanes / few).clamp(1, self.max_idle)
    }

    /// Returns a convolution of images with channels last as it is computed: filters fill whole lines. Runs of few channels that are no multiple of
    /// a fourth of a line take longer, as if there were more products.
    fn of_image(&self, c: &Contraction) -> Contraction {
        let lanes = self.line_elements();
        let is_odd = c.channels < lanes && !c.channels.is_multiple_of(lanes / 4);
        let depth = c.depth.saturating_mul(if is_odd { self.odd_channels } else { 1 });
        Contraction { rows: c.rows.next_multiple_of(lanes), depth, ..*c }
    }

    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Map(n) => self.call + n.saturating_mul(2 * ELEMENT) / self.l2_bandwidth,
            OpCost::Relayout(n) => {
                let times = if n.saturating_mul(2 * ELEMENT) > self.l2_bytes { self.far_relayout } else { 1 };
                self.call + n.saturating_mul(self.relayout * times) / 100
            }
            OpCost::Contract(c) => self.call.saturating_add(match (c.strategy, c.nonzeros) {
                (None, _) => self.contract(&c),
                (Some(strategy), _) if *strategy == graph::CHANNELS_FIRST => self.planes(&c),
                (Some(strategy), Some(nonzeros)) if *strategy == sparse::UNROLLED || *strategy == sparse::DOTS => {
                    self.generated(&c, nonzeros).saturating_add(self.casts(&c))
                }
                (Some(strategy), Some(nonzeros)) if *strategy == sparse::PATTERNS => {
                    self.dispatched(&c, nonzeros).saturating_add(self.casts(&c))
                }
                (Some(strategy), Some(nonzeros)) if *strategy == sparse::CSR => self.compressed(&c, nonzeros),
                (Some(strategy), Some(nonzeros)) if *strategy == sparse::UNROLLED_OR_CSR => {
                    self.generated(&c, nonzeros).min(self.compressed(&c, nonzeros))
                }
                _ => return NEVER,
            }),
        }
    }

    /// Prices the casts of the dense operand and the result of a sparse product of bf16, which is computed in f32.
    fn casts(&self, c: &Contraction) -> u64 {
        let cast = |rows: u64| self.cost(OpCost::Map(rows.saturating_mul(c.columns)));
        if c.factors == Factors::Bf16 { cast(c.depth).saturating_add(cast(c.rows)) } else { 0 }
    }

    /// Prices generated code whose operand, or a panel of it with all code, stays in the L1 cache: multiply-adds for each nonzero and
    /// vector of columns, and loads of the dense operand for each group of rows, at the same time; or the fetch of the code. Panels are
    /// read from beyond the L1 cache once. With 256-bit vectors the price is the estimate of the generator of code.
    fn generated(&self, c: &Contraction, nonzeros: u64) -> u64 {
        let are_words = c.strategy == Some(&sparse::DOTS);
        if c.columns == 1 && !are_words && c.factors != Factors::F64 {
            return self.in_lanes(c, nonzeros);
        }
        if self.is_narrow() {
            match self.core.cycles(c, nonzeros) {
                Some(cycles) => {
                    let percent = if are_words { self.pair_share } else { 100 };
                    return cycles.saturating_mul(percent) / self.narrow_share + c.runs / self.run_starts;
                }
                None if !are_words => return self.compressed(c, nonzeros),
                None => {}
            }
        }
        let vectors = c.columns.div_ceil(self.line_elements());
        let panel = c.depth.saturating_mul(self.line_bytes);
        let is_in_l1 = panel.saturating_mul(vectors) <= self.l1_bytes;
        let is_panel_in_l1 =
            panel <= self.l1_bytes / 4 * 3 && nonzeros.saturating_mul(self.nonzero_bytes) <= self.l1_bytes;
        if !is_in_l1 && !is_panel_in_l1 {
            return self.generated_beyond_l1(c, nonzeros, vectors);
        }
        let lines = c.rows.div_ceil(self.sparse_rows).saturating_mul(c.depth).min(nonzeros);
        let loads =
            lines.saturating_add(c.rows).saturating_mul(vectors).saturating_mul(self.line_bytes) / self.l1_bandwidth;
        let products = nonzeros.saturating_mul(vectors) / self.sparse_products;
        let cycles = products.saturating_mul(100) / self.sparse_l1_share;
        let once = if is_in_l1 { 0 } else { c.depth.min(nonzeros).saturating_mul(vectors) };
        let once = once.saturating_mul(self.line(c)).saturating_add(c.runs / self.run_starts);
        cycles.max(loads).max(self.fetched(nonzeros)).saturating_add(once)
    }

    /// Prices generated code for one column, in which a lane of a vector computes a row. In a step a lane without a nonzero is idle: about
    /// one idle lane for each `idle_elements` elements of the matrix.
    fn in_lanes(&self, c: &Contraction, nonzeros: u64) -> u64 {
        let idle = c.rows.saturating_mul(c.depth) / self.idle_elements;
        nonzeros.saturating_add(idle) / self.lane_slots
    }

    /// Returns the cycles to read a cache line of the dense operand, one column of vectors after the other. Half of the lines are in the L1
    /// cache, except where each row is in a page of its own, rows do not begin at cache lines, or their distance maps their lines to few
    /// sets of the cache.
    fn line(&self, c: &Contraction) -> u64 {
        let row = c.columns.saturating_mul(ELEMENT);
        if row >= self.page_bytes {
            self.sparse_line + 1
        } else if row.is_multiple_of(self.set_bytes) || !row.is_multiple_of(self.line_bytes) {
            self.sparse_line
        } else {
            self.sparse_line / 2
        }
    }

    /// Prices generated code: its fetch, multiply-adds, and the lines of the dense operand and of the result, which is loaded and stored
    /// again for each chunk of the depth. A group of rows reads a row of the operand once if any of them has a nonzero there.
    fn generated_beyond_l1(&self, c: &Contraction, nonzeros: u64, vectors: u64) -> u64 {
        let groups = c.rows.div_ceil(self.sparse_rows).max(1);
        let density = nonzeros as f64 / (c.rows as f64 * c.depth as f64).max(1.0);
        let is_read = 1.0 - (1.0 - density.min(1.0)).powf(c.rows as f64 / groups as f64);
        let lines = (is_read * groups as f64 * c.depth as f64) as u64;
        let is_far = c.rows.saturating_mul(c.columns).saturating_mul(ELEMENT) > self.l2_bytes;
        let result = if is_far { self.far_result_line } else { self.result_line };
        let results = result
            .saturating_add((c.depth.div_ceil(self.sparse_chunk).max(1) - 1).saturating_mul(2 * self.result_line));
        let lines =
            lines.saturating_mul(self.line(c)).saturating_add(c.rows.saturating_mul(results)).saturating_mul(vectors);
        let products =
            (nonzeros.saturating_mul(vectors) / self.sparse_products).saturating_mul(100) / self.sparse_share;
        let all = products.saturating_add(lines).saturating_add(self.fetched(nonzeros));
        all.saturating_add(c.runs / self.run_starts)
    }

    /// Prices the fetch of generated code.
    fn fetched(&self, nonzeros: u64) -> u64 {
        let code = nonzeros.saturating_mul(self.nonzero_bytes);
        code / if code <= self.l2_bytes { self.code_bandwidth } else { self.far_code_bandwidth }
    }

    /// Prices the copy of a dense operand whose rows do not begin at cache lines.
    fn packing(&self, c: &Contraction) -> u64 {
        let lanes = self.line_elements();
        let is_split = c.columns > lanes && !c.columns.is_multiple_of(lanes);
        let bytes = c.depth.saturating_mul(c.columns).saturating_mul(self.copies * ELEMENT);
        if is_split { bytes / self.l2_bandwidth } else { 0 }
    }

    /// Prices functions by patterns of nonzeros: a load and a multiply-add for each nonzero and vector, and for each chunk a call, which
    /// loads and stores sums.
    fn dispatched(&self, c: &Contraction, nonzeros: u64) -> u64 {
        let vectors = c.columns.div_ceil((self.vector_bytes / c.factors.bytes_of_sum()).max(1));
        let calls = c.rows.saturating_mul(c.depth.div_ceil(BITS as u64)).min(nonzeros);
        let tiles = vectors.div_ceil(self.pattern_tile);
        let call = vectors.saturating_mul(2).saturating_add(tiles.saturating_mul(self.pattern_call));
        let products = nonzeros.saturating_mul(vectors);
        products.saturating_add(calls.saturating_mul(call)).saturating_add(c.runs / self.run_starts)
    }

    /// Prices compressed rows: a load and a multiply-add for each nonzero and vector, and the loop over the nonzeros of each row and block
    /// of columns, whose end is mispredicted. With 256-bit vectors the price is an estimate that includes the caches.
    fn compressed(&self, c: &Contraction, nonzeros: u64) -> u64 {
        if self.is_narrow()
            && let Some(cycles) = self.core.rows_cycles(c, nonzeros)
        {
            return cycles.saturating_mul(100) / self.narrow_rows_share + c.runs / self.run_starts;
        }
        let vectors = c.columns.div_ceil(self.line_elements());
        let products = nonzeros.saturating_mul(vectors).saturating_mul(self.line_elements()) / self.csr_products;
        let rows = c.rows.saturating_mul(vectors.div_ceil(self.csr_block)).saturating_mul(self.csr_row);
        products.saturating_add(rows).saturating_add(self.packing(c)).saturating_add(c.runs / self.run_starts)
    }

    /// Prices a contraction: arithmetic, or memory bandwidth if elements are used few times. Addresses are looked up per
    /// panel of columns.
    fn contract(&self, c: &Contraction) -> u64 {
        let read = c.rows.saturating_add(c.columns).saturating_mul(c.depth);
        let elements = read.saturating_add(c.rows.saturating_mul(c.columns));
        let size = match c.factors {
            Factors::Bytes => 1,
            Factors::Bf16 => 2,
            Factors::F64 => 8,
            Factors::Other => ELEMENT,
        };
        let moved = c.groups.saturating_mul(elements).saturating_mul(size);
        let is_depthwise = c.groups > 1 && c.depth == c.taps;
        let share = match c.strategy {
            Some(_) => self.planes_share,
            None if is_depthwise => self.depthwise_share,
            None => self.product_share,
        };
        // Batched products compute whole vectors of columns; those with one column read the left operand anew for each.
        let is_batched = c.groups > 1 && !is_depthwise;
        let is_whole = is_batched && self.is_narrow();
        let lanes = self.line_elements();
        let columns = if is_whole { c.columns.div_ceil(lanes).saturating_mul(lanes) } else { c.columns };
        let cycles = match c.factors {
            Factors::Bytes if !is_depthwise => self.byte_cycles(c),
            Factors::Bf16 if !is_depthwise && c.packed => c.products() / self.bf16_products,
            Factors::Other if c.channels > 0 && c.strategy.is_none() && !is_depthwise => {
                self.of_image(c).products().saturating_mul(100) / (self.peak * share)
            }
            _ => Contraction { columns, ..*c }.products().saturating_mul(100 * self.idle(c)) / (self.peak * share),
        };
        let starts = c.runs.saturating_mul(c.columns.div_ceil(self.column_panel)) / self.run_starts;
        let starts = starts.saturating_add(if is_batched { c.groups.saturating_mul(self.batch) } else { 0 });
        cycles.max(moved / self.l2_bandwidth).saturating_add(starts).saturating_add(self.operand_packing(c))
    }

    /// Prices a convolution with channels first. Filters of several channels read each element once for all taps, from a copy with padding.
    fn planes(&self, c: &Contraction) -> u64 {
        if c.depth == c.taps {
            return self.contract(c);
        }
        let moved =
            c.columns.saturating_mul(c.rows.saturating_add(c.depth / c.taps.max(1))).saturating_mul(c.groups * ELEMENT);
        let cycles = c.products().saturating_mul(100) / (self.peak * self.plane_sums_share);
        cycles.saturating_add(moved / self.l2_bandwidth)
    }

    /// Prices the packing of a right operand of f32 for a constant left one in each run, with 256-bit vectors.
    fn operand_packing(&self, c: &Contraction) -> u64 {
        let is_priced = c.strategy.is_none() && c.factors == Factors::Other && self.is_narrow();
        if is_priced { c.packed_for_constant.saturating_mul(self.narrow_packing) } else { 0 }
    }

    /// Prices a product of bytes: by tile registers if the machine has them, whose results go through memory. They gain nothing if both
    /// operands are packed in each run.
    fn byte_cycles(&self, c: &Contraction) -> u64 {
        let has_tiles = self.tile_share > 100 && c.packed;
        let share = if has_tiles { self.tile_share } else { 100 };
        let results = c.rows.saturating_mul(c.columns.div_ceil(self.line_elements())).saturating_mul(self.result_line);
        let products = c.products().saturating_mul(100) / (self.byte_products * share);
        products.saturating_add(if has_tiles { results } else { 0 })
    }

    /// Costs by reference. A contraction by an algorithm that has no kernel is never chosen.
    fn reference(&self, op: OpCost) -> u64 {
        let count = match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Relayout(n) | OpCost::Map(n) => n,
            OpCost::Contract(c) if c.strategy.is_none() => c.products(),
            OpCost::Contract(_) => return NEVER,
        };
        self.reference_call.saturating_add(count.saturating_mul(self.reference_product))
    }
}

fn load<'m>(
    module: &'m Module,
    function: Op,
    machine: &Machine,
    threads: usize,
) -> Result<Box<dyn Executable + 'm>, TargetError> {
    Ok(Box::new(Compiled::of(module, function, machine, threads)?))
}

/// Prepares a function of a program that it takes.
fn load_owned(
    module: Module,
    function: Op,
    machine: &Machine,
    threads: usize,
) -> Result<Box<dyn Executable>, TargetError> {
    Ok(Box::new(Compiled::of(module, function, machine, threads)?))
}

/// The number of the machine that decides which work threads share.
const SHARED_STEPS: &str = "shared_steps";

struct Compiled<M> {
    program: CompiledFunction<M>,
    signature: Signature,
    /// Number of calls.
    calls: u64,
}

impl<M: Borrow<Module>> Compiled<M> {
    fn of(module: M, function: Op, machine: &Machine, threads: usize) -> Result<Compiled<M>, TargetError> {
        let min_steps = machine.value(SHARED_STEPS).map_err(|error| error.to_string())?;
        let workers = Workers::new(threads)?.sharing_from(usize::try_from(min_steps).unwrap_or(usize::MAX));
        let signature = Signature::of(module.borrow(), function);
        Ok(Compiled { program: CompiledFunction::new(module, function).on(workers), signature, calls: 0 })
    }
}

const MIB: f64 = (1 << 20) as f64;

impl<M: Borrow<Module>> Executable for Compiled<M> {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn call(&mut self, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        self.calls += 1;
        self.program.call(args)
    }

    fn statistics(&self) -> Vec<Statistic> {
        let usage = self.program.usage().map(|usage| {
            [
                ("memory of intermediate results", usage.reserved),
                ("needed at once", usage.needed),
                ("without sharing", usage.unshared),
            ]
        });
        let usage = usage.into_iter().flatten();
        let usage =
            usage.map(|(name, bytes)| Statistic { name: name.to_owned(), value: bytes as f64 / MIB, unit: "MiB" });
        let calls = self.calls.max(1);
        let reference = self.program.reference(calls).into_iter().map(|(name, count)| Statistic {
            name: format!("by reference: {name}"),
            value: (count / calls) as f64,
            unit: "ops",
        });
        usage.chain(reference).collect()
    }

    fn module(&self) -> Option<&Module> {
        Some(self.program.module())
    }

    fn refused(&self) -> Vec<Refused> {
        self.program.refused().into_iter().collect()
    }

    fn op_times(&self) -> Option<OpTimes> {
        let ops = self.program.spent().into_iter().map(|(op, time)| (op, time.as_secs_f64() * 1e3)).collect();
        Some(OpTimes { unit: "ms", ops })
    }
}
