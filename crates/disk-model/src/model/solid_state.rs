//! Takes requests to a solid-state drive; returns when each ends, from its flash, its interface and its cache.
//!
//! `channels` counts the units of flash that work at the same time. A read waits for the units that hold its
//! pages, then for the interface, which serves one request after another. A write passes the interface and
//! ends when the write cache has room; the cache is programmed page by page into whichever unit is free, as
//! drives place data wherever they like. After so many programmed bytes all units pause to collect garbage.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};

use super::{Disk, Event, Operation, Request};
use crate::model::Random;
use crate::model::disk::DirtyRanges;

/// What is known of a solid-state drive.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidStateParameters {
    /// Units of flash that work at the same time.
    pub channels: usize,
    /// What a unit reads or programs at once.
    pub page_bytes: u64,
    /// To read a page.
    pub read_latency_ns: u64,
    /// To program a page.
    pub program_latency_ns: u64,
    /// The interface's time for each request, whatever its length: one over the most requests per second.
    pub overhead_ns: u64,
    /// Bytes per second of the interface.
    pub interface_rate: u64,
    /// Requests inside the drive; others wait outside, in their order.
    pub queue: usize,
    /// 0 if writes end in flash.
    pub write_cache_bytes: u64,
    /// Whether the cache survives a power cut: then writes are durable when they end.
    pub is_protected: bool,
    /// What a flush takes beside the writes it waits for.
    pub flush_latency_ns: u64,
    /// Programmed bytes between two pauses, on average; 0 for none.
    pub gc_every_bytes: u64,
    /// Length of a pause, on average.
    pub gc_pause_ns: u64,
}

/// Where a request goes when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    PageRead(u64),
    /// A write or a flush has passed the interface.
    Arrived(u64),
    /// A part of a write without cache is in flash.
    PageWritten(u64),
    Programmed(u64),
    Answered(u64),
    /// A pause is over.
    Resumed,
}

#[derive(Debug)]
struct Inside {
    request: Request,
    start_ns: u64,
    /// Pages that are not read or written yet.
    pages: u64,
    destage: Option<u64>,
}

/// What one program operation carries from the cache: parts, bytes, the oldest write.
#[derive(Debug, Default)]
struct Program {
    destages: Vec<u64>,
    bytes: u64,
    oldest: u64,
}

/// The state of a solid-state drive.
#[derive(Debug)]
pub struct SolidStateDisk {
    parameters: SolidStateParameters,
    random: Random,
    /// When each unit is free.
    units: Vec<u64>,
    next_unit: usize,
    interface_free_ns: u64,
    outside: VecDeque<Request>,
    inside: HashMap<u64, Inside>,
    /// By time, then by number: ties go in the order in which they were planned.
    steps: BinaryHeap<Reverse<(u64, u64, Step)>>,
    next_step: u64,
    /// The latest step so far: every unit that is free by then has said so.
    seen_ns: u64,
    dirty: DirtyRanges,
    programs: HashMap<u64, Program>,
    /// Oldest write and number of each program operation.
    programs_by_age: BTreeSet<(u64, u64)>,
    programming_bytes: u64,
    next_program: u64,
    held_writes: VecDeque<u64>,
    /// Flushes, each with the number of the first write after it.
    flushes: Vec<(u64, u64)>,
    next_write: u64,
    next_destage: u64,
    bytes_to_pause: u64,
}

impl SolidStateDisk {
    /// A drive at rest.
    pub fn new(parameters: SolidStateParameters, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let bytes_to_pause = around(parameters.gc_every_bytes, &mut random);
        Self {
            units: vec![0; parameters.channels],
            next_unit: 0,
            interface_free_ns: 0,
            outside: VecDeque::new(),
            inside: HashMap::new(),
            steps: BinaryHeap::new(),
            next_step: 0,
            seen_ns: 0,
            dirty: DirtyRanges::default(),
            programs: HashMap::new(),
            programs_by_age: BTreeSet::new(),
            programming_bytes: 0,
            next_program: 0,
            held_writes: VecDeque::new(),
            flushes: Vec::new(),
            next_write: 0,
            next_destage: 0,
            bytes_to_pause,
            random,
            parameters,
        }
    }

    fn plan(&mut self, at_ns: u64, step: Step) {
        self.steps.push(Reverse((at_ns, self.next_step, step)));
        self.next_step += 1;
    }

    /// When the interface has carried one more request of so many bytes.
    fn through_interface(&mut self, bytes: u64, now_ns: u64) -> u64 {
        let from_ns = now_ns.max(self.interface_free_ns);
        let transfer_ns = super::disk::transfer_ns(bytes, self.parameters.interface_rate);
        self.interface_free_ns = from_ns + self.parameters.overhead_ns + transfer_ns;
        self.interface_free_ns
    }

