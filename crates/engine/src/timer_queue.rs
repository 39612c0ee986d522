//! Takes the pauses of clients; returns the clients whose pause has ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pauses of one thread's clients, the next to end first.
#[derive(Debug, Default)]
pub struct TimerQueue {
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

impl TimerQueue {
    pub fn set(&mut self, at_ns: u64, client: usize) {
        self.heap.push(Reverse((at_ns, client)));
    }

    /// The earliest client whose pause has ended, with that instant.
    pub fn due(&mut self, now_ns: u64) -> Option<(u64, usize)> {
        let Reverse(first) = *self.heap.peek()?;
        if first.0 > now_ns {
            return None;
        }
        self.heap.pop();
        Some(first)
    }

    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_ns, _))| *at_ns)
    }
}
