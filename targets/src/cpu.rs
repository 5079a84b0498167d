//! `cpu`: this machine, by kernels. Costs are cycles of a core with 512-bit vectors.

use crate::{Executable, OpTimes, Signature, Statistic, Stop, Target};
use gradus_cost::{CostModel, Machine, NEVER, Pricing, machine_numbers, price};
use gradus_dialects::op_cost::{Contraction, OpCost};
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op};
use gradus_runtime::cpu::Program;
use gradus_runtime::workers::Workers;

/// The declaration of the target. The pipeline merges no ops (`graph-merge`): products with a common operand read it in place, slices
/// of a merged result would be copied, and an elementwise op after a concatenation is fused into no product.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: "cpu",
        doc: "this machine: convolutions and matrix products by address tables, on its widest vectors",
        machine: include_str!("../machines/cpu.toml"),
        cost: Pricing::Descriptors(|machine| price(Numbers::of(machine), Numbers::cost)),
        ops,
        reference: Some(|machine| price(Numbers::of(machine), Numbers::reference)),
        groups: &["graph-algebra", "graph-fuse", "graph-merge", "sparse", "mul-as-conv", "matmul-as-conv"],
        approx: true,
    },
    pipeline: "builtin.module(canonicalize,saturate{target=cpu floats=approx \
               rules=graph-algebra,graph-fuse,sparse,mul-as-conv,matmul-as-conv},\
               convert-graph-to-addr{target=cpu winograd-strip=$winograd_strip},\
               propagate-layouts,fuse-epilogues,canonicalize,pack-panels,canonicalize,cse,\
               form-steps,dce,plan-memory)",
    load: Some(load),
    ..Target::DEFAULT
};

/// Returns the ops with kernels, and those that the pipeline lowers to them, by name.
fn ops() -> Vec<&'static str> {
    let ops = gradus_runtime::cpu::ops().chain(gradus_lowering::graph_to_addr::ops());
    let mut names: Vec<&str> = ops.map(|info| info.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

machine_numbers! {
    /// The numbers of the cost model.
    struct Numbers {
        call,
        peak,
        l2_bandwidth,
        product_share,
        column_panel,
        run_starts,
        depthwise_share,
        reference_call,
        reference_product,
    }
}

/// Bytes per element.
const ELEMENT: u64 = 4;

impl Numbers {
    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Map(n) => self.call + n.saturating_mul(2 * ELEMENT) / self.l2_bandwidth,
            OpCost::Contract(c) if c.strategy.is_none() => self.call.saturating_add(self.contract(&c)),
            OpCost::Contract(_) => NEVER,
        }
    }

    /// Prices a contraction: arithmetic, or memory bandwidth if elements are used few times. Addresses are looked up per
    /// panel of columns.
    fn contract(&self, c: &Contraction) -> u64 {
        let read = c.rows.saturating_add(c.columns).saturating_mul(c.depth);
        let elements = read.saturating_add(c.rows.saturating_mul(c.columns));
        let moved = c.groups.saturating_mul(elements).saturating_mul(ELEMENT);
        let share = if c.groups > 1 && c.depth == c.taps { self.depthwise_share } else { self.product_share };
        let starts = c.runs.saturating_mul(c.columns.div_ceil(self.column_panel)) / self.run_starts;
        (c.products().saturating_mul(100) / (self.peak * share)).max(moved / self.l2_bandwidth).saturating_add(starts)
    }

    /// Costs by reference. A contraction by an algorithm that has no kernel is never chosen.
    fn reference(&self, op: OpCost) -> u64 {
        let count = match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Map(n) => n,
            OpCost::Contract(c) if c.strategy.is_none() => c.products(),
            OpCost::Contract(_) => return NEVER,
        };
        self.reference_call.saturating_add(count.saturating_mul(self.reference_product))
    }
}

fn load<'m>(module: &'m Module, function: Op, _: &Machine, threads: usize) -> Result<Box<dyn Executable + 'm>, String> {
    let program = Program::new(module, function).on(Workers::new(threads)?);
    Ok(Box::new(Compiled { program, signature: Signature::of(module, function), calls: 0 }))
}

struct Compiled<'m> {
    program: Program<'m>,
    signature: Signature,
    /// Number of calls.
    calls: u64,
}

const MIB: f64 = (1 << 20) as f64;

impl Executable for Compiled<'_> {
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

    fn op_times(&self) -> Option<OpTimes> {
        let ops = self.program.spent().into_iter().map(|(op, time)| (op, time.as_secs_f64() * 1e3)).collect();
        Some(OpTimes { unit: "ms", ops })
    }
}
