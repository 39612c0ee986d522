//! Takes requests; ends each when it arrives. What is measured of this disk is the cost of the way to it.

use super::{Disk, Event, Operation, Request};

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
