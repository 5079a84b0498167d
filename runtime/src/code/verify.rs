//! The verifier of machine code: abstract interpretation over intervals.
//!
//! It accepts code that is one sequence of instructions with loops `add i, s; cmp i, n; jb back`, ends in its only `ret`,
//! loads from `b`, the pool, the residual and the result, stores to the result, and writes only registers that a call may change. The bytes
//! are decoded by a table other than the emitter's. The proof covers all tiles in whole panels and the tail, of the last strip: from
//! the first byte of any other, operands and result are longer.
//!
//! - Each register is unknown, a constant, a number from an interval in equal steps, or an address at such an offset of an
//!   operand.
//! - At the head of a loop whose index `i` grows by `s` up to `n`, `i` is its first value, or less than `n` by the least
//!   positive difference that their steps permit; registers that the body writes are unknown. The body is then interpreted
//!   once. The loop ends since `i` grows and `n` does not change.
//! - A masked access needs the elements up to the last bit of the mask only.

use gradus_machines::x64::{Abi, ColumnRange, Condition, Encoding, Inst, Mem, Operation, Rm, Width, decode_all};

/// Extensions of the instruction set that code uses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Features {
    /// 256-bit vectors with fused multiply-add.
    pub avx2: bool,
    /// 512-bit vectors, masks, and their forms on shorter vectors.
    pub avx512: bool,
    /// Dot products of bytes.
    pub vnni: bool,
    /// 512-bit vectors of 16-bit integers, and their encoding on shorter vectors.
    pub avx512bw: bool,
}

impl Features {
    /// Whether this machine has them.
    #[cfg(target_arch = "x86_64")]
    pub fn are_supported(self) -> bool {
        let avx512 = || {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
        };
        let avx2 = || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        avx2()
            && (!self.avx512 || avx512())
            && (!self.vnni || is_x86_feature_detected!("avx512vnni"))
            && (!self.avx512bw || is_x86_feature_detected!("avx512bw"))
    }

    /// Whether this machine has them.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn are_supported(self) -> bool {
        false
    }
}

/// A position in the code, and the violated rule.
type Refusal = (usize, String);

/// Proves that code accesses only the operands of a call and returns. Returns the extensions that it needs.
///
/// # Errors
/// The position of the first byte of an instruction, and what cannot be proved of it.
pub fn verify(code: &[u8], abi: &Abi) -> Result<Features, (usize, String)> {
    let code = decode_all(code).map_err(|at| (at, "not an instruction of the dialect x64".to_owned()))?;
    let loops = loops(&code)?;
    let abi = &abi.from_strip(abi.strips - 1);
    let checker = Checker { code: &code, loops: &loops, abi };
    let (full, panel) = (abi.full(), abi.panel);
    if full > 0 {
        let (panel, full) = (panel as i64, full as i64);
        let start = Value::Number(Range { low: 0, high: full - panel, step: panel });
        let end = Value::Number(Range { low: panel, high: full, step: panel });
        checker.check(AbstractState::new(start, end, abi.all()))?;
    }
    if let Some(ColumnRange { start, end, mask }) = abi.tail() {
        checker.check(AbstractState::new(Value::Constant(start), Value::Constant(end), mask))?;
    }
    Ok(features(&code))
}

fn features(code: &[(usize, Inst)]) -> Features {
    let mut features = Features::default();
    for (_, inst) in code {
        let is_mask = matches!(inst.what.encoding, Encoding::Mask { .. });
        features.avx512 |= inst.is_evex() || is_mask || inst.width == Width::Zmm;
        features.avx2 |= inst.what.vector().is_some();
        features.vnni |= inst.what.operation == Operation::Dot;
        features.avx512bw |= inst.what.operation == Operation::DotPairs && inst.is_evex();
    }
    features
}

/// A loop from one instruction to its backward jump, by index.
struct Loop {
    head: usize,
    jump: usize,
    /// Register of the index.
    index: u8,
    /// Increment of the index.
    step: i64,
    /// The operand that it is compared with.
    bound: Bound,
}

/// The bound of a loop.
#[derive(Clone, Copy)]
enum Bound {
    Register(u8),
    Constant(i32),
}

