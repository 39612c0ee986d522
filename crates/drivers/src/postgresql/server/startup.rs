//! Takes a client's messages before its first request; writes the server's answers.

use crate::postgresql::message::Fields;
use crate::postgresql::server::reply::{Status, message};
use crate::postgresql::server::{Phase, PostgresqlServer, refused_client, reply};
use crate::{Result, SystemError};

/// The first message of a session; it has no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// A request for TLS or GSSAPI encryption.
    Encryption,
    /// A separate connection that cancels another session's statement.
    Cancel,
    /// With the highest minor version of the protocol that the client supports.
    Startup { minor: u16 },
}

/// The longest such message (the server's `MAX_STARTUP_PACKET_LENGTH`).
const LONGEST_BYTES: usize = 10_000;
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const KERBEROS: u32 = 80_877_104;
const MAJOR: u32 = 3;

/// The first message and its size; `None` if it is incomplete.
///
/// # Errors
/// Where `input` does not begin with a message of this protocol.
pub(crate) fn first(input: &[u8]) -> Result<Option<(usize, Opening)>> {
    let Some(head) = input.first_chunk::<8>() else {
        return Ok(None);
    };
    let mut fields = Fields(head);
    let length = usize::try_from(fields.int32()?).unwrap_or(0);
    let code = fields.int32()?.cast_unsigned();
    let opening = match code {
        CANCEL => Opening::Cancel,
        TLS | KERBEROS => Opening::Encryption,
        _ if code >> 16 == MAJOR => Opening::Startup {
            minor: (code & 0xffff) as u16,
        },
        _ => return Err(other_protocol(input)),
    };
    if !(8..=LONGEST_BYTES).contains(&length) {
        return Err(other_protocol(input));
    }
    Ok((input.len() >= length).then_some((length, opening)))
}

impl PostgresqlServer {
    /// Takes what comes before the first request; says whether that is over.
    pub(crate) fn opening(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, bool)> {
        let mut used = 0;
        while self.phase == Phase::Opening {
            let Some((size, opening)) = first(&input[used..])? else {
                return Ok((used, false));
            };
            used += size;
            match (opening, &self.admission) {
                (Opening::Encryption, _) => out.push(b'N'),
                (Opening::Cancel, _) => self.phase = Phase::Over,
                (Opening::Startup { minor }, Ok(id)) => {
                    welcome(*id, minor, out);
                    self.phase = Phase::Open;
                }
                (Opening::Startup { .. }, Err(refusal)) => {
                    reply::error(refusal, true, out);
                    self.phase = Phase::Over;
                }
            }
        }
        Ok((used, true))
    }
}

fn other_protocol(input: &[u8]) -> SystemError {
    let sample = input[..input.len().min(16)].escape_ascii();
    refused_client(
        "the beginning of a session of protocol 3",
        &format!("\"{sample}\""),
    )
}

/// Accepts the session without a password.
pub(crate) fn welcome(session_id: u32, minor: u16, out: &mut Vec<u8>) {
    if minor > 0 {
        // This server supports only minor version 0 of the protocol.
        message(b'v', out, |out| out.extend_from_slice(&[0; 8]));
    }
    message(b'R', out, |out| out.extend_from_slice(&[0; 4]));
    for (name, value) in [
        (
            "server_version",
            concat!("16.0 (Assay null ", env!("CARGO_PKG_VERSION"), ")"),
        ),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("TimeZone", "UTC"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
    ] {
        message(b'S', out, |out| {
            for text in [name, value] {
                out.extend_from_slice(text.as_bytes());
                out.push(0);
            }
        });
    }
    message(b'K', out, |out| {
        out.extend_from_slice(&session_id.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
    });
    reply::ready(Status::Idle, out);
}
