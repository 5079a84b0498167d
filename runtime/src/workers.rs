//! The thread pool of kernels.

use std::sync::{Mutex, PoisonError};

/// A pool of threads that share the work of a kernel.
#[derive(Default)]
pub struct Workers {
    /// The pool, if there are several threads.
    all: Option<rayon_core::ThreadPool>,
}

/// Number of vector additions or multiplications below which work is finished before another thread wakes up.
const FEW_STEPS: usize = 10_000;

impl Workers {
    /// Creates a pool.
    ///
    /// # Errors
    /// The system cannot create the threads.
    pub fn new(threads: usize) -> Result<Workers, String> {
        if threads < 2 {
            return Ok(Workers::default());
        }
        let all = rayon_core::ThreadPoolBuilder::new().num_threads(threads).build();
        Ok(Workers { all: Some(all.map_err(|e| format!("there are no {threads} threads: {e}"))?) })
    }

    /// Runs `work` on a thread of the pool, so that it need not wait for threads that have not started on a
    /// [shared](Workers::share) item.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.all {
            Some(all) => all.install(work),
            None => work(),
        }
    }

    /// Number of threads for work of `steps` vector operations.
    pub fn for_steps(&self, steps: usize) -> usize {
        match &self.all {
            Some(all) if steps >= FEW_STEPS => all.current_num_threads(),
            _ => 1,
        }
    }

    /// Processes each item once, on at most `threads` threads.
    pub fn share<T>(&self, threads: usize, items: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
        let Some(all) = self.all.as_ref().filter(|_| threads > 1) else { return items.for_each(work) };
        let items = Mutex::new(items);
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(item) = next() {
                work(item);
            }
        };
        all.in_place_scope(|scope| {
            (1..threads).for_each(|_| scope.spawn(|_| work()));
            work();
        });
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

    /// Pointer to an element.
    pub(crate) fn at(self, i: usize) -> *mut T {
        self.0.wrapping_add(i)
    }
}

#[cfg(test)]
mod tests {
    use super::Workers;
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
}
