//! Execution of programs: values, poison, hazards, and cycles.

use super::engine::{Fram, Kernel, ResultBlock};
use super::hazard::FaultKind;
use super::instruction::{CONFIG, ENGINE, Form, NnaInst, Slot};
use super::machine::{CHANNELS, Interlock, KERNEL, NUM_REGISTERS, NnaMachine, ROWS, TAPS, VECTOR};
use super::memory::{ByteMemory, VectorRegister, mask};
use super::timing::{Issue, Timing, Wait};
use std::fmt;
use std::sync::Arc;

/// The conditions of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The treatment of hazards.
    pub interlock: Interlock,
    /// The value of poison bytes.
    pub fill: u8,
    /// Largest number of cycles.
    pub max_cycles: u64,
}

impl Conditions {
    /// Rejects hazards.
    pub const REJECT: Conditions = Conditions { interlock: Interlock::Reject, fill: 0xa5, max_cycles: 10_000_000_000 };
}

/// A rejected program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Index of the instruction.
    pub at: usize,
    /// Class.
    pub class: FaultKind,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instruction {}: {}", self.at, self.class.name())
    }
}

impl std::error::Error for Fault {}

/// Counts of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Cycles.
    pub cycles: u64,
    /// Instructions of each slot.
    pub issued: [u64; 2],
    /// Cycles in which the array works.
    pub busy: u64,
    /// Convolutions.
    pub steps: u64,
    /// Bytes written to the weight RAM.
    pub weight_bytes: u64,
    /// Bytes written to the feature RAMs.
    pub feature_bytes: u64,
    /// Cycles that instructions waited for registers.
    pub register_stalls: u64,
    /// Cycles that `nnsync` waited.
    pub sync_stalls: u64,
    /// Cycles that instructions waited for hazards, by class.
    pub stalls: [u64; FaultKind::COUNT],
}

/// A configuration register: its value, and the one before until it takes effect.
#[derive(Clone, Copy, Default)]
struct Register {
    value: Option<i32>,
    old: Option<i32>,
    effective: u64,
}

/// The state of a machine.
struct Simulator<'a> {
    machine: &'a NnaMachine,
    conditions: &'a Conditions,
    memory: &'a mut ByteMemory,
    timing: Timing,
    vectors: [VectorRegister; NUM_REGISTERS],
    scalars: [u32; NUM_REGISTERS],
    scalar_poison: u32,
    frams: [Fram; 2],
    kernels: [Arc<Kernel>; 2],
    blocks: [ResultBlock; 2],
    pointers: [usize; 4],
    config: [Register; 4],
    /// Writes to memories, and to configuration, that no `nnsync` followed; as events.
    unsynced: i32,
    /// Memories from which an unsynchronized convolution reads; as events.
    reading: i32,
    /// The blocks that the unsynchronized convolution writes, and those that were not read; a bit each.
    pending: u32,
    unread: u32,
    /// The pixel that the last instruction wrote.
    pixel: Option<usize>,
    statistics: Statistics,
}

/// The execution of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Index of the instruction.
    pub inst: usize,
    /// Cycle of its issue.
    pub begin: u64,
    /// Pixel of a feature RAM, row by row, of the first of the two that `nndwf` writes.
    pub pixel: Option<usize>,
}

/// Executes a program.
///
/// # Errors
/// The instruction at which it is rejected.
pub fn simulate(
    program: &[NnaInst],
    machine: &NnaMachine,
    memory: &mut ByteMemory,
    conditions: &Conditions,
) -> Result<Statistics, Fault> {
    observe(program, machine, memory, conditions, |_| {})
}

/// Executes a program, and calls a function with each instruction that was executed.
///
/// # Errors
/// The instruction at which it is rejected.
pub fn observe(
    program: &[NnaInst],
    machine: &NnaMachine,
    memory: &mut ByteMemory,
    conditions: &Conditions,
    mut seen: impl FnMut(Span),
) -> Result<Statistics, Fault> {
    let is_wrong = |inst: &NnaInst| machine.check().is_err() || inst.check(machine).is_err();
    if let Some(at) = program.iter().position(is_wrong) {
        return Err(Fault { at, class: FaultKind::BadValue });
    }
    let mut s = Simulator::new(machine, memory, conditions);
    let mut at = 0;
    loop {
        let Some(inst) = program.get(at) else {
            return Err(Fault { at: at.min(program.len()), class: FaultKind::BadBranch });
        };
        let issue = s.timing.issue(inst, conditions.interlock == Interlock::Stall);
        s.count(inst, issue);
        let next = s.execute(inst, issue.at).map_err(|class| Fault { at, class })?;
        seen(Span { inst: at, begin: issue.at, pixel: s.pixel.take() });
        match next {
            Next::Following => at += 1,
            Next::Branch(distance) => {
                let target = at as i64 + i64::from(distance);
                at = usize::try_from(target).map_err(|_| Fault { at, class: FaultKind::BadBranch })?;
                s.timing.branch();
            }
            Next::End => break,
        }
        if issue.at > conditions.max_cycles {
            return Err(Fault { at, class: FaultKind::CycleLimit });
        }
    }
    s.statistics.cycles = s.timing.end();
    Ok(s.statistics)
}

