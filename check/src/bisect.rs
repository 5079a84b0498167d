//! Bisection: the first pass, and the first rewrite in it, that changes the semantics of a program.

use crate::blame::PassFailure;
use crate::compare::{Reference, Verdict};
use crate::execution::Execution;
use crate::options::Options;
use crate::outcome::Difference;
use crate::stages::Stages;
use gradus_ir::pass::{Action, Actions, Failed, Observer, Passed, Pipeline, REWRITE, RunOptions, Unit, Watch};
use gradus_ir::{Diagnostic, Loc, Module};
use rustc_hash::FxHashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// A compilation that can be repeated.
pub struct Subject<'a> {
    /// Parses the program.
    pub program: &'a dyn Fn() -> Module,
    /// Creates the pipeline.
    pub pipeline: &'a dyn Fn() -> Pipeline,
    /// The options of the pass manager.
    pub how: RunOptions,
    /// The options of checking.
    pub options: Options,
    /// The ways in which the compiled program is executed, to be compared too.
    pub executions: &'a [Box<dyn Execution + Sync>],
}

/// The first pass that changes the semantics of a program.
#[derive(Debug)]
pub struct Culprit {
    /// The pass, or `execution` for a compiled program that is wrong only as it is executed.
    pub pass: &'static str,
    /// The pipeline that runs the pass alone, at the same nesting.
    pub pipeline: String,
    /// The number of pass executions before it; a pass executes once per op that it is anchored on.
    pub number: usize,
    /// The function that differs after it.
    pub function: String,
    /// The counterexample.
    pub difference: Difference,
    /// Whether the function is defined on enough inputs for a later absence of differences to be conclusive.
    pub conclusive: bool,
    /// The first wrong rewrite, if the pass changes programs only by numbered rewrites.
    pub rewrite: Option<Rewrite>,
    /// The error that reports all this.
    pub error: Diagnostic,
}

/// A rewrite, as a numbered action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewrite {
    /// The number of rewrites before it; `--mlir-debug-counter=rewrite-count=N` stops before it.
    pub number: u64,
    /// Its title, such as `apply-pattern pattern: fold-add`.
    pub what: String,
    /// The root op as text, before the rewrite.
    pub op: String,
    /// The name of the root op.
    pub op_name: String,
    /// The location of the root op.
    pub loc: Loc,
}

impl Rewrite {
    /// Returns the kind of rewrite. Patterns have names; folds are distinguished by op.
    pub(crate) fn title(&self) -> String {
        match self.what.contains(':') {
            true => self.what.clone(),
            false => format!("{} on {}", self.what, self.op_name),
        }
    }

    /// Adds notes on the rewrite to an error that it causes.
    pub(crate) fn explain(&self, error: Diagnostic) -> Diagnostic {
        // The op may be in another function than the one that differs.
        let loc = if self.loc == Loc::UNKNOWN { error.loc } else { self.loc };
        let what = format!("caused by rewrite {}: `{}`", self.number, self.what);
        error.note(loc, what).note(loc, format!("on {}", self.op))
    }
}

/// The result of checking a pipeline.
pub enum Checked {
    /// All passes ran; the verdict on each function after the last.
    Passed(Vec<(String, Verdict)>),
    /// A pass changes the semantics.
    Wrong(Box<Culprit>),
    /// The pipeline failed.
    Failed(PassFailure),
}

impl Checked {
    /// Returns the errors of a failed check.
    pub fn errors(&self) -> &[Diagnostic] {
        match self {
            Checked::Passed(_) => &[],
            Checked::Wrong(culprit) => std::slice::from_ref(&culprit.error),
            Checked::Failed(failure) => &failure.said,
        }
    }

    /// Whether a pass refuses the program, which is no mistake.
    pub fn is_refused(&self) -> bool {
        matches!(self, Checked::Failed(failure) if failure.why == Failed::Refused)
    }

    /// Names the pass and the rewrite that fail, as a title for all failures of the same kind.
    pub fn title(&self) -> String {
        let (pass, rewrite) = match self {
            Checked::Passed(_) => return String::new(),
            Checked::Wrong(culprit) => (culprit.pass, &culprit.rewrite),
            Checked::Failed(failure) => (failure.pass.as_str(), &failure.rewrite),
        };
        match rewrite {
            Some(rewrite) => format!("{pass}, {}", rewrite.title()),
            None => pass.to_owned(),
        }
    }
}

