//! The ops of blocks, one after the other.

use super::code::{Code, Does, Frame, MAX_NUMBERS, OpCode, Read};
use super::{Interpreter, Stop};
use gradus_ir::OpInfo;
use gradus_ir::access::ElementAccess;
use gradus_ir::control::JumpFn;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::scalar::Scalar;
use std::ops::Range;

/// What happens after an op.
enum After {
    /// The op behind it runs.
    Next,
    /// A block runs.
    Block(usize),
    /// The region is left.
    Left,
}

/// What numbers an op reads.
enum Numbers {
    Known(usize),
    Poison,
    /// Something else: there are no such values in valid programs.
    None,
}

impl Interpreter<'_> {
    /// Runs blocks until a terminator leaves their region. What leaves it is on the stack from `start` on, where nothing is
    /// at first.
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
                        code.enter(frame, to, self.stack.drain(start..));
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
        if let Does::Leave = op.does {
            self.read_all(code, frame, op)?;
            return Ok(After::Left);
        }
        self.count(op.op)?;
        match &op.does {
            Does::Constant(value) => code.define_one(frame, op, value.clone()),
            Does::Scalar(scalar) => match compute(scalar, code.reads(op), frame).map_err(trapped)? {
                Some(result) => code.define_one(frame, op, result),
                None => return Err(self.unread(code, frame, op)),
            },
            Does::Access(access) => {
                if let Some(result) = self.access(code, frame, op, access)? {
                    code.define_one(frame, op, result);
                }
            }
            Does::Branch(info, jump, to) => return self.branch(code, frame, op, info, *jump, to),
            _ => return self.rarer(code, frame, op, combined),
        }
        Ok(After::Next)
    }

    fn rarer(&mut self, code: &Code, frame: &mut Frame, op: &OpCode, combined: &mut Vec<Datum>) -> Result<After, Stop> {
        self.tell();
        let start = self.read_all(code, frame, op)?;
        let mut leaves = false;
        let results = match &op.does {
            Does::Declared(info, leaving) => {
                leaves = *leaving;
                self.declared(code, op, info, start)?
            }
            Does::Combine(info, dest) => {
                let results = self.declared(code, op, info, start)?;
                if let (Some(dest), Some(datum)) = (dest, results.first()) {
                    frame[*dest as usize] = Some(datum.clone());
                }
                combined.extend_from_slice(&results);
                results
            }
            Does::Control(info, regions, leaving) => {
                leaves = *leaving;
                self.control(code, frame, op, info, regions, start)?
            }
            Does::Count(info, counted, body) => {
                self.counted(code, frame, op, info, *counted, *body, start)?;
                code.define(frame, op, self.stack.drain(start..));
                return Ok(After::Next);
            }
            Does::Call(callee) => match self.callee(op, *callee, start)? {
                Some(results) => results,
                None => {
                    code.define(frame, op, self.stack.drain(start..));
                    return Ok(After::Next);
                }
            },
            Does::UnregisteredBranch => {
                return Err(Stop { op: op.op, trap: Trap::unsupported("this branch has no meaning") });
            }
            _ => self.outside(op.op, start, "the op is not registered")?,
        };
        self.stack.truncate(start);
        if leaves {
            self.stack.extend(results);
            return Ok(After::Left);
        }
        code.define(frame, op, results);
        Ok(After::Next)
    }

    /// Puts an op's operands on the stack, and returns where they begin there.
    pub(super) fn read_all(&mut self, code: &Code, frame: &mut Frame, op: &OpCode) -> Result<usize, Stop> {
        let start = self.stack.len();
        for read in code.reads(op) {
            let place = &mut frame[read.place()];
            let datum = if read.is_last() { place.take() } else { place.clone() };
            self.stack.push(datum.ok_or_else(|| undefined(op))?);
        }
        Ok(start)
    }

    /// Why numbers could not be read.
    #[cold]
    fn unread(&mut self, code: &Code, frame: &mut Frame, op: &OpCode) -> Stop {
        let other = || Stop { op: op.op, trap: Trap::unsupported("expected numbers") };
        self.read_all(code, frame, op).map_or_else(|stop| stop, |_| other())
    }

    fn declared(&mut self, code: &Code, op: &OpCode, info: &'static OpInfo, start: usize) -> Result<Vec<Datum>, Stop> {
        let (operands, memory) = (&self.stack[start..], &mut self.memory);
        let results = code.with_args(self.module, op, info, |args| match info.exec {
            Some(exec) => exec(args, operands, memory),
            None => eval_op(args, operands),
        });
        results.map_err(|trap| Stop { op: op.op, trap })
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
        let jump = jump.ok_or_else(|| trapped(Trap::unsupported("this branch has no meaning")))?;
        let taken = code.with_args(self.module, op, info, |args| jump(args, &self.stack[start..])).map_err(trapped)?;
        let (block, carried) = &to[taken];
        self.stack.truncate(start + carried.end);
        self.stack.drain(start..start + carried.start);
        Ok(After::Block(*block))
    }
}

fn undefined(op: &OpCode) -> Stop {
    Stop { op: op.op, trap: Trap::unsupported("an operand has no value here") }
}

/// The number that an op computes; `None` if its operands are no numbers.
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
    let n = match numbers {
        Numbers::Known(n) => n,
        Numbers::Poison => return Ok(Some(Datum::Poison)),
        Numbers::None => return Ok(None),
    };
    Ok(Some(match scalar {
        Scalar::Ints(f, _) => f(&ints[..n])?.map_or(Datum::Poison, Datum::Int),
        Scalar::IntsToFloat(f, _) => Datum::Float(f(&ints[..n])),
        Scalar::Floats(f, _) => f(&floats[..n]).map_or(Datum::Poison, Datum::Float),
        Scalar::FloatsToInt(f, _) => f(&floats[..n]).map_or(Datum::Poison, Datum::Int),
    }))
}

#[inline]
fn numbers<T>(reads: &[Read], frame: &Frame, to: &mut [T; MAX_NUMBERS], f: impl Fn(&Datum) -> Option<T>) -> Numbers {
    let mut poison = false;
    for (number, read) in to.iter_mut().zip(reads) {
        let Some(datum) = &frame[read.place()] else { return Numbers::None };
        match f(datum) {
            Some(known) => *number = known,
            None if matches!(datum, Datum::Poison) => poison = true,
            None => return Numbers::None,
        }
    }
    if poison { Numbers::Poison } else { Numbers::Known(reads.len()) }
}
