//! Compilations under check, and what is found of them.

use crate::compare::Verdict;
use crate::execution::Execution;
use crate::options::Options;
use crate::outcome::Difference;
use gradus_ir::pass::{Action, ActionUnit, Actions, Failed, Observer, Passed, Pipeline, REWRITE, RunOptions, Watch};
use gradus_ir::{Diagnostic, Loc, Module};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the last stage of a check, in place of a pass.
pub(crate) const EXECUTION: &str = "execution";

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
        self.explain_as(error, format!("caused by rewrite {}: `{}`", self.number, self.what))
    }

    /// Adds a cause and the op that it concerns to an error.
    pub(crate) fn explain_as(&self, error: Diagnostic, cause: String) -> Diagnostic {
        // The op may be in another function than the one that differs.
        let loc = if self.loc == Loc::UNKNOWN { error.loc } else { self.loc };
        error.note(loc, cause).note(loc, format!("on {}", self.op))
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

/// A pipeline that fails.
pub struct PassFailure {
    /// Whether it refuses the program, makes it invalid, or panics.
    pub why: Failed,
    /// The pass that fails; empty if the pipeline refuses the program.
    pub pass: String,
    /// The rewrite without which it succeeds.
    pub rewrite: Option<Rewrite>,
    /// The diagnostics, with notes on pass and rewrite.
    pub said: Vec<Diagnostic>,
}

impl PassFailure {
    /// Whether pass, kind of failure and kind of rewrite are the same.
    pub(crate) fn is_like(&self, other: &PassFailure) -> bool {
        let what = |failure: &PassFailure| failure.rewrite.as_ref().map(|rewrite| rewrite.what.clone());
        self.why == other.why && self.pass == other.pass && what(self) == what(other)
    }
}

impl Subject<'_> {
    /// Finds the first rewrite with which a run is wrong by bisection, between two numbers of rewrites; `None` if it is wrong
    /// without any of them, or right with all.
    pub(crate) fn first(&self, (right, wrong): (u64, u64), is_wrong: impl Fn(u64) -> bool) -> Option<Rewrite> {
        self.rewrite(last_right((right, wrong), is_wrong)?)
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

/// Returns a number with which a run is right, while it is wrong with the next one, by bisection between two numbers; `None` if it is
/// wrong with the first, or right with the second.
pub(crate) fn last_right((mut right, mut wrong): (u64, u64), is_wrong: impl Fn(u64) -> bool) -> Option<u64> {
    if right >= wrong || is_wrong(right) || !is_wrong(wrong) {
        return None;
    }
    while wrong - right > 1 {
        let middle = right + (wrong - right) / 2;
        if is_wrong(middle) { wrong = middle } else { right = middle }
    }
    Some(right)
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
            ActionUnit::Op(op) => Some(op),
            ActionUnit::Region(region) => action.module.region_op(region),
        };
        let (what, op_name) = (action.title(), op.map_or("", |op| action.module.name_text(op)).to_owned());
        let loc = op.map_or(Loc::UNKNOWN, |op| action.module.loc(op));
        let rewrite = Rewrite { number: self.number, what, op: action.unit_text(), op_name, loc };
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(rewrite);
    }

    fn after(&mut self, _: &'static str, _: bool) {}
}
