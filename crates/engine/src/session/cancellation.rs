//! Takes a caller who may cancel; asks it ten times a second while something is waited for.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_drivers::SystemError;

/// How often a waiting thread looks up.
pub const LOOK_UP_EVERY: Duration = Duration::from_millis(100);

/// Why waiting ended without what was waited for.
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

/// The caller's wish to go on, asked at most ten times a second.
pub struct Cancellation<'a> {
    ask: &'a mut dyn FnMut() -> ControlFlow<()>,
    next: Instant,
}

impl<'a> Cancellation<'a> {
    pub fn new(ask: &'a mut dyn FnMut() -> ControlFlow<()>) -> Self {
        Self {
            ask,
            next: Instant::now() + LOOK_UP_EVERY,
        }
    }

    /// Asks, where it is time to.
    ///
    /// # Errors
    /// Where the caller wants to stop.
    pub fn look_up(&mut self) -> Result<(), Halt> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + LOOK_UP_EVERY;
        match (self.ask)() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Interrupted),
        }
    }
}
