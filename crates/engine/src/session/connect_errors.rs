//! Takes a socket error of the operating system; returns its class and message.

use std::io;
use std::time::Duration;

use assay_drivers::{ErrorClass, SystemError};

use crate::session::WireDeployment;

/// When to retry a Unix socket whose listen queue is full.
pub const RETRY_AFTER: Duration = Duration::from_millis(5);

/// Nothing listens at the address, or this machine has no more sockets.
pub fn unreachable(deployment: &WireDeployment, error: &io::Error) -> SystemError {
    if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
        return out_of_resources(error);
    }
    let code = error
        .raw_os_error()
        .map_or_else(String::new, |number| format!("errno {number}"));
    SystemError::new(
        ErrorClass::ConnectionRefused,
        code,
        format!("{}: {error}", deployment.address),
    )
}

/// The connection was not accepted in time.
pub fn connect_timed_out(deployment: &WireDeployment) -> SystemError {
    SystemError::new(
        ErrorClass::Timeout,
        "no connection",
        format!(
            "{}: no connection within {:?}",
            deployment.address, deployment.connect_timeout
        ),
    )
}

/// The server has not answered the session's first statements in time.
pub fn preparing_timed_out(deployment: &WireDeployment) -> SystemError {
    SystemError::new(
        ErrorClass::Timeout,
        "",
        format!(
            "{}: a session was opened, but its first statement was not answered within {:?}: a \
             pooler that keeps a session of the server for each client may have none left: give it \
             one for each client, or use fewer clients",
            deployment.address, deployment.connect_timeout
        ),
    )
}

/// A session whose server does not answer is treated as lost.
pub fn no_answer(deployment: &WireDeployment, longest: Duration) -> SystemError {
    SystemError::new(
        ErrorClass::LostConnection,
        "",
        format!(
            "{} accepted the session but did not answer a query within {longest:?}",
            deployment.address
        ),
    )
}

/// The client's machine, not the server's, is out of a resource.
pub fn out_of_resources(error: &io::Error) -> SystemError {
    SystemError::new(
        ErrorClass::Resources,
        "",
        format!("this machine: {error} (see `ulimit -n`)"),
    )
}

/// This machine cannot start another thread.
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
