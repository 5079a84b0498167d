//! Execution of pipelines.

use super::actions::{ADAPTOR, ActionUnit, Actions, PASS};
use super::context::PassContext;
use super::dump::{Dumps, IrPrinting};
use super::event::PassEvent;
use super::options::Options;
use super::pipeline::{ANY, Pipeline, PipelineStep, Scheduled};
use super::reproducer::{CrashReproducer, Reproducer, local_pipeline, place};
use super::timing::Timer;
use super::{FloatChange, PassInfo};
use crate::module::{Module, Op};
use crate::text::diag::Diagnostic;
use crate::text::loc::Loc;
use crate::threads::partition::functions_in;
use crate::traits::Traits;
use crate::verify::{verify_on, verify_references};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Whether to verify after each pass.
    pub verify_each: bool,
    /// IR printing.
    pub printing: IrPrinting,
    /// Whether errors show the op.
    pub op_on_diagnostic: bool,
    /// Maximum number of threads; 0 for all cores.
    pub threads: usize,
    /// Crash reproducer to write if a pass fails or panics.
    pub crash_reproducer: Option<CrashReproducer>,
    /// The passes that messages may suggest.
    pub passes: Vec<&'static PassInfo>,
    /// Names of the requested reports.
    pub reports: Vec<&'static str>,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            verify_each: true,
            printing: IrPrinting::default(),
            op_on_diagnostic: false,
            threads: 0,
            crash_reproducer: None,
            passes: Vec::new(),
            reports: Vec::new(),
        }
    }
}

/// A pass that succeeded on an op.
pub struct Passed<'a> {
    /// The pass.
    pub info: &'static PassInfo,
    /// The program.
    pub module: &'a Module,
    /// The op that the pass ran on.
    pub op: Op,
    /// Number of rewrites so far, if actions are counted.
    pub rewrites: u64,
    options: &'a Options,
}

impl Passed<'_> {
    /// Returns the change of floats that the pass may have made.
    pub fn floats(&self) -> FloatChange {
        (self.info.floats)(self.options)
    }

    /// Returns the pipeline that runs this pass alone, with its non-default options, on ops at the same nesting.
    pub fn pipeline_text(&self) -> String {
        let default = Options::parse(self.info.options, "").is_ok_and(|default| default == *self.options);
        let options = if default { String::new() } else { self.options.to_string() };
        local_pipeline(self.module, self.op, &format!("{}{options}", self.info.name))
    }
}

/// A callback after each pass. An error makes the pass fail.
pub type AfterPass<'a> = dyn FnMut(&Passed<'_>) -> Result<(), Diagnostic> + 'a;

/// The observers of a run.
pub struct Watch<'a> {
    emit: Box<dyn FnMut(PassEvent) + 'a>,
    /// Callback after each pass.
    pub after_pass: Option<Box<AfterPass<'a>>>,
    /// Action manager.
    pub actions: Option<Actions>,
    /// Timer with an entry per pass.
    pub timer: Timer,
}

impl<'a> Watch<'a> {
    /// Creates observers that pass every event to `emit`.
    pub fn new(emit: impl FnMut(PassEvent) + 'a) -> Watch<'a> {
        Watch { emit: Box::new(emit), after_pass: None, actions: None, timer: Timer::default() }
    }
}

/// Ignores all events.
impl Default for Watch<'_> {
    fn default() -> Self {
        Watch::new(|_| ())
    }
}

/// The reason why a pipeline failed; diagnostics were emitted as events. The program is in any state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Failed {
    /// A pass or the callback failed.
    Refused,
    /// The program is invalid after a pass.
    Invalid,
    /// A pass panicked; the program is unusable.
    Panicked,
}

