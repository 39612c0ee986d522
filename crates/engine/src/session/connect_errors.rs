//! Takes a socket error of the operating system; returns its class and message.

use std::io;
use std::time::Duration;

use assay_drivers::first_bytes::{FirstBytes, sender_of, shown};
use assay_drivers::{ErrorClass, Sender, SystemError};

use crate::session::WireDeployment;
use crate::transport::Address;

/// When to retry a Unix socket whose listen queue is full.
pub const RETRY_AFTER: Duration = Duration::from_millis(5);

/// Nothing listens at the address, or this machine has no more sockets.
pub fn unreachable(deployment: &WireDeployment, error: &io::Error) -> SystemError {
    if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
        return out_of_resources(error);
    }
    let code = error.raw_os_error().map_or_else(String::new, |number| format!("errno {number}"));
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
        format!("{}: no connection within {:?}", deployment.address, deployment.connect_timeout),
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
    SystemError::new(ErrorClass::Resources, "", format!("this machine: {error} (see `ulimit -n`)"))
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

// Takes the bytes that arrive while a session opens; returns the error that says who answers there, where the
// driver could not read them.

/// No server has to say more before a session is open: greetings, proofs of a password, answers to the
/// session's own statements.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Enough for the header of any message and a version.
const KEPT_BYTES: usize = 256;

/// What has arrived on a session that is not open yet.
#[derive(Debug, Default)]
pub struct HandshakeBytes {
    count: usize,
    first: Vec<u8>,
    /// The driver has read a message.
    is_read: bool,
}

impl HandshakeBytes {
    /// # Errors
    /// If the server sends without an end.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), SystemError> {
        self.count += bytes.len();
        let missing = KEPT_BYTES - self.first.len();
        self.first.extend(bytes.iter().take(missing));
        if self.count > MOST_BYTES {
            let found = format!("{} bytes without it", self.count);
            return Err(SystemError::protocol("a session that opens", found));
        }
        Ok(())
    }

    pub fn driver_has_read(&mut self) {
        self.is_read = true;
    }

    /// The error of `driver`, or a better one where the first bytes are not of its protocol. `is_in_tls`: the
    /// client has begun TLS, as the first thing or after the server's consent.
    pub fn explain(&self, error: SystemError, driver: &str, is_in_tls: bool) -> SystemError {
        let may_be_another = matches!(
            error.class,
            ErrorClass::Protocol | ErrorClass::LostConnection | ErrorClass::Timeout
        );
        if self.first.is_empty() || !may_be_another {
            return error;
        }
        match sender_of(&self.first) {
            Some(FirstBytes::Driver(found, _)) if found == driver && is_in_tls && !self.is_read => {
                SystemError::new(
                    ErrorClass::Authentication,
                    "no TLS",
                    "TLS is required, and the server does not offer TLS",
                )
            }
            Some(FirstBytes::Driver(found, _)) if found == driver => error,
            Some(FirstBytes::Driver(_, sender) | FirstBytes::Other(sender)) => {
                another_server(&sender)
            }
            Some(FirstBytes::Tls) if !is_in_tls && !self.is_read => SystemError::new(
                ErrorClass::Protocol,
                "begins with TLS",
                "a server that begins with TLS answers there",
            ),
            Some(FirstBytes::Tls) => error,
            None if self.is_read || is_in_tls || error.class == ErrorClass::Timeout => error,
            None => SystemError::new(
                ErrorClass::Protocol,
                "",
                format!(
                    "what answers there does not speak the protocol {driver}: it sent {}",
                    shown(&self.first)
                ),
            ),
        }
    }

    /// The error where the session is not open in time.
    pub fn timed_out(&self, address: &Address, limit: Duration) -> SystemError {
        let (code, sent) = match self.count {
            0 => ("silent", "the server sent nothing".to_owned()),
            count if self.is_read => ("", format!("the server sent {count} bytes, then no more")),
            _ => {
                let first = shown(&self.first);
                ("", format!("the server sent {first}, which is no whole message"))
            }
        };
        let message = format!("{address}: no session within {limit:?}; {sent}");
        SystemError::new(ErrorClass::Timeout, code, message)
    }
}

fn another_server(sender: &Sender) -> SystemError {
    let mut message = format!("{} answers there", sender.name);
    if let Some(scheme) = sender.scheme {
        message.push_str(&format!(": {scheme}:// in the URL"));
    }
    SystemError::new(ErrorClass::Protocol, "another server", message)
}
