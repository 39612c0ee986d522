//! Takes the server's demands for proof of who we are; writes the answers.
//!
//! Trust, password in the clear (only where nobody can listen), MD5, and SCRAM-SHA-256 (RFC 7677, RFC
//! 5802). In SCRAM the server proves itself too, and is not believed before it has.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;

use super::message::Fields;
use super::outgoing::cold;
use crate::{ConnectOptions, ErrorClass, SystemError};

/// How far the proof has come.
#[derive(Default)]
pub(super) enum Authentication {
    /// Nothing that must be ended was begun.
    #[default]
    Open,
    /// We sent our name and nonce; the server owes salt and its nonce.
    Begun(Box<ScramSha256>),
    /// We sent our proof; the server owes its own.
    Answered(Box<ScramSha256>),
}

impl Authentication {
    /// Reads one authentication message; says whether the server is satisfied.
    ///
    /// # Errors
    /// Where a password is needed and there is none, the method is one we do not have, or the server
    /// fails to prove that it knows the password.
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
                let password = password(options, "in the clear")?;
                if !options.is_private {
                    return Err(refused(
                        "the server asks for the password in the clear over a connection that can be \
                         listened to; use TLS, or scram-sha-256 in the server's pg_hba.conf",
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
                    "the server asks for Kerberos, GSSAPI or SSPI, which we do not have",
                ));
            }
            (code, _) => {
                let found = format_args!("authentication message {code} out of its turn");
                return Err(SystemError::protocol(
                    "the next step of the authentication",
                    found,
                ));
            }
        }
        Ok(false)
    }
}

/// Chooses the one mechanism we have from the server's list, and opens it.
fn begin(
    fields: &mut Fields<'_>,
    options: &ConnectOptions,
    out: &mut Vec<u8>,
) -> Result<Authentication, SystemError> {
    loop {
        match fields.text()? {
            b"" => {
                return Err(refused(
                    "the server has no authentication mechanism of ours (SCRAM-SHA-256)",
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
            "the server asks user \"{}\" for a password {how}, and none is given",
            options.user
        ))
    })
}

fn refused(message: &str) -> SystemError {
    SystemError::new(ErrorClass::Authentication, "", message)
}

fn not_proven(error: &std::io::Error) -> SystemError {
    refused(&format!(
        "the server's side of SCRAM-SHA-256 does not hold: {error}"
    ))
}
