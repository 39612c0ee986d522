//! Where the sessions of one load wait for each other: none commits before all have brought their rows
//! in, and where one fails all give up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::failure::Failure;
use crate::EngineError;

/// How often all sessions have met at the barrier.
const MEETINGS: usize = 2;
/// All are connected; the time begins.
pub(super) const CONNECTED: usize = 0;
/// All rows are in; they may be kept.
pub(super) const ROWS_ARE_IN: usize = 1;

pub(super) struct LoadBarrier {
    sessions: usize,
    is_given_up: AtomicBool,
    is_interrupted: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    arrived: [usize; MEETINGS],
    /// The first failure that is one by itself, and not because another session has failed.
    error: Option<EngineError>,
}

impl LoadBarrier {
    pub fn new(sessions: usize) -> Self {
        Self {
            sessions,
            is_given_up: AtomicBool::new(false),
            is_interrupted: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Waits until all sessions have come this far.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] where the load is given up meanwhile.
    pub fn meet(&self, meeting: usize) -> Result<(), Failure> {
        let mut state = self.state();
        state.arrived[meeting] += 1;
        self.changed.notify_all();
        while state.arrived[meeting] < self.sessions && !self.is_given_up() {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.arrived[meeting] < self.sessions {
            return Err(Failure::Interrupted);
        }
        Ok(())
    }

    /// Ends the load for all sessions, each at its next look.
    pub fn give_up(&self) {
        let _state = self.state();
        self.is_given_up.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// The same, because the caller wants to stop.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Relaxed);
        self.give_up();
    }

    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    pub fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    /// Keeps the error that is told in the end.
    pub fn blame(&self, error: EngineError) {
        let mut state = self.state();
        match &state.error {
            None | Some(EngineError::Interrupted) => state.error = Some(error),
            Some(_) => {}
        }
    }

    pub fn into_error(self) -> Option<EngineError> {
        let state = self.state.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).error
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
