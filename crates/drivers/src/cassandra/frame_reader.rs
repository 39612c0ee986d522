//! Takes the bytes that the other side sent; gives its messages one by one.
//!
//! Until STARTUP is answered, and with protocol version 4 always, messages follow one another. With version 5
//! they then travel in segments with checksums: several short ones in one, or a long one in several.

use std::ops::Range;

use crate::cassandra::notation::{HEADER_BYTES, MAX_MESSAGE_BYTES, header_flag, opcode};
use crate::cassandra::segment::{CRC32_BYTES, Segment};
use crate::{Result, Sender, SystemError};

/// A message: its header without the length, and its body.
pub(crate) struct Message<'a> {
    pub(crate) version: u8,
    pub(crate) flags: u8,
    pub(crate) stream: i16,
    pub(crate) opcode: u8,
    pub(crate) body: &'a [u8],
}

/// Messages of the opening are short: a longer one is of another protocol.
const MAX_OPENING_BYTES: usize = 64 * 1024;
/// A buffer that has grown beyond this size is released.
const KEPT_BYTES: usize = 1024 * 1024;

/// Who sends these first bytes, if they are the header of an answer: a server of this protocol answers to
/// any bytes with a message of it.
pub(crate) fn sender_of(first: &[u8]) -> Option<Sender> {
    const ANSWERS: [u8; 7] = [
        opcode::ERROR,
        opcode::READY,
        opcode::AUTHENTICATE,
        opcode::SUPPORTED,
        opcode::RESULT,
        opcode::EVENT,
        opcode::AUTH_SUCCESS,
    ];
    let header = first.first_chunk::<HEADER_BYTES>()?;
    let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize;
    let is_answer = (0x81..=0x86).contains(&header[0])
        && ANSWERS.contains(&header[4])
        && length <= MAX_OPENING_BYTES;
    is_answer.then(|| Sender {
        name: "a Cassandra server".to_owned(),
        scheme: Some("cassandra"),
    })
}

pub(crate) struct FrameReader {
    /// Whether messages travel in segments.
    is_framed: bool,
    is_lz4: bool,
    max_bytes: usize,
    /// Bytes of messages left in the segment at the beginning of the input, which has been checked.
    in_segment: usize,
    /// What was decompressed, or put together from several segments.
    own: Vec<u8>,
    /// How much of `own` has been read.
    read: usize,
    /// `own` is the beginning of one message.
    is_partial: bool,
}

/// Where the next message is.
enum Place {
    Input(Range<usize>),
    Own(Range<usize>),
}

impl Default for FrameReader {
    fn default() -> Self {
        Self {
            is_framed: false,
            is_lz4: false,
            max_bytes: MAX_OPENING_BYTES,
            in_segment: 0,
            own: Vec::new(),
            read: 0,
            is_partial: false,
        }
    }
}

impl FrameReader {
    /// The opening is over: messages come as agreed on.
    pub(crate) fn agree(&mut self, is_framed: bool, is_lz4: bool) {
        self.is_framed = is_framed;
        self.is_lz4 = is_lz4;
        self.max_bytes = MAX_MESSAGE_BYTES;
    }

