//! Passes as a concept: what a pass says about itself ([`PassInfo`]), what it gets ([`PassContext`]), how passes are put
//! together ([`Pipeline`]) and run ([`RunOptions`]), and who may watch ([`Watch`], [`Actions`], [`Timer`]).
//!
//! ```
//! use gradus_ir::pass::{PassContext, Pipeline, RunOptions, Watch};
//! use gradus_ir::{Context, Diagnostic, Module, Op, Pass, PassInfo};
//!
//! struct CountOps;
//!
//! const COUNT_OPS: PassInfo = PassInfo {
//!     name: "count-ops",
//!     doc: "Counts ops.",
//!     statistics: &[("num-ops", "Number of ops")],
//!     make: |_| Ok(Box::new(CountOps)),
//!     ..PassInfo::DEFAULT
//! };
//!
//! impl Pass for CountOps {
//!     fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
//!         cx.count("num-ops", m.ops_under(op).len() as u64);
//!         Ok(())
//!     }
//! }
//!
//! let mut m = Module::new(Context::new(&[]));
//! let mut pipeline = Pipeline::parse("builtin.module(count-ops)", &[&COUNT_OPS]).unwrap();
//! pipeline.run(&mut m, &RunOptions::default(), &mut Watch::default()).unwrap();
//! assert!(pipeline.statistics(Default::default()).contains("(S) 1 num-ops - Number of ops"));
//! ```

mod actions;
mod context;
mod dump;
mod log;
mod options;
mod parallel;
mod parse;
mod pipeline;
mod reproducer;
mod requirements;
mod run;
mod statistics;
mod timing;

pub use actions::{Action, Actions, ITERATION, Observer, PASS, PATTERN, REWRITE, Unit};
pub use context::PassContext;
pub use dump::{IrPrinting, Selection};
pub use log::{ActionLog, ActionProfile};
pub use options::{OptionKind, Options, PassOption};
pub use pipeline::Pipeline;
pub use reproducer::{CrashReproducer, Reproducer};
pub use requirements::{Property, Test};
pub use run::{AfterPass, Event, Failed, Passed, RunOptions, Watch};
pub use statistics::Display;
pub use timing::{Timer, TimingFormat};

use crate::diag::Diagnostic;
use crate::module::{Module, Op};

/// What a pass says about itself. The command line, `gradus list` and the documentation are made from this.
pub struct PassInfo {
    /// The name in pipelines and, with `--`, on the command line.
    pub name: &'static str,
    /// What reports call it; empty for the name in camel case.
    pub class: &'static str,
    /// Headings *Before / After*, *Does*, *Refuses*, *Cost*; the first line is the summary.
    pub doc: &'static str,
    /// The only op that the pass runs on, or any.
    pub anchor: Option<&'static str>,
    /// Options.
    pub options: &'static [PassOption],
    /// Counters that the pass keeps with [`PassContext::count`]: name and meaning.
    pub statistics: &'static [(&'static str, &'static str)],
    /// What must hold of the program before the pass runs.
    pub requires: &'static [&'static Property],
    /// What holds of the program when the pass has run.
    pub establishes: &'static [&'static Property],
    /// Whether floats may be rounded otherwise, since sums are put in another order. Checks compare accordingly.
    pub rounds: bool,
    /// Makes the pass. Errors say what is wrong with an option's value.
    pub make: fn(&Options) -> Result<Box<dyn Pass>, String>,
}

impl PassInfo {
    /// The declaration that says nothing, for `..` in others.
    pub const DEFAULT: PassInfo = PassInfo {
        name: "",
        class: "",
        doc: "",
        anchor: None,
        options: &[],
        statistics: &[],
        requires: &[],
        establishes: &[],
        rounds: false,
        make: |_| Err("this pass cannot be made".into()),
    };

    /// The first line of the documentation, without its full stop.
    pub fn summary(&self) -> &'static str {
        self.doc.lines().next().unwrap_or("").trim_end_matches('.')
    }

    /// What reports call the pass.
    pub fn class_name(&self) -> String {
        if !self.class.is_empty() {
            return self.class.to_owned();
        }
        let capitalized = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
        self.name.split('-').filter(|word| word.is_ascii() && !word.is_empty()).map(capitalized).collect()
    }
}

impl std::fmt::Debug for PassInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A pass: takes a valid op to a valid op with the same meaning. What happens in between is its own business. It changes
/// nothing outside the op that it runs on.
pub trait Pass: Send {
    /// Runs on `op`. The error says why the pass cannot do its work; the program may then be in any state.
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic>;

    /// Whether running on an op is the same as running on parts of the functions in it, and on the rest: what the pass
    /// does and says inside a function depends on nothing but the function, what it does outside on no function's body,
    /// and it goes through the functions in order. Then several threads may run it on one program.
    fn is_function_local(&self) -> bool {
        false
    }
}

/// The pass of that name. The error suggests the nearest one.
pub fn find_pass(passes: &[&'static PassInfo], name: &str) -> Result<&'static PassInfo, String> {
    passes.iter().copied().find(|p| p.name == name).ok_or_else(|| {
        let near = crate::diag::suggest(name, passes.iter().map(|p| p.name));
        let hint = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
        format!("'{name}' does not refer to a registered pass or pass pipeline{hint}")
    })
}
