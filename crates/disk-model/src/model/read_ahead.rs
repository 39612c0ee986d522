//! Takes the reads that pass the head; says what the track buffer holds, and when it will hold more.
//!
//! After a read the head stays where it is, and the disk reads on into its buffer until the buffer is full or
//! the arm is needed elsewhere.

use std::ops::Range;

use super::geometry::Geometry;

/// One stream of sequential bytes.
#[derive(Debug)]
pub struct ReadAhead {
    capacity_bytes: u64,
    /// First byte in the buffer.
    start: u64,
    /// A byte that the head passed, and when.
    at: u64,
    since_ns: u64,
    /// The buffer is full here.
    limit: u64,
    is_running: bool,
}

impl ReadAhead {
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            capacity_bytes,
            start: 0,
            at: 0,
            since_ns: 0,
            limit: 0,
            is_running: false,
        }
    }

    /// The byte before which everything has been read.
    fn position(&self, geometry: &Geometry, now_ns: u64) -> u64 {
        if !self.is_running || now_ns <= self.since_ns {
            return self.at;
        }
        let passed = geometry.bytes_passed(self.at, now_ns - self.since_ns);
        self.limit.min(self.at + passed)
    }

    /// The byte that the head follows, while the disk reads on.
    pub fn head(&self, geometry: &Geometry, now_ns: u64) -> Option<u64> {
        self.is_running.then(|| self.position(geometry, now_ns))
    }

    /// The first byte that the buffer still has: it keeps no more than it has room for.
    fn first_held(&self, position: u64) -> u64 {
        self.start.max(position.saturating_sub(self.capacity_bytes))
    }

    /// Whether the buffer holds all these bytes.
    pub fn holds(&self, range: &Range<u64>, geometry: &Geometry, now_ns: u64) -> bool {
        let position = self.position(geometry, now_ns);
        self.first_held(position) <= range.start && range.end <= position
    }

    /// Bytes that the buffer holds have been read from it: the disk reads on as far beyond them.
    pub fn consumed(&mut self, range: &Range<u64>, geometry: &Geometry, now_ns: u64) {
        let limit = self.limit.max(range.end + self.capacity_bytes);
        let full_ns = self.since_ns + geometry.transfer_ns(self.at, self.limit);
        // A head that waits with a full buffer has to wait for the next byte to come round again.
        if self.is_running && now_ns > full_ns && limit > self.limit {
            self.at = self.limit;
            self.since_ns = now_ns + geometry.rotation_ns(now_ns, self.limit);
        }
        if self.is_running {
            self.limit = limit;
        }
    }

    /// When the last of these bytes has passed the head, if the stream leads there.
    pub fn reaches(&self, range: &Range<u64>, geometry: &Geometry, now_ns: u64) -> Option<u64> {
        let first_held = self.first_held(self.position(geometry, now_ns));
        if !self.is_running || range.start < first_held || range.start > self.limit {
            return None;
        }
        let full_ns = self.since_ns + geometry.transfer_ns(self.at, self.limit);
        if range.end <= self.limit || now_ns <= full_ns {
            return Some(now_ns.max(self.since_ns + geometry.transfer_ns(self.at, range.end)));
        }
        // It stopped with a full buffer: the next byte must come round again.
        let from_ns = now_ns + geometry.rotation_ns(now_ns, self.limit);
        Some(from_ns + geometry.transfer_ns(self.limit, range.end))
    }

    /// A read that ends at `end_ns` continues the stream.
    pub fn extend(&mut self, range: &Range<u64>, end_ns: u64) {
        self.at = self.at.max(range.end);
        self.since_ns = end_ns;
        self.limit = self.limit.max(range.end + self.capacity_bytes);
    }

    /// A read elsewhere that ends at `end_ns` begins a new stream.
    pub fn restart(&mut self, range: &Range<u64>, end_ns: u64) {
        self.start = range.start;
        self.at = range.end;
        self.since_ns = end_ns;
        self.limit = range.end + self.capacity_bytes;
        self.is_running = true;
    }

    /// The arm leaves; what was read stays in the buffer.
    pub fn stop(&mut self, geometry: &Geometry, now_ns: u64) {
        self.at = self.position(geometry, now_ns);
        self.limit = self.at;
        self.is_running = false;
    }
}
