//! Execution of instructions over checked memory: the meaning of `x64.call`.

use super::instruction::{Condition, Inst, Mem, Operation, Rm, VectorOperands};
use gradus_ir::eval::Trap;

/// Maximum number of instructions of a call.
const MAX_STEPS: u64 = 1 << 28;

/// Distance between the addresses of the operands.
const APART: u64 = 1 << 40;

/// The columns that one call computes, in bytes of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnRange {
    /// Offset of the first column in a row.
    pub start: u64,
    /// Offset of the end, a multiple of panels after `start`.
    pub end: u64,
    /// A bit for each element of a panel that is computed.
    pub mask: u64,
}

/// The state of the processor.
struct ProcessorState<'a> {
    gpr: [u64; 16],
    vectors: [[u8; 64]; 32],
    masks: [u64; 8],
    /// Operands of the last comparison.
    compared: (u64, u64),
    /// The pool, `b` and the residual, at addresses 1, 2 and 4 times [`APART`].
    constant: [&'a [u8]; 3],
    /// The result, at 3 times [`APART`].
    out: &'a mut [u8],
}

/// Runs a function on a tile.
///
/// # Errors
/// Undefined behaviour for accesses outside of the operands and for jumps between instructions; a limit of steps.
pub(super) fn simulate(
    code: &[(usize, Inst)],
    tile: &ColumnRange,
    constant: [&[u8]; 3],
    out: &mut [u8],
) -> Result<(), Trap> {
    let mut state =
        ProcessorState { gpr: [0; 16], vectors: [[0; 64]; 32], masks: [0; 8], compared: (0, 0), constant, out };
    (state.gpr[2], state.gpr[7], state.gpr[6], state.gpr[10]) = (APART, 2 * APART, 3 * APART, 4 * APART);
    (state.gpr[1], state.gpr[8], state.gpr[9]) = (tile.start, tile.end, tile.mask);
    let mut next = 0;
    for _ in 0..MAX_STEPS {
        let Some((_, inst)) = code.get(next) else { return Err(Trap::Ub("code continues behind its end".into())) };
        next += 1;
        let is_taken = match inst.what.operation {
            Operation::Ret => return Ok(()),
            Operation::Jump => true,
            Operation::JumpIf(condition) => holds(condition, state.compared),
            _ => {
                state.step(inst)?;
                false
            }
        };
        if is_taken {
            let end = code.get(next).map_or(usize::MAX, |after| after.0) as i64;
            let target = usize::try_from(end.saturating_add(i64::from(inst.imm))).unwrap_or(usize::MAX);
            next = code
                .binary_search_by_key(&target, |(at, _)| *at)
                .map_err(|_| Trap::Ub("jump between instructions".into()))?;
        }
    }
    Err(Trap::Limit("the code has not returned".into()))
}

fn holds(condition: Condition, (a, b): (u64, u64)) -> bool {
    match condition {
        Condition::Below => a < b,
        Condition::AboveOrEqual => a >= b,
        Condition::NotEqual => a != b,
    }
}

