//! Takes the text of a row; returns its values one after the other.

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
pub(crate) fn write(value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(value.len().to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_hold_anything() {
        let mut row = Vec::new();
        for value in [&b"X:0001"[..], b"", b"-100"] {
            write(value, &mut row);
        }
        row.extend_from_slice(b"-2:\n");
        let mut fields = Fields(&row);
        assert_eq!(fields.value(), Some(Some(&b"X:0001"[..])));
        assert_eq!(fields.value(), Some(Some(&b""[..])));
        assert_eq!(fields.value(), Some(Some(&b"-100"[..])));
        assert_eq!(fields.value(), Some(None), "a negative length is NULL");
        assert!(fields.is_empty());
        assert_eq!(fields.value(), None);
        for broken in [
            "",
            ":",
            "-:",
            "5:abcd",
            "1x:a",
            "99999999999:a",
            "1",
            "--1:",
            "+1:a",
        ] {
            assert_eq!(Fields(broken.as_bytes()).value(), None, "{broken}");
        }
    }
}
