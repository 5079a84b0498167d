//! Fuzzing campaigns: programs are generated, run through a pipeline, and checked by execution.

use crate::coverage::{InsertionStatistics, RewriteCounts};
use crate::focus::Focus;
use crate::options::OptionValues;
use crate::samples::ELEMENTS_PER_OP;
use crate::threads::{Collected, compare};
use crate::{Grown, Library, Limits, grow};
use gradus_check::bisect::{Checked, Subject};
use gradus_check::{Execution, Options, Verdict};
use gradus_ir::equal::structurally_equal;
use gradus_ir::pass::{Actions, PassInfo, Pipeline, RunOptions};
use gradus_ir::random::Random;
use gradus_ir::{
    Context, Diagnostic, Module, ParseOptions, PrintOptions, first_difference, parse_module, read_again, verify,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Maximum number of ops of a run; generated programs terminate sooner on most inputs.
const FUEL: u64 = 1 << 12;

/// Limit of the ops of all runs of a function, above which it runs on few inputs.
const WORK: u64 = 1 << 10;

/// Number of programs generated with one context, whose interning tables only grow.
const CHUNK: u64 = 20_000;

/// One of this many programs is printed and read again.
const ROUND_TRIPS: u64 = 8;

/// One of this many programs is compared on several threads, together with others.
const COLLECTED: u64 = 4;

/// The configuration of a campaign.
pub struct Campaign<'a> {
    /// Creates a context.
    pub context: &'a (dyn Fn() -> Arc<Context> + Sync),
    /// Named programs that supply fragments.
    pub seeds: &'a [(String, String)],
    /// The dialects whose ops are generated; all if empty.
    pub dialects: &'a [String],
    /// The passes from which pipelines are drawn.
    pub passes: &'a [&'static PassInfo],
    /// A pass that every second pipeline contains.
    pub favourite: Option<&'static PassInfo>,
    /// Fixed pipelines in place of drawn ones, of which one is drawn for each program. Options that it does not give are drawn.
    pub pipelines: &'a [String],
    /// Pipelines that lead to the fixed one, such as a target's up to its first pass.
    pub stages: &'a [String],
    /// Seed of all random choices.
    pub seed: u64,
    /// Size limits of programs.
    pub limits: Limits,
    /// Options of the checks.
    pub options: Options,
    /// The ways in which compiled programs are executed.
    pub executions: &'a [Box<dyn Execution + Sync>],
}

/// The statistics of a campaign.
#[derive(Default)]
pub struct CampaignStatistics {
    /// Number of programs generated.
    pub modules: u64,
    /// Number of ops in them.
    pub ops: u64,
    /// Number of pipelines in which a pass failed with a diagnostic.
    pub refused: u64,
    /// Number of functions with an inconclusive check.
    pub inconclusive: u64,
    /// Number of functions that were compared or left unchanged.
    pub checked: u64,
    /// Number of runs of the original that returned.
    pub normal: u64,
    /// Number of runs of the original that were undefined or returned only poison.
    pub undefined: u64,
    /// Number of runs of the original that were inconclusive.
    pub discarded: u64,
    /// Statistics of op insertion.
    pub statistics: InsertionStatistics,
    /// Counts of applied rewrites.
    pub fired: RewriteCounts,
    /// Executable ops that occur in no generated program.
    pub missing: BTreeSet<&'static str>,
}

/// Returns the options of the checks of generated programs, which are small.
pub fn options(inputs: u64) -> Options {
    let (work, elements_per_op, fuel) = (WORK, ELEMENTS_PER_OP, FUEL);
    Options { inputs, work, exhaustive: 0, fuel, elements_per_op, ..Options::default() }
}

/// A failure that a campaign found.
pub struct FuzzFailure {
    /// Number of the program.
    pub number: u64,
    /// The title of all failures of the kind: the pass and the rewrite.
    pub title: String,
    /// Text of the program before the pipeline.
    pub text: String,
    /// The pipeline.
    pub pipeline: String,
    /// The rendered diagnostic.
    pub error: String,
}