impl Pipeline {
    /// Runs the pipeline on the program.
    pub fn run(&mut self, m: &mut Module, how: &RunOptions, watch: &mut Watch<'_>) -> Result<(), Failed> {
        let root = m.root();
        if self.anchor != ANY && self.anchor != m.name_text(root) {
            let message = format!("can't run '{}' pass manager on '{}' op", self.anchor, m.name_text(root));
            (watch.emit)(PassEvent::Diagnostic(Diagnostic::error(m.loc(root), message)));
            return Err(Failed::Refused);
        }
        if let Err(d) = self.check_requirements(m, how) {
            (watch.emit)(PassEvent::Diagnostic(d));
            return Err(Failed::Refused);
        }
        self.coalesce();
        let mut parts = Timer::of_steps(self);
        let whole = how.crash_reproducer.as_ref().filter(|r| !r.local);
        let whole = whole.map(|r| (r.path.clone(), how.reproducer(self.reproducer_text()).to_text(m)));
        let mut runner = Runner::new(how, &mut *watch.emit, watch.actions.as_mut(), how.max_threads());
        runner.after_pass = watch.after_pass.as_mut().map(|look| &mut **look as _);
        let result = runner.steps(self, m, root, &mut parts);
        if let (Err(_), Some((path, text))) = (result, whole) {
            runner.write_reproducer(path, text);
        }
        watch.timer.parts.extend(parts);
        result
    }
}

impl RunOptions {
    fn reproducer(&self, pipeline: String) -> Reproducer {
        Reproducer { pipeline, disable_threading: self.threads == 1, verify_each: self.verify_each }
    }
}

/// A failed pass, for the reproducer.
pub(super) struct Failure {
    loc: Loc,
    place: String,
}

/// The state of a run on one thread.
pub(super) struct Runner<'r> {
    pub(super) how: &'r RunOptions,
    /// Maximum number of threads.
    pub(super) threads: usize,
    pub(super) emit: &'r mut (dyn FnMut(PassEvent) + 'r),
    actions: Option<&'r mut Actions>,
    after_pass: Option<&'r mut AfterPass<'r>>,
    dumps: Dumps<'r>,
    pub(super) failures: Vec<Failure>,
    /// Unused modules whose memory is recycled.
    pub(super) spare: Vec<Module>,
    /// The functions of the last division, with their numbers of ops.
    pub(super) sizes: (Vec<Op>, Vec<usize>),
}

