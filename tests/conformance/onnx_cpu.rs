//! ONNX's node tests on the `cpu` target: import, compile, run, compare.
//!
//! Each test runs twice: with its inputs as arguments, and with all but the first as constants like a model's weights,
//! from which tables and packed weights are built.

use super::onnx::{compare, imported, inputs};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::pass::{PassEvent, Pipeline, RunOptions, Watch};
use gradus::ir::{Diagnostic, Loc, Module, Op, Tensor, Traits, verify};
use gradus::runtime::cpu::CompiledFunction;
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The execution of an imported op.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum How {
    /// Folded, or replaced by other ops.
    Gone,
    /// Kernels.
    Kernels,
    /// Kernels that find operands by address tables.
    Tables,
    /// By reference evaluation, at least in part.
    Reference,
}

impl How {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            How::Gone => "gone",
            How::Kernels => "kernel",
            How::Tables => "tables",
            How::Reference => "reference",
        }
    }
}

/// The execution of each op by name.
pub type Ran = BTreeMap<&'static str, How>;

/// Runs a test in both ways; `fixed` says which inputs are constants in the first.
pub fn run(name: &str, fixed: fn(&Tensor) -> bool) -> Result<Ran, String> {
    let inputs = inputs(name)?;
    let given: Vec<bool> = inputs.iter().map(|(_, value)| value.tensor().is_ok_and(fixed)).collect();
    let weights: Vec<bool> = inputs.iter().enumerate().map(|(i, (_, v))| i > 0 && v.tensor().is_ok()).collect();
    let as_given = run_with(name, &inputs, &given)?;
    if inputs.len() < 2 || given == weights {
        return Ok(as_given);
    }
    run_with(name, &inputs, &weights).map_err(|why| format!("with weights: {why}"))
}

/// Runs a test with some of its inputs as constants.
fn run_with(name: &str, inputs: &[(String, Datum)], fixed: &[bool]) -> Result<Ran, String> {
    let part = |is_fixed: bool| inputs.iter().zip(fixed).filter(move |(_, f)| **f == is_fixed).map(|(i, _)| i.clone());
    let arguments = part(false).map(|(_, value)| value).collect();
    let run = || imported(name, part(true).collect(), |m, main| execute(m, main, arguments));
    let panic = |_| Err("it panics".to_owned());
    let (have, ran) = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(panic)?;
    compare(name, &have)?;
    Ok(ran)
}

fn execute(m: &Module, main: Op, arguments: Vec<Datum>) -> Result<(Vec<Datum>, Ran), Diagnostic> {
    let compiled = compiled(m)?;
    let lost = || Diagnostic::error(m.loc(main), "there is no @main");
    let function = Interpreter::new(&compiled).function("main").ok_or_else(lost)?;
    let mut program = CompiledFunction::new(&compiled, function);
    let have = program.call(arguments).map_err(|stop| stop.diagnostic(&compiled))?;
    let reference: Vec<&str> = program.reference(1).into_iter().map(|(name, _)| name).collect();
    Ok((have, ran(m, main, &compiled, function, &reference)))
}

/// Bytes of a vector of the machine that all programs are compiled for: what runs how does not depend on the machine of the test.
const VECTOR: u64 = 32;

/// Compiles a program for the target.
fn compiled(m: &Module) -> Result<Module, Diagnostic> {
    let (mut compiled, tool) = (m.clone(), Tool::gradus());
    let target = tool.targets.iter().find(|target| target.cost.name == "cpu").expect("there is such a target");
    let machine = target.cost.machine_with(&m.ctx, "vector_bytes", VECTOR).expect("its machine is valid");
    let text = target.pipeline(&machine).expect("it has a pipeline");
    gradus::cost::load_machine(&m.ctx, machine);
    let mut pipeline = Pipeline::parse(&text, &tool.passes).expect("it is a pipeline");
    let options = RunOptions { threads: 1, ..RunOptions::default() };
    let mut said = Vec::new();
    let mut watch = Watch::new(|event| {
        if let PassEvent::Diagnostic(d) = event {
            said.push(d.clone());
        }
    });
    let run = pipeline.run(&mut compiled, &options, &mut watch);
    drop(watch);
    let failure = || Diagnostic::error(m.loc(m.root()), "the target's pipeline fails");
    run.map_err(|_| said.pop().unwrap_or_else(failure))?;
    verify(&compiled).map_err(|d| d[0].clone())?;
    Ok(compiled)
}

/// Determines the execution of ops from the locations that they share with ops of the compiled program.
fn ran(m: &Module, main: Op, compiled: &Module, function: Op, reference: &[&str]) -> Ran {
    let mut at: HashMap<Loc, How> = HashMap::new();
    for op in compiled.ops_under(function) {
        let Some(info) = compiled.info(op) else { continue };
        let how = match info.name {
            name if reference.contains(&name) => How::Reference,
            name if name.starts_with("addr.") => How::Tables,
            _ => How::Kernels,
        };
        if !compiled.has_trait(op, Traits::CONSTANT_LIKE) {
            let known = at.entry(compiled.loc(op)).or_insert(how);
            *known = how.max(*known);
        }
    }
    let mut all = Ran::new();
    for op in m.ops_under(main).into_iter().filter(|&op| !m.has_trait(op, Traits::CONSTANT_LIKE)) {
        let Some(info) = m.info(op) else { continue };
        let how = at.get(&m.loc(op)).copied().unwrap_or(How::Gone);
        let known = all.entry(info.name).or_insert(how);
        *known = how.max(*known);
    }
    all
}
