//! Matching: a simulation of the nondeterministic automaton finds the leftmost-longest match; captures are
//! reconstructed afterwards by backtracking, longest alternatives first.

use super::{Assert, RegexNode, Set};

/// Maximum number of instructions of a program.
const MAX_PROGRAM: usize = 1 << 17;

/// The error that matching exceeded the step limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooComplex;

/// The groups of a match, numbered from 1; group 0 is the whole match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captures(Vec<Option<(usize, usize)>>);

impl Captures {
    /// Returns the start and end of a group.
    pub fn get(&self, group: u32) -> Option<(usize, usize)> {
        *self.0.get(group as usize)?
    }

    /// Returns the start and end of the whole match.
    pub fn whole(&self) -> (usize, usize) {
        self.0[0].expect("a match is somewhere")
    }
}

/// An instruction; by default the next one follows.
#[derive(Clone, Copy)]
enum RegexInst {
    Byte(u8),
    Set(u32),
    Assert(Assert),
    /// Continues at both targets.
    Split(u32, u32),
    Jump(u32),
}

/// A half-open range of instructions.
#[derive(Clone, Copy)]
struct Range {
    start: u32,
    end: u32,
}

/// An element of the outermost sequence.
#[derive(Clone, Copy)]
enum Item {
    Part(Range),
    Open(u32),
    Close(u32),
    Back(u32),
}

/// A compiled expression.
pub struct Regex {
    program: Vec<RegexInst>,
    sets: Vec<Set>,
    items: Vec<Item>,
    /// The possible first bytes of a match, if it is nonempty and starts without assertion.
    first: Option<Set>,
    newline: bool,
    groups: usize,
    has_back: bool,
}

impl Regex {
    /// Compiles a sequence. Groups in `wanted` and referenced groups must not be inside alternatives or repetitions;
    /// violations and oversized expressions are errors.
    pub fn new(nodes: &[RegexNode], wanted: &[u32], newline: bool) -> Result<Regex, String> {
        let mut back = Vec::new();
        nodes.iter().for_each(|n| referred(n, &mut back));
        let mut program = RegexCompiler { insts: Vec::new(), sets: Vec::new(), groups: Vec::new() };
        let mut items = Vec::new();
        let needed = |n: u32| wanted.contains(&n) || back.contains(&n);
        for node in nodes {
            program.item(node, &needed, &mut items)?;
        }
        let groups = wanted.iter().chain(&back).copied().max().unwrap_or(0) as usize;
        for n in wanted.iter().chain(&back) {
            if !items.iter().any(|i| matches!(i, Item::Open(open) if open == n)) {
                return Err(format!("there is no group {n}"));
            }
        }
        let RegexCompiler { insts, sets, .. } = program;
        let mut regex = Regex { program: insts, sets, items, first: None, newline, groups, has_back: !back.is_empty() };
        regex.first = regex.first_bytes();
        Ok(regex)
    }

    /// Finds the leftmost-longest match.
    pub fn find(&self, text: &[u8]) -> Result<Option<Captures>, TooComplex> {
        let mut run = RegexSearch::new(self, text);
        let mut from = 0;
        loop {
            let Some((start, end)) = run.leftmost(from)? else { return Ok(None) };
            if self.items.iter().all(|i| matches!(i, Item::Part(_))) {
                return Ok(Some(Captures(vec![Some((start, end))])));
            }
            let ends = if self.has_back { run.ends(self.whole(), start, text.len())? } else { vec![end] };
            for end in ends.into_iter().rev() {
                if let Some(captures) = run.captures(start, end)? {
                    return Ok(Some(captures));
                }
            }
            from = start + 1;
        }
    }

    fn whole(&self) -> Range {
        Range { start: 0, end: self.program.len() as u32 }
    }

    fn first_bytes(&self) -> Option<Set> {
        let mut run = RegexSearch::new(self, &[]);
        let (mut set, mut any) = (Set::EMPTY, false);
        run.mark += 1;
        run.work.push(0);
        while let Some(pc) = run.work.pop() {
            if std::mem::replace(&mut run.marks[pc as usize], run.mark) == run.mark {
                continue;
            }
            match self.program.get(pc as usize) {
                None | Some(RegexInst::Assert(_)) => any = true,
                Some(RegexInst::Byte(b)) => set.add(*b),
                Some(RegexInst::Set(i)) => set.union(self.sets[*i as usize]),
                Some(RegexInst::Split(a, b)) => run.work.extend([*a, *b]),
                Some(RegexInst::Jump(to)) => run.work.push(*to),
            }
        }
        (!any).then_some(set)
    }
}

