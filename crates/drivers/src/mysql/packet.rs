//! Takes payloads and writes packets, and the reverse: three bytes of length, one byte of sequence
//! number, then the payload. A payload of 16 MiB − 1 or more is split into several packets, the last
//! of which is shorter than that (it may be empty). Within a payload: lengths and texts, in order.

use crate::mysql::constants::{IN_TRANSACTION, command};
use crate::mysql::refusal;
use crate::scan::Scan;
use crate::{Result, SystemError, TransactionStatus};

/// A packet with a payload this long is followed by another packet of the same message.
pub(crate) const FULL: usize = 0xFF_FFFF;
/// The largest possible value of `max_allowed_packet`: a longer message is an error.
const LONGEST_MESSAGE: usize = 1 << 30;

/// The payload of one message: in the caller's buffer, or joined from several packets.
pub(crate) enum Payload<'a> {
    Whole(&'a [u8]),
    Joined(Vec<u8>),
}

impl std::ops::Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Joined(bytes) => bytes,
        }
    }
}

/// Reads and writes packets; both directions share the sequence number.
#[derive(Default)]
pub(crate) struct Packets {
    sequence: u8,
    is_pipelined: bool,
    joined: Vec<u8>,
}

impl Packets {
    pub(crate) const HEADER: usize = 4;

    /// Appends a statement as text.
    pub(crate) fn query(&mut self, text: &str, out: &mut Vec<u8>) {
        self.begin_command();
        self.write(out, |out| {
            out.push(command::QUERY);
            out.extend_from_slice(text.as_bytes());
        });
    }

    /// Several commands are sent before their answers, and the sequence numbers of each answer start
    /// again: the sequence is not checked.
    pub(crate) fn set_pipelined(&mut self, is_pipelined: bool) {
        self.is_pipelined = is_pipelined;
    }

    /// A command begins: the sequence number starts at 0.
    pub(crate) fn begin_command(&mut self) {
        self.sequence = 0;
    }

    /// Appends one message, whose payload `write` appends.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.open(out);
        write(out);
        if Self::length(out, start) < FULL {
            return Self::close(out, start);
        }
        // Rare: one extra copy keeps the rest of the code simple.
        let payload = out.split_off(start + Self::HEADER);
        let mut parts = payload.chunks(FULL);
        let first = parts.next().unwrap_or_default();
        set_length(out, start, first.len());
        out.extend_from_slice(first);
        for part in parts {
            self.append(out, part);
        }
        if payload.len().is_multiple_of(FULL) {
            self.append(out, &[]);
        }
    }

    /// Appends one packet.
    pub(crate) fn append(&mut self, out: &mut Vec<u8>, payload: &[u8]) {
        let start = self.open(out);
        set_length(out, start, payload.len());
        out.extend_from_slice(payload);
    }

    /// Appends a header whose length is set later; returns its offset.
    pub(crate) fn open(&mut self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.extend_from_slice(&[0, 0, 0, self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
        start
    }

    /// Ends the packet that [`Packets::open`] began at `start`: its payload is the rest of `out`, which
    /// must be shorter than [`FULL`].
    pub(crate) fn close(out: &mut [u8], start: usize) {
        set_length(out, start, Self::length(out, start));
    }

    /// Length of the payload of the last packet, which began at `start`.
    pub(crate) fn length(out: &[u8], start: usize) -> usize {
        out.len() - start - Self::HEADER
    }

    /// The payload of the first packet of `input` if it is a complete message in sequence; `None` where
    /// [`Packets::read`] must handle it. Call [`Packets::passed`] once it is used.
    #[inline]
    pub(crate) fn peek<'a>(&self, input: &'a [u8]) -> Option<&'a [u8]> {
        let &[a, b, c, sequence] = input.first_chunk()?;
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        let is_plain = sequence == self.sequence && length < FULL && self.joined.is_empty();
        if is_plain {
            input.get(Self::HEADER..Self::HEADER + length)
        } else {
            None
        }
    }

    /// The packet returned by [`Packets::peek`] has been used.
    #[inline]
    pub(crate) fn passed(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Reads one message; returns how many bytes of `input` it used, and the payload once the message is
    /// complete. The parts of a long message are buffered here, so bytes are used before that.
    pub(crate) fn read<'a>(&mut self, input: &'a [u8]) -> Result<(usize, Option<Payload<'a>>)> {
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let Some(&[a, b, c, sequence]) = rest.first_chunk() else {
                return Ok((used, None));
            };
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            let Some(part) = rest.get(Self::HEADER..Self::HEADER + length) else {
                return Ok((used, None));
            };
            if sequence != self.sequence && !self.is_pipelined {
                return Err(refusal::out_of_order(self.sequence, sequence, part));
            }
            self.sequence = sequence.wrapping_add(1);
            used += Self::HEADER + length;
            if length < FULL && self.joined.is_empty() {
                return Ok((used, Some(Payload::Whole(part))));
            }
            if self.joined.len() + length > LONGEST_MESSAGE {
                return Err(SystemError::protocol(
                    "a message of at most 1 GiB",
                    "a longer one",
                ));
            }
            self.joined.extend_from_slice(part);
            if length < FULL {
                // Moved out, so that one long message does not keep its memory allocated.
                return Ok((
                    used,
                    Some(Payload::Joined(std::mem::take(&mut self.joined))),
                ));
            }
        }
    }
}

