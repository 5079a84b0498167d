//! Bytes of SRAM that are free for some slots.

use super::shape::ALIGNMENT;

/// Bytes of SRAM that are taken for some slots.
#[derive(Default)]
pub struct Taken {
    /// First byte, end, first slot, last slot.
    all: Vec<(usize, usize, usize, usize)>,
    /// Ranges whose last slot is before this one are forgotten.
    begin: usize,
}

impl Taken {
    /// Takes bytes from slot `first` to slot `last`.
    pub fn add(&mut self, place: usize, bytes: usize, first: usize, last: usize) {
        self.all.push((place, place + bytes.next_multiple_of(ALIGNMENT), first, last));
    }

    /// Forgets ranges that end before a slot.
    pub fn forget(&mut self, begin: usize) {
        if begin > self.begin {
            self.begin = begin;
            self.all.retain(|r| r.3 >= begin);
        }
    }

    /// The earliest slot up to `until`, and the first or last bytes that are free from `rest` slots before it on.
    pub fn first(&self, wanted: Wanted, until: usize, rest: usize) -> Option<(usize, usize)> {
        let Wanted { from, end, .. } = wanted;
        let rested = |r: &(usize, usize, usize, usize)| (r.0, r.1, r.2, r.3 + rest);
        let mut near: Vec<_> = self.all.iter().map(rested).filter(|r| r.2 <= end && r.3 >= from).collect();
        match wanted.is_high {
            true => near.sort_unstable_by_key(|r| std::cmp::Reverse(r.1)),
            false => near.sort_unstable(),
        }
        let mut slot = from;
        loop {
            if let Some(place) = wanted.gap(near.iter().filter(|r| r.3 >= slot).map(|r| (r.0, r.1))) {
                return Some((slot, place));
            }
            // Only the end of a range that is in the way makes room.
            slot = near.iter().filter(|r| r.3 >= slot).map(|r| r.3 + 1).min()?;
            if slot > until {
                return None;
            }
        }
    }
}

/// Bytes for some slots.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Number of bytes.
    pub bytes: usize,
    /// The earliest slot of its first use.
    pub from: usize,
    /// The last slot.
    pub end: usize,
    /// Bytes of SRAM.
    pub size: usize,
    /// Whether the last free bytes are wanted.
    pub is_high: bool,
}

impl Wanted {
    /// The first gap between ranges in ascending order, or the last one between ranges by descending ends.
    pub fn gap(&self, taken: impl Iterator<Item = (usize, usize)>) -> Option<usize> {
        let bytes = self.bytes.next_multiple_of(ALIGNMENT);
        if self.is_high {
            let mut top = self.size / ALIGNMENT * ALIGNMENT;
            for (start, end) in taken {
                if end + bytes <= top {
                    break;
                }
                top = top.min(start);
            }
            return top.checked_sub(bytes);
        }
        let mut place = 0;
        for (start, end) in taken {
            if start >= place + bytes {
                break;
            }
            place = place.max(end);
        }
        (place + bytes <= self.size).then_some(place)
    }
}