/// Finds the loops, by head, and checks the shape of control flow.
fn loops(code: &[(usize, Inst)]) -> Result<Vec<Loop>, Refusal> {
    let mut all = Vec::new();
    for (i, (at, inst)) in code.iter().enumerate() {
        let refuse = |why: &str| Err((*at, why.to_owned()));
        match inst.what.operation {
            Operation::Ret if i + 1 == code.len() => {}
            Operation::JumpIf(Condition::Below) => all.push(loop_of(code, i)?),
            Operation::Ret => return refuse("code after a return"),
            Operation::Jump | Operation::JumpIf(_) => return refuse("a jump that is not the end of a loop"),
            _ => {}
        }
    }
    if code.last().is_none_or(|(_, inst)| inst.what.operation != Operation::Ret) {
        return Err((code.last().map_or(0, |last| last.0), "the code does not end in a return".into()));
    }
    all.sort_by_key(|one: &Loop| one.head);
    for (i, one) in all.iter().enumerate() {
        let at = code[one.jump].0;
        let mut others = all.iter().skip(i + 1).take_while(|other| other.head <= one.jump);
        if others.any(|other| other.jump >= one.jump || other.head == one.head) {
            return Err((at, "loops that overlap".into()));
        }
        let inner = all.iter().skip(i + 1).take_while(|other| other.head <= one.jump);
        let is_inner = |at: usize| inner.clone().any(|other| (other.head..=other.jump).contains(&at));
        let mut writes = (one.head..one.jump).filter(|&at| code[at].1.written_gpr() == Some(one.index));
        let is_counted = writes.next().is_some_and(|at| !is_inner(at)) && writes.next().is_none();
        let keeps_bound = match one.bound {
            Bound::Register(bound) => (one.head..one.jump).all(|at| code[at].1.written_gpr() != Some(bound)),
            Bound::Constant(_) => true,
        };
        if !is_counted || !keeps_bound {
            return Err((at, "a loop whose index does not grow in equal steps to a fixed bound".into()));
        }
    }
    Ok(all)
}

/// The loop that a jump ends.
fn loop_of(code: &[(usize, Inst)], jump: usize) -> Result<Loop, Refusal> {
    let (at, inst) = &code[jump];
    let refuse = |why: &str| (*at, why.to_owned());
    let end = code.get(jump + 1).ok_or_else(|| refuse("the code does not end in a return"))?.0 as i64;
    let head = usize::try_from(end + i64::from(inst.imm)).ok();
    let head = head.and_then(|head| code[..jump].binary_search_by_key(&head, |one| one.0).ok());
    let head = head.ok_or_else(|| refuse("a jump to what is not an instruction before it"))?;
    let compare = jump.checked_sub(1).filter(|&i| i >= head).map(|i| &code[i].1);
    let (index, bound) = match compare.map(|inst| (inst.what.operation, inst.reg, inst.rm, inst.imm)) {
        Some((Operation::CmpReg, index, Rm::Reg(bound), _)) => (index, Bound::Register(bound)),
        Some((Operation::CmpImm, index, _, bound)) => (index, Bound::Constant(bound)),
        _ => return Err(refuse("a jump without a comparison before it")),
    };
    let grows = code[head..jump].iter().find(|(_, inst)| inst.written_gpr() == Some(index));
    let step = grows.filter(|(_, inst)| inst.what.operation == Operation::AddImm && inst.imm > 0);
    let step = step.ok_or_else(|| refuse("a loop whose index does not grow"))?.1.imm;
    Ok(Loop { head, jump, index, step: i64::from(step), bound })
}

/// Numbers from `low` to `high` that are `low` plus a multiple of `step`; the step of a single number is 0.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Range {
    low: i64,
    high: i64,
    step: i64,
}

/// Magnitude below which numbers are tracked, so that sums do not overflow.
const LIMIT: i64 = 1 << 40;

impl Range {
    fn of(n: i64) -> Range {
        Range { low: n, high: n, step: 0 }
    }

    fn plus(self, other: Range) -> Option<Range> {
        let sum = Range { low: self.low + other.low, high: self.high + other.high, step: gcd(self.step, other.step) };
        (sum.low > -LIMIT && sum.high < LIMIT).then_some(sum)
    }

