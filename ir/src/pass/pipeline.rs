//! Pass pipelines: passes in order, each on an op or on all child ops of a name.

use super::error::PipelineError;
use super::{FloatChange, Options, Pass, PassInfo};
use rustc_hash::FxHashSet;
use std::fmt::{self, Write};

/// The anchor of a pipeline that runs on any op.
pub(super) const ANY: &str = "any";

/// A pass pipeline.
pub struct Pipeline {
    /// Name of the op that the pipeline runs on, or [`ANY`].
    pub(super) anchor: String,
    pub(super) steps: Vec<PipelineStep>,
}

pub(super) enum PipelineStep {
    Pass(Box<Scheduled>),
    /// Pipelines on child ops; each op goes to the first that matches.
    Nested(Vec<Pipeline>),
}

/// A pass in a pipeline, with its statistics.
pub(super) struct Scheduled {
    pub(super) info: &'static PassInfo,
    pub(super) options: Options,
    pub(super) pass: Box<dyn Pass>,
    pub(super) counts: Vec<u64>,
}

impl Scheduled {
    pub(super) fn new(info: &'static PassInfo, options: &str) -> Result<Scheduled, PipelineError> {
        Scheduled::of(info, Options::parse(info.options, options)?)
    }

    fn of(info: &'static PassInfo, options: Options) -> Result<Scheduled, PipelineError> {
        let pass = (info.make)(&options)?;
        Ok(Scheduled { info, options, pass, counts: vec![0; info.statistics.len()] })
    }

    /// Creates the same pass for another thread.
    pub(super) fn again(&self) -> Scheduled {
        Scheduled::of(self.info, self.options.clone()).expect("these options made the pass before")
    }
}

impl Pipeline {
    /// Creates an empty pipeline on ops of a name, or on `any`.
    pub fn on(anchor: &str) -> Pipeline {
        Pipeline { anchor: anchor.to_owned(), steps: Vec::new() }
    }

    /// Adds a pass with options such as `a=1 b=2`, nested if it runs on another op.
    pub fn add(&mut self, info: &'static PassInfo, options: &str) -> Result<(), PipelineError> {
        let step = PipelineStep::Pass(Box::new(Scheduled::new(info, options)?));
        match info.anchor.filter(|anchor| *anchor != self.anchor) {
            Some("builtin.module") => return Err(self.cannot_add(info, "builtin.module")),
            Some(anchor) => {
                self.steps.push(PipelineStep::Nested(vec![Pipeline { anchor: anchor.into(), steps: vec![step] }]));
            }
            None => self.steps.push(step),
        }
        Ok(())
    }

    /// Adds a pass that runs on the pipeline's own anchor.
    pub(super) fn add_here(&mut self, info: &'static PassInfo, options: &str) -> Result<(), PipelineError> {
        if let Some(anchor) = info.anchor.filter(|&anchor| anchor != self.anchor && self.anchor != ANY) {
            return Err(self.cannot_add(info, anchor));
        }
        self.steps.push(PipelineStep::Pass(Box::new(Scheduled::new(info, options)?)));
        Ok(())
    }

    fn cannot_add(&self, info: &PassInfo, anchor: &str) -> PipelineError {
        format!(
            "Can't add pass '{}' restricted to '{anchor}' on a PassManager intended to run on '{}', did you intend to \
             nest?",
            info.class_name(),
            self.anchor
        )
        .into()
    }

    /// Drops all passes of a name.
    pub fn leave_out(&mut self, name: &str) {
        self.steps.retain_mut(|step| match step {
            PipelineStep::Pass(scheduled) => scheduled.info.name != name,
            PipelineStep::Nested(pipelines) => {
                pipelines.iter_mut().for_each(|pipeline| pipeline.leave_out(name));
                pipelines.iter().any(|pipeline| !pipeline.is_empty())
            }
        });
    }

