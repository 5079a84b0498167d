//! Functions with open extents, compiled for the shapes of their arguments.

use crate::open_shapes::shapes_of;
use crate::{Failure, Tool, target};
use gradus_ir::diag::{Diagnostic, Refused};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::pass::{PassEvent, Pipeline, RunOptions, Watch};
use gradus_ir::{Block, Builder, Context, Module, Op, Traits, ValueMap, verify};
use gradus_networks::sched::is_schedule;
use gradus_passes::refine_shapes::{ParameterShape, function_named, set_parameter_shapes};
use gradus_runtime::stored_program::StoredProgram;
use gradus_targets::{Executable, LoadOwned, OpTimes, Signature, Statistic, Stop, Target};
use indexmap::IndexMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of programs that are kept; the one of the longest unused shapes makes room.
const KEPT: usize = 8;

/// A function whose parameters have open extents. It is compiled when arguments of new shapes come, in a context of its own, so that memory does
/// not grow with the number of shapes; the programs of the last eight shapes stay.
pub struct SpecializedFunction {
    tool: Tool,
    target: &'static Target,
    load: LoadOwned,
    /// The context of the source, whose machine and settings hold for all programs.
    ctx: Arc<Context>,
    source: StoredProgram,
    function: (Op, String),
    threads: usize,
    signature: Signature,
    /// The programs, the last used one last.
    programs: IndexMap<Vec<ParameterShape>, Specialized>,
    /// Whether the last call reached the last program.
    is_reached: bool,
    calls: u64,
}

/// A program for some shapes.
struct Specialized {
    function: Box<dyn Executable>,
    refusals: Vec<Refused>,
    /// The call for which it was compiled, and how long that took.
    first_call: u64,
    compiled_in: Duration,
}

impl SpecializedFunction {
    /// Prepares a function of a valid program; `None` if the target cannot keep programs.
    pub fn new(
        tool: &Tool,
        m: &Module,
        function: Op,
        name: &str,
        target: &'static Target,
        threads: usize,
    ) -> Option<Self> {
        Some(SpecializedFunction {
            tool: tool.clone(),
            target,
            load: target.load_owned?,
            ctx: m.ctx.clone(),
            source: StoredProgram::of(m.clone()),
            function: (function, name.to_owned()),
            threads,
            signature: Signature::of(m, function),
            programs: IndexMap::new(),
            is_reached: false,
            calls: 0,
        })
    }

    /// Returns the program for some shapes; compiles it at the first call with them.
    fn program(&mut self, shapes: Vec<ParameterShape>) -> Result<&mut Specialized, String> {
        let program = self.programs.shift_remove(&shapes);
        let program = program.map_or_else(|| self.compile(&shapes), Ok)?;
        if self.programs.len() == KEPT {
            self.programs.shift_remove_index(0);
        }
        Ok(self.programs.entry(shapes).or_insert(program))
    }

    /// Compiles the program for some shapes.
    fn compile(&self, shapes: &[ParameterShape]) -> Result<Specialized, String> {
        let start = Instant::now();
        let ctx = target::context_like(&self.tool, &self.ctx).map_err(text)?;
        let error = |all: &[Diagnostic]| all.first().map_or_else(String::new, |error| error.message.clone());
        let (name, mut said) = (&self.function.1, Vec::new());
        let mut m = self.source.clone().into_module(&ctx, name).map_err(|all| error(&all))?;
        let root = m.root();
        let called = function_named(&m, root, name);
        let set = called.and_then(|called| set_parameter_shapes(&mut m, called, shapes));
        set.map_err(|one| error(&[one]))?;
        let mut run = |m: &mut Module, mut pipeline: Pipeline| {
            let mut watch = Watch::new(|event| {
                if let PassEvent::Diagnostic(one) = event {
                    said.push(one);
                }
            });
            let done = pipeline.run(m, &RunOptions { verify_each: false, ..RunOptions::default() }, &mut watch);
            drop(watch);
            done.map_err(|_| error(&said))
        };
        let parse = |text| Pipeline::parse(text, &self.tool.passes).map_err(|e| e.to_string());
        run(&mut m, parse("builtin.module(refine-shapes,symbol-dce)")?)?;
        let schedules = take_schedules(&mut m);
        if functions(&m).len() > 1 {
            run(&mut m, parse("builtin.module(inline,refine-shapes)")?)?;
        }
        run(&mut m, self.tool.target_pipeline(self.target, &ctx)?)?;
        schedules.put_back(&mut m);
        ctx.release_unused_constants(&m);
        verify(&m).map_err(|all| error(&all))?;
        let function = function_named(&m, root, name).map_err(|one| error(&[one]))?.0;
        let machine = self.target.cost.machine(&ctx).map_err(|e| e.to_string())?;
        let function = (self.load)(m, function, &machine, self.threads).map_err(|e| e.to_string())?;
        let refusals = said.into_iter().filter_map(|one| Some(*one.refused?)).collect();
        Ok(Specialized { function, refusals, first_call: self.calls, compiled_in: start.elapsed() })
    }

