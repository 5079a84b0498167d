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
mod error;
mod event;
mod float_change;
mod log;
mod options;
mod parallel;
mod parse;
mod pipeline;
mod refusal;
mod reproducer;
mod requirements;
mod run;
mod statistics;
mod timing;

pub use actions::{ADAPTOR, Action, ActionUnit, Actions, ITERATION, Observer, PASS, PATTERN, REWRITE};
pub use context::PassContext;
pub use dump::{IrPrinting, Selection};
pub use error::{CounterError, PipelineError};
pub use event::PassEvent;
pub use float_change::FloatChange;
pub use log::{ActionLog, ActionProfile};
pub use options::{OptionKind, Options, PassOption};
pub use pipeline::Pipeline;
pub use refusal::{Concern, Refusal};
pub use reproducer::{CrashReproducer, Reproducer};
pub use requirements::{Property, Test};
pub use run::{AfterPass, Failed, Passed, RunOptions, Watch};
pub use statistics::Display;
pub use timing::{Timer, TimingFormat};

use crate::context::Context;
use crate::module::{Module, Op};
use crate::text::diag::{Diagnostic, hint};

/// The declaration of a pass, from which command line, listings and documentation are generated.
pub struct PassInfo {
    /// Name in pipelines and, with `--`, on the command line.
    pub name: &'static str,
    /// Name in reports; if empty, `name` in camel case.
    pub class: &'static str,
    /// Documentation with the headings *Before / After*, *Does*, *Refuses*, *Cost*; the first line is the summary.
    pub doc: &'static str,
    /// The op that the pass runs on; `None` for any.
    pub anchor: Option<&'static str>,
    /// The options.
    pub options: &'static [PassOption],
    /// Statistics, updated by [`PassContext::count`]: name and description.
    pub statistics: &'static [(&'static str, &'static str)],
    /// The numbered rewrites.
    pub rewrites: Rewrites,
    /// Values of options to test the pass with, where they do not follow from the option's kind: the option and its values.
    pub samples: &'static [(&'static str, OptionSamples)],
    /// The place where ops stay that the pass refuses, such as `on the host`; empty for a pass that refuses none.
    pub stays: &'static str,
    /// Properties of the program that the pass requires.
    pub requires: &'static [&'static Property],
    /// Properties of the program that the pass establishes.
    pub establishes: &'static [&'static Property],
    /// Returns the change of floats that the pass may make with these options.
    pub floats: fn(&Options) -> FloatChange,
    /// Constructs the pass.
    pub make: MakePassFn,
}

/// The numbered rewrites of a pass, which `fuzz` expects to apply.
#[derive(Clone, Copy)]
pub enum Rewrites {
    /// Tags of [`PassContext::allows`].
    Tags(&'static [&'static str]),
    /// The names of patterns, rules and folds, that a function returns.
    Names(fn(&Context) -> Vec<String>),
}

impl Rewrites {
    /// Returns the names of the rewrites.
    pub fn names(&self, ctx: &Context) -> Vec<String> {
        match self {
            Rewrites::Tags(tags) => tags.iter().map(|&tag| tag.to_owned()).collect(),
            Rewrites::Names(names) => names(ctx),
        }
    }
}

/// Returns values of an option as text.
pub type OptionSamples = fn(&Context) -> Vec<String>;

/// Constructs a pass from its options. The error is a message about an invalid value, which becomes a [`PipelineError`].
pub type MakePassFn = fn(&Options) -> Result<Box<dyn Pass>, String>;

impl PassInfo {
    /// Default values, for `..` in declarations.
    pub const DEFAULT: PassInfo = PassInfo {
        name: "",
        class: "",
        doc: "",
        anchor: None,
        options: &[],
        statistics: &[],
        rewrites: Rewrites::Tags(&[]),
        samples: &[],
        stays: "",
        requires: &[],
        establishes: &[],
        floats: |_| FloatChange::None,
        make: |_| Err("this pass cannot be made".into()),
    };

    /// Returns the first line of the documentation, without its full stop.
    pub fn summary(&self) -> &'static str {
        self.doc.lines().next().unwrap_or("").trim_end_matches('.')
    }

    /// Returns the name in reports and in actions.
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

/// A pass: transforms a valid op into a valid op that refines it, and changes nothing outside that op. The IR may be
/// invalid in between.
pub trait Pass: Send {
    /// Runs on `op`. After an error the program may be in any state.
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic>;

    /// Whether the pass works function by function: results and diagnostics inside a function depend only on that
    /// function, results outside on no function body, and functions are visited in order. Such a pass may run on
    /// several threads.
    fn is_function_local(&self) -> bool {
        false
    }
}

/// Finds a pass by name. The error suggests the nearest name.
pub fn find_pass(passes: &[&'static PassInfo], name: &str) -> Result<&'static PassInfo, PipelineError> {
    passes.iter().copied().find(|p| p.name == name).ok_or_else(|| {
        let hint = hint(name, passes.iter().map(|p| p.name));
        format!("'{name}' does not refer to a registered pass or pass pipeline{hint}").into()
    })
}
