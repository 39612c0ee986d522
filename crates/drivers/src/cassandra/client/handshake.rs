//! Takes the server's side of the opening of a session; gives the client's: version, compression, password,
//! keyspace, the server's own version, and the session's own statements.
//!
//! The server is asked first what it speaks, in the words of version 4, which all of them understand: so the
//! newest version is found on one connection.

use crate::cassandra::client::settings::Settings;
use crate::cassandra::frame_writer::FrameWriter;
use crate::cassandra::notation::{Version, opcode, write_bytes, write_string};
use crate::cassandra::refusal;
use crate::cassandra::refusal::Moment;
use crate::scan::Scan;
use crate::{ConnectOptions, ErrorClass, Result, SystemError};

/// Where the opening stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// The client speaks first.
    Silent,
    OptionsAsked,
    Starting,
    Authenticating,
    /// The request of this index is under way: keyspace, version, then the session's own statements.
    Preparing(usize),
}

/// What a message of the opening comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// From here on messages come as agreed on; the server waits for what comes next.
    Started,
    /// The first request may be sent.
    LetIn,
}

const CQL_VERSION: &str = "3.0.0";

/// The version and the compression that both sides can.
pub(crate) fn choose(body: &[u8], settings: &mut Settings) -> Result<Version> {
    let malformed = || SystemError::malformed("what the server supports", body);
    let mut scan = Scan(body);
    let (mut has_v4, mut has_v5, mut has_lz4) = (false, false, false);
    for _ in 0..scan.u16_be().ok_or_else(malformed)? {
        let name = scan.string().ok_or_else(malformed)?;
        let values = scan.strings().ok_or_else(malformed)?;
        match name {
            "PROTOCOL_VERSIONS" => {
                has_v4 = values.contains(&"4/v4");
                // "5/v5-beta" is another one.
                has_v5 = values.contains(&"5/v5");
            }
            "COMPRESSION" => has_lz4 = values.contains(&"lz4"),
            _ => {}
        }
    }
    if settings.is_lz4 && !has_lz4 {
        let message = "option compression: the server does not offer lz4";
        return Err(SystemError::new(ErrorClass::Protocol, "", message));
    }
    // Old servers do not say what they speak; they understood the question.
    let newest = if has_v5 { Version::V5 } else { Version::V4 };
    let version = settings.version.unwrap_or(newest);
    if version == Version::V5 && !has_v5 || version == Version::V4 && has_v5 && !has_v4 {
        let message = format!(
            "option protocol: the server does not speak version {}",
            version.byte()
        );
        return Err(SystemError::new(ErrorClass::Protocol, "", message));
    }
    Ok(version)
}

pub(crate) fn start(is_lz4: bool, frame_writer: &mut FrameWriter, out: &mut Vec<u8>) {
    let mut options = vec![
        ("CQL_VERSION", CQL_VERSION),
        ("DRIVER_NAME", "assay"),
        ("DRIVER_VERSION", env!("CARGO_PKG_VERSION")),
    ];
    if is_lz4 {
        options.push(("COMPRESSION", "lz4"));
    }
    frame_writer.send(opcode::STARTUP, 0, out, |out| {
        let count = u16::try_from(options.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&count.to_be_bytes());
        for (name, value) in options {
            write_string(name, out);
            write_string(value, out);
        }
    });
}

/// SASL PLAIN: the one method that the servers have.
pub(crate) fn authenticate(
    options: &ConnectOptions,
    frame_writer: &mut FrameWriter,
    out: &mut Vec<u8>,
) {
    let password = options.password.as_deref().unwrap_or_default();
    let token = format!("\0{}\0{password}", options.user);
    frame_writer.send(opcode::AUTH_RESPONSE, 0, out, |out| {
        write_bytes(token.as_bytes(), out);
    });
}

/// Reads what answers STARTUP or the password.
pub(crate) fn step(opening: Handshake, code: u8, body: &[u8]) -> Result<Step> {
    match (opening, code) {
        (_, opcode::ERROR) => Err(refusal::read(body, Moment::Connecting)),
        (Handshake::Starting, opcode::AUTHENTICATE) => Ok(Step::Started),
        (Handshake::Starting, opcode::READY)
        | (Handshake::Authenticating, opcode::AUTH_SUCCESS) => Ok(Step::LetIn),
        (Handshake::Authenticating, opcode::AUTH_CHALLENGE) => Err(SystemError::new(
            ErrorClass::Authentication,
            "",
            "the server asks for another way to log in than user and password",
        )),
        _ => Err(SystemError::protocol(
            "the opening of a session",
            format!("a message with opcode {code:#04x}"),
        )),
    }
}

/// The request of this index that the driver sends for itself; none behind the last.
pub(crate) fn own_request(index: usize, options: &ConnectOptions) -> Option<String> {
    match index {
        KEYSPACE => Some(format!("USE \"{}\"", options.database.replace('"', "\"\""))),
        VERSION => Some(VERSION_QUERY.to_owned()),
        index => options
            .session_statements
            .get(index - OWN_STATEMENTS)
            .cloned(),
    }
}

/// The indexes of [`own_request`].
pub(crate) const KEYSPACE: usize = 0;
pub(crate) const VERSION: usize = 1;
pub(crate) const OWN_STATEMENTS: usize = 2;
pub(crate) const VERSION_QUERY: &str = "SELECT release_version FROM system.local";
