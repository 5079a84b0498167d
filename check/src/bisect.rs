//! Which pass changes the meaning of a program, and which of its rewrites.

use crate::compare::{Reference, Verdict};
use crate::options::Options;
use crate::outcome::Difference;
use gradus_ir::pass::{Action, Actions, Failed, Observer, Passed, Pipeline, REWRITE, RunOptions, Unit, Watch};
use gradus_ir::{Diagnostic, Loc, Module};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A compilation that can be repeated.
pub struct Subject<'a> {
    /// The program, as it was read.
    pub program: &'a dyn Fn() -> Module,
    /// What is done to it.
    pub pipeline: &'a dyn Fn() -> Pipeline,
    /// How.
    pub how: RunOptions,
    /// How it is checked.
    pub options: Options,
}

/// The first pass that changes the meaning of a program.
#[derive(Debug)]
pub struct Culprit {
    /// The pass.
    pub pass: &'static str,
    /// The pipeline that runs it alone, on ops in the same place.
    pub pipeline: String,
    /// How many passes ran before it, each on each op counted by itself.
    pub number: usize,
    /// The function that differs after it.
    pub function: String,
    /// What shows that.
    pub difference: Difference,
    /// Whether the function is defined on enough inputs to say that it does not differ, once that is so.
    pub conclusive: bool,
    /// The rewrite of the pass, if it changes programs by numbered rewrites alone.
    pub rewrite: Option<Rewrite>,
    /// An error that says all this.
    pub error: Diagnostic,
}

/// A rewrite of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewrite {
    /// How many rewrites there were before: `--mlir-debug-counter=rewrite-count=N` stops before it.
    pub number: u64,
    /// What it is, such as `` `apply-pattern pattern: fold-add ``.
    pub what: String,
    /// The op that it works on, before it.
    pub op: String,
    /// That op's name.
    pub op_name: String,
    /// That op's location.
    pub loc: Loc,
}

/// What came of running a pipeline.
pub enum Checked {
    /// All passes ran; what was found out about each function after the last.
    Passed(Vec<(String, Verdict)>),
    /// A pass changes what the program means.
    Wrong(Box<Culprit>),
    /// The pipeline failed: why, and what was said.
    Failed(Failed, Vec<Diagnostic>),
}

/// The first difference after a pass.
struct Found {
    pass: &'static str,
    pipeline: String,
    number: usize,
    function: String,
    difference: Difference,
    error: Diagnostic,
    /// How many rewrites there were before the pass and after it.
    rewrites: (u64, u64),
}

