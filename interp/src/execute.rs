//! Execution of the ops of blocks.

use crate::code::{Code, ExecutionKind, Frame, MAX_NUMBERS, OpCode, Read};
use crate::{Interpreter, Stop};
use gradus_ir::access::ElementAccess;
use gradus_ir::eval::{Datum, Trap, check_results, eval_op};
use gradus_ir::scalar::Scalar;
use gradus_ir::{JumpFn, OpInfo, Traits};
use std::ops::Range;

/// The continuation after an op.
enum After {
    /// The next op.
    Next,
    /// A block.
    Block(usize),
    /// The end of the region.
    Left,
}

impl Interpreter<'_> {
    /// Runs blocks until a terminator ends their region. The yielded values are on the stack from `start` on.
    pub(super) fn blocks(
        &mut self,
        code: &Code,
        frame: &mut Frame,
        mut block: usize,
        start: usize,
    ) -> Result<(), Stop> {
        'blocks: loop {
            let mut combined = Vec::new();
            for op in &code.ops[code.blocks[block].ops.clone()] {
                match self.step(code, frame, op, &mut combined)? {
                    After::Next => {}
                    After::Left => return Ok(()),
                    After::Block(to) => {
                        code.enter(frame, to, &mut self.stack[start..]);
                        self.stack.truncate(start);
                        block = to;
                        continue 'blocks;
                    }
                }
            }
            // A block without a terminator ends its region.
            self.stack.append(&mut combined);
            return Ok(());
        }
    }

    #[inline]
    fn step(&mut self, code: &Code, frame: &mut Frame, op: &OpCode, combined: &mut Vec<Datum>) -> Result<After, Stop> {
        let trapped = |trap| Stop { op: op.op, trap };
        if let ExecutionKind::Leave = op.does {
            self.read_all(code, frame, op)?;
            return Ok(After::Left);
        }
        self.count(op.op, 1)?;
        match &op.does {
            ExecutionKind::Constant(value) => {
                if !matches!(value, Datum::Int(_) | Datum::Float(_)) {
                    self.made += elements(value) / self.elements_per_op;
                }
                code.define_one(frame, op, value.clone());
            }
            ExecutionKind::Scalar(scalar) => match compute(scalar, code.reads(op), frame).map_err(trapped)? {
                Some(result) => code.define_one(frame, op, result),
                None => {
                    let result = self.unusual(code, frame, op)?;
                    code.define_one(frame, op, result);
                }
            },
            ExecutionKind::Access(access) => {
                if let Some(result) = self.access(code, frame, op, access)? {
                    code.define_one(frame, op, result);
                }
            }
            ExecutionKind::Branch(info, jump, to) => return self.branch(code, frame, op, info, *jump, to),
            _ => return self.rarer(code, frame, op, combined),
        }
        Ok(After::Next)
    }

    fn rarer(&mut self, code: &Code, frame: &mut Frame, op: &OpCode, combined: &mut Vec<Datum>) -> Result<After, Stop> {
        let start = self.read_all(code, frame, op)?;
        let mut leaves = false;
        let mut results = match &op.does {
            ExecutionKind::Declared(info, leaving) => {
                leaves = *leaving;
                self.declared(code, op, info, start)?
            }
            ExecutionKind::Combine(info, dest) => {
                let results = self.declared(code, op, info, start)?;
                if let (Some(dest), Some(datum)) = (dest, results.first()) {
                    frame[*dest as usize] = Some(datum.clone());
                }
                combined.extend(results);
                Vec::new()
            }
            ExecutionKind::Control(info, regions, leaving) => {
                leaves = *leaving;
                self.control(code, frame, op, info, regions, start)?
            }
            ExecutionKind::Count(info, counted, body) => {
                self.counted(code, frame, op, info, *counted, *body, start)?;
                return Ok(self.define(code, frame, op, start));
            }
            ExecutionKind::Call(callee) => match self.callee(op, *callee, start)? {
                Some(results) => results,
                None => return Ok(self.define(code, frame, op, start)),
            },
            ExecutionKind::UnregisteredBranch => {
                return Err(Stop { op: op.op, trap: Trap::unknown("the branch has no semantics") });
            }
            _ => self.outside(op.op, start, "nothing outside executes the op")?,
        };
        self.stack.truncate(start);
        if leaves {
            self.stack.extend(results);
            return Ok(After::Left);
        }
        let wanted = code.num_results(op);
        if results.len() != wanted {
            let reason = format!("its semantics give {} values for {wanted} results", results.len());
            return Err(Stop { op: op.op, trap: Trap::unsupported(reason) });
        }
        code.define(frame, op, &mut results);
        Ok(After::Next)
    }

    /// Writes an op's results, which are on the stack from `start` on.
    fn define(&mut self, code: &Code, frame: &mut Frame, op: &OpCode, start: usize) -> After {
        code.define(frame, op, &mut self.stack[start..]);
        self.stack.truncate(start);
        After::Next
    }

    /// Pushes an op's operands and returns their start on the stack.
    pub(super) fn read_all(&mut self, code: &Code, frame: &mut Frame, op: &OpCode) -> Result<usize, Stop> {
        let start = self.stack.len();
        for read in code.reads(op) {
            let datum = match &mut frame[read.place()] {
                Some(Datum::Int(v)) => Datum::Int(*v),
                Some(Datum::Float(v)) => Datum::Float(*v),
                place if read.is_last() => place.take().ok_or_else(|| undefined(op))?,
                place => place.clone().ok_or_else(|| undefined(op))?,
            };
            self.stack.push(datum);
        }
        Ok(start)
    }

    /// Executes a scalar op with a poison operand.
    #[cold]
    fn unusual(&mut self, code: &Code, frame: &mut Frame, op: &OpCode) -> Result<Datum, Stop> {
        let start = self.read_all(code, frame, op)?;
        let info = self.module.info(op.op).ok_or_else(|| undefined(op))?;
        let result = self.declared(code, op, info, start)?.pop();
        self.stack.truncate(start);
        result.ok_or_else(|| undefined(op))
    }

    fn declared(&mut self, code: &Code, op: &OpCode, info: &'static OpInfo, start: usize) -> Result<Vec<Datum>, Stop> {
        self.tell();
        let (operands, memory) = (&self.stack[start..], &mut self.memory);
        let kernels = self.kernels.as_mut().filter(|_| !info.traits.has(Traits::CONSTANT_LIKE));
        let kernels = kernels.filter(|_| self.kernels_know_poison || !operands.iter().any(Datum::has_poison));
        let declined = &mut self.declined;
        let results = code.with_args(self.module, op, info, |args| match (info.exec, kernels) {
            (Some(exec), _) => {
                let results = exec(args, operands, memory)?;
                check_results(args, &results).map(|()| results)
            }
            (None, None) => eval_op(args, operands),
            (None, Some(kernels)) => kernels(args, operands).unwrap_or_else(|| {
                *declined.entry(info.name).or_default() += 1;
                eval_op(args, operands)
            }),
        });
        let results = results.map_err(|trap| Stop { op: op.op, trap })?;
        self.made += results.iter().map(elements).sum::<u64>() / self.elements_per_op;
        Ok(results)
    }

    fn access(
        &mut self,
        code: &Code,
        frame: &Frame,
        op: &OpCode,
        access: &ElementAccess,
    ) -> Result<Option<Datum>, Stop> {
        let trapped = |trap| Stop { op: op.op, trap };
        let reads = code.reads(op);
        if reads.iter().any(|read| frame[read.place()].is_none()) {
            return Err(undefined(op));
        }
        let values = || reads.iter().filter_map(|read| frame[read.place()].as_ref());
        let mut rest = values();
        let value = if access.writes { rest.next() } else { None };
        let Some(view) = rest.next() else { return Err(undefined(op)) };
        match value {
            Some(value) => access.store(value.clone(), view, rest, &mut self.memory).map(|()| None).map_err(trapped),
            None => access.load(view, rest, &mut self.memory).map(Some).map_err(trapped),
        }
    }

    fn branch(
        &mut self,
        code: &Code,
        frame: &mut Frame,
        op: &OpCode,
        info: &'static OpInfo,
        jump: Option<JumpFn>,
        to: &[(usize, Range<usize>)],
    ) -> Result<After, Stop> {
        let trapped = |trap| Stop { op: op.op, trap };
        let start = self.read_all(code, frame, op)?;
        let jump = jump.ok_or_else(|| trapped(Trap::unknown("the branch has no semantics")))?;
        let taken = code.with_args(self.module, op, info, |args| jump(args, &self.stack[start..])).map_err(trapped)?;
        let wrong = || trapped(Trap::unsupported(format!("its semantics go to successor {taken} of {}", to.len())));
        let (block, carried) = to.get(taken).ok_or_else(wrong)?;
        self.stack.truncate(start + carried.end);
        self.stack.drain(start..start + carried.start);
        Ok(After::Block(*block))
    }
}

