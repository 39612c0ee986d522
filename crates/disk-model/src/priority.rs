//! Takes work that starts threads; gives those threads real-time priority.
//!
//! A disk works beside the processors; the modelled one works on them. Without priority its answers would be
//! late whenever the database under test keeps the processors busy: by 0.3 ms and more, as measured with seven
//! runnable threads for each processor.

use std::io;

/// The lowest real-time priority: above all ordinary threads, below whatever else is real-time.
const PRIORITY: libc::c_int = 1;

fn set(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: 0 is the calling thread, and the structure lives through the call.
    let status = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Threads that `work` starts inherit the priority; the calling thread has it no longer afterwards. Where it is
/// not allowed, a warning says so, and the threads are ordinary ones.
pub fn raised<T>(work: impl FnOnce() -> T) -> T {
    let raised = set(libc::SCHED_RR, PRIORITY);
    if let Err(error) = &raised {
        eprintln!(
            "warning: the modelled disk has no real-time priority ({error}): its answers may be late while the \
             processors are busy"
        );
    }
    let done = work();
    if raised.is_ok() {
        // Lowering one's own priority is always allowed.
        let _ = set(libc::SCHED_OTHER, 0);
    }
    done
}
