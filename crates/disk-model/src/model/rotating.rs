//! Takes requests to a rotating disk; returns when each ends, from seeks, rotation, transfer, queue and cache.
//!
//! There is one arm. Of the first `queue` requests that wait for it, the one with the shortest positioning
//! time (seek and rotation) goes first; with `queue=1` they go in the order of arrival. Writes end as soon as
//! the write cache has room for them and reach the medium in the background: when the arm has nothing else to
//! do, or along with the other requests while a flush or a write waits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use super::{Disk, Event, Operation, Request};
use crate::error::DiskError;
use crate::model::disk::DirtyRanges;
use crate::model::geometry::Geometry;
use crate::model::geometry::ReadAhead;
use crate::model::geometry::SeekCurve;

/// A request that has waited for so long goes next, wherever it lies: no request waits for ever.
const LONGEST_WAIT_NS: u64 = 1_000_000_000;

/// The cache is written to the medium in transfers of at most so many bytes.
const DESTAGE_BYTES: u64 = 1 << 20;

/// So many ranges of the cache on each side of the head are considered for the next transfer.
const DESTAGE_CANDIDATES: usize = 32;

/// What a data sheet says of a rotating disk.
#[derive(Clone, Debug, PartialEq)]
pub struct RotatingParameters {
    /// Revolutions per minute.
    pub rpm: u64,
    /// To the next track.
    pub seek_min_ns: u64,
    /// Over all pairs of tracks.
    pub seek_average_ns: u64,
    /// Full stroke.
    pub seek_max_ns: u64,
    /// Sustained transfer at the outer edge, bytes per second.
    pub rate_outer: u64,
    /// Sustained transfer at the inner edge.
    pub rate_inner: u64,
    /// The controller's time for each command.
    pub overhead_ns: u64,
    /// Between the disk's buffer and the computer, bytes per second.
    pub interface_rate: u64,
    /// How far the disk reads ahead.
    pub track_buffer_bytes: u64,
    /// Requests among which the disk chooses.
    pub queue: usize,
    /// 0 if writes end on the medium.
    pub write_cache_bytes: u64,
    /// Of the whole disk; none if the image is the whole disk.
    pub capacity_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum ArmWork {
    Serve { request: Request, start_ns: u64, destage: Option<u64> },
    Destage { destage: u64 },
}

enum Choice {
    Waiting(usize),
    Dirty(u64),
}

/// A flush that waits for the writes before number `before`.
#[derive(Debug)]
struct Flush {
    id: u64,
    start_ns: u64,
    before: u64,
}

/// The state of a rotating disk.
#[derive(Debug)]
pub struct RotatingDisk {
    parameters: RotatingParameters,
    geometry: Geometry,
    seek: SeekCurve,
    full_stroke_tracks: u64,
    /// In the controller, with the time at which it is done with each.
    commands: VecDeque<(u64, Request)>,
    /// For the arm, with the time since when.
    waiting: VecDeque<(u64, Request)>,
    /// Writes for which the cache has no room.
    held_writes: VecDeque<(u64, Request)>,
    flushes: Vec<Flush>,
    /// Without the medium: end, request, start.
    answers: BinaryHeap<Reverse<(u64, u64, u64)>>,
    work: Option<(u64, ArmWork)>,
    /// The byte after the last transfer.
    head: u64,
    read_ahead: ReadAhead,
    dirty: DirtyRanges,
    /// On the way from the cache to the medium: bytes, and the oldest write.
    destaging: Option<(u64, u64)>,
    next_write: u64,
    next_destage: u64,
    /// The latest event so far: the arm cannot begin anything before it.
    seen_ns: u64,
}

impl RotatingDisk {
    /// A disk at rest, with the head at the outer edge. Fails if the parameters contradict each other.
    pub(super) fn new(parameters: RotatingParameters, size_bytes: u64) -> Result<Self, DiskError> {
        let capacity_bytes = parameters.capacity_bytes.unwrap_or(size_bytes);
        if capacity_bytes < size_bytes {
            return Err(DiskError::hinted(
                format!(
                    "capacity: expected at least the size of the image, {size_bytes} bytes for each disk, found \
                     {capacity_bytes}"
                ),
                "a larger capacity, a smaller size, or leave capacity out",
            ));
        }
        if parameters.rate_inner > parameters.rate_outer {
            return Err(DiskError::argument(
                "rate_inner: expected at most rate_outer: outer tracks are longer",
            ));
        }
        let seek = SeekCurve::new(
            parameters.seek_min_ns,
            parameters.seek_average_ns,
            parameters.seek_max_ns,
        )?;
        let geometry = Geometry::new(
            capacity_bytes,
            60_000_000_000 / parameters.rpm,
            parameters.rate_outer,
            parameters.rate_inner,
        );
        Ok(Self {
            full_stroke_tracks: geometry.full_stroke_tracks(),
            geometry,
            seek,
            commands: VecDeque::new(),
            waiting: VecDeque::new(),
            held_writes: VecDeque::new(),
            flushes: Vec::new(),
            answers: BinaryHeap::new(),
            work: None,
            head: 0,
            read_ahead: ReadAhead::new(parameters.track_buffer_bytes),
            dirty: DirtyRanges::default(),
            destaging: None,
            next_write: 0,
            next_destage: 0,
            seen_ns: 0,
            parameters,
        })
    }

