//! Takes what the operating system says of a socket; gives the class and the words for it.

use std::io;
use std::time::Duration;

use assay_drivers::{ErrorClass, SystemError};

use super::WireSite;

/// A Unix socket whose queue of clients is full is tried again after this time.
pub const RETRY_AFTER: Duration = Duration::from_millis(5);

/// Nobody listens there, or this machine has no further socket to give.
pub fn unreachable(site: &WireSite, error: &io::Error) -> SystemError {
    if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
        return out_of_resources(error);
    }
    let code = error
        .raw_os_error()
        .map_or_else(String::new, |number| format!("errno {number}"));
    SystemError::new(
        ErrorClass::ConnectionRefused,
        code,
        format!("{}: {error}", site.address),
    )
}

/// Opening the session has taken too long.
pub fn too_late(site: &WireSite) -> SystemError {
    SystemError::new(
        ErrorClass::Timeout,
        "",
        format!(
            "{}: no session within {:?}",
            site.address, site.connect_timeout
        ),
    )
}

/// A session whose server does not answer is as good as lost.
pub fn no_answer(site: &WireSite, longest: Duration) -> SystemError {
    SystemError::new(
        ErrorClass::LostConnection,
        "",
        format!(
            "{} accepted the session but did not answer a query within {longest:?}",
            site.address
        ),
    )
}

/// The client's machine, not the server's, has run out of something.
pub fn out_of_resources(error: &io::Error) -> SystemError {
    SystemError::new(
        ErrorClass::Resources,
        "",
        format!("the machine of the clients: {error} (see `ulimit -n`)"),
    )
}

/// The machine has no room for one more thread.
pub fn no_thread(error: &io::Error) -> SystemError {
    SystemError::new(
        ErrorClass::Resources,
        "",
        format!("a thread cannot be started: {error} (see `ulimit -u` and `ulimit -v`)"),
    )
}

/// The socket of an open session has failed.
pub fn lost(error: &io::Error) -> SystemError {
    SystemError::new(ErrorClass::LostConnection, "", error.to_string())
}