impl<'r> Runner<'r> {
    pub(super) fn new(
        how: &'r RunOptions,
        emit: &'r mut (dyn FnMut(PassEvent) + 'r),
        actions: Option<&'r mut Actions>,
        threads: usize,
    ) -> Self {
        Runner {
            how,
            threads,
            emit,
            actions,
            after_pass: None,
            dumps: Dumps::new(&how.printing),
            failures: Vec::new(),
            spare: Vec::new(),
            sizes: Default::default(),
        }
    }

    fn steps(&mut self, p: &mut Pipeline, m: &mut Module, op: Op, timers: &mut [Timer]) -> Result<(), Failed> {
        for (step, timer) in p.steps.iter_mut().zip(timers) {
            match step {
                PipelineStep::Pass(pass) => self.pass(pass, m, op, timer)?,
                PipelineStep::Nested(pipelines) => self.nested(pipelines, m, op, timer)?,
            }
        }
        Ok(())
    }

    /// Runs nested pipelines on the children of `op`.
    fn nested(&mut self, list: &mut Vec<Pipeline>, m: &mut Module, op: Op, timer: &mut Timer) -> Result<(), Failed> {
        if !self.begin(ADAPTOR, m, op) {
            return Ok(());
        }
        let start = Instant::now();
        let targets: Vec<Op> = inner_ops(m, op).into_iter().filter(|&t| pipeline_for(list, m, t).is_some()).collect();
        let watched = self.actions.is_some()
            || self.after_pass.is_some()
            || self.how.printing.is_on()
            || self.how.crash_reproducer.as_ref().is_some_and(|r| r.local);
        let parallel = if watched { None } else { self.in_parallel(list, m, op, &targets, timer) };
        let result = parallel.unwrap_or_else(|| {
            let result = self.on_targets(list, m, &targets, timer);
            timer.add(start.elapsed());
            result
        });
        self.end();
        // Passes were verified without their enclosing ops.
        if result.is_ok()
            && self.how.verify_each
            && m.parent_block(op).is_none()
            && let Err(errors) = verify_references(m, op)
        {
            self.report(m, errors);
            return Err(Failed::Refused);
        }
        result
    }

    /// Runs the matching pipeline on each op; a failure does not stop the others.
    pub(super) fn on_targets(
        &mut self,
        list: &mut [Pipeline],
        m: &mut Module,
        targets: &[Op],
        timer: &mut Timer,
    ) -> Result<(), Failed> {
        let mut result = Ok(());
        let several = list.len() > 1;
        for &target in targets {
            let Some(i) = pipeline_for(list, m, target) else { continue };
            let start = Instant::now();
            let part = if several { &mut timer.parts[i] } else { &mut *timer };
            match self.steps(&mut list[i], m, target, &mut part.parts) {
                Err(Failed::Panicked) => return Err(Failed::Panicked),
                other => result = result.max(other),
            }
            if several {
                part.add(start.elapsed());
            }
        }
        result
    }

    fn pass(&mut self, pass: &mut Scheduled, m: &mut Module, op: Op, timer: &mut Timer) -> Result<(), Failed> {
        let info = pass.info;
        if let Err(d) = may_run(info, m, op) {
            self.report(m, vec![d]);
            return Err(Failed::Refused);
        }
        let (event, before) = self.dumps.before(info, m, op);
        self.emit(event);
        let local = self.how.crash_reproducer.as_ref().filter(|r| r.local);
        let local = local.map(|r| {
            let text = local_pipeline(m, op, &format!("{}{}", info.name, pass.options));
            (r.path.clone(), self.how.reproducer(text).to_text(m))
        });
        let mut result = Ok(());
        if self.begin(&info.class_name(), m, op) {
            result = self.divided(pass, m, op, timer);
            self.end();
        }
        if result.is_ok() && self.how.verify_each {
            result = self.verify(info, m, op);
        }
        if result.is_ok()
            && let Some(look) = &mut self.after_pass
        {
            let rewrites = self.actions.as_ref().map_or(0, |actions| actions.rewrites());
            if let Err(d) = look(&Passed { info, module: m, op, rewrites, options: &pass.options }) {
                self.report(m, vec![d]);
                result = Err(Failed::Refused);
            }
        }
        if let Err(stop) = result {
            if stop != Failed::Panicked {
                let event = self.dumps.failed(info, m, op);
                self.emit(event);
            }
            self.failed(info, m, op, local);
            return Err(stop);
        }
        let event = self.dumps.after(info, m, op, before);
        self.emit(event);
        Ok(())
    }

    /// Runs a pass, on several threads if it is function-local and actions are not counted.
    fn divided(&mut self, pass: &mut Scheduled, m: &mut Module, op: Op, timer: &mut Timer) -> Result<(), Failed> {
        let start = Instant::now();
        let divisible = self.threads > 1 && m.has_trait(op, Traits::SYMBOL_TABLE) && pass.pass.is_function_local();
        if divisible && self.actions.is_none() {
            let functions = functions_in(m, op);
            if let Some(result) = self.in_parallel(pass, m, op, &functions, timer) {
                return result;
            }
        }
        let result = self.guarded(pass, m, op);
        timer.add(start.elapsed());
        result
    }

    /// Runs a pass on this thread and emits its diagnostics; panics are caught.
    pub(super) fn guarded(&mut self, pass: &mut Scheduled, m: &mut Module, op: Op) -> Result<(), Failed> {
        let mut cx = PassContext::new(pass.info, &mut pass.counts, self.actions.as_deref_mut());
        cx.threads = self.threads;
        cx.wanted = &self.how.reports;
        cx.watch = Some(&mut *self.emit);
        let result = catch_unwind(AssertUnwindSafe(|| pass.pass.run(m, op, &mut cx)));
        let (mut said, reports) = (cx.diagnostics, cx.reports);
        reports.into_iter().for_each(|report| (self.emit)(PassEvent::Report(report)));
        match result {
            Ok(result) => {
                said.extend(result.err());
                let failed = said.iter().any(Diagnostic::is_error);
                self.report(m, said);
                if failed { Err(Failed::Refused) } else { Ok(()) }
            }
            Err(panic) => {
                let (message, loc) = (panic_message(&*panic), m.loc(op));
                let mut d = Diagnostic::error(loc, format!("pass '{}' panicked: {message}", pass.info.name));
                if self.how.crash_reproducer.is_none() {
                    let advice = "run again with --mlir-pass-pipeline-crash-reproducer=FILE for a reproducer";
                    let place = place(pass.info, m, op);
                    d = d.note(loc, format!("Pipeline failed while executing [{place}]: {advice}"));
                }
                said.push(d);
                said.into_iter().for_each(|d| (self.emit)(PassEvent::Diagnostic(d)));
                Err(Failed::Panicked)
            }
        }
    }

    fn verify(&mut self, info: &PassInfo, m: &Module, op: Op) -> Result<(), Failed> {
        let Err(mut errors) = verify_on(m, op, self.threads) else { return Ok(()) };
        for d in &mut errors {
            d.notes.push((m.loc(op), format!("after pass '{}'", info.name)));
        }
        self.report(m, errors);
        Err(Failed::Invalid)
    }

    /// Records a failed pass, and writes its local reproducer if requested.
    fn failed(&mut self, info: &PassInfo, m: &Module, op: Op, local: Option<(PathBuf, String)>) {
        self.failures.push(Failure { loc: m.loc(op), place: place(info, m, op) });
        if let Some((path, text)) = local {
            self.write_reproducer(path, text);
            self.failures.clear();
        }
    }

    fn write_reproducer(&mut self, path: PathBuf, text: String) {
        let Some(first) = self.failures.first() else { return };
        let places: Vec<&str> = self.failures.iter().map(|f| f.place.as_str()).collect();
        let local = self.how.crash_reproducer.as_ref().is_some_and(|r| r.local);
        let places = if local { places.join(", ") } else { format!("[{}]", places.join(", ")) };
        let d = Diagnostic::error(first.loc, "Failures have been detected while processing an MLIR pass pipeline")
            .note(
                first.loc,
                format!("Pipeline failed while executing {places}: reproducer generated at `{}`", path.display()),
            );
        (self.emit)(PassEvent::File { path, text });
        (self.emit)(PassEvent::Diagnostic(d));
    }

    fn report(&mut self, m: &Module, diagnostics: Vec<Diagnostic>) {
        for mut d in diagnostics {
            if self.how.op_on_diagnostic {
                d.show_op(m);
            }
            // The entity is not valid outside the split module.
            d.op = None;
            (self.emit)(PassEvent::Diagnostic(d));
        }
    }

    fn emit(&mut self, event: Option<PassEvent>) {
        if let Some(event) = event {
            (self.emit)(event);
        }
    }

    fn begin(&mut self, name: &str, m: &Module, op: Op) -> bool {
        self.actions.as_mut().is_none_or(|actions| actions.begin(PASS, name, ActionUnit::Op(op), m))
    }

    fn end(&mut self) {
        if let Some(actions) = &mut self.actions {
            actions.end(PASS, true);
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it said nothing")
}

fn inner_ops(m: &Module, op: Op) -> Vec<Op> {
    let regions = m.regions(op).iter();
    regions.flat_map(|&r| m.region_blocks(r)).flat_map(|b| m.block_ops(b)).collect()
}

/// Returns the index of the pipeline that runs on `op`.
fn pipeline_for(list: &[Pipeline], m: &Module, op: Op) -> Option<usize> {
    let fits = |p: &Pipeline| match p.anchor.as_str() {
        ANY => m.has_trait(op, Traits::ISOLATED),
        name => m.name_text(op) == name,
    };
    list.iter().position(fits)
}

/// Checks that the pass may run on `op`: the root, or a registered op that is isolated from above.
fn may_run(info: &PassInfo, m: &Module, op: Op) -> Result<(), Diagnostic> {
    let wrong = |what: String| {
        Err(Diagnostic::error(m.loc(op), format!("'{}' op trying to schedule a pass {what}", m.name_text(op)))
            .about(op))
    };
    if info.anchor.is_some_and(|anchor| anchor != m.name_text(op)) {
        return wrong(format!("'{}' on an unsupported operation", info.class_name()));
    }
    if m.parent_block(op).is_none() {
        return Ok(());
    }
    match m.info(op) {
        None => wrong("on an unregistered operation".into()),
        Some(op_info) if !op_info.traits.has(Traits::ISOLATED) => {
            wrong("on an operation not marked as 'IsolatedFromAbove'".into())
        }
        Some(_) => Ok(()),
    }
}