    fn negated(self) -> Range {
        Range { low: -self.high, high: -self.low, step: gcd(self.step, self.high - self.low) }
    }

    /// The largest number below one of these, among `low` plus multiples of `step`, which is positive.
    fn below(self, low: i64, step: i64) -> i64 {
        let step = gcd(step, self.step);
        let rest = (self.low - low).rem_euclid(step);
        self.high - if rest == 0 { step } else { rest }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    match (a, b) {
        (n, 0) | (0, n) => n,
        _ => gcd(b, a % b),
    }
}

/// An operand of the call.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Operand {
    Pool,
    Input,
    Output,
    Residual,
}

/// The abstract value of a register.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Value {
    Unknown,
    Constant(u64),
    Number(Range),
    /// An address at an offset of an operand.
    Address(Operand, Range),
}

impl Value {
    fn range(self) -> Option<Range> {
        match self {
            Value::Constant(n) => i64::try_from(n).ok().filter(|&n| n < LIMIT).map(Range::of),
            Value::Number(range) => Some(range),
            _ => None,
        }
    }

    fn plus(self, other: Value) -> Value {
        let sum = match (self, other) {
            (Value::Address(operand, a), b) | (b, Value::Address(operand, a)) => {
                b.range().and_then(|b| a.plus(b)).map(|sum| Value::Address(operand, sum))
            }
            (a, b) => a.range().zip(b.range()).and_then(|(a, b)| a.plus(b)).map(Value::Number),
        };
        sum.unwrap_or(Value::Unknown)
    }

    fn plus_number(self, n: i64) -> Value {
        self.plus(Value::Number(Range::of(n)))
    }
}

/// The abstract state before an instruction.
#[derive(Clone, Debug)]
struct AbstractState {
    gpr: [Value; 16],
    masks: [Option<u64>; 8],
}

impl AbstractState {
    /// The registers that a call passes.
    fn new(start: Value, end: Value, mask: u64) -> AbstractState {
        let mut gpr = [Value::Unknown; 16];
        let at = |operand| Value::Address(operand, Range::of(0));
        (gpr[7], gpr[6], gpr[2]) = (at(Operand::Input), at(Operand::Output), at(Operand::Pool));
        gpr[10] = at(Operand::Residual);
        (gpr[1], gpr[8], gpr[9]) = (start, end, Value::Constant(mask));
        AbstractState { gpr, masks: [None; 8] }
    }

    fn register(&self, number: u8) -> Value {
        self.gpr[usize::from(number & 15)]
    }

    fn address(&self, mem: &Mem) -> Value {
        let index = mem.index.map_or(Value::Constant(0), |index| self.register(index));
        self.register(mem.base).plus(index).plus_number(i64::from(mem.displacement))
    }
}

/// General-purpose registers that a function may change: `rax`, `rcx`, `rdx`, `rsi`, `rdi`, `r8` to `r11`.
const VOLATILE: u16 = 0b0000_1111_1100_0111;

struct Checker<'a> {
    code: &'a [(usize, Inst)],
    loops: &'a [Loop],
    abi: &'a Abi,
}

