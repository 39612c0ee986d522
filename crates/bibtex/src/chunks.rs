//! Takes a stream of bytes; returns a window over it that grows at its end and is consumed at its front.

use std::io::{self, Read};

use xxhash_rust::xxh3::Xxh3;

/// Bytes read at once: more than the capacity of most pipes, small compared with the processor's caches.
const CHUNK_BYTES: usize = 256 * 1024;

/// The window. Indexes into it stay valid while it grows; only [`Chunks::consume`] shifts them.
pub(crate) struct Chunks {
    input: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes read and not yet decoded; unused for UTF-8, which is read directly into the window.
    undecoded: Vec<u8>,
    is_latin1: bool,
    bytes_read: u64,
    digest: Option<Box<Xxh3>>,
    is_at_end: bool,
    has_nul: bool,
}

impl Chunks {
    pub(crate) fn new(input: Box<dyn Read + Send>, is_latin1: bool) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            undecoded: Vec::new(),
            is_latin1,
            bytes_read: 0,
            digest: None,
            is_at_end: false,
            has_nul: false,
        }
    }

    /// Also computes a digest of every byte read.
    pub(crate) fn with_digest(mut self) -> Self {
        self.digest = Some(Box::new(Xxh3::new()));
        self
    }

    pub(crate) fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Whether the end of the stream is in the window.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Whether any byte read so far was a NUL, so that the search is skipped if there is none.
    pub(crate) fn has_nul(&self) -> bool {
        self.has_nul
    }

    /// 128-bit digest of the bytes read so far, as they are in the file.
    pub(crate) fn digest(&self) -> u128 {
        self.digest.as_ref().map_or(0, |digest| digest.digest128())
    }

    /// Removes the first `count` bytes of the window.
    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
    }

    /// Grows the window by at least one byte; false at the end of the stream.
    pub(crate) fn grow(&mut self) -> io::Result<bool> {
        if self.is_at_end {
            return Ok(false);
        }
        self.make_room();
        let added = if self.is_latin1 {
            self.read_latin1()?
        } else {
            read_some(
                &mut self.input,
                &mut self.buffer[self.end..][..CHUNK_BYTES],
                &mut self.digest,
            )
            .inspect(|count| self.bytes_read += *count as u64)?
        };
        if added == 0 {
            self.is_at_end = true;
            return Ok(false);
        }
        self.has_nul |= memchr::memchr(0, &self.buffer[self.end..self.end + added]).is_some();
        self.end += added;
        Ok(true)
    }

    /// Moves the window to the front of the buffer, and enlarges the buffer only if a chunk does
    /// not fit after it. A chunk of Latin-1 can double when it is decoded.
    fn make_room(&mut self) {
        let needed = if self.is_latin1 {
            2 * CHUNK_BYTES
        } else {
            CHUNK_BYTES
        };
        if self.end + needed <= self.buffer.len() {
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end + needed > self.buffer.len() {
            // Grows by half, so that a long entry is copied a few times, not once per chunk.
            self.buffer.resize(self.end + self.end / 2 + needed, 0);
        }
    }

    fn read_latin1(&mut self) -> io::Result<usize> {
        self.undecoded.resize(CHUNK_BYTES, 0);
        let count = read_some(&mut self.input, &mut self.undecoded, &mut self.digest)?;
        self.bytes_read += count as u64;
        Ok(decode_latin1(
            &self.undecoded[..count],
            &mut self.buffer[self.end..],
        ))
    }
}

fn read_some(
    input: &mut dyn Read,
    into: &mut [u8],
    digest: &mut Option<Box<Xxh3>>,
) -> io::Result<usize> {
    let count = loop {
        match input.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result?,
        }
    };
    if let Some(digest) = digest {
        digest.update(&into[..count]);
    }
    Ok(count)
}

/// Decodes `from` into the beginning of `into`, which must hold twice as many bytes; returns the
/// number of bytes written.
pub(crate) fn decode_latin1(from: &[u8], into: &mut [u8]) -> usize {
    let mut at = 0;
    for &byte in from {
        if byte.is_ascii() {
            into[at] = byte;
            at += 1;
        } else {
            into[at] = 0xC0 | (byte >> 6);
            into[at + 1] = 0x80 | (byte & 0x3F);
            at += 2;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_becomes_its_code_point() {
        let all: Vec<u8> = (0..=255).collect();
        let mut into = [0; 512];
        let count = decode_latin1(&all, &mut into);
        let expected: String = (0..=255u8).map(char::from).collect();
        assert_eq!(std::str::from_utf8(&into[..count]), Ok(expected.as_str()));
    }
}
