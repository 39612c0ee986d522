//! Takes the text of a packet; returns what kind of reply it is.

use crate::msql::shared::fields::number;

/// What a server says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply<'a> {
    /// `-1:MESSAGE`
    Error(&'a [u8]),
    /// `1`: done, and nothing follows.
    Done,
    /// `1:FIELDS`: rows of this many values follow.
    Rows(usize),
    /// `-100`: no more rows.
    End,
    /// `0:PROTOCOL:VERSION`
    Greeting { protocol: i64, version: &'a [u8] },
    /// Anything else, such as a row.
    Other,
}

impl<'a> Reply<'a> {
    #[inline]
    pub(crate) fn read(text: &'a [u8]) -> Self {
        let text = text.trim_ascii_end();
        let (head, rest) = cut(text);
        match number(head) {
            Some(-100) => Self::End,
            Some(-1) => Self::Error(rest),
            Some(0) => {
                let (protocol, version) = cut(rest);
                number(protocol)
                    .map_or(Self::Other, |protocol| Self::Greeting { protocol, version })
            }
            Some(1) if rest.is_empty() => Self::Done,
            Some(1) => match number(rest).map(usize::try_from) {
                Some(Ok(0)) => Self::Done,
                Some(Ok(fields)) => Self::Rows(fields),
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }
}

/// What precedes the first colon, and what follows it.
fn cut(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| byte == b':') {
        Some(colon) => (&text[..colon], &text[colon + 1..]),
        None => (text, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_distinguished() {
        for (text, expected) in [
            (
                "-1:Unknown table \"t:u\"\n",
                Reply::Error(b"Unknown table \"t:u\""),
            ),
            ("1", Reply::Done),
            ("1:\n", Reply::Done),
            ("1:0", Reply::Done),
            ("1:6", Reply::Rows(6)),
            ("-100", Reply::End),
            ("-100:\n", Reply::End),
            (
                "0:4:1.0.16\n",
                Reply::Greeting {
                    protocol: 4,
                    version: b"1.0.16",
                },
            ),
            ("1:-6", Reply::Other),
            ("1:six", Reply::Other),
            ("6:X:00011:7", Reply::Other),
            ("", Reply::Other),
            ("0", Reply::Other),
        ] {
            assert_eq!(Reply::read(text.as_bytes()), expected, "{text}");
        }
    }
}