    fn interface_ns(&self, bytes: u64) -> u64 {
        super::disk::transfer_ns(bytes, self.parameters.interface_rate)
    }

    /// When a transfer of this range, begun now, ends.
    fn ends_ns(&self, range: &Range<u64>, is_read: bool, now_ns: u64) -> u64 {
        if is_read && let Some(end) = self.read_ahead.reaches(range, &self.geometry, now_ns) {
            return end;
        }
        let head = self.read_ahead.head(&self.geometry, now_ns);
        let from = self.geometry.track(head.unwrap_or(self.head));
        let distance = from.abs_diff(self.geometry.track(range.start));
        let there = now_ns + self.seek.time_ns(distance, self.full_stroke_tracks);
        there
            + self.geometry.rotation_ns(there, range.start)
            + self.geometry.transfer_ns(range.start, range.end)
    }

    /// Moves the head; returns when the transfer ends.
    fn transfer(&mut self, range: &Range<u64>, is_read: bool, now_ns: u64) -> u64 {
        let ends_ns = self.ends_ns(range, is_read, now_ns);
        if !is_read {
            self.read_ahead.stop(&self.geometry, now_ns);
        } else if self.read_ahead.reaches(range, &self.geometry, now_ns).is_some() {
            self.read_ahead.extend(range, ends_ns);
        } else {
            self.read_ahead.restart(range, ends_ns);
        }
        self.head = range.end;
        ends_ns
    }

    /// The controller is done with a command.
    fn accept(&mut self, request: Request, now_ns: u64) {
        let range = request.offset..request.end();
        let answer = |end_ns| Reverse((end_ns, request.id, now_ns));
        match request.operation {
            Operation::Read => {
                let is_held = self.dirty.covers(&range)
                    || self.read_ahead.holds(&range, &self.geometry, now_ns);
                if is_held {
                    self.read_ahead.consumed(&range, &self.geometry, now_ns);
                    let end_ns = now_ns + self.interface_ns(request.length);
                    self.answers.push(answer(end_ns));
                } else {
                    self.waiting.push_back((now_ns, request));
                }
            }
            Operation::Write if request.length > self.parameters.write_cache_bytes => {
                self.waiting.push_back((now_ns, request));
            }
            Operation::Write => {
                self.held_writes.push_back((now_ns, request));
                self.admit_writes(now_ns);
            }
            Operation::Flush => {
                let before = self.next_write;
                if self.oldest_write().is_some_and(|oldest| oldest < before) {
                    self.flushes.push(Flush { id: request.id, start_ns: now_ns, before });
                } else {
                    self.answers.push(answer(now_ns));
                }
            }
        }
    }

