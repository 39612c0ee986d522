//! Takes the packets that answer one statement; returns what kind of reply each is, counts, hashes or keeps the rows, and
//! names the columns.
//!
//! The columns are described behind the rows. Of a description the second value is the column's name.

use crate::msql::packet::{Fields, number};
use crate::msql::refusal;
use crate::msql::refusal::Moment;
use crate::{Answer, Result};

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

/// Values of a description: the column's table, name, type, length, and two properties.
const DESCRIPTION_VALUES: usize = 6;

/// Which packet comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    Head,
    Row { fields: usize },
    Description { left: usize },
}

impl Results {
    /// Takes one packet; returns whether the answer is complete.
    #[inline]
    pub(crate) fn packet(&mut self, text: &[u8], answer: &mut Answer) -> Result<bool> {
        let reply = Reply::read(text);
        if let Reply::Error(message) = reply {
            answer.error = Some(refusal::read(message, Moment::Statement).of_statement()?);
            return Ok(true);
        }
        match (*self, reply) {
            (Self::Head, Reply::Done) => Ok(true),
            (Self::Head, Reply::Rows(fields)) => {
                *self = Self::Row { fields };
                Ok(false)
            }
            (Self::Head, _) => Err(refusal::malformed("the reply to a statement", text)),
            (Self::Row { fields }, Reply::End) => {
                answer.forget_columns();
                *self = Self::Description { left: fields };
                Ok(false)
            }
            (Self::Row { fields }, _) => {
                row(text, fields, answer)?;
                Ok(false)
            }
            (Self::Description { left: 0 }, Reply::End) => Ok(true),
            (Self::Description { left }, _) if left > 0 => {
                describe(text, answer)?;
                *self = Self::Description { left: left - 1 };
                Ok(false)
            }
            (Self::Description { .. }, _) => Err(refusal::malformed(
                "the end of the column descriptions",
                text,
            )),
        }
    }
}

#[inline]
fn row(text: &[u8], fields: usize, answer: &mut Answer) -> Result<()> {
    if !answer.wants_cells() {
        answer.pass_row();
        return Ok(());
    }
    let malformed = || refusal::malformed(&format!("a row of {fields} values"), text);
    let mut values = Fields(text);
    answer.begin_row();
    for _ in 0..fields {
        answer.cell(values.value().ok_or_else(malformed)?);
    }
    if !values.is_empty() {
        return Err(malformed());
    }
    answer.end_row();
    Ok(())
}

fn describe(text: &[u8], answer: &mut Answer) -> Result<()> {
    let mut values = Fields(text);
    let mut described = [None; DESCRIPTION_VALUES];
    for value in &mut described {
        *value = (values.value())
            .ok_or_else(|| refusal::malformed("the description of a column", text))?;
    }
    let name = described[1].unwrap_or_default();
    answer.column(&String::from_utf8_lossy(name));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_distinguished() {
        #[rustfmt::skip]
        let cases = [
            ("-1:Unknown table \"t:u\"\n", Reply::Error(b"Unknown table \"t:u\"")),
            ("1", Reply::Done),
            ("1:\n", Reply::Done),
            ("1:0", Reply::Done),
            ("1:6", Reply::Rows(6)),
            ("-100", Reply::End),
            ("-100:\n", Reply::End),
            ("0:4:1.0.16\n", Reply::Greeting { protocol: 4, version: b"1.0.16" }),
            ("1:-6", Reply::Other),
            ("1:six", Reply::Other),
            ("6:X:00011:7", Reply::Other),
            ("", Reply::Other),
            ("0", Reply::Other),
        ];
        for (text, expected) in cases {
            assert_eq!(Reply::read(text.as_bytes()), expected, "{text}");
        }
    }
}
