//! Takes the arrivals of one open loop; assigns each to a free client on any thread.
//!
//! Each thread has a share of the arrivals, those of its own clients, so that threads rarely synchronize. A
//! thread without a free client for an arrival that is due hands it over to a thread that has one; if no
//! client is free, the first that becomes free takes it. Arrivals that are due and not started are in no
//! queue: they are the part of the schedule before now.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::account::ThreadRecorder;
use crate::drive::pace::arrivals::{Arrival, Arrivals, Share};
use crate::drive::pace::deferred_queue::DeferredQueue;
use crate::drive::pace::schedule::Schedule;
use crate::drive::plan::Plan;
use crate::drive::plan::group::Group;

/// The arrivals of one group of clients.
#[derive(Debug)]
pub struct OpenLoop {
    /// By thread.
    shares: Vec<ThreadShare>,
    /// Whether all threads were woken after the last arrival.
    is_end_announced: AtomicBool,
    /// Whether more can come, where the arrivals are those that clients defer.
    deferred: Option<Arc<DeferredQueue>>,
}

/// One thread's share. It has its own cache lines, since it is written for each arrival.
#[derive(Debug)]
#[repr(align(128))]
struct ThreadShare {
    arrivals: Mutex<Arrivals>,
    /// When the next arrival is due; `u64::MAX` after the last.
    due_ns: AtomicU64,
    /// How many of the thread's clients wait for an arrival and are not reserved for one.
    free: AtomicUsize,
    /// Arrivals of other threads; one of this thread's clients is reserved for each.
    handed_over: Mutex<VecDeque<Arrival>>,
}

/// What a free client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextArrival {
    Due(Arrival),
    Later,
    /// There are no further arrivals.
    Over,
}

/// Which threads must check the arrivals again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToWake {
    NoThread,
    One(usize),
    /// There are no further arrivals.
    All,
}

// Sequentially consistent throughout: a thread that has just become free and one whose arrival is just due
// must not miss each other.
const ORDER: Ordering = Ordering::SeqCst;

impl OpenLoop {
    /// `None` in a closed loop.
    pub fn new(
        plan: &Plan,
        group: &Group,
        deferred: Option<Arc<DeferredQueue>>,
        schedule: Schedule,
        threads: usize,
    ) -> Option<Self> {
        let shares = (0..threads).map(|thread| {
            let share = Share {
                thread: thread as u64,
                threads: threads as u64,
            };
            let arrivals = Arrivals::new(plan, group, schedule, share)?;
            Some(ThreadShare {
                due_ns: AtomicU64::new(arrivals.due_ns().unwrap_or(u64::MAX)),
                arrivals: Mutex::new(arrivals),
                free: AtomicUsize::new(0),
                handed_over: Mutex::default(),
            })
        });
        Some(Self {
            shares: shares.collect::<Option<_>>()?,
            is_end_announced: AtomicBool::new(false),
            deferred: deferred.filter(|_| group.is_deferred()),
        })
    }

    /// What a client of `thread` does at `now_ns`: it takes an arrival of its own thread's share, or else one
    /// of another thread that has no free client.
    pub fn take(
        &self,
        thread: usize,
        now_ns: u64,
        group: &Group,
        recorder: &mut ThreadRecorder,
    ) -> (NextArrival, ToWake) {
        // What is deferred waits in one queue, whichever thread has queued it.
        let first = match &self.deferred {
            Some(_) => self.longest_waiting(),
            None => thread,
        };
        if let Some(arrival) = self.shares[first].take(now_ns, group, recorder) {
            return (NextArrival::Due(arrival), self.woken_by(ToWake::NoThread));
        }
        for (other, share) in self.shares.iter().enumerate() {
            if other != first
                && share.is_overdue(now_ns)
                && let Some(arrival) = share.take(now_ns, group, recorder)
            {
                // Its thread had no timer for its next arrival: now it may need one.
                let to_wake = match share.is_overdue(now_ns) {
                    true => ToWake::NoThread,
                    false => ToWake::One(other),
                };
                return (NextArrival::Due(arrival), self.woken_by(to_wake));
            }
        }
        match self.is_over() {
            true => (NextArrival::Over, self.woken_by(ToWake::NoThread)),
            false => (NextArrival::Later, ToWake::NoThread),
        }
    }

    /// Queues an arrival of a client of `thread`, which is due at once.
    pub fn push(&self, thread: usize, arrival: Arrival) {
        let share = &self.shares[thread];
        let mut arrivals = share.arrivals();
        arrivals.push(arrival);
        share.note_due(&arrivals);
    }

    /// The thread whose next arrival was due first.
    fn longest_waiting(&self) -> usize {
        let due = |share: &ThreadShare| share.due_ns.load(ORDER);
        let shares = self.shares.iter().enumerate();
        shares
            .min_by_key(|(_, share)| due(share))
            .map_or(0, |(thread, _)| thread)
    }

    /// Takes the next arrival before it is due: for clients on threads of their own, which wait for it
    /// themselves and share one schedule.
    pub fn take_early(
        &self,
        now_ns: u64,
        group: &Group,
        recorder: &mut ThreadRecorder,
    ) -> Option<Arrival> {
        let mut arrivals = self.shares[0].arrivals();
        arrivals.skip_expired(now_ns, group, recorder);
        arrivals.take(group, recorder)
    }

