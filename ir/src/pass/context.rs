//! The context that a pass receives besides the program.

use super::PassInfo;
use super::actions::{ActionUnit, Actions};
use super::event::PassEvent;
use super::refusal::Refusal;
use crate::module::{Module, Op};
use crate::text::diag::Diagnostic;
use std::any::Any;

/// Statistics, diagnostics, reports and actions of a running pass.
pub struct PassContext<'a> {
    info: &'static PassInfo,
    counts: &'a mut [u64],
    actions: Option<&'a mut Actions>,
    /// Maximum number of threads.
    pub(super) threads: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Names of the requested reports.
    pub(super) wanted: &'a [&'static str],
    pub(super) reports: Vec<Box<dyn Any + Send>>,
    /// Receives progress.
    pub(super) watch: Option<&'a mut (dyn FnMut(PassEvent) + 'a)>,
}

impl<'a> PassContext<'a> {
    /// Creates a context for running a pass directly. `counts` has one entry per declared statistic.
    pub fn new(info: &'static PassInfo, counts: &'a mut [u64], actions: Option<&'a mut Actions>) -> Self {
        assert_eq!(info.statistics.len(), counts.len());
        PassContext {
            info,
            counts,
            actions,
            threads: 1,
            diagnostics: Vec::new(),
            wanted: &[],
            reports: Vec::new(),
            watch: None,
        }
    }

    /// Adds to a declared statistic. Panics if the name is not declared, which is a bug in the pass.
    pub fn count(&mut self, name: &str, n: u64) {
        let at = self.info.statistics.iter().position(|s| s.0 == name);
        self.counts[at.unwrap_or_else(|| panic!("'{}' declares no statistic '{name}'", self.info.name))] += n;
    }

    /// Emits a remark, a warning, or one of several errors. An error makes the pass fail.
    pub fn emit(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Emits the remark that the pass leaves `op` where it is. Panics if the pass declares no such place, which is a bug in the pass.
    pub fn refuse(&mut self, m: &Module, op: Op, refusal: &Refusal) {
        let PassInfo { name, stays, .. } = self.info;
        assert!(!stays.is_empty(), "'{name}' declares no place where ops stay");
        self.diagnostics.push(refusal.remark(m, op, stays));
    }

    /// Whether a report of this name was requested.
    pub fn wants(&self, report: &str) -> bool {
        self.wanted.contains(&report)
    }

    /// Delivers a report to the caller of the pipeline.
    pub fn report(&mut self, report: Box<dyn Any + Send>) {
        self.reports.push(report);
    }

    /// Shows how far a long pass is: the number of `what` that are done.
    pub fn progress(&mut self, what: &'static str, done: u64) {
        if let Some(watch) = &mut self.watch {
            watch(PassEvent::Progress { pass: self.info.name, done, what });
        }
    }

    /// Returns the action manager, if actions are counted or observed.
    pub fn actions(&mut self) -> Option<&mut Actions> {
        self.actions.as_deref_mut()
    }

    /// Announces a rewrite at `op`. Returns `false` if it must be skipped. Panics in builds with assertions if the tag is not declared,
    /// which is a bug in the pass.
    pub fn allows(&mut self, tag: &'static str, m: &Module, op: Op) -> bool {
        debug_assert!(
            self.info.rewrites.names(&m.ctx).iter().any(|name| name == tag),
            "'{}' declares no rewrite '{tag}'",
            self.info.name
        );
        let Some(actions) = &mut self.actions else { return true };
        let allowed = actions.begin(tag, "", ActionUnit::Op(op), m);
        if allowed {
            actions.end(tag, true);
        }
        allowed
    }
}
