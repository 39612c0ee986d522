//! The numbers of OP_MSG and of BSON that this driver and its null server use.

/// The opcode of `OP_MSG`, the only one that present servers and clients use.
pub(crate) const OPCODE: i32 = 2013;
/// Length, request id, id of the request that is answered, opcode.
pub(crate) const HEADER_BYTES: usize = 16;
/// A server sends no longer message, and reads none.
pub(crate) const MAX_MESSAGE_BYTES: usize = 48_000_000;
/// Servers count a document's envelope on top of the largest message.
pub(crate) const MAX_ENVELOPE_BYTES: usize = 16 * 1024;

/// Flags of a message.
pub(crate) mod flag {
    /// Four bytes of CRC-32C stand at the end.
    pub const CHECKSUM_PRESENT: u32 = 1;
    /// Another message follows without a request, or no answer is expected.
    pub const MORE_TO_COME: u32 = 1 << 1;
    /// Of the other first 16 bits, none may be set that is unknown.
    pub const REQUIRED: u32 = 0xFFFF;
}

/// What the sections of a message hold.
pub(crate) mod section {
    pub const BODY: u8 = 0;
    pub const DOCUMENTS: u8 = 1;
}

/// Types of BSON elements.
pub(crate) mod kind {
    pub const DOUBLE: u8 = 0x01;
    pub const STRING: u8 = 0x02;
    pub const DOCUMENT: u8 = 0x03;
    pub const ARRAY: u8 = 0x04;
    pub const BINARY: u8 = 0x05;
    pub const UNDEFINED: u8 = 0x06;
    pub const OBJECT_ID: u8 = 0x07;
    pub const BOOL: u8 = 0x08;
    pub const DATE: u8 = 0x09;
    pub const NULL: u8 = 0x0A;
    pub const REGEX: u8 = 0x0B;
    pub const DB_POINTER: u8 = 0x0C;
    pub const CODE: u8 = 0x0D;
    pub const SYMBOL: u8 = 0x0E;
    pub const CODE_WITH_SCOPE: u8 = 0x0F;
    pub const INT32: u8 = 0x10;
    pub const TIMESTAMP: u8 = 0x11;
    pub const INT64: u8 = 0x12;
    pub const DECIMAL128: u8 = 0x13;
    pub const MAX_KEY: u8 = 0x7F;
    pub const MIN_KEY: u8 = 0xFF;
}

/// Subtypes of binary data.
pub(crate) mod subtype {
    pub const GENERIC: u8 = 0;
    /// Its bytes begin with their length again.
    pub const OLD_GENERIC: u8 = 2;
    pub const UUID: u8 = 4;
}
