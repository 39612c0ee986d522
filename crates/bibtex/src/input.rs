//! Takes the path of a file or an open stream; returns its bytes, or an error if it cannot be read: through a window over
//! it that grows at its end and is consumed at its front.

use std::fs::File;
use std::io;
use std::io::{ErrorKind, Read};
use std::path::Path;

use assay_values::SourceError;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// The name of a stream without a file in messages and in column `filename`.
pub const STANDARD_INPUT: &str = "(standard input)";

/// The character encoding of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Encoding {
    /// UTF-8; an entry with invalid bytes is reported with its place.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// Latin-1 (ISO 8859-1), decoded to UTF-8 as it is read.
    #[serde(rename = "latin-1")]
    Latin1,
}

/// One file to be read, or a stream that can be read only once.
pub(crate) enum Input {
    File {
        path: String,
    },
    Stream {
        name: String,
        stream: Option<Box<dyn Read + Send>>,
    },
}

impl Input {
    pub(crate) fn files(paths: &[String]) -> Vec<Self> {
        paths
            .iter()
            .map(|path| Self::File { path: path.clone() })
            .collect()
    }

    /// The name used in messages: the path as it was given.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::File { path } => path,
            Self::Stream { name, .. } => name,
        }
    }

    pub(crate) fn open(&mut self) -> Result<Box<dyn Read + Send>, SourceError> {
        match self {
            Self::File { path } => Ok(Box::new(open_file(path)?)),
            Self::Stream { name, stream } => stream.take().ok_or_else(|| SourceError {
                message: "expected a file that can be read more than once, found a stream"
                    .to_owned(),
                file: name.clone(),
                line: 0,
                column: 0,
                hint: Some("write it to a file and pass the file's name".to_owned()),
            }),
        }
    }
}

/// The value of column `filename`: the last part of the path.
pub(crate) fn base_name(path: &str) -> &str {
    Path::new(path)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(path)
}

fn open_file(path: &str) -> Result<File, SourceError> {
    let failed = |error: std::io::Error| unreadable(path, &error);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(SourceError {
            message: "expected a BibTeX file, found a folder".to_owned(),
            file: path.to_owned(),
            line: 0,
            column: 0,
            hint: Some(format!(
                "name its files, for example {}/*.bib",
                path.trim_end_matches('/')
            )),
        });
    }
    Ok(file)
}

/// The error for a file that cannot be read.
pub(crate) fn unreadable(path: &str, error: &std::io::Error) -> SourceError {
    let (message, hint) = match error.kind() {
        ErrorKind::NotFound => (
            "expected a file, found none of this name",
            "check the spelling",
        ),
        ErrorKind::PermissionDenied => (
            "the file may not be read by this user",
            "ask its owner, or copy it",
        ),
        _ => (
            "the file cannot be read",
            "the operating system reports the reason",
        ),
    };
    SourceError {
        message: format!("{message} ({error})"),
        file: path.to_owned(),
        line: 0,
        column: 0,
        hint: Some(hint.to_owned()),
    }
}

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
    pub(crate) bytes_read: u64,
    digest: Option<Box<Xxh3>>,
    /// Whether the end of the stream is in the window.
    pub(crate) is_at_end: bool,
    /// Whether any byte read so far was a NUL, so that the search is skipped if there is none.
    pub(crate) has_nul: bool,
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
