//! Running a pipeline.

use super::PassInfo;
use super::actions::{Actions, PASS, Unit};
use super::context::PassContext;
use super::dump::{Dumps, IrPrinting};
use super::pipeline::{ANY, Pipeline, Scheduled, Step};
use super::reproducer::{CrashReproducer, Reproducer, local_pipeline, place};
use super::timing::Timer;
use crate::diag::Diagnostic;
use crate::loc::Loc;
use crate::module::{Module, Op};
use crate::op_info::Traits;
use crate::verify::{verify_op, verify_references};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

/// How a pipeline is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Verify after each pass.
    pub verify_each: bool,
    /// Printing the program on the way.
    pub printing: IrPrinting,
    /// Add to an error about an op what the op looks like.
    pub op_on_diagnostic: bool,
    /// How many threads may work at the same time; 0 for as many as the machine has.
    pub threads: usize,
    /// What to write when a pass fails or panics.
    pub crash_reproducer: Option<CrashReproducer>,
    /// The passes that messages may recommend.
    pub passes: &'static [&'static PassInfo],
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            verify_each: true,
            printing: IrPrinting::default(),
            op_on_diagnostic: false,
            threads: 0,
            crash_reproducer: None,
            passes: &[],
        }
    }
}

/// What happens while a pipeline runs and concerns those outside, in order.
#[derive(Debug)]
pub enum Event {
    /// Something is said about the program.
    Diagnostic(Diagnostic),
    /// Text that was asked for.
    Text(String),
    /// A file to write, in folders that may not exist yet.
    File {
        /// Where.
        path: PathBuf,
        /// All that will be in it.
        text: String,
    },
}

/// Who looks on while a pipeline runs.
pub struct Watch<'a> {
    emit: Box<dyn FnMut(Event) + 'a>,
    /// Who watches single steps, and which may happen.
    pub actions: Option<Actions>,
    /// Gets a part for each step of the pipeline.
    pub timer: Timer,
}

impl<'a> Watch<'a> {
    /// `emit` hears of every event when it happens.
    pub fn new(emit: impl FnMut(Event) + 'a) -> Watch<'a> {
        Watch { emit: Box::new(emit), actions: None, timer: Timer::default() }
    }
}

/// Nobody hears of anything.
impl Default for Watch<'_> {
    fn default() -> Self {
        Watch::new(|_| ())
    }
}

/// A pipeline failed. Why was an event. The program is in any state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failed;

impl Pipeline {
    /// Runs on the whole program.
    pub fn run(&mut self, m: &mut Module, how: &RunOptions, watch: &mut Watch<'_>) -> Result<(), Failed> {
        let root = m.root();
        if self.anchor != ANY && self.anchor != m.name_text(root) {
            let message = format!("can't run '{}' pass manager on '{}' op", self.anchor, m.name_text(root));
            (watch.emit)(Event::Diagnostic(Diagnostic::error(m.loc(root), message)));
            return Err(Failed);
        }
        if let Err(d) = self.check_requirements(m, how) {
            (watch.emit)(Event::Diagnostic(d));
            return Err(Failed);
        }
        self.coalesce();
        let mut parts = Timer::of_steps(self);
        let whole = how.crash_reproducer.as_ref().filter(|r| !r.local);
        let whole = whole.map(|r| (r.path.clone(), how.reproducer(self.reproducer_text()).to_text(m)));
        let mut runner = Runner {
            how,
            emit: &mut *watch.emit,
            actions: watch.actions.as_mut(),
            dumps: Dumps::new(&how.printing),
            failures: Vec::new(),
        };
        let result = runner.steps(self, m, root, &mut parts);
        if let (Err(Failed), Some((path, text))) = (result, whole) {
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

/// A pass that failed, for the reproducer.
struct Failure {
    loc: Loc,
    place: String,
}

/// The state of one run on one thread.
struct Runner<'r> {
    how: &'r RunOptions,
    emit: &'r mut (dyn FnMut(Event) + 'r),
    actions: Option<&'r mut Actions>,
    dumps: Dumps<'r>,
    failures: Vec<Failure>,
}

impl Runner<'_> {
    fn steps(&mut self, p: &mut Pipeline, m: &mut Module, op: Op, timers: &mut [Timer]) -> Result<(), Failed> {
        for (step, timer) in p.steps.iter_mut().zip(timers) {
            match step {
                Step::Pass(pass) => self.pass(pass, m, op, timer)?,
                Step::Nested(pipelines) => self.nested(pipelines, m, op, timer)?,
            }
        }
        Ok(())
    }

