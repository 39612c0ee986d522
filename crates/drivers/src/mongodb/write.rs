//! Takes names and values; appends them as elements of a BSON document.

use super::scan::kind;

/// A length of four bytes.
#[inline]
pub(crate) fn length(length: usize, out: &mut Vec<u8>) {
    // Nothing longer is ever sent: a message of more bytes is refused where it is put together.
    let length = i32::try_from(length).unwrap_or(i32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
}

/// The type and the name of an element. A zero byte would end the name early: the callers refuse such names.
#[inline]
pub(crate) fn head(kind: u8, name: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(name);
    out.push(0);
}

/// A string's value.
#[inline]
pub(crate) fn text(text: &[u8], out: &mut Vec<u8>) {
    length(text.len() + 1, out);
    out.extend_from_slice(text);
    out.push(0);
}

/// The value of binary data.
pub(crate) fn binary(subtype: u8, bytes: &[u8], out: &mut Vec<u8>) {
    length(bytes.len(), out);
    out.push(subtype);
    out.extend_from_slice(bytes);
}

/// A document of the elements that `elements` appends.
#[inline]
pub(crate) fn document<R>(out: &mut Vec<u8>, elements: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let start = begin(out);
    let written = elements(out);
    end(start, out);
    written
}

/// Begins a document; gives where.
#[inline]
pub(crate) fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Ends the document that began at `start`.
#[inline]
pub(crate) fn end(start: usize, out: &mut Vec<u8>) {
    out.push(0);
    measure(start, out);
}

/// Writes the length of what began at `start`, its own four bytes included.
#[inline]
pub(crate) fn measure(start: usize, out: &mut [u8]) {
    let length = i32::try_from(out.len() - start).unwrap_or(i32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

pub(crate) fn string_element(name: &str, value: &str, out: &mut Vec<u8>) {
    head(kind::STRING, name.as_bytes(), out);
    text(value.as_bytes(), out);
}

pub(crate) fn bool_element(name: &str, truth: bool, out: &mut Vec<u8>) {
    head(kind::BOOL, name.as_bytes(), out);
    out.push(u8::from(truth));
}

pub(crate) fn int32_element(name: &str, number: i32, out: &mut Vec<u8>) {
    head(kind::INT32, name.as_bytes(), out);
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn int64_element(name: &str, number: i64, out: &mut Vec<u8>) {
    head(kind::INT64, name.as_bytes(), out);
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn double_element(name: &str, number: f64, out: &mut Vec<u8>) {
    head(kind::DOUBLE, name.as_bytes(), out);
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn binary_element(name: &str, subtype: u8, bytes: &[u8], out: &mut Vec<u8>) {
    head(kind::BINARY, name.as_bytes(), out);
    binary(subtype, bytes, out);
}

pub(crate) fn document_element(name: &str, out: &mut Vec<u8>, elements: impl FnOnce(&mut Vec<u8>)) {
    head(kind::DOCUMENT, name.as_bytes(), out);
    document(out, elements);
}
