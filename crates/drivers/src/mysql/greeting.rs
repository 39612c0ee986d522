//! Takes the server's greeting (handshake version 10); returns its capabilities, and writes the
//! client's answers: the TLS request and the handshake response.

use crate::Sender;
use crate::mysql::constants::{UTF8MB4_BIN, capability, extended, head};
use crate::mysql::packet::write_text;
use crate::scan::Scan;

/// The largest message the client accepts: the protocol's own limit.
const LARGEST_MESSAGE: u32 = 1 << 30;

/// The capabilities this driver requests from any server.
pub(crate) const REQUESTED: u32 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    // An UPDATE counts the rows it matched, as in every other system here, not those it changed.
    | capability::FOUND_ROWS
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

/// Required capabilities: servers older than MySQL 5.5 lack them.
const REQUIRED: u32 =
    capability::PROTOCOL_41 | capability::SECURE_CONNECTION | capability::PLUGIN_AUTH;

/// The capabilities that both sides have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreement {
    flags: u32,
    extended: u32,
}

impl Agreement {
    /// The capabilities that a client accepted.
    pub(crate) fn of(flags: u32, extended: u32) -> Self {
        Self { flags, extended }
    }

    pub(crate) fn has(self, capability: u32) -> bool {
        self.flags & capability != 0
    }

    /// Rows end with an OK packet and definitions without a packet; otherwise an EOF packet ends both.
    pub(crate) fn deprecates_eof(self) -> bool {
        self.flags & capability::DEPRECATE_EOF != 0
    }

    pub(crate) fn caches_metadata(self) -> bool {
        self.extended & extended::CACHE_METADATA != 0
    }

    pub(crate) fn has_tls(self) -> bool {
        self.flags & capability::SSL != 0
    }
}

pub(crate) struct Greeting {
    /// As the server sends it, without the prefix `5.5.5-` that MariaDB 10 adds for old replicas.
    pub(crate) version: String,
    pub(crate) is_mariadb: bool,
    pub(crate) session_id: u32,
    pub(crate) nonce: Vec<u8>,
    pub(crate) method: Vec<u8>,
    flags: u32,
    extended: u32,
}

impl Greeting {
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let mut scan = Scan(payload);
        if scan.u8()? != 10 {
            return None;
        }
        let version = String::from_utf8_lossy(scan.until_zero()?).into_owned();
        let session_id = scan.u32_le()?;
        let mut nonce = scan.take(8)?.to_vec();
        scan.take(1)?;
        let low = scan.u16_le()?;
        scan.take(3)?; // character set, status
        let flags = u32::from(low) | u32::from(scan.u16_le()?) << 16;
        let nonce_length = usize::from(scan.u8()?);
        scan.take(6)?;
        // MariaDB clears this flag to show that the reserved bytes hold its own flags.
        let is_plain = flags & capability::LONG_PASSWORD != 0;
        let last_reserved = scan.u32_le()?;
        let rest = scan.take(nonce_length.saturating_sub(8).max(13).min(scan.0.len()))?;
        nonce.extend_from_slice(rest.strip_suffix(&[0]).unwrap_or(rest));
        // Some old servers omit the zero byte after the method's name.
        let method = scan.until_zero().unwrap_or(scan.0).to_vec();
        Some(Self {
            is_mariadb: !is_plain || version.contains("MariaDB"),
            version: version.strip_prefix("5.5.5-").unwrap_or(&version).to_owned(),
            session_id,
            nonce,
            method,
            flags,
            extended: if is_plain { 0 } else { last_reserved },
        })
    }

    /// Why this server cannot be used; `None` if it can.
    pub(crate) fn objection(&self) -> Option<String> {
        let missing = REQUIRED & !self.flags;
        (missing != 0).then(|| {
            format!(
                "server {} lacks protocol features that MySQL has had since 5.5 \
                 (capability flags {missing:#x})",
                self.version
            )
        })
    }

    pub(crate) fn agreement(&self, wants_tls: bool, names_database: bool) -> Agreement {
        let mut requested = REQUESTED;
        if wants_tls {
            requested |= capability::SSL;
        }
        if names_database {
            requested |= capability::CONNECT_WITH_DB;
        }
        let flags = requested & self.flags;
        // With EOF packets after definitions, a cached result still has the EOF packet; no server
        // with this combination exists, so it is not supported.
        let extended = if flags & capability::DEPRECATE_EOF != 0 {
            extended::CACHE_METADATA & self.extended
        } else {
            0
        };
        Agreement { flags, extended }
    }

    /// "MariaDB 10.11.19-0+deb12u1": name and version for the record.
    pub(crate) fn name_and_version(&self) -> String {
        if self.is_mariadb {
            format!("MariaDB {}", self.version.replacen("-MariaDB", "", 1))
        } else {
            format!("MySQL {}", self.version)
        }
    }
}

