//! Races: accesses of two iterations of a parallel loop to one place, of which one writes.
//!
//! Iterations are executed one after the other, in an order that programs may not rely on. So what an iteration may not see
//! or change must be noticed here: a program whose meaning would depend on the order has none. Outside of parallel loops
//! nothing is noted.

use crate::trap::Trap;
use rustc_hash::FxHashMap;

/// What is done to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touch {
    /// It is read.
    Read,
    /// It is written, or its life ends.
    Write,
    /// It is read and written at once: in any order with others that do so.
    Atomic,
}

/// A parallel loop that is being executed.
pub(crate) struct ParallelLoop {
    /// The number of the iteration, from one on.
    iteration: u64,
    /// Buffers with numbers from here on came to life in an iteration, and no other can know them.
    outside: u32,
    places: FxHashMap<(u32, usize), Place>,
}

/// The first iterations that did something to a place; zero for none. Later ones are of the same iteration, or there is a
/// race, or nobody else minds.
#[derive(Clone, Copy, Default)]
struct Place {
    read: u64,
    written: u64,
    updated: u64,
}

impl ParallelLoop {
    /// A loop before its first iteration, when there are so many buffers.
    pub(crate) fn new(buffers: u32) -> ParallelLoop {
        ParallelLoop { iteration: 0, outside: buffers, places: FxHashMap::default() }
    }

    /// Another iteration begins.
    pub(crate) fn next_iteration(&mut self) {
        self.iteration += 1;
    }

    /// Whether other iterations can know a buffer that is no global.
    pub(crate) fn shares(&self, buffer: u32) -> bool {
        buffer < self.outside
    }

    /// Notes an access to an element of a buffer. A race is undefined behaviour.
    pub(crate) fn note(&mut self, buffer: u32, element: usize, touch: Touch) -> Result<(), Trap> {
        let now = self.iteration;
        let place = self.places.entry((buffer, element)).or_default();
        let other = |first: u64| first != 0 && first != now;
        let (read, written, updated) = (other(place.read), other(place.written), other(place.updated));
        let (first, races, does) = match touch {
            Touch::Read => (&mut place.read, written || updated, "reads"),
            Touch::Write => (&mut place.written, read || written || updated, "writes"),
            Touch::Atomic => (&mut place.updated, read || written, "updates"),
        };
        if races {
            let did = if written || updated { "writes" } else { "reads" };
            let what = format!("a race: of two iterations of a parallel loop, one {did} element {element} of memory");
            return Err(Trap::Ub(format!("{what}, and the other one {does} it")));
        }
        if *first == 0 {
            *first = now;
        }
        Ok(())
    }

    /// Notes that the life of a buffer ends.
    pub(crate) fn note_end(&self, buffer: u32) -> Result<(), Trap> {
        let others =
            |place: &Place| [place.read, place.written, place.updated].iter().any(|&n| n != 0 && n != self.iteration);
        match self.places.iter().find(|((of, _), place)| *of == buffer && others(place)) {
            Some(_) => Err(Trap::Ub("an iteration of a parallel loop frees memory that another one uses".into())),
            None => Ok(()),
        }
    }
}
