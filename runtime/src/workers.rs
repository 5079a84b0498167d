//! The threads of kernels.

mod team;

use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use team::Team;

/// Threads that share the work of a kernel: the caller's, and those of a team.
#[derive(Default)]
pub struct Workers {
    /// The other threads, if there are any.
    team: Option<Team>,
    /// Least number of vector additions or multiplications that are shared.
    min_steps: usize,
}

/// The time that a thread waits for the others before it takes items from them: the cache lines of such an item move to its cache, and back
/// in the next step, and these moves take longer than most items.
const BEFORE_OTHERS: Duration = Duration::from_micros(5);
/// Number of pauses between two looks at the items of others.
const LOOKS_APART: usize = 16;

/// Number of parts of divided work per thread.
const PARTS_PER_THREAD: usize = 4;

impl Workers {
    /// Creates the threads.
    ///
    /// # Errors
    /// The system cannot create them.
    pub fn new(threads: usize) -> Result<Workers, String> {
        if threads < 2 {
            return Ok(Workers::default());
        }
        let team = Team::new(threads - 1).map_err(|e| format!("cannot create {threads} threads: {e}"))?;
        Ok(Workers { team: Some(team), min_steps: 0 })
    }

    /// Sets the least work that is shared, in vector additions or multiplications: less is finished before another thread
    /// begins.
    pub fn sharing_from(self, min_steps: usize) -> Workers {
        Workers { min_steps, ..self }
    }

    /// Returns the number of threads for work of `steps` vector operations.
    pub fn for_steps(&self, steps: usize) -> usize {
        match &self.team {
            Some(team) if steps >= self.min_steps => 1 + team.size(),
            _ => 1,
        }
    }

    /// Returns the number of parts of work on `threads` threads: several per thread, so that threads which start late have
    /// less to do.
    pub fn parts(threads: usize) -> usize {
        if threads > 1 { PARTS_PER_THREAD * threads } else { 1 }
    }

    /// Processes each item once, on all threads if `threads` is more than 1. Each thread begins with its own share of
    /// neighbouring items, the same one each time, so that it finds in its cache what it wrote before; then it waits a while for the
    /// others, and takes what is left of their shares.
    pub fn share<T: Send>(&self, threads: usize, items: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
        // Called by a pointer in both places, so that kernels are compiled once.
        let work: &(dyn Fn(T) + Sync) = &work;
        let Some(team) = self.team.as_ref().filter(|_| threads > 1) else { return items.for_each(work) };
        let items: Vec<Mutex<Option<T>>> = items.map(|item| Mutex::new(Some(item))).collect();
        let process = |index: usize| {
            let item = items[index].lock().unwrap_or_else(PoisonError::into_inner).take();
            item.into_iter().for_each(work);
        };
        share_indices(team, items.len(), &process);
    }