impl Checker<'_> {
    fn check(&self, mut state: AbstractState) -> Result<(), Refusal> {
        self.sequence(0, self.code.len(), 0, &mut state)
    }

    /// Interprets instructions, where `next` is the first loop with a head in them.
    fn sequence(&self, from: usize, to: usize, mut next: usize, state: &mut AbstractState) -> Result<(), Refusal> {
        let mut at = from;
        while at < to {
            match self.loops.get(next).filter(|one| one.head == at) {
                Some(one) => {
                    self.enter(one, state)?;
                    self.sequence_in(one, next, state)?;
                    next += self.loops[next..].partition_point(|other| other.head <= one.jump);
                    at = one.jump + 1;
                }
                None => {
                    self.step(at, state)?;
                    at += 1;
                }
            }
        }
        Ok(())
    }

    /// Interprets the body of a loop: its head is not entered again.
    fn sequence_in(&self, one: &Loop, number: usize, state: &mut AbstractState) -> Result<(), Refusal> {
        self.step(one.head, state)?;
        self.sequence(one.head + 1, one.jump, number + 1, state)
    }

    /// The state at the head of a loop, in all iterations.
    fn enter(&self, one: &Loop, state: &mut AbstractState) -> Result<(), Refusal> {
        let bound = match one.bound {
            Bound::Register(bound) => state.register(bound).range(),
            Bound::Constant(bound) => Some(Range::of(i64::from(bound))),
        };
        let index = state.register(one.index).range();
        let Some((index, bound)) = index.zip(bound).filter(|(index, bound)| index.low >= 0 && bound.low >= 0) else {
            return Err((self.code[one.jump].0, "a loop over unknown numbers".into()));
        };
        let stride = gcd(index.step, one.step);
        let high = index.high.max(bound.below(index.low, stride));
        for (_, inst) in &self.code[one.head..one.jump] {
            if let Some(register) = inst.written_gpr() {
                state.gpr[usize::from(register)] = Value::Unknown;
            } else if inst.what.operation == Operation::MaskMove {
                state.masks[usize::from(inst.reg & 7)] = None;
            }
        }
        state.gpr[usize::from(one.index)] = Value::Number(Range { low: index.low, high, step: stride });
        Ok(())
    }

    fn step(&self, at: usize, state: &mut AbstractState) -> Result<(), Refusal> {
        use Operation::{AddImm, AddReg, Lea, MaskMove, Move, MoveImm, Prefetch, Shr, Store, SubImm, SubReg};
        let (position, inst) = &self.code[at];
        let refuse = |why: &str| (*position, why.to_owned());
        let own = state.register(inst.reg);
        let other = if let Rm::Reg(r) = inst.rm { state.register(r) } else { Value::Unknown };
        let imm = i64::from(inst.imm);
        let value = match (inst.what.operation, inst.rm) {
            (Move, _) => other,
            (MoveImm, _) => Value::Constant(u64::from(inst.imm.cast_unsigned())),
            (Lea, Rm::Mem(mem)) => state.address(&mem),
            (AddReg, _) => own.plus(other),
            (SubReg, _) => other.range().map_or(Value::Unknown, |range| own.plus(Value::Number(range.negated()))),
            (AddImm, _) => own.plus_number(imm),
            (SubImm, _) => own.plus_number(-imm),
            (Shr, _) => match own {
                Value::Constant(n) if imm < 64 => Value::Constant(n >> imm),
                _ => Value::Unknown,
            },
            (MaskMove, _) => {
                state.masks[usize::from(inst.reg & 7)] = match other {
                    Value::Constant(n) => Some(n & 0xffff),
                    _ => None,
                };
                return Ok(());
            }
            (Prefetch, _) => return Ok(()),
            (operation, Rm::Mem(mem)) => {
                return self.access(inst, state.address(&mem), state, operation == Store).map_err(refuse);
            }
            _ => Value::Unknown,
        };
        if let Some(register) = inst.written_gpr() {
            if VOLATILE >> register & 1 == 0 {
                return Err(refuse("a write to a register of the caller"));
            }
            state.gpr[usize::from(register)] = value;
        }
        Ok(())
    }

    /// Checks that an access is within an operand, and a store in the result.
    fn access(&self, inst: &Inst, address: Value, state: &AbstractState, is_store: bool) -> Result<(), &'static str> {
        let mask = if inst.mask == 0 { None } else { state.masks[usize::from(inst.mask)] };
        let bytes = match mask {
            Some(mask) => {
                let element = inst.what.vector().map_or(0, |vector| usize::from(vector.element));
                (64 - mask.leading_zeros() as usize) * element
            }
            None => inst.access_bytes(),
        };
        let bytes = bytes.min(inst.access_bytes()) as i64;
        if bytes == 0 {
            return Ok(());
        }
        let Value::Address(operand, range) = address else { return Err("an access to an unknown address") };
        let size = match operand {
            Operand::Pool => self.abi.pool,
            Operand::Input => self.abi.input,
            Operand::Output => self.abi.output,
            Operand::Residual => self.abi.residual,
        };
        if range.low < 0 || range.high + bytes > size as i64 {
            return Err("an access outside of the operands");
        }
        if is_store && operand != Operand::Output {
            return Err("a store to an operand");
        }
        Ok(())
    }
}
