//! Buffers that all sessions of a thread share, so that an idle session needs little memory.

/// The most bytes that one read returns.
const INPUT_BYTES: usize = 64 * 1024;

pub struct Scratch {
    /// The received bytes.
    pub input: Box<[u8]>,
    /// The received bytes after decryption.
    pub plain: Vec<u8>,
    /// The bytes to send.
    pub out: Vec<u8>,
    /// The bytes to send after encryption.
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