impl Subject<'_> {
    /// Runs the pipeline and compares after each pass.
    pub fn check(&self) -> Checked {
        self.check_watched(Actions::new())
    }

    /// The same, with actions that somebody watches.
    pub fn check_watched(&self, actions: Actions) -> Checked {
        let before = (self.program)();
        let reference = Reference::new(&before, self.options);
        let mut m = (self.program)();
        let mut found = None;
        // What was found out last about each function; since then it has not changed.
        let mut known: FxHashMap<String, Verdict> = FxHashMap::default();
        let said = self.run(
            &mut m,
            actions,
            &mut after_each(|number, earlier, passed| {
                let wrong = reference.after(passed).find_map(|(name, _, verdict)| match verdict {
                    Verdict::Different(difference) => Some((name.to_owned(), *difference)),
                    other => {
                        known.insert(name.to_owned(), other);
                        None
                    }
                });
                let (function, difference) = wrong?;
                let difference = reference.smaller(&function, passed.module, difference);
                let error = reference.error_after(passed, &function, &difference);
                let (pass, pipeline, rewrites) = (passed.info.name, passed.pipeline_text(), (earlier, passed.rewrites));
                found = Some(Found { pass, pipeline, number, function, difference, error, rewrites });
                Some(Diagnostic::error(passed.module.loc(passed.op), "differs"))
            }),
        );
        match (found, said) {
            (Some(found), _) => Checked::Wrong(Box::new(self.narrow(&reference, found))),
            (None, Err((why, said))) => Checked::Failed(why, said),
            (None, Ok(())) => {
                let mut verdict = |name: &str| known.remove(name).unwrap_or_else(|| reference.compare_alone(name, &m));
                Checked::Passed(reference.names().map(|name| (name.to_owned(), verdict(name))).collect())
            }
        }
    }

    /// Finds the rewrite, by halves: with only the first so many rewrites the pass is right, with one more it is wrong.
    fn narrow(&self, reference: &Reference<'_>, found: Found) -> Culprit {
        let (mut right, mut wrong) = found.rewrites;
        let is_wrong = |count: u64| self.is_wrong(reference, &found, count);
        let mut rewrite = None;
        if right < wrong && !is_wrong(right) && is_wrong(wrong) {
            while wrong - right > 1 {
                let middle = right + (wrong - right) / 2;
                if is_wrong(middle) { wrong = middle } else { right = middle }
            }
            rewrite = self.rewrite(right);
        }
        let Found { pass, pipeline, number, function, difference, mut error, .. } = found;
        error = match &rewrite {
            Some(rewrite) => {
                let what = format!("caused by rewrite {}: {}", rewrite.number, rewrite.what);
                // The op may be in another function than the one that differs.
                let loc = if rewrite.loc == Loc::UNKNOWN { error.loc } else { rewrite.loc };
                error.note(loc, what).note(loc, format!("on {}", rewrite.op))
            }
            None => error,
        };
        let conclusive = reference.is_conclusive(&function);
        Culprit { pass, pipeline, number, function, difference, conclusive, rewrite, error }
    }

    /// Whether the function that was found differs after the pass when only `count` rewrites happen. Other functions may
    /// differ by other rewrites.
    fn is_wrong(&self, reference: &Reference<'_>, found: &Found, count: u64) -> bool {
        let mut m = (self.program)();
        let mut wrong = false;
        let _ = self.run(
            &mut m,
            only(count),
            &mut after_each(|n, _, passed| {
                if n < found.number {
                    return None;
                }
                wrong = reference.differs_after(passed, &found.function);
                Some(Diagnostic::error(passed.module.loc(passed.op), "enough"))
            }),
        );
        wrong
    }

    /// What the rewrite with a number is.
    fn rewrite(&self, number: u64) -> Option<Rewrite> {
        let noted = Arc::new(Mutex::new(None));
        let mut actions = only(number + 1);
        actions.watch(Box::new(Note { number, noted: noted.clone() }));
        let _ = self.run(&mut (self.program)(), actions, &mut |_| Ok(()));
        noted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs the pipeline, on one thread, with why it fails and what is said then.
    pub(crate) fn run(
        &self,
        m: &mut Module,
        actions: Actions,
        look: &mut dyn FnMut(&Passed<'_>) -> Result<(), Diagnostic>,
    ) -> Result<(), (Failed, Vec<Diagnostic>)> {
        let mut said = Vec::new();
        let mut watch = Watch::new(|event| {
            if let gradus_ir::pass::Event::Diagnostic(d) = event {
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

/// Calls `f` after each pass with how many there were before, and how many rewrites there were before it. What it returns
/// ends the compilation.
fn after_each(
    mut f: impl FnMut(usize, u64, &Passed<'_>) -> Option<Diagnostic>,
) -> impl FnMut(&Passed<'_>) -> Result<(), Diagnostic> {
    let (mut number, mut rewrites) = (0, 0);
    move |passed| {
        let end = f(number, rewrites, passed);
        (number, rewrites) = (number + 1, passed.rewrites);
        end.map_or(Ok(()), Err)
    }
}

/// Lets only the first so many rewrites happen.
pub(crate) fn only(count: u64) -> Actions {
    let mut actions = Actions::new();
    actions.set_counters(&format!("{REWRITE}-count={count}")).expect("a counter as it must be");
    actions
}

/// Notes what a rewrite is.
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
        let (what, op_name) = (action.to_string(), op.map_or("", |op| action.module.name_text(op)).to_owned());
        let loc = op.map_or(Loc::UNKNOWN, |op| action.module.loc(op));
        let rewrite = Rewrite { number: self.number, what, op: action.unit_text(), op_name, loc };
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(rewrite);
    }

    fn after(&mut self, _: &'static str, _: bool) {}
}
