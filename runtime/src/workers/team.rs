//! Threads that run a job together with the thread that gives it.
//!
//! Steps of a network take microseconds, so a thread that has finished waits for the next job actively, for a while,
//! before it sleeps. The caller waits for those threads only that have begun.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError};
use std::thread::{Builder, JoinHandle, yield_now};
use std::time::{Duration, Instant};

/// How long a thread waits actively before it sleeps.
const ACTIVE_WAIT: Duration = Duration::from_micros(200);
/// Number of looks for a job before a thread lets others run.
const LOOKS: usize = 64;

/// The threads, which end when it is dropped.
pub(super) struct Team {
    shared: Arc<TeamState>,
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
struct TeamState {
    current: Current,
    /// Held by threads that go to sleep, and by a caller that wakes them.
    sleep: Mutex<()>,
    wake: Condvar,
    /// Number of threads that sleep or are about to.
    sleeping: AtomicUsize,
    /// Whether the threads end.
    is_over: AtomicBool,
    /// Whether a thread's part of the current job panicked.
    panicked: AtomicBool,
}

/// The current job, in cache lines of its own: threads that wait for it read nothing else.
#[derive(Default)]
#[repr(align(128))]
struct Current {
    /// The number of jobs so far, in units of [`JOB`]; whether threads may begin the current one; and the number of those that have begun it
    /// and not finished it.
    state: AtomicU64,
    /// Written while no thread may begin the job and none runs it, read by threads that run it.
    job: UnsafeCell<Option<Job>>,
}

/// The unit of the number of jobs in a state, and the bit that says whether threads may begin the current one. Less are the threads that run it.
const JOB: u64 = 1 << 32;
const OPEN: u64 = 1 << 31;

#[allow(unsafe_code, reason = "a job is written by one thread and read by others")]
// SAFETY: the caller that holds `in_use` writes the job, while the state is not open and no thread runs a job. Threads that run it read it.
unsafe impl Sync for Current {}

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
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.current.state.fetch_add(JOB, Ordering::SeqCst);
        self.shared.wake();
        for thread in self.threads.drain(..) {
            // A thread catches the panics of jobs, so it has none to report.
            let _ = thread.join();
        }
    }
}

impl TeamState {
    /// Lets threads begin a job, until it is closed.
    fn open(&self, job: &(dyn Fn(usize) + Sync)) {
        #[allow(unsafe_code, reason = "threads run jobs of another one")]
        // SAFETY: only the lifetime changes. The job is called by threads that counted themselves as running while it was
        // open; `close`, which is called before the borrow ends, waits for them. The state is not open and nobody runs a job, so no thread
        // reads the place.
        unsafe {
            let job = std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(job);
            *self.current.job.get() = Some(Job(job));
        }
        self.current.state.fetch_add(JOB | OPEN, Ordering::SeqCst);
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
    }

    /// Wakes all threads that sleep.
    fn wake(&self) {
        // A thread that has seen the state before this change is waiting when the lock is free.
        drop(self.sleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }

    /// Ends a job: waits for the threads that have begun it.
    fn close(&self) {
        let mut state = self.current.state.fetch_and(!OPEN, Ordering::AcqRel);
        let mut wait = ActiveWait::default();
        while !state.is_multiple_of(OPEN) {
            wait.look();
            state = self.current.state.load(Ordering::Acquire);
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
            self.current.state.fetch_sub(1, Ordering::Release);
        }
    }

    /// Returns the open job, after counting this thread as running.
    fn begin(&self) -> Option<Job> {
        let begun = |state: u64| (state & OPEN != 0).then_some(state + 1);
        self.current.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, begun).ok()?;
        #[allow(unsafe_code, reason = "a job is written by one thread and read by others")]
        // SAFETY: this thread runs the job, so the caller waits for it before it writes the place.
        unsafe {
            *self.current.job.get()
        }
    }

    /// Waits until there were more than `seen` jobs. `None` if the team ends.
    fn next(&self, seen: u64) -> Option<u64> {
        let count = || self.current.state.load(Ordering::SeqCst) / JOB;
        let mut wait = ActiveWait::default();
        while count() == seen && wait.elapsed() < ACTIVE_WAIT {
            wait.look();
        }
        if count() == seen {
            let mut lock = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.sleeping.fetch_add(1, Ordering::SeqCst);
            while count() == seen {
                lock = self.wake.wait(lock).unwrap_or_else(PoisonError::into_inner);
            }
            self.sleeping.fetch_sub(1, Ordering::SeqCst);
        }
        (!self.is_over.load(Ordering::SeqCst)).then(count)
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
