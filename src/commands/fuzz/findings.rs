//! The failures that a campaign finds, by kind.

use crate::commands::reduce::{Reproducer, flag_of};
use crate::io::write_file;
use crate::{Failure, Streams, Tool};
use clap::ArgMatches;
use gradus_generate::campaign::{Campaign, FuzzFailure};
use gradus_ir::parse_module;
use gradus_ir::pass::Pipeline;
use std::fmt::Write as _;
use std::path::Path;

/// Number of programs of a kind that the summary names.
const NAMED: usize = 5;

/// The failures of a campaign so far.
pub(super) struct Findings<'a> {
    tool: &'a Tool,
    campaign: &'a Campaign<'a>,
    /// The target on which programs are executed.
    target: Option<&'a str>,
    /// Folder of failing programs.
    folder: Option<&'a Path>,
    /// The title of each kind, with the numbers of its programs.
    kinds: Vec<(String, Vec<u64>)>,
}

impl<'a> Findings<'a> {
    /// Creates the findings of the campaign of a command line.
    pub fn new(tool: &'a Tool, campaign: &'a Campaign<'a>, matches: &'a ArgMatches) -> Findings<'a> {
        let target = matches.try_get_one::<String>("target").ok().flatten().map(String::as_str);
        let folder = matches.get_one::<String>("output").map(Path::new);
        Findings { tool, campaign, target, folder, kinds: Vec::new() }
    }

    /// Returns the number of failures.
    pub fn count(&self) -> usize {
        self.kinds.iter().map(|(_, numbers)| numbers.len()).sum()
    }

    /// Adds a failure. The first of its kind is reduced and reported.
    pub fn add(&mut self, failure: &FuzzFailure, streams: &mut Streams<'_>) -> Result<(), Failure> {
        self.write(failure, "", &format!("// RUN: {}\n{}", self.run_line(failure, None), failure.text), streams)?;
        if let Some((_, numbers)) = self.kinds.iter_mut().find(|(title, _)| *title == failure.title) {
            numbers.push(failure.number);
            return Ok(());
        }
        self.kinds.push((failure.title.clone(), vec![failure.number]));
        let FuzzFailure { number, title, pipeline, error, .. } = failure;
        let seed = self.campaign.seed;
        let heading = format!("program {number} of seed {seed}, pipeline '{pipeline}': {title}");
        match self.reduced(failure) {
            Some(reduced) => {
                drop(write!(streams.err, "{heading}; reduced to {} ops\n{}", reduced.ops, reduced.text));
                self.write(failure, ".reduced", &reduced.text, streams)
            }
            None => {
                drop(write!(streams.err, "{heading}\n{error}"));
                Ok(())
            }
        }
    }

    /// Lists the kinds, most frequent first.
    pub fn summary(&self) -> String {
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by_key(|(_, numbers)| std::cmp::Reverse(numbers.len()));
        let mut text = String::new();
        for (title, numbers) in kinds {
            let named: Vec<String> = numbers.iter().take(NAMED).map(u64::to_string).collect();
            let more = if numbers.len() > NAMED { ", ..." } else { "" };
            let _ = writeln!(text, "{:>8}  {title}: program {}{more}", numbers.len(), named.join(", "));
        }
        text
    }

    /// Returns a small program that fails in the same way.
    fn reduced(&self, failure: &FuzzFailure) -> Option<Reproducer> {
        let ctx = (self.campaign.context)();
        let m = parse_module(&ctx, "program", failure.text.clone(), Default::default()).ok()?;
        let parse = |text: &str| Pipeline::parse(text, self.campaign.passes).ok();
        self.campaign.with_subject(&m, &failure.pipeline, |subject| {
            Reproducer::of(subject, &subject.check(), &parse, &|pipeline| self.run_line(failure, pipeline))
        })
    }

    /// Returns the command that checks a file with a pipeline, or with that of the failure.
    fn run_line(&self, failure: &FuzzFailure, pipeline: Option<&str>) -> String {
        let pipeline = pipeline.unwrap_or(&failure.pipeline);
        let target = self.target.map_or(String::new(), |target| format!(" --target={target}"));
        format!("{} check %s{target} {}", self.tool.name, flag_of(self.tool, pipeline))
    }

    /// Writes a file of a failure, if there is a folder.
    fn write(&self, failure: &FuzzFailure, suffix: &str, text: &str, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let name = format!("fuzz-{}-{}{suffix}.mlir", self.campaign.seed, failure.number);
        self.folder.map_or(Ok(()), |folder| write_file(&folder.join(name), text, streams))
    }
}
