//! Execution of instructions over checked memory, and their counts: the meaning of `a64.call`.

use super::instruction::{Form, Inst, Operation};
use super::types::{NUM_REGISTERS, RegisterClass};
use gradus_ir::eval::Trap;

/// Distance between the addresses of the operands.
const APART: u64 = 1 << 40;

/// The register of the address of `b`.
pub const INPUT: u8 = 0;
/// The register of the address of the result.
pub const OUTPUT: u8 = 4;
/// The register of the address of the pool.
pub const POOL: u8 = 5;

/// Numbers of instructions, in one execution of a function.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct InstructionCounts {
    /// Instructions of products: all but starts of sums, stores and the return.
    pub instructions: u64,
    /// Moves of zero, with which sums start.
    pub starts: u64,
    /// Stores.
    pub stores: u64,
    /// Instructions that multiply or add.
    pub products: u64,
    /// Bundles that have instructions of products. Each takes a cycle.
    pub cycles: u64,
}

impl InstructionCounts {
    /// The counts of `n` executions.
    pub fn times(self, n: u64) -> InstructionCounts {
        let InstructionCounts { instructions, starts, stores, products, cycles } = self;
        let [instructions, starts, stores, products, cycles] =
            [instructions, starts, stores, products, cycles].map(|count| count.saturating_mul(n));
        InstructionCounts { instructions, starts, stores, products, cycles }
    }

    /// The counts of one execution after the other.
    pub fn plus(self, other: InstructionCounts) -> InstructionCounts {
        InstructionCounts {
            instructions: self.instructions.saturating_add(other.instructions),
            starts: self.starts.saturating_add(other.starts),
            stores: self.stores.saturating_add(other.stores),
            products: self.products.saturating_add(other.products),
            cycles: self.cycles.saturating_add(other.cycles),
        }
    }

    /// Counts the instructions of a function.
    pub fn of(all: &[Inst]) -> InstructionCounts {
        let mut counts = InstructionCounts::default();
        for bundle in bundles(all) {
            let count = |f: fn(&&Inst) -> bool| bundle.iter().filter(f).count() as u64;
            let starts = count(|inst| inst.what.operation == Operation::Move && inst.imm == 0);
            let stores = count(|inst| inst.what.operation == Operation::Store);
            let others = bundle.len() as u64 - starts - stores - count(|inst| inst.what.operation == Operation::Ret);
            counts.starts += starts;
            counts.stores += stores;
            counts.instructions += others;
            counts.cycles += u64::from(others > 0);
            counts.products += count(|inst| inst.what.multiplies());
        }
        counts
    }
}

/// Returns the bundles: the instructions that issue together, in a cycle each.
pub fn bundles(all: &[Inst]) -> impl Iterator<Item = &[Inst]> {
    all.chunk_by(|_, next| next.bundled)
}

/// A write that an instruction makes when its bundle ends.
enum Write {
    Register(usize, [u8; 16]),
    Memory(usize, usize, [u8; 16]),
}

struct ProcessorState<'a> {
    registers: [[u8; 16]; NUM_REGISTERS],
    /// `b` and the pool, at addresses 1 and 3 times [`APART`].
    constant: [&'a [u8]; 2],
    /// The result, at 2 times [`APART`].
    out: &'a mut [u8],
}

/// Runs a function, with the offsets in bytes of a panel of columns in `b` and in the result.
///
/// # Errors
/// Undefined behaviour for accesses outside of the operands.
pub(super) fn simulate(all: &[Inst], panel: usize, constant: [&[u8]; 2], out: &mut [u8]) -> Result<(), Trap> {
    let mut state = ProcessorState { registers: [[0; 16]; NUM_REGISTERS], constant, out };
    for (register, address) in [(INPUT, APART + panel as u64), (OUTPUT, 2 * APART + panel as u64), (POOL, 3 * APART)] {
        state.registers[usize::from(register)][..8].copy_from_slice(&address.to_le_bytes());
    }
    let mut writes = Vec::with_capacity(4);
    for bundle in bundles(all) {
        for inst in bundle {
            writes.extend(state.step(inst)?);
        }
        for write in writes.drain(..) {
            match write {
                Write::Register(index, value) => state.registers[index] = value,
                Write::Memory(at, len, value) => state.out[at..at + len].copy_from_slice(&value[..len]),
            }
        }
        if bundle.iter().any(|inst| inst.what.operation == Operation::Ret) {
            return Ok(());
        }
    }
    Err(Trap::Ub("code continues behind its end".into()))
}

