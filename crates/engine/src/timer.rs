//! Takes an instant; wakes a poll at that instant, with an error of about 30 µs.
//!
//! A poll's own timeout counts in milliseconds, and the kernel may delay it by 50 µs (the timer slack). A
//! kernel timer registered with the poll has neither problem (measured: 33 µs late in the median against 82
//! µs with `epoll_pwait2`, at the same cost), and is armed only when the next instant has changed.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::clock::Clock;

/// A timer whose expiry is an event of one poll.
pub struct Timer {
    timer: OwnedFd,
    clock: Clock,
    /// When it will expire; `u64::MAX` if it is not armed.
    armed_ns: u64,
}

impl Timer {
    /// Registers it with the poll of `registry` as `token`.
    ///
    /// # Errors
    /// If the machine has no more timers.
    pub fn new(registry: &Registry, token: Token, clock: Clock) -> io::Result<Self> {
        // SAFETY: the call takes no pointers.
        let number = unsafe {
            libc::timerfd_create(
                libc::CLOCK_MONOTONIC,
                libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
            )
        };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened and has no other owner.
        let timer = unsafe { OwnedFd::from_raw_fd(number) };
        registry.register(&mut SourceFd(&number), token, Interest::READABLE)?;
        Ok(Self {
            timer,
            clock,
            armed_ns: u64::MAX,
        })
    }

    /// Arms the timer to expire at `at_ns` on the run's clock, at once if that has passed. It replaces the
    /// earlier instant. The timer need not be read: setting it again clears the last expiry.
    pub fn set(&mut self, at_ns: u64) {
        if at_ns == self.armed_ns {
            return;
        }
        self.armed_ns = at_ns;
        // Zero would disarm it.
        let left_ns = at_ns.saturating_sub(self.clock.now_ns()).max(1);
        let seconds = left_ns / 1_000_000_000;
        let when = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: libc::time_t::try_from(seconds).unwrap_or(libc::time_t::MAX),
                tv_nsec: libc::c_long::try_from(left_ns % 1_000_000_000)
                    .expect("it is below a second"),
            },
        };
        // SAFETY: `when` is a valid `itimerspec`, which the call only reads; the old value is not requested.
        let set = unsafe {
            libc::timerfd_settime(
                self.timer.as_raw_fd(),
                0,
                &raw const when,
                std::ptr::null_mut(),
            )
        };
        debug_assert_eq!(set, 0, "the timer is open and the time is valid");
    }

    /// The timer has expired, or may have: the same instant can be set again.
    pub fn expired(&mut self) {
        self.armed_ns = u64::MAX;
    }
}
