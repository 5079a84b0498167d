//! Transfers under way in a schedule, whose buffers other ops leave alone.

use super::TransferOp;
use super::accesses::Footprint;
use gradus_ir::Value;

/// Bytes of an arena, or of memory outside of arenas.
pub(super) struct ArenaBytes {
    pub memory: Value,
    /// First byte of the buffer.
    pub base: u64,
    pub footprint: Footprint,
}

impl ArenaBytes {
    /// Returns the number of runs to look at, to see whether the two have bytes in common.
    pub(super) fn runs(&self, other: &ArenaBytes) -> u64 {
        let [own, of] = [self, other]
            .map(|ArenaBytes { base, footprint, .. }| base + footprint.span.start..base + footprint.span.end);
        let is_apart = self.memory != other.memory || own.end <= of.start || of.end <= own.start;
        if is_apart { 1 } else { self.footprint.runs().saturating_add(other.footprint.runs()) }
    }

    fn overlaps(&self, other: &ArenaBytes) -> bool {
        self.memory == other.memory && self.footprint.shares_bytes(self.base, &other.footprint, other.base)
    }
}

/// A transfer from its start to its wait.
pub(super) struct Pending {
    pub transfer: TransferOp,
    /// Its name in messages.
    pub name: String,
    pub source: ArenaBytes,
    pub target: ArenaBytes,
}

impl Pending {
    /// Returns the conflict of an access with the transfer, as the end of a message.
    pub(super) fn conflict(&self, bytes: &ArenaBytes, writes: bool) -> Option<String> {
        let does = if bytes.overlaps(&self.target) { "writes" } else { "reads" };
        let is_conflict = does == "writes" || writes && bytes.overlaps(&self.source);
        is_conflict.then(|| format!("bytes that {} {does} until its wait", self.name))
    }
}
