//! Takes the bytes a server sent; returns whole messages and their fields, borrowed from those bytes.
//!
//! A message is a tag byte, a four-byte length that includes itself, and a body; numbers are big-endian
//! (PostgreSQL manual, "Frontend/Backend Protocol", "Message Formats"). Tag and length are checked as
//! soon as they arrive, so that a server with another protocol is an error and not a hang.

use crate::scan::Scan;
use crate::{ErrorClass, Result, SystemError};
use bytes::BytesMut;
use postgres_protocol::message::frontend;

pub(crate) mod tag {
    pub const AUTHENTICATION: u8 = b'R';
    pub const BACKEND_KEY: u8 = b'K';
    pub const BIND_COMPLETE: u8 = b'2';
    pub const CLOSE_COMPLETE: u8 = b'3';
    pub const COMMAND_COMPLETE: u8 = b'C';
    pub const COPY_DATA: u8 = b'd';
    pub const COPY_DONE: u8 = b'c';
    pub const COPY_IN: u8 = b'G';
    pub const COPY_OUT: u8 = b'H';
    pub const DATA_ROW: u8 = b'D';
    pub const EMPTY_QUERY: u8 = b'I';
    pub const ERROR: u8 = b'E';
    pub const NEGOTIATE_VERSION: u8 = b'v';
    pub const NO_DATA: u8 = b'n';
    pub const NOTICE: u8 = b'N';
    pub const NOTIFICATION: u8 = b'A';
    pub const PARAMETER_DESCRIPTION: u8 = b't';
    pub const PARAMETER_STATUS: u8 = b'S';
    pub const PARSE_COMPLETE: u8 = b'1';
    pub const READY: u8 = b'Z';
    pub const ROW_DESCRIPTION: u8 = b'T';

    /// Every tag above; a message with any other tag is an error.
    pub const ALL: &[u8] = b"RK23CdcGHDIEvnNAtS1ZT";
}

/// The server cannot build a larger message (its `MaxAllocSize`, 1 GiB less one byte).
pub(crate) const LARGEST_BYTES: usize = 0x3fff_ffff;

const IS_TAG: [bool; 256] = table_of(tag::ALL);

/// For each byte, whether it is one of these tags.
pub(crate) const fn table_of(tags: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut index = 0;
    while index < tags.len() {
        table[tags[index] as usize] = true;
        index += 1;
    }
    table
}

#[derive(Clone, Copy)]
pub(crate) struct Message<'a> {
    pub tag: u8,
    pub body: &'a [u8],
}

impl Message<'_> {
    /// Its length in bytes, with tag and length field.
    pub fn size(&self) -> usize {
        5 + self.body.len()
    }

    /// The error for a message that is not valid in this state.
    pub fn unexpected(&self, expected: &str) -> SystemError {
        SystemError::protocol(
            expected,
            format_args!("message '{}'", self.tag.escape_ascii()),
        )
    }
}

/// The first message of `input`; `None` if it is incomplete.
///
/// # Errors
/// Where `input` does not begin with a message of this protocol.
#[inline]
pub(crate) fn first(input: &[u8]) -> Result<Option<Message<'_>>> {
    first_among(&IS_TAG, input)
}

/// The same with other valid tags.
///
/// # Errors
/// As [`first`].
#[inline]
pub(crate) fn first_among<'a>(
    is_tag: &[bool; 256],
    input: &'a [u8],
) -> Result<Option<Message<'a>>> {
    let Some((head, rest)) = input.split_first_chunk::<5>() else {
        return match input.first() {
            Some(&tag) if !is_tag[usize::from(tag)] => Err(not_a_message(input)),
            _ => Ok(None),
        };
    };
    let [tag, length @ ..] = *head;
    let length = u32::from_be_bytes(length) as usize;
    if !is_tag[usize::from(tag)] || !(4..=LARGEST_BYTES).contains(&length) {
        return Err(not_a_message(input));
    }
    Ok(rest.get(..length - 4).map(|body| Message { tag, body }))
}

#[cold]
fn not_a_message(input: &[u8]) -> SystemError {
    let sample = input[..input.len().min(16)].escape_ascii();
    SystemError::protocol(
        "a message of the PostgreSQL protocol 3",
        format_args!("\"{sample}\""),
    )
}

/// The length of a message to the server that holds `text` and `around_bytes` more bytes.
///
/// # Errors
/// Where the message would exceed the server's limit, or the text holds a zero byte.
pub(crate) fn length_of(text: &str, around_bytes: usize) -> Result<u32> {
    let length = text.len() + around_bytes;
    if length > LARGEST_BYTES {
        return Err(too_large(length));
    }
    if text.as_bytes().contains(&0) {
        let message = "a statement cannot hold a zero byte";
        return Err(SystemError::new(ErrorClass::Data, "", message));
    }
    Ok(u32::try_from(length).expect("it is below 1 GiB"))
}

#[cold]
pub(crate) fn too_large(bytes: usize) -> SystemError {
    let message = format!("a message of {bytes} bytes; the server accepts at most {LARGEST_BYTES}");
    SystemError::new(ErrorClass::Data, "", message)
}

/// Reads the fields of a body in order; a read past the end is an error, not a panic.
pub(crate) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    #[inline]
    fn read<T>(&mut self, read: impl FnOnce(&mut Scan<'a>) -> Option<T>) -> Result<T> {
        let mut scan = Scan(self.0);
        let field = read(&mut scan).ok_or_else(too_short)?;
        self.0 = scan.0;
        Ok(field)
    }

    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        self.read(|scan| scan.take(count))
    }

    pub fn byte(&mut self) -> Result<u8> {
        self.read(Scan::u8)
    }

    #[inline]
    pub fn int16(&mut self) -> Result<i16> {
        self.read(Scan::array).map(i16::from_be_bytes)
    }

    #[inline]
    pub fn int32(&mut self) -> Result<i32> {
        self.read(Scan::i32_be)
    }

    /// A count, which has 16 bits in the protocol.
    pub fn count(&mut self) -> Result<usize> {
        // Counts are declared Int16 and used as unsigned (a statement can have 65,535 parameters).
        self.int16().map(|count| usize::from(count.cast_unsigned()))
    }

    /// Text up to its zero byte.
    pub fn text(&mut self) -> Result<&'a [u8]> {
        self.read(Scan::until_zero)
    }
}

#[cold]
fn too_short() -> SystemError {
    SystemError::protocol("a complete message", "a message that ends inside a field")
}

/// Appends a simple query.
#[inline]
pub(crate) fn query(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let length = length_of(text, 5)?;
    out.push(b'Q');
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

/// Appends CopyFail; a zero byte in the reason would end it early.
pub(crate) fn copy_fail(reason: &str, out: &mut Vec<u8>) {
    let reason = reason.replace('\0', " ");
    cold(out, |buffer| frontend::copy_fail(&reason, buffer)).expect("it holds no zero byte");
}

/// Appends a message that the protocol crate builds in its own buffer; for messages off the hot path.
pub(crate) fn cold(
    out: &mut Vec<u8>,
    build: impl FnOnce(&mut BytesMut) -> std::io::Result<()>,
) -> Result<()> {
    let mut buffer = BytesMut::new();
    build(&mut buffer).map_err(|error| {
        SystemError::new(
            ErrorClass::Data,
            "",
            format!("the protocol cannot express the request: {error}"),
        )
    })?;
    out.extend_from_slice(&buffer);
    Ok(())
}
