//! Takes the bytes that arrive while a session opens; returns the error that says who answers there, where the
//! driver could not read them.

use std::time::Duration;

use assay_drivers::first_bytes::{FirstBytes, sender_of, shown};
use assay_drivers::{ErrorClass, Sender, SystemError};

use crate::transport::Address;

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
                (
                    "",
                    format!("the server sent {first}, which is no whole message"),
                )
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
