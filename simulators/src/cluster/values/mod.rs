//! The values that records compute. Programs have passed the check: all accesses are in bounds.
//!
//! A compute record reads all of its operands before it writes its output, so that the order inside of a record, which is chosen for
//! speed, does not matter. The order of summation of floats is that of convolutions.

mod stages;
mod tile;

use super::access::members;
use super::{Record, StridedBox, Transfer};
use stages::apply;
use tile::store;

pub(super) use stages::StageValues;
pub(super) use tile::{convert, load};

/// The memories of all clusters, and DDR.
pub(super) struct Memories<'a> {
    pub spm: Vec<Vec<u8>>,
    pub ddr: &'a mut [u8],
}

impl Memories<'_> {
    /// Executes a record of cluster `here`, a transfer at once.
    pub fn execute(&mut self, record: &Record, here: usize) {
        match record.counts(here) {
            Some((_, mask)) if record.transfer().is_some() => {
                let bytes = self.gather(record, here);
                members(mask).for_each(|target| self.scatter(record, target, &bytes));
            }
            _ => compute(record, &mut self.spm[here]),
        }
    }

    /// Executes the part of a transfer of cluster `here` for one of its clusters.
    pub fn deliver(&mut self, record: &Record, here: usize, target: usize) {
        let bytes = self.gather(record, here);
        self.scatter(record, target, &bytes);
    }

    /// Reads the bytes of a transfer.
    fn gather(&self, record: &Record, here: usize) -> Vec<u8> {
        let Some(transfer) = record.transfer() else { return Vec::new() };
        let source = if matches!(record, Record::Fetch { .. }) { &*self.ddr } else { &self.spm[here] };
        let mut bytes = Vec::with_capacity(transfer.rows as usize * transfer.cols as usize * transfer.bytes as usize);
        each_run(transfer, &transfer.from, |at, n| bytes.extend_from_slice(&source[at..at + n]));
        bytes
    }

    /// Writes the bytes of a transfer to cluster `target`, or to DDR.
    fn scatter(&mut self, record: &Record, target: usize, bytes: &[u8]) {
        let Some(transfer) = record.transfer() else { return };
        let memory = if matches!(record, Record::Store { .. }) { &mut *self.ddr } else { &mut self.spm[target][..] };
        let mut rest = bytes;
        each_run(transfer, &transfer.to, |at, n| {
            let (run, after) = rest.split_at(n);
            memory[at..at + n].copy_from_slice(run);
            rest = after;
        });
    }
}

/// Calls `f` with first byte and length of each run of one side of a transfer.
fn each_run(transfer: &Transfer, place: &StridedBox, mut f: impl FnMut(usize, usize)) {
    for row in 0..transfer.rows as usize {
        for col in 0..transfer.cols as usize {
            f(place.offset as usize + row * place.row as usize + col * place.pixel as usize, transfer.bytes as usize);
        }
    }
}

/// Executes a compute record.
fn compute(record: &Record, spm: &mut [u8]) {
    let Some((compute, output)) = record.compute().zip(record.output()) else { return };
    let values = compute.values(spm);
    let stages = record.stages().into_iter().flatten().flatten();
    store(output, &apply(stages, values, output, spm), spm);
}

/// Returns the work of a record: products, elements or bytes.
pub(super) fn work(record: &Record) -> u64 {
    let product = |factors: &[u32]| factors.iter().fold(1, |n: u64, &factor| n.saturating_mul(factor.into()));
    if let Some(t) = record.transfer() {
        return product(&[t.rows, t.cols, t.bytes]);
    }
    let Some((compute, output)) = record.compute().zip(record.output()) else { return 1 };
    compute.work(product(&[output.rows, output.cols, output.channels]))
}
