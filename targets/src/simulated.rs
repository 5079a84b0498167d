//! Functions whose programs of an accelerator run on a simulator; the rest runs on the host: by the kernels of the `cpu` target, if this build has
//! them, and otherwise by reference.

use crate::{Executable, OpTimes, Signature, Statistic, Stop, WITH_HOST};
use gradus_dialects::op_cost::OpCost;
use gradus_interp::Interpreter;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Module, Op, OpArgs, Traits};
use gradus_networks::graph;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A simulated accelerator.
pub(crate) trait Device: Send {
    /// Runs an op. Returns its results and cycles; `None` for ops of the host.
    fn run(&mut self, args: &OpArgs<'_>, data: &[Datum]) -> Option<Result<(Vec<Datum>, u64), Trap>>;

    /// Returns the cycles of the machine that pass while the host computes an op: its operands and results go through memory.
    fn host(&self, op: OpCost) -> u64;

    /// Returns the counts of `calls` calls, averages of additive ones; the first is that of the cycles.
    fn statistics(&self, calls: u64) -> Vec<Statistic>;
}

/// A device with the cycles of each op.
struct SimulatedDevice<D> {
    device: D,
    /// Cycles of the host.
    host: u64,
    cycles: FxHashMap<Op, u64>,
    /// The ops that the host ran by kernels, by name.
    by_kernel: FxHashMap<&'static str, u64>,
    #[cfg(feature = "cpu")]
    kernels: gradus_runtime::cpu::OpKernels,
}

impl<D: Device> SimulatedDevice<D> {
    fn new(device: D) -> Self {
        SimulatedDevice {
            device,
            host: 0,
            cycles: FxHashMap::default(),
            by_kernel: FxHashMap::default(),
            #[cfg(feature = "cpu")]
            kernels: Default::default(),
        }
    }

    /// Runs an op of the host by a kernel, if there is one.
    fn on_host(&mut self, args: &OpArgs<'_>, data: &[Datum]) -> Option<Result<Vec<Datum>, Trap>> {
        self.host += host_op(args).map_or(0, |op| self.device.host(op));
        #[cfg(feature = "cpu")]
        let done = self.kernels.run(args, data);
        #[cfg(not(feature = "cpu"))]
        let done = None;
        if done.is_some() {
            *self.by_kernel.entry(args.info.name).or_default() += 1;
        }
        done
    }
}

/// A function with programs of an accelerator.
pub(crate) struct Simulated<'m, D> {
    interpreter: Interpreter<'m>,
    function: Op,
    signature: Signature,
    state: Arc<Mutex<SimulatedDevice<D>>>,
    calls: u64,
}

/// Returns the cycles of an op that a host computes: operands and results go through memory to it and back, `per_element` by `rate` cycles for
/// an element, and it multiplies a number of pairs in a cycle.
pub(crate) fn through_memory(op: OpCost, latency: u64, [per_element, rate]: [u64; 2], products: u64) -> u64 {
    let (elements, multiplying) = match op {
        OpCost::View => return 1,
        // Two operands and a result.
        OpCost::Move(n) | OpCost::Relayout(n) | OpCost::Map(n) => (n.saturating_mul(3), 0),
        OpCost::Contract(c) => (c.elements(), c.products().div_ceil(products)),
    };
    latency.saturating_add(elements.saturating_mul(per_element).div_ceil(rate)).saturating_add(multiplying)
}

/// Returns what an op of a network, or a contraction, does if it computes or moves anything.
fn host_op(args: &OpArgs<'_>) -> Option<OpCost> {
    let (m, op) = (args.module, args.op?);
    let is_of_network = m.ctx.op_dialect(m.name(op)) == graph::DIALECT.name && !m.has_trait(op, Traits::CONSTANT_LIKE);
    match OpCost::of(m, op) {
        OpCost::View => None,
        cost => (is_of_network || matches!(cost, OpCost::Contract(_))).then_some(cost),
    }
}

impl<'m, D: Device + 'm> Simulated<'m, D> {
    /// Prepares a function.
    pub(crate) fn new(m: &'m Module, function: Op, device: D) -> Self {
        let state = Arc::new(Mutex::new(SimulatedDevice::new(device)));
        let shared = state.clone();
        let interpreter = Interpreter::new(m).with_kernels(Box::new(move |args, data| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(done) = state.device.run(args, data) else { return state.on_host(args, data) };
            Some(done.map(|(results, cycles)| {
                if let Some(op) = args.op {
                    *state.cycles.entry(op).or_default() += cycles;
                }
                results
            }))
        }));
        Simulated { interpreter, function, signature: Signature::of(m, function), state, calls: 0 }
    }
}

impl<'m, D: Device + 'm> Executable for Simulated<'m, D> {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn call(&mut self, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        self.calls += 1;
        self.interpreter.call(self.function, args)
    }

    fn statistics(&self) -> Vec<Statistic> {
        let calls = self.calls.max(1);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut host: BTreeMap<&str, u64> = BTreeMap::new();
        for (&name, &n) in self.interpreter.declined().iter().chain(&state.by_kernel) {
            *host.entry(name).or_default() += n;
        }
        let host = host.into_iter().map(|(name, n)| Statistic {
            name: format!("by the host: {name}"),
            value: (n / calls) as f64,
            unit: "ops",
        });
        let mut device = state.device.statistics(calls);
        if let Some(cycles) = device.first() {
            let value = cycles.value + (state.host / calls) as f64;
            device.insert(1, Statistic { name: WITH_HOST.to_owned(), value, unit: cycles.unit });
        }
        device.into_iter().chain(host).collect()
    }

    fn op_times(&self) -> Option<OpTimes> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ops: Vec<(Op, f64)> = state.cycles.iter().map(|(&op, &cycles)| (op, cycles as f64)).collect();
        ops.sort_by_key(|&(op, _)| op);
        Some(OpTimes { unit: "cycles", ops })
    }
}