/// Appends the groups to which back-references refer.
fn referred(node: &RegexNode, found: &mut Vec<u32>) {
    match node {
        RegexNode::Literal(_) | RegexNode::Byte(_) | RegexNode::Assert(_) => {}
        RegexNode::Group(_, inner) | RegexNode::Plus(inner) => referred(inner, found),
        RegexNode::Concat(list) | RegexNode::Alt(list) => list.iter().for_each(|n| referred(n, found)),
        RegexNode::Back(n) => found.push(*n),
    }
}

/// A program under construction.
struct RegexCompiler<'a> {
    insts: Vec<RegexInst>,
    sets: Vec<Set>,
    /// The complete groups of the outermost sequence, to which back-references may refer.
    groups: Vec<(u32, &'a RegexNode)>,
}

impl<'a> RegexCompiler<'a> {
    /// Compiles an element of the outermost sequence, split only where captures are needed.
    fn item(
        &mut self,
        node: &'a RegexNode,
        needed: &impl Fn(u32) -> bool,
        items: &mut Vec<Item>,
    ) -> Result<(), String> {
        match node {
            RegexNode::Concat(list) if node.mentions(needed) => {
                list.iter().try_for_each(|n| self.item(n, needed, items))?;
            }
            RegexNode::Group(n, inner) if needed(*n) => {
                items.push(Item::Open(*n));
                self.item(inner, needed, items)?;
                items.push(Item::Close(*n));
                self.groups.push((*n, inner));
            }
            RegexNode::Back(n) => {
                let Some((_, group)) = self.groups.iter().rev().find(|g| g.0 == *n) else {
                    return Err("invalid backreference number".into());
                };
                // The automaton approximates a back-reference by its group's expression; equality is verified
                // afterwards.
                self.node(group)?;
                items.push(Item::Back(*n));
            }
            RegexNode::Group(_, inner) if inner.mentions(needed) => self.item(inner, needed, items)?,
            _ if node.mentions(needed) => {
                return Err("a back-reference inside of alternatives or a repetition is not supported".into());
            }
            _ => items.push(Item::Part(self.range(node)?)),
        }
        Ok(())
    }

    fn range(&mut self, node: &'a RegexNode) -> Result<Range, String> {
        let start = self.here();
        self.node(node)?;
        Ok(Range { start, end: self.here() })
    }

    fn here(&self) -> u32 {
        self.insts.len() as u32
    }

    fn node(&mut self, node: &'a RegexNode) -> Result<(), String> {
        if self.insts.len() > MAX_PROGRAM {
            return Err("regular expression too big".into());
        }
        match node {
            RegexNode::Literal(text) => self.insts.extend(text.iter().map(|b| RegexInst::Byte(*b))),
            RegexNode::Byte(set) => {
                let known = self.sets.iter().rev().take(8).position(|s| s == set);
                let index = known.map_or(self.sets.len(), |back| self.sets.len() - 1 - back);
                if known.is_none() {
                    self.sets.push(*set);
                }
                self.insts.push(RegexInst::Set(index as u32));
            }
            RegexNode::Assert(what) => self.insts.push(RegexInst::Assert(*what)),
            RegexNode::Group(_, inner) => self.node(inner)?,
            RegexNode::Concat(list) => list.iter().try_for_each(|n| self.node(n))?,
            RegexNode::Alt(list) => self.alternatives(list)?,
            RegexNode::Plus(inner) => {
                let start = self.here();
                self.node(inner)?;
                let next = self.here() + 1;
                self.insts.push(RegexInst::Split(start, next));
            }
            // Compiled as an item of its own, or rejected.
            RegexNode::Back(_) => {}
        }
        Ok(())
    }