    fn oldest_write(&self) -> Option<u64> {
        let destaging = self.destaging.map(|(_, oldest)| oldest);
        self.dirty.oldest().into_iter().chain(destaging).min()
    }

    /// Takes writes into the cache, in their order, as far as there is room.
    fn admit_writes(&mut self, now_ns: u64) {
        while let Some((_, request)) = self.held_writes.front() {
            let range = request.offset..request.end();
            let used = self.volatile_bytes() + self.dirty.new_bytes(&range);
            if used > self.parameters.write_cache_bytes {
                return;
            }
            if let Some((since_ns, request)) = self.held_writes.pop_front() {
                self.dirty.insert(range, self.next_write);
                self.next_write += 1;
                let end_ns = now_ns + self.interface_ns(request.length);
                self.answers.push(Reverse((end_ns, request.id, since_ns)));
            }
        }
    }

    /// What the arm does next.
    fn choose(&self, now_ns: u64) -> Option<Choice> {
        let held_since = self.held_writes.front().map(|(since, _)| *since);
        let flush_since = self.flushes.first().map(|flush| flush.start_ns);
        let urgent_since = held_since.into_iter().chain(flush_since).min();
        if let Some((since_ns, _)) = self.waiting.front() {
            let is_first = urgent_since.is_none_or(|urgent| *since_ns <= urgent);
            let has_waited = now_ns.saturating_sub(*since_ns) > LONGEST_WAIT_NS;
            if is_first && (self.parameters.queue == 1 || has_waited) {
                return Some(Choice::Waiting(0));
            }
        }
        let mut best: Option<(u64, Choice)> = None;
        let mut consider = |ends_ns: u64, choice: Choice| {
            if best.as_ref().is_none_or(|(least, _)| ends_ns < *least) {
                best = Some((ends_ns, choice));
            }
        };
        let is_in_order = self.parameters.queue == 1 && urgent_since.is_some();
        if !is_in_order {
            let choices = self.waiting.iter().take(self.parameters.queue);
            for (index, (_, request)) in choices.enumerate() {
                let is_read = request.operation == Operation::Read;
                // The time to its first byte: long transfers are not put last.
                let first = request.offset..request.offset + 1;
                consider(self.ends_ns(&first, is_read, now_ns), Choice::Waiting(index));
            }
        }
        if urgent_since.is_some() || self.waiting.is_empty() {
            for start in self.destage_candidates() {
                let ends_ns = self.ends_ns(&(start..start + 1), false, now_ns);
                consider(ends_ns, Choice::Dirty(start));
            }
        }
        best.map(|(_, choice)| choice)
    }

    /// First bytes of ranges of the cache that may go next. For a flush only the writes before it count.
    fn destage_candidates(&self) -> Vec<u64> {
        let before = self.flushes.iter().map(|flush| flush.before).max();
        let is_due = |oldest: u64| before.is_none_or(|before| oldest < before);
        let mut found: Vec<u64> = self
            .dirty
            .near(self.head, DESTAGE_CANDIDATES)
            .filter(|(_, oldest)| is_due(*oldest))
            .map(|(start, _)| start)
            .collect();
        if found.is_empty() {
            found.extend(self.dirty.oldest_start());
        }
        found
    }

