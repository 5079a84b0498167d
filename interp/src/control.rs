//! Regions, loops and calls.

use crate::code::{Code, Frame, OpCode};
use crate::{Interpreter, IterationOrder, Stop};
use gradus_ir::CountedFn;
use gradus_ir::control::{Event, Next};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::random::Random;
use gradus_ir::{Op, OpInfo, Traits, Type};
use std::ops::Range;

/// Remaining stack in bytes below which nested regions and calls continue on a new segment, and the size of that
/// segment.
const STACK_LEFT: usize = 128 << 10;
const MORE_STACK: usize = 2 << 20;

/// Maximum number of iterations that run in another order.
const MAX_REORDERED: usize = 1 << 12;

impl Interpreter<'_> {
    /// Runs a region with its arguments on the stack from `start` on. The terminator's operands replace them.
    pub(super) fn region(&mut self, code: &Code, frame: &mut Frame, region: usize, start: usize) -> Result<(), Stop> {
        match code.regions[region].entry {
            Some(entry) => {
                code.enter(frame, entry, &mut self.stack[start..]);
                self.stack.truncate(start);
                self.entered(code, frame, region, start)
            }
            None => {
                self.stack.truncate(start);
                Ok(())
            }
        }
    }

    /// Runs a region whose arguments are defined.
    fn entered(&mut self, code: &Code, frame: &mut Frame, region: usize, start: usize) -> Result<(), Stop> {
        let Some(entry) = code.regions[region].entry else { return Ok(()) };
        let scope = self.memory.scope();
        let done = stacker::maybe_grow(STACK_LEFT, MORE_STACK, || self.blocks(code, frame, entry, start));
        if code.regions[region].is_scope {
            self.memory.leave(scope);
        }
        done
    }

    /// Calls a function with its arguments on the stack from `start` on. The results replace them, or are returned if
    /// an external handler produced them.
    pub(super) fn callee(&mut self, op: &OpCode, callee: Option<Op>, start: usize) -> Result<Option<Vec<Datum>>, Stop> {
        let missing = || Stop { op: op.op, trap: Trap::unsupported("the callee does not exist") };
        let (m, callee) = (self.module, callee.ok_or_else(missing)?);
        if let Some(handled) = self.callees.as_mut().and_then(|callees| callees(callee, &self.stack[start..])) {
            return handled.map(Some);
        }
        if m.regions(callee).first().is_none_or(|&body| m.entry(body).is_none()) {
            return self.outside(op.op, start, "the callee has no body").map(Some);
        }
        stacker::maybe_grow(STACK_LEFT, MORE_STACK, || self.call_with(callee, start)).map(|()| None)
    }

    /// Runs a counted loop with its operands on the stack from `start` on. The results replace them.
    #[allow(clippy::too_many_arguments, reason = "what an op does, and where")]
    pub(super) fn counted(
        &mut self,
        code: &Code,
        frame: &mut Frame,
        op: &OpCode,
        info: &'static OpInfo,
        counted: CountedFn,
        body: Option<usize>,
        start: usize,
    ) -> Result<(), Stop> {
        let trapped = |trap| Stop { op: op.op, trap };
        let range = code.with_args(self.module, op, info, |args| counted(args, &self.stack[start..]));
        let range = range.map_err(trapped)?;
        let missing = || trapped(Trap::unsupported("a region is missing"));
        let body = body.ok_or_else(missing)?;
        let entry = code.regions[body].entry.ok_or_else(missing)?;
        self.stack.drain(start..start + range.inits);
        let mut next = range.first;
        loop {
            let number = range.value(next).map_err(trapped)?;
            if next >= range.end {
                return Ok(());
            }
            self.count(op.op, 1)?;
            code.enter_loop(frame, entry, number, &mut self.stack[start..]);
            self.stack.truncate(start);
            self.entered(code, frame, body, start)?;
            next += range.step;
        }
    }

    /// Executes an op with regions, with its operands on the stack from `start` on.
    pub(super) fn control(
        &mut self,
        code: &Code,
        frame: &mut Frame,
        op: &OpCode,
        info: &'static OpInfo,
        regions: &[usize],
        start: usize,
    ) -> Result<Vec<Datum>, Stop> {
        let parallel = info.traits.has(Traits::PARALLEL);
        if parallel {
            self.memory.enter_parallel();
        }
        let operands = start..self.stack.len();
        let reordered = if parallel { self.reordered(code, op, info, operands.clone()) } else { Vec::new() };
        let mut reordered = reordered.into_iter();
        let mut left: Option<(usize, usize)> = None;
        loop {
            // The stack holds the operands, the arguments of the region that ran, and its yielded values.
            let event = match left {
                None => Event::Enter,
                Some((region, yielded)) => {
                    Event::Left { region, args: &self.stack[operands.end..yielded], yielded: &self.stack[yielded..] }
                }
            };
            let (data, memory) = (&self.stack[operands.clone()], &mut self.memory);
            let next = code.with_args(self.module, op, info, |args| match (info.control, info.control_memory) {
                (Some(control), _) => control(args, data, event),
                (None, Some(control)) => control(args, data, event, memory),
                (None, None) => Err(Trap::unknown("an op that runs no regions")),
            });
            let (idle, results) = match next.map_err(|trap| Stop { op: op.op, trap })? {
                Next::Region(region, args) => {
                    self.count(op.op, 1)?;
                    if region == 0 && parallel {
                        self.memory.next_iteration();
                    }
                    let missing = || Stop { op: op.op, trap: Trap::unsupported("a region is missing") };
                    let number = *regions.get(region).ok_or_else(missing)?;
                    self.stack.truncate(operands.end);
                    self.stack.extend_from_slice(&args);
                    let yielded = self.stack.len();
                    self.stack.extend(args);
                    // The op itself sees the points in their order.
                    for (i, index) in
                        if region == 0 { reordered.next() } else { None }.into_iter().flatten().enumerate()
                    {
                        self.stack[yielded + i] = index;
                    }
                    self.region(code, frame, number, yielded)?;
                    left = Some((region, yielded));
                    continue;
                }
                Next::Done(results) => (0, results),
                Next::Idle(steps, results) => (steps, results),
            };
            self.count(op.op, idle)?;
            if parallel {
                self.memory.leave_parallel();
            }
            return Ok(results);
        }
    }

    /// Returns the induction variables of a parallel loop's iterations in another order than the sequential one; empty
    /// for that order, and for more than [`MAX_REORDERED`] iterations.
    fn reordered(&self, code: &Code, op: &OpCode, info: &'static OpInfo, operands: Range<usize>) -> Vec<Vec<Datum>> {
        if self.order == IterationOrder::Sequential {
            return Vec::new();
        }
        let mut points = self.points(code, op, info, operands).unwrap_or_default();
        match self.order {
            IterationOrder::Sequential => {}
            IterationOrder::Reversed => points.reverse(),
            IterationOrder::Shuffled(seed) => {
                let mut random = Random::of(seed);
                for i in (1..points.len()).rev() {
                    points.swap(i, random.below(i as u64 + 1) as usize);
                }
            }
        }
        points
    }

    /// Returns the induction variables of each iteration, by asking the op for one after another.
    fn points(
        &self,
        code: &Code,
        op: &OpCode,
        info: &'static OpInfo,
        operands: Range<usize>,
    ) -> Option<Vec<Vec<Datum>>> {
        let (m, control) = (self.module, info.control?);
        let args = m.block_args(m.entry(*m.regions(op.op).first()?)?);
        let rank = args.iter().take_while(|&&arg| m.value_type(arg) == Type::INDEX).count();
        code.with_args(m, op, info, |args| {
            let data = &self.stack[operands];
            // The values that the iterations yield do not decide which points there are.
            let blank = vec![Datum::Poison; args.result_types.len()];
            let mut points = Vec::new();
            let mut next = control(args, data, Event::Enter).ok()?;
            while let Next::Region(region, state) = next {
                let yielded = if region == 0 { &blank[..] } else { state.get(..1)? };
                if region == 0 {
                    points.push(state.get(..rank)?.to_vec());
                }
                if points.len() > MAX_REORDERED {
                    return None;
                }
                next = control(args, data, Event::Left { region, args: &state, yielded }).ok()?;
            }
            Some(points)
        })
    }
}