/// Who sends these first bytes, if they are a greeting, or the error in its place.
pub(crate) fn sender_of(first: &[u8]) -> Option<Sender> {
    const LONGEST: usize = 1024;
    let (&[low, high, 0, 0], payload) = first.split_first_chunk()? else {
        return None;
    };
    let length = usize::from(low) | usize::from(high) << 8;
    let payload = &payload[..payload.len().min(length)];
    let is_text = |text: &[u8]| text.iter().all(|byte| matches!(byte, b' '..=b'~'));
    match payload {
        [10, version @ ..] if length <= LONGEST => {
            let end = version.iter().position(|&byte| byte == 0);
            let version = &version[..end.unwrap_or(version.len())];
            let is_version = version.first().is_some_and(u8::is_ascii_digit) && is_text(version);
            is_version.then(|| named(&String::from_utf8_lossy(version)))
        }
        [head::ERROR, _, _, message @ ..] if length <= LONGEST && !message.is_empty() => {
            is_text(message).then(|| Sender {
                name: "a MySQL or MariaDB server".to_owned(),
                scheme: Some("mysql"),
            })
        }
        _ => None,
    }
}

fn named(version: &str) -> Sender {
    let is_mariadb = version.contains("MariaDB");
    let number = version.strip_prefix("5.5.5-").unwrap_or(version);
    let number = number.split('-').next().unwrap_or(number);
    Sender {
        name: format!("{} {number}", if is_mariadb { "MariaDB" } else { "MySQL" }),
        scheme: Some(if is_mariadb { "mariadb" } else { "mysql" }),
    }
}

/// Appends the TLS request: the first half of the handshake response.
pub(crate) fn write_tls_request(out: &mut Vec<u8>, agreement: Agreement) {
    out.extend_from_slice(&agreement.flags.to_le_bytes());
    out.extend_from_slice(&LARGEST_MESSAGE.to_le_bytes());
    out.push(UTF8MB4_BIN);
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&agreement.extended.to_le_bytes());
}

pub(crate) fn write_response(
    out: &mut Vec<u8>,
    agreement: Agreement,
    user: &str,
    database: &str,
    method: &str,
    proof: &[u8],
) {
    write_tls_request(out, agreement);
    write_zero_ended(out, user);
    if agreement.flags & capability::PLUGIN_AUTH_LENENC_DATA != 0 {
        write_text(out, proof);
    } else {
        out.push(u8::try_from(proof.len()).expect("a first proof is a scramble, at most 32 bytes"));
        out.extend_from_slice(proof);
    }
    if agreement.flags & capability::CONNECT_WITH_DB != 0 {
        write_zero_ended(out, database);
    }
    write_zero_ended(out, method);
}

/// A zero byte inside would end the field early, and the rest would be read as the next field;
/// [`crate::mysql::MysqlWire::new`] replaces zero bytes in names.
fn write_zero_ended(out: &mut Vec<u8>, text: &str) {
    debug_assert!(!text.contains('\0'), "zero bytes were replaced");
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}
