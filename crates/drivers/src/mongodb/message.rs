//! Takes the bytes that the other side sent; gives its messages one by one. Takes documents; appends messages.
//!
//! A message is a header (length, its id, the id of the request it answers, opcode), flags, and sections: one
//! document, and sequences of documents that belong to one of its fields.

use crate::mongodb::scan::Malformed;
use crate::mongodb::{scan, write};
use crate::{Result, Sender, SystemError};

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

/// A message, without its checksum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) id: i32,
    pub(crate) response_to: i32,
    pub(crate) flags: u32,
    sections: &'a [u8],
}

/// One section of a message.
pub(crate) enum Section<'a> {
    Body(&'a [u8]),
    /// Documents one after the other.
    Documents(&'a [u8]),
}

/// The next message, if it has come as a whole, and how many bytes it has.
///
/// # Errors
/// Where the bytes are of another protocol, or a message is longer than any that is sent.
#[inline]
pub(crate) fn next(input: &[u8]) -> Result<Option<(usize, Message<'_>)>> {
    let Some((header, _)) = input.split_first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let number = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        i32::from_le_bytes(bytes)
    };
    let opcode = number(12);
    let size = usize::try_from(number(0)).unwrap_or(0);
    let is_of_this_protocol = opcode == OPCODE
        && (HEADER_BYTES + 4..=MAX_MESSAGE_BYTES + MAX_ENVELOPE_BYTES).contains(&size);
    if !is_of_this_protocol {
        return Err(SystemError::protocol(
            "a message of MongoDB's protocol (OP_MSG)",
            format_args!("\"{}\"", header.escape_ascii()),
        ));
    }
    if input.len() < size {
        return Ok(None);
    }
    let flags = [input[16], input[17], input[18], input[19]];
    let flags = u32::from_le_bytes(flags);
    let unknown = flags & flag::REQUIRED & !(flag::CHECKSUM_PRESENT | flag::MORE_TO_COME);
    if unknown != 0 {
        let found = format_args!("flags {flags:#x}");
        return Err(SystemError::protocol("a message with known flags", found));
    }
    let checksum_bytes = if flags & flag::CHECKSUM_PRESENT == 0 {
        0
    } else {
        4
    };
    let end = (size - checksum_bytes).max(HEADER_BYTES + 4);
    let message = Message {
        id: number(4),
        response_to: number(8),
        flags,
        sections: &input[HEADER_BYTES + 4..end],
    };
    Ok(Some((size, message)))
}

/// Who sends these first bytes, if they are the header of a message.
pub(crate) fn sender_of(first: &[u8]) -> Option<Sender> {
    let is_header = first.len() >= HEADER_BYTES + 4 && next(first).is_ok();
    is_header.then(|| Sender {
        name: "a MongoDB server".to_owned(),
        scheme: Some("mongodb"),
    })
}

impl<'a> Message<'a> {
    /// The document of an answer, which has no other section.
    #[inline]
    pub(crate) fn body(&self) -> Result<&'a [u8], Malformed> {
        match self.sections {
            [section::BODY, document @ ..] => Ok(document),
            _ => Err(Malformed),
        }
    }

    /// Every section.
    pub(crate) fn sections(
        &self,
    ) -> impl Iterator<Item = Result<Section<'a>, Malformed>> + use<'a> {
        let mut rest = self.sections;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let section = split_section(&mut rest);
            if section.is_none() {
                rest = &[];
            }
            Some(section.ok_or(Malformed))
        })
    }
}

fn split_section<'a>(rest: &mut &'a [u8]) -> Option<Section<'a>> {
    let (&kind, behind) = rest.split_first()?;
    let size = scan::length(behind).filter(|&size| size >= 4)?;
    let (bytes, behind) = behind.split_at_checked(size)?;
    *rest = behind;
    match kind {
        section::BODY => Some(Section::Body(bytes)),
        section::DOCUMENTS => {
            let (_, documents) = scan::cstring(&bytes[4..])?;
            Some(Section::Documents(documents))
        }
        _ => None,
    }
}

/// Begins a message with one document, whose fields follow; gives where it began.
#[inline]
pub(crate) fn begin(id: i32, response_to: i32, flags: u32, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let mut head = [0; HEADER_BYTES + 9];
    head[4..8].copy_from_slice(&id.to_le_bytes());
    head[8..12].copy_from_slice(&response_to.to_le_bytes());
    head[12..16].copy_from_slice(&OPCODE.to_le_bytes());
    head[16..20].copy_from_slice(&flags.to_le_bytes());
    head[20] = section::BODY;
    out.extend_from_slice(&head);
    start
}

/// Ends the document of the message that began at `start`.
#[inline]
pub(crate) fn end_body(start: usize, out: &mut Vec<u8>) {
    write::end(start + HEADER_BYTES + 5, out);
}

/// Appends a sequence of documents behind the document.
pub(crate) fn add_documents(field: &str, documents: &[u8], out: &mut Vec<u8>) {
    out.push(section::DOCUMENTS);
    write::length(4 + field.len() + 1 + documents.len(), out);
    out.extend_from_slice(field.as_bytes());
    out.push(0);
    out.extend_from_slice(documents);
}

/// Ends the message.
#[inline]
pub(crate) fn end(start: usize, out: &mut [u8]) {
    write::measure(start, out);
}
