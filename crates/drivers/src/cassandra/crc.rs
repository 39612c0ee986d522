//! Takes the header or the payload of a segment; gives its checksum.

use std::sync::LazyLock;

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
pub(super) fn crc24(bytes: &[u8]) -> u32 {
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
pub(super) fn crc32(payload: &[u8]) -> u32 {
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