/// The first difference after a pass.
struct Found {
    pass: &'static str,
    pipeline: String,
    number: usize,
    function: String,
    difference: Difference,
    error: Diagnostic,
    /// The numbers of rewrites before the pass and after it.
    rewrites: (u64, u64),
}

impl Subject<'_> {
    /// Runs the pipeline and compares with the original program after each pass.
    pub fn check(&self) -> Checked {
        self.check_watched(Actions::new())
    }

    /// Does the same as [`Subject::check`], with the given action handlers.
    pub fn check_watched(&self, actions: Actions) -> Checked {
        let before = (self.program)();
        let mut stages = Stages::new(&before, self.options);
        let mut m = (self.program)();
        let mut found = None;
        // The latest verdict on each function; a function without a new verdict has not changed since.
        let mut known: FxHashMap<String, Verdict> = FxHashMap::default();
        let said = self.run(
            &mut m,
            actions,
            &mut after_each(|number, earlier, passed| {
                let wrong = stages.after(passed, |reference, name, verdict| match verdict {
                    Verdict::Different(difference) => {
                        let difference = reference.smaller(name, passed.module, *difference);
                        let error = reference.error_after(passed, name, &difference);
                        Some((name.to_owned(), difference, error))
                    }
                    // Beside the program before the pass, only what cannot be told is news about the original.
                    Verdict::Same { .. } | Verdict::Unchanged if !reference.is_original() => None,
                    other => {
                        known.insert(name.to_owned(), other);
                        None
                    }
                });
                let (function, difference, error) = wrong?;
                let (pass, pipeline, rewrites) = (passed.info.name, passed.pipeline_text(), (earlier, passed.rewrites));
                found = Some(Found { pass, pipeline, number, function, difference, error, rewrites });
                Some(Diagnostic::error(passed.module.loc(passed.op), "differs"))
            }),
        );
        match (found, said) {
            (Some(found), _) => {
                Checked::Wrong(Box::new(stages.with_compared(|reference| self.narrow(reference, found))))
            }
            (None, Err((why, said))) => Checked::Failed(self.blame(why, said)),
            (None, Ok(())) => {
                let reference = stages.original();
                let mut verdict = |name: &str| known.remove(name).unwrap_or_else(|| reference.compare_alone(name, &m));
                let mut verdicts: Vec<_> = reference.names().map(|name| (name.to_owned(), verdict(name))).collect();
                match self.executed(stages.executed(), &m) {
                    Ok(executed) => verdicts.extend(executed),
                    Err(culprit) => return Checked::Wrong(culprit),
                }
                Checked::Passed(verdicts)
            }
        }
    }

    /// Finds the first wrong rewrite by bisection: the pass is right when limited to the rewrites before it, and wrong
    /// with one more.
    fn narrow(&self, reference: &Reference<'_>, found: Found) -> Culprit {
        let rewrite = self.first(found.rewrites, |count| self.is_wrong(reference, &found, count));
        let Found { pass, pipeline, number, function, difference, mut error, .. } = found;
        if let Some(rewrite) = &rewrite {
            error = rewrite.explain(error);
        }
        let conclusive = reference.is_conclusive(&function);
        Culprit { pass, pipeline, number, function, difference, conclusive, rewrite, error }
    }

    /// Finds the first rewrite with which a run is wrong by bisection, between two numbers of rewrites; `None` if it is wrong
    /// without any of them, or right with all.
    pub(crate) fn first(&self, (mut right, mut wrong): (u64, u64), is_wrong: impl Fn(u64) -> bool) -> Option<Rewrite> {
        if right >= wrong || is_wrong(right) || !is_wrong(wrong) {
            return None;
        }
        while wrong - right > 1 {
            let middle = right + (wrong - right) / 2;
            if is_wrong(middle) { wrong = middle } else { right = middle }
        }
        self.rewrite(right)
    }

    /// Whether the function differs after the pass when only the first `count` rewrites are applied. Other functions
    /// may differ because of other rewrites.
    fn is_wrong(&self, reference: &Reference<'_>, found: &Found, count: u64) -> bool {
        let differs = |verify_each: bool| self.differs(reference, found, count, verify_each);
        // Ops that a conversion leaves may be invalid beside those that it converts; most can be executed nevertheless.
        let unverified = || catch_unwind(AssertUnwindSafe(|| differs(false))).ok().flatten();
        differs(true).or_else(unverified).unwrap_or(false)
    }

    /// Whether the function differs after the pass with the first `count` rewrites; `None` if the pass fails.
    fn differs(&self, reference: &Reference<'_>, found: &Found, count: u64, verify_each: bool) -> Option<bool> {
        let mut m = (self.program)();
        let mut wrong = None;
        let how = RunOptions { verify_each, ..self.how.clone() };
        let _ = Subject { how, ..*self }.run(
            &mut m,
            only(count),
            &mut after_each(|n, _, passed| {
                if n < found.number {
                    return None;
                }
                wrong = Some(reference.differs_after(passed, &found.function, &found.difference));
                Some(Diagnostic::error(passed.module.loc(passed.op), "enough"))
            }),
        );
        wrong
    }

    /// Returns the rewrite of the given number.
    fn rewrite(&self, number: u64) -> Option<Rewrite> {
        let noted = Arc::new(Mutex::new(None));
        let mut actions = only(number + 1);
        actions.watch(Box::new(Note { number, noted: noted.clone() }));
        let _ = self.run(&mut (self.program)(), actions, &mut |_| Ok(()));
        noted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs the pipeline on one thread; an error comes with its diagnostics.
    pub(crate) fn run(
        &self,
        m: &mut Module,
        actions: Actions,
        look: &mut dyn FnMut(&Passed<'_>) -> Result<(), Diagnostic>,
    ) -> Result<(), (Failed, Vec<Diagnostic>)> {
        let mut said = Vec::new();
        let mut watch = Watch::new(|event| {
            if let gradus_ir::pass::PassEvent::Diagnostic(d) = event {
                said.push(d);
            }
        });
        watch.actions = Some(actions);
        watch.after_pass = Some(Box::new(look));
        let result = (self.pipeline)().run(m, &self.how, &mut watch);
        drop(watch);
        result.map_err(|why| (why, said))
    }
}

/// Calls `f` after each pass with the number of passes and of rewrites before it, until it returns a value, which ends the
/// compilation. Pipelines on the next functions run nevertheless, but `f` is not asked again.
fn after_each(
    mut f: impl FnMut(usize, u64, &Passed<'_>) -> Option<Diagnostic>,
) -> impl FnMut(&Passed<'_>) -> Result<(), Diagnostic> {
    let (mut number, mut rewrites, mut has_ended) = (0, 0, false);
    move |passed| {
        if has_ended {
            return Ok(());
        }
        let end = f(number, rewrites, passed);
        has_ended = end.is_some();
        (number, rewrites) = (number + 1, passed.rewrites);
        end.map_or(Ok(()), Err)
    }
}

/// Returns actions that apply only the first `count` rewrites.
pub(crate) fn only(count: u64) -> Actions {
    let mut actions = Actions::new();
    actions.set_counters(&format!("{REWRITE}-count={count}")).expect("a counter as it must be");
    actions
}

/// An action handler that records the description of one rewrite.
struct Note {
    number: u64,
    noted: Arc<Mutex<Option<Rewrite>>>,
}

impl Observer for Note {
    fn before(&mut self, action: &Action<'_>, _: bool) {
        if !action.is_rewrite() || action.rewrites != self.number {
            return;
        }
        let op = match action.unit {
            Unit::Op(op) => Some(op),
            Unit::Region(region) => action.module.region_op(region),
        };
        let (what, op_name) = (action.title(), op.map_or("", |op| action.module.name_text(op)).to_owned());
        let loc = op.map_or(Loc::UNKNOWN, |op| action.module.loc(op));
        let rewrite = Rewrite { number: self.number, what, op: action.unit_text(), op_name, loc };
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(rewrite);
    }

    fn after(&mut self, _: &'static str, _: bool) {}
}