    /// Does the same as [`share`](Workers::share), for work that may fail.
    ///
    /// # Errors
    /// One of the errors of `work`. All items are processed in any case.
    pub fn try_share<T: Send, E: Send>(
        &self,
        threads: usize,
        items: impl Iterator<Item = T>,
        work: impl Fn(T) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let failure = Mutex::new(Ok(()));
        self.share(threads, items, |item| {
            if let Err(error) = work(item) {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Processes the indices below `count`, a share of neighbours per thread.
fn share_indices(team: &Team, count: usize, process: &(dyn Fn(usize) + Sync)) {
    let shares = Shares::new(count, 1 + team.size());
    team.run(&|thread| {
        while let Some(index) = shares.own(thread) {
            process(index);
        }
        shares.wait(thread);
        while let Some(index) = shares.other(thread) {
            process(index);
        }
    });
}

/// Indices, a share of them per thread: the range of each that is left.
struct Shares(SmallVec<[Left; 2]>);

/// A range of indices, its start in the lower half, in a cache line of its own.
#[repr(align(128))]
struct Left(AtomicU64);

impl Left {
    fn of(range: Range<usize>) -> Left {
        Left(AtomicU64::new((range.end as u64) << 32 | range.start as u64))
    }

    fn is_empty(&self) -> bool {
        let packed = self.0.load(Ordering::Relaxed);
        packed as u32 as u64 >= packed >> 32
    }

    /// Takes the first index, or the last.
    fn take(&self, is_first: bool) -> Option<usize> {
        let step = if is_first { 1 } else { (1_u64 << 32).wrapping_neg() };
        let less = |packed: u64| ((packed as u32) < (packed >> 32) as u32).then(|| packed.wrapping_add(step));
        let packed = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok()?;
        Some(if is_first { packed as u32 as usize } else { (packed >> 32) as usize - 1 })
    }
}

impl Shares {
    fn new(count: usize, threads: usize) -> Shares {
        let first = |thread: usize| thread * count / threads;
        Shares((0..threads).map(|thread| Left::of(first(thread)..first(thread + 1))).collect())
    }

    /// Returns the ranges of the other threads.
    fn others(&self, thread: usize) -> impl Iterator<Item = &Left> {
        let (before, after) = self.0.split_at(thread.min(self.0.len()));
        after.iter().skip(1).chain(before)
    }

    /// Takes the thread's next index.
    fn own(&self, thread: usize) -> Option<usize> {
        self.0.get(thread)?.take(true)
    }

    /// Takes the last index of another thread.
    fn other(&self, thread: usize) -> Option<usize> {
        self.others(thread).find_map(|left| left.take(false))
    }

    /// Waits until the other threads have begun their last items, for a while.
    fn wait(&self, thread: usize) {
        let since = Instant::now();
        while self.others(thread).any(|left| !left.is_empty()) && since.elapsed() < BEFORE_OTHERS {
            (0..LOOKS_APART).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// A pointer through which several threads write disjoint elements.
#[derive(Clone, Copy)]
pub(crate) struct DisjointWriter<T>(*mut T);

#[allow(unsafe_code, reason = "threads write by it")]
// SAFETY: writes need `unsafe` code, which guarantees that threads write disjoint elements.
unsafe impl<T: Send> Sync for DisjointWriter<T> {}

impl<T: Copy> DisjointWriter<T> {
    /// Wraps the elements.
    pub(crate) fn new(c: &mut [T]) -> Self {
        DisjointWriter(c.as_mut_ptr())
    }

    /// Returns the pointer to an element.
    pub(crate) fn at(self, i: usize) -> *mut T {
        self.0.wrapping_add(i)
    }
}

#[cfg(test)]
mod tests {
    use super::Workers;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn each_part_is_done_once() {
        for threads in 1..5 {
            let workers = Workers::new(threads).expect("there are threads");
            for parts in [0, 1, 2, 7, 1000] {
                let done: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
                workers.share(workers.for_steps(usize::MAX), 0..parts, |i: usize| {
                    done[i].fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.iter().all(|n| n.load(Ordering::Relaxed) == 1), "{threads} {parts}");
            }
        }
    }

    #[test]
    fn work_within_work_and_from_several_threads() {
        let workers = Workers::new(3).expect("there are threads");
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        workers.share(3, 0..5, |_| {
                            workers.share(3, 0..3, |_| {
                                done.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 4 * 200 * 5 * 3);
    }

    #[test]
    fn an_error_and_a_panic_reach_the_caller() {
        let workers = Workers::new(4).expect("there are threads");
        assert_eq!(workers.try_share(4, 0..100, |i| if i == 57 { Err(i) } else { Ok(()) }), Err(57));
        let fails = |at: usize| {
            let share = || workers.share(4, 0..100, |i| assert!(i != at, "{i}"));
            catch_unwind(AssertUnwindSafe(share)).is_err()
        };
        assert!((0..100).all(fails) && !fails(100));
    }
}
