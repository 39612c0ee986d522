//! Takes the time; cancels library calls that have taken too long, since a blocking call cannot check a
//! deadline.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_drivers::{Canceller, ErrorClass, SystemError};

use crate::drive::pace::schedule::Draining;
use crate::drive::plan::Plan;

/// The watchdog's view of one client's thread.
///
/// All accesses are relaxed: the fields are independent, and a lock guards the canceller.
pub struct CallTimeout {
    /// The deadline of the current call; `u64::MAX` if there is none.
    deadline_ns: AtomicU64,
    /// A [`Reason`], or 0.
    cancelled: AtomicU8,
    /// `None` before the client starts, after it has ended, and if the library cannot cancel.
    canceller: Mutex<Option<Canceller>>,
}

/// Why a call was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `statement_limit_s` or `statement_timeout_s`.
    Deadline = 1,
    /// The drain time is over, or the run was interrupted.
    Drained = 2,
}

impl Default for CallTimeout {
    fn default() -> Self {
        Self {
            deadline_ns: AtomicU64::new(u64::MAX),
            cancelled: AtomicU8::new(0),
            canceller: Mutex::new(None),
        }
    }
}

impl CallTimeout {
    pub fn begin(&self, canceller: Option<Canceller>) {
        *self.canceller.lock().unwrap_or_else(PoisonError::into_inner) = canceller;
    }

    pub fn end(&self) {
        self.begin(None);
    }

    pub fn expect_until(&self, deadline_ns: u64) {
        self.deadline_ns.store(deadline_ns, Ordering::Relaxed);
    }

    pub fn expect_nothing(&self) {
        self.deadline_ns.store(u64::MAX, Ordering::Relaxed);
    }

    /// Why the last call was cancelled, if it was.
    #[inline]
    pub fn take_cancelled(&self) -> Option<Reason> {
        // A plain load first, so that the cache line stays with this thread while nothing is cancelled.
        if self.cancelled.load(Ordering::Relaxed) == 0 {
            return None;
        }
        match self.cancelled.swap(0, Ordering::Relaxed) {
            1 => Some(Reason::Deadline),
            2 => Some(Reason::Drained),
            _ => None,
        }
    }

    /// Called several times a second by the supervisor.
    pub fn check(&self, now_ns: u64, draining: Draining) {
        let reason = if draining == Draining::TooLong {
            Reason::Drained
        } else if now_ns >= self.deadline_ns.load(Ordering::Relaxed) {
            Reason::Deadline
        } else {
            return;
        };
        let canceller = self.canceller.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cancel) = &*canceller {
            self.cancelled.store(reason as u8, Ordering::Relaxed);
            cancel();
        }
    }
}

/// The code of the error of a statement that took longer than `statement_limit_s`.
const OVER_LIMIT: &str = "statement_limit";

/// What stands in place of the system's error after its statement was cancelled because of `statement_limit_s`.
pub fn over_limit(plan: &Plan, said: &SystemError) -> SystemError {
    let limit = Duration::from_nanos(plan.statement_limit_ns.unwrap_or(0));
    let message = format!("not answered within the limit of {limit:?}, and cancelled");
    let error = SystemError::new(ErrorClass::Timeout, OVER_LIMIT, message);
    SystemError { certainty: said.certainty, ..error }
}

/// The error after `statement_timeout_s`.
pub fn timed_out(plan: &Plan) -> SystemError {
    let timeout = Duration::from_nanos(plan.longest_wait_ns().unwrap_or(0));
    let message = match plan.statement_limit_ns {
        Some(_) => format!("no answer within the limit of {timeout:?}, and not cancelled either"),
        None => format!("no answer within {timeout:?} (statement_timeout_s)"),
    };
    SystemError::new(ErrorClass::Timeout, "", message)
}
