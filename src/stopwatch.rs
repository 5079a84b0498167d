//! Costs by measurement: cycles of programs and ops of a target whose programs run on this machine.

use crate::random_inputs::drawn;
use crate::{Failure, Tool};
use gradus_cost::measure_with;
use gradus_dialects::op_cost::OpCost;
use gradus_ir::pass::{RunOptions, Watch};
use gradus_ir::{Attr, Builder, Context, Loc, Module, Op, OpName, OpState, Traits, Type, Value, ValueMap};
use gradus_targets::{Executable, Target};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The passes that choose by cost, which are left out when a choice is measured.
const CHOOSERS: [&str; 2] = ["saturate", "choose-layouts"];
/// Shortest time of a measurement, and the least number of calls, of which the quickest counts.
const LEAST_TIME: Duration = Duration::from_millis(10);
const LEAST_CALLS: usize = 5;

/// Measures programs, lowered for a target and called on one thread.
pub struct Stopwatch {
    tool: Tool,
    target: &'static Target,
    /// Cycles of the core per second.
    clock: f64,
}

impl Stopwatch {
    /// Creates a stopwatch for a target.
    ///
    /// # Errors
    /// Its programs do not run on this machine.
    pub fn new(tool: &Tool, target: &'static Target) -> Result<Stopwatch, Failure> {
        let name = target.cost.name;
        match target.native {
            true => Ok(Stopwatch { tool: tool.clone(), target, clock: clock() }),
            false => Err(Failure::Usage(format!(
                "programs of target '{name}' run in a simulator: there is no time to measure"
            ))),
        }
    }

    /// Uses measured costs of contractions in place of estimates in a context.
    pub fn tune(self, ctx: &Context) {
        let known: Mutex<HashMap<Subject, Option<u64>>> = Mutex::default();
        let target = self.target.cost.name;
        measure_with(ctx, target, move |m, op| {
            let OpCost::Contract(_) = OpCost::of(m, op) else { return None };
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            *known.entry(Subject::of(m, op)).or_insert_with(|| self.cycles(alone(m, op)?).ok())
        });
    }

    /// Returns the cycles of the first function of a program, without those of its layout changes: the least of several calls.
    pub fn cycles(&self, mut m: Module) -> Result<u64, Failure> {
        let (machine, name) = (self.target.cost.machine(&m.ctx)?, self.target.cost.name);
        let mut pipeline = self.tool.target_pipeline(self.target, &m.ctx)?;
        CHOOSERS.iter().for_each(|chooser| pipeline.leave_out(chooser));
        let done = pipeline.run(&mut m, &RunOptions { threads: 1, ..RunOptions::default() }, &mut Watch::default());
        done.map_err(|_| format!("a program to measure is refused by the pipeline of target '{name}'"))?;
        let function = m.block_ops(m.body()).find(|&op| m.has_trait(op, Traits::FUNCTION));
        let function = function.ok_or("a program to measure has no function".to_owned())?;
        let mut program = self.target.load(&m, function, &machine, 1)?;
        let args = drawn(&m.ctx, program.signature())?;
        let (begin, mut least, mut calls) = (Instant::now(), Duration::MAX, 0);
        while calls < LEAST_CALLS || begin.elapsed() < LEAST_TIME {
            let start = Instant::now();
            program
                .call(args.clone())
                .map_err(|stop| format!("a program to measure: {}", stop.diagnostic(&m).message))?;
            least = least.min(start.elapsed());
            calls += 1;
        }
        Ok((least.as_secs_f64() * (1.0 - moved(&m, &*program)) * self.clock).max(1.0) as u64)
    }
}

/// An op with its attributes, types and constants, which is measured once.
#[derive(PartialEq, Eq, Hash)]
struct Subject {
    name: OpName,
    attrs: [Attr; 2],
    operands: Vec<(Type, Option<Attr>)>,
}

impl Subject {
    fn of(m: &Module, op: Op) -> Subject {
        let operands = m.operands(op).iter().map(|&v| (m.value_type(v), m.constant(v))).collect();
        Subject { name: m.name(op), attrs: [m.props(op), m.attrs(op)], operands }
    }
}

/// Returns a program that computes an op of its arguments; constant operands stay constants.
fn alone(m: &Module, op: Op) -> Option<Module> {
    let ctx: &Arc<Context> = &m.ctx;
    let free = |v: &&Value| m.constant(**v).is_none();
    let inputs: Vec<Type> = m.operands(op).iter().filter(free).map(|&v| m.value_type(v)).collect();
    let results: Vec<Type> = m.results(op).map(|v| m.value_type(v)).collect();
    let mut program = Module::new(ctx.clone());
    let mut state = OpState::new(ctx, "func.func", Loc::UNKNOWN);
    state.inherent(ctx, "sym_name", Some(ctx.string_attr("main")));
    state.inherent(ctx, "function_type", Some(ctx.type_attr(ctx.function_type(&inputs, &results))));
    state.regions = 1;
    let body = program.body();
    let function = Builder::at_end(&mut program, body).try_create(state).ok()?;
    let block = program.add_block(program.regions(function)[0]);
    let mut map = ValueMap::default();
    for &v in m.operands(op) {
        let copy = match m.constant(v) {
            Some(attr) => Builder::at_end(&mut program, block).constant(attr, m.value_type(v), "", Loc::UNKNOWN)?,
            None => program.add_block_arg(block, m.value_type(v), Loc::UNKNOWN),
        };
        map.insert(v, copy);
    }
    let copy = program.clone_op_of(m, op, &mut map);
    program.append_op(block, copy);
    let mut end = OpState::new(ctx, "func.return", Loc::UNKNOWN);
    end.operands.extend(program.results(copy));
    Builder::at_end(&mut program, block).try_create(end).ok()?;
    Some(program)
}

/// Returns the share of time in copies and views, from 0 to 1: in a network, neighbours share their layouts.
fn moved(m: &Module, program: &dyn Executable) -> f64 {
    let Some(times) = program.op_times() else { return 0.0 };
    let all: f64 = times.ops.iter().map(|(_, time)| time).sum();
    let is_moved = |op: &Op| matches!(OpCost::of(m, *op), OpCost::Move(_) | OpCost::Relayout(_) | OpCost::View);
    let moved: f64 = times.ops.iter().filter(|(op, _)| is_moved(op)).map(|(_, time)| time).sum();
    if all > 0.0 { moved / all } else { 0.0 }
}

/// Returns the core's cycles per second, by a chain of multiplications, of 3 cycles each on today's cores, and exclusive ors of one.
fn clock() -> f64 {
    const STEPS: u32 = 1 << 20;
    let chain = || {
        let (mut x, factor, start) = (black_box(1_u64), black_box(0x5851_f42d_4c95_7f2d), Instant::now());
        for _ in 0..STEPS {
            x = x.wrapping_mul(factor) ^ 0x55;
        }
        black_box(x);
        start.elapsed().as_secs_f64()
    };
    let least = (0..10).map(|_| chain()).fold(f64::INFINITY, f64::min);
    4.0 * f64::from(STEPS) / least
}
