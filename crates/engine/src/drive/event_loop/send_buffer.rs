//! Takes the requests of clients; holds their bytes, one request behind the other, until they are sent.
//!
//! All clients of an event loop share these bytes. So they are still in the processor's caches when they are sent,
//! which bytes of each client's own would not be with many clients.

/// A buffer that a large request has grown beyond this size is released.
const KEPT_BYTES: usize = 1024 * 1024;

#[derive(Debug, Default)]
pub struct SendBuffer {
    /// Append a request here, then call [`SendBuffer::push`].
    pub bytes: Vec<u8>,
    requests: Vec<Request>,
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The place of its client.
    pub place: usize,
    /// Where its bytes begin, and end.
    pub start: usize,
    end: usize,
}

impl SendBuffer {
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// How many requests there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// The bytes from `start` on are a request of the client at this place.
    #[inline]
    pub fn push(&mut self, place: usize, start: usize) {
        let end = self.bytes.len();
        self.requests.push(Request { place, start, end });
    }

    /// Each request, with its bytes.
    pub fn requests(&self) -> impl Iterator<Item = (Request, &[u8])> {
        let requests = self.requests.iter();
        requests.map(|request| (*request, &self.bytes[request.start..request.end]))
    }

    pub fn clear(&mut self) {
        self.requests.clear();
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES {
            self.bytes = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SendBuffer;

    #[test]
    fn each_request_has_its_own_bytes() {
        let mut send_buffer = SendBuffer::default();
        assert_eq!(send_buffer.requests().count(), 0);
        for (place, text) in [(3, "select 1"), (0, "commit"), (3, "begin")] {
            let start = send_buffer.bytes.len();
            send_buffer.bytes.extend_from_slice(text.as_bytes());
            send_buffer.push(place, start);
        }
        let requests: Vec<_> = (send_buffer.requests())
            .map(|(request, bytes)| (request.place, request.start, bytes))
            .collect();
        let expected: [(usize, usize, &[u8]); 3] =
            [(3, 0, b"select 1"), (0, 8, b"commit"), (3, 14, b"begin")];
        assert_eq!(requests, expected);
        send_buffer.clear();
        assert!(send_buffer.is_empty() && send_buffer.bytes.is_empty());
    }
}
