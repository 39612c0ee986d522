//! Takes a library that answers before it returns; gives calls that the caller can break off.

use std::sync::mpsc::{self, RecvTimeoutError};

use assay_drivers::registry::AnyBlocking;
use assay_drivers::{Answer, Blocking as _, Request};

use super::{Cancellation, Halt, LOOK_UP_EVERY, no_thread};
use crate::limits;

/// Runs one request to its end while `cancellation` is asked; an error of the statement is in `answer`.
///
/// The call has a thread of its own, since the library does not come back to ask. That is too much
/// for a measured statement, and nothing for a schema or an index.
///
/// # Errors
/// Where the connection is over or the caller wants to stop.
pub fn request(
    library: &mut AnyBlocking,
    request: &Request<'_>,
    answer: &mut Answer,
    cancellation: &mut Cancellation<'_>,
) -> Result<(), Halt> {
    let Some(cancel) = library.canceller() else {
        library.request(request, answer)?;
        return cancellation.look_up();
    };
    let (ended, end) = mpsc::channel();
    std::thread::scope(|scope| {
        limits::start(scope, "statement", move || {
            ended.send(library.request(request, answer))
        })
        .map_err(|error| no_thread(&error))?;
        let mut wish = Ok(());
        loop {
            match end.recv_timeout(LOOK_UP_EVERY) {
                Ok(result) => {
                    wish?;
                    return Ok(result?);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if wish.is_ok() {
                        wish = cancellation.look_up();
                    }
                    // Again and again: it may have come between two steps of the library.
                    if wish.is_err() {
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
