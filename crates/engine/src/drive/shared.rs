//! The state that the threads of one run share.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

use assay_script::Deferred;
use mio::{Registry, Token, Waker};

use crate::account::{
    Aggregator, ClientCounts, Outages, SampleBuffer, SharedLog, StatementLog, ThreadRecorder,
    ThreadStatements, TransactionLog,
};
use crate::clock::Clock;
use crate::drive::pace::deferred_queue::DeferredQueue;
use crate::drive::pace::open_loop::{OpenLoop, ToWake};
use crate::drive::pace::schedule::{Schedule, Signals};
use crate::drive::plan::Plan;
use crate::drive::plan::group::Group;
use crate::drive::supervision::start_barrier::{Start, StartBarrier};
use crate::{EngineError, cost};

pub struct Shared {
    pub plan: Plan,
    pub clock: Clock,
    pub barrier: StartBarrier,
    pub signals: Signals,
    /// Clients that have not ended yet; for progress.
    pub clients_running: AtomicU32,
    /// By group: those of its clients that have not ended.
    clients_left: Vec<AtomicU32>,
    /// One for each thread.
    pub buffers: Vec<Arc<SampleBuffer>>,
    /// One for each processor; thread *i* writes into aggregator *i* modulo their number.
    pub aggregators: Vec<Arc<Mutex<Aggregator>>>,
    /// The same for what is counted by statement. Empty where there are no more threads than processors: each has its
    /// own then.
    pub statement_logs: Vec<SharedLog>,
    /// `None`: single transactions are not written.
    pub transaction_log: Option<TransactionLog>,
    pub failures_of_all: FailuresOfAll,
    pub client_counts: ClientCounts,
    outages: Mutex<Outages>,
    /// By group, created when all clients are ready.
    open_loops: Vec<OnceLock<Option<OpenLoop>>>,
    /// `None`: no group runs deferred scripts.
    pub deferred: Option<Arc<DeferredQueue>>,
    /// How many shares the arrivals are divided into: one for each event loop, or a single one if each client
    /// has its own thread.
    shares: usize,
    /// By thread.
    wakers: Vec<OnceLock<Waker>>,
    /// By group.
    queues: Vec<Queue>,
    threads_left: AtomicUsize,
    /// The kernel's ids of the running threads.
    at_work: Mutex<Vec<libc::pid_t>>,
    /// How long the threads that have ended were ready to run and had no processor.
    waited_for_processor_ns: AtomicU64,
    supervisor: Thread,
}

/// How many transactions of the shared list the clients of a group have taken.
#[derive(Debug, Default)]
struct Queue {
    // Relaxed: the counts guard no other memory.
    taken: AtomicU64,
    taken_in_warm_up: AtomicU64,
}

impl Shared {
    /// To be called on the thread that will supervise.
    pub fn new(
        plan: Plan,
        transaction_log: Option<TransactionLog>,
        threads: usize,
        shares: usize,
        processors: usize,
    ) -> Self {
        let aggregator = || Arc::new(Mutex::new(Aggregator::new(plan.layout())));
        let log = || Arc::new(Mutex::new(StatementLog::new(&plan.layout())));
        Self {
            clock: Clock::start(),
            barrier: StartBarrier::default(),
            signals: Signals::default(),
            clients_running: AtomicU32::new(plan.clients),
            clients_left: (plan.groups.iter())
                .map(|group| AtomicU32::new(group.clients))
                .collect(),
            buffers: (0..threads)
                .map(|_| Arc::new(SampleBuffer::new()))
                .collect(),
            aggregators: (0..threads.min(processors)).map(|_| aggregator()).collect(),
            statement_logs: match threads > processors {
                true => (0..processors).map(|_| log()).collect(),
                false => Vec::new(),
            },
            deferred: DeferredQueue::new(&plan).map(Arc::new),
            open_loops: plan.groups.iter().map(|_| OnceLock::new()).collect(),
            shares,
            wakers: (0..shares).map(|_| OnceLock::new()).collect(),
            queues: plan.groups.iter().map(|_| Queue::default()).collect(),
            transaction_log,
            failures_of_all: FailuresOfAll::new(plan.clients, plan.types_at_each() as usize),
            client_counts: ClientCounts::default(),
            outages: Mutex::new(Outages::new(&plan.layout())),
            threads_left: AtomicUsize::new(threads),
            at_work: Mutex::new(Vec::with_capacity(threads)),
            waited_for_processor_ns: AtomicU64::new(0),
            supervisor: std::thread::current(),
            plan,
        }
    }