    fn alternatives(&mut self, list: &'a [RegexNode]) -> Result<(), String> {
        let mut jumps = Vec::new();
        for (i, node) in list.iter().enumerate() {
            if i + 1 == list.len() {
                self.node(node)?;
                break;
            }
            let split = self.insts.len();
            self.insts.push(RegexInst::Jump(0));
            self.node(node)?;
            jumps.push(self.insts.len());
            self.insts.push(RegexInst::Jump(0));
            self.insts[split] = RegexInst::Split(split as u32 + 1, self.here());
        }
        let end = self.here();
        jumps.into_iter().for_each(|j| self.insts[j] = RegexInst::Jump(end));
        Ok(())
    }
}

/// A backtracking choice: an item, its start, and its remaining ends.
struct Frame {
    pos: usize,
    ends: Vec<usize>,
}

/// A search in one text.
struct RegexSearch<'a> {
    regex: &'a Regex,
    text: &'a [u8],
    steps: u64,
    /// For each instruction, the last step at which it was reached.
    marks: Vec<u64>,
    mark: u64,
    work: Vec<u32>,
}

impl<'a> RegexSearch<'a> {
    fn new(regex: &'a Regex, text: &'a [u8]) -> RegexSearch<'a> {
        let steps = 20_000_000 + 200 * text.len() as u64;
        RegexSearch { regex, text, steps, marks: vec![0; regex.program.len() + 1], mark: 0, work: Vec::new() }
    }

    fn spend(&mut self, steps: usize) -> Result<(), TooComplex> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(TooComplex)?;
        Ok(())
    }

    fn holds(&self, assert: Assert, pos: usize) -> bool {
        let before = pos.checked_sub(1).map(|i| self.text[i]);
        let after = self.text.get(pos).copied();
        let newline = |b: Option<u8>| b.is_none() || (self.regex.newline && b == Some(b'\n'));
        let word = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
        match assert {
            Assert::LineStart => newline(before),
            Assert::LineEnd => newline(after),
            Assert::WordStart => !word(before) && word(after),
            Assert::WordEnd => word(before) && !word(after),
        }
    }

    /// Follows the instructions reachable from `pc` without consuming a byte. Passes on those that consume one, and
    /// `end`; each once per position.
    fn follow(&mut self, pc: u32, end: u32, pos: usize, mut reach: impl FnMut(u32)) -> Result<(), TooComplex> {
        self.work.push(pc);
        while let Some(pc) = self.work.pop() {
            self.spend(1)?;
            if std::mem::replace(&mut self.marks[pc as usize], self.mark) == self.mark {
                continue;
            }
            if pc == end {
                reach(pc);
                continue;
            }
            match self.regex.program[pc as usize] {
                RegexInst::Byte(_) | RegexInst::Set(_) => reach(pc),
                RegexInst::Assert(what) if self.holds(what, pos) => self.work.push(pc + 1),
                RegexInst::Assert(_) => {}
                RegexInst::Split(a, b) => self.work.extend([b, a]),
                RegexInst::Jump(to) => self.work.push(to),
            }
        }
        Ok(())
    }

    fn takes(&self, pc: u32, byte: u8) -> bool {
        match self.regex.program[pc as usize] {
            RegexInst::Byte(b) => b == byte,
            RegexInst::Set(i) => self.regex.sets[i as usize].has(byte),
            _ => false,
        }
    }

    /// Returns the leftmost-longest match that starts at or after `from`.
    fn leftmost(&mut self, from: usize) -> Result<Option<(usize, usize)>, TooComplex> {
        let end = self.regex.program.len() as u32;
        let mut best: Option<(usize, usize)> = None;
        // Threads: instructions that wait for a byte, with the start of their match, earliest first.
        let (mut now, mut next) = (Vec::<(u32, usize)>::new(), Vec::new());
        let mut pos = from;
        loop {
            self.mark += 1;
            next.clear();
            let fresh = if best.is_none() { Some((0, pos)) } else { None };
            let byte = pos.checked_sub(1).map(|i| self.text[i]);
            for (pc, start) in now.drain(..).chain(fresh) {
                // A fresh thread has consumed no byte.
                let is_fresh = start == pos;
                if best.is_some_and(|b| start > b.0) || !(is_fresh || byte.is_some_and(|b| self.takes(pc, b))) {
                    continue;
                }
                let mut found = false;
                let pc = if is_fresh { pc } else { pc + 1 };
                self.follow(pc, end, pos, |pc| if pc == end { found = true } else { next.push((pc, start)) })?;
                if found {
                    best = Some((start, pos));
                }
            }
            std::mem::swap(&mut now, &mut next);
            if pos == self.text.len() || (best.is_some() && now.is_empty()) {
                return Ok(best);
            }
            pos += 1;
            if now.is_empty()
                && let Some(first) = &self.regex.first
            {
                let Some(skip) = self.text[pos..].iter().position(|b| first.has(*b)) else { return Ok(best) };
                self.spend(skip / 16)?;
                pos += skip;
            }
        }
    }

    /// Returns the possible ends, up to `limit` and ascending, of a program range that starts at `pos`.
    fn ends(&mut self, range: Range, pos: usize, limit: usize) -> Result<Vec<usize>, TooComplex> {
        let (mut found, mut now, mut next) = (Vec::new(), vec![], vec![]);
        self.mark += 1;
        let mut at_end = false;
        let mut collect = |pc: u32, list: &mut Vec<u32>| if pc == range.end { at_end = true } else { list.push(pc) };
        self.follow(range.start, range.end, pos, |pc| collect(pc, &mut now))?;
        let mut pos = pos;
        loop {
            if std::mem::take(&mut at_end) {
                found.push(pos);
            }
            if now.is_empty() || pos == limit {
                return Ok(found);
            }
            let byte = self.text[pos];
            pos += 1;
            self.mark += 1;
            for pc in now.drain(..) {
                if self.takes(pc, byte) {
                    self.follow(
                        pc + 1,
                        range.end,
                        pos,
                        |pc| {
                            if pc == range.end { at_end = true } else { next.push(pc) }
                        },
                    )?;
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
    }

    /// Returns the captures of a match from `start` to `end`: each item takes the longest text with which the rest
    /// matches.
    fn captures(&mut self, start: usize, end: usize) -> Result<Option<Captures>, TooComplex> {
        let items = &self.regex.items;
        let mut frames: Vec<Frame> = Vec::new();
        let mut failed = rustc_hash::FxHashSet::default();
        let mut pos = start;
        loop {
            let i = frames.len();
            if i == items.len() && pos == end {
                return Ok(Some(self.places(&frames, start, end)));
            }
            let ends = match items.get(i) {
                _ if failed.contains(&(i, pos)) => Vec::new(),
                None => Vec::new(),
                Some(Item::Part(range)) => self.ends(*range, pos, end)?,
                Some(Item::Open(_) | Item::Close(_)) => vec![pos],
                Some(Item::Back(n)) => self.same_again(*n, &frames, pos, end),
            };
            frames.push(Frame { pos, ends });
            loop {
                self.spend(1)?;
                let Some(frame) = frames.last_mut() else { return Ok(None) };
                if let Some(next) = frame.ends.pop() {
                    pos = next;
                    break;
                }
                let frame = frames.pop().expect("there is a last one");
                // A failure repeats unless it depends on captures.
                if !self.regex.has_back {
                    failed.insert((frames.len(), frame.pos));
                }
            }
        }
    }

    /// Returns the position of a group under the current choices.
    fn group(&self, n: u32, frames: &[Frame]) -> Option<(usize, usize)> {
        let items = &self.regex.items;
        let at = |is: &dyn Fn(&Item) -> bool| items.iter().rposition(is).and_then(|i| frames.get(i)).map(|f| f.pos);
        Some((at(&|i| matches!(i, Item::Open(m) if *m == n))?, at(&|i| matches!(i, Item::Close(m) if *m == n))?))
    }

    fn same_again(&self, n: u32, frames: &[Frame], pos: usize, end: usize) -> Vec<usize> {
        let Some((from, to)) = self.group(n, frames) else { return Vec::new() };
        let fits = self.text[pos..end].starts_with(&self.text[from..to]);
        if fits { vec![pos + to - from] } else { Vec::new() }
    }

    fn places(&self, frames: &[Frame], start: usize, end: usize) -> Captures {
        let groups = (1..=self.regex.groups as u32).map(|n| self.group(n, frames));
        Captures(std::iter::once(Some((start, end))).chain(groups).collect())
    }
}