/// The instruction after one.
enum Next {
    Following,
    Branch(i32),
    End,
}

impl<'a> Simulator<'a> {
    fn new(machine: &'a NnaMachine, memory: &'a mut ByteMemory, conditions: &'a Conditions) -> Simulator<'a> {
        let fill = conditions.fill;
        let (fram, kernel) = (Fram::new(fill), Arc::new(Kernel::new(fill)));
        let block = ResultBlock::new(fram.clone(), kernel.clone());
        Simulator {
            machine,
            conditions,
            memory,
            timing: Timing::new(*machine),
            vectors: [VectorRegister::poison(fill); NUM_REGISTERS],
            scalars: [u32::from_le_bytes([fill; 4]); NUM_REGISTERS],
            scalar_poison: u32::MAX,
            frams: [fram.clone(), fram],
            kernels: [kernel.clone(), kernel],
            blocks: [block.clone(), block],
            pointers: [0; 4],
            config: [Register::default(); 4],
            unsynced: 0,
            reading: 0,
            pending: 0,
            unread: 0,
            pixel: None,
            statistics: Statistics::default(),
        }
    }

    fn count(&mut self, inst: &NnaInst, issue: Issue) {
        let s = &mut self.statistics;
        s.issued[inst.form.info().slot as usize] += 1;
        match issue.reason {
            Wait::Register => s.register_stalls += issue.waited,
            Wait::Sync => s.sync_stalls += issue.waited,
            Wait::Hazard(class) => s.stalls[class as usize] += issue.waited,
        }
    }

    fn execute(&mut self, inst: &NnaInst, now: u64) -> Result<Next, FaultKind> {
        match inst.form {
            Form::Halt => return Ok(Next::End),
            Form::Djnz => {
                let counter = self.scalar(inst.args[0])?.wrapping_sub(1);
                self.set_scalar(inst.args[0], counter);
                return Ok(if counter == 0 { Next::Following } else { Next::Branch(inst.args[1]) });
            }
            _ if inst.form.info().slot == Slot::Engine => self.engine(inst, now)?,
            Form::La | Form::Ls | Form::Lb | Form::Lw => self.load(inst)?,
            Form::Sa | Form::Sw => self.store(inst)?,
            Form::Add | Form::And | Form::Rq => self.vector_op(inst, now)?,
            _ => self.scalar_op(inst)?,
        }
        Ok(Next::Following)
    }

    fn scalar(&self, register: i32) -> Result<u32, FaultKind> {
        match self.scalar_poison >> register & 1 {
            0 => Ok(self.scalars[register as usize]),
            _ => Err(FaultKind::Uninitialized),
        }
    }

    fn set_scalar(&mut self, register: i32, value: u32) {
        self.scalars[register as usize] = value;
        self.scalar_poison &= !(1 << register);
    }

    fn address(&self, base: i32, offset: i32) -> Result<u32, FaultKind> {
        Ok(self.scalar(base)?.wrapping_add(offset as u32))
    }

    fn load(&mut self, inst: &NnaInst) -> Result<(), FaultKind> {
        let [dst, a, b, c] = inst.args;
        let (base, offset) = if inst.form == Form::La { (b, c) } else { (a, b) };
        let address = self.address(base, offset)?;
        match inst.form {
            Form::La => {
                let (start, len) = part(a);
                let (bytes, poison) = self.memory.read(address, len)?;
                let to = &mut self.vectors[dst as usize];
                to.bytes[start..][..len].copy_from_slice(bytes);
                to.poison = to.poison & !(mask(len) << start) | poison << start;
            }
            Form::Ls => {
                let (bytes, poison) = self.memory.read(address, 1)?;
                let poison = if poison == 0 { 0 } else { u64::MAX };
                self.vectors[dst as usize] = VectorRegister { bytes: [bytes[0]; VECTOR], poison };
            }
            form => {
                let (bytes, poison) = self.memory.read(address, if form == Form::Lb { 1 } else { 4 })?;
                let value = match *bytes {
                    [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
                    _ => i32::from(bytes[0] as i8) as u32,
                };
                self.set_scalar(dst, value);
                self.scalar_poison |= u32::from(poison != 0) << dst;
            }
        }
        Ok(())
    }

    fn store(&mut self, inst: &NnaInst) -> Result<(), FaultKind> {
        let [src, a, b, c] = inst.args;
        if inst.form == Form::Sw {
            let (value, address) = (self.scalar(src)?, self.address(a, b)?);
            return self.memory.write(address, &value.to_le_bytes());
        }
        let (start, len) = part(a);
        let (address, from) = (self.address(b, c)?, &self.vectors[src as usize]);
        match from.poison >> start & mask(len) {
            0 => self.memory.write(address, &from.bytes[start..][..len]),
            _ => Err(FaultKind::Uninitialized),
        }
    }

    fn vector_op(&mut self, inst: &NnaInst, now: u64) -> Result<(), FaultKind> {
        let [dst, a, b, quarter] = inst.args;
        let (x, y) = (self.vectors[a as usize], self.vectors[b as usize]);
        if x.poison | y.poison != 0 {
            return Err(FaultKind::Uninitialized);
        }
        let (mut lanes, others) = (x.lanes(), y.lanes());
        match inst.form {
            Form::Add => lanes.iter_mut().zip(others).for_each(|(lane, other)| *lane = lane.wrapping_add(other)),
            Form::And => lanes.iter_mut().zip(others).for_each(|(lane, other)| *lane &= other),
            _ => {
                let zero = self.configured(ZERO, now)?;
                let to = &mut self.vectors[dst as usize];
                let start = quarter as usize * lanes.len();
                for (i, (&lane, scale)) in lanes.iter().zip(others).enumerate() {
                    to.bytes[start + i] = requantize(lane, scale, zero).ok_or(FaultKind::BadValue)? as u8;
                }
                to.poison &= !(mask(lanes.len()) << start);
                return Ok(());
            }
        }
        self.vectors[dst as usize] = VectorRegister::of_lanes(&lanes);
        Ok(())
    }

    fn scalar_op(&mut self, inst: &NnaInst) -> Result<(), FaultKind> {
        let [dst, a, b, _] = inst.args;
        let value = match inst.form {
            Form::Li => a as u32,
            Form::Addi => self.scalar(a)?.wrapping_add(b as u32),
            _ => self.scalar(dst)?.wrapping_add(self.scalar(a)?.wrapping_mul(self.scalar(b)?)),
        };
        self.set_scalar(dst, value);
        Ok(())
    }

    /// Rejects a hazard unless events are synchronized.
    fn require(&self, holds: bool, class: FaultKind) -> Result<(), FaultKind> {
        if holds || self.conditions.interlock != Interlock::Reject { Ok(()) } else { Err(class) }
    }

    /// Returns the value of a configuration register.
    fn configured(&self, register: usize, now: u64) -> Result<i32, FaultKind> {
        self.require(self.unsynced & CONFIG == 0, FaultKind::StaleConfig)?;
        let config = &self.config[register];
        let is_stale = self.conditions.interlock == Interlock::Absent && config.effective > now;
        (if is_stale { config.old } else { config.value }).ok_or(FaultKind::StaleConfig)
    }

    fn engine(&mut self, inst: &NnaInst, now: u64) -> Result<(), FaultKind> {
        let [a, b, c, d] = inst.args;
        match inst.form {
            Form::Nndwf => self.write_fram(a as usize, b as usize, now)?,
            Form::Nndww => self.write_kernel(a as usize, b as usize, now)?,
            Form::Nnptr => {
                let position = usize::try_from(b).map_err(|_| FaultKind::WramOverrun)?;
                if a >= 2 && (position % VECTOR != 0 || position > KERNEL) {
                    return Err(FaultKind::WramOverrun);
                }
                self.pointers[a as usize] = position;
            }
            Form::Nncfg => self.configure(a as usize, b, now)?,
            Form::Nnmacg => self.convolve([a, b, c].map(|arg| arg as usize), d != 0, now)?,
            Form::Nndrdocb => {
                let block = b as usize;
                self.require(self.pending >> block & 1 == 0, FaultKind::ResultRaw)?;
                self.unread &= !(1 << block);
                let early = self.timing.complete[block] > now;
                self.vectors[a as usize] = match early {
                    true => VectorRegister::poison(self.conditions.fill),
                    false => self.blocks[block].read(c as usize, d as usize, self.conditions.fill),
                };
            }
            _ => {
                self.unsynced &= !a;
                if a & ENGINE != 0 {
                    (self.reading, self.pending) = (0, 0);
                }
            }
        }
        Ok(())
    }

    fn write_fram(&mut self, fram: usize, src: usize, now: u64) -> Result<(), FaultKind> {
        self.require(self.reading >> fram & 1 == 0, FaultKind::FramWar)?;
        let jump = self.configured(JUMP, now)? as usize;
        if self.timing.released[fram] > now {
            self.spoil(now);
        }
        let row = self.machine.row();
        for half in 0..2 {
            let pointer = self.pointers[fram] + half;
            let (y, x) = (pointer / jump, pointer % jump);
            if y >= ROWS || x >= row {
                return Err(FaultKind::FramOverrun);
            }
            self.pixel.get_or_insert(y * row + x);
            self.frams[fram].write(y * row + x, &self.vectors[src], half, self.timing.visible[fram]);
        }
        self.pointers[fram] += 2;
        self.unsynced |= 1 << fram;
        self.statistics.feature_bytes += VECTOR as u64;
        Ok(())
    }

    fn write_kernel(&mut self, wram: usize, src: usize, now: u64) -> Result<(), FaultKind> {
        let port = 2 + wram;
        self.require(self.reading >> port & 1 == 0, FaultKind::WramWar)?;
        if self.pointers[port] + VECTOR > KERNEL {
            return Err(FaultKind::WramOverrun);
        }
        if self.timing.released[port] > now {
            self.spoil(now);
        }
        let kernel = Arc::make_mut(&mut self.kernels[wram]);
        kernel.write(self.pointers[port], &self.vectors[src], self.timing.visible[port]);
        self.pointers[port] += VECTOR;
        self.unsynced |= 1 << port;
        self.statistics.weight_bytes += VECTOR as u64;
        Ok(())
    }

    /// Spoils the results of running convolutions, which happens on machines without interlocks only.
    fn spoil(&mut self, now: u64) {
        let complete = self.timing.complete;
        self.blocks.iter_mut().zip(complete).for_each(|(block, end)| block.is_spoilt |= end > now);
    }

    fn configure(&mut self, register: usize, value: i32, now: u64) -> Result<(), FaultKind> {
        let is_valid = match register {
            STRIDE => matches!(value, 1 | 2),
            JUMP => (1..=1 << 16).contains(&value),
            MASK => (0..1 << TAPS).contains(&value),
            _ => (-128..128).contains(&value),
        };
        if !is_valid {
            return Err(FaultKind::BadValue);
        }
        let config = &mut self.config[register];
        let old = if config.effective > now { config.old } else { config.value };
        *config = Register { value: Some(value), old, effective: self.timing.config };
        self.unsynced |= CONFIG;
        Ok(())
    }

    fn convolve(&mut self, [fram, wram, block]: [usize; 3], rewind: bool, now: u64) -> Result<(), FaultKind> {
        self.require(self.reading == 0, FaultKind::EngineBusy)?;
        self.require(self.unsynced >> fram & 1 == 0, FaultKind::FramRaw)?;
        self.require(self.unsynced >> (2 + wram) & 1 == 0, FaultKind::WramRaw)?;
        self.require(self.unread >> block & 1 == 0, FaultKind::ResultUnread)?;
        let (stride, mask) = (self.configured(STRIDE, now)? as usize, self.configured(MASK, now)? as u32);
        let step = self.machine.step();
        let busy = self.timing.complete.iter().any(|&end| end > now + step);
        self.blocks[block].start(&self.frams[fram], &self.kernels[wram], stride, mask, self.machine);
        if self.conditions.interlock == Interlock::Absent {
            self.blocks[block].hide(now);
        }
        if busy {
            self.spoil(now);
        }
        self.reading = 1 << fram | 1 << (2 + wram);
        self.pending |= 1 << block;
        self.unread |= 1 << block;
        if rewind {
            self.pointers[fram] = 0;
        }
        self.statistics.busy += step;
        self.statistics.steps += 1;
        Ok(())
    }
}

const STRIDE: usize = 0;
const JUMP: usize = 1;
const MASK: usize = 2;
const ZERO: usize = 3;

/// Returns the first byte and the number of bytes of a part.
fn part(part: i32) -> (usize, usize) {
    match part {
        0 => (0, CHANNELS),
        1 => (CHANNELS, CHANNELS),
        _ => (0, VECTOR),
    }
}

/// Returns `clamp(round(x * m * 2^-s) + zero)`, half to even; `None` if `s` is greater than 63.
pub fn requantize(x: i32, scale: i32, zero: i32) -> Option<i8> {
    let (m, s) = (scale as u32 >> 8, scale & 0xff);
    let product = i64::from(x) * i64::from(m);
    let rounded = match s {
        0 => product,
        1..=63 => {
            let half = 1_i64 << (s - 1);
            let floor = product >> s;
            let rest = product & ((half - 1) << 1 | 1);
            floor + i64::from(rest > half || rest == half && floor & 1 != 0)
        }
        _ => return None,
    };
    Some((rounded.saturating_add(i64::from(zero))).clamp(-128, 127) as i8)
}
