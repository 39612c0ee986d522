//! Takes the scripts that clients defer; keeps them until clients of the group that runs them begin them.
//!
//! When each is due, and which client takes it, is decided as in an open loop ([`crate::drive::pace::open_loop`]): here are the
//! values that each begins with, how many wait, and whether more can come.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_script::Deferred;

use crate::drive::pace::arrivals::Arrival;
use crate::drive::plan::Plan;
use crate::drive::plan::group::Group;
use crate::drive::plan::script_selector::NextScript;

#[derive(Debug)]
pub struct DeferredQueue {
    /// The number of the group whose clients run them.
    pub group: usize,
    state: Mutex<State>,
    /// Wakes threads that wait for the next one.
    pushed: Condvar,
    /// Clients that could defer more.
    others_left: AtomicU32,
    is_closed: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// How many were queued.
    queued: u64,
    /// By number: those that wait.
    waiting: HashMap<u64, Deferred>,
    /// The most that waited in the measurement.
    longest: u64,
}

impl DeferredQueue {
    /// `None`: no group runs deferred scripts.
    pub fn new(plan: &Plan) -> Option<Self> {
        let group = plan.groups.iter().position(Group::is_deferred)?;
        let others = plan.groups.iter().filter(|other| !other.is_deferred());
        Some(Self {
            group,
            state: Mutex::default(),
            pushed: Condvar::new(),
            others_left: AtomicU32::new(others.map(|other| other.clients).sum()),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Queues a script that is due at once; the caller puts the arrival where clients of the group take it.
    pub fn push(
        &self,
        deferred: Deferred,
        group: &Group,
        now_ns: u64,
        is_measured: bool,
    ) -> Arrival {
        let place = group.scripts.iter().position(|one| *one == deferred.script);
        let place = place.expect("the plan has checked what is deferred");
        let place = u32::try_from(place).expect("there are fewer than 2^32 scripts");
        let mut state = self.state();
        let number = state.queued;
        state.queued += 1;
        state.waiting.insert(number, deferred);
        if is_measured {
            state.longest = state.longest.max(state.waiting.len() as u64);
        }
        Arrival { due_ns: now_ns, next: NextScript::at(group, place), number, is_measured }
    }

    /// Takes what the arrival of this number begins with.
    pub fn take(&self, number: u64) -> Option<Deferred> {
        self.state().waiting.remove(&number)
    }

    /// The most that waited at once in the measurement.
    pub fn longest(&self) -> u64 {
        self.state().longest
    }

    /// A client of another group has ended; returns whether it was the last: nothing more can come.
    pub fn other_ended(&self) -> bool {
        let is_last = self.others_left.fetch_sub(1, Ordering::SeqCst) == 1;
        if is_last {
            self.is_closed.store(true, Ordering::SeqCst);
            self.announce();
        }
        is_last
    }

    /// Whether nothing more can come.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Wakes threads that wait: something may have come.
    pub fn announce(&self) {
        let _state = self.state();
        self.pushed.notify_all();
    }

    /// Waits until something may have come, at most this long.
    pub fn wait(&self, longest: Duration) {
        let state = self.state();
        if state.waiting.is_empty() && !self.is_closed() {
            let _ = self.pushed.wait_timeout(state, longest);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
