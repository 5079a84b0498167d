//! Threads that run a job together with the thread that gives it.
//!
//! Steps of a network take microseconds, so a thread that has finished waits for the next job actively, for a while,
//! before it sleeps. The caller waits for those threads only that have begun.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{Builder, JoinHandle, yield_now};
use std::time::{Duration, Instant};

/// How long a thread waits actively before it sleeps.
const ACTIVE_WAIT: Duration = Duration::from_micros(200);
/// Number of looks for a job before a thread lets others run.
const LOOKS: usize = 64;

/// The threads, which end when it is dropped.
pub(super) struct Team {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Held by the caller whose job runs.
    in_use: Mutex<()>,
}

/// A job of a caller.
#[derive(Clone, Copy)]
struct Job(*const (dyn Fn(usize) + Sync));

#[allow(unsafe_code, reason = "threads run jobs of another one")]
// SAFETY: the job can be called from any thread, because it is `Sync`.
unsafe impl Send for Job {}

/// The state that threads share.
#[derive(Default)]
struct Shared {
    slot: Mutex<Slot>,
    /// Wakes sleeping threads.
    wake: Condvar,
    /// The number of jobs so far, to be read without the lock.
    count: AtomicUsize,
    /// Number of threads that have begun the current job and not finished it. Only increased under the lock.
    running: AtomicUsize,
    /// Whether a thread's part of the current job panicked.
    panicked: AtomicBool,
}

#[derive(Default)]
struct Slot {
    /// The current job, while threads may begin it.
    job: Option<Job>,
    sleeping: usize,
    is_over: bool,
}

impl Team {
    /// Starts threads.
    pub(super) fn new(threads: usize) -> std::io::Result<Team> {
        let mut team = Team { shared: Arc::default(), threads: Vec::new(), in_use: Mutex::new(()) };
        for number in 1..=threads {
            let shared = Arc::clone(&team.shared);
            team.threads.push(Builder::new().name("gradus worker".into()).spawn(move || shared.work(number))?);
        }
        Ok(team)
    }

    /// Returns the number of threads besides the caller.
    pub(super) fn size(&self) -> usize {
        self.threads.len()
    }

    /// Runs a job, which gets the number of the thread, on the calling thread, number 0, and on those of the team that
    /// begin it before it is finished there. If another job is running, only on the calling thread.
    pub(super) fn run(&self, job: &(dyn Fn(usize) + Sync)) {
        let _in_use = match self.in_use.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => return job(0),
        };
        self.shared.open(job);
        let own = catch_unwind(AssertUnwindSafe(|| job(0)));
        self.shared.close();
        let others = self.shared.panicked.swap(false, Ordering::Relaxed);
        match own {
            Err(panic) => resume_unwind(panic),
            Ok(()) => assert!(!others, "a thread panicked"),
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.count.fetch_add(1, Ordering::Release);
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            // A thread catches the panics of jobs, so it has none to report.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets threads begin a job, until it is closed.
    fn open(&self, job: &(dyn Fn(usize) + Sync)) {
        #[allow(unsafe_code, reason = "threads run jobs of another one")]
        // SAFETY: only the lifetime changes. The job is called by threads that counted themselves as running while it was
        // open; `close`, which is called before the borrow ends, waits for them.
        let job = Job(unsafe {
            std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(job)
        });
        let mut slot = self.lock();
        slot.job = Some(job);
        self.count.fetch_add(1, Ordering::Release);
        if slot.sleeping > 0 {
            self.wake.notify_all();
        }
    }

    /// Ends a job: waits for the threads that have begun it.
    fn close(&self) {
        self.lock().job = None;
        let mut wait = ActiveWait::default();
        while self.running.load(Ordering::Acquire) > 0 {
            wait.look();
        }
    }

    /// Runs jobs on thread `number` until the team ends.
    fn work(&self, number: usize) {
        let mut seen = 0;
        while let Some(count) = self.next(seen) {
            seen = count;
            let Some(job) = self.begin() else { continue };
            #[allow(unsafe_code, reason = "threads run jobs of another one")]
            // SAFETY: the job was open when this thread began it, so the caller keeps it alive until the thread finishes.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*job.0)(number) }));
            if done.is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
            self.running.fetch_sub(1, Ordering::Release);
        }
    }

    /// Returns the open job, after counting this thread as running.
    fn begin(&self) -> Option<Job> {
        let slot = self.lock();
        let job = slot.job?;
        self.running.fetch_add(1, Ordering::Relaxed);
        Some(job)
    }

    /// Waits until there were more than `seen` jobs. `None` if the team ends.
    fn next(&self, seen: usize) -> Option<usize> {
        let mut wait = ActiveWait::default();
        while self.count.load(Ordering::Acquire) == seen && wait.elapsed() < ACTIVE_WAIT {
            wait.look();
        }
        let mut slot = self.lock();
        slot.sleeping += 1;
        while self.count.load(Ordering::Acquire) == seen && !slot.is_over {
            slot = self.wake.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
        slot.sleeping -= 1;
        (!slot.is_over).then(|| self.count.load(Ordering::Acquire))
    }
}

/// A spin wait that lets other threads run now and then.
#[derive(Default)]
struct ActiveWait {
    looks: usize,
    since: Option<Instant>,
    elapsed: Duration,
}

impl ActiveWait {
    /// Pauses before the next look; now and then lets other threads run.
    fn look(&mut self) {
        self.looks += 1;
        if self.looks.is_multiple_of(LOOKS) {
            self.elapsed = self.since.get_or_insert_with(Instant::now).elapsed();
            yield_now();
        } else {
            std::hint::spin_loop();
        }
    }

    /// Returns the time since the first looks.
    fn elapsed(&self) -> Duration {
        self.elapsed
    }
}
