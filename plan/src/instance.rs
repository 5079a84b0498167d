//! The buffers of one pool as arrays, with time compressed to sections.

use crate::problem::Buffer;

/// No fixed offset.
pub(crate) const FREE: u64 = u64::MAX;

/// The non-empty buffers of one pool. Time is compressed to *sections*, one for each maximal set of buffers that are
/// live at once: two buffers are live at once if and only if they share a section.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instance {
    /// First section of each buffer.
    pub lo: Vec<u32>,
    /// Section after the last of each buffer.
    pub hi: Vec<u32>,
    /// Size of each buffer in bytes.
    pub bytes: Vec<u64>,
    /// Divisor of each offset.
    pub align: Vec<u64>,
    /// Fixed offset of each buffer, or [`FREE`].
    pub fixed: Vec<u64>,
    /// For each buffer the start of its partners in `partners`, and the end of the last.
    partner_starts: Vec<u32>,
    /// Buffers that may share an offset.
    partners: Vec<u32>,
    /// Number of sections.
    pub sections: usize,
    /// Greatest common divisor of the alignments: it divides all offsets.
    pub granule: u64,
    /// For each section, a lower bound of the peak in bytes.
    pub load: Vec<u64>,
    /// Lower bound of the peak in bytes.
    pub bound: u64,
}

impl Instance {
    /// Creates an instance of buffers with sizes above 0 and the pairs of them that may share an offset.
    pub(crate) fn new(buffers: &[Buffer], pairs: &[(u32, u32)]) -> Instance {
        let granule = buffers.iter().fold(0, |g, b| gcd(b.alignment, g)).max(1);
        let mut instance = Instance {
            lo: vec![0; buffers.len()],
            hi: vec![0; buffers.len()],
            bytes: buffers.iter().map(|b| b.bytes).collect(),
            align: buffers.iter().map(|b| b.alignment).collect(),
            fixed: buffers.iter().map(|b| b.fixed.unwrap_or(FREE)).collect(),
            granule,
            ..Instance::default()
        };
        instance.compress(buffers);
        instance.add_partners(pairs);
        instance.load = instance.loads();
        let ends = (0..buffers.len()).filter(|&b| instance.fixed[b] != FREE);
        let ends = ends.map(|b| instance.fixed[b] + instance.bytes[b]);
        instance.bound = instance.load.iter().copied().chain(ends).max().unwrap_or(0);
        instance
    }

    /// Returns the number of buffers.
    pub(crate) fn len(&self) -> usize {
        self.lo.len()
    }

    /// Returns the buffers that may share the offset of `b`.
    pub(crate) fn partners(&self, b: usize) -> &[u32] {
        &self.partners[self.partner_starts[b] as usize..self.partner_starts[b + 1] as usize]
    }

    /// Whether no buffer is fixed or has a partner.
    pub(crate) fn is_plain(&self) -> bool {
        self.partners.is_empty() && self.fixed.iter().all(|&offset| offset == FREE)
    }

    /// Returns the size of a buffer in bytes, rounded up to the granule: the distance to the next buffer is at least this.
    pub(crate) fn room(&self, b: usize) -> u64 {
        self.bytes[b].next_multiple_of(self.granule)
    }

    /// Returns the sum over all buffers of the number of their sections.
    pub(crate) fn cells(&self) -> usize {
        self.lo.iter().zip(&self.hi).map(|(lo, hi)| (hi - lo) as usize).sum()
    }

    /// Computes the sections: one ends where a buffer ends after another has started.
    fn compress(&mut self, buffers: &[Buffer]) {
        let starts = buffers.iter().enumerate().map(|(i, b)| (b.start, true, i));
        let ends = buffers.iter().enumerate().map(|(i, b)| (b.end, false, i));
        let mut events: Vec<(i64, bool, usize)> = starts.chain(ends).collect();
        events.sort_unstable();
        let (mut section, mut has_grown) = (0, false);
        for (_, is_start, i) in events {
            if is_start {
                self.lo[i] = section;
                has_grown = true;
            } else {
                section += u32::from(std::mem::take(&mut has_grown));
                self.hi[i] = section;
            }
        }
        self.sections = section as usize;
    }

    fn add_partners(&mut self, pairs: &[(u32, u32)]) {
        let mut both: Vec<(u32, u32)> = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        both.sort_unstable();
        both.dedup();
        let start = |b: usize| both.partition_point(|pair| (pair.0 as usize) < b) as u32;
        self.partner_starts = (0..=self.len()).map(start).collect();
        self.partners = both.iter().map(|pair| pair.1).collect();
    }

    /// Returns the lower bound of each section: the sizes rounded up, without the rounding of one, which may be the
    /// topmost. Buffers that are connected by pairs count as the largest of them.
    fn loads(&self) -> Vec<u64> {
        let groups = self.groups();
        let (mut sums, mut spare) = (vec![0_u64; self.sections + 1], vec![0_u64; self.sections]);
        for group in groups.chunk_by(|a, b| a.0 == b.0) {
            match group {
                [(_, b)] => {
                    let b = *b as usize;
                    sums[self.lo[b] as usize] = sums[self.lo[b] as usize].wrapping_add(self.room(b));
                    sums[self.hi[b] as usize] = sums[self.hi[b] as usize].wrapping_sub(self.room(b));
                }
                _ => self.add_group(group, &mut sums),
            }
        }
        if self.granule > 1 {
            for b in 0..self.len() {
                let rounding = self.room(b) - self.bytes[b];
                spare[self.lo[b] as usize..self.hi[b] as usize].iter_mut().for_each(|s| *s = rounding.max(*s));
            }
        }
        let mut sum = 0_u64;
        let running = sums.iter().zip(&spare).map(|(change, spare)| {
            sum = sum.wrapping_add(*change);
            sum - spare
        });
        running.collect()
    }

    /// Adds the largest live buffer of a group in each section.
    fn add_group(&self, group: &[(u32, u32)], sums: &mut [u64]) {
        let members = || group.iter().map(|&(_, b)| b as usize);
        let first = members().map(|b| self.lo[b]).min().unwrap_or(0) as usize;
        let last = members().map(|b| self.hi[b]).max().unwrap_or(0) as usize;
        let mut most = vec![0_u64; last - first];
        for b in members() {
            let span = self.lo[b] as usize - first..self.hi[b] as usize - first;
            most[span].iter_mut().for_each(|m| *m = self.room(b).max(*m));
        }
        for (i, most) in most.into_iter().enumerate() {
            sums[first + i] = sums[first + i].wrapping_add(most);
            sums[first + i + 1] = sums[first + i + 1].wrapping_sub(most);
        }
    }

    /// Returns the buffers with the smallest member of their group, those connected by pairs, sorted by group.
    fn groups(&self) -> Vec<(u32, u32)> {
        let mut group: Vec<u32> = vec![u32::MAX; self.len()];
        let mut open = Vec::new();
        for b in 0..self.len() as u32 {
            if group[b as usize] != u32::MAX {
                continue;
            }
            open.push(b);
            group[b as usize] = b;
            while let Some(next) = open.pop() {
                for &other in self.partners(next as usize) {
                    if group[other as usize] == u32::MAX {
                        group[other as usize] = b;
                        open.push(other);
                    }
                }
            }
        }
        let mut groups: Vec<(u32, u32)> = group.into_iter().zip(0..).collect();
        groups.sort_unstable();
        groups
    }
}

/// Returns the greatest common divisor.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
