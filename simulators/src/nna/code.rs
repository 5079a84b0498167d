//! Construction of programs: straight-line code and counted loops.

use super::instruction::{Form, NnaInst};
use super::machine::NnaMachine;
use super::schedule::{ReadOnly, schedule};
use super::timing::Timing;

/// Straight-line code or a loop.
#[derive(Clone, Debug)]
enum Code {
    Block(Vec<NnaInst>),
    Loop { counter: i32, count: u32, body: Vec<Code> },
}

/// A program under construction.
#[derive(Debug)]
pub struct CodeBuilder {
    machine: NnaMachine,
    read_only: ReadOnly,
    /// The open loops, outermost first, each with the code so far.
    open: Vec<Vec<Code>>,
    /// Register of the outermost loop's counter; inner ones are the registers before it.
    counter: i32,
}

impl CodeBuilder {
    /// Returns an empty program. Loops at depth `d` count in the register `counter - d`; the memory at registers of `read_only`
    /// is not stored to.
    pub fn new(machine: NnaMachine, counter: i32, read_only: ReadOnly) -> CodeBuilder {
        CodeBuilder { machine, read_only, open: vec![Vec::new()], counter }
    }

    /// Appends an instruction.
    pub fn push(&mut self, form: Form, args: &[i32]) {
        let inst = NnaInst::new(form, args);
        let Some(codes) = self.open.last_mut() else { return };
        match codes.last_mut() {
            Some(Code::Block(block)) => block.push(inst),
            _ => codes.push(Code::Block(vec![inst])),
        }
    }

    /// Appends `addi register, register, value`, unless the value is zero.
    pub fn advance(&mut self, register: i32, value: i64) {
        if value != 0 {
            self.push(Form::Addi, &[register, register, value as i32]);
        }
    }

    /// Appends a loop; one without iterations is left out, and one with a single iteration is its body.
    pub fn repeat(&mut self, count: usize, body: impl FnOnce(&mut CodeBuilder)) {
        match count {
            0 => {}
            1 => body(self),
            _ => {
                let counter = self.counter - (self.open.len() - 1) as i32;
                self.open.push(Vec::new());
                body(self);
                let body = self.open.pop().unwrap_or_default();
                if let Some(codes) = self.open.last_mut() {
                    codes.push(Code::Loop { counter, count: count as u32, body });
                }
            }
        }
    }

    /// Ends the program. Returns its instructions, and the cycles that they take.
    pub fn finish(mut self) -> (Vec<NnaInst>, u64) {
        let mut codes = self.open.pop().unwrap_or_default();
        codes.push(Code::Block(vec![NnaInst::new(Form::Halt, &[])]));
        codes.iter_mut().for_each(|code| self.schedule(code));
        let mut program = Vec::new();
        codes.iter().for_each(|code| flatten(code, &mut program));
        let mut timing = Timing::new(self.machine);
        codes.iter().for_each(|code| estimate(code, &mut timing));
        (program, timing.end())
    }

    fn schedule(&self, code: &mut Code) {
        match code {
            Code::Block(block) => *block = schedule(block, self.read_only, &self.machine),
            Code::Loop { body, .. } => body.iter_mut().for_each(|code| self.schedule(code)),
        }
    }
}

fn flatten(code: &Code, program: &mut Vec<NnaInst>) {
    match code {
        Code::Block(block) => program.extend(block),
        Code::Loop { counter, count, body } => {
            program.push(NnaInst::new(Form::Li, &[*counter, *count as i32]));
            let start = program.len();
            body.iter().for_each(|code| flatten(code, program));
            let distance = start as i32 - program.len() as i32;
            program.push(NnaInst::new(Form::Djnz, &[*counter, distance]));
        }
    }
}

/// The most iterations of a loop that are followed one by one until the pipeline is as after an earlier one; if it never is, the others
/// take as long as the last of these.
const FOLLOWED: usize = 8;

/// Issues the instructions of code that waits by `nnsync` only.
fn estimate(code: &Code, timing: &mut Timing) {
    match code {
        Code::Block(block) => block.iter().for_each(|inst| {
            timing.issue(inst, false);
        }),
        Code::Loop { counter, count, body } => {
            timing.issue(&NnaInst::new(Form::Li, &[*counter, 0]), false);
            let iteration = |timing: &mut Timing, is_last: bool| {
                body.iter().for_each(|code| estimate(code, timing));
                timing.issue(&NnaInst::new(Form::Djnz, &[*counter, 0]), false);
                if !is_last {
                    timing.branch();
                }
            };
            let mut left = u64::from(*count);
            let mut known = vec![(timing.pending(), timing.now())];
            while left > 1 {
                iteration(timing, false);
                left -= 1;
                let (state, now) = (timing.pending(), timing.now());
                let same = known.iter().rposition(|(earlier, _)| *earlier == state);
                let from = same.or_else(|| (known.len() >= FOLLOWED).then(|| known.len() - 1));
                if let Some(from) = from {
                    let (iterations, cycles) = ((known.len() - from) as u64, now - known[from].1);
                    // The last iteration does not branch.
                    let periods = (left - 1) / iterations;
                    timing.skip(periods * cycles);
                    left -= periods * iterations;
                    (1..left).for_each(|_| iteration(timing, false));
                    left = 1;
                }
                known.push((state, now));
            }
            iteration(timing, true);
        }
    }
}