impl ProcessorState<'_> {
    fn address(&self, mem: &Mem) -> u64 {
        let index = mem.index.map_or(0, |index| self.gpr[usize::from(index)]);
        self.gpr[usize::from(mem.base)].wrapping_add(index).wrapping_add_signed(i64::from(mem.displacement))
    }

    /// The bytes at an address, if all are in one operand.
    fn read(&self, address: u64, len: usize) -> Result<&[u8], Trap> {
        let (region, at) = (address / APART, (address % APART) as usize);
        let bytes = match region {
            1 | 2 => self.constant[region as usize - 1],
            3 => &*self.out,
            4 => self.constant[2],
            _ => &[],
        };
        bytes.get(at..at + len).ok_or_else(|| Trap::Ub("code reads outside of its operands".into()))
    }

    /// Number of elements of a memory access, and those that are masked off.
    fn lanes(&self, inst: &Inst) -> (usize, usize, u64) {
        let size = inst.what.vector().map_or(4, |vector| usize::from(vector.element));
        let mask = match inst.what.operation {
            Operation::LoadSigned => signs(&self.vectors[usize::from(inst.src & 31)]),
            _ if inst.mask == 0 => u64::MAX,
            _ => self.masks[usize::from(inst.mask)],
        };
        (size, inst.width.bytes() / size, mask)
    }

    /// The last operand as a vector. Masked-off elements are not read and are zero.
    fn operand(&self, inst: &Inst) -> Result<[u8; 64], Trap> {
        let mem = match inst.rm {
            Rm::Reg(r) => return Ok(self.vectors[usize::from(r & 31)]),
            Rm::Mem(mem) => mem,
        };
        let (size, lanes, mask) = self.lanes(inst);
        // Bytes of an element in memory, and from one to the next.
        let (read, step) = match inst.what.vector().map(|vector| vector.operands) {
            _ if mem.broadcast => (size, 0),
            Some(VectorOperands::Scalar) => (size, 0),
            Some(VectorOperands::Bytes) => (1, 1),
            _ => (size, size),
        };
        let (mut all, address) = ([0; 64], self.address(&mem));
        for lane in (0..lanes).filter(|lane| mask >> lane & 1 == 1) {
            let at = address.wrapping_add((lane * step) as u64);
            all[lane * size..][..read].copy_from_slice(self.read(at, read)?);
        }
        Ok(all)
    }

    fn store(&mut self, inst: &Inst) -> Result<(), Trap> {
        let Rm::Mem(mem) = inst.rm else { return Err(Trap::unsupported("a store to a register")) };
        let ((size, lanes, mask), address) = (self.lanes(inst), self.address(&mem));
        let from = self.vectors[usize::from(inst.reg)];
        for lane in (0..lanes).filter(|lane| mask >> lane & 1 == 1) {
            let at = address.wrapping_add((lane * size) as u64);
            let inside = at
                .checked_sub(3 * APART)
                .and_then(|at| self.out.get_mut(at as usize..(at as usize).checked_add(size)?));
            let to = inside.ok_or_else(|| Trap::Ub("code writes outside of its result".into()))?;
            to.copy_from_slice(&from[lane * size..][..size]);
        }
        Ok(())
    }

    /// Executes an instruction other than a jump.
    fn step(&mut self, inst: &Inst) -> Result<(), Trap> {
        use Operation::{AddImm, AddReg, CmpImm, CmpReg, Lea, MaskMove, Move, MoveImm, Shr, Store, SubImm, SubReg};
        let (reg, imm) = (usize::from(inst.reg), inst.imm);
        let register = if let Rm::Reg(r) = inst.rm { self.gpr[usize::from(r & 15)] } else { 0 };
        match inst.what.operation {
            Store => return self.store(inst),
            Move => self.gpr[reg] = register,
            MoveImm => self.gpr[reg] = u64::from(imm.cast_unsigned()),
            Lea => self.gpr[reg] = if let Rm::Mem(mem) = inst.rm { self.address(&mem) } else { 0 },
            AddReg => self.gpr[reg] = self.gpr[reg].wrapping_add(register),
            SubReg => self.gpr[reg] = self.gpr[reg].wrapping_sub(register),
            AddImm => self.gpr[reg] = self.gpr[reg].wrapping_add_signed(i64::from(imm)),
            SubImm => self.gpr[reg] = self.gpr[reg].wrapping_sub(i64::from(imm).cast_unsigned()),
            Shr => self.gpr[reg] >>= imm & 63,
            CmpReg => self.compared = (self.gpr[reg], register),
            CmpImm => self.compared = (self.gpr[reg], i64::from(imm).cast_unsigned()),
            MaskMove => self.masks[reg & 7] = register & 0xffff,
            _ => return self.vector(inst),
        }
        // Flags of arithmetic are not those of a comparison; the decoder's users compare before each jump.
        Ok(())
    }

    /// Executes an instruction on vectors.
    fn vector(&mut self, inst: &Inst) -> Result<(), Trap> {
        let operation = inst.what.operation;
        if matches!(operation, Operation::Prefetch | Operation::ZeroUpper) {
            let all = if operation == Operation::ZeroUpper { &mut self.vectors[..16] } else { &mut [][..] };
            all.iter_mut().for_each(|vector| vector[16..].fill(0));
            return Ok(());
        }
        let b = self.operand(inst)?;
        let (a, mut c) = (self.vectors[usize::from(inst.src)], self.vectors[usize::from(inst.reg)]);
        let is_double = inst.what.vector().is_some_and(|vector| vector.element == 8);
        let bytes = inst.width.bytes();
        c[bytes..].fill(0);
        match operation {
            Operation::Load | Operation::LoadBytes | Operation::LoadSigned | Operation::Broadcast => {
                c[..bytes].copy_from_slice(&b[..bytes]);
            }
            Operation::Pick => pick(&mut c[..bytes], &a, &b),
            Operation::Permute => permute(&mut c[..bytes], &a, &b),
            Operation::Xor => (0..bytes).for_each(|i| c[i] = a[i] ^ b[i]),
            Operation::AddInt => lanes(&mut c[..bytes], &a, &b, |_, x, y| {
                i32::from_le_bytes(x).wrapping_add(i32::from_le_bytes(y)).to_le_bytes()
            }),
            Operation::Dot => lanes(&mut c[..bytes], &a, &b, dot),
            Operation::DotPairs => lanes(&mut c[..bytes], &a, &b, dot_pairs),
            _ if is_double => lanes(&mut c[..bytes], &a, &b, |z, x, y| {
                let [z, x, y] = [z, x, y].map(f64::from_le_bytes);
                float(operation, z, x, y, f64::mul_add).to_le_bytes()
            }),
            _ => lanes(&mut c[..bytes], &a, &b, |z, x, y| {
                let [z, x, y] = [z, x, y].map(f32::from_le_bytes);
                float(operation, z, x, y, f32::mul_add).to_le_bytes()
            }),
        }
        self.vectors[usize::from(inst.reg)] = c;
        Ok(())
    }
}