    fn begin(&mut self, request: Request, now_ns: u64) {
        let page_bytes = self.parameters.page_bytes;
        let mut inside = Inside {
            request,
            start_ns: now_ns,
            pages: 0,
            destage: None,
        };
        if request.operation == Operation::Read {
            if self.dirty.covers(&(request.offset..request.end())) {
                let end_ns = self.through_interface(request.length, now_ns);
                self.plan(end_ns, Step::Answered(request.id));
            } else {
                let first = request.offset / page_bytes;
                let last = (request.end() - 1) / page_bytes;
                for page in first..=last {
                    let unit = usize::try_from(page).unwrap_or(0) % self.units.len();
                    let from_ns = now_ns.max(self.units[unit]);
                    self.units[unit] = from_ns + self.parameters.read_latency_ns;
                    self.plan(self.units[unit], Step::PageRead(request.id));
                }
                inside.pages = last - first + 1;
            }
        } else {
            let end_ns = self.through_interface(request.length, now_ns);
            self.plan(end_ns, Step::Arrived(request.id));
        }
        self.inside.insert(request.id, inside);
    }

    /// A write or a flush has passed the interface.
    fn arrived(&mut self, id: u64, now_ns: u64, events: &mut Vec<Event>) {
        let Some(request) = self.inside.get(&id).map(|inside| inside.request) else {
            return;
        };
        let cache_bytes = self.parameters.write_cache_bytes;
        if request.operation == Operation::Flush {
            let before = self.next_write;
            let waits = self.oldest_write().is_some_and(|oldest| oldest < before);
            if waits && !self.parameters.is_protected {
                self.flushes.push((id, before));
            } else {
                self.plan(
                    now_ns + self.parameters.flush_latency_ns,
                    Step::Answered(id),
                );
            }
        } else if request.length > cache_bytes {
            self.write_through(request, now_ns, events);
        } else {
            self.held_writes.push_back(id);
            self.admit_writes(now_ns, events);
        }
    }

    /// Programs a write that does not go through the cache.
    fn write_through(&mut self, request: Request, now_ns: u64, events: &mut Vec<Event>) {
        let pages = request.length.div_ceil(self.parameters.page_bytes);
        for _ in 0..pages {
            let unit = self.least_busy();
            let from_ns = now_ns.max(self.units[unit]);
            self.units[unit] = from_ns + self.parameters.program_latency_ns;
            self.plan(self.units[unit], Step::PageWritten(request.id));
        }
        let destage = self.destage(request.offset, request.length, events);
        if let Some(inside) = self.inside.get_mut(&request.id) {
            inside.pages = pages;
            inside.destage = Some(destage);
        }
    }

    fn destage(&mut self, offset: u64, length: u64, events: &mut Vec<Event>) -> u64 {
        let destage = self.next_destage;
        self.next_destage += 1;
        events.push(Event::DestageStarted {
            destage,
            offset,
            length,
        });
        destage
    }

    fn least_busy(&mut self) -> usize {
        let count = self.units.len();
        let from = self.next_unit;
        let best = (0..count)
            .map(|step| (from + step) % count)
            .min_by_key(|unit| self.units[*unit])
            .unwrap_or(0);
        self.next_unit = (best + 1) % count;
        best
    }

    fn oldest_write(&self) -> Option<u64> {
        let programming = self.programs_by_age.first().map(|(oldest, _)| *oldest);
        self.dirty.oldest().into_iter().chain(programming).min()
    }

    fn admit_writes(&mut self, now_ns: u64, events: &mut Vec<Event>) {
        while let Some(id) = self.held_writes.front().copied() {
            let Some(request) = self.inside.get(&id).map(|inside| inside.request) else {
                return;
            };
            let range = request.offset..request.end();
            let used = self.cached_bytes() + self.dirty.new_bytes(&range);
            if used > self.parameters.write_cache_bytes {
                return;
            }
            self.held_writes.pop_front();
            self.dirty.insert(range, self.next_write);
            self.next_write += 1;
            if self.parameters.is_protected {
                let destage = self.destage(request.offset, request.length, events);
                events.push(Event::DestageEnded { destage });
            }
            self.plan(now_ns, Step::Answered(id));
        }
    }

    fn cached_bytes(&self) -> u64 {
        self.dirty.bytes() + self.programming_bytes
    }

    /// Gives the oldest writes of the cache to free units.
    fn start_programs(&mut self, now_ns: u64, events: &mut Vec<Event>) {
        while !self.dirty.is_empty() {
            let unit = self.least_busy();
            if self.units[unit] > now_ns {
                return;
            }
            let mut program = Program {
                oldest: self.dirty.oldest().unwrap_or(0),
                ..Program::default()
            };
            while program.bytes < self.parameters.page_bytes
                && let Some(start) = self.dirty.oldest_start()
                && let Some(range) = self
                    .dirty
                    .take(start, self.parameters.page_bytes - program.bytes)
            {
                program.bytes += range.end - range.start;
                if !self.parameters.is_protected {
                    let destage = self.destage(range.start, range.end - range.start, events);
                    program.destages.push(destage);
                }
            }
            self.units[unit] = now_ns + self.parameters.program_latency_ns;
            self.plan(self.units[unit], Step::Programmed(self.next_program));
            self.programming_bytes += program.bytes;
            self.programs_by_age
                .insert((program.oldest, self.next_program));
            self.programs.insert(self.next_program, program);
            self.next_program += 1;
        }
    }