impl Campaign<'_> {
    /// Generates and checks the programs of `numbers` on `threads` threads, while `goes_on` returns true. Calls `found`
    /// with each failure.
    pub fn run(
        &self,
        numbers: std::ops::Range<u64>,
        threads: usize,
        goes_on: &(dyn Fn(u64) -> bool + Sync),
        found: &(dyn Fn(FuzzFailure) + Sync),
    ) -> CampaignStatistics {
        let (next, total) = (AtomicU64::new(0), Mutex::new(CampaignStatistics::default()));
        let chunks = (numbers.end - numbers.start).div_ceil(CHUNK);
        let work = || {
            let mut options = OptionValues::default();
            while let Some(chunk) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&chunk| chunk < chunks) {
                let first = numbers.start + chunk * CHUNK;
                // Building the library of a chunk takes time, so the limit is tested before.
                if !goes_on(first) {
                    break;
                }
                let tally = self.chunk(first..(first + CHUNK).min(numbers.end), &mut options, goes_on, found);
                total.lock().unwrap_or_else(PoisonError::into_inner).add(&tally);
            }
        };
        std::thread::scope(|scope| (0..threads.max(1)).for_each(|_| drop(scope.spawn(work))));
        total.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds the library of fragments.
    fn library(&self, ctx: &Arc<Context>, options: &mut OptionValues) -> Library {
        let mut library = Library::new(ctx, self.dialects);
        for (name, text) in self.seeds {
            let read = parse_module(ctx, name, text.clone(), Default::default());
            if let Ok(m) = read.and_then(|m| verify(&m).map(|()| m)) {
                library.add(m);
            }
        }
        if !self.pipelines.is_empty() {
            let mut random = Random::of((self.seed, "focus"));
            let mut under_test = || {
                let mut pipeline = self.fixed_pipeline(&mut random)?;
                options.vary(ctx, &mut pipeline, &mut random);
                Some(pipeline)
            };
            let mut grown = |n| self.program(&library, u64::MAX - n, &mut InsertionStatistics::default()).module;
            // The pipeline of a target starts with programs as they are.
            let preceding = if self.executions.is_empty() { self.passes } else { &[] };
            let starts = (preceding, self.stages);
            library.focus = Focus::of(ctx, starts, &mut under_test, &library.rules, &mut grown);
        }
        library
    }

    /// Generates the program with a number.
    pub fn program(&self, library: &Library, number: u64, statistics: &mut InsertionStatistics) -> Grown {
        grow(library, Random::of((self.seed, number)), self.limits, statistics)
    }

    /// Generates the programs of `numbers`, in order, without checking them.
    pub fn programs(&self, numbers: std::ops::Range<u64>, each: &mut dyn FnMut(&Module)) {
        let library = self.library(&(self.context)(), &mut OptionValues::default());
        numbers.for_each(|n| each(&self.program(&library, n, &mut InsertionStatistics::default()).module));
    }

    fn chunk(
        &self,
        numbers: std::ops::Range<u64>,
        options: &mut OptionValues,
        goes_on: &(dyn Fn(u64) -> bool + Sync),
        found: &(dyn Fn(FuzzFailure) + Sync),
    ) -> CampaignStatistics {
        let ctx = (self.context)();
        let mut library = self.library(&ctx, options);
        let mut tally = CampaignStatistics { missing: library.missing().collect(), ..CampaignStatistics::default() };
        let mut collected = Collected::default();
        for number in numbers.clone() {
            if number > numbers.start && !goes_on(number) {
                break;
            }
            let grown = self.program(&library, number, &mut tally.statistics);
            tally.modules += 1;
            tally.ops += grown.module.num_ops() as u64;
            let pipeline = self.draw_pipeline(&ctx, number, options);
            if let Err((title, error)) = self.examine(&grown.module, number, &pipeline, &mut tally) {
                let text = grown.module.to_text(PrintOptions::default());
                found(FuzzFailure { number, title, text, pipeline, error });
            } else if let Some(error) = self.thread_mistake(&mut collected, &grown.module, number, &pipeline) {
                let title = "several threads".to_owned();
                found(FuzzFailure { number, title, text: String::new(), pipeline, error });
            } else if tally.fired.take_rare() && !self.pipelines.is_empty() {
                library.focus.keep(&grown.module);
            }
        }
        tally
    }

    /// Checks one program. The error is the title of the kind of failure, and a rendered diagnostic.
    fn examine(
        &self,
        m: &Module,
        number: u64,
        pipeline: &str,
        tally: &mut CampaignStatistics,
    ) -> Result<(), (String, String)> {
        let render = |d: &[Diagnostic]| d.iter().map(|d| d.render(&m.ctx)).collect::<String>();
        let titled = |title: &str, error: String| (title.to_owned(), error);
        verify(m)
            .map_err(|d| titled("the generator", format!("the generator made an invalid program\n{}", render(&d))))?;
        if number.is_multiple_of(ROUND_TRIPS) {
            round_trip(m, number.is_multiple_of(2 * ROUND_TRIPS)).map_err(|error| titled("round trip", error))?;
        }
        let mut actions = Actions::new();
        actions.watch(tally.fired.observer());
        let checked = self.with_subject(m, pipeline, |subject| match subject.check_watched(actions) {
            // A program that does not end within the fuel of a campaign may end within that of a check.
            Checked::Wrong(culprit) if culprit.difference.is_endless() => {
                let fuel = Options::default().fuel;
                Subject { options: Options { fuel, ..subject.options }, how: subject.how.clone(), ..*subject }.check()
            }
            checked => checked,
        });
        match &checked {
            // A pass may reject a program.
            _ if checked.is_refused() => tally.refused += 1,
            Checked::Passed(verdicts) => verdicts.iter().for_each(|(_, verdict)| tally.note(verdict)),
            Checked::Wrong(_) | Checked::Failed(_) => return Err((checked.title(), render(checked.errors()))),
        }
        Ok(())
    }

    /// Calls `f` with the check of a program.
    pub fn with_subject<R>(&self, m: &Module, pipeline: &str, f: impl FnOnce(&Subject<'_>) -> R) -> R {
        f(&Subject {
            program: &|| m.clone(),
            pipeline: &|| Pipeline::parse(pipeline, self.passes).expect("the pipeline was made before"),
            how: RunOptions { threads: 1, ..RunOptions::default() },
            options: self.options,
            executions: self.executions,
        })
    }

    /// Returns the error if many functions together give another result on several threads.
    fn thread_mistake(&self, collected: &mut Collected, m: &Module, number: u64, pipeline: &str) -> Option<String> {
        let large = if number.is_multiple_of(COLLECTED) { collected.add(m) } else { None }?;
        compare(&large, &|| Pipeline::parse(pipeline, self.passes).ok()).err()
    }

    /// Returns the pipeline of a program: the fixed one, or one of one to six passes, with drawn options.
    fn draw_pipeline(&self, ctx: &Arc<Context>, number: u64, options: &mut OptionValues) -> String {
        let mut random = Random::of((self.seed, number, "pipeline"));
        let fixed = self.fixed_pipeline(&mut random);
        let mut pipeline = fixed.unwrap_or_else(|| self.draw_passes(&mut random));
        options.vary(ctx, &mut pipeline, &mut random);
        format!("{pipeline:#}")
    }

    /// Draws one of the fixed pipelines.
    fn fixed_pipeline(&self, random: &mut Random) -> Option<Pipeline> {
        let text = self.pipelines.get(random.below(self.pipelines.len().max(1) as u64) as usize)?;
        Pipeline::parse(text, self.passes).ok()
    }

    fn draw_passes(&self, random: &mut Random) -> Pipeline {
        let mut pipeline = Pipeline::on("builtin.module");
        let mut added = 0;
        let wanted = 1 + random.below(6);
        if let Some(info) = self.favourite
            && random.percent(50)
        {
            added += u64::from(pipeline.add(info, "").is_ok());
        }
        for _ in 0..4 * wanted {
            if added == wanted {
                break;
            }
            added += u64::from(pipeline.add(random.pick(self.passes), "").is_ok());
        }
        pipeline
    }
}

