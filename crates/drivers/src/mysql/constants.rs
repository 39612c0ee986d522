//! Names for the protocol's numbers. Source: "Client/Server Protocol" of the MariaDB documentation and
//! "Client/Server Protocol" of the MySQL server's source documentation (dev.mysql.com).

/// Capability flags; the client's must be a subset of the server's.
pub(crate) mod capability {
    /// Always set in MySQL. MariaDB clears it in its greeting to show that [`super::extended`] flags
    /// are present, and a client clears it to answer with its own extended flags.
    pub(in crate::mysql) const LONG_PASSWORD: u32 = 1;
    pub(in crate::mysql) const FOUND_ROWS: u32 = 1 << 1;
    pub(in crate::mysql) const LONG_FLAG: u32 = 1 << 2;
    pub(in crate::mysql) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(in crate::mysql) const LOCAL_FILES: u32 = 1 << 7;
    pub(in crate::mysql) const PROTOCOL_41: u32 = 1 << 9;
    pub(in crate::mysql) const SSL: u32 = 1 << 11;
    pub(in crate::mysql) const TRANSACTIONS: u32 = 1 << 13;
    pub(in crate::mysql) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(in crate::mysql) const MULTI_STATEMENTS: u32 = 1 << 16;
    pub(in crate::mysql) const MULTI_RESULTS: u32 = 1 << 17;
    pub(in crate::mysql) const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub(in crate::mysql) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(in crate::mysql) const PLUGIN_AUTH_LENENC_DATA: u32 = 1 << 21;
    pub(in crate::mysql) const DEPRECATE_EOF: u32 = 1 << 24;
}

/// MariaDB's own flags, bits 32 and up of the capabilities.
pub(crate) mod extended {
    /// The server sends a statement's column definitions again only if they have changed.
    pub(in crate::mysql) const CACHE_METADATA: u32 = 1 << 4;
}

pub(crate) mod command {
    pub(in crate::mysql) const QUIT: u8 = 0x01;
    pub(in crate::mysql) const INIT_DB: u8 = 0x02;
    pub(in crate::mysql) const QUERY: u8 = 0x03;
    pub(in crate::mysql) const STATISTICS: u8 = 0x09;
    pub(in crate::mysql) const PING: u8 = 0x0E;
    pub(in crate::mysql) const CHANGE_USER: u8 = 0x11;
    pub(in crate::mysql) const STMT_PREPARE: u8 = 0x16;
    pub(in crate::mysql) const STMT_EXECUTE: u8 = 0x17;
    pub(in crate::mysql) const STMT_SEND_LONG_DATA: u8 = 0x18;
    pub(in crate::mysql) const STMT_CLOSE: u8 = 0x19;
    pub(in crate::mysql) const STMT_RESET: u8 = 0x1A;
    pub(in crate::mysql) const SET_OPTION: u8 = 0x1B;
    pub(in crate::mysql) const RESET_CONNECTION: u8 = 0x1F;
}

/// The first byte of a server's packet.
pub(crate) mod head {
    pub(in crate::mysql) const OK: u8 = 0x00;
    pub(in crate::mysql) const MORE_AUTHENTICATION: u8 = 0x01;
    pub(in crate::mysql) const LOCAL_FILE: u8 = 0xFB;
    /// The end of rows, a switch of the authentication method, or a very long first cell.
    pub(in crate::mysql) const END: u8 = 0xFE;
    pub(in crate::mysql) const ERROR: u8 = 0xFF;
}

/// Bits of the server's status.
pub(crate) const IN_TRANSACTION: u16 = 1;
pub(crate) const AUTOCOMMIT: u16 = 1 << 1;
/// Another result follows this one.
pub(crate) const MORE_RESULTS: u16 = 1 << 3;

/// Collation `utf8mb4_bin` in both families: text is compared byte by byte, as in the other systems.
pub(crate) const UTF8MB4_BIN: u8 = 46;
/// The character set of binary data and numbers.
pub(crate) const BINARY: u16 = 63;

/// Types of columns and parameters.
pub(crate) mod column_type {
    pub(in crate::mysql) const TINY: u8 = 1;
    pub(in crate::mysql) const SHORT: u8 = 2;
    pub(in crate::mysql) const LONG: u8 = 3;
    pub(in crate::mysql) const FLOAT: u8 = 4;
    pub(in crate::mysql) const DOUBLE: u8 = 5;
    pub(in crate::mysql) const NULL: u8 = 6;
    pub(in crate::mysql) const TIMESTAMP: u8 = 7;
    pub(in crate::mysql) const LONGLONG: u8 = 8;
    pub(in crate::mysql) const INT24: u8 = 9;
    pub(in crate::mysql) const DATE: u8 = 10;
    pub(in crate::mysql) const TIME: u8 = 11;
    pub(in crate::mysql) const DATETIME: u8 = 12;
    pub(in crate::mysql) const YEAR: u8 = 13;
    pub(in crate::mysql) const NEWDATE: u8 = 14;
    pub(in crate::mysql) const JSON: u8 = 245;
    pub(in crate::mysql) const NEWDECIMAL: u8 = 246;
    pub(in crate::mysql) const TINY_BLOB: u8 = 249;
    pub(in crate::mysql) const BLOB: u8 = 252;
    pub(in crate::mysql) const VAR_STRING: u8 = 253;
}

/// Bits of a column definition's flags.
pub(crate) mod column_flag {
    pub(in crate::mysql) const UNSIGNED: u16 = 1 << 5;
    pub(in crate::mysql) const ZEROFILL: u16 = 1 << 6;
}
