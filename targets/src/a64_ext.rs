//! `a64-ext`: AArch64 with instructions for sparse products, simulated.

use crate::a64_picture::draw;
use crate::{Executable, InterpretedFunction, Signature, Statistic, Stop, Target, TargetError};
use gradus_cost::{CostModel, Machine, NEVER, Pricing, machine_numbers, price};
use gradus_dialects::op_cost::{Contraction, OpCost};
use gradus_interp::Interpreter;
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, OpDecl, Traits};
use gradus_lowering::sparse_to_a64::can_generate;
use gradus_machines::a64::{CallOp, DispatchOp, InstructionCounts, Panels, callee_of, disassembly, dispatch_counts};
use gradus_networks::sparse;
use std::collections::BTreeMap;

/// The declaration of the target.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: "a64-ext",
        doc: "AArch64 with instructions for sparse products, simulated; other ops are evaluated by reference",
        machine: include_str!("../machines/a64_ext.toml"),
        cost: Pricing::Descriptors(|machine| price(Numbers::of(machine), Numbers::cost)),
        ops: || vec![sparse::MatMulOp::INFO.name],
        supports: can_generate,
        reference: Some(|machine| price(Numbers::of(machine), Numbers::cost)),
        groups: &["graph-algebra", "graph-fuse", "sparse"],
        approx: true,
        ..CostModel::DEFAULT
    },
    pipeline: "builtin.module(canonicalize,saturate{target=a64-ext floats=approx rules=graph-algebra,graph-fuse,sparse},\
               convert-sparse-to-a64{isa=ldr-sc-acc bundles=true code-size=$code},canonicalize,cse)",
    load: Some(|m, function, machine, _| Ok(Box::new(Simulated::new(m, function, machine)?))),
    listing: Some(disassembly),
    picture: Some(draw),
    ..Target::DEFAULT
};

machine_numbers! {
    /// The numbers of the cost model.
    struct Numbers {
        lanes,
        conventional,
        generated,
        call,
    }
}

impl Numbers {
    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Relayout(n) | OpCost::Map(n) => {
                n.div_ceil(self.lanes).saturating_mul(self.conventional)
            }
            OpCost::Contract(c) => self.contract(&c),
        }
    }

    /// Prices a product by its instructions: all elements are tested without generated code.
    fn contract(&self, c: &Contraction) -> u64 {
        let panels = c.groups.saturating_mul(c.columns.div_ceil(self.lanes));
        match (c.strategy, c.nonzeros) {
            (None, _) => panels.saturating_mul(c.rows).saturating_mul(c.depth).saturating_mul(self.conventional),
            (Some(strategy), Some(nonzeros)) if *strategy == sparse::UNROLLED => {
                // A sum is zeroed and stored.
                let instructions = nonzeros.saturating_mul(self.generated).saturating_add(c.rows.saturating_mul(2));
                panels.saturating_mul(instructions.saturating_add(self.call)).saturating_add(c.runs)
            }
            _ => NEVER,
        }
    }
}

/// A function whose calls of code are simulated.
struct Simulated<'m> {
    function: InterpretedFunction<'m>,
    statistics: Vec<Statistic>,
}

impl<'m> Simulated<'m> {
    fn new(m: &'m Module, function: Op, machine: &Machine) -> Result<Simulated<'m>, TargetError> {
        let numbers = Numbers::of(machine).map_err(|error| error.to_string())?;
        let statistics = Totals::of(m, function, &numbers)?.statistics();
        Ok(Simulated { function: InterpretedFunction::new(Interpreter::new(m), function), statistics })
    }
}

impl Executable for Simulated<'_> {
    fn signature(&self) -> &Signature {
        self.function.signature()
    }

    fn call(&mut self, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        self.function.call(args)
    }

    /// Counts of one execution of each call: code is straight-line.
    fn statistics(&self) -> Vec<Statistic> {
        self.statistics.clone()
    }
}

/// Sums over the calls of a function.
#[derive(Default)]
struct Totals {
    counts: InstructionCounts,
    /// Instructions of the same products without generated code.
    conventional: u64,
    /// Ops that are evaluated by reference, by name.
    reference: BTreeMap<String, u64>,
}

impl Totals {
    fn of(m: &Module, function: Op, numbers: &Numbers) -> Result<Totals, TargetError> {
        let mut totals = Totals::default();
        for op in m.ops_under(function) {
            if CallOp::cast(m, op).is_some() {
                totals.add(m, op, numbers)?;
            } else if DispatchOp::cast(m, op).is_some() {
                let counts = dispatch_counts(m, op)?;
                let conventional = numbers.conventional.saturating_mul(counts.products);
                totals.conventional = totals.conventional.saturating_add(conventional);
                totals.counts = totals.counts.plus(counts);
            } else if m.info(op).is_some_and(|info| info.eval.is_some()) && !m.has_trait(op, Traits::CONSTANT_LIKE) {
                *totals.reference.entry(m.name_text(op).to_owned()).or_default() += 1;
            }
        }
        Ok(totals)
    }

    fn add(&mut self, m: &Module, op: Op, numbers: &Numbers) -> Result<(), TargetError> {
        let panels = m.with_args(op, Panels::of).ok_or("is not declared")??;
        let (one, times) = (InstructionCounts::of(&callee_of(m, op)?), panels.count() as u64);
        let shape = |value| m.ctx.static_shape(m.value_type(value)).unwrap_or(&[]).iter().map(|&d| d as u64);
        let rows = shape(m.result(op, 0)).next().unwrap_or(0);
        let depth = shape(m.operands(op)[0]).next().unwrap_or(0);
        let conventional = match panels.panel {
            1 => numbers.conventional.saturating_mul(one.products),
            // A sum is zeroed, the row is loaded, and each of its elements is tested; nonzeros are loaded and multiplied.
            _ => {
                let per_row = depth.div_ceil(numbers.lanes).saturating_add(depth).saturating_add(1);
                rows.saturating_mul(per_row).saturating_add(one.products.saturating_mul(2))
            }
        };
        self.conventional = self.conventional.saturating_add(times.saturating_mul(conventional));
        self.counts = self.counts.plus(one.times(times));
        Ok(())
    }

    fn statistics(self) -> Vec<Statistic> {
        let statistic = |name: &str, value: f64, unit| Statistic { name: name.to_owned(), value, unit };
        let InstructionCounts { instructions, starts, stores, products, cycles } = self.counts;
        let share = |of: u64, all: u64| if all == 0 { 0.0 } else { of as f64 / all as f64 };
        let mut all = vec![
            // The first one is the one that comparisons show: what extensions change.
            statistic("code of products", instructions as f64, "instructions"),
            statistic("multiply-adds", products as f64, "instructions"),
            statistic("starts of sums", starts as f64, "instructions"),
            statistic("stores", stores as f64, "instructions"),
            statistic("cycles of products", cycles as f64, "cycles"),
            statistic("conventional code", self.conventional as f64, "instructions"),
            statistic("fewer than conventional", 100.0 * (1.0 - share(instructions, self.conventional)), "%"),
        ];
        all.extend(
            self.reference.into_iter().map(|(op, n)| statistic(&format!("by reference: {op}"), n as f64, "ops")),
        );
        all
    }
}
