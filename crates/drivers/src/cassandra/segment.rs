//! Takes bytes that begin with a segment of protocol version 5, or a payload; gives the segment's parts, or
//! its bytes.
//!
//! ```text
//!   without compression: header (3 bytes) · CRC24 of it (3) · payload · CRC32 of it (4)
//!   with compression:    header (5 bytes) · CRC24 of it (3) · payload · CRC32 of it (4)
//! ```
//!
//! The header holds the payload's length, with compression the length before it (0: it is not compressed),
//! and whether the payload is self-contained: whole messages, and not a part of one.

use std::sync::LazyLock;

use crate::{Result, SystemError};

/// The longest payload that the header can name.
pub(crate) const MAX_PAYLOAD_BYTES: usize = (1 << 17) - 1;
pub(crate) const CRC32_BYTES: usize = 4;
const CRC24_BYTES: usize = 3;

/// The parts of a segment whose checksums are right.
pub(crate) struct Segment<'a> {
    pub(crate) payload: &'a [u8],
    /// The length of the payload once it is decompressed; 0 if it is not compressed.
    pub(crate) plain_bytes: usize,
    pub(crate) is_self_contained: bool,
    /// Bytes before the payload.
    pub(crate) header_bytes: usize,
}

impl<'a> Segment<'a> {
    /// `None`: it is not complete yet.
    #[inline]
    pub(crate) fn read(input: &'a [u8], is_lz4: bool) -> Result<Option<Self>> {
        let size = if is_lz4 { 5 } else { 3 };
        let header_bytes = size + CRC24_BYTES;
        if input.len() < header_bytes {
            return Ok(None);
        }
        let header = number(&input[..size]);
        if number(&input[size..header_bytes]) != u64::from(crc24(&input[..size])) {
            return Err(wrong_checksum("the header of a segment"));
        }
        let length = length_in(header);
        let (plain_bytes, is_self_contained) = if is_lz4 {
            let plain_bytes = length_in(header >> 17);
            (plain_bytes, header >> 34 & 1 == 1)
        } else {
            (0, header >> 17 & 1 == 1)
        };
        let end = header_bytes + length;
        let Some(checksum) = input.get(end..end + CRC32_BYTES) else {
            return Ok(None);
        };
        let payload = &input[header_bytes..end];
        if number(checksum) != u64::from(crc32(payload)) {
            return Err(wrong_checksum("the payload of a segment"));
        }
        Ok(Some(Self {
            payload,
            plain_bytes,
            is_self_contained,
            header_bytes,
        }))
    }

    /// All its bytes, checksums as well.
    pub(crate) fn size(&self) -> usize {
        self.header_bytes + self.payload.len() + CRC32_BYTES
    }
}

/// Room for a header without compression, which [`seal`] fills.
pub(crate) const ROOM: [u8; 6] = [0; 6];

/// Completes a segment without compression: `out` has [`ROOM`] at `start`, then the payload.
#[inline]
pub(crate) fn seal(start: usize, is_self_contained: bool, out: &mut Vec<u8>) {
    let payload = start + ROOM.len();
    let length = (out.len() - payload) as u64;
    let checksum = crc32(&out[payload..]);
    let header = length | u64::from(is_self_contained) << 17;
    fill_header(header, &mut out[start..payload]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// Appends a segment of a connection with compression. A payload that does not become shorter stays as it is.
pub(crate) fn write_lz4(
    plain: &[u8],
    is_self_contained: bool,
    packed: &mut Vec<u8>,
    out: &mut Vec<u8>,
) {
    packed.clear();
    packed.resize(lz4_flex::block::get_maximum_output_size(plain.len()), 0);
    let length = lz4_flex::block::compress_into(plain, packed);
    let (payload, plain_bytes) = match length {
        Ok(length) if length < plain.len() => (&packed[..length], plain.len()),
        _ => (plain, 0),
    };
    let header =
        payload.len() as u64 | (plain_bytes as u64) << 17 | u64::from(is_self_contained) << 34;
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    fill_header(header, &mut out[start..]);
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc32(payload).to_le_bytes());
}

/// Writes the header and its checksum into exactly their bytes.
#[inline]
fn fill_header(header: u64, place: &mut [u8]) {
    let size = place.len() - CRC24_BYTES;
    place[..size].copy_from_slice(&header.to_le_bytes()[..size]);
    let checksum = crc24(&place[..size]);
    place[size..].copy_from_slice(&checksum.to_le_bytes()[..CRC24_BYTES]);
}

/// The lowest 17 bits, which are a length.
#[inline]
fn length_in(header: u64) -> usize {
    usize::try_from(header & MAX_PAYLOAD_BYTES as u64).unwrap_or(MAX_PAYLOAD_BYTES)
}

/// Up to eight bytes, the lowest first.
#[inline]
fn number(bytes: &[u8]) -> u64 {
    (bytes.iter().rev()).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn wrong_checksum(of: &str) -> SystemError {
    SystemError::protocol(&format!("{of} with its checksum"), "a different checksum")
}

const CRC24_START: u32 = 0x0087_5060;
const CRC24_POLYNOMIAL: u32 = 0x0197_4F0B;

static CRC24_TABLE: [u32; 256] = crc24_table();

const fn crc24_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0_u32;
    while index < 256 {
        let mut crc = index << 16;
        let mut bit = 0;
        while bit < 8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= CRC24_POLYNOMIAL;
            }
            bit += 1;
        }
        table[index as usize] = crc & 0x00FF_FFFF;
        index += 1;
    }
    table
}

/// Of the three or five bytes of a header, as they are sent.
#[inline]
pub(crate) fn crc24(bytes: &[u8]) -> u32 {
    bytes.iter().fold(CRC24_START, |crc, &byte| {
        let [_, highest, ..] = crc.to_be_bytes();
        ((crc << 8) & 0x00FF_FFFF) ^ CRC24_TABLE[usize::from(highest ^ byte)]
    })
}

/// The protocol puts four bytes before the payload, so that zeros have a checksum other than zero.
static CRC32_START: LazyLock<crc32fast::Hasher> = LazyLock::new(|| {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[0xFA, 0x2D, 0x55, 0xCA]);
    hasher
});

#[inline]
pub(crate) fn crc32(payload: &[u8]) -> u32 {
    let mut hasher = CRC32_START.clone();
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of the checksum, bit by bit.
    #[test]
    fn the_table_gives_what_the_polynomial_gives() {
        for bytes in [[0, 0, 0], [0x1D, 0, 2], [0xFF; 3], [9, 0x80, 0x7F]] {
            let mut crc = CRC24_START;
            for byte in bytes {
                crc ^= u32::from(byte) << 16;
                for _ in 0..8 {
                    crc <<= 1;
                    if crc & 0x0100_0000 != 0 {
                        crc ^= CRC24_POLYNOMIAL;
                    }
                }
            }
            assert_eq!(crc24(&bytes), crc, "{bytes:x?}");
        }
    }
}