    /// Whether there are no further arrivals on any thread, and none waits to be begun.
    pub fn is_over(&self) -> bool {
        // In this order: what is queued before the queue is closed is seen, and so is what is handed over.
        let can_come = (self.deferred.as_ref()).is_some_and(|queue| !queue.is_closed());
        let is_over = |share: &ThreadShare| share.due_ns.load(ORDER) == u64::MAX;
        !can_come
            && self.shares.iter().all(is_over)
            && (self.shares.iter()).all(|share| share.handed_over().is_empty())
    }

    /// Whether the time that was set, and no number of transactions, has ended the arrivals.
    pub fn lasts_until_stop(&self) -> bool {
        (self.shares.iter()).all(|share| share.arrivals().lasts_until_stop)
    }

    /// A client of `thread` starts to wait for an arrival.
    pub fn wait(&self, thread: usize) {
        self.shares[thread].free.fetch_add(1, ORDER);
    }

    /// Reserves a waiting client of `thread` for an arrival, or lets it stop waiting; false if all are
    /// reserved.
    pub fn reserve(&self, thread: usize) -> bool {
        let less = |free: usize| free.checked_sub(1);
        let free = &self.shares[thread].free;
        free.fetch_update(ORDER, ORDER, less).is_ok()
    }

    /// When `thread` must check the arrivals again if nothing else happens; 0 if one is due that a client can
    /// start.
    pub fn next_check_ns(&self, thread: usize, now_ns: u64) -> u64 {
        let own = &self.shares[thread];
        let due_ns = own.due_ns.load(ORDER);
        if own.free.load(ORDER) > 0 {
            let others = self.shares.iter().enumerate();
            let is_at_once = self.is_over()
                || (others.clone())
                    .any(|(other, share)| other != thread && share.is_overdue(now_ns));
            return if is_at_once { 0 } else { due_ns };
        }
        // It has no free client for the arrival.
        if due_ns > now_ns || self.free_thread(thread).is_some() {
            due_ns
        } else {
            u64::MAX
        }
    }

    /// Hands an arrival of `thread` that is due over to another thread with a free client; returns which
    /// threads to wake. `None`: no client is free.
    pub fn hand_over(
        &self,
        thread: usize,
        now_ns: u64,
        group: &Group,
        recorder: &mut ThreadRecorder,
    ) -> Option<ToWake> {
        let other = self.free_thread(thread)?;
        if !self.reserve(other) {
            return None;
        }
        // Locked before it is taken: else the arrivals seem to be over while none of the two has it.
        let mut handed_over = self.shares[other].handed_over();
        match self.shares[thread].take(now_ns, group, recorder) {
            Some(arrival) => handed_over.push_back(arrival),
            None => self.wait(other),
        }
        drop(handed_over);
        Some(self.woken_by(ToWake::One(other)))
    }

    /// The clients of `thread` start nothing more: the arrivals handed over to them go to other clients.
    pub fn leave(&self, thread: usize) {
        self.shares[thread].free.store(0, ORDER);
        while let Some(arrival) = self.take_handed_over(thread) {
            self.give_back(thread, arrival);
        }
    }

    fn woken_by(&self, to_wake: ToWake) -> ToWake {
        match self.is_over() && !self.is_end_announced.swap(true, ORDER) {
            true => ToWake::All,
            false => to_wake,
        }
    }

    /// Takes an arrival that another thread has handed over to `thread`.
    pub fn take_handed_over(&self, thread: usize) -> Option<Arrival> {
        self.shares[thread].handed_over().pop_front()
    }

    /// Takes back an arrival whose reserved client has ended: the next free client takes it.
    pub fn give_back(&self, thread: usize, arrival: Arrival) {
        let share = &self.shares[thread];
        let mut arrivals = share.arrivals();
        arrivals.give_back(arrival);
        share.note_due(&arrivals);
    }

    /// Skips all arrivals that were due before `end_ns`: no client is left to start them.
    pub fn skip_until(&self, end_ns: u64, group: &Group, recorder: &mut ThreadRecorder) {
        for (thread, share) in self.shares.iter().enumerate() {
            while let Some(arrival) = self.take_handed_over(thread) {
                share.arrivals().give_back(arrival);
            }
            share.arrivals().skip_until(end_ns, group, recorder);
        }
    }

    /// Another thread with a free client.
    fn free_thread(&self, thread: usize) -> Option<usize> {
        let others = (1..self.shares.len()).map(|step| (thread + step) % self.shares.len());
        let mut others = others;
        others.find(|other| self.shares[*other].free.load(ORDER) > 0)
    }
}

impl ThreadShare {
    /// Whether an arrival is due that its own thread has no client for.
    fn is_overdue(&self, now_ns: u64) -> bool {
        self.due_ns.load(ORDER) <= now_ns && self.free.load(ORDER) == 0
    }

    /// The next arrival, if it is due.
    fn take(&self, now_ns: u64, group: &Group, recorder: &mut ThreadRecorder) -> Option<Arrival> {
        if self.due_ns.load(ORDER) > now_ns {
            return None;
        }
        let mut arrivals = self.arrivals();
        arrivals.skip_expired(now_ns, group, recorder);
        let is_due = arrivals.due_ns().is_some_and(|due_ns| due_ns <= now_ns);
        let taken = match is_due {
            true => arrivals.take(group, recorder),
            false => None,
        };
        self.note_due(&arrivals);
        taken
    }

    fn note_due(&self, arrivals: &Arrivals) {
        let due_ns = arrivals.due_ns().unwrap_or(u64::MAX);
        self.due_ns.store(due_ns, ORDER);
    }

    fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handed_over(&self) -> MutexGuard<'_, VecDeque<Arrival>> {
        self.handed_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
