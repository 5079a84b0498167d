//! Campaigns: many programs, each through a pipeline, each checked by execution.

use crate::coverage::{Fired, Statistics};
use crate::{Grown, Library, Limits, grow};
use gradus_check::bisect::{Checked, Culprit, Subject};
use gradus_check::{Floats, Options, Random, Verdict};
use gradus_ir::equal::structurally_equal;
use gradus_ir::pass::{Actions, Failed, OptionKind, PassInfo, Pipeline, RunOptions};
use gradus_ir::{
    Context, Diagnostic, Module, ParseOptions, PrintOptions, first_difference, parse_module, read_again, verify,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs of more ops are given up: programs are made such that they come to their end sooner on a few inputs.
pub const FUEL: u64 = 1 << 12;

/// So many programs are made with one context, whose memory grows with each of them.
const CHUNK: u64 = 5000;

/// What is made, and what is done to it.
pub struct Campaign<'a> {
    /// Makes a context.
    pub context: &'a (dyn Fn() -> Arc<Context> + Sync),
    /// Programs to learn from, with their names.
    pub seeds: &'a [(String, String)],
    /// The dialects whose ops are used; all if there are none.
    pub dialects: &'a [String],
    /// The passes that pipelines are drawn from.
    pub passes: &'a [&'static PassInfo],
    /// A pass that is in every other pipeline.
    pub favourite: Option<&'static PassInfo>,
    /// The pipeline, unless one is drawn for each program.
    pub pipeline: Option<&'a str>,
    /// Another number gives other programs.
    pub seed: u64,
    /// How large programs are.
    pub limits: Limits,
    /// How they are checked.
    pub options: Options,
}

/// What came of a campaign.
#[derive(Default)]
pub struct Tally {
    /// Programs made.
    pub modules: u64,
    /// Ops in them.
    pub ops: u64,
    /// Pipelines that a pass gave up on, with what it said.
    pub refused: u64,
    /// Functions of which nothing could be said.
    pub inconclusive: u64,
    /// Functions that were compared, or had not changed.
    pub checked: u64,
    /// Runs that ended normally, before.
    pub normal: u64,
    /// Runs that were undefined or all poison, before.
    pub undefined: u64,
    /// Runs that were given up, before.
    pub discarded: u64,
    /// Of how ops were put somewhere.
    pub statistics: Statistics,
    /// Which rewrites happened.
    pub fired: Fired,
    /// Ops that mean something and are in no program.
    pub missing: BTreeSet<&'static str>,
}

/// Something wrong.
pub struct Finding {
    /// Which program.
    pub number: u64,
    /// The program before.
    pub text: String,
    /// The pipeline.
    pub pipeline: String,
    /// What is wrong, as users see it.
    pub error: String,
}

