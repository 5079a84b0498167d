//! Race detection: conflicting accesses of two iterations of a parallel loop to one memory location.
//!
//! The interpreter runs the iterations sequentially, in an order that programs must not depend on. Accesses whose
//! result would depend on the order are detected here and are undefined behavior. Outside of parallel loops nothing is
//! recorded.

use crate::values::trap::Trap;
use rustc_hash::FxHashMap;

/// A kind of access to a memory location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AccessKind {
    /// A read.
    Read,
    /// A write, or the end of the buffer's lifetime.
    Write,
    /// An atomic read-modify-write, unordered with other atomic accesses.
    Atomic,
}

/// A parallel loop under execution.
pub(crate) struct ParallelLoop {
    /// The 1-based number of the current iteration.
    iteration: u64,
    /// The number of the first buffer allocated inside the loop: private to the iteration that allocated it.
    outside: u32,
    places: FxHashMap<(u32, usize), FirstAccesses>,
}

/// The first iteration that made each kind of access to a location; 0 for none. The first suffices: a later access by
/// another iteration either conflicts with it, which is a race, or needs no record.
#[derive(Clone, Copy, Default)]
struct FirstAccesses {
    read: u64,
    written: u64,
    updated: u64,
}

impl ParallelLoop {
    /// Creates the state before the first iteration, with `buffers` allocated outside the loop.
    pub(crate) fn new(buffers: u32) -> ParallelLoop {
        ParallelLoop { iteration: 0, outside: buffers, places: FxHashMap::default() }
    }

    /// Starts the next iteration.
    pub(crate) fn next_iteration(&mut self) {
        self.iteration += 1;
    }

    /// Whether a buffer that is not a global is visible to other iterations.
    pub(crate) fn shares(&self, buffer: u32) -> bool {
        buffer < self.outside
    }

    /// Records an access to an element of a buffer. A race is undefined behavior.
    pub(crate) fn note(&mut self, buffer: u32, element: usize, touch: AccessKind) -> Result<(), Trap> {
        let now = self.iteration;
        let place = self.places.entry((buffer, element)).or_default();
        let other = |first: u64| first != 0 && first != now;
        let (read, written, updated) = (other(place.read), other(place.written), other(place.updated));
        let (first, races, does) = match touch {
            AccessKind::Read => (&mut place.read, written || updated, "reads"),
            AccessKind::Write => (&mut place.written, read || written || updated, "writes"),
            AccessKind::Atomic => (&mut place.updated, read || written, "updates"),
        };
        if races {
            let did = if written || updated { "writes" } else { "reads" };
            let what = format!("data race: one iteration of a parallel loop {did} element {element} of memory");
            return Err(Trap::Ub(format!("{what}, and another one {does} it")));
        }
        if *first == 0 {
            *first = now;
        }
        Ok(())
    }

    /// Records the end of a buffer's lifetime.
    pub(crate) fn note_end(&self, buffer: u32) -> Result<(), Trap> {
        let others = |place: &FirstAccesses| {
            [place.read, place.written, place.updated].iter().any(|&n| n != 0 && n != self.iteration)
        };
        match self.places.iter().find(|((of, _), place)| *of == buffer && others(place)) {
            Some(_) => Err(Trap::Ub("an iteration of a parallel loop frees memory that another one uses".into())),
            None => Ok(()),
        }
    }
}