    pub fn recorder(&self, thread: usize) -> ThreadRecorder {
        let aggregator = &self.aggregators[thread % self.aggregators.len()];
        let layout = self.plan.layout();
        let log = match self.statement_logs.len() {
            0 => ThreadStatements::Own(StatementLog::new(&layout)),
            logs => ThreadStatements::Shared(self.statement_logs[thread % logs].clone()),
        };
        ThreadRecorder::new(
            &layout,
            log,
            self.buffers[thread].clone(),
            aggregator.clone(),
            (self.transaction_log.as_ref()).map(TransactionLog::of_thread),
        )
    }

    /// Adds the buffered samples to the aggregators.
    pub fn flush_buffers(&self, began_ns: u64) {
        for (thread, buffer) in self.buffers.iter().enumerate() {
            let aggregator = &self.aggregators[thread % self.aggregators.len()];
            buffer.empty(|samples| {
                if !samples.is_empty() {
                    aggregator
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .add(samples, began_ns);
                }
            });
        }
    }

    /// For rare events: clients that lose their sessions and reconnect.
    pub fn outages(&self) -> MutexGuard<'_, Outages> {
        self.outages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The arrivals of a group; `None` in a closed loop.
    pub fn open_loop(&self, group: usize, schedule: Schedule) -> Option<&OpenLoop> {
        let plan = &self.plan;
        let make = || {
            let deferred = self.deferred.clone();
            OpenLoop::new(plan, &plan.groups[group], deferred, schedule, self.shares)
        };
        self.open_loops[group].get_or_init(make).as_ref()
    }

    /// Whether the arrivals of a group have all been taken, up to the stop.
    pub fn is_until_stop(&self, group: usize, schedule: Schedule) -> bool {
        let open_loop = self.open_loop(group, schedule);
        open_loop.is_some_and(OpenLoop::lasts_until_stop)
    }

    /// Lets other threads wake this one through the poll of `registry`.
    ///
    /// # Errors
    /// If the operating system lacks resources.
    pub fn can_be_woken(&self, thread: usize, registry: &Registry, token: Token) -> io::Result<()> {
        let waker = Waker::new(registry, token)?;
        // A thread has one poll.
        let _ = self.wakers[thread].set(waker);
        Ok(())
    }

    /// Wakes threads that must check their arrivals.
    pub fn wake(&self, to_wake: ToWake) {
        let wake = |thread: usize| {
            if let Some(waker) = self.wakers[thread].get() {
                // A thread that cannot be woken checks periodically.
                let _ = waker.wake();
            }
        };
        match to_wake {
            ToWake::NoThread => {}
            ToWake::One(thread) => wake(thread),
            ToWake::All => (0..self.shares).for_each(wake),
        }
    }

    /// The number of the next transaction of the list that a group's clients share; those of the warm-up are
    /// numbered after the list. `None`: the list is empty.
    pub fn take_number(&self, group: &Group, is_measured: bool) -> Option<u64> {
        let queue = &self.queues[group.number as usize];
        let end = group.work.stop.queue.unwrap_or(0);
        if !is_measured {
            let taken = queue.taken_in_warm_up.fetch_add(1, Ordering::Relaxed);
            return Some(end.saturating_add(group.number_of(taken)));
        }
        let taken = queue.taken.fetch_add(1, Ordering::Relaxed);
        Some(group.number_of(taken)).filter(|number| *number < end)
    }

    /// Whether all transactions of the list have been taken.
    pub fn is_queue_empty(&self, group: &Group) -> bool {
        let taken = self.queues[group.number as usize]
            .taken
            .load(Ordering::Relaxed);
        group.number_of(taken) >= group.work.stop.queue.unwrap_or(0)
    }

    /// To be called once for each client, when it ends.
    pub fn client_ended(&self, group: &Group) {
        self.clients_left[group.number as usize].fetch_sub(1, Ordering::Relaxed);
        if let Some(queue) = &self.deferred
            && !group.is_deferred()
            && queue.other_ended()
        {
            self.wake(ToWake::All);
        }
    }

