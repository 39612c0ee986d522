//! Takes what happens in the model; says which data becomes durable and which requests are answered.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::calibration::PathCosts;
use crate::faults::Faults;
use crate::model::{Disk, Event, Operation, Request};
use crate::volatile::{Piece, VolatileData};

/// Called once with the data of a read (empty for others), or with the error.
pub type Answer = Box<dyn FnOnce(Result<&[u8], Errno>) + Send>;

/// Why a request failed, as the kernel numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// The device failed.
    pub const IO: Self = Self(libc::EIO);
    /// The device is full.
    pub const FULL: Self = Self(libc::ENOSPC);
}

/// A request that is not answered.
pub struct Pending {
    pub operation: Operation,
    pub offset: u64,
    pub length: u32,
    pub arrival_ns: u64,
    /// When it counts as having arrived: earlier, by what the way costs.
    pub counted_ns: u64,
    /// How many requests were under way then, itself included.
    pub under_way: usize,
    /// What a read found.
    pub data: Vec<u8>,
    pub answer: Answer,
}

/// A request that the model ended.
pub struct Ended {
    pub pending: Pending,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// What has to be done outside the lock, in this order.
#[derive(Default)]
pub struct Settled {
    /// Order of this batch among those with data.
    pub batch: u64,
    /// Batches before this one must be in the image first: one of them has older data of the same bytes.
    pub after_batch: u64,
    /// Data that is durable now.
    pub durable: Vec<Piece>,
    pub ended: Vec<Ended>,
}

impl Settled {
    pub fn is_empty(&self) -> bool {
        self.durable.is_empty() && self.ended.is_empty()
    }
}

/// What all threads share, under one lock.
pub struct State {
    pub disk: Box<dyn Disk>,
    /// What the way to this process and back costs.
    pub path_costs: PathCosts,
    /// Whether requests take their modelled time. If not, all that the model plans happens at once.
    pub is_paced: bool,
    pub is_powered: bool,
    /// Power cuts so far: a request that began before one does not end after it.
    pub power_cuts: u64,
    pub is_stopped: bool,
    pub pending: HashMap<u64, Pending>,
    pub volatile: VolatileData,
    pub faults: Faults,
    /// The data of each transfer to the medium, as it was when the transfer started.
    destages: HashMap<u64, Vec<Piece>>,
    /// Batches whose data is being written to the image, each by one thread, and what they write.
    pub persisting: BTreeMap<u64, Vec<Range<u64>>>,
    next_batch: u64,
    pub next_id: u64,
    pub next_write: u64,
    /// Until when the pacer sleeps; 0 while it is awake.
    pub pacer_wakes_ns: u64,
    events: Vec<Event>,
}

impl State {
    pub fn new(disk: Box<dyn Disk>, path_costs: PathCosts) -> Self {
        Self {
            disk,
            path_costs,
            is_paced: true,
            is_powered: true,
            power_cuts: 0,
            is_stopped: false,
            pending: HashMap::new(),
            volatile: VolatileData::default(),
            faults: Faults::default(),
            destages: HashMap::new(),
            persisting: BTreeMap::new(),
            next_batch: 0,
            next_id: 0,
            next_write: 0,
            pacer_wakes_ns: 0,
            events: Vec::new(),
        }
    }

    /// Hands a request to the model, as having arrived earlier by what the way costs, and does what is due by
    /// then: a request that the model ends within that time is answered at once.
    pub fn submit(&mut self, mut pending: Pending, now_ns: u64) -> Settled {
        let id = self.next_id;
        self.next_id += 1;
        pending.under_way = self.pending.len() + 1;
        let cost_ns = self.path_costs.at(pending.operation, pending.under_way);
        pending.counted_ns = pending.arrival_ns.saturating_sub(cost_ns);
        let counted_ns = pending.counted_ns;
        let request = Request {
            id,
            operation: pending.operation,
            offset: pending.offset,
            length: u64::from(pending.length),
        };
        self.pending.insert(id, pending);
        let mut events = std::mem::take(&mut self.events);
        self.disk.submit(request, counted_ns, &mut events);
        self.advance_disk(now_ns, &mut events);
        self.settle(events)
    }

    /// Everything that happens up to `now_ns`.
    pub fn advance(&mut self, now_ns: u64) -> Settled {
        let mut events = std::mem::take(&mut self.events);
        self.advance_disk(now_ns, &mut events);
        self.settle(events)
    }

    fn advance_disk(&mut self, now_ns: u64, events: &mut Vec<Event>) {
        let now_ns = if self.is_paced { now_ns } else { u64::MAX };
        while let Some(at_ns) = self.disk.next_event_ns().filter(|at_ns| *at_ns <= now_ns) {
            self.disk.advance(at_ns, events);
        }
    }

    fn settle(&mut self, mut events: Vec<Event>) -> Settled {
        let mut settled = Settled::default();
        for event in events.drain(..) {
            match event {
                Event::DestageStarted { destage, offset, length } => {
                    let pieces = self.volatile.within(&(offset..offset + length));
                    self.destages.insert(destage, pieces);
                }
                Event::DestageEnded { destage } => {
                    settled.durable.extend(self.destages.remove(&destage).unwrap_or_default());
                }
                Event::Completed { id, start_ns, end_ns } => {
                    if let Some(pending) = self.pending.remove(&id) {
                        settled.ended.push(Ended { pending, start_ns, end_ns });
                    }
                }
            }
        }
        self.events = events;
        settled.batch = self.next_batch;
        if !settled.durable.is_empty() {
            self.next_batch += 1;
            let ranges: Vec<Range<u64>> = settled.durable.iter().map(Piece::range).collect();
            settled.after_batch = self.after_batch(&ranges);
            self.persisting.insert(settled.batch, ranges);
        }
        settled
    }

    /// The number after that of the last batch under way which writes some of these bytes; 0 if none does.
    fn after_batch(&self, ranges: &[Range<u64>]) -> u64 {
        let overlaps = |other: &Range<u64>| {
            ranges.iter().any(|range| range.start < other.end && other.start < range.end)
        };
        let mut latest_first = self.persisting.iter().rev();
        let found = latest_first.find(|(_, others)| others.iter().any(overlaps));
        found.map_or(0, |(batch, _)| batch + 1)
    }

    /// These bytes get another content now, which transfers under way must not overwrite.
    pub fn discard(&mut self, range: &Range<u64>) {
        self.volatile.discard(range);
        for pieces in self.destages.values_mut() {
            *pieces = pieces.iter().flat_map(|piece| piece.outside(range)).collect();
        }
    }

    /// A new disk at rest, without anything that was under way.
    pub fn reset(&mut self, disk: Box<dyn Disk>) -> Vec<Pending> {
        self.disk = disk;
        self.destages.clear();
        self.pending.drain().map(|(_, pending)| pending).collect()
    }
}