    /// Drops the first pass of a name and all that follow. Returns whether there was one.
    pub fn end_before(&mut self, name: &str) -> bool {
        for i in 0..self.steps.len() {
            let kept = match &mut self.steps[i] {
                PipelineStep::Pass(scheduled) if scheduled.info.name == name => i,
                PipelineStep::Nested(pipelines) => {
                    let Some(last) = pipelines.iter_mut().position(|pipeline| pipeline.end_before(name)) else {
                        continue;
                    };
                    pipelines.truncate(last + 1);
                    pipelines.retain(|pipeline| !pipeline.is_empty());
                    i + usize::from(!pipelines.is_empty())
                }
                PipelineStep::Pass(_) => continue,
            };
            self.steps.truncate(kept);
            return true;
        }
        false
    }

    /// Returns the declaration of the first pass.
    pub fn first(&self) -> Option<&'static PassInfo> {
        match self.steps.first()? {
            PipelineStep::Pass(scheduled) => Some(scheduled.info),
            PipelineStep::Nested(pipelines) => pipelines.iter().find_map(Pipeline::first),
        }
    }

    /// Returns the declarations of all passes, in order.
    pub fn passes(&self) -> Vec<&'static PassInfo> {
        let of_step = |step: &PipelineStep| match step {
            PipelineStep::Pass(scheduled) => vec![scheduled.info],
            PipelineStep::Nested(pipelines) => pipelines.iter().flat_map(Pipeline::passes).collect(),
        };
        self.steps.iter().flat_map(of_step).collect()
    }

    /// Sets further options: `choose` returns `name=value` pairs for a pass and its options. A pass that rejects its pairs stays as it
    /// is; the error is that of the first one.
    pub fn set_options(
        &mut self,
        choose: &mut dyn FnMut(&'static PassInfo, &Options) -> String,
    ) -> Result<(), PipelineError> {
        let set = |step: &mut PipelineStep| match step {
            PipelineStep::Pass(scheduled) => {
                let (info, options) = (scheduled.info, &scheduled.options);
                let options = options.clone().with(info.options, &choose(info, options))?;
                **scheduled = Scheduled::of(info, options)?;
                Ok(())
            }
            PipelineStep::Nested(pipelines) => {
                pipelines.iter_mut().map(|pipeline| pipeline.set_options(choose)).fold(Ok(()), Result::and)
            }
        };
        self.steps.iter_mut().map(set).fold(Ok(()), Result::and)
    }

    /// Whether the pipeline has no passes.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the name of the op that the pipeline runs on, or `any`.
    pub fn anchor(&self) -> &str {
        &self.anchor
    }

    /// Formats the pipeline on several lines, for `--dump-pass-pipeline`.
    pub fn dump(&self) -> String {
        let mut text = format!("Pass Manager with {} passes:\n", self.steps.len());
        self.pretty(0, &mut text).expect("writing to a string does not fail");
        text + "\n\n"
    }

    /// Returns the largest [change of floats](PassInfo::floats) that a pass may make.
    pub fn floats(&self) -> FloatChange {
        let of_step = |step: &PipelineStep| match step {
            PipelineStep::Pass(scheduled) => (scheduled.info.floats)(&scheduled.options),
            PipelineStep::Nested(pipelines) => pipelines.iter().map(Pipeline::floats).max().unwrap_or_default(),
        };
        self.steps.iter().map(of_step).max().unwrap_or_default()
    }

    fn pretty(&self, indent: usize, out: &mut String) -> fmt::Result {
        writeln!(out, "{:indent$}{}(", "", self.anchor)?;
        for (i, step) in self.steps.iter().enumerate() {
            out.push_str(if i > 0 { ",\n" } else { "" });
            match step {
                PipelineStep::Nested(pipelines) => {
                    for (i, pipeline) in pipelines.iter().enumerate() {
                        out.push_str(if i > 0 { ",\n" } else { "" });
                        pipeline.pretty(indent + 2, out)?;
                    }
                }
                PipelineStep::Pass(_) => write!(out, "{:inner$}{step}", "", inner = indent + 2)?,
            }
        }
        write!(out, "\n{:indent$})", "")
    }

    /// Merges adjacent nested pipelines, so that each op runs through all of them at once.
    pub(super) fn coalesce(&mut self) {
        let mut steps: Vec<PipelineStep> = Vec::new();
        for step in self.steps.drain(..) {
            match (steps.last_mut(), step) {
                (Some(PipelineStep::Nested(last)), PipelineStep::Nested(next)) if may_merge(last, &next) => {
                    merge(last, next);
                }
                (_, step) => steps.push(step),
            }
        }
        for step in &mut steps {
            if let PipelineStep::Nested(pipelines) = step {
                pipelines.sort_by(|a, b| a.anchor.cmp(&b.anchor));
                pipelines.iter_mut().for_each(Pipeline::coalesce);
            }
        }
        self.steps = steps;
    }

    /// Returns the pipelines that run one of the passes alone, at the same nesting and with its options, each once.
    pub fn singles(&self) -> Vec<Pipeline> {
        let mut singles: Vec<Pipeline> = Vec::new();
        let on = |step: PipelineStep| Pipeline { anchor: self.anchor.clone(), steps: vec![step] };
        for step in &self.steps {
            match step {
                PipelineStep::Pass(pass) => singles.push(on(PipelineStep::Pass(Box::new(pass.again())))),
                PipelineStep::Nested(pipelines) => {
                    let inner = pipelines.iter().flat_map(Pipeline::singles);
                    singles.extend(inner.map(|single| on(PipelineStep::Nested(vec![single]))));
                }
            }
        }
        let mut texts = FxHashSet::default();
        singles.retain(|single| texts.insert(single.to_string()));
        singles
    }

    /// Creates a pipeline with the same passes and no statistics.
    pub(super) fn again(&self) -> Pipeline {
        let again = |step: &PipelineStep| match step {
            PipelineStep::Pass(pass) => PipelineStep::Pass(Box::new(pass.again())),
            PipelineStep::Nested(pipelines) => PipelineStep::Nested(pipelines.iter().map(Pipeline::again).collect()),
        };
        Pipeline { anchor: self.anchor.clone(), steps: self.steps.iter().map(again).collect() }
    }

    /// Adds the statistics of a copy made by [`Pipeline::again`].
    pub(super) fn add_counts(&mut self, other: &Pipeline) {
        for (step, other) in self.steps.iter_mut().zip(&other.steps) {
            match (step, other) {
                (PipelineStep::Pass(pass), PipelineStep::Pass(other)) => {
                    pass.counts.iter_mut().zip(&other.counts).for_each(|(n, more)| *n += more);
                }
                (PipelineStep::Nested(list), PipelineStep::Nested(others)) => {
                    list.iter_mut().zip(others).for_each(|(pipeline, other)| pipeline.add_counts(other));
                }
                _ => {}
            }
        }
    }
}

/// Whether two lists of pipelines can be merged: a pipeline on `any` would also run on the ops of the others.
fn may_merge(a: &[Pipeline], b: &[Pipeline]) -> bool {
    let any = |list: &[Pipeline]| list.iter().any(|p| p.anchor == ANY);
    any(a) == any(b)
}

fn merge(into: &mut Vec<Pipeline>, pipelines: Vec<Pipeline>) {
    for pipeline in pipelines {
        match into.iter_mut().find(|p| p.anchor == pipeline.anchor) {
            Some(same) => same.steps.extend(pipeline.steps),
            None => into.push(pipeline),
        }
    }
}

/// Formats the pipeline as [`Pipeline::parse`] accepts it, with all options, or with `{:#}` those that were given.
impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.anchor)?;
        for (i, step) in self.steps.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            step.fmt(f)?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for PipelineStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PipelineStep::Pass(pass) => {
                f.write_str(pass.info.name)?;
                pass.options.fmt(f)
            }
            PipelineStep::Nested(pipelines) => {
                for (i, pipeline) in pipelines.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    pipeline.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}