    /// Returns the program of the last call.
    fn last(&self) -> Option<&Specialized> {
        self.programs.last().map(|(_, program)| program)
    }
}

/// Returns the functions with bodies.
fn functions(m: &Module) -> Vec<Op> {
    let has_body = |op: Op| m.regions(op).first().is_some_and(|&region| m.entry(region).is_some());
    let is_function = |op: &Op| m.has_trait(*op, Traits::FUNCTION) && has_body(*op);
    m.block_ops(m.body()).filter(is_function).collect()
}

/// Functions that are compiled already, in place of which declarations stand in a program.
struct TakenSchedules {
    functions: Module,
    /// The functions, each with its declaration.
    all: Vec<(Op, Op)>,
}

/// Leaves only declarations of the functions that are schedules, so that passes do not change them.
fn take_schedules(m: &mut Module) -> TakenSchedules {
    let mut schedules = TakenSchedules { functions: Module::new(m.ctx.clone()), all: Vec::new() };
    for function in functions(m) {
        if !is_schedule(m, function) {
            continue;
        }
        let copy = schedules.functions.clone_op_of(m, function, &mut ValueMap::default());
        let body = schedules.functions.body();
        Builder::at_end(&mut schedules.functions, body).insert(copy);
        schedules.all.push((copy, function));
        let blocks: Vec<Block> = m.regions(function).iter().flat_map(|&region| m.region_blocks(region)).collect();
        m.erase_blocks(&blocks);
    }
    schedules
}

impl TakenSchedules {
    /// Puts the functions in the place of their declarations that are still there.
    fn put_back(self, m: &mut Module) {
        let kept: Vec<Op> = m.block_ops(m.body()).collect();
        for (function, declaration) in self.all.into_iter().filter(|(_, declaration)| kept.contains(declaration)) {
            let copy = m.clone_op_of(&self.functions, function, &mut ValueMap::default());
            Builder::before(m, declaration).insert(copy);
            m.erase_op(declaration);
        }
    }
}

/// Returns the message of a failure.
fn text(failure: Failure) -> String {
    match failure {
        Failure::Input(text) | Failure::Usage(text) => text,
        Failure::Reported | Failure::Unusable => String::new(),
    }
}

/// Formats shapes, such as `image=1x3x48x320`.
fn listed(shapes: &[ParameterShape]) -> String {
    shapes.iter().map(ParameterShape::to_string).collect::<Vec<_>>().join(",")
}

impl Executable for SpecializedFunction {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn call(&mut self, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        self.calls += 1;
        self.is_reached = false;
        let shapes = shapes_of(&self.ctx, &self.signature, &args);
        let (op, shown) = (self.function.0, listed(&shapes));
        let program = self.program(shapes);
        let stop = |why| Stop { op, trap: Trap::unsupported(format!("cannot be compiled for {shown}: {why}")) };
        let results = program.map_err(stop)?.function.call(args);
        self.is_reached = true;
        results
    }

    fn statistics(&self) -> Vec<Statistic> {
        let compiled = self.programs.iter().map(|(shapes, program)| Statistic {
            name: format!("compiled at call {} for {}", program.first_call, listed(shapes)),
            value: program.compiled_in.as_secs_f64() * 1e3,
            unit: "ms",
        });
        let last = self.last().map_or_else(Vec::new, |program| program.function.statistics());
        last.into_iter().chain(compiled).collect()
    }

    fn refused(&self) -> Vec<Refused> {
        let of = |program: &Specialized| [program.refusals.clone(), program.function.refused()].concat();
        self.last().map_or_else(Vec::new, of)
    }

    fn module(&self) -> Option<&Module> {
        self.last().filter(|_| self.is_reached)?.function.module()
    }

    fn op_times(&self) -> Option<OpTimes> {
        self.last()?.function.op_times()
    }
}
