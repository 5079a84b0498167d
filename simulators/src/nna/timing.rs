//! The cycle model: in-order issue of two instructions per cycle, one in each slot.

use super::hazard::FaultKind;
use super::instruction::{CONFIG, ENGINE, Form, NnaInst, OperandKind, Slot};
use super::machine::{NUM_REGISTERS, NnaMachine};

/// The reason for a wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wait {
    /// A register is not ready.
    Register,
    /// `nnsync`.
    Sync,
    /// A hazard, under [`Interlock::Stall`](super::Interlock::Stall).
    Hazard(FaultKind),
}

/// The issue of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Issue {
    /// Cycle.
    pub at: u64,
    /// Cycles that it waited.
    pub waited: u64,
    /// The reason for the longest wait.
    pub reason: Wait,
}

/// The state of the pipeline: the cycles at which things are ready. Values do not matter to it, except whether a branch is taken.
#[derive(Clone, Debug)]
pub struct Timing {
    machine: NnaMachine,
    now: u64,
    slots: [u64; 2],
    vectors: [u64; NUM_REGISTERS],
    scalars: [u64; NUM_REGISTERS],
    /// Cycle from which the writes to each feature RAM and kernel are visible.
    pub visible: [u64; 4],
    /// Cycle from which no convolution reads each feature RAM and kernel.
    pub released: [u64; 4],
    /// Cycle from which each result block is complete.
    pub complete: [u64; 2],
    /// Cycle from which the engine is idle.
    pub engine: u64,
    /// Cycle from which configuration has taken effect.
    pub config: u64,
    last: u64,
}

impl Timing {
    /// Returns the state before the first instruction.
    pub fn new(machine: NnaMachine) -> Timing {
        Timing {
            machine,
            now: 0,
            slots: [0; 2],
            vectors: [0; NUM_REGISTERS],
            scalars: [0; NUM_REGISTERS],
            visible: [0; 4],
            released: [0; 4],
            complete: [0; 2],
            engine: 0,
            config: 0,
            last: 0,
        }
    }

    /// Returns the cycle of the last issue.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the cycle at which everything that was issued is complete.
    pub fn end(&self) -> u64 {
        self.last.max(self.now + 1)
    }

    /// Issues an instruction. With `interlock` it waits for hazards.
    pub fn issue(&mut self, inst: &NnaInst, interlock: bool) -> Issue {
        let info = inst.form.info();
        let slot = info.slot as usize;
        let start = self.now.max(self.slots[slot]);
        let latency = self.result_latency(inst.form);
        let mut at = (start, Wait::Register);
        for (field, value) in inst.operands() {
            let i = value as usize % NUM_REGISTERS;
            let ready = match field.kind {
                OperandKind::Vector => self.vectors[i],
                OperandKind::VectorDef => self.vectors[i].saturating_sub(latency),
                OperandKind::Scalar | OperandKind::ScalarUpdate => self.scalars[i],
                OperandKind::ScalarDef => self.scalars[i].saturating_sub(latency),
                _ => 0,
            };
            at.0 = at.0.max(ready);
        }
        if slot == Slot::Engine as usize || inst.form == Form::Rq {
            self.wait(inst, interlock, &mut at);
        }
        let (at, reason) = at;
        (self.now, self.slots[slot]) = (at, at + 1);
        self.complete(inst, at, latency);
        Issue { at, waited: at - start, reason }
    }

    /// Delays all instructions after a taken branch.
    pub fn branch(&mut self) {
        let next = self.now + 1 + u64::from(self.machine.branch);
        self.slots = self.slots.map(|free| free.max(next));
    }

    /// Moves the state forward in time, as further iterations of a loop do.
    pub fn skip(&mut self, cycles: u64) {
        let all = [&mut self.now, &mut self.engine, &mut self.config, &mut self.last];
        let lists = [&mut self.slots[..], &mut self.vectors, &mut self.scalars, &mut self.visible, &mut self.released];
        all.into_iter().chain(lists.into_iter().flatten()).chain(&mut self.complete).for_each(|at| *at += cycles);
    }

