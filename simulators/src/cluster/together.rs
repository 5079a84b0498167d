//! Programs that run at once on disjoint clusters of a machine: sub-devices.

use super::{ClusterProgram, Extent, Record};

/// Multiple of the parts of DDR in bytes.
const ALIGNMENT: u64 = 4096;

impl ClusterProgram {
    /// Returns a program that executes several at once: the clusters of the second come after those of the first, and so on, as do its
    /// operands and results. DDR holds the constants of all, then the rest of each. `None` if it needs more than 2^32 bytes of DDR, events or
    /// tasks, or more clusters than a mask has.
    pub fn together(programs: &[ClusterProgram]) -> Option<ClusterProgram> {
        let mut all = ClusterProgram::default();
        let mut constants = Vec::new();
        for program in programs {
            all.constants.resize((all.constants.len() as u64).next_multiple_of(ALIGNMENT) as usize, 0);
            constants.push(u32::try_from(all.constants.len()).ok()?);
            all.constants.extend_from_slice(&program.constants);
        }
        let mut end = (all.constants.len() as u64).next_multiple_of(ALIGNMENT);
        let (mut events, mut tasks) = (0_u32, 0_u32);
        for (program, constants) in programs.iter().zip(constants) {
            let shift = Shift {
                cluster: u32::try_from(all.records.len()).ok()?,
                event: events,
                task: tasks,
                constants,
                own: u32::try_from(program.constants.len()).ok()?,
                rest: u32::try_from(end).ok()?,
            };
            let records = program.records.iter().flatten();
            events =
                events.checked_add(records.clone().filter_map(event).max().map_or(Some(0), |n| n.checked_add(1))?)?;
            tasks = tasks.checked_add(records.filter_map(Record::task).max().map_or(Some(0), |n| n.checked_add(1))?)?;
            let of =
                |records: &Vec<Record>| records.iter().map(|record| shift.record(*record)).collect::<Option<Vec<_>>>();
            all.records.extend(program.records.iter().map(of).collect::<Option<Vec<_>>>()?);
            let place = |e: &Extent| Some(Extent { offset: shift.ddr(e.offset)?, ..*e });
            all.operands.extend(program.operands.iter().map(place).collect::<Option<Vec<_>>>()?);
            all.results.extend(program.results.iter().map(place).collect::<Option<Vec<_>>>()?);
            let rest = u64::from(program.ddr_bytes.checked_sub(shift.own)?);
            end = (end + rest).next_multiple_of(ALIGNMENT);
        }
        all.ddr_bytes = u32::try_from(end).ok()?;
        (all.records.len() <= u32::BITS as usize).then_some(all)
    }
}

/// The event of a record.
fn event(record: &Record) -> Option<u32> {
    match *record {
        Record::Fetch { event, .. }
        | Record::Store { event, .. }
        | Record::Send { event, .. }
        | Record::Notify { event, .. }
        | Record::Wait { event, .. } => Some(event),
        _ => None,
    }
}

/// The offsets that are added to the numbers of a program, so that those of several programs are distinct.
struct Shift {
    cluster: u32,
    event: u32,
    task: u32,
    /// First byte of its constants.
    constants: u32,
    /// Bytes of its constants.
    own: u32,
    /// First byte of the rest.
    rest: u32,
}

impl Shift {
    fn ddr(&self, at: u32) -> Option<u32> {
        if at < self.own { at.checked_add(self.constants) } else { (at - self.own).checked_add(self.rest) }
    }

    fn mask(&self, clusters: u32) -> Option<u32> {
        u32::try_from(u64::from(clusters).checked_shl(self.cluster)?).ok()
    }

    fn record(&self, mut record: Record) -> Option<Record> {
        match &mut record {
            Record::Fetch { transfer, clusters, event } => {
                transfer.from.offset = self.ddr(transfer.from.offset)?;
                *clusters = self.mask(*clusters)?;
                *event = event.checked_add(self.event)?;
            }
            Record::Store { transfer, event } => {
                transfer.to.offset = self.ddr(transfer.to.offset)?;
                *event = event.checked_add(self.event)?;
            }
            Record::Send { clusters, event, .. } | Record::Notify { clusters, event } => {
                *clusters = self.mask(*clusters)?;
                *event = event.checked_add(self.event)?;
            }
            Record::Wait { event, .. } => *event = event.checked_add(self.event)?,
            _ => {
                let task = record.task_mut()?;
                *task = task.checked_add(self.task)?;
            }
        }
        Some(record)
    }
}
