//! Takes the body of a message; gives its counts, texts and bytes one after the other, or nothing where it ends too early.

use crate::scan::Scan;

impl<'a> Scan<'a> {
    /// A count or a length that must not be negative.
    pub(crate) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.i32_be()?).ok()
    }

    /// *string*: a length of two bytes, then UTF-8.
    pub(crate) fn string(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.short_bytes()?).ok()
    }

    /// *long string*: a length of four bytes, then UTF-8.
    pub(crate) fn long_string(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub(crate) fn short_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u16_be()?;
        self.take(length.into())
    }

    /// *bytes*: a length of four bytes; a negative one is NULL.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Option<Option<&'a [u8]>> {
        match usize::try_from(self.i32_be()?) {
            Ok(length) => Some(Some(self.take(length)?)),
            Err(_) => Some(None),
        }
    }

    /// *string list*.
    pub(crate) fn strings(&mut self) -> Option<Vec<&'a str>> {
        (0..self.u16_be()?).map(|_| self.string()).collect()
    }
}

/// A length or a count of four bytes.
pub(crate) fn write_length(length: usize, out: &mut Vec<u8>) {
    // Nothing longer is ever written: a message of more bytes is refused where it is put together.
    let length = i32::try_from(length).unwrap_or(i32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
}

/// *string*: what is longer than its length can say is cut off.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    write_short_bytes(&text.as_bytes()[..text.len().min(0xFFFF)], out);
}

pub(crate) fn write_short_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&bytes[..length.into()]);
}

/// *bytes* and *long string*.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}
