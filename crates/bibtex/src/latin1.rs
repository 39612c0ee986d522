//! Takes Latin-1 bytes; returns the same text in UTF-8.

/// Decodes `from` into the beginning of `into`, which must hold twice as many bytes; returns the
/// number of bytes written.
pub(crate) fn decode(from: &[u8], into: &mut [u8]) -> usize {
    let mut at = 0;
    for &byte in from {
        if byte.is_ascii() {
            into[at] = byte;
            at += 1;
        } else {
            into[at] = 0xC0 | (byte >> 6);
            into[at + 1] = 0x80 | (byte & 0x3F);
            at += 2;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_becomes_its_code_point() {
        let all: Vec<u8> = (0..=255).collect();
        let mut into = [0; 512];
        let count = decode(&all, &mut into);
        let expected: String = (0..=255u8).map(char::from).collect();
        assert_eq!(std::str::from_utf8(&into[..count]), Ok(expected.as_str()));
    }
}