    /// Runs each pipeline on its ops. One that fails does not keep the others from running.
    fn nested(&mut self, list: &mut [Pipeline], m: &mut Module, op: Op, timer: &mut Timer) -> Result<(), Failed> {
        if !self.begin("OpToOpPassAdaptor", m, op) {
            return Ok(());
        }
        let start = Instant::now();
        let mut result = Ok(());
        let several = list.len() > 1;
        for (i, target) in targets(list, m, op) {
            let start = Instant::now();
            let part = if several { &mut timer.parts[i] } else { &mut *timer };
            if self.steps(&mut list[i], m, target, &mut part.parts).is_err() {
                result = Err(Failed);
            }
            if several {
                part.add(start.elapsed());
            }
        }
        timer.add(start.elapsed());
        self.end();
        // The passes were verified without a look at the ops around theirs.
        if result.is_ok()
            && self.how.verify_each
            && m.parent_block(op).is_none()
            && let Err(errors) = verify_references(m, op)
        {
            self.report(m, errors);
            result = Err(Failed);
        }
        result
    }

    fn pass(&mut self, pass: &mut Scheduled, m: &mut Module, op: Op, timer: &mut Timer) -> Result<(), Failed> {
        let info = pass.info;
        if let Err(d) = may_run(info, m, op) {
            return self.fail(m, vec![d]);
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
            let start = Instant::now();
            result = self.guarded(pass, m, op);
            timer.add(start.elapsed());
            self.end();
        }
        if let Err(Panicked::Yes) = result {
            // Nothing in the program can be relied on any more.
            return self.failed(info, m, op, local);
        }
        if result.is_ok() && self.how.verify_each {
            result = self.verify(info, m, op);
        }
        if result.is_err() {
            let event = self.dumps.failed(info, m, op);
            self.emit(event);
            return self.failed(info, m, op, local);
        }
        let event = self.dumps.after(info, m, op, before);
        self.emit(event);
        Ok(())
    }

    /// Runs a pass and reports what it has to say.
    fn guarded(&mut self, pass: &mut Scheduled, m: &mut Module, op: Op) -> Result<(), Panicked> {
        let mut cx = PassContext::new(pass.info, &mut pass.counts, self.actions.as_deref_mut());
        let result = catch_unwind(AssertUnwindSafe(|| pass.pass.run(m, op, &mut cx)));
        let mut said = cx.diagnostics;
        match result {
            Ok(result) => {
                said.extend(result.err());
                let failed = said.iter().any(Diagnostic::is_error);
                self.report(m, said);
                if failed { Err(Panicked::No) } else { Ok(()) }
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
                said.into_iter().for_each(|d| (self.emit)(Event::Diagnostic(d)));
                Err(Panicked::Yes)
            }
        }
    }

    fn verify(&mut self, info: &PassInfo, m: &Module, op: Op) -> Result<(), Panicked> {
        let Err(mut errors) = verify_op(m, op) else { return Ok(()) };
        for d in &mut errors {
            d.notes.push((m.loc(op), format!("after pass '{}'", info.name)));
        }
        self.report(m, errors);
        Err(Panicked::No)
    }

    /// Notes that a pass failed, and writes the reproducer of it alone if there is one.
    fn failed(&mut self, info: &PassInfo, m: &Module, op: Op, local: Option<(PathBuf, String)>) -> Result<(), Failed> {
        self.failures.push(Failure { loc: m.loc(op), place: place(info, m, op) });
        if let Some((path, text)) = local {
            self.write_reproducer(path, text);
            self.failures.clear();
        }
        Err(Failed)
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
        (self.emit)(Event::File { path, text });
        (self.emit)(Event::Diagnostic(d));
    }

    fn fail(&mut self, m: &Module, diagnostics: Vec<Diagnostic>) -> Result<(), Failed> {
        self.report(m, diagnostics);
        Err(Failed)
    }

    fn report(&mut self, m: &Module, diagnostics: Vec<Diagnostic>) {
        for mut d in diagnostics {
            if self.how.op_on_diagnostic {
                d.show_op(m);
            }
            (self.emit)(Event::Diagnostic(d));
        }
    }

    fn emit(&mut self, event: Option<Event>) {
        if let Some(event) = event {
            (self.emit)(event);
        }
    }

    fn begin(&mut self, name: &str, m: &Module, op: Op) -> bool {
        self.actions.as_mut().is_none_or(|actions| actions.begin(PASS, name, Unit::Op(op), m))
    }

    fn end(&mut self) {
        if let Some(actions) = &mut self.actions {
            actions.end(PASS);
        }
    }
}

/// Whether a pass that failed did so by a panic.
enum Panicked {
    No,
    Yes,
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it said nothing")
}

/// The ops directly in the regions of `op` that a pipeline of the list runs on, with its number.
fn targets(list: &[Pipeline], m: &Module, op: Op) -> Vec<(usize, Op)> {
    let regions = m.regions(op).iter();
    let ops = regions.flat_map(|&r| m.region_blocks(r)).flat_map(|b| m.block_ops(b));
    let fits = |p: &Pipeline, op: Op| match p.anchor.as_str() {
        ANY => m.has_trait(op, Traits::ISOLATED),
        name => m.name_text(op) == name,
    };
    ops.filter_map(|op| Some((list.iter().position(|p| fits(p, op))?, op))).collect()
}

/// Passes run on the program, or on registered ops that see nothing of what is around them.
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
