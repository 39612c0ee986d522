//! The barrier between connecting and working: no client begins before all are let in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::schedule::Schedule;
use crate::EngineError;

#[derive(Debug, Default)]
pub struct StartBarrier {
    state: Mutex<BarrierState>,
    changed: Condvar,
    /// A copy of the decision for threads that are still connecting, and look often.
    is_cancelled: AtomicBool,
}

#[derive(Debug, Default)]
struct BarrierState {
    arrived: usize,
    failure: Option<EngineError>,
    has_refusal: bool,
    start: Option<Start>,
}

/// What a thread comes with.
#[derive(Debug, Default)]
pub enum Readiness {
    /// All its clients are ready.
    #[default]
    Ready,
    /// The system did not let one of them in. That is a finding, and the recorder has it.
    Refused,
    /// Nothing can be driven at all (a statement cannot be prepared).
    Failed(EngineError),
}

/// What all threads do.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    Go(Schedule),
    Cancelled,
}

impl StartBarrier {
    /// Waits until all have arrived and the supervisor has decided.
    pub fn arrive(&self, readiness: Readiness) -> Start {
        let mut state = self.state();
        match readiness {
            Readiness::Ready => {}
            // The others go on: how many the system does not let in is worth knowing.
            Readiness::Refused => state.has_refusal = true,
            Readiness::Failed(failure) => {
                state.failure.get_or_insert(failure);
                self.cancel();
            }
        }
        state.arrived += 1;
        self.changed.notify_all();
        loop {
            if let Some(start) = state.start {
                return start;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// So many threads will never come, and nothing can be driven without them.
    pub fn absent(&self, threads: usize, failure: EngineError) {
        self.cancel();
        let mut state = self.state();
        state.arrived += threads;
        state.failure.get_or_insert(failure);
        self.changed.notify_all();
    }

    /// Waits at most `patience` for all `threads`; says whether they have come.
    pub fn all_arrived(&self, threads: usize, patience: std::time::Duration) -> bool {
        let state = self.state();
        let is_short = |state: &mut BarrierState| state.arrived < threads;
        let (state, _) = self
            .changed
            .wait_timeout_while(state, patience, is_short)
            .unwrap_or_else(PoisonError::into_inner);
        state.arrived >= threads
    }

    /// Whether everybody is ready.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        let state = self.state();
        !state.has_refusal && state.failure.is_none()
    }

    pub fn decide(&self, start: Start) {
        if matches!(start, Start::Cancelled) {
            self.cancel();
        }
        self.state().start = Some(start);
        self.changed.notify_all();
    }

    /// The caller wants to stop: no further client connects, but all must arrive.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether connecting any further client is in vain.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn take_failure(&self) -> Option<EngineError> {
        self.state().failure.take()
    }

    fn state(&self) -> MutexGuard<'_, BarrierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Those that have begun must not wait for those that cannot be started, nor must the supervisor.
    #[test]
    fn threads_that_cannot_be_started_keep_nobody_waiting() {
        let barrier = StartBarrier::default();
        let limit = || EngineError::Machine {
            message: "no room for threads".to_owned(),
            hint: None,
        };
        std::thread::scope(|scope| {
            let begun = scope.spawn(|| barrier.arrive(Readiness::Ready));
            barrier.absent(7, limit());
            assert!(barrier.is_cancelled(), "no further client connects");
            while !barrier.all_arrived(8, Duration::from_millis(1)) {}
            assert!(!barrier.is_clear());
            barrier.decide(Start::Cancelled);
            let start = begun.join().expect("it does not panic");
            assert!(matches!(start, Start::Cancelled));
        });
        let failure = barrier.take_failure().expect("the failure is kept");
        assert_eq!(failure.to_string(), "no room for threads");
    }
}
