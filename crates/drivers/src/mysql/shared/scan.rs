//! Takes a payload; returns its lengths and texts in order, or `None` where it ends too early.

use crate::scan::Scan;

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

    #[test]
    fn lengths_are_read_as_they_are_written() {
        for length in [
            0,
            250,
            251,
            0xFFFF,
            0x1_0000,
            0xFF_FFFF,
            0x100_0000,
            1 << 40,
        ] {
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
