//! Takes the arrivals of one open loop; gives each to a free client, on whatever thread that client is.
//!
//! Each thread has a share of the arrivals, those of its own clients, so that usually no thread has to do
//! with another. Where a thread has no free client for an arrival that is due, it hands the arrival over to a
//! thread that has one; where no client is free at all, the first that becomes free takes it. What is due and
//! not begun waits in no queue: it is the part of the schedule that lies before now.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::arrivals::{Arrival, Arrivals, Share};
use super::group::Group;
use super::plan::Plan;
use super::schedule::Schedule;
use crate::account::ThreadRecorder;

/// The arrivals of one group of clients.
#[derive(Debug)]
pub struct OpenLoop {
    /// By thread.
    shares: Vec<ThreadShare>,
    /// All threads were woken because there will be no further arrival.
    is_end_told: AtomicBool,
}

/// What one thread has of it. On cache lines of its own: it is written for each arrival.
#[derive(Debug)]
#[repr(align(128))]
struct ThreadShare {
    arrivals: Mutex<Arrivals>,
    /// When the next of them is due; `u64::MAX` where there is no further one.
    due_ns: AtomicU64,
    /// The thread's clients that wait for an arrival and that none is promised to.
    free: AtomicUsize,
    /// Arrivals of other threads, each promised to one of its clients.
    handed_over: Mutex<VecDeque<Arrival>>,
}

/// What a client that is free hears of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextArrival {
    Due(Arrival),
    Later,
    /// There will be no other.
    Over,
}

/// Which threads must look at the arrivals anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToWake {
    Nobody,
    One(usize),
    /// There will be no other arrival.
    All,
}

// Sequentially consistent throughout: a thread that has just become free and one whose arrival has just
// come due must not both miss the other.
const ORDER: Ordering = Ordering::SeqCst;

impl OpenLoop {
    /// None in a closed loop.
    #[must_use]
    pub fn new(plan: &Plan, group: &Group, schedule: Schedule, threads: usize) -> Option<Self> {
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
            is_end_told: AtomicBool::new(false),
        })
    }

    /// What a client of `thread` is to do at `now_ns`: an arrival of its own thread's share, or else one of
    /// another thread that has no free client.
    pub fn take(
        &self,
        thread: usize,
        now_ns: u64,
        group: &Group,
        recorder: &mut ThreadRecorder,
    ) -> (NextArrival, ToWake) {
        if let Some(arrival) = self.shares[thread].take(now_ns, group, recorder) {
            return (NextArrival::Due(arrival), self.woken_by(ToWake::Nobody));
        }
        for (other, share) in self.shares.iter().enumerate() {
            if other != thread
                && share.is_overdue(now_ns)
                && let Some(arrival) = share.take(now_ns, group, recorder)
            {
                // Its thread has waited for no instant: now there may be one.
                let to_wake = match share.is_overdue(now_ns) {
                    true => ToWake::Nobody,
                    false => ToWake::One(other),
                };
                return (NextArrival::Due(arrival), self.woken_by(to_wake));
            }
        }
        match self.is_over() {
            true => (NextArrival::Over, self.woken_by(ToWake::Nobody)),
            false => (NextArrival::Later, ToWake::Nobody),
        }
    }

    /// Takes the next arrival of all before it is due: for clients that wait for it by themselves, whose
    /// threads have one share together.
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

    /// Whether there will be no further arrival on any thread.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let is_over = |share: &ThreadShare| share.due_ns.load(ORDER) == u64::MAX;
        self.shares.iter().all(is_over)
    }

    /// A client of `thread` waits for an arrival.
    pub fn wait(&self, thread: usize) {
        self.shares[thread].free.fetch_add(1, ORDER);
    }

    /// Promises a waiting client of `thread` to an arrival, or lets it go; false where all are promised.
    pub fn promise(&self, thread: usize) -> bool {
        let less = |free: usize| free.checked_sub(1);
        let free = &self.shares[thread].free;
        free.fetch_update(ORDER, ORDER, less).is_ok()
    }

    /// When `thread` must look at the arrivals again, if nothing else happens; at once where one is due that
    /// a client can begin.
    #[must_use]
    pub fn look_ns(&self, thread: usize, now_ns: u64) -> u64 {
        let own = &self.shares[thread];
        let due_ns = own.due_ns.load(ORDER);
        if own.free.load(ORDER) > 0 {
            let others = self.shares.iter().enumerate();
            let is_at_once = self.is_over()
                || (others.clone())
                    .any(|(other, share)| other != thread && share.is_overdue(now_ns));
            return if is_at_once { 0 } else { due_ns };
        }
        // It cannot begin the arrival itself.
        if due_ns > now_ns || self.free_thread(thread).is_some() {
            due_ns
        } else {
            u64::MAX
        }
    }

    /// Hands an arrival of `thread` that is due over to another thread with a free client; gives who must be
    /// woken. None: no client is free.
    pub fn hand_over(
        &self,
        thread: usize,
        now_ns: u64,
        group: &Group,
        recorder: &mut ThreadRecorder,
    ) -> Option<ToWake> {
        let other = self.free_thread(thread)?;
        if !self.promise(other) {
            return None;
        }
        match self.shares[thread].take(now_ns, group, recorder) {
            Some(arrival) => self.shares[other].handed_over().push_back(arrival),
            None => self.wait(other),
        }
        Some(self.woken_by(ToWake::One(other)))
    }

    /// The clients of `thread` begin nothing more: what was handed over to them is others'.
    pub fn leave(&self, thread: usize) {
        self.shares[thread].free.store(0, ORDER);
        while let Some(arrival) = self.take_handed_over(thread) {
            self.give_back(thread, arrival);
        }
    }

    /// Whether clients of a thread wait for an arrival.
    fn has_free(&self, thread: usize) -> bool {
        self.shares[thread].free.load(ORDER) > 0
    }

    fn woken_by(&self, to_wake: ToWake) -> ToWake {
        match self.is_over() && !self.is_end_told.swap(true, ORDER) {
            true => ToWake::All,
            false => to_wake,
        }
    }

    /// An arrival that another thread has handed over to `thread`.
    pub fn take_handed_over(&self, thread: usize) -> Option<Arrival> {
        self.shares[thread].handed_over().pop_front()
    }

    /// Takes back an arrival that was promised a client which has gone: the next client that is free has it.
    pub fn give_back(&self, thread: usize, arrival: Arrival) {
        let share = &self.shares[thread];
        let mut arrivals = share.arrivals();
        arrivals.give_back(arrival);
        share.note_due(&arrivals);
    }

    /// Skips all that were due before `end_ns`, because no client is left to begin them.
    pub fn skip_until(&self, end_ns: u64, group: &Group, recorder: &mut ThreadRecorder) {
        for (thread, share) in self.shares.iter().enumerate() {
            while let Some(arrival) = self.take_handed_over(thread) {
                share.arrivals().give_back(arrival);
            }
            share.arrivals().skip_until(end_ns, group, recorder);
        }
    }

    /// Another thread that has a free client.
    fn free_thread(&self, thread: usize) -> Option<usize> {
        let others = (1..self.shares.len()).map(|step| (thread + step) % self.shares.len());
        let mut others = others;
        others.find(|other| self.has_free(*other))
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
