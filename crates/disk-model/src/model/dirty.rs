//! Takes the byte ranges of writes; keeps those that the write cache holds and the medium does not have yet.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Ranges that do not touch each other; neighbours are joined.
#[derive(Debug, Default)]
pub struct DirtyRanges {
    /// By first byte: the end, and the number of the oldest write in it.
    ranges: BTreeMap<u64, (u64, u64)>,
    /// The same by the number of the oldest write.
    by_age: BTreeSet<(u64, u64)>,
    bytes: u64,
}

impl DirtyRanges {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The number of the oldest write that is not on the medium.
    pub fn oldest(&self) -> Option<u64> {
        self.by_age.first().map(|(oldest, _)| *oldest)
    }

    /// How many of these bytes are not in yet.
    pub fn new_bytes(&self, range: &Range<u64>) -> u64 {
        let held: u64 = self
            .overlapping(range)
            .map(|(start, end)| end.min(range.end) - start.max(range.start))
            .sum();
        range.end - range.start - held
    }

    /// Whether a read of these bytes needs no medium.
    pub fn covers(&self, range: &Range<u64>) -> bool {
        self.new_bytes(range) == 0
    }

    /// Ranges that share bytes with this one.
    fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, u64)> {
        let before = self
            .ranges
            .range(..range.start)
            .next_back()
            .map(|(start, (end, _))| (*start, *end))
            .filter(|(_, end)| *end > range.start);
        let within = self
            .ranges
            .range(range.clone())
            .map(|(start, (end, _))| (*start, *end));
        before.into_iter().chain(within)
    }

    /// Adds the bytes of write number `write`.
    pub fn insert(&mut self, range: Range<u64>, write: u64) {
        self.bytes += self.new_bytes(&range);
        // Neighbours that touch at either end are joined too.
        let near = range.start.saturating_sub(1)..range.end + 1;
        let joined: Vec<u64> = self
            .overlapping(&near)
            .filter(|(start, end)| *start <= range.end && *end >= range.start)
            .map(|(start, _)| start)
            .collect();
        let (mut start, mut end, mut oldest) = (range.start, range.end, write);
        for other in joined {
            if let Some((other_end, other_oldest)) = self.ranges.remove(&other) {
                self.by_age.remove(&(other_oldest, other));
                start = start.min(other);
                end = end.max(other_end);
                oldest = oldest.min(other_oldest);
            }
        }
        self.put(start, end, oldest);
    }

    fn put(&mut self, start: u64, end: u64, oldest: u64) {
        self.ranges.insert(start, (end, oldest));
        self.by_age.insert((oldest, start));
    }

    /// Takes out at most `most` bytes of the range that starts at `start`.
    pub fn take(&mut self, start: u64, most: u64) -> Option<Range<u64>> {
        let (end, oldest) = self.ranges.remove(&start)?;
        self.by_age.remove(&(oldest, start));
        let cut = end.min(start + most);
        if cut < end {
            self.put(cut, end, oldest);
        }
        self.bytes -= cut - start;
        Some(start..cut)
    }

    /// The number of the oldest write in the range that starts at `start`.
    pub fn oldest_of(&self, start: u64) -> u64 {
        self.ranges
            .get(&start)
            .map_or(u64::MAX, |(_, oldest)| *oldest)
    }

    /// First byte of the range that holds the oldest write.
    pub fn oldest_start(&self) -> Option<u64> {
        self.by_age.first().map(|(_, start)| *start)
    }

    /// First bytes of the ranges nearest to `offset`, at most `most` on each side, with the oldest write of each.
    pub fn near(&self, offset: u64, most: usize) -> impl Iterator<Item = (u64, u64)> {
        let after = self.ranges.range(offset..).take(most);
        let before = self.ranges.range(..offset).rev().take(most);
        after
            .chain(before)
            .map(|(start, (_, oldest))| (*start, *oldest))
    }
}

#[cfg(test)]
mod tests {
    use super::DirtyRanges;

    #[test]
    fn ranges_are_joined_counted_once_and_taken_in_parts() {
        let mut dirty = DirtyRanges::default();
        dirty.insert(100..200, 1);
        dirty.insert(300..400, 2);
        assert_eq!(dirty.bytes(), 200);
        assert_eq!(dirty.new_bytes(&(150..350)), 100);
        dirty.insert(200..300, 3);
        assert_eq!((dirty.bytes(), dirty.oldest()), (300, Some(1)));
        dirty.insert(150..160, 4);
        assert_eq!(dirty.bytes(), 300);
        assert!(dirty.covers(&(100..400)) && !dirty.covers(&(99..101)));
        assert_eq!(dirty.take(100, 120), Some(100..220));
        assert_eq!((dirty.bytes(), dirty.oldest_start()), (180, Some(220)));
        assert_eq!(dirty.take(220, 1000), Some(220..400));
        assert!(dirty.is_empty() && dirty.oldest().is_none());
    }
}