/// Checks that printing and parsing in one of the two forms gives the same program.
fn round_trip(m: &Module, generic: bool) -> Result<(), String> {
    let form = PrintOptions { generic, ..PrintOptions::default() };
    let again = |m: &Module| {
        let unread = |d: Vec<Diagnostic>| {
            format!("what is printed cannot be read\n{}\n{}", d[0].render(&m.ctx), m.to_text(form))
        };
        read_again(m, form, ParseOptions::default()).map_err(unread)
    };
    let once = again(m)?;
    if structurally_equal(m, m.root(), &once, once.root()) {
        return Ok(());
    }
    // The custom form merges equal operands of affine maps when it is parsed, as in MLIR.
    let (before, after) = (m.to_text(form), once.to_text(form));
    let is_exact = generic && !differs_in_maps_only(&before, &after);
    if is_exact || first_difference(&once, &again(&once)?, form).is_some() {
        return Err(format!("the text changes when it is read and printed again:\n{before}\n{after}"));
    }
    Ok(())
}

/// Whether texts differ only in lines with affine maps: sums are grouped from the left when they are parsed, as in MLIR.
fn differs_in_maps_only(before: &str, after: &str) -> bool {
    let has_map = |line: &str| line.contains("affine_map<") || line.contains("affine_set<");
    before.lines().count() == after.lines().count()
        && before.lines().zip(after.lines()).all(|(a, b)| a == b || has_map(a) && has_map(b))
}

impl CampaignStatistics {
    fn note(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Same { inputs, undefined, discarded, .. } => {
                self.checked += 1;
                self.normal += inputs;
                self.undefined += undefined;
                self.discarded += discarded;
            }
            Verdict::Unchanged => self.checked += 1,
            Verdict::Inconclusive(_) | Verdict::Lost(_) => self.inconclusive += 1,
            Verdict::Different(_) => {}
        }
    }

    fn add(&mut self, other: &CampaignStatistics) {
        self.modules += other.modules;
        self.ops += other.ops;
        self.refused += other.refused;
        self.inconclusive += other.inconclusive;
        self.checked += other.checked;
        self.normal += other.normal;
        self.undefined += other.undefined;
        self.discarded += other.discarded;
        self.statistics.add(&other.statistics);
        self.fired.add(&other.fired);
        self.missing.extend(&other.missing);
    }
}
