//! Takes the citation keys of one file; returns the line where a key was used before.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use xxhash_rust::xxh3::xxh3_64;

/// Hashes of the keys with the line of each: 12 bytes per key. The probability that two of a million different
/// keys share a 64-bit hash is 1 in 30 million.
pub(crate) struct Keys {
    /// Many small tables instead of one, because a table needs twice its memory while it grows.
    shards: Vec<HashMap<KeyHash, u32, BuildHasherDefault<AsItIs>>>,
}

const SHARDS: usize = 64;

impl Default for Keys {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| HashMap::default()).collect(),
        }
    }
}

impl Keys {
    /// The line where `key` was first used, if it was; otherwise stores `line`.
    #[expect(clippy::cast_possible_truncation, reason = "the hash is cut in two")]
    pub(crate) fn add(&mut self, key: &[u8], line: u64) -> Option<u32> {
        let hash = xxh3_64(key);
        // The table itself uses the lowest and the highest bits.
        let shard = &mut self.shards[(hash >> 32) as usize % SHARDS];
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        match shard.entry(KeyHash([hash as u32, (hash >> 32) as u32])) {
            std::collections::hash_map::Entry::Occupied(first) => Some(*first.get()),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(line);
                None
            }
        }
    }

    /// Forgets the keys of the file that has ended.
    pub(crate) fn clear(&mut self) {
        for shard in &mut self.shards {
            shard.clear();
        }
    }
}

/// Two halves, so that a key and its line take 12 bytes instead of 16 (alignment).
#[derive(PartialEq, Eq)]
struct KeyHash([u32; 2]);

impl Hash for KeyHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.0[0]) | u64::from(self.0[1]) << 32);
    }
}

/// A hasher that returns its input: the keys are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only 64-bit numbers are hashed");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
