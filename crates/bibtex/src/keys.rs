//! Takes the citation keys of one file, definitions and uses of macros; returns the line where a key was used before, and
//! the macros that are used but not defined.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::dates::MONTHS;
use crate::problems::Place;

/// Hashes of the keys with the line of each: 12 bytes per key. The probability that two of a million different
/// keys share a 64-bit hash is 1 in 30 million.
pub(crate) struct Keys {
    /// Many small tables instead of one, because a table needs twice its memory while it grows.
    shards: Vec<HashMap<KeyHash, u32, BuildHasherDefault<AsItIs>>>,
}

const SHARDS: usize = 64;

impl Default for Keys {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| HashMap::default()).collect() }
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

/// All macros defined or used so far; names are case-insensitive.
#[derive(Default)]
pub(crate) struct Macros {
    met: HashMap<Box<[u8]>, Macro, TextHash>,
    lower: Vec<u8>,
}

#[derive(Default)]
struct Macro {
    is_defined: bool,
    uses: u64,
    /// The index of the file, and the place of the first use.
    first: (usize, Place),
}

/// A macro that no file defines.
pub(crate) struct Unknown {
    pub(crate) name: String,
    pub(crate) uses: u64,
    pub(crate) file: usize,
    pub(crate) place: Place,
}

impl Macros {
    pub(crate) fn define(&mut self, name: &[u8]) {
        self.entry(name).is_defined = true;
    }

    /// Counts a use; `place` is called only for the first.
    pub(crate) fn use_name(&mut self, name: &[u8], file: usize, place: impl FnOnce() -> Place) {
        if is_month(name) {
            return;
        }
        let met = self.entry(name);
        met.uses += 1;
        if met.uses == 1 && !met.is_defined {
            met.first = (file, place());
        }
    }

    /// The macros that are used and that no file defines, in the order of their first use. A
    /// definition counts anywhere, since the files may be read in any order.
    pub(crate) fn unknown(&self) -> Vec<Unknown> {
        let mut unknown: Vec<Unknown> = self
            .met
            .iter()
            .filter(|(_, met)| !met.is_defined)
            .map(|(name, met)| Unknown {
                name: String::from_utf8_lossy(name).into_owned(),
                uses: met.uses,
                file: met.first.0,
                place: met.first.1,
            })
            .collect();
        unknown.sort_by_key(|met| (met.file, met.place.line, met.place.column));
        unknown
    }

    fn entry(&mut self, name: &[u8]) -> &mut Macro {
        self.lower.clear();
        self.lower.extend_from_slice(name);
        self.lower.make_ascii_lowercase();
        if !self.met.contains_key(self.lower.as_slice()) {
            self.met.insert(self.lower.as_slice().into(), Macro::default());
        }
        self.met.get_mut(self.lower.as_slice()).expect("it existed or has just been added")
    }
}

fn is_month(name: &[u8]) -> bool {
    name.len() == 3 && MONTHS.iter().any(|month| month.as_bytes().eq_ignore_ascii_case(name))
}

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
