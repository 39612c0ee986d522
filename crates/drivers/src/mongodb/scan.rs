//! Takes the bytes of a BSON document; gives its elements one after the other, in place.

use memchr::memchr;

/// Types of BSON elements.
pub(crate) mod kind {
    pub const DOUBLE: u8 = 0x01;
    pub const STRING: u8 = 0x02;
    pub const DOCUMENT: u8 = 0x03;
    pub const ARRAY: u8 = 0x04;
    pub const BINARY: u8 = 0x05;
    pub const UNDEFINED: u8 = 0x06;
    pub const OBJECT_ID: u8 = 0x07;
    pub const BOOL: u8 = 0x08;
    pub const DATE: u8 = 0x09;
    pub const NULL: u8 = 0x0A;
    pub const REGEX: u8 = 0x0B;
    pub const DB_POINTER: u8 = 0x0C;
    pub const CODE: u8 = 0x0D;
    pub const SYMBOL: u8 = 0x0E;
    pub const CODE_WITH_SCOPE: u8 = 0x0F;
    pub const INT32: u8 = 0x10;
    pub const TIMESTAMP: u8 = 0x11;
    pub const INT64: u8 = 0x12;
    pub const DECIMAL128: u8 = 0x13;
    pub const MAX_KEY: u8 = 0x7F;
    pub const MIN_KEY: u8 = 0xFF;
}

/// Subtypes of binary data.
pub(crate) mod subtype {
    pub const GENERIC: u8 = 0;
    /// Its bytes begin with their length again.
    pub const OLD_GENERIC: u8 = 2;
    pub const UUID: u8 = 4;
}

/// The bytes are no BSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// One field of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) kind: u8,
    pub(crate) name: &'a [u8],
    /// Its value without type and name.
    pub(crate) value: &'a [u8],
}

/// The elements of a document that are not read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    /// Those of a document, or of an array.
    pub(crate) fn of(document: &'a [u8]) -> Result<Self, Malformed> {
        match document {
            [_, _, _, _, elements @ .., 0] if length(document) == Some(document.len()) => {
                Ok(Self(elements))
            }
            _ => Err(Malformed),
        }
    }

    #[inline]
    fn element(&mut self) -> Result<Element<'a>, Malformed> {
        let (&kind, rest) = self.0.split_first().ok_or(Malformed)?;
        let (name, rest) = cstring(rest).ok_or(Malformed)?;
        let size = size_of_value(kind, rest).ok_or(Malformed)?;
        let (value, rest) = rest.split_at_checked(size).ok_or(Malformed)?;
        self.0 = rest;
        Ok(Element { kind, name, value })
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Element<'a>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let element = self.element();
        if element.is_err() {
            self.0 = &[];
        }
        Some(element)
    }
}

impl<'a> Element<'a> {
    /// The text of a string.
    pub(crate) fn text(&self) -> Option<&'a [u8]> {
        match (self.kind, self.value) {
            (kind::STRING | kind::CODE | kind::SYMBOL, [_, _, _, _, text @ .., 0]) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn text_lossy(&self) -> Option<String> {
        self.text().map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// A whole number of any type of numbers.
    pub(crate) fn whole(&self) -> Option<i64> {
        match self.kind {
            kind::INT32 => Some(i32::from_le_bytes(self.value.try_into().ok()?).into()),
            kind::INT64 | kind::DATE => Some(i64::from_le_bytes(self.value.try_into().ok()?)),
            #[expect(clippy::cast_possible_truncation, reason = "servers send small whole numbers")]
            kind::DOUBLE => Some(f64::from_le_bytes(self.value.try_into().ok()?) as i64),
            kind::BOOL => Some(i64::from(self.value == [1])),
            _ => None,
        }
    }

    /// The elements of a document or an array.
    pub(crate) fn elements(&self) -> Option<Result<Elements<'a>, Malformed>> {
        match self.kind {
            kind::DOCUMENT | kind::ARRAY => Some(Elements::of(self.value)),
            _ => None,
        }
    }

    /// The bytes of binary data, and their subtype.
    pub(crate) fn binary(&self) -> Option<(u8, &'a [u8])> {
        match (self.kind, self.value) {
            (kind::BINARY, [_, _, _, _, subtype, bytes @ ..]) => Some((*subtype, bytes)),
            _ => None,
        }
    }
}

/// The text before the first zero byte, and what is behind it.
#[inline]
pub(crate) fn cstring(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr(0, bytes)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The length with which a document, a string or binary data begins.
#[inline]
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let (length, _) = bytes.split_first_chunk::<4>()?;
    usize::try_from(i32::from_le_bytes(*length)).ok()
}

/// How many bytes the value at the start of these bytes has.
#[inline]
fn size_of_value(kind: u8, bytes: &[u8]) -> Option<usize> {
    let size = match kind {
        kind::INT32 => 4,
        kind::DOUBLE | kind::INT64 | kind::DATE | kind::TIMESTAMP => 8,
        kind::STRING | kind::CODE | kind::SYMBOL => string_size(bytes)?,
        kind::DOCUMENT | kind::ARRAY => length(bytes).filter(|&size| size >= 5)?,
        kind::CODE_WITH_SCOPE => length(bytes).filter(|&size| size >= 14)?,
        kind::BINARY => length(bytes)?.checked_add(5)?,
        kind::NULL | kind::UNDEFINED | kind::MIN_KEY | kind::MAX_KEY => 0,
        kind::OBJECT_ID => 12,
        kind::BOOL => 1,
        kind::DECIMAL128 => 16,
        kind::REGEX => {
            let (_, rest) = cstring(bytes)?;
            let (_, rest) = cstring(rest)?;
            bytes.len() - rest.len()
        }
        kind::DB_POINTER => string_size(bytes)?.checked_add(12)?,
        _ => return None,
    };
    Some(size)
}

/// A length, as many bytes, of which the last is zero.
#[inline]
fn string_size(bytes: &[u8]) -> Option<usize> {
    let size = length(bytes).filter(|&length| length >= 1)?.checked_add(4)?;
    (bytes.get(size - 1) == Some(&0)).then_some(size)
}
