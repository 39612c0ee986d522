//! Takes the server's authentication messages; writes the answers.
//!
//! Methods: trust, clear-text password (only over a private connection), MD5, and SCRAM-SHA-256 (RFC
//! 7677, RFC 5802). In SCRAM the server authenticates itself too, and is trusted only after that.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;

use crate::postgresql::message::{Fields, cold};
use crate::request::IN_CLEAR_TEXT;
use crate::{ConnectOptions, ErrorClass, SystemError};

/// The state of the authentication.
#[derive(Default)]
pub(crate) enum Authentication {
    /// No exchange of several messages is open.
    #[default]
    Open,
    /// The client's nonce was sent; the server's nonce and salt follow.
    Begun(Box<ScramSha256>),
    /// The client's proof was sent; the server's proof follows.
    Answered(Box<ScramSha256>),
}

impl Authentication {
    /// Reads one authentication message; returns whether the authentication is complete.
    ///
    /// # Errors
    /// Where no password is given but one is needed, the method is not supported, or the server fails
    /// to prove that it knows the password.
    pub fn read(
        &mut self,
        body: &[u8],
        options: &ConnectOptions,
        out: &mut Vec<u8>,
    ) -> Result<bool, SystemError> {
        let mut fields = Fields(body);
        let code = fields.int32()?;
        match (code, std::mem::take(self)) {
            (0, Self::Open) => return Ok(true),
            (3, Self::Open) => {
                let password = password(options, "in clear text")?;
                if !options.is_private {
                    return Err(SystemError::new(
                        ErrorClass::Authentication,
                        IN_CLEAR_TEXT,
                        "the server requires the password in clear text, which is sent only where TLS is required",
                    ));
                }
                cold(out, |buffer| {
                    frontend::password_message(password.as_bytes(), buffer)
                })?;
            }
            (5, Self::Open) => {
                let password = password(options, "as MD5")?;
                let salt = fields.bytes(4)?.try_into().expect("it has four bytes");
                let hash = md5_hash(options.user.as_bytes(), password.as_bytes(), salt);
                cold(out, |buffer| {
                    frontend::password_message(hash.as_bytes(), buffer)
                })?;
            }
            (10, Self::Open) => *self = begin(&mut fields, options, out)?,
            (11, Self::Begun(mut scram)) => {
                scram.update(fields.0).map_err(|error| not_proven(&error))?;
                cold(out, |buffer| {
                    frontend::sasl_response(scram.message(), buffer)
                })?;
                *self = Self::Answered(scram);
            }
            (12, Self::Answered(mut scram)) => {
                scram.finish(fields.0).map_err(|error| not_proven(&error))?;
            }
            (2 | 6 | 7 | 8 | 9, Self::Open) => {
                return Err(refused(
                    "the server requires Kerberos, GSSAPI or SSPI, which this driver does not support",
                ));
            }
            (code, _) => {
                let found = format_args!("authentication message {code} out of order");
                return Err(SystemError::protocol(
                    "the next step of the authentication",
                    found,
                ));
            }
        }
        Ok(false)
    }
}

/// Starts SCRAM-SHA-256 if it is in the server's list of mechanisms.
fn begin(
    fields: &mut Fields<'_>,
    options: &ConnectOptions,
    out: &mut Vec<u8>,
) -> Result<Authentication, SystemError> {
    loop {
        match fields.text()? {
            b"" => {
                return Err(refused(
                    "the server does not offer the authentication mechanism SCRAM-SHA-256",
                ));
            }
            mechanism if mechanism == SCRAM_SHA_256.as_bytes() => break,
            _ => {}
        }
    }
    let password = password(options, "by SCRAM-SHA-256")?;
    let scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
    cold(out, |buffer| {
        frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), buffer)
    })?;
    Ok(Authentication::Begun(Box::new(scram)))
}

fn password<'a>(options: &'a ConnectOptions, how: &str) -> Result<&'a str, SystemError> {
    options.password.as_deref().ok_or_else(|| {
        refused(&format!(
            "the server requires a password {how} for user \"{}\", but none is given",
            options.user
        ))
    })
}

fn refused(message: &str) -> SystemError {
    SystemError::new(ErrorClass::Authentication, "", message)
}

fn not_proven(error: &std::io::Error) -> SystemError {
    refused(&format!(
        "the server failed SCRAM-SHA-256 authentication: {error}"
    ))
}