    /// The next message, if it has come as a whole, and how many bytes of the input are used up.
    #[inline]
    pub(crate) fn next<'a>(&'a mut self, input: &'a [u8]) -> Result<(usize, Option<Message<'a>>)> {
        let (used, place) = if self.is_framed {
            self.framed(input)?
        } else {
            self.bare(input)?
        };
        let bytes = match place {
            None => return Ok((used, None)),
            Some(Place::Input(range)) => &input[range],
            Some(Place::Own(range)) => &self.own[range],
        };
        let message = Message {
            version: bytes[0],
            flags: bytes[1],
            stream: i16::from_be_bytes([bytes[2], bytes[3]]),
            opcode: bytes[4],
            body: &bytes[HEADER_BYTES..],
        };
        Ok((used, Some(message)))
    }

    fn bare(&mut self, input: &[u8]) -> Result<(usize, Option<Place>)> {
        let Some(size) = self.size(input)?.filter(|&size| size <= input.len()) else {
            return Ok((0, None));
        };
        if input[1] & header_flag::COMPRESSED == 0 {
            return Ok((size, Some(Place::Input(0..size))));
        }
        if !self.is_lz4 {
            return Err(SystemError::protocol(
                "a message without compression",
                "a compressed one",
            ));
        }
        let (header, body) = input[..size].split_at(HEADER_BYTES);
        let (length, packed) = (body.split_first_chunk::<4>()).ok_or_else(wrong_compression)?;
        let length = u32::from_be_bytes(*length) as usize;
        self.own.clear();
        self.own.extend_from_slice(header);
        self.decompress(packed, length)?;
        Ok((size, Some(Place::Own(0..self.own.len()))))
    }

    #[inline]
    fn framed(&mut self, input: &[u8]) -> Result<(usize, Option<Place>)> {
        let mut used = 0;
        loop {
            if self.in_segment > 0 {
                let end = (used + self.in_segment).min(input.len());
                let size = self.whole(&input[used..end])?;
                self.in_segment -= size;
                let message = used..used + size;
                used = message.end;
                if self.in_segment == 0 {
                    used += CRC32_BYTES;
                }
                return Ok((used.min(input.len()), Some(Place::Input(message))));
            }
            if let Some(place) = self.next_of_own()? {
                return Ok((used, Some(place)));
            }
            let Some(segment) = Segment::read(&input[used..], self.is_lz4)? else {
                return Ok((used, None));
            };
            if self.is_partial && segment.is_self_contained {
                return Err(SystemError::protocol(
                    "the rest of a message",
                    "a segment of other messages",
                ));
            }
            if segment.is_self_contained && segment.plain_bytes == 0 {
                self.in_segment = segment.payload.len();
                used += segment.header_bytes;
                if self.in_segment == 0 {
                    used += CRC32_BYTES;
                }
                continue;
            }
            used += segment.size();
            match segment.plain_bytes {
                0 => self.own.extend_from_slice(segment.payload),
                plain_bytes => self.decompress(segment.payload, plain_bytes)?,
            }
            self.is_partial = !segment.is_self_contained;
        }
    }

    /// The next message of what was decompressed or put together.
    fn next_of_own(&mut self) -> Result<Option<Place>> {
        if self.read < self.own.len() {
            let rest = &self.own[self.read..];
            let size = match self.size(rest)? {
                Some(size) if size <= rest.len() => size,
                _ if self.is_partial => return Ok(None),
                _ => return Err(not_whole()),
            };
            if self.is_partial && size < rest.len() {
                return Err(SystemError::protocol("one message", "bytes behind its end"));
            }
            self.is_partial = false;
            let start = self.read;
            self.read += size;
            return Ok(Some(Place::Own(start..self.read)));
        }
        self.own.clear();
        self.read = 0;
        if self.own.capacity() > KEPT_BYTES {
            self.own = Vec::new();
        }
        Ok(None)
    }

    /// The size of the message that begins here; `None` while its header is not complete.
    #[inline]
    fn size(&self, bytes: &[u8]) -> Result<Option<usize>> {
        let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize;
        if length > self.max_bytes {
            return Err(SystemError::protocol(
                &format!("a message of at most {} bytes", self.max_bytes),
                format!("one of {length} bytes"),
            ));
        }
        Ok(Some(HEADER_BYTES + length))
    }

    /// The size of a message that must be complete.
    #[inline]
    fn whole(&self, bytes: &[u8]) -> Result<usize> {
        let size = self.size(bytes)?.filter(|&size| size <= bytes.len());
        size.ok_or_else(not_whole)
    }

    /// Appends to `own` what becomes of `packed`.
    fn decompress(&mut self, packed: &[u8], length: usize) -> Result<()> {
        // No byte of LZ4 stands for more than 255: memory is not taken on a server's word.
        if length > self.max_bytes || length > packed.len().saturating_mul(255) {
            return Err(wrong_compression());
        }
        let start = self.own.len();
        self.own.resize(start + length, 0);
        match lz4_flex::block::decompress_into(packed, &mut self.own[start..]) {
            Ok(found) if found == length => Ok(()),
            _ => Err(wrong_compression()),
        }
    }
}

#[cold]
fn wrong_compression() -> SystemError {
    SystemError::protocol("bytes compressed by LZ4", "bytes that are not")
}

#[cold]
fn not_whole() -> SystemError {
    SystemError::protocol("whole messages in a segment", "a part of one")
}
