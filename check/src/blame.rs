//! Bisection of pipelines that make a program invalid or panic: the pass and the rewrite.

use crate::subject::{PassFailure, Subject, only};
use gradus_ir::pass::{ADAPTOR, Action, Actions, Failed, Observer, PASS};
use gradus_ir::{Diagnostic, Module};
use gradus_reduce::{ReduceOptions, Reduced, reduce};
use std::sync::{Arc, Mutex, PoisonError};

impl Subject<'_> {
    /// Finds a small program that fails by the same pass and kind of rewrite. `None` if the pipeline does not fail, or
    /// refuses the program.
    pub fn reproduce_failure(&self, options: &ReduceOptions) -> Option<(Reduced, PassFailure)> {
        let failure = |m: &Module| Subject { program: &|| m.clone(), how: self.how.clone(), ..*self }.failure();
        let start = (self.program)();
        let wanted = failure(&start)?;
        let reduced = reduce(&start, &mut |m| failure(m).is_some_and(|found| found.is_like(&wanted)), options);
        let found = failure(&reduced.module)?;
        Some((reduced, found))
    }

    /// Returns the failure of the pipeline, if it makes the program invalid or panics.
    fn failure(&self) -> Option<PassFailure> {
        let (why, said) = self.run(&mut (self.program)(), Actions::new(), &mut |_| Ok(())).err()?;
        (why != Failed::Refused).then(|| self.blame(why, said))
    }

    /// Finds the pass of a failed pipeline and the rewrite without which it succeeds, and adds notes on them to the first
    /// diagnostic.
    pub(crate) fn blame(&self, why: Failed, mut said: Vec<Diagnostic>) -> PassFailure {
        let what = match why {
            Failed::Refused => return PassFailure { why, pass: String::new(), rewrite: None, said },
            Failed::Invalid => "the program is invalid",
            Failed::Panicked => "the compiler panicked",
        };
        let last = Arc::new(Mutex::new(Last::default()));
        let mut actions = Actions::new();
        actions.watch(Box::new(Watcher(last.clone())));
        let _ = self.run(&mut (self.program)(), actions, &mut |_| {
            last.lock().unwrap_or_else(PoisonError::into_inner).has_passed = true;
            Ok(())
        });
        let Last { class, before, after, .. } =
            std::mem::take(&mut *last.lock().unwrap_or_else(PoisonError::into_inner));
        let passes = (self.pipeline)().passes();
        let pass =
            passes.into_iter().find(|info| info.class_name() == class).map_or(class, |info| info.name.to_owned());
        if said.is_empty() || pass.is_empty() {
            return PassFailure { why, pass, rewrite: None, said };
        }
        let error = said.iter().position(Diagnostic::is_error).unwrap_or(0);
        let first = said.remove(error);
        let loc = first.loc;
        let mut first = first.note(loc, format!("{what} after pass '{pass}'"));
        let rewrite = self.first((before, after), |count| self.fails(count));
        if let Some(rewrite) = &rewrite {
            first = rewrite.explain(first);
        }
        said.insert(0, first);
        PassFailure { why, pass, rewrite, said }
    }

    /// Whether the pipeline makes the program invalid or panics when only the first `count` rewrites are applied.
    fn fails(&self, count: u64) -> bool {
        let ended = self.run(&mut (self.program)(), only(count), &mut |_| Ok(()));
        ended.is_err_and(|(why, _)| why != Failed::Refused)
    }
}

/// The first pass that failed, or else the last one, with the numbers of rewrites before it and after it. A pipeline on the next
/// function runs although the one on a function failed.
#[derive(Default)]
struct Last {
    /// The pass, by the name of its class.
    class: String,
    before: u64,
    after: u64,
    /// Whether the pass has succeeded.
    has_passed: bool,
    /// Whether a pass has failed, which is kept.
    is_final: bool,
}

struct Watcher(Arc<Mutex<Last>>);

impl Observer for Watcher {
    fn before(&mut self, action: &Action<'_>, _: bool) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_final |= action.tag == PASS && !last.class.is_empty() && !last.has_passed;
        if last.is_final {
            return;
        }
        if action.tag == PASS && action.name != ADAPTOR {
            *last = Last {
                class: action.name.to_owned(),
                before: action.rewrites,
                after: action.rewrites,
                ..Last::default()
            };
        } else if action.is_rewrite() {
            last.after = action.rewrites + 1;
        }
    }

    fn after(&mut self, _: &'static str, _: bool) {}
}
