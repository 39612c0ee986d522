//! Takes a text; returns the length of its prefix that can be copied unchanged.

/// The number of bytes of `text`, which does not begin with white space or markup, before the first
/// white space that is not a single blank between words and, if `STOPS_AT_MARKUP`, before the
/// first of `{` `}` `\\` `~`.
///
/// Most text of a bibliography is scanned here, so eight bytes are examined at once.
pub(crate) fn quiet_length<const STOPS_AT_MARKUP: bool>(text: &[u8]) -> usize {
    let mut length = 0;
    let mut words = text.chunks_exact(8);
    for word in words.by_ref() {
        let word: [u8; 8] = word.try_into().expect("chunks of eight bytes");
        let stops = stops::<STOPS_AT_MARKUP>(u64::from_le_bytes(word));
        if stops != 0 {
            return without_blank(text, length + stops.trailing_zeros() as usize / 8);
        }
        // Two adjacent blanks may be in two words of eight bytes.
        if word[7] == b' ' && text.get(length + 8).is_none_or(|&next| next == b' ') {
            return without_blank(text, length + 8);
        }
        length += 8;
    }
    let mut rest = [b' '; 8];
    rest[..words.remainder().len()].copy_from_slice(words.remainder());
    let stops = stops::<STOPS_AT_MARKUP>(u64::from_le_bytes(rest));
    // The text is padded with blanks, which end the scan.
    let quiet = if stops == 0 {
        8
    } else {
        stops.trailing_zeros() as usize / 8
    };
    without_blank(text, length + quiet.min(words.remainder().len()))
}

/// A blank before the stop belongs to the white space or markup after it.
fn without_blank(text: &[u8], length: usize) -> usize {
    if length > 0 && text[length - 1] == b' ' {
        length - 1
    } else {
        length
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A word whose lowest set bit is in the first byte at which to stop; higher bits have no meaning.
fn stops<const STOPS_AT_MARKUP: bool>(word: u64) -> u64 {
    // All control characters: only white space matters, but the others are rare.
    let mut stops = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    let blanks = equal(word, b' ');
    stops |= blanks & (blanks >> 8);
    if STOPS_AT_MARKUP {
        stops |= equal(word, b'{') | equal(word, b'}') | equal(word, b'\\') | equal(word, b'~');
    }
    stops
}

/// Sets the high bit of exactly those bytes of `word` that equal `byte`.
fn equal(word: u64, byte: u8) -> u64 {
    let differing = word ^ (ONES * u64::from(byte));
    !(((differing & !HIGH) + !HIGH) | differing) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same byte by byte.
    fn plainly(text: &[u8], stops_at_markup: bool) -> usize {
        let is_stop = |at: usize| {
            let byte = text[at];
            byte < 0x20
                || (byte == b' ' && text.get(at + 1).is_none_or(|&next| next == b' '))
                || (stops_at_markup && matches!(byte, b'{' | b'}' | b'\\' | b'~'))
        };
        let length = (0..text.len())
            .find(|&at| is_stop(at))
            .unwrap_or(text.len());
        without_blank(text, length)
    }

    #[test]
    fn eight_bytes_at_once_give_the_same_as_byte_by_byte() {
        let mut random = assay_values::Random::stream(7, 0);
        let letters = b"abc   {}\\~\n\t\xC3\xA9\x7F|xyzxyzxyzxyzxyzxyzxyz";
        for _ in 0..200_000 {
            let length = crate::chance::length_between(&mut random, 1, 40);
            let mut text: Vec<u8> = (0..length)
                .map(|_| crate::chance::pick(&mut random, letters))
                .collect();
            text[0] = b'a';
            assert_eq!(
                quiet_length::<true>(&text),
                plainly(&text, true),
                "{text:?}"
            );
            assert_eq!(
                quiet_length::<false>(&text),
                plainly(&text, false),
                "{text:?}"
            );
        }
    }
}
