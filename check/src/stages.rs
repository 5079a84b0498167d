//! The programs with which those after the passes of a pipeline are compared.
//!
//! A program is compared with the original in the float mode that the passes need which have changed it so far. A pass that keeps
//! floats, after one that changes them, is compared with the program before it, bit by bit: the mode of the others would hide
//! what it does to signs of zeros and to small numbers.

use crate::compare::{Reference, Verdict};
use crate::options::{Floats, Options};
use gradus_ir::equal::structurally_equal;
use gradus_ir::pass::{FloatChange, Passed};
use gradus_ir::{Diagnostic, Module};
use std::cell::OnceCell;

/// The original program in each float mode, and the program before the next pass.
pub struct Stages<'m> {
    original: &'m Module,
    options: Options,
    /// The change of floats by the passes that have changed the program so far.
    change: FloatChange,
    /// The original in the mode of each [`FloatChange`].
    references: [OnceCell<Reference<'m>>; 6],
    /// The program before the next pass, if it is not the original.
    previous: Option<Module>,
    /// Whether the last pass was compared with the program before it.
    is_local: bool,
}

impl<'m> Stages<'m> {
    /// Creates the stages of a pipeline, before its first pass.
    pub fn new(original: &'m Module, options: Options) -> Stages<'m> {
        let references = Default::default();
        Stages { original, options, change: FloatChange::None, references, previous: None, is_local: false }
    }

    /// Returns the original program, in the mode that the passes need which have changed it so far.
    pub fn original(&self) -> &Reference<'m> {
        self.allowing(self.change)
    }

    /// Returns the original program, in the mode that the passes and kernels need, which round in their own ways.
    pub(crate) fn executed(&self) -> &Reference<'m> {
        self.allowing(self.change.max(FloatChange::Rounds))
    }

    fn allowing(&self, change: FloatChange) -> &Reference<'m> {
        let floats = self.options.floats.allowing(change);
        let cell = &self.references[change as usize];
        cell.get_or_init(|| Reference::new(self.original, Options { floats, ..self.options }))
    }

    /// Calls `find` with the verdict on each function that a pass may have changed and the program with which it is compared, until
    /// it returns a value.
    pub(crate) fn after<T>(
        &mut self,
        passed: &Passed<'_>,
        mut find: impl FnMut(&Reference<'_>, &str, Verdict) -> Option<T>,
    ) -> Option<T> {
        let before = self.previous.as_ref().unwrap_or(self.original);
        if structurally_equal(before, before.root(), passed.module, passed.module.root()) {
            return None;
        }
        let change = passed.floats();
        let is_free = self.change > FloatChange::None && self.options.floats == Floats::Declared;
        self.is_local = is_free && change == FloatChange::None;
        self.change = self.change.max(change);
        let found = self.with_compared(|reference| {
            reference.after(passed).find_map(|(name, _, verdict)| find(reference, name, verdict))
        });
        if found.is_none() {
            self.previous = Some(passed.module.clone());
        }
        found
    }

    /// Calls `f` with the program with which the last pass was compared.
    pub(crate) fn with_compared<T>(&self, f: impl FnOnce(&Reference<'_>) -> T) -> T {
        match self.previous.as_ref().filter(|_| self.is_local) {
            Some(previous) => f(&Reference::before_pass(previous, self.options)),
            None => f(self.original()),
        }
    }

    /// Returns the error of a function that differs after a pass.
    pub fn error_after(&mut self, passed: &Passed<'_>) -> Option<Diagnostic> {
        self.after(passed, |reference, name, verdict| match verdict {
            Verdict::Different(difference) => Some(reference.error_after(passed, name, &difference)),
            _ => None,
        })
    }
}
