//! Takes short texts; returns their hashes, for the tables of names, macros and keys.

use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// XXH3 of each text in one call, which avoids the set-up cost of that crate's streaming hasher.
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

    /// The length, which precedes a text, adds no information.
    fn write_usize(&mut self, _: usize) {}
}
