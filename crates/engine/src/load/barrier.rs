//! The barrier of one load's sessions: none commits before all have loaded their rows, and if one fails all
//! abort.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use assay_drivers::{ErrorClass, SystemError};
use assay_values::SourceError;

use crate::EngineError;
use crate::session::Halt;

/// How many times all sessions wait for each other.
const POINTS: usize = 2;
/// All are connected; the time starts.
pub(super) const CONNECTED: usize = 0;
/// All rows are loaded; they may be committed.
pub(super) const ROWS_ARE_IN: usize = 1;

pub(super) struct LoadBarrier {
    sessions: usize,
    is_aborted: AtomicBool,
    is_interrupted: AtomicBool,
    state: Mutex<LoadState>,
    changed: Condvar,
}

/// Aborts the load when a session's thread panics: it would never arrive, and the others would wait for it.
pub(super) struct PanicGuard<'a>(&'a LoadBarrier);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abort();
        }
    }
}

#[derive(Default)]
struct LoadState {
    arrived: [usize; POINTS],
    /// The first failure that is not a consequence of another session's.
    error: Option<EngineError>,
}

impl LoadBarrier {
    pub fn new(sessions: usize) -> Self {
        Self {
            sessions,
            is_aborted: AtomicBool::new(false),
            is_interrupted: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Waits until all sessions have reached this point.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] if the load is aborted meanwhile.
    pub fn wait(&self, point: usize) -> Result<(), Failure> {
        let mut state = self.state();
        state.arrived[point] += 1;
        self.changed.notify_all();
        while state.arrived[point] < self.sessions && !self.is_aborted() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.arrived[point] < self.sessions {
            return Err(Failure::Interrupted);
        }
        Ok(())
    }

    /// Aborts the load for all sessions, each at its next check.
    pub fn abort(&self) {
        let _state = self.state();
        self.is_aborted.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// The same, because the caller cancels.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Relaxed);
        self.abort();
    }

    /// Ends the load for the other sessions if this one's thread panics while the guard lives.
    pub fn guard(&self) -> PanicGuard<'_> {
        PanicGuard(self)
    }

    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    pub fn is_aborted(&self) -> bool {
        self.is_aborted.load(Ordering::Relaxed)
    }

    /// Keeps the error to report at the end.
    pub fn set_error(&self, error: EngineError) {
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

    fn state(&self) -> MutexGuard<'_, LoadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// The reason why a load ended early, without its context.

pub(super) enum Failure {
    Source(SourceError),
    /// With the statement, if it is one of the document's.
    System(SystemError, Option<String>),
    Document(String),
    Interrupted,
}

impl Failure {
    pub(super) fn in_statement(self, statement: &str) -> Self {
        match self {
            Self::System(error, _) => Self::System(error, Some(statement.to_owned())),
            other => other,
        }
    }

    /// The engine's error; `during` describes the current action.
    pub(super) fn during(self, during: &str) -> EngineError {
        match self {
            Self::Source(error) => EngineError::Source(error),
            Self::System(error, None) => EngineError::System(error, during.to_owned()),
            Self::System(error, Some(statement)) => {
                EngineError::System(error, format!("{during}, executing `{statement}`"))
            }
            Self::Document(message) => EngineError::Document(message),
            Self::Interrupted => EngineError::Interrupted,
        }
    }
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::System(error) => Self::System(error, None),
            Halt::Interrupted => Self::Interrupted,
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

pub(super) fn not_aborted() -> SystemError {
    SystemError::new(ErrorClass::Timeout, "", "the server did not abort the bulk load in time")
}
