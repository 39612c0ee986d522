//! Takes what a function writes; puts its length before it, as several protocols have it.

/// Appends the bytes that `write` appends, after their number: 32 bits, the highest byte first. More than 2 GiB have a
/// wrong number: no protocol sends a message of that size.
#[inline]
pub(crate) fn write_measured<R>(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let written = write(out);
    let length = i32::try_from(out.len() - start - 4).unwrap_or(i32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    written
}