    fn programmed(&mut self, number: u64, now_ns: u64, events: &mut Vec<Event>) {
        let Some(program) = self.programs.remove(&number) else {
            return;
        };
        self.programs_by_age.remove(&(program.oldest, number));
        self.programming_bytes -= program.bytes;
        let ended = program.destages.into_iter();
        events.extend(ended.map(|destage| Event::DestageEnded { destage }));
        self.collect_garbage(program.bytes, now_ns);
        self.admit_writes(now_ns, events);
        let oldest = self.oldest_write().unwrap_or(u64::MAX);
        let flushes = std::mem::take(&mut self.flushes);
        for (id, before) in flushes {
            if oldest >= before {
                self.plan(
                    now_ns + self.parameters.flush_latency_ns,
                    Step::Answered(id),
                );
            } else {
                self.flushes.push((id, before));
            }
        }
    }

    fn collect_garbage(&mut self, programmed_bytes: u64, now_ns: u64) {
        if self.parameters.gc_every_bytes == 0 {
            return;
        }
        if programmed_bytes < self.bytes_to_pause {
            self.bytes_to_pause -= programmed_bytes;
            return;
        }
        self.bytes_to_pause = around(self.parameters.gc_every_bytes, &mut self.random);
        let pause_ns = around(self.parameters.gc_pause_ns, &mut self.random);
        for unit in &mut self.units {
            *unit = now_ns.max(*unit) + pause_ns;
        }
        let resumed_ns = self.units.iter().copied().min().unwrap_or(now_ns);
        self.plan(resumed_ns, Step::Resumed);
    }

    fn page_done(&mut self, id: u64) -> Option<Request> {
        let inside = self.inside.get_mut(&id)?;
        inside.pages -= 1;
        (inside.pages == 0).then_some(inside.request)
    }

    fn answered(&mut self, id: u64, now_ns: u64, events: &mut Vec<Event>) {
        let Some(inside) = self.inside.remove(&id) else {
            return;
        };
        let destage = inside.destage;
        events.extend(destage.map(|destage| Event::DestageEnded { destage }));
        events.push(Event::Completed {
            id,
            start_ns: inside.start_ns,
            end_ns: now_ns,
        });
        if let Some(request) = self.outside.pop_front() {
            self.begin(request, now_ns);
        }
    }

    fn take_step(&mut self, step: Step, now_ns: u64, events: &mut Vec<Event>) {
        match step {
            Step::PageRead(id) => {
                if let Some(request) = self.page_done(id) {
                    let end_ns = self.through_interface(request.length, now_ns);
                    self.plan(end_ns, Step::Answered(id));
                }
            }
            Step::PageWritten(id) => {
                if let Some(request) = self.page_done(id) {
                    self.collect_garbage(request.length, now_ns);
                    self.plan(now_ns, Step::Answered(id));
                }
            }
            Step::Arrived(id) => self.arrived(id, now_ns, events),
            Step::Programmed(number) => self.programmed(number, now_ns, events),
            Step::Answered(id) => self.answered(id, now_ns, events),
            Step::Resumed => {}
        }
        // Not by the time of a request that counts as earlier: no step would start what it found busy then.
        self.seen_ns = self.seen_ns.max(now_ns);
        self.start_programs(self.seen_ns, events);
    }
}

/// Half of `mean` to one and a half.
fn around(mean: u64, random: &mut Random) -> u64 {
    mean / 2 + random.below(mean + 1)
}

impl Disk for SolidStateDisk {
    fn submit(&mut self, request: Request, now_ns: u64, events: &mut Vec<Event>) {
        self.advance(now_ns, events);
        if self.inside.len() < self.parameters.queue {
            self.begin(request, now_ns);
        } else {
            self.outside.push_back(request);
        }
        self.advance(now_ns, events);
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.steps.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    fn advance(&mut self, now_ns: u64, events: &mut Vec<Event>) {
        while self.next_event_ns().is_some_and(|at_ns| at_ns <= now_ns)
            && let Some(Reverse((at_ns, _, step))) = self.steps.pop()
        {
            self.take_step(step, at_ns, events);
        }
    }

    fn volatile_bytes(&self) -> u64 {
        if self.parameters.is_protected {
            0
        } else {
            self.cached_bytes()
        }
    }
}
