//! Takes nothing; defines what every model of a disk takes and gives: requests, events, and `Disk` itself; and what several
//! models share: the ranges that a write cache holds, and random numbers from a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What a request asks of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Bytes from the disk.
    Read,
    /// Bytes to the disk.
    Write,
    /// All writes that have ended become durable.
    Flush,
}

/// A request; `offset` and `length` of a flush are 0.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Chosen by the caller; unique among the requests that have not ended.
    pub id: u64,
    /// What it asks.
    pub operation: Operation,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

impl Request {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// What happened in a disk, handed out in the order of time (but for requests that count as earlier).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// These bytes are on their way from the write cache to the medium: what the cache holds of them now is
    /// durable when the transfer ends.
    DestageStarted {
        /// Number of the transfer.
        destage: u64,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        length: u64,
    },
    /// A transfer to the medium has ended.
    DestageEnded {
        /// Number of the transfer.
        destage: u64,
    },
    /// A request has ended.
    Completed {
        /// Which.
        id: u64,
        /// When the disk began to work on it.
        start_ns: u64,
        /// When it ended.
        end_ns: u64,
    },
}

/// The time of a transfer at `rate` bytes per second.
pub(super) fn transfer_ns(bytes: u64, rate: u64) -> u64 {
    let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(rate.max(1));
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

/// A disk, or several that look like one.
pub trait Disk: Send {
    /// Hands over a request that arrives at `now_ns`. That may be before the last event, by what the way to
    /// the disk takes: a part of the disk that was free then begins then, one that was not begins when it was.
    fn submit(&mut self, request: Request, now_ns: u64, events: &mut Vec<Event>);

    /// When something happens next; none if the disk is at rest.
    fn next_event_ns(&self) -> Option<u64>;

    /// Everything that happens up to `now_ns`.
    fn advance(&mut self, now_ns: u64, events: &mut Vec<Event>);

    /// Bytes in the write cache that power loss would destroy.
    fn volatile_bytes(&self) -> u64;
}

/// A disk without delays and without a volatile cache.
#[derive(Debug, Default)]
pub struct ImmediateDisk {
    next_destage: u64,
}

impl Disk for ImmediateDisk {
    fn submit(&mut self, request: Request, now_ns: u64, events: &mut Vec<Event>) {
        if request.operation == Operation::Write {
            let destage = self.next_destage;
            self.next_destage += 1;
            events.push(Event::DestageStarted {
                destage,
                offset: request.offset,
                length: request.length,
            });
            events.push(Event::DestageEnded { destage });
        }
        events.push(Event::Completed {
            id: request.id,
            start_ns: now_ns,
            end_ns: now_ns,
        });
    }

    fn next_event_ns(&self) -> Option<u64> {
        None
    }

    fn advance(&mut self, _now_ns: u64, _events: &mut Vec<Event>) {}

    fn volatile_bytes(&self) -> u64 {
        0
    }
}

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

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, any of 2^64.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of 0 to `bound` - 1; 0 where `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// From 0 up to, not including, 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
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
