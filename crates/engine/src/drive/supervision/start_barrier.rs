//! The barrier between connecting and running: no client starts before all are connected.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::EngineError;
use crate::drive::pace::schedule::Schedule;

#[derive(Debug, Default)]
pub struct StartBarrier {
    state: Mutex<BarrierState>,
    changed: Condvar,
    /// A copy of the decision for threads that are still connecting and check it often.
    is_cancelled: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct BarrierState {
    arrived: usize,
    failure: Option<EngineError>,
    has_refusal: bool,
    start: Option<Start>,
}

/// What a thread reports on arrival.
#[derive(Debug, Default)]
pub enum Readiness {
    /// All its clients are ready.
    #[default]
    Ready,
    /// The system refused one of them. That is a result, and it is in the recorder.
    Refused,
    /// The run is impossible (a statement cannot be prepared).
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
            // The others continue, so that the number of refused clients is known.
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

    /// This many threads will never arrive, and the run is impossible without them.
    pub fn absent(&self, threads: usize, failure: EngineError) {
        self.cancel();
        let mut state = self.state();
        state.arrived += threads;
        state.failure.get_or_insert(failure);
        self.changed.notify_all();
    }

    /// Waits at most `timeout` for all `threads`; returns whether they have arrived.
    pub fn all_arrived(&self, threads: usize, timeout: std::time::Duration) -> bool {
        let state = self.state();
        let is_short = |state: &mut BarrierState| state.arrived < threads;
        let (state, _) = self
            .changed
            .wait_timeout_while(state, timeout, is_short)
            .unwrap_or_else(PoisonError::into_inner);
        state.arrived >= threads
    }

    /// Whether all clients are ready.
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

    /// The run is cancelled: no further client connects, but all threads must arrive.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether no further client needs to connect.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Set once no further client needs to connect: a library that waits for a lock looks at it.
    pub fn stop(&self) -> &Arc<AtomicBool> {
        &self.is_cancelled
    }

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

    /// Neither running threads nor the supervisor may wait for threads that cannot be started.
    #[test]
    fn no_thread_waits_for_threads_that_cannot_be_started() {
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
            let start = begun.join().expect("the thread does not panic");
            assert!(matches!(start, Start::Cancelled));
        });
        let failure = barrier.take_failure().expect("the failure is kept");
        assert_eq!(failure.to_string(), "no room for threads");
    }
}
