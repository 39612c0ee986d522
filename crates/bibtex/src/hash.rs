//! Takes short texts; gives their hashes to the tables of names, macros and keys.

use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// XXH3 of every text as a whole, where the hasher of that crate prepares itself for a stream.
#[derive(Default)]
pub(crate) struct TextHasher(u64);

pub(crate) type TextHash = BuildHasherDefault<TextHasher>;

impl Hasher for TextHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    /// The length that comes before a text says nothing that the text does not.
    fn write_usize(&mut self, _: usize) {}
}
