//! The search: reductions from coarse to fine, each applied at many sites at once first, until none makes the program
//! smaller.

use crate::reduction::{Reduction, Site};
use crate::size::{Size, Weights};
use crate::{args, attrs, blocks, copy, ops, regions, symbols, types};
use gradus_ir::entity::SideTable;
use gradus_ir::{Block, Module, Op, PrintOptions, verify};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct ReduceOptions {
    /// Maximum number of candidates given to the oracle.
    pub candidates: u64,
    /// Time after which no new candidate is created.
    pub time: Option<Duration>,
    /// Number of candidates given to the oracle at once; the first interesting one is kept.
    pub batch: usize,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        ReduceOptions { candidates: 2000, time: None, batch: 1 }
    }
}

/// The reason why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// No reduction at a single site gives a smaller interesting program.
    Minimal,
    /// A limit was reached.
    Limit,
}

/// The result of a search.
pub struct Reduced {
    /// The smallest interesting program; the input if no candidate was interesting.
    pub module: Module,
    /// The reason why the search ended.
    pub stop_reason: StopReason,
    /// Number of candidates given to the oracle.
    pub candidates: u64,
    /// Number of candidates rejected before the oracle: invalid, not smaller, or seen before.
    pub discarded: u64,
}

/// Progress of a search, reported after each answer of the oracle.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// The smallest interesting program so far.
    pub best: &'a Module,
    /// Whether this answer found a new best program.
    pub is_new: bool,
    /// Number of candidates given to the oracle so far.
    pub candidates: u64,
    /// Name of the reduction.
    pub name: &'static str,
}

/// All reductions, from coarse to fine.
const REDUCTIONS: &[&[Reduction]] = &[
    symbols::REDUCTIONS,
    blocks::REDUCTIONS,
    ops::COARSE,
    regions::REDUCTIONS,
    ops::FINE,
    args::REDUCTIONS,
    types::REDUCTIONS,
    attrs::REDUCTIONS,
    ops::OPERANDS,
];

/// Number of candidates that may be rejected for each candidate given to the oracle.
const DISCARDED: u64 = 20;

/// Shrinks a program while `oracle` finds it interesting. The input must be valid and interesting.
pub fn reduce(m: &Module, oracle: &mut dyn FnMut(&Module) -> bool, options: &ReduceOptions) -> Reduced {
    reduce_watched(m, &mut |candidates| candidates.iter().position(&mut *oracle), options, &mut |_| ())
}

/// Returns the index of the first interesting candidate of a batch.
pub type Oracle<'a> = dyn FnMut(&[Module]) -> Option<usize> + 'a;

/// Does the same as [`reduce`] with an oracle for batches of [`ReduceOptions::batch`] candidates and a progress callback.
pub fn reduce_watched(
    m: &Module,
    oracle: &mut Oracle<'_>,
    options: &ReduceOptions,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Reduced {
    reduce_by(&reductions(), m, oracle, options, watch)
}

/// Returns all reductions in one list, from coarse to fine.
pub(crate) fn reductions() -> Vec<&'static Reduction> {
    REDUCTIONS.iter().copied().flatten().collect()
}

/// Does the same as [`reduce_watched`] with a given list of reductions.
pub(crate) fn reduce_by(
    reductions: &[&Reduction],
    m: &Module,
    oracle: &mut Oracle<'_>,
    options: &ReduceOptions,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Reduced {
    let module = copy::compact(m);
    let mut weights = Weights::default();
    let size = Size::of(&module, &mut weights);
    let mut search = ReductionSearch {
        reductions,
        module,
        size,
        weights,
        oracle,
        watch,
        options,
        deadline: options.time.map(|time| Instant::now() + time),
        tried: FxHashSet::default(),
        candidates: 0,
        discarded: 0,
    };
    let stop_reason = search.run();
    let ReductionSearch { module, candidates, discarded, .. } = search;
    Reduced { module, stop_reason, candidates, discarded }
}

struct ReductionSearch<'a, 'o> {
    reductions: &'a [&'a Reduction],
    /// The smallest interesting program so far.
    module: Module,
    size: Size,
    weights: Weights,
    oracle: &'a mut Oracle<'o>,
    watch: &'a mut dyn FnMut(Progress<'_>),
    options: &'a ReduceOptions,
    deadline: Option<Instant>,
    /// Fingerprints of candidates that were not interesting.
    tried: FxHashSet<u64>,
    candidates: u64,
    discarded: u64,
}

