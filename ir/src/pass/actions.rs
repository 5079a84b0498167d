//! Actions: the steps of a compilation, each with a tag and a number, that can be observed, counted or skipped.
//!
//! Tags are MLIR's: `pass-execution` (also for nested pipelines), `GreedyPatternRewriteIteration`, `apply-pattern`; in
//! addition `apply-fold` and `erase-dead-op` for the rest of the pattern driver, and `cse`. All but the first two are
//! single rewrites of the program and also count under the tag `rewrite`, so that `rewrite-count=N` stops a compilation
//! after its N-th rewrite.

use super::error::CounterError;
use crate::module::{Module, Op, Region};
use std::fmt;

/// A step that is about to happen.
pub struct Action<'a> {
    /// The tag.
    pub tag: &'static str,
    /// Name of the pass or pattern.
    pub name: &'a str,
    /// The op or region it applies to.
    pub unit: ActionUnit,
    /// The program before the action.
    pub module: &'a Module,
    /// Number of preceding actions.
    pub number: u64,
    /// Number of preceding rewrites.
    pub rewrites: u64,
}

/// The op or region that an action applies to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionUnit {
    /// An op.
    Op(Op),
    /// A region.
    Region(Region),
}

/// The tag of running a pass.
pub const PASS: &str = "pass-execution";
/// The name of the action that runs nested pipelines.
pub const ADAPTOR: &str = "OpToOpPassAdaptor";
/// The tag of an iteration of the pattern driver.
pub const ITERATION: &str = "GreedyPatternRewriteIteration";
/// The tag of trying a pattern.
pub const PATTERN: &str = "apply-pattern";
/// The tag under which all single rewrites count.
pub const REWRITE: &str = "rewrite";

impl Action<'_> {
    /// Whether the action is a single rewrite of the program.
    pub fn is_rewrite(&self) -> bool {
        self.tag != PASS && self.tag != ITERATION
    }

    /// Returns the tag, and the name of a pattern that is tried.
    pub fn title(&self) -> String {
        if self.tag == PATTERN { format!("{PATTERN} pattern: {}", self.name) } else { self.tag.to_owned() }
    }
}

/// Formats the action without its op, as MLIR does, whose log closes the quotes of a rewrite's title after the op.
impl fmt::Display for Action<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tag, self.unit) {
            (PASS, ActionUnit::Op(op)) => {
                write!(f, "`{PASS}` running `{}` on Operation `{}`", self.name, self.module.name_text(op))
            }
            (ITERATION, _) => write!(f, "{ITERATION}({})", self.name),
            _ => write!(f, "`{}", self.title()),
        }
    }
}

/// An observer of actions.
pub trait Observer: Send {
    /// Called before an action, which is skipped if `runs` is false.
    fn before(&mut self, action: &Action<'_>, runs: bool);
    /// Called after the most recent running action of a tag, with whether it changed something.
    fn after(&mut self, tag: &'static str, changed: bool);
}

/// The debug counter of a tag.
#[derive(Clone, Debug)]
struct Counter {
    tag: String,
    /// Number of actions so far.
    seen: u64,
    skip: u64,
    /// Maximum number of actions after the skipped ones.
    count: Option<u64>,
}

impl Counter {
    fn allows_next(&mut self) -> bool {
        self.seen += 1;
        self.seen > self.skip && self.count.is_none_or(|count| self.seen - self.skip <= count)
    }
}

/// The action manager of a compilation: numbering, observers and debug counters.
#[derive(Default)]
pub struct Actions {
    counters: Vec<Counter>,
    observers: Vec<Box<dyn Observer>>,
    number: u64,
    rewrites: u64,
}

impl Actions {
    /// Creates a manager without observers and limits.
    pub fn new() -> Actions {
        Actions::default()
    }

    /// Adds an observer.
    pub fn watch(&mut self, observer: Box<dyn Observer>) {
        self.observers.push(observer);
    }

    /// Parses `TAG-skip=N,TAG-count=M`: of the actions of a tag, the first N are skipped, the next M run, and later
    /// ones are skipped. Errors are MLIR's.
    pub fn set_counters(&mut self, text: &str) -> Result<(), CounterError> {
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| {
                format!(
                    "expected DebugCounter argument to have an `=` separating the counter name and value, but the \
                     provided argument was: `{part}`"
                )
            })?;
            let number: i64 = value
                .parse()
                .map_err(|_| format!("expected DebugCounter counter value to be numeric, but got `{value}`"))?;
            // A negative number means no limit.
            if let Some(tag) = name.strip_suffix("-skip") {
                self.counter(tag).skip = u64::try_from(number).unwrap_or(0);
            } else if let Some(tag) = name.strip_suffix("-count") {
                self.counter(tag).count = u64::try_from(number).ok();
            } else {
                return Err(format!(
                    "expected DebugCounter counter name to end with either `-skip` or `-count`, but got`{name}`"
                )
                .into());
            }
        }
        Ok(())
    }