    fn start_work(&mut self, now_ns: u64, events: &mut Vec<Event>) {
        if self.work.is_some() {
            return;
        }
        match self.choose(now_ns) {
            None => {}
            Some(Choice::Waiting(index)) => {
                let Some((_, request)) = self.waiting.remove(index) else {
                    return;
                };
                let is_read = request.operation == Operation::Read;
                let range = request.offset..request.end();
                let destage = (!is_read).then(|| self.start_destage(&range, events));
                let ends_ns = self.transfer(&range, is_read, now_ns);
                let work = ArmWork::Serve { request, start_ns: now_ns, destage };
                self.work = Some((ends_ns, work));
            }
            Some(Choice::Dirty(start)) => {
                let oldest = self.dirty.oldest_of(start);
                let Some(range) = self.dirty.take(start, DESTAGE_BYTES) else {
                    return;
                };
                self.destaging = Some((range.end - range.start, oldest));
                let destage = self.start_destage(&range, events);
                let ends_ns = self.transfer(&range, false, now_ns);
                self.work = Some((ends_ns, ArmWork::Destage { destage }));
            }
        }
    }

    fn start_destage(&mut self, range: &Range<u64>, events: &mut Vec<Event>) -> u64 {
        let destage = self.next_destage;
        self.next_destage += 1;
        events.push(Event::DestageStarted {
            destage,
            offset: range.start,
            length: range.end - range.start,
        });
        destage
    }

    fn end_work(&mut self, work: ArmWork, now_ns: u64, events: &mut Vec<Event>) {
        match work {
            ArmWork::Serve { request, start_ns, destage } => {
                events.extend(destage.map(|destage| Event::DestageEnded { destage }));
                events.push(Event::Completed { id: request.id, start_ns, end_ns: now_ns });
            }
            ArmWork::Destage { destage } => {
                self.destaging = None;
                events.push(Event::DestageEnded { destage });
                self.admit_writes(now_ns);
                let oldest = self.oldest_write().unwrap_or(u64::MAX);
                self.flushes.retain(|flush| {
                    let is_done = oldest >= flush.before;
                    if is_done {
                        events.push(Event::Completed {
                            id: flush.id,
                            start_ns: flush.start_ns,
                            end_ns: now_ns,
                        });
                    }
                    !is_done
                });
            }
        }
    }
}

impl Disk for RotatingDisk {
    fn submit(&mut self, request: Request, now_ns: u64, events: &mut Vec<Event>) {
        let now_ns = now_ns.max(self.seen_ns);
        self.advance(now_ns, events);
        let ready_ns = now_ns + self.parameters.overhead_ns;
        self.commands.push_back((ready_ns, request));
        self.advance(now_ns, events);
    }

    fn next_event_ns(&self) -> Option<u64> {
        let command = self.commands.front().map(|(ready_ns, _)| *ready_ns);
        let answer = self.answers.peek().map(|Reverse((end_ns, ..))| *end_ns);
        let work = self.work.as_ref().map(|(ends_ns, _)| *ends_ns);
        command.into_iter().chain(answer).chain(work).min()
    }

    fn advance(&mut self, now_ns: u64, events: &mut Vec<Event>) {
        while let Some(at_ns) = self.next_event_ns().filter(|at_ns| *at_ns <= now_ns) {
            self.seen_ns = self.seen_ns.max(at_ns);
            if self.work.as_ref().is_some_and(|(ends_ns, _)| *ends_ns == at_ns)
                && let Some((_, work)) = self.work.take()
            {
                self.end_work(work, at_ns, events);
            }
            while self.commands.front().is_some_and(|(ready_ns, _)| *ready_ns <= at_ns)
                && let Some((_, request)) = self.commands.pop_front()
            {
                self.accept(request, at_ns);
            }
            while self.answers.peek().is_some_and(|Reverse((end_ns, ..))| *end_ns <= at_ns)
                && let Some(Reverse((end_ns, id, start_ns))) = self.answers.pop()
            {
                events.push(Event::Completed { id, start_ns, end_ns });
            }
            self.start_work(at_ns, events);
        }
    }

    fn volatile_bytes(&self) -> u64 {
        self.dirty.bytes() + self.destaging.map_or(0, |(bytes, _)| bytes)
    }
}