impl Campaign<'_> {
    /// Makes and checks programs by so many threads, those of `numbers` that `goes_on` lets begin. Calls `found` with
    /// what is wrong.
    pub fn run(
        &self,
        numbers: std::ops::Range<u64>,
        threads: usize,
        goes_on: &(dyn Fn(u64) -> bool + Sync),
        found: &(dyn Fn(Finding) + Sync),
    ) -> Tally {
        let (next, total) = (AtomicU64::new(0), Mutex::new(Tally::default()));
        let chunks = (numbers.end - numbers.start).div_ceil(CHUNK);
        let work = || {
            while let Some(chunk) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&chunk| chunk < chunks) {
                let first = numbers.start + chunk * CHUNK;
                // What the programs of a chunk are made of takes time to collect.
                if !goes_on(first) {
                    break;
                }
                let tally = self.chunk(first..(first + CHUNK).min(numbers.end), goes_on, found);
                total.lock().unwrap_or_else(PoisonError::into_inner).add(&tally);
            }
        };
        std::thread::scope(|scope| (0..threads.max(1)).for_each(|_| drop(scope.spawn(work))));
        total.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// What programs are made of.
    pub fn library(&self, ctx: &Arc<Context>) -> Library {
        let mut library = Library::new(ctx, self.dialects);
        for (name, text) in self.seeds {
            let read = parse_module(ctx, name, text.clone(), Default::default());
            if let Ok(m) = read.and_then(|m| verify(&m).map(|()| m)) {
                library.add(m);
            }
        }
        library
    }

    /// The program of that number.
    pub fn program(&self, library: &Library, number: u64, statistics: &mut Statistics) -> Grown {
        grow(library, Random::of((self.seed, number)), self.limits, statistics)
    }

    fn chunk(
        &self,
        numbers: std::ops::Range<u64>,
        goes_on: &(dyn Fn(u64) -> bool + Sync),
        found: &(dyn Fn(Finding) + Sync),
    ) -> Tally {
        let ctx = (self.context)();
        let library = self.library(&ctx);
        let mut tally = Tally { missing: library.missing().collect(), ..Tally::default() };
        for number in numbers.clone() {
            if number > numbers.start && !goes_on(number) {
                break;
            }
            let grown = self.program(&library, number, &mut tally.statistics);
            tally.modules += 1;
            tally.ops += grown.module.num_ops() as u64;
            let pipeline = self.pipeline.map_or_else(|| self.draw_pipeline(number), str::to_owned);
            if let Err(error) = self.examine(&grown.module, number, &pipeline, &mut tally) {
                let text = grown.module.to_text(PrintOptions::default());
                found(Finding { number, text, pipeline, error });
            }
        }
        tally
    }

    /// Checks a program. The error is as users see it.
    fn examine(&self, m: &Module, number: u64, pipeline: &str, tally: &mut Tally) -> Result<(), String> {
        let render = |d: &[Diagnostic]| d.iter().map(|d| d.render(&m.ctx)).collect::<String>();
        verify(m).map_err(|d| format!("the generator made an invalid program\n{}", render(&d)))?;
        round_trip(m, number.is_multiple_of(2))?;
        let rounds = Pipeline::parse(pipeline, self.passes).is_ok_and(|p| p.rounds());
        // Among constants there are those whose sums overflow in one order only.
        let floats = if rounds { Floats::Approximate } else { self.options.floats };
        let subject = Subject {
            program: &|| m.clone(),
            pipeline: &|| Pipeline::parse(pipeline, self.passes).expect("the pipeline was made before"),
            how: RunOptions { threads: 1, ..RunOptions::default() },
            options: Options { floats, ..self.options },
        };
        let mut actions = Actions::new();
        actions.watch(tally.fired.observer());
        match subject.check_watched(actions) {
            Checked::Wrong(culprit) => {
                let Culprit { error, .. } = *culprit;
                return Err(render(&[error]));
            }
            // What a pass refuses is no fault of it.
            Checked::Failed(Failed::Refused, _) => tally.refused += 1,
            Checked::Failed(Failed::Invalid | Failed::Panicked, said) => return Err(render(&said)),
            Checked::Passed(verdicts) => verdicts.iter().for_each(|(_, verdict)| tally.note(verdict)),
        }
        Ok(())
    }

    /// A pipeline of one to six passes; of those with numbers for options, some get other numbers.
    fn draw_pipeline(&self, number: u64) -> String {
        let mut random = Random::of((self.seed, number, "pipeline"));
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
            let info = random.pick(self.passes);
            let mut options = String::new();
            for option in info.options {
                if matches!(option.kind, OptionKind::Int(_)) && random.percent(50) {
                    options += &format!("{}={} ", option.name, 1 + random.below(4));
                }
            }
            added += u64::from(pipeline.add(info, options.trim_end()).is_ok());
        }
        pipeline.to_string()
    }
}

/// Whether the text of a program, in one of its forms, is read as the same program.
fn round_trip(m: &Module, generic: bool) -> Result<(), String> {
    let form = PrintOptions { generic, ..PrintOptions::default() };
    let again = |m: &Module| {
        let unread = |d: Vec<Diagnostic>| {
            format!("what is printed cannot be read\n{}\n{}", d[0].render(&m.ctx), m.to_text(form))
        };
        read_again(m, form, ParseOptions::default()).map_err(unread)
    };
    let once = again(m)?;
    // In custom form, operands of affine maps that are the same become one when they are read, as in MLIR.
    let changed = !structurally_equal(m, m.root(), &once, once.root());
    if changed && (generic || first_difference(&once, &again(&once)?, form).is_some()) {
        let (before, after) = (m.to_text(form), once.to_text(form));
        return Err(format!("the text changes when it is read and printed again:\n{before}\n{after}"));
    }
    Ok(())
}

impl Tally {
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

    fn add(&mut self, other: &Tally) {
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
