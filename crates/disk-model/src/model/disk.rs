//! Takes nothing; defines what every model of a disk takes and gives: requests, events, and `Disk` itself.

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
