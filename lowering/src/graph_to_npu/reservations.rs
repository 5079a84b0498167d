//! Reservations of SRAM.

use super::shape::ALIGNMENT;

/// Reservations of bytes of SRAM for some slots.
#[derive(Default)]
pub struct Reservations {
    /// First byte, end, first slot, last slot.
    all: Vec<(usize, usize, usize, usize)>,
    /// Ranges whose last slot is before this one are forgotten.
    begin: usize,
}

impl Reservations {
    /// Reserves bytes from slot `first` to slot `last`.
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
    pub fn first(&self, request: ReservationRequest, until: usize, rest: usize) -> Option<(usize, usize)> {
        let ReservationRequest { from, end, .. } = request;
        let rested = |r: &(usize, usize, usize, usize)| (r.0, r.1, r.2, r.3 + rest);
        let mut near: Vec<_> = self.all.iter().map(rested).filter(|r| r.2 <= end && r.3 >= from).collect();
        match request.is_high {
            true => near.sort_unstable_by_key(|r| std::cmp::Reverse(r.1)),
            false => near.sort_unstable(),
        }
        let mut slot = from;
        loop {
            if let Some(place) = request.gap(near.iter().filter(|r| r.3 >= slot).map(|r| (r.0, r.1))) {
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
pub struct ReservationRequest {
    /// Number of bytes.
    pub bytes: usize,
    /// The earliest slot of its first use.
    pub from: usize,
    /// The last slot.
    pub end: usize,
    /// Bytes of SRAM.
    pub size: usize,
    /// Whether the last free bytes are request.
    pub is_high: bool,
}

impl ReservationRequest {
    /// The first gap between ranges in ascending order, or the last one between ranges by descending ends.
    pub fn gap(&self, reserved: impl Iterator<Item = (usize, usize)>) -> Option<usize> {
        let bytes = self.bytes.next_multiple_of(ALIGNMENT);
        if self.is_high {
            let mut top = self.size / ALIGNMENT * ALIGNMENT;
            for (start, end) in reserved {
                if end + bytes <= top {
                    break;
                }
                top = top.min(start);
            }
            return top.checked_sub(bytes);
        }
        let mut place = 0;
        for (start, end) in reserved {
            if start >= place + bytes {
                break;
            }
            place = place.max(end);
        }
        (place + bytes <= self.size).then_some(place)
    }
}
