//! The search: moves from coarse to fine, each in many places at once first, until none makes the program smaller.

use crate::size::{Size, Weights};
use crate::{args, attrs, blocks, copy, ops, regions, symbols, types};
use gradus_ir::entity::SideTable;
use gradus_ir::{Attr, Block, Module, Op, PrintOptions, Type, verify};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long a search goes on.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The oracle is asked about so many candidates at most.
    pub candidates: u64,
    /// No candidate is begun later than this after the start.
    pub time: Option<Duration>,
    /// The oracle is shown so many candidates at once, of which it takes the first that is interesting.
    pub batch: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { candidates: 2000, time: None, batch: 1 }
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
    /// Whether places are tried one by one, since they are alternatives to each other.
    pub alone: bool,
}

impl Move {
    /// A move that is made in many places at once.
    pub(crate) const fn new(
        name: &'static str,
        sites: fn(&Module) -> Vec<Site>,
        apply: fn(&mut Module, &[Site]),
    ) -> Move {
        Move { name, sites, apply, alone: false }
    }

    /// A move that is made in one place at a time.
    pub(crate) const fn alone(self) -> Move {
        Move { alone: true, ..self }
    }
}

/// From coarse to fine.
const MOVES: &[&[Move]] = &[
    symbols::MOVES,
    blocks::MOVES,
    ops::COARSE,
    regions::MOVES,
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
    reduce_watched(m, &mut |candidates| candidates.iter().position(&mut *oracle), options, &mut |_| ())
}

/// Says which of some candidates is the first that is interesting.
pub type Oracle<'a> = dyn FnMut(&[Module]) -> Option<usize> + 'a;

/// [`reduce`] with an oracle that is asked about [`Options::batch`] candidates at once, and somebody who hears of each step.
pub fn reduce_watched(
    m: &Module,
    oracle: &mut Oracle<'_>,
    options: &Options,
    watch: &mut dyn FnMut(Step<'_>),
) -> Reduced {
    reduce_by(&moves(), m, oracle, options, watch)
}

/// All moves, from coarse to fine.
pub(crate) fn moves() -> Vec<&'static Move> {
    MOVES.iter().copied().flatten().collect()
}

/// [`reduce_watched`] by some moves only.
pub(crate) fn reduce_by(
    moves: &[&Move],
    m: &Module,
    oracle: &mut Oracle<'_>,
    options: &Options,
    watch: &mut dyn FnMut(Step<'_>),
) -> Reduced {
    let module = copy::compact(m);
    let mut weights = Weights::default();
    let size = Size::of(&module, &mut weights);
    let mut search = Search {
        moves,
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

struct Search<'a, 'o> {
    moves: &'a [&'a Move],
    /// The smallest interesting program.
    module: Module,
    size: Size,
    weights: Weights,
    oracle: &'a mut Oracle<'o>,
    watch: &'a mut dyn FnMut(Step<'_>),
    options: &'a Options,
    end: Option<Instant>,
    /// What programs that are not interesting look like.
    tried: FxHashSet<u64>,
    candidates: u64,
    discarded: u64,
}

impl Search<'_, '_> {
    /// Makes all moves, again and again while that helps.
    fn run(&mut self) -> End {
        loop {
            let before = self.size;
            for mv in self.moves {
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
        let mut size = if mv.alone { sites.len().min(1) } else { sites.len() };
        while size > 0 {
            let mut at = 0;
            while at < sites.len() && !self.is_over() {
                let (batch, next) = self.batch(mv, &sites, at, size);
                let Some(made) = self.ask(mv, batch) else {
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

    /// The next candidates, by moves in so many places each, and where the next begins.
    fn batch(&mut self, mv: &Move, sites: &[Site], mut at: usize, size: usize) -> (Vec<Candidate>, usize) {
        let mut batch: Vec<Candidate> = Vec::new();
        while at < sites.len() && batch.len() < self.options.batch.max(1) {
            let end = sites.len().min(at + size);
            match self.candidate(mv, sites, at..end) {
                Some(candidate) if !batch.iter().any(|c| c.print == candidate.print) => batch.push(candidate),
                _ => self.discarded += 1,
            }
            at = end;
        }
        (batch, at)
    }

    /// What comes of a move in some places, if that is smaller, valid and new.
    fn candidate(&mut self, mv: &Move, sites: &[Site], places: Range<usize>) -> Option<Candidate> {
        let mut module = self.module.clone();
        (mv.apply)(&mut module, &sites[places.clone()]);
        let size = Size::of(&module, &mut self.weights);
        if size >= self.size || verify(&module).is_err() {
            return None;
        }
        let print = fingerprint(&module);
        (!self.tried.contains(&print)).then_some(Candidate { module, size, print, places })
    }

    /// Keeps the first candidate that is interesting, and says where the move was made.
    fn ask(&mut self, mv: &Move, batch: Vec<Candidate>) -> Option<Range<usize>> {
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
        (self.watch)(Step { best: &self.module, is_new: places.is_some(), candidates: self.candidates, name: mv.name });
        places
    }
}

/// A program that may be the next.
struct Candidate {
    module: Module,
    size: Size,
    /// What it looks like.
    print: u64,
    /// The sites of the move.
    places: Range<usize>,
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
