//! Takes bytes for a socket; returns those that it has not accepted yet. Nothing is moved when the socket
//! accepts a part, so that a very long message costs no more per byte than a short one.

/// A buffer that a large message has grown beyond this size is released.
const KEPT_BYTES: usize = 1024 * 1024;

#[derive(Debug, Default)]
pub struct Unsent {
    bytes: Vec<u8>,
    /// How many of them have been sent; less than all, or 0.
    sent: usize,
}

impl Unsent {
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes to send next.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Append more bytes here.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The socket has accepted the first `count` bytes.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.bytes.len() {
            self.clear();
        }
    }

    /// Discards what has not been sent.
    #[inline]
    pub fn clear(&mut self) {
        self.sent = 0;
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES {
            self.bytes = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_bytes_are_dropped_and_appended_bytes_follow() {
        let mut unsent = Unsent::default();
        unsent.buffer().extend_from_slice(b"abcdef");
        unsent.advance(2);
        unsent.buffer().extend_from_slice(b"gh");
        assert_eq!(unsent.bytes(), b"cdefgh");
        unsent.advance(6);
        assert!(unsent.is_empty() && unsent.bytes().is_empty());
        unsent.buffer().push(b'x');
        assert_eq!(unsent.bytes(), b"x");
    }
}