    /// Returns the cycles from the last issue until each thing is ready, on which the further issues depend.
    pub fn pending(&self) -> Vec<u64> {
        let single = [self.engine, self.config];
        let lists =
            [&self.slots[..], &self.vectors, &self.scalars, &self.visible, &self.released, &self.complete, &single];
        lists.into_iter().flatten().map(|at| at.saturating_sub(self.now)).collect()
    }

    fn result_latency(&self, form: Form) -> u64 {
        let l = &self.machine;
        u64::from(match form {
            Form::La | Form::Ls | Form::Lb | Form::Lw => l.load,
            Form::Add => l.add,
            Form::Rq => l.requantize,
            Form::Madd => l.multiply,
            Form::Nndrdocb => l.read,
            _ => l.scalar,
        })
    }

    /// Waits for events and hazards.
    fn wait(&self, inst: &NnaInst, interlock: bool, at: &mut (u64, Wait)) {
        let mut until = |cycle: u64, reason: Wait| {
            if cycle > at.0 {
                *at = (cycle, reason);
            }
        };
        if inst.form == Form::Nnsync {
            let set = inst.args[0];
            (0..4).filter(|i| set >> i & 1 != 0).for_each(|i| until(self.visible[i], Wait::Sync));
            until(if set & ENGINE != 0 { self.engine } else { 0 }, Wait::Sync);
            until(if set & CONFIG != 0 { self.config } else { 0 }, Wait::Sync);
        }
        if !interlock {
            return;
        }
        let [a, b, ..] = inst.args.map(|arg| arg as usize);
        let mut hazard = |cycle, class| until(cycle, Wait::Hazard(class));
        match inst.form {
            Form::Nndwf => {
                hazard(self.released[a & 1], FaultKind::FramWar);
                hazard(self.config, FaultKind::StaleConfig);
            }
            Form::Nndww => hazard(self.released[2 + (a & 1)], FaultKind::WramWar),
            Form::Nnmacg => {
                hazard(self.visible[a & 1], FaultKind::FramRaw);
                hazard(self.visible[2 + (b & 1)], FaultKind::WramRaw);
                hazard(self.engine, FaultKind::EngineBusy);
                hazard(self.config, FaultKind::StaleConfig);
            }
            Form::Nndrdocb => hazard(self.complete[b & 1], FaultKind::ResultRaw),
            Form::Rq => hazard(self.config, FaultKind::StaleConfig),
            _ => {}
        }
    }

    /// Records the cycles at which the results of an instruction are ready.
    fn complete(&mut self, inst: &NnaInst, at: u64, latency: u64) {
        let done = at + latency;
        for (field, value) in inst.operands() {
            let i = value as usize % NUM_REGISTERS;
            match field.kind {
                OperandKind::VectorDef => self.vectors[i] = done,
                OperandKind::VectorPart => self.vectors[i] = self.vectors[i].max(done),
                OperandKind::ScalarDef | OperandKind::ScalarUpdate => self.scalars[i] = done,
                _ => {}
            }
        }
        let [a, b, c, _] = inst.args.map(|arg| arg as usize);
        let visible = at + u64::from(self.machine.write);
        let end = match inst.form {
            Form::Nndwf => set(&mut self.visible[a & 1], visible),
            Form::Nndww => set(&mut self.visible[2 + (a & 1)], visible),
            Form::Nncfg => set(&mut self.config, at + u64::from(self.machine.config)),
            Form::Nnmacg => {
                let end = at.max(self.engine) + self.machine.step();
                (self.released[a & 1], self.released[2 + (b & 1)]) = (end, end);
                (self.complete[c & 1], self.engine) = (end, end);
                end
            }
            _ => done,
        };
        self.last = self.last.max(end);
    }
}

fn set(cycle: &mut u64, value: u64) -> u64 {
    *cycle = value;
    value
}