fn set_length(out: &mut [u8], start: usize, length: usize) {
    debug_assert!(length <= FULL, "a packet holds at most 16 MiB - 1");
    let bytes = length.to_le_bytes();
    out[start..start + 3].copy_from_slice(&bytes[..3]);
}

#[derive(Debug, Default)]
pub(crate) struct ServerOk {
    pub(crate) affected: u64,
    pub(crate) status: u16,
    pub(crate) warnings: u16,
    /// "Records: 3  Deleted: 0  Skipped: 0  Warnings: 0" after a load; otherwise mostly empty.
    pub(crate) info: String,
}

/// The state of the session's transaction, by the server's status bits.
#[inline]
pub(crate) fn transaction_of(status: u16) -> TransactionStatus {
    match status & IN_TRANSACTION {
        0 => TransactionStatus::None,
        _ => TransactionStatus::Open,
    }
}

impl ServerOk {
    /// Reads an OK packet with either of its first bytes (0x00, or 0xFE after rows).
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let mut scan = Scan(payload);
        scan.u8()?;
        let affected = scan.length()?;
        scan.length()?; // last inserted id
        let status = scan.u16_le()?;
        let warnings = scan.u16_le()?;
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

impl<'a> Scan<'a> {
    /// A *length-encoded integer*: one byte below 251, else a prefix and 2, 3 or 8 bytes. The prefixes
    /// of NULL (251) and of an error (255) are not integers.
    pub(crate) fn length(&mut self) -> Option<u64> {
        match self.u8()? {
            short @ 0..=250 => Some(u64::from(short)),
            252 => self.u16_le().map(u64::from),
            253 => self
                .array()
                .map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            254 => self.array().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// A *length-encoded string*.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.length()?).ok()?;
        self.take(length)
    }
}

/// Appends a length-encoded integer.
pub(crate) fn write_length(out: &mut Vec<u8>, length: usize) {
    let bytes = (length as u64).to_le_bytes();
    match length {
        0..=250 => out.push(bytes[0]),
        251..=0xFFFF => {
            out.push(252);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(253);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(254);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Appends a length-encoded string.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    write_length(out, text.len());
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Packets::read` returns what `Packets::write` wrote, for lengths around the split.
    #[test]
    fn long_payloads_survive_the_split_into_packets() {
        for length in [0, 1, FULL - 1, FULL, FULL + 1, 2 * FULL, 2 * FULL + 7] {
            let payload: Vec<u8> = (0..length)
                .map(|at| ((at * 31) >> 3).to_le_bytes()[0])
                .collect();
            let mut wire = Vec::new();
            Packets::default().write(&mut wire, |out| out.extend_from_slice(&payload));
            assert_eq!(wire.len(), length + Packets::HEADER * (1 + length / FULL));

            let mut reader = Packets::default();
            let mut at = 0;
            let read = loop {
                let end = wire.len().min(at + FULL + 100_000);
                let (used, found) = reader.read(&wire[at..end]).expect("well formed");
                at += used;
                if let Some(found) = found {
                    break found.to_vec();
                }
            };
            assert_eq!(at, wire.len());
            assert!(read == payload, "payload of {length} bytes");
        }
    }

    #[test]
    fn a_packet_out_of_order_is_refused() {
        let error = Packets::default()
            .read(&[1, 0, 0, 3, 7])
            .err()
            .expect("sequence 3, not 0");
        assert!(error.message.contains("packet 0"), "{error}");
    }

    #[test]
    fn lengths_are_read_as_they_are_written() {
        for length in [0, 250, 251, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, 1 << 40] {
            let mut bytes = Vec::new();
            write_length(&mut bytes, length);
            let mut scan = Scan(&bytes);
            assert_eq!(scan.length(), Some(length as u64));
            assert!(scan.0.is_empty());
            assert_eq!(Scan(&bytes[..bytes.len() - 1]).length(), None);
        }
        assert_eq!(Scan(&[251]).length(), None, "251 is NULL");
    }
}
