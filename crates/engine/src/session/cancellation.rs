//! Takes a callback that may cancel; calls it ten times a second during a wait.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_drivers::SystemError;

/// How often a waiting thread checks for cancellation.
pub const CHECK_EVERY: Duration = Duration::from_millis(100);

/// Why a wait ended without its result.
#[derive(Debug)]
pub enum Halt {
    System(SystemError),
    Interrupted,
}

impl From<SystemError> for Halt {
    fn from(error: SystemError) -> Self {
        Self::System(error)
    }
}

/// The caller's callback, called at most ten times a second; a break cancels.
pub struct Cancellation<'a> {
    go_on: &'a mut dyn FnMut() -> ControlFlow<()>,
    next: Instant,
}

impl<'a> Cancellation<'a> {
    pub fn new(go_on: &'a mut dyn FnMut() -> ControlFlow<()>) -> Self {
        Self {
            go_on,
            next: Instant::now() + CHECK_EVERY,
        }
    }

    /// Calls the callback if it is time to.
    ///
    /// # Errors
    /// If the caller cancels.
    pub fn check(&mut self) -> Result<(), Halt> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + CHECK_EVERY;
        match (self.go_on)() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Interrupted),
        }
    }
}