impl ReductionSearch<'_, '_> {
    /// Applies all reductions repeatedly, until none helps.
    fn run(&mut self) -> StopReason {
        loop {
            let before = self.size;
            for reduction in self.reductions {
                let ops = self.module.num_ops();
                self.exhaust(reduction);
                if self.module.num_ops() < ops {
                    self.module = copy::compact(&self.module);
                }
                if self.is_over() {
                    return StopReason::Limit;
                }
            }
            if self.size == before {
                return StopReason::Minimal;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.candidates >= self.options.candidates
            || self.discarded >= DISCARDED.saturating_mul(self.options.candidates)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Applies one reduction at all sites at once, then at halves, down to single sites; sites where it succeeded are
    /// removed.
    fn exhaust(&mut self, reduction: &Reduction) {
        let mut sites = (reduction.sites)(&self.module);
        let mut size = if reduction.one_at_a_time { sites.len().min(1) } else { sites.len() };
        while size > 0 {
            let mut at = 0;
            while at < sites.len() && !self.is_over() {
                let (batch, next) = self.batch(reduction, &sites, at, size);
                let Some(made) = self.ask(reduction, batch) else {
                    at = next;
                    continue;
                };
                at = made.start;
                sites.drain(made);
                let live = Live::of(&self.module);
                let behind = sites.split_off(at);
                sites.retain(|&site| live.has(site));
                at = sites.len();
                sites.extend(behind.into_iter().filter(|&site| live.has(site)));
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }

    /// Creates the next candidates with `size` sites each, and returns the index of the next site.
    fn batch(
        &mut self,
        reduction: &Reduction,
        sites: &[Site],
        mut at: usize,
        size: usize,
    ) -> (Vec<ReducedProgram>, usize) {
        let mut batch: Vec<ReducedProgram> = Vec::new();
        while at < sites.len() && batch.len() < self.options.batch.max(1) {
            let end = sites.len().min(at + size);
            match self.candidate(reduction, sites, at..end) {
                Some(candidate) if !batch.iter().any(|c| c.print == candidate.print) => batch.push(candidate),
                _ => self.discarded += 1,
            }
            at = end;
        }
        (batch, at)
    }

    /// Applies a reduction at some sites. Returns `None` unless the result is smaller, valid and new.
    fn candidate(&mut self, reduction: &Reduction, sites: &[Site], places: Range<usize>) -> Option<ReducedProgram> {
        let mut module = self.module.clone();
        (reduction.apply)(&mut module, &sites[places.clone()]);
        let size = Size::of(&module, &mut self.weights);
        if size >= self.size || verify(&module).is_err() {
            return None;
        }
        let print = fingerprint(&module);
        (!self.tried.contains(&print)).then_some(ReducedProgram { module, size, print, places })
    }

    /// Keeps the first interesting candidate and returns its site range.
    fn ask(&mut self, reduction: &Reduction, batch: Vec<ReducedProgram>) -> Option<Range<usize>> {
        if batch.is_empty() {
            return None;
        }
        let (modules, rest): (Vec<Module>, Vec<_>) =
            batch.into_iter().map(|c| (c.module, (c.size, c.print, c.places))).unzip();
        let found = (self.oracle)(&modules);
        self.tried.extend(rest.iter().take(found.unwrap_or(rest.len())).map(|(_, print, _)| print));
        self.candidates += found.map_or(rest.len(), |i| i + 1) as u64;
        let mut places = None;
        if let Some((module, (size, _, made))) = found.and_then(|i| modules.into_iter().zip(rest).nth(i)) {
            (self.module, self.size, places) = (module, size, Some(made));
        }
        (self.watch)(Progress {
            best: &self.module,
            is_new: places.is_some(),
            candidates: self.candidates,
            name: reduction.name,
        });
        places
    }
}

/// A reduced program that has not been tested.
struct ReducedProgram {
    module: Module,
    size: Size,
    /// The fingerprint of its structure.
    print: u64,
    /// The range of sites at which the reduction was applied.
    places: Range<usize>,
}

fn fingerprint(m: &Module) -> u64 {
    let mut hasher = FxHasher::default();
    m.to_text(PrintOptions { generic: true, ..PrintOptions::default() }).hash(&mut hasher);
    hasher.finish()
}

/// The ops and blocks that have not been erased.
struct Live {
    ops: SideTable<Op, bool>,
    blocks: SideTable<Block, bool>,
    args: SideTable<Block, usize>,
}

impl Live {
    fn of(m: &Module) -> Live {
        let mut live = Live { ops: SideTable::new(false), blocks: SideTable::new(false), args: SideTable::new(0) };
        for op in m.ops_under(m.root()) {
            live.ops[op] = true;
            for block in m.regions(op).iter().flat_map(|&r| m.region_blocks(r)) {
                live.blocks[block] = true;
                live.args[block] = m.block_args(block).len();
            }
        }
        live
    }

    fn has(&self, site: Site) -> bool {
        match site {
            Site::Op(op) | Site::Part(op, _) | Site::Attr(op, ..) => self.ops[op],
            Site::Block(block) => self.blocks[block],
            Site::Arg(block, i) => self.blocks[block] && i < self.args[block],
            Site::Type(..) | Site::Extent(..) => true,
        }
    }
}
