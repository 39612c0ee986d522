//! The notation of the CQL binary protocol: its numbers, as far as this driver and its null server use them; and the counts,
//! texts and bytes of a message's body, which are read one after the other, or nothing where it ends too early.

use crate::scan::Scan;

pub(crate) mod opcode {
    pub const ERROR: u8 = 0x00;
    pub const STARTUP: u8 = 0x01;
    pub const READY: u8 = 0x02;
    pub const AUTHENTICATE: u8 = 0x03;
    pub const OPTIONS: u8 = 0x05;
    pub const SUPPORTED: u8 = 0x06;
    pub const QUERY: u8 = 0x07;
    pub const RESULT: u8 = 0x08;
    pub const PREPARE: u8 = 0x09;
    pub const EXECUTE: u8 = 0x0A;
    pub const REGISTER: u8 = 0x0B;
    pub const EVENT: u8 = 0x0C;
    pub const AUTH_CHALLENGE: u8 = 0x0E;
    pub const AUTH_RESPONSE: u8 = 0x0F;
    pub const AUTH_SUCCESS: u8 = 0x10;
}

pub(crate) mod result_kind {
    pub const VOID: i32 = 1;
    pub const ROWS: i32 = 2;
    pub const SET_KEYSPACE: i32 = 3;
    pub const PREPARED: i32 = 4;
    pub const SCHEMA_CHANGE: i32 = 5;
}

/// Flags of QUERY and EXECUTE.
pub(crate) mod query_flag {
    pub const VALUES: u8 = 0x01;
    pub const SKIP_METADATA: u8 = 0x02;
    pub const PAGE_SIZE: u8 = 0x04;
    pub const PAGING_STATE: u8 = 0x08;
    pub const SERIAL_CONSISTENCY: u8 = 0x10;
}

/// Flags of the metadata of rows.
pub(crate) mod rows_flag {
    pub const GLOBAL_TABLE: i32 = 0x01;
    pub const HAS_MORE_PAGES: i32 = 0x02;
    pub const NO_METADATA: i32 = 0x04;
    pub const METADATA_CHANGED: i32 = 0x08;
}

/// Flags of the header of a message.
pub(crate) mod header_flag {
    pub const COMPRESSED: u8 = 0x01;
    pub const TRACING: u8 = 0x02;
    pub const CUSTOM_PAYLOAD: u8 = 0x04;
    pub const WARNING: u8 = 0x08;
}

pub(crate) mod error_code {
    pub const SERVER: i32 = 0x0000;
    pub const PROTOCOL: i32 = 0x000A;
    pub const CREDENTIALS: i32 = 0x0100;
    pub const UNAVAILABLE: i32 = 0x1000;
    pub const OVERLOADED: i32 = 0x1001;
    pub const BOOTSTRAPPING: i32 = 0x1002;
    pub const TRUNCATE: i32 = 0x1003;
    pub const WRITE_TIMEOUT: i32 = 0x1100;
    pub const READ_TIMEOUT: i32 = 0x1200;
    pub const READ_FAILURE: i32 = 0x1300;
    pub const FUNCTION_FAILURE: i32 = 0x1400;
    pub const WRITE_FAILURE: i32 = 0x1500;
    pub const CDC_WRITE_FAILURE: i32 = 0x1600;
    pub const CAS_WRITE_UNKNOWN: i32 = 0x1700;
    pub const SYNTAX: i32 = 0x2000;
    pub const UNAUTHORIZED: i32 = 0x2100;
    pub const INVALID: i32 = 0x2200;
    pub const CONFIGURATION: i32 = 0x2300;
    pub const UNPREPARED: i32 = 0x2500;
}

pub(crate) mod type_id {
    pub const CUSTOM: u16 = 0x00;
    pub const BIGINT: u16 = 0x02;
    pub const UUID: u16 = 0x0C;
    pub const VARCHAR: u16 = 0x0D;
}

/// Set in the version of everything that a server sends.
pub(crate) const RESPONSE: u8 = 0x80;
/// Version, flags, stream, opcode and length.
pub(crate) const HEADER_BYTES: usize = 9;
/// The longest message that either side reads: what the servers themselves allow.
pub(crate) const MAX_MESSAGE_BYTES: usize = 256 * 1024 * 1024;

/// A version of the protocol that this driver speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V4 = 4,
    V5 = 5,
}

impl Version {
    pub(crate) fn byte(self) -> u8 {
        self as u8
    }
}

impl<'a> Scan<'a> {
    /// A count or a length that must not be negative.
    pub(crate) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.i32_be()?).ok()
    }

    /// *string*: a length of two bytes, then UTF-8.
    pub(crate) fn string(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.short_bytes()?).ok()
    }

    /// *long string*: a length of four bytes, then UTF-8.
    pub(crate) fn long_string(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub(crate) fn short_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u16_be()?;
        self.take(length.into())
    }

    /// *bytes*: a length of four bytes; a negative one is NULL.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Option<Option<&'a [u8]>> {
        match usize::try_from(self.i32_be()?) {
            Ok(length) => Some(Some(self.take(length)?)),
            Err(_) => Some(None),
        }
    }

    /// *string list*.
    pub(crate) fn strings(&mut self) -> Option<Vec<&'a str>> {
        (0..self.u16_be()?).map(|_| self.string()).collect()
    }
}

/// A length or a count of four bytes.
pub(crate) fn write_length(length: usize, out: &mut Vec<u8>) {
    // Nothing longer is ever written: a message of more bytes is refused where it is put together.
    let length = i32::try_from(length).unwrap_or(i32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
}

/// *string*: what is longer than its length can say is cut off.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    write_short_bytes(&text.as_bytes()[..text.len().min(0xFFFF)], out);
}

pub(crate) fn write_short_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&bytes[..length.into()]);
}

/// *bytes* and *long string*.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}
