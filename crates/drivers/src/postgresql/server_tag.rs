//! The tags of a client's messages.

pub(super) const BIND: u8 = b'B';
pub(super) const CLOSE: u8 = b'C';
pub(super) const COPY_DATA: u8 = b'd';
pub(super) const COPY_DONE: u8 = b'c';
pub(super) const COPY_FAIL: u8 = b'f';
pub(super) const DESCRIBE: u8 = b'D';
pub(super) const EXECUTE: u8 = b'E';
pub(super) const FLUSH: u8 = b'H';
pub(super) const FUNCTION_CALL: u8 = b'F';
pub(super) const PARSE: u8 = b'P';
pub(super) const QUERY: u8 = b'Q';
pub(super) const SYNC: u8 = b'S';
pub(super) const TERMINATE: u8 = b'X';

pub(super) const IS_TAG: [bool; 256] = super::message::table_of(b"BCdcfDEHFPQSXp");
