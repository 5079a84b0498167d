//! The search: moves from coarse to fine, each in many places at once first, until none makes the program smaller.

use crate::size::{Size, Weights};
use crate::{args, attrs, blocks, copy, ops, regions, symbols, types};
use gradus_ir::entity::SideTable;
use gradus_ir::{Attr, Block, Module, Op, PrintOptions, Type, verify};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

/// How long a search goes on.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The oracle is asked about so many candidates at most.
    pub candidates: u64,
    /// No candidate is begun later than this after the start.
    pub time: Option<Duration>,
}

impl Default for Options {
    fn default() -> Options {
        Options { candidates: 2000, time: None }
    }
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// No move in a single place makes the program smaller and keeps it interesting.
    Minimal,
    /// A limit was reached.
    Limit,
}

/// What came of a search.
pub struct Reduced {
    /// The smallest program that was found interesting; the one that was given if none was.
    pub module: Module,
    /// Why there is no smaller one.
    pub end: End,
    /// How often the oracle was asked.
    pub candidates: u64,
    /// How many candidates were found wrong or known before the oracle was asked.
    pub discarded: u64,
}

/// A step of a search, for those who watch: after each answer of the oracle.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The smallest interesting program so far.
    pub best: &'a Module,
    /// Whether it is new.
    pub is_new: bool,
    /// How often the oracle was asked.
    pub candidates: u64,
    /// The move.
    pub name: &'static str,
}

/// A place where a move can be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Site {
    /// An op.
    Op(Op),
    /// Something of an op that has a number.
    Part(Op, usize),
    /// An attribute of an op, and what takes its place.
    Attr(Op, gradus_ir::Str, Option<Attr>),
    /// A block.
    Block(Block),
    /// An argument of a block.
    Arg(Block, usize),
    /// A type, and what takes its place everywhere.
    Type(Type, Type),
    /// An extent of a dimension, and what takes its place everywhere.
    Extent(i64, i64),
}

/// A way to make a program smaller.
pub(crate) struct Move {
    /// What reports call it.
    pub name: &'static str,
    /// Where it can be made, in the order in which it is tried.
    pub sites: fn(&Module) -> Vec<Site>,
    /// Makes it in some of these places, as far as it can; what is left may be invalid.
    pub apply: fn(&mut Module, &[Site]),
}

/// From coarse to fine.
const MOVES: &[&[Move]] = &[
    symbols::MOVES,
    blocks::COARSE,
    ops::COARSE,
    regions::MOVES,
    blocks::FINE,
    ops::FINE,
    args::MOVES,
    types::MOVES,
    attrs::MOVES,
    ops::OPERANDS,
];

/// For each candidate that the oracle is asked about, so many may be discarded.
const DISCARDED: u64 = 20;

/// Makes a program smaller, as long as `oracle` finds it interesting. The program must be valid, and interesting already.
pub fn reduce(m: &Module, oracle: &mut dyn FnMut(&Module) -> bool, options: &Options) -> Reduced {
    reduce_watched(m, oracle, options, &mut |_| ())
}

/// [`reduce`], where somebody hears of each step.
pub fn reduce_watched(
    m: &Module,
    oracle: &mut dyn FnMut(&Module) -> bool,
    options: &Options,
    watch: &mut dyn FnMut(Step<'_>),
) -> Reduced {
    let module = copy::compact(m);
    let mut weights = Weights::default();
    let size = Size::of(&module, &mut weights);
    let mut search = Search {
        module,
        size,
        weights,
        oracle,
        watch,
        options,
        end: options.time.map(|time| Instant::now() + time),
        tried: FxHashSet::default(),
        candidates: 0,
        discarded: 0,
    };
    let end = search.run();
    let Search { module, candidates, discarded, .. } = search;
    Reduced { module, end, candidates, discarded }
}

struct Search<'a> {
    /// The smallest interesting program.
    module: Module,
    size: Size,
    weights: Weights,
    oracle: &'a mut dyn FnMut(&Module) -> bool,
    watch: &'a mut dyn FnMut(Step<'_>),
    options: &'a Options,
    end: Option<Instant>,
    /// What programs that are not interesting look like.
    tried: FxHashSet<u64>,
    candidates: u64,
    discarded: u64,
}

impl Search<'_> {
    /// Makes all moves, again and again while that helps.
    fn run(&mut self) -> End {
        loop {
            let before = self.size;
            for mv in MOVES.iter().copied().flatten() {
                let ops = self.module.num_ops();
                self.exhaust(mv);
                if self.module.num_ops() < ops {
                    self.module = copy::compact(&self.module);
                }
                if self.is_over() {
                    return End::Limit;
                }
            }
            if self.size == before {
                return End::Minimal;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.candidates >= self.options.candidates
            || self.discarded >= DISCARDED.saturating_mul(self.options.candidates)
            || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Makes a move in all places at once, then in halves of them, and so on; those where it was made are done with.
    fn exhaust(&mut self, mv: &Move) {
        let mut sites = (mv.sites)(&self.module);
        let mut size = sites.len();
        while size > 0 {
            let mut at = 0;
            while at < sites.len() && !self.is_over() {
                let end = sites.len().min(at + size);
                if !self.attempt(mv, &sites[at..end]) {
                    at = end;
                    continue;
                }
                sites.drain(at..end);
                let live = Live::of(&self.module);
                let mut number = 0;
                let mut before = 0;
                sites.retain(|&site| {
                    number += 1;
                    let keep = live.has(site);
                    before += usize::from(keep && number <= at);
                    keep
                });
                at = before;
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }

    /// Makes a move in some places; keeps what comes of it if that is smaller, valid and interesting.
    fn attempt(&mut self, mv: &Move, sites: &[Site]) -> bool {
        let mut candidate = self.module.clone();
        (mv.apply)(&mut candidate, sites);
        let size = Size::of(&candidate, &mut self.weights);
        if size >= self.size || verify(&candidate).is_err() {
            self.discarded += 1;
            return false;
        }
        if !self.tried.insert(fingerprint(&candidate)) {
            self.discarded += 1;
            return false;
        }
        self.candidates += 1;
        let is_new = (self.oracle)(&candidate);
        if is_new {
            (self.module, self.size) = (candidate, size);
        }
        (self.watch)(Step { best: &self.module, is_new, candidates: self.candidates, name: mv.name });
        is_new
    }
}

fn fingerprint(m: &Module) -> u64 {
    let mut hasher = FxHasher::default();
    m.to_text(PrintOptions { generic: true, ..PrintOptions::default() }).hash(&mut hasher);
    hasher.finish()
}

/// The ops and blocks that are still there.
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
