//! Compiled programs as `check` and `fuzz` run them: on a target, with several numbers of threads, and read back from a file.

use crate::target::header;
use gradus_check::Execution;
use gradus_cost::Machine;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Context, Module, Op, OpDecl, symbol_name, verify};
use gradus_networks::sched::{self, StepOp};
use gradus_runtime::artifact::{self, Artifact, CompiledFor};
use gradus_targets::Target;

/// Numbers of threads of a target that runs on the machine of this process.
const THREADS: [usize; 3] = [1, 2, 3];

/// The number of a machine below which threads do not share work.
const SHARED: &str = "shared_steps";

/// A target on a number of threads.
struct TargetExecution {
    target: &'static Target,
    machine: Machine,
    threads: usize,
    /// The header of the file from which programs are read back; `None` if they stay in memory.
    file: Option<CompiledFor>,
}

/// Returns the ways in which a target runs compiled programs; none if it does not run any.
pub fn executions(target: &'static Target, ctx: &Context) -> Result<Vec<Box<dyn Execution + Sync>>, crate::Failure> {
    if target.load.is_none() {
        return Ok(Vec::new());
    }
    let mut machine = target.cost.machine(ctx)?;
    let file = Some(header(target, ctx)?);
    // Small programs are divided, too.
    let _ = machine.set(SHARED, 1);
    let threads = if target.native { &THREADS[..] } else { &THREADS[..1] };
    let of = |threads, file| TargetExecution { target, machine: machine.clone(), threads, file };
    let all = threads.iter().map(|&threads| of(threads, None)).chain([of(1, file)]);
    Ok(all.map(|execution| Box::new(execution) as Box<dyn Execution + Sync>).collect())
}

impl TargetExecution {
    /// Runs a function of a program in memory.
    fn run_loaded(
        &self,
        m: &Module,
        function: Op,
        inputs: &[Vec<Datum>],
    ) -> Result<Vec<Result<Vec<Datum>, Trap>>, String> {
        let loaded = self.target.load(m, function, &self.machine, self.threads);
        let mut executable = loaded.map_err(|error| error.to_string())?;
        Ok(inputs.iter().map(|input| executable.call(input.clone()).map_err(|stop| stop.trap)).collect())
    }
}

impl Execution for TargetExecution {
    fn name(&self) -> String {
        let name = self.target.cost.name;
        match (&self.file, self.threads) {
            (Some(_), _) => format!("{name}, read back from a file"),
            _ if !self.target.native => name.to_owned(),
            (None, 1) => format!("{name} with 1 thread"),
            (None, threads) => format!("{name} with {threads} threads"),
        }
    }

    fn run(&self, m: &Module, function: Op, inputs: &[Vec<Datum>]) -> Result<Vec<Result<Vec<Datum>, Trap>>, String> {
        let Some(file) = &self.file else { return self.run_loaded(m, function, inputs) };
        let mut bytes = Vec::new();
        artifact::write(m.clone(), file, &mut bytes).map_err(|error| format!("it cannot be written: {error}"))?;
        let said = |errors: Vec<gradus_ir::Diagnostic>| format!("it cannot be read back: {}", errors[0].message);
        let read = Artifact::open("program", bytes.into()).and_then(|file| file.read(&m.ctx)).map_err(said)?;
        verify(&read).map_err(said)?;
        let name = symbol_name(m, function);
        let function = read.block_ops(read.body()).find(|&op| symbol_name(&read, op) == name);
        self.run_loaded(&read, function.ok_or("it has lost the function")?, inputs)
    }

    fn is_exact(&self, m: &Module, function: Op) -> bool {
        (self.target.is_exact)(m, function)
    }

    fn steps(&self, m: &Module, function: Op) -> Vec<Op> {
        let ops = m.ops_under(function);
        let steps: Vec<Op> = ops.iter().copied().filter(|&op| StepOp::cast(m, op).is_some()).collect();
        // A function that is no schedule is interpreted, with kernels of its ops.
        if steps.is_empty() { ops.into_iter().skip(1).collect() } else { steps }
    }

    fn interpret(&self, m: &mut Module, step: Op) {
        sched::interpret(m, step);
    }
}
