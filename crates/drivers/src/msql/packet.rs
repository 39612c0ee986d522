//! Takes bytes; returns the text of whole packets, and the values of a row. Takes text; appends it as a packet, or as a
//! value of a row.

use crate::{Result, SystemError};

/// What a server accepts in one packet.
pub(crate) const MAX_SENT_BYTES: usize = 32 * 1024;

/// Longer packets are not read: the protocol's own limit is far lower.
const MAX_READ_BYTES: usize = 1024 * 1024;

const LENGTH_BYTES: usize = 4;

/// The first packet of `input`, and how many bytes it has with its length; nothing where it is incomplete.
///
/// # Errors
/// Where the length is none that a packet can have.
#[inline]
pub(crate) fn read(input: &[u8]) -> Result<Option<(usize, &[u8])>> {
    let Some((length, rest)) = input.split_first_chunk::<LENGTH_BYTES>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_READ_BYTES {
        return Err(SystemError::protocol(
            "a packet of at most 1 MiB",
            format_args!("one of {length} bytes"),
        ));
    }
    let text = rest.get(..length);
    Ok(text.map(|text| (LENGTH_BYTES + length, text)))
}

/// Appends the packet whose text `write` appends.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    write(out);
    let length = u32::try_from(out.len() - start - LENGTH_BYTES).unwrap_or(u32::MAX);
    out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
}

/// Commands of a client.
pub(crate) mod command {
    pub const QUIT: &[u8] = b"1:";
    pub const DATABASE: &[u8] = b"2:";
    pub const QUERY: &[u8] = b"3:";
}

/// Appends a command.
pub(crate) fn send(command: &[u8], text: &[u8], out: &mut Vec<u8>) {
    write(out, |out| {
        out.extend_from_slice(command);
        out.extend_from_slice(text);
    });
}

/// The unread rest of a row, whose values are `LENGTH:BYTES`. A negative length is NULL.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next value; the outer `None` where the row does not have it, or has something else.
    #[inline]
    #[expect(
        clippy::option_option,
        reason = "missing, NULL, and a value are three things"
    )]
    pub(crate) fn value(&mut self) -> Option<Option<&'a [u8]>> {
        let colon = self
            .0
            .iter()
            .take(MAX_DIGITS + 2)
            .position(|&byte| byte == b':')?;
        let (length, rest) = (number(&self.0[..colon])?, &self.0[colon + 1..]);
        match usize::try_from(length) {
            Ok(length) => {
                let (value, rest) = rest.split_at_checked(length)?;
                self.0 = rest;
                Some(Some(value))
            }
            Err(_) => {
                self.0 = rest;
                Some(None)
            }
        }
    }

    /// Whether nothing remains but the end of the line.
    pub(crate) fn is_empty(self) -> bool {
        self.0.trim_ascii().is_empty()
    }
}

/// Digits of a number of 32 bits.
const MAX_DIGITS: usize = 10;

/// A whole number, with a sign if it is negative.
pub(crate) fn number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    let mut value = 0_i64;
    for digit in digits {
        match digit {
            b'0'..=b'9' => value = value * 10 + i64::from(digit - b'0'),
            _ => return None,
        }
    }
    Some(if digits.len() < text.len() {
        -value
    } else {
        value
    })
}

/// Appends a value of a row.
#[inline]
pub(crate) fn write_field(value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(value.len().to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        send(command::QUERY, b"select a from t", &mut bytes);
        assert_eq!(&bytes[..4], [17, 0, 0, 0]);
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Ok(None), "{end} bytes are not all");
        }
        bytes.push(b'x');
        let whole = (bytes.len() - 1, &b"3:select a from t"[..]);
        assert_eq!(read(&bytes), Ok(Some(whole)));
        assert!(read(&[0, 0, 16, 0]).is_ok());
        assert!(read(&[1, 0, 16, 0]).is_err());
    }

    #[test]
    fn values_may_hold_anything() {
        let mut row = Vec::new();
        for value in [&b"X:0001"[..], b"", b"-100"] {
            write_field(value, &mut row);
        }
        row.extend_from_slice(b"-2:\n");
        let mut fields = Fields(&row);
        assert_eq!(fields.value(), Some(Some(&b"X:0001"[..])));
        assert_eq!(fields.value(), Some(Some(&b""[..])));
        assert_eq!(fields.value(), Some(Some(&b"-100"[..])));
        assert_eq!(fields.value(), Some(None), "a negative length is NULL");
        assert!(fields.is_empty());
        assert_eq!(fields.value(), None);
        #[rustfmt::skip]
        let cases = [
            "", ":", "-:", "5:abcd", "1x:a", "99999999999:a", "1", "--1:", "+1:a",
        ];
        for broken in cases {
            assert_eq!(Fields(broken.as_bytes()).value(), None, "{broken}");
        }
    }
}
