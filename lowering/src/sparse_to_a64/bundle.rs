//! Software pipelining: instructions that issue together.

use gradus_machines::a64::{Inst, NUM_REGISTERS, Register, Unit};

/// The schedule so far: bundles, and the first bundle in which each register and unit is free.
struct Scheduled {
    /// Instructions of each bundle.
    bundles: Vec<Vec<Inst>>,
    /// The bundle after the last write of each register.
    after_write: [usize; NUM_REGISTERS],
    /// The bundle of the last read of each register.
    last_read: [usize; NUM_REGISTERS],
    /// The first bundle in which each unit may be free.
    free: [usize; 4],
}

/// Moves each instruction to the first bundle that comes after the instructions whose results it reads and whose units are free,
/// as long as no instruction before it reads or writes the register that it writes later. The instructions of a bundle read
/// registers before any of them writes one.
pub(super) fn bundle(code: &[Inst]) -> Vec<Inst> {
    let mut done =
        Scheduled { bundles: Vec::new(), after_write: [0; NUM_REGISTERS], last_read: [0; NUM_REGISTERS], free: [0; 4] };
    code.iter().for_each(|inst| done.place(*inst));
    let bundles = done.bundles.into_iter().filter(|bundle| !bundle.is_empty());
    bundles.flat_map(|all| all.into_iter().enumerate().map(|(i, inst)| Inst { bundled: i > 0, ..inst })).collect()
}

impl Scheduled {
    fn place(&mut self, inst: Inst) {
        let (registers, units) = (inst.registers(), inst.what.units());
        let reads: Vec<usize> = registers.sources.iter().chain(&registers.base).map(|r| r.index()).collect();
        let result = registers.result.map(Register::index);
        let after = reads.iter().map(|&r| self.after_write[r]);
        let after = after.chain(result.map(|r| self.after_write[r].max(self.last_read[r])));
        let after = after.chain(units.iter().map(|&unit| self.free[unit as usize])).max().unwrap_or(0);
        // The return is last.
        let mut at = if units.is_empty() { self.bundles.len() } else { after };
        while self.bundles.get(at).is_some_and(|bundle| !has_free(bundle, units)) {
            at += 1;
        }
        while self.bundles.len() <= at {
            self.bundles.push(Vec::new());
        }
        self.bundles[at].push(inst);
        for read in reads {
            self.last_read[read] = self.last_read[read].max(at);
        }
        if let Some(result) = result {
            self.after_write[result] = at + 1;
        }
        for &unit in units {
            let free = &mut self.free[unit as usize];
            while self.bundles.get(*free).is_some_and(|bundle| !has_free(bundle, &[unit])) {
                *free += 1;
            }
        }
    }
}

/// Whether no instruction of a bundle uses one of the units.
fn has_free(bundle: &[Inst], units: &[Unit]) -> bool {
    !bundle.iter().any(|inst| inst.what.units().iter().any(|unit| units.contains(unit)))
}
