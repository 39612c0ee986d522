//! Writes the null server's greeting; takes the client's response and returns its capabilities.

use crate::mysql::shared::constants::{AUTOCOMMIT, UTF8MB4_BIN, capability, extended, head};
use crate::mysql::shared::greeting::Agreement;
use crate::scan::Scan;

const METHOD: &[u8] = b"mysql_native_password\0";
/// Any password is accepted, so the nonce need not be random.
const NONCE: &[u8; 20] = b"null-server-any-key!";
/// With the zero byte at its end.
const NONCE_BYTES: u8 = 21;
/// A version for which clients use the same protocol as with a real server.
const VERSION: &str = concat!(
    "5.5.5-11.4.0-MariaDB-Assay-null-",
    env!("CARGO_PKG_VERSION"),
    "\0"
);

/// The capabilities offered. `LONG_PASSWORD` is cleared, which announces extended flags.
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
pub(crate) fn write(session_id: u32, out: &mut Vec<u8>) {
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

/// The client's response to the greeting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    pub(crate) agreement: Agreement,
    /// It used another authentication method, and waits for a switch request.
    pub(crate) needs_method: bool,
}

/// Reads the response to the greeting; `None` where it ends too early.
pub(crate) fn read(payload: &[u8]) -> Option<Response> {
    let mut scan = Scan(payload);
    let flags = scan.u32_le()?;
    scan.take(4 + 1 + 19)?; // largest message, character set, reserved
    let last_reserved = scan.u32_le()?;
    // A client that clears this flag sends extended flags.
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

/// Appends the payload that requests this server's authentication method.
pub(crate) fn write_method(out: &mut Vec<u8>) {
    out.push(head::END);
    out.extend_from_slice(METHOD);
    out.extend_from_slice(NONCE);
    out.push(0);
}
