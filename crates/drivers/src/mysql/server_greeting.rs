//! Writes the server's greeting; takes the client's response, whoever it is.

use super::constants::{AUTOCOMMIT, UTF8MB4_BIN, capability, extended, head};
use super::greeting::Agreement;
use super::scan::Scan;

const METHOD: &[u8] = b"mysql_native_password\0";
/// Every password is right, so this is no secret.
const NONCE: &[u8; 20] = b"null-server-any-key!";
/// With the zero byte at its end.
const NONCE_BYTES: u8 = 21;
/// That of a server whose clients speak as those of a real one do.
const VERSION: &str = concat!(
    "5.5.5-11.4.0-MariaDB-Assay-null-",
    env!("CARGO_PKG_VERSION"),
    "\0"
);

/// What is offered. The flag `LONG_PASSWORD` is left out: so says a server that it has extended ones.
const OFFERED: u32 = capability::FOUND_ROWS
    | capability::LONG_FLAG
    | capability::CONNECT_WITH_DB
    | capability::LOCAL_FILES
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_STATEMENTS
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::PLUGIN_AUTH_LENENC_DATA
    | capability::DEPRECATE_EOF;

/// Appends the payload of the greeting (handshake version 10).
pub(super) fn write(session_id: u32, out: &mut Vec<u8>) {
    let [a, b, c, d] = OFFERED.to_le_bytes();
    out.push(10);
    out.extend_from_slice(VERSION.as_bytes());
    out.extend_from_slice(&session_id.to_le_bytes());
    out.extend_from_slice(&NONCE[..8]);
    out.push(0);
    out.extend_from_slice(&[a, b]);
    out.push(UTF8MB4_BIN);
    out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
    out.extend_from_slice(&[c, d]);
    out.push(NONCE_BYTES);
    out.extend_from_slice(&[0; 6]);
    out.extend_from_slice(&extended::CACHE_METADATA.to_le_bytes());
    out.extend_from_slice(&NONCE[8..]);
    out.push(0);
    out.extend_from_slice(METHOD);
}

/// What a client answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) agreement: Agreement,
    /// It has another method in mind, and waits to be told ours.
    pub(super) needs_method: bool,
}

/// Reads the response to the greeting; `None` where it ends too early.
pub(super) fn read(payload: &[u8]) -> Option<Response> {
    let mut scan = Scan(payload);
    let flags = scan.u32()?;
    scan.take(4 + 1 + 19)?; // largest message, character set, reserved
    let last_reserved = scan.u32()?;
    // Who leaves out the one flag answers the others.
    let is_plain = flags & capability::LONG_PASSWORD != 0;
    let agreement = Agreement::of(
        flags & OFFERED,
        if is_plain {
            0
        } else {
            last_reserved & extended::CACHE_METADATA
        },
    );
    scan.until_zero()?; // user
    if agreement.has(capability::PLUGIN_AUTH_LENENC_DATA) {
        scan.text()?;
    } else if agreement.has(capability::SECURE_CONNECTION) {
        let length = scan.u8()?;
        scan.take(length.into())?;
    } else {
        scan.until_zero()?;
    }
    if agreement.has(capability::CONNECT_WITH_DB) {
        scan.until_zero()?;
    }
    let method = if agreement.has(capability::PLUGIN_AUTH) {
        scan.until_zero().unwrap_or(scan.0)
    } else {
        b""
    };
    Some(Response {
        agreement,
        needs_method: !method.is_empty() && METHOD.strip_suffix(b"\0") != Some(method),
    })
}

/// Appends the payload that asks for our method of authentication.
pub(super) fn write_method(out: &mut Vec<u8>) {
    out.push(head::END);
    out.extend_from_slice(METHOD);
    out.extend_from_slice(NONCE);
    out.push(0);
}
