//! Bisection of pipelines that make a program invalid or panic: the pass and the rewrite.

use crate::bisect::{Subject, only};
use gradus_ir::Diagnostic;
use gradus_ir::pass::{Action, Actions, Failed, Observer, PASS};
use std::sync::{Arc, Mutex, PoisonError};

impl Subject<'_> {
    /// Adds notes to the first diagnostic of a failed pipeline: the pass, and the rewrite without which it succeeds.
    pub(crate) fn blame(&self, why: Failed, mut said: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let what = match why {
            Failed::Refused => return said,
            Failed::Invalid => "the program is invalid",
            Failed::Panicked => "the compiler panicked",
        };
        let last = Arc::new(Mutex::new(Last::default()));
        let mut actions = Actions::new();
        actions.watch(Box::new(Watcher(last.clone())));
        let _ = self.run(&mut (self.program)(), actions, &mut |_| Ok(()));
        let Last { pass, before, after } = std::mem::take(&mut *last.lock().unwrap_or_else(PoisonError::into_inner));
        if said.is_empty() || pass.is_empty() {
            return said;
        }
        let first = said.remove(0);
        let loc = first.loc;
        let mut first = first.note(loc, format!("{what} after pass '{pass}'"));
        if let Some(rewrite) = self.first((before, after), |count| self.fails(count)) {
            first = rewrite.explain(first);
        }
        said.insert(0, first);
        said
    }

    /// Whether the pipeline makes the program invalid or panics when only the first `count` rewrites are applied.
    fn fails(&self, count: u64) -> bool {
        let ended = self.run(&mut (self.program)(), only(count), &mut |_| Ok(()));
        ended.is_err_and(|(why, _)| why != Failed::Refused)
    }
}

/// The last pass that began, with the numbers of rewrites before it and after it.
#[derive(Default)]
struct Last {
    pass: String,
    before: u64,
    after: u64,
}

struct Watcher(Arc<Mutex<Last>>);

impl Observer for Watcher {
    fn before(&mut self, action: &Action<'_>, _: bool) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if action.tag == PASS {
            *last = Last { pass: action.name.to_owned(), before: action.rewrites, after: action.rewrites };
        } else if action.is_rewrite() {
            last.after = action.rewrites + 1;
        }
    }

    fn after(&mut self, _: &'static str, _: bool) {}
}
