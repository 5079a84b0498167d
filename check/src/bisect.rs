//! Bisection: the first pass, and the first rewrite in it, that changes the semantics of a program.

use crate::compare::{Reference, Verdict};
use crate::outcome::Difference;
use crate::stages::Stages;
use crate::subject::only;
pub use crate::subject::{Checked, Culprit, PassFailure, Rewrite, Subject};
use gradus_ir::Diagnostic;
use gradus_ir::pass::{Actions, Passed, RunOptions};
use rustc_hash::FxHashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The first difference after a pass.
struct FirstDifference {
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
                found = Some(FirstDifference { pass, pipeline, number, function, difference, error, rewrites });
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
    fn narrow(&self, reference: &Reference<'_>, found: FirstDifference) -> Culprit {
        let rewrite = self.first(found.rewrites, |count| self.is_wrong(reference, &found, count));
        let FirstDifference { pass, pipeline, number, function, difference, mut error, .. } = found;
        if let Some(rewrite) = &rewrite {
            error = rewrite.explain(error);
        }
        let conclusive = reference.is_conclusive(&function);
        Culprit { pass, pipeline, number, function, difference, conclusive, rewrite, error }
    }

    /// Whether the function differs after the pass when only the first `count` rewrites are applied. Other functions
    /// may differ because of other rewrites.
    fn is_wrong(&self, reference: &Reference<'_>, found: &FirstDifference, count: u64) -> bool {
        let differs = |verify_each: bool| self.differs(reference, found, count, verify_each);
        // Ops that a conversion leaves may be invalid beside those that it converts; most can be executed nevertheless.
        let unverified = || catch_unwind(AssertUnwindSafe(|| differs(false))).ok().flatten();
        differs(true).or_else(unverified).unwrap_or(false)
    }

    /// Whether the function differs after the pass with the first `count` rewrites; `None` if the pass fails.
    fn differs(
        &self,
        reference: &Reference<'_>,
        found: &FirstDifference,
        count: u64,
        verify_each: bool,
    ) -> Option<bool> {
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
