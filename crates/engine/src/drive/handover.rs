//! Takes clients from a thread that is busy; gives them to one that has none. So a run that one thread can
//! drive is driven by one: each further thread competes with a server on the same machine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::client_connection::ClientConnection;

/// A thread that is busy for more than this share of its time hands half of its clients over.
const BUSY_SHARE: f64 = 0.7;

/// How long a share is measured at least.
const MEASURED_NS: u64 = 100_000_000;

/// How often a thread without clients looks whether the run was interrupted.
const LOOK_UP_EVERY: Duration = Duration::from_millis(50);

/// A client on its way, with the instant by which its answer must have come.
pub struct Moving<'a> {
    pub client: ClientConnection<'a>,
    pub deadline_ns: u64,
}

/// What the event loops of one run share for it.
pub struct Handover<'a> {
    state: Mutex<HandoverState<'a>>,
    changed: Condvar,
    /// There are threads that had no clients at the beginning.
    is_used: bool,
    /// That have or had clients.
    threads_used: AtomicUsize,
}

#[derive(Default)]
struct HandoverState<'a> {
    /// Threads without clients that wait for some.
    waiting: usize,
    /// Each for one of them.
    handed_over: Vec<Vec<Moving<'a>>>,
    is_over: bool,
}

impl<'a> Handover<'a> {
    /// Of `threads` only the `first` have clients at the beginning. Where all have, clients stay where they are.
    #[must_use]
    pub fn new(first: usize, threads: usize) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            is_used: first < threads,
            threads_used: AtomicUsize::new(first),
        }
    }

    /// How many threads have or had clients.
    #[must_use]
    pub fn threads_used(&self) -> usize {
        self.threads_used.load(Ordering::Relaxed)
    }

    /// Waits for clients; none where all clients of the run have ended, or `is_interrupted` says so.
    pub fn wait(&self, is_interrupted: impl Fn() -> bool) -> Option<Vec<Moving<'a>>> {
        if !self.is_used {
            return None;
        }
        let mut state = self.state();
        state.waiting += 1;
        loop {
            if let Some(clients) = state.handed_over.pop() {
                return Some(clients);
            }
            if state.is_over || is_interrupted() {
                state.waiting -= 1;
                return None;
            }
            (state, _) = self
                .changed
                .wait_timeout(state, LOOK_UP_EVERY)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Hands over what `clients` gives, where a thread waits for some; it is called only then.
    pub fn hand_over(&self, clients: impl FnOnce() -> Vec<Moving<'a>>) {
        let mut state = self.state();
        if state.waiting == 0 {
            return;
        }
        let clients = clients();
        if clients.is_empty() {
            return;
        }
        // From now on it is promised to them.
        state.waiting -= 1;
        state.handed_over.push(clients);
        self.threads_used.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// All clients of the run have ended.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, HandoverState<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Measures how busy a thread is.
#[derive(Debug, Default)]
pub struct BusyMeter {
    since_ns: Option<u64>,
    busy_ns: u64,
}

impl BusyMeter {
    /// Whether the thread was busy for more than the share, since it was last asked and measured;
    /// `busy_ns` gives the thread's CPU time so far.
    pub fn is_busy(&mut self, now_ns: u64, busy_ns: impl FnOnce() -> u64) -> bool {
        let Some(since_ns) = self.since_ns else {
            (self.since_ns, self.busy_ns) = (Some(now_ns), busy_ns());
            return false;
        };
        let length_ns = now_ns - since_ns;
        if length_ns < MEASURED_NS {
            return false;
        }
        let busy_ns = busy_ns();
        let share = (busy_ns - self.busy_ns) as f64 / length_ns as f64;
        (self.since_ns, self.busy_ns) = (Some(now_ns), busy_ns);
        share > BUSY_SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_more_than_the_share_of_a_whole_measurement() {
        let mut meter = BusyMeter::default();
        assert!(!meter.is_busy(1_000, || 5_000), "nothing is measured yet");
        assert!(!meter.is_busy(50_001_000, || 50_005_000), "too short");
        assert!(meter.is_busy(100_001_000, || 70_015_000));
        assert!(!meter.is_busy(200_001_000, || 140_005_000), "69 %");
    }

    #[test]
    fn a_thread_that_has_left_is_promised_nothing() {
        let handover = Handover::new(1, 2);
        assert!(handover.wait(|| true).is_none(), "interrupted");
        handover.hand_over(|| unreachable!("no thread waits"));
        handover.end();
        assert!(handover.wait(|| false).is_none(), "all have ended");
        assert_eq!(handover.threads_used(), 1);
    }
}