/// Computes each lane of `c` from its own, of `a` and of `b`.
fn lanes<const N: usize>(c: &mut [u8], a: &[u8], b: &[u8], f: impl Fn([u8; N], [u8; N], [u8; N]) -> [u8; N]) {
    let (c, _) = c.as_chunks_mut::<N>();
    let ((a, _), (b, _)) = (a.as_chunks::<N>(), b.as_chunks::<N>());
    for ((z, x), y) in c.iter_mut().zip(a).zip(b) {
        *z = f(*z, *x, *y);
    }
}

/// Replaces each index in `c` by that lane of `a` and `b`.
fn permute(c: &mut [u8], a: &[u8], b: &[u8]) {
    let count = c.len() / 4;
    let (lanes, _) = c.as_chunks_mut::<4>();
    let ((a, _), (b, _)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for lane in lanes {
        let index = u32::from_le_bytes(*lane) as usize % (2 * count);
        *lane = if index < count { a[index] } else { b[index - count] };
    }
}

/// Sets each lane of `c` to that of `b` at the index in `a`.
fn pick(c: &mut [u8], a: &[u8], b: &[u8]) {
    let count = c.len() / 4;
    let ((lanes, _), (indices, _), (b, _)) = (c.as_chunks_mut::<4>(), a.as_chunks::<4>(), b.as_chunks::<4>());
    lanes.iter_mut().zip(indices).for_each(|(lane, &index)| *lane = b[u32::from_le_bytes(index) as usize % count]);
}

/// The sign bits of lanes of 32 bits.
fn signs(vector: &[u8; 64]) -> u64 {
    vector.as_chunks::<4>().0.iter().enumerate().fold(0, |signs, (i, lane)| signs | u64::from(lane[3] >> 7) << i)
}

/// A lane of `vpdpbusd`.
fn dot(z: [u8; 4], x: [u8; 4], y: [u8; 4]) -> [u8; 4] {
    let products = x.iter().zip(y).map(|(&x, y)| i32::from(x) * i32::from(y.cast_signed()));
    products.fold(i32::from_le_bytes(z), i32::wrapping_add).to_le_bytes()
}

/// A lane of `vpmaddwd`.
fn dot_pairs(_: [u8; 4], x: [u8; 4], y: [u8; 4]) -> [u8; 4] {
    let halves = |[a, b, c, d]: [u8; 4]| [[a, b], [c, d]].map(|half| i32::from(i16::from_le_bytes(half)));
    let ([a, b], [c, d]) = (halves(x), halves(y));
    (a * c).wrapping_add(b * d).to_le_bytes()
}

fn float<T>(operation: Operation, z: T, x: T, y: T, fma: impl Fn(T, T, T) -> T) -> T
where
    T: std::ops::Add<Output = T> + std::ops::Sub<Output = T> + std::ops::Mul<Output = T> + std::ops::Neg<Output = T>,
    T: PartialOrd,
{
    match operation {
        Operation::Add => x + y,
        Operation::Sub => x - y,
        Operation::Mul => x * y,
        Operation::Max => {
            if x > y {
                x
            } else {
                y
            }
        }
        Operation::Min => {
            if x < y {
                x
            } else {
                y
            }
        }
        Operation::NegFma => fma(-x, y, z),
        _ => fma(x, y, z),
    }
}
