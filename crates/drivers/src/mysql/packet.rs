//! Takes payloads and gives packets, and the other way round: three bytes of length, one byte of
//! sequence number, then the payload. A payload of 16 MiB − 1 or more travels in several packets,
//! the last of which is shorter than that (it may be empty).

use super::constants::command;
use super::refusal;
use crate::SystemError;

/// A packet with a payload this long is followed by another one of the same message.
pub(super) const FULL: usize = 0xFF_FFFF;
/// The largest value `max_allowed_packet` can have in any server: more than this is no message.
const LONGEST_MESSAGE: usize = 1 << 30;

/// The payload of one message: in the caller's buffer, or joined where it came in several packets.
pub(super) enum Payload<'a> {
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

/// Both directions of one exchange: they share the sequence number.
#[derive(Default)]
pub(super) struct Packets {
    sequence: u8,
    is_pipelined: bool,
    joined: Vec<u8>,
}

impl Packets {
    pub(super) const HEADER: usize = 4;

    /// Appends a statement as text.
    pub(super) fn query(&mut self, text: &str, out: &mut Vec<u8>) {
        self.begin_command();
        self.write(out, |out| {
            out.push(command::QUERY);
            out.extend_from_slice(text.as_bytes());
        });
    }

    /// Several commands are under way, and the answer to each counts from its own beginning: the
    /// order is not looked at.
    pub(super) fn set_pipelined(&mut self, is_pipelined: bool) {
        self.is_pipelined = is_pipelined;
    }

    /// A command begins: it counts from 0 again.
    pub(super) fn begin_command(&mut self) {
        self.sequence = 0;
    }

    /// Appends one message, whose payload `write` appends to the buffer it is given.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.open(out);
        write(out);
        if Self::length(out, start) < FULL {
            return Self::close(out, start);
        }
        // Rare and long: one copy more than needed, and everything else stays simple.
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

    /// Appends one packet of its own.
    pub(super) fn append(&mut self, out: &mut Vec<u8>, payload: &[u8]) {
        let start = self.open(out);
        set_length(out, start, payload.len());
        out.extend_from_slice(payload);
    }

    /// Appends a header whose length is still to be set; gives its place.
    pub(super) fn open(&mut self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.extend_from_slice(&[0, 0, 0, self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
        start
    }

    /// Ends the packet that [`Packets::open`] began at `start`: it holds all that follows in `out`,
    /// which must be less than [`FULL`].
    pub(super) fn close(out: &mut [u8], start: usize) {
        set_length(out, start, Self::length(out, start));
    }

    /// Length of the payload of the last packet, which began at `start`.
    pub(super) fn length(out: &[u8], start: usize) -> usize {
        out.len() - start - Self::HEADER
    }

    /// The payload of the first packet of `input`, where it is a message of its own, whole and in order;
    /// nothing where [`Packets::read`] must look closer. Then [`Packets::passed`], if it is used.
    #[inline]
    pub(super) fn peek<'a>(&self, input: &'a [u8]) -> Option<&'a [u8]> {
        let &[a, b, c, sequence] = input.first_chunk()?;
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        let is_plain = sequence == self.sequence && length < FULL && self.joined.is_empty();
        if is_plain {
            input.get(Self::HEADER..Self::HEADER + length)
        } else {
            None
        }
    }

    /// The packet that was peeked at is used.
    #[inline]
    pub(super) fn passed(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Reads one message; gives how many bytes of `input` it used (also where the message is not
    /// complete: the parts of a long one are kept here) and the payload where it is complete.
    pub(super) fn read<'a>(
        &mut self,
        input: &'a [u8],
    ) -> Result<(usize, Option<Payload<'a>>), SystemError> {
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
                // Given away, not kept: one long message must not hold its memory for good.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What `Packets::write` makes is what `Packets::read` takes, around the length that decides.
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
}
