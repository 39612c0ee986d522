//! Takes bytes; gives their fields in order, or `None` where they end too early. Takes what a function writes; puts its
//! length before it. What a protocol adds to these (lengths, texts) is in the protocol's own folder.

/// The bytes that are not read yet.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'a>(pub(crate) &'a [u8]);

impl<'a> Scan<'a> {
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u16_le(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32_le(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u16_be(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i32_be(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// The text up to a zero byte, which is consumed too.
    pub(crate) fn until_zero(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }
}

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