    /// The client at this place of the process queues a script for the group that runs deferred ones.
    pub fn defer(
        &self,
        place: u32,
        deferred: Deferred,
        schedule: Schedule,
        (now_ns, is_measured): (u64, bool),
    ) {
        let queue = self
            .deferred
            .as_ref()
            .expect("the plan has checked what is deferred");
        let group = &self.plan.groups[queue.group];
        let arrival = queue.push(deferred, group, now_ns, is_measured);
        if let Some(open_loop) = self.open_loop(queue.group, schedule) {
            open_loop.push(place as usize % self.shares, arrival);
        }
        queue.announce();
    }

    /// Whether the group with which this one ends has ended.
    pub fn must_end_with_another(&self, group: &Group) -> bool {
        group
            .ends_with
            .is_some_and(|other| self.clients_left[other as usize].load(Ordering::Relaxed) == 0)
    }

    pub fn threads_left(&self) -> usize {
        self.threads_left.load(Ordering::Acquire)
    }

    /// This many threads could not be started: no other thread waits for them, and no transaction is run.
    pub fn never_started(&self, threads: usize, failure: EngineError) {
        self.barrier.absent(threads, failure);
        self.threads_left.fetch_sub(threads, Ordering::Release);
    }

    /// To be held by each thread while it runs.
    pub fn presence(&self) -> Presence<'_> {
        let thread = cost::thread_id();
        self.at_work().push(thread);
        Presence(self, thread)
    }

    /// How long all client threads so far were ready to run and had no processor.
    pub fn waited_for_processor_ns(&self) -> u64 {
        // The lock keeps a thread from being counted twice.
        let at_work = self.at_work();
        let under_way: u64 = at_work
            .iter()
            .map(|thread| cost::waited_for_processor_ns(*thread))
            .sum();
        under_way + self.waited_for_processor_ns.load(Ordering::Relaxed)
    }

    fn at_work(&self) -> MutexGuard<'_, Vec<libc::pid_t>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers its thread as running until dropped, also if the thread panics.
pub struct Presence<'a>(&'a Shared, libc::pid_t);

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The other threads must not wait for it; its panic is raised again when it is joined.
            self.0.signals.interrupt();
            self.0.barrier.decide(Start::Cancelled);
        }
        let Self(shared, thread) = self;
        let waited_ns = cost::waited_for_processor_ns(*thread);
        let mut at_work = shared.at_work();
        at_work.retain(|other| other != thread);
        shared
            .waited_for_processor_ns
            .fetch_add(waited_ns, Ordering::Relaxed);
        drop(at_work);
        self.0.threads_left.fetch_sub(1, Ordering::Release);
        self.0.supervisor.unpark();
    }
}

/// Failures must have gone on for this long: another program may create the missing object.
pub const LEAST_NS: u64 = 1_000_000_000;

/// Of the clients of all groups. A client writes here when its first transaction ends, and when one fails permanently.
#[derive(Debug)]
pub struct FailuresOfAll {
    // Relaxed: they guard no other memory.
    clients_left: AtomicU32,
    /// By transaction type: whether one of it has failed.
    types_failed: Box<[AtomicBool]>,
    since_ns: AtomicU64,
    has_hope: AtomicBool,
}

impl FailuresOfAll {
    pub fn new(clients: u32, types: usize) -> Self {
        Self {
            clients_left: AtomicU32::new(clients),
            types_failed: (0..types).map(|_| AtomicBool::new(false)).collect(),
            since_ns: AtomicU64::new(u64::MAX),
            has_hope: AtomicBool::new(false),
        }
    }

    /// A transaction ended in another way than by a permanent failure.
    pub fn not_permanent(&self) {
        self.has_hope.store(true, Ordering::Relaxed);
    }

    /// A transaction of this type failed permanently; `is_first`: its client has had no other. Returns whether all
    /// clients and types do, and nothing else was seen.
    pub fn failed(&self, transaction_type: u32, is_first: bool, now_ns: u64) -> bool {
        if self.has_hope.load(Ordering::Relaxed) {
            return false;
        }
        self.types_failed[transaction_type as usize].store(true, Ordering::Relaxed);
        let since_ns = self.since_ns.fetch_min(now_ns, Ordering::Relaxed);
        if is_first {
            self.clients_left.fetch_sub(1, Ordering::Relaxed);
        }
        now_ns.saturating_sub(since_ns) >= LEAST_NS
            && self.clients_left.load(Ordering::Relaxed) == 0
            && (self.types_failed.iter()).all(|has_failed| has_failed.load(Ordering::Relaxed))
    }
}
