//! First fit: buffers in an order, each at its lowest offset among those before it.

use crate::budget::Meter;
use crate::instance::{FREE, Instance};

/// A placed buffer.
#[derive(Clone, Copy, Debug)]
struct Placed {
    offset: u64,
    end: u64,
    lo: u32,
    hi: u32,
}

/// First fit of buffers in given orders. The placed buffers are sorted by offset, so that a gap is found in one pass over
/// those below it.
#[derive(Debug, Default)]
pub(crate) struct FirstFit {
    placed: Vec<Placed>,
    /// Offset of each buffer in bytes; valid after [`FirstFit::place`] has returned a peak.
    pub offsets: Vec<u64>,
    is_placed: Vec<bool>,
}

impl FirstFit {
    /// Places all buffers, the fixed ones first, and returns the peak. `None` if it reaches `limit` or the budget ends.
    pub(crate) fn place(&mut self, inst: &Instance, order: &[u32], limit: u64, meter: &mut Meter) -> Option<u64> {
        let n = inst.len();
        self.placed.clear();
        self.offsets.resize(n, 0);
        self.is_placed.clear();
        self.is_placed.resize(n, false);
        let mut peak = 0;
        for is_fixed in [true, false] {
            for &b in order.iter().filter(|&&b| (inst.fixed[b as usize] != FREE) == is_fixed) {
                let offset = if is_fixed { inst.fixed[b as usize] } else { self.lowest(inst, b as usize, meter) };
                peak = peak.max(offset + inst.bytes[b as usize]);
                if peak >= limit || !meter.has_more() && limit != u64::MAX {
                    return None;
                }
                self.insert(inst, b as usize, offset);
            }
        }
        Some(peak)
    }

    fn insert(&mut self, inst: &Instance, b: usize, offset: u64) {
        let placed = Placed { offset, end: offset + inst.bytes[b], lo: inst.lo[b], hi: inst.hi[b] };
        let at = self.placed.partition_point(|p| p.offset < offset);
        self.placed.insert(at, placed);
        (self.offsets[b], self.is_placed[b]) = (offset, true);
    }

    /// Returns the lowest offset of a buffer among the placed ones.
    fn lowest(&self, inst: &Instance, b: usize, meter: &mut Meter) -> u64 {
        let (lo, hi, bytes, align) = (inst.lo[b], inst.hi[b], inst.bytes[b], inst.align[b]);
        let (mut at, mut seen) = (0_u64, 0);
        for p in &self.placed {
            if p.offset >= at + bytes {
                break;
            }
            seen += 1;
            if p.lo < hi && lo < p.hi && p.end > at {
                at = if align == 1 { p.end } else { p.end.next_multiple_of(align) };
            }
        }
        meter.charge(seen / 6 + 8);
        let partners = inst.partners(b).iter().filter(|&&p| self.is_placed[p as usize]);
        let shared = partners.map(|&p| self.offsets[p as usize]).filter(|&o| o < at && self.can_share(inst, b, o));
        shared.min().unwrap_or(at)
    }

    /// Whether a buffer may be at the offset of a partner: what it overlaps are partners at the same offset.
    fn can_share(&self, inst: &Instance, b: usize, offset: u64) -> bool {
        let (lo, hi, end) = (inst.lo[b], inst.hi[b], offset + inst.bytes[b]);
        let overlaps = |p: &&Placed| p.lo < hi && lo < p.hi && p.offset < end && p.end > offset;
        let is_partner = |p: &&u32| {
            let p = **p as usize;
            self.is_placed[p] && self.offsets[p] == offset && inst.lo[p] < hi && lo < inst.hi[p]
        };
        let sharing = inst.partners(b).iter().filter(is_partner).count();
        offset.is_multiple_of(inst.align[b]) && self.placed.iter().filter(overlaps).count() == sharing
    }
}
