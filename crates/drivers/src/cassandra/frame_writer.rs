//! Takes messages; appends their bytes, in segments where that is agreed on.

use crate::cassandra::notation::{HEADER_BYTES, MAX_MESSAGE_BYTES, Version, header_flag};
use crate::cassandra::segment::{MAX_PAYLOAD_BYTES, ROOM, seal, write_lz4};
use crate::{ErrorClass, Result, SystemError};

pub(crate) struct FrameWriter {
    /// The first byte of each message.
    version: u8,
    is_framed: bool,
    is_lz4: bool,
    /// Memory to put a message together in, and to compress it.
    message: Vec<u8>,
    packed: Vec<u8>,
}

impl FrameWriter {
    pub(crate) fn new(version: u8) -> Self {
        Self {
            version,
            is_framed: false,
            is_lz4: false,
            message: Vec::new(),
            packed: Vec::new(),
        }
    }

    pub(crate) fn set_version(&mut self, version: u8) {
        self.version = version;
    }

    /// The opening is over: messages are sent as agreed on.
    pub(crate) fn agree(&mut self, is_framed: bool, is_lz4: bool) {
        self.is_framed = is_framed;
        self.is_lz4 = is_lz4;
    }

    pub(crate) fn is_v5(&self) -> bool {
        self.version & 0x7F == Version::V5.byte()
    }

    /// Appends a message whose body cannot fail and is short.
    #[inline]
    pub(crate) fn send(
        &mut self,
        opcode: u8,
        stream: i16,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Vec<u8>),
    ) {
        let infallible = |out: &mut Vec<u8>| {
            body(out);
            Ok(())
        };
        let sent = self.try_send(opcode, stream, out, infallible);
        debug_assert!(sent.is_ok(), "a short message can be sent");
    }

    /// # Errors
    /// Those of `body`, and where the message is longer than a server reads. Nothing was appended.
    #[inline]
    pub(crate) fn try_send(
        &mut self,
        opcode: u8,
        stream: i16,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let start = out.len();
        if self.is_lz4 {
            let mut message = std::mem::take(&mut self.message);
            message.clear();
            let written = self.write(opcode, stream, &mut message, body);
            if written.is_ok() {
                self.append_lz4(&message, out);
            }
            self.message = message;
            return written;
        }
        if self.is_framed {
            out.extend_from_slice(&ROOM);
        }
        if let Err(error) = self.write(opcode, stream, out, body) {
            out.truncate(start);
            return Err(error);
        }
        if !self.is_framed {
            return Ok(());
        }
        if out.len() - start - ROOM.len() <= MAX_PAYLOAD_BYTES {
            seal(start, true, out);
            return Ok(());
        }
        self.message.clear();
        self.message.extend_from_slice(&out[start + ROOM.len()..]);
        out.truncate(start);
        for part in self.message.chunks(MAX_PAYLOAD_BYTES) {
            let start = out.len();
            out.extend_from_slice(&ROOM);
            out.extend_from_slice(part);
            seal(start, false, out);
        }
        Ok(())
    }

    /// Appends header and body.
    #[inline]
    fn write(
        &self,
        opcode: u8,
        stream: i16,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let start = out.len();
        let [high, low] = stream.to_be_bytes();
        out.extend_from_slice(&[self.version, 0, high, low, opcode, 0, 0, 0, 0]);
        body(out)?;
        let length = out.len() - start - HEADER_BYTES;
        if length > MAX_MESSAGE_BYTES {
            let message = format!(
                "the request has {length} bytes; the protocol takes at most {MAX_MESSAGE_BYTES}"
            );
            return Err(SystemError::new(ErrorClass::Data, "", message));
        }
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        out[start + 5..start + HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }

    fn append_lz4(&mut self, message: &[u8], out: &mut Vec<u8>) {
        if self.is_framed {
            let is_self_contained = message.len() <= MAX_PAYLOAD_BYTES;
            for part in message.chunks(MAX_PAYLOAD_BYTES) {
                write_lz4(part, is_self_contained, &mut self.packed, out);
            }
            return;
        }
        let (header, body) = message.split_at(HEADER_BYTES);
        let start = out.len();
        out.extend_from_slice(header);
        if body.is_empty() {
            return;
        }
        out[start + 1] |= header_flag::COMPRESSED;
        self.packed.clear();
        let most = lz4_flex::block::get_maximum_output_size(body.len());
        self.packed.resize(most, 0);
        let length = lz4_flex::block::compress_into(body, &mut self.packed)
            .expect("the buffer is as large as the result can be");
        let plain_bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let packed_bytes = u32::try_from(length + 4).unwrap_or(u32::MAX);
        out[start + 5..].copy_from_slice(&packed_bytes.to_be_bytes());
        out.extend_from_slice(&plain_bytes.to_be_bytes());
        out.extend_from_slice(&self.packed[..length]);
    }
}
