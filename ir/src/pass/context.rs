//! What a pass gets besides the program.

use super::PassInfo;
use super::actions::{Actions, Unit};
use crate::diag::Diagnostic;
use crate::module::{Module, Op};
use std::any::Any;

/// A pass's counters, what it has to say, and who watches it.
pub struct PassContext<'a> {
    info: &'static PassInfo,
    counts: &'a mut [u64],
    actions: Option<&'a mut Actions>,
    /// How many threads may be used.
    pub(super) threads: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The names of the reports that are wanted.
    pub(super) wanted: &'a [&'static str],
    pub(super) reports: Vec<Box<dyn Any + Send>>,
}

impl<'a> PassContext<'a> {
    /// For running a pass by hand. `counts` are one for each of the declared statistics.
    pub fn new(info: &'static PassInfo, counts: &'a mut [u64], actions: Option<&'a mut Actions>) -> Self {
        assert_eq!(info.statistics.len(), counts.len());
        PassContext { info, counts, actions, threads: 1, diagnostics: Vec::new(), wanted: &[], reports: Vec::new() }
    }

    /// Adds to one of the declared statistics. Panics when there is none of that name: a mistake in the pass.
    pub fn count(&mut self, name: &str, n: u64) {
        let at = self.info.statistics.iter().position(|s| s.0 == name);
        self.counts[at.unwrap_or_else(|| panic!("'{}' declares no statistic '{name}'", self.info.name))] += n;
    }

    /// Says something: a remark, a warning, or an error of several. An error makes the pass fail.
    pub fn emit(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether somebody wants a report of this name, which takes time to make.
    pub fn wants(&self, report: &str) -> bool {
        self.wanted.contains(&report)
    }

    /// Hands over a report, for those who know what it is.
    pub fn report(&mut self, report: Box<dyn Any + Send>) {
        self.reports.push(report);
    }

    /// Who watches single rewrites, if anybody does.
    pub fn actions(&mut self) -> Option<&mut Actions> {
        self.actions.as_deref_mut()
    }

    /// Announces one rewrite at `op`. `false` when it must not be done.
    pub fn allows(&mut self, tag: &'static str, m: &Module, op: Op) -> bool {
        let Some(actions) = &mut self.actions else { return true };
        let allowed = actions.begin(tag, "", Unit::Op(op), m);
        if allowed {
            actions.end(tag, true);
        }
        allowed
    }
}