impl ProcessorState<'_> {
    fn general(&self, number: u8) -> &[u8; 16] {
        &self.registers[usize::from(number)]
    }

    /// A register of the class of an instruction.
    fn register(&self, class: RegisterClass, number: u8) -> &[u8; 16] {
        &self.registers[usize::from(number) + if class.is_general() { 0 } else { 32 }]
    }

    fn address(&self, inst: &Inst) -> u64 {
        let base = self.general(inst.n).first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        base.wrapping_add(u64::from(inst.offset))
    }

    fn load(&self, inst: &Inst) -> Result<[u8; 16], Trap> {
        let (address, len) = (self.address(inst), inst.class.bytes());
        let (region, at) = (address / APART, (address % APART) as usize);
        let bytes = match region {
            1 => self.constant[0],
            2 => &*self.out,
            3 => self.constant[1],
            _ => &[],
        };
        let read = bytes.get(at..at + len).ok_or_else(|| Trap::Ub("code reads outside of its operands".into()))?;
        let mut value = [0; 16];
        value[..len].copy_from_slice(read);
        Ok(value)
    }

    fn store(&self, inst: &Inst) -> Result<Write, Trap> {
        let (at, len) = (self.address(inst).checked_sub(2 * APART), inst.class.bytes());
        let at = at.and_then(|at| usize::try_from(at).ok()).filter(|at| self.out.len().saturating_sub(len) >= *at);
        let at = at.filter(|_| len <= self.out.len());
        let at = at.ok_or_else(|| Trap::Ub("code writes outside of its result".into()))?;
        Ok(Write::Memory(at, len, *self.register(inst.class, inst.d)))
    }

    /// Executes an instruction but for its write.
    fn step(&self, inst: &Inst) -> Result<Option<Write>, Trap> {
        let value = match inst.what.operation {
            Operation::Ret => return Ok(None),
            Operation::Store => return self.store(inst).map(Some),
            Operation::Load => self.load(inst)?,
            Operation::AddImm => {
                let base = self.general(inst.n).first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                let sum = base.wrapping_add(u64::from(inst.imm.cast_unsigned()) << inst.shift);
                let mut value = [0; 16];
                value[..8].copy_from_slice(&sum.to_le_bytes());
                value
            }
            _ => self.compute(inst)?,
        };
        let index = usize::from(inst.d) + if inst.class.is_general() { 0 } else { 32 };
        Ok(Some(Write::Register(index, value)))
    }

    fn compute(&self, inst: &Inst) -> Result<[u8; 16], Trap> {
        let of = |number| *self.register(inst.class, number);
        let (operation, is_element) = (inst.what.operation, inst.what.form == Form::Element);
        let (mut c, a, mut b) = (of(inst.d), of(inst.n), of(inst.m));
        if inst.what.form == Form::Four {
            c = of(inst.a);
        }
        if operation == Operation::LoadMulAdd {
            b = self.load(inst)?;
        }
        let n = inst.class.bytes();
        c[n..].fill(0);
        if is_element {
            let (size, all) = (inst.class.lane_bytes(), *self.register(inst.class.vector(), inst.m));
            let lane = &all[usize::from(inst.lane) * size..][..size];
            b.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(lane));
        }
        if inst.what.is_float && inst.class.lane_bytes() == 8 {
            lanes(&mut c[..n], &a, &b, |z, x, y| {
                let [z, x, y] = [z, x, y].map(f64::from_le_bytes);
                float(operation, z, x, y, f64::mul_add).to_le_bytes()
            });
        } else if inst.what.is_float {
            lanes(&mut c[..n], &a, &b, |z, x, y| {
                let [z, x, y] = [z, x, y].map(f32::from_le_bytes);
                float(operation, z, x, y, f32::mul_add).to_le_bytes()
            });
        } else {
            let scalar = self.general(inst.n).first_chunk::<4>().map_or(0, |bytes| i32::from_le_bytes(*bytes));
            lanes(&mut c[..n], &a, &b, |z, x, y| int(inst, [z, x, y].map(i32::from_le_bytes), scalar).to_le_bytes());
        }
        Ok(c)
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

fn int(inst: &Inst, [z, x, y]: [i32; 3], scalar: i32) -> i32 {
    let (imm, shift) = (inst.imm, u32::from(inst.shift) & 31);
    match inst.what.operation {
        Operation::Move => imm << shift,
        Operation::MoveNot => !(imm << shift),
        Operation::MoveKeep => z & !(0xffff << shift) | imm << shift,
        Operation::Duplicate => scalar,
        Operation::Mul => x.wrapping_mul(y),
        Operation::MulAdd => z.wrapping_add(x.wrapping_mul(y)),
        Operation::MulSub => z.wrapping_sub(x.wrapping_mul(y)),
        Operation::Add => x.wrapping_add(y << shift),
        Operation::Sub => x.wrapping_sub(y << shift),
        Operation::Shift => y << shift,
        Operation::Neg => (y << shift).wrapping_neg(),
        Operation::MulAddImm => z.wrapping_add(x.wrapping_mul(imm)),
        Operation::LoadMulAdd => z.wrapping_add(y.wrapping_mul(imm)),
        Operation::Load | Operation::Store | Operation::AddImm | Operation::Ret => z,
    }
}

fn float<T>(operation: Operation, z: T, x: T, y: T, fma: impl Fn(T, T, T) -> T) -> T
where
    T: std::ops::Add<Output = T> + std::ops::Sub<Output = T> + std::ops::Mul<Output = T> + std::ops::Neg<Output = T>,
{
    match operation {
        Operation::Add => x + y,
        Operation::Sub => x - y,
        Operation::Mul => x * y,
        Operation::MulSub => fma(-x, y, z),
        _ => fma(x, y, z),
    }
}
