//! A planning problem, a plan, and their errors.

use std::fmt;

/// A buffer: the bytes that it needs and the time in which it needs them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// First time at which the buffer is live.
    pub start: i64,
    /// First time at which the buffer is no longer live: the lifetime is `start..end`, and not empty.
    pub end: i64,
    /// Size in bytes. A buffer of 0 bytes conflicts with none.
    pub bytes: u64,
    /// Divisor of the offset in bytes, at least 1.
    pub alignment: u64,
    /// Offset in bytes, if it is given.
    pub fixed: Option<u64>,
    /// The pools that may hold the buffer, as a bit mask: bit `i` allows pool `i`. At least one pool of the problem is
    /// allowed; those with smaller numbers are preferred.
    pub pools: u64,
}

impl Buffer {
    /// Creates a buffer with alignment 1 that may be anywhere in the first pool.
    pub const fn new(start: i64, end: i64, bytes: u64) -> Buffer {
        Buffer { start, end, bytes, alignment: 1, fixed: None, pools: 1 }
    }
}

/// A range of memory that holds buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pool {
    /// Size in bytes; without one the pool may grow.
    pub capacity: Option<u64>,
}

/// Buffers and pools that are checked: every sum of sizes and offsets fits into 63 bits.
#[derive(Clone, Debug)]
pub struct Problem {
    buffers: Vec<Buffer>,
    pools: Vec<Pool>,
    in_place: Vec<(u32, u32)>,
}

/// The largest number of pools.
pub const MAX_POOLS: usize = 64;

impl Problem {
    /// Creates a problem. Each pair of `in_place` are the indices of two buffers, an op's input and its result, that may
    /// begin at the same offset of one pool although both are live.
    pub fn new(buffers: Vec<Buffer>, pools: Vec<Pool>, in_place: Vec<(u32, u32)>) -> Result<Problem, ProblemError> {
        if u32::try_from(buffers.len()).is_err() {
            return Err(ProblemError::TooManyBuffers);
        }
        if pools.is_empty() || pools.len() > MAX_POOLS {
            return Err(ProblemError::Pools(pools.len()));
        }
        let known = u64::MAX >> (MAX_POOLS - pools.len());
        let mut total = 0_u64;
        for (i, buffer) in buffers.iter().enumerate() {
            check(buffer, known).map_err(|rule| ProblemError::Buffer(i, rule))?;
            // Rounding up the size and the offset takes less than twice the alignment.
            let needed = buffer.alignment.checked_mul(2).and_then(|a| a.checked_add(buffer.bytes));
            let needed = needed.and_then(|n| n.checked_add(buffer.fixed.unwrap_or(0)));
            total = needed.and_then(|n| n.checked_add(total)).ok_or(ProblemError::TooManyBytes)?;
        }
        if total > i64::MAX as u64 {
            return Err(ProblemError::TooManyBytes);
        }
        let is_pair = |&(a, b): &(u32, u32)| a != b && (a.max(b) as usize) < buffers.len();
        match in_place.iter().position(|pair| !is_pair(pair)) {
            Some(at) => Err(ProblemError::Pair(at)),
            None => Ok(Problem { buffers, pools, in_place }),
        }
    }

    /// Returns the buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Returns the pools.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// Returns the pairs of buffers that may share an offset while both are live.
    pub fn in_place(&self) -> &[(u32, u32)] {
        &self.in_place
    }
}

/// Checks a buffer; `known` is the mask of the problem's pools.
fn check(buffer: &Buffer, known: u64) -> Result<(), &'static str> {
    match buffer {
        b if b.start >= b.end => Err("the lifetime is empty"),
        b if b.alignment == 0 => Err("the alignment is 0"),
        b if b.fixed.is_some_and(|offset| offset % b.alignment != 0) => Err("the fixed offset is not aligned"),
        b if b.pools & known == 0 => Err("no pool of the problem is allowed"),
        _ => Ok(()),
    }
}

/// The reason why buffers and pools are not a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProblemError {
    /// The buffer with an index violates a rule.
    Buffer(usize, &'static str),
    /// The in-place pair with an index does not name two buffers.
    Pair(usize),
    /// The number of pools is not 1 to [`MAX_POOLS`].
    Pools(usize),
    /// There are more than 2^32 - 1 buffers.
    TooManyBuffers,
    /// The sum of sizes, alignments and fixed offsets does not fit into 63 bits.
    TooManyBytes,
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemError::Buffer(i, rule) => write!(f, "buffer {i}: {rule}"),
            ProblemError::Pair(i) => write!(f, "in-place pair {i} does not name two buffers"),
            ProblemError::Pools(n) => write!(f, "{n} pools are not 1 to {MAX_POOLS}"),
            ProblemError::TooManyBuffers => f.write_str("there are more than 2^32 - 1 buffers"),
            ProblemError::TooManyBytes => {
                f.write_str("the sizes, alignments and fixed offsets add up to 2^63 bytes or more")
            }
        }
    }
}

impl std::error::Error for ProblemError {}

/// An offset and a pool for each buffer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Offset of each buffer in bytes.
    pub offsets: Vec<u64>,
    /// Pool of each buffer.
    pub pools: Vec<u32>,
    /// Peak of each pool: the largest end of a buffer in bytes.
    pub peaks: Vec<u64>,
    /// Lower bound of each pool's peak in bytes, for the buffers that the plan has put there.
    pub lower_bounds: Vec<u64>,
    /// Number of steps after which the plan was found.
    pub steps: u64,
    /// Whether a deadline ended the work, so that another run may find another plan.
    pub is_timed: bool,
}

impl Plan {
    /// Returns the sum of the peaks of all pools in bytes.
    pub fn peak(&self) -> u64 {
        self.peaks.iter().sum()
    }

    /// Returns the sum of the lower bounds of all pools in bytes.
    pub fn lower_bound(&self) -> u64 {
        self.lower_bounds.iter().sum()
    }

    /// Whether each pool's peak is within its capacity.
    pub fn fits(&self, problem: &Problem) -> bool {
        problem.pools.iter().zip(&self.peaks).all(|(pool, &peak)| pool.capacity.is_none_or(|most| peak <= most))
    }
}