fn undefined(op: &OpCode) -> Stop {
    Stop { op: op.op, trap: Trap::unsupported("an operand has no value here") }
}

/// Evaluates a scalar op; `None` unless all operands are numbers.
#[inline]
fn compute(scalar: &Scalar, reads: &[Read], frame: &Frame) -> Result<Option<Datum>, Trap> {
    let (mut ints, mut floats) = ([0; MAX_NUMBERS], [0.0; MAX_NUMBERS]);
    let numbers = match scalar {
        Scalar::Ints(..) | Scalar::IntsToFloat(..) => numbers(reads, frame, &mut ints, |datum| match datum {
            Datum::Int(v) => Some(*v),
            _ => None,
        }),
        Scalar::Floats(..) | Scalar::FloatsToInt(..) => numbers(reads, frame, &mut floats, |datum| match datum {
            Datum::Float(v) => Some(*v),
            _ => None,
        }),
    };
    let Some(n) = numbers else { return Ok(None) };
    Ok(Some(match scalar {
        Scalar::Ints(f, _) => f(&ints[..n])?.map_or(Datum::Poison, Datum::Int),
        Scalar::IntsToFloat(f, _) => Datum::Float(f(&ints[..n])),
        Scalar::Floats(f, _) => f(&floats[..n]).map_or(Datum::Poison, Datum::Float),
        Scalar::FloatsToInt(f, _) => f(&floats[..n]).map_or(Datum::Poison, Datum::Int),
    }))
}

/// Returns the number of operands, read into `numbers`; `None` if one is not a number or is poison.
#[inline]
fn numbers<T>(
    reads: &[Read],
    frame: &Frame,
    to: &mut [T; MAX_NUMBERS],
    f: impl Fn(&Datum) -> Option<T>,
) -> Option<usize> {
    for (number, read) in to.iter_mut().zip(reads) {
        *number = f(frame[read.place()].as_ref()?)?;
    }
    Some(reads.len())
}

fn elements(datum: &Datum) -> u64 {
    datum.shape().map_or(0, |shape| shape.iter().product::<usize>() as u64)
}
