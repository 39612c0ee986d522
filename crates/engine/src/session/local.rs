//! Takes a library that answers before it returns; makes its calls cancellable.

use std::sync::mpsc::{self, RecvTimeoutError};

use assay_drivers::registry::AnyBlocking;
use assay_drivers::{Answer, Blocking as _, Request};

use crate::limits;
use crate::session::{CHECK_EVERY, Cancellation, Halt, no_thread};

/// Executes one request while checking `cancellation`; an error of the statement is in `answer`.
///
/// The call runs on a thread of its own, since it blocks. That costs too much for a measured statement, but
/// not for a schema change or an index.
///
/// # Errors
/// If the connection was closed or the caller cancels.
pub fn request(
    library: &mut AnyBlocking,
    request: &Request<'_>,
    answer: &mut Answer,
    cancellation: &mut Cancellation<'_>,
) -> Result<(), Halt> {
    let Some(cancel) = library.canceller() else {
        library.request(request, answer)?;
        return cancellation.check();
    };
    let (ended, end) = mpsc::channel();
    std::thread::scope(|scope| {
        limits::start(scope, "statement", move || {
            ended.send(library.request(request, answer))
        })
        .map_err(|error| no_thread(&error))?;
        let mut go_on = Ok(());
        loop {
            match end.recv_timeout(CHECK_EVERY) {
                Ok(result) => {
                    go_on?;
                    return Ok(result?);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if go_on.is_ok() {
                        go_on = cancellation.check();
                    }
                    // Repeatedly: the first call may fall between two steps of the library.
                    if go_on.is_err() {
                        cancel();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the library's thread ended without a result: it panicked")
                }
            }
        }
    })
}
