//! Buffers that all sessions of a thread share, so that a session at rest holds next to nothing.

/// The most that is read from a socket at once.
const INPUT_BYTES: usize = 64 * 1024;

pub struct Scratch {
    /// What has just been read.
    pub input: Box<[u8]>,
    /// The same, out of TLS.
    pub plain: Vec<u8>,
    /// What is about to be sent.
    pub out: Vec<u8>,
    /// The same, in TLS.
    pub cipher: Vec<u8>,
}

impl Scratch {
    #[must_use]
    pub fn new() -> Self {
        Self {
            input: vec![0; INPUT_BYTES].into_boxed_slice(),
            plain: Vec::new(),
            out: Vec::new(),
            cipher: Vec::new(),
        }
    }
}