    fn counter(&mut self, tag: &str) -> &mut Counter {
        let at = self.counters.iter().position(|c| c.tag == tag).unwrap_or_else(|| {
            self.counters.push(Counter { tag: tag.to_owned(), seen: 0, skip: 0, count: None });
            self.counters.len() - 1
        });
        &mut self.counters[at]
    }

    /// Returns the counters as printed by `--mlir-print-debug-counter`: seen, skip, count.
    pub fn counters(&self) -> String {
        let mut rows: Vec<&Counter> = self.counters.iter().collect();
        rows.sort_by(|a, b| a.tag.cmp(&b.tag));
        let count = |c: &Counter| c.count.map_or(-1, |n| n as i64);
        let row = |c: &&Counter| format!("{:<32}: {{{},{},{}}}\n", c.tag, c.seen, c.skip, count(c));
        format!("DebugCounter counters:\n{}", rows.iter().map(row).collect::<String>())
    }

    /// Returns the number of rewrites so far.
    pub fn rewrites(&self) -> u64 {
        self.rewrites
    }

    /// Begins an action. Returns `false` if it must be skipped; otherwise [`Actions::end`] has to follow.
    pub fn begin(&mut self, tag: &'static str, name: &str, unit: ActionUnit, module: &Module) -> bool {
        let action = Action { tag, name, unit, module, number: self.number, rewrites: self.rewrites };
        let is_rewrite = action.is_rewrite();
        let mut runs = true;
        for counter in &mut self.counters {
            if counter.tag == tag || is_rewrite && counter.tag == REWRITE {
                runs &= counter.allows_next();
            }
        }
        for observer in &mut self.observers {
            observer.before(&action, runs);
        }
        self.number += 1;
        self.rewrites += u64::from(is_rewrite);
        runs
    }

    /// Ends the most recent action of a tag, with whether it changed something.
    pub fn end(&mut self, tag: &'static str, changed: bool) {
        for observer in &mut self.observers {
            observer.after(tag, changed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_skip_and_stop() {
        let m = Module::new(crate::Context::new(&[]));
        let mut actions = Actions::new();
        actions.set_counters("apply-pattern-skip=1,rewrite-count=3").unwrap();
        let mut ran = |tag| actions.begin(tag, "p", ActionUnit::Op(m.root()), &m);
        let rounds: Vec<bool> = (0..5).map(|_| ran(PATTERN)).collect();
        assert_eq!(rounds, [false, true, true, false, false]);
        assert!(ran(PASS) && !ran("apply-fold"));
        assert_eq!(
            actions.counters(),
            "DebugCounter counters:\n\
             apply-pattern                   : {5,1,-1}\n\
             rewrite                         : {6,0,3}\n"
        );
    }

    #[test]
    fn mistakes_in_counters_are_named() {
        let message = |text| Actions::new().set_counters(text).unwrap_err().to_string();
        assert!(message("foo=1").ends_with("`-skip` or `-count`, but got`foo`"));
        assert!(message("foo-skip").ends_with("the provided argument was: `foo-skip`"));
        assert!(message("foo-skip=x").ends_with("to be numeric, but got `x`"));
    }
}
