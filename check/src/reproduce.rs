//! Small programs that show the same bug of a pass.
//!
//! The start is a *slice*: the op that the rewrite matches with the definitions of its operands, in a function of its
//! own, if that shows the bug; otherwise the program before the pass. It is then reduced.

use crate::options::Options;
use crate::slice::slice;
use crate::subject::{Checked, Culprit, EXECUTION, Rewrite, Subject, only};
use gradus_ir::pass::{ADAPTOR, Action, ActionUnit, Observer, PASS, Pipeline};
use gradus_ir::{Module, Op, verify};
use gradus_reduce::{Reduced, reduce};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum depth of definitions in a slice.
const DEPTH: usize = 3;

/// Limits of the inputs and ops with which most candidates are checked.
const FEW: u64 = 30;
const FUEL: u64 = 1 << 12;

/// A reproducer.
pub struct Reproduced {
    /// The reduced program.
    pub reduced: Reduced,
    /// The bug that it shows.
    pub culprit: Culprit,
    /// Whether it started as a slice.
    pub sliced: bool,
    /// Whether the pass alone fails; otherwise the whole pipeline does.
    pub is_alone: bool,
}

impl Subject<'_> {
    /// Finds a small program in which the pass alone fails by the same rewrite, or else the whole pipeline. `pipeline` parses a
    /// pipeline. `None` if neither fails on a copy of the program.
    pub fn reproduce(
        &self,
        culprit: &Culprit,
        pipeline: &dyn Fn(&str) -> Option<Pipeline>,
        options: &gradus_reduce::ReduceOptions,
    ) -> Option<Reproduced> {
        let alone = || pipeline(&culprit.pipeline).expect("it was made before");
        let start = match pipeline(&culprit.pipeline).filter(|_| culprit.pass != EXECUTION) {
            Some(_) => self.before(culprit).slice(&|m| self.shows(m, &alone, culprit).is_some()),
            None => None,
        };
        let is_alone = start.is_some();
        let passes: &dyn Fn() -> Pipeline = if is_alone { &alone } else { self.pipeline };
        let (start, sliced) = match start {
            Some(start) => start,
            None => Some((self.program)()).filter(|m| self.shows(m, passes, culprit).is_some()).map(|m| (m, false))?,
        };
        // Few inputs suffice in most cases.
        let quick = self.with(Options {
            inputs: FEW.min(self.options.inputs),
            fuel: FUEL.min(self.options.fuel),
            exhaustive: 0,
            ..self.options
        });
        let subject = if quick.shows(&start, passes, culprit).is_some() { &quick } else { self };
        let reduced = reduce(&start, &mut |m| subject.shows(m, passes, culprit).is_some(), options);
        let culprit =
            self.shows(&reduced.module, passes, culprit).or_else(|| quick.shows(&reduced.module, passes, culprit))?;
        Some(Reproduced { reduced, culprit, sliced, is_alone })
    }

    fn with(&self, options: Options) -> Subject<'_> {
        Subject { how: self.how.clone(), options, ..*self }
    }

    /// Returns the bug that a pipeline shows on a program, if pass and kind of rewrite are the same and the function is
    /// no less defined.
    pub fn shows(&self, m: &Module, pipeline: &dyn Fn() -> Pipeline, culprit: &Culprit) -> Option<Culprit> {
        let subject = Subject { program: &|| m.clone(), pipeline, how: self.how.clone(), ..*self };
        let Checked::Wrong(found) = subject.check() else { return None };
        let same = found.pass == culprit.pass
            && found.conclusive >= culprit.conclusive
            && found.rewrite.as_ref().map(Rewrite::title) == culprit.rewrite.as_ref().map(Rewrite::title);
        same.then_some(*found)
    }

    /// Returns the program before the pass and before the rewrite.
    fn before(&self, culprit: &Culprit) -> Before {
        let kept = Arc::new(Mutex::new(Before::default()));
        let rewrite = culprit.rewrite.as_ref().map(|rewrite| rewrite.number);
        let mut actions = rewrite.map_or_else(gradus_ir::pass::Actions::new, only);
        actions.watch(Box::new(Keep { pass: culprit.number, rewrite, passes: 0, kept: kept.clone() }));
        let _ = self.run(&mut (self.program)(), actions, &mut |_| Ok(()));
        std::mem::take(&mut kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The states of a program before a pass and before a rewrite.
#[derive(Default)]
struct Before {
    pass: Option<Module>,
    /// Before the rewrite, with the matched op.
    rewrite: Option<(Module, Op)>,
}

impl Before {
    /// Returns the first program that shows the bug: slices, then the program before the pass; and whether it is a
    /// slice.
    fn slice(self, shows: &dyn Fn(&Module) -> bool) -> Option<(Module, bool)> {
        let slices = self.rewrite.iter().flat_map(|(m, op)| (1..=DEPTH).filter_map(|depth| slice(m, *op, depth)));
        let sliced = slices.into_iter().find(|m| verify(m).is_ok() && shows(m));
        match sliced {
            Some(m) => Some((m, true)),
            None => self.pass.filter(|m| shows(m)).map(|m| (m, false)),
        }
    }
}

/// An observer that copies the program before a pass and before a rewrite.
struct Keep {
    pass: usize,
    rewrite: Option<u64>,
    /// Number of passes that began.
    passes: usize,
    kept: Arc<Mutex<Before>>,
}

impl Observer for Keep {
    fn before(&mut self, action: &Action<'_>, _: bool) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if action.tag == PASS && action.name != ADAPTOR {
            if self.passes == self.pass {
                kept.pass = Some(action.module.clone());
            }
            self.passes += 1;
        }
        if action.is_rewrite()
            && Some(action.rewrites) == self.rewrite
            && let ActionUnit::Op(op) = action.unit
        {
            kept.rewrite = Some((action.module.clone(), op));
        }
    }

    fn after(&mut self, _: &'static str, _: bool) {}
}
