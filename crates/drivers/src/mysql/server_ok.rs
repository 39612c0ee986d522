//! Takes an OK packet; returns its counts, its status and its info text.

use super::constants::IN_TRANSACTION;
use super::scan::Scan;
use crate::TransactionStatus;

#[derive(Debug, Default)]
pub(super) struct ServerOk {
    pub(super) affected: u64,
    pub(super) status: u16,
    pub(super) warnings: u16,
    /// "Records: 3  Deleted: 0  Skipped: 0  Warnings: 0" after a load; otherwise mostly empty.
    pub(super) info: String,
}

/// The state of the session's transaction, by the server's status bits.
#[inline]
pub(super) fn transaction(status: u16) -> TransactionStatus {
    match status & IN_TRANSACTION {
        0 => TransactionStatus::None,
        _ => TransactionStatus::Open,
    }
}

impl ServerOk {
    /// Reads an OK packet with either of its first bytes (0x00, or 0xFE after rows).
    pub(super) fn read(payload: &[u8]) -> Option<Self> {
        let mut scan = Scan(payload);
        scan.u8()?;
        let affected = scan.length()?;
        scan.length()?; // last inserted id
        let status = scan.u16()?;
        let warnings = scan.u16()?;
        // Documented as the rest of the packet, but sent with a length prefix.
        let info = if scan.0.is_empty() {
            b""
        } else {
            scan.text().unwrap_or_default()
        };
        Some(Self {
            affected,
            status,
            warnings,
            info: String::from_utf8_lossy(info).into_owned(),
        })
    }
}
