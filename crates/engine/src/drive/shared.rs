//! What the threads of one run share.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

use super::arrivals::{Arrivals, Share};
use super::gate::{Gate, Verdict};
use super::plan::Plan;
use super::schedule::{Schedule, Signals};
use crate::EngineError;
use crate::account::{Book, Ledger, Outages, Tray};
use crate::clock::Clock;

pub struct Shared {
    pub plan: Plan,
    pub clock: Clock,
    pub gate: Gate,
    pub signals: Signals,
    /// Clients that have not ended yet; for progress.
    pub clients_running: AtomicU32,
    /// One for each thread.
    pub trays: Vec<Arc<Tray>>,
    /// One for each processor; thread *i* writes into book *i* modulo their number.
    pub books: Vec<Arc<Mutex<Book>>>,
    outages: Mutex<Outages>,
    arrivals: OnceLock<Mutex<Option<Arrivals>>>,
    threads_left: AtomicUsize,
    supervisor: Thread,
}

impl Shared {
    /// To be made on the thread that will supervise.
    #[must_use]
    pub fn new(plan: Plan, threads: usize, processors: usize) -> Self {
        let book = || Arc::new(Mutex::new(Book::new(plan.form())));
        Self {
            clock: Clock::start(),
            gate: Gate::default(),
            signals: Signals::default(),
            clients_running: AtomicU32::new(plan.clients),
            trays: (0..threads).map(|_| Arc::new(Tray::new())).collect(),
            books: (0..threads.min(processors)).map(|_| book()).collect(),
            arrivals: OnceLock::new(),
            outages: Mutex::new(Outages::new(plan.clients)),
            threads_left: AtomicUsize::new(threads),
            supervisor: std::thread::current(),
            plan,
        }
    }

    #[must_use]
    pub fn ledger(&self, thread: usize) -> Ledger {
        let book = &self.books[thread % self.books.len()];
        Ledger::new(
            self.plan.program.scripts.len(),
            self.plan.statements.len(),
            self.trays[thread].clone(),
            book.clone(),
        )
    }

    /// Enters what lies in the trays into the books.
    pub fn empty_trays(&self, began_ns: u64) {
        for (thread, tray) in self.trays.iter().enumerate() {
            let book = &self.books[thread % self.books.len()];
            tray.empty(|samples| {
                if !samples.is_empty() {
                    book.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .enter(samples, began_ns);
                }
            });
        }
    }

    /// For what happens rarely: clients that lose their sessions, and come back.
    pub fn outages(&self) -> MutexGuard<'_, Outages> {
        self.outages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The whole schedule of an open loop, from which clients on threads of their own take in turn.
    pub fn arrivals(&self, schedule: Schedule) -> MutexGuard<'_, Option<Arrivals>> {
        let whole = || Mutex::new(Arrivals::new(&self.plan, schedule, Share::ALL));
        self.arrivals
            .get_or_init(whole)
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    #[must_use]
    pub fn threads_left(&self) -> usize {
        self.threads_left.load(Ordering::Acquire)
    }

    /// So many threads could not be started: nobody waits for them, and nothing is driven.
    pub fn never_started(&self, threads: usize, failure: EngineError) {
        self.gate.absent(threads, failure);
        self.threads_left.fetch_sub(threads, Ordering::Release);
    }

    /// To be held by each thread for as long as it works.
    #[must_use]
    pub fn presence(&self) -> Presence<'_> {
        Presence(self)
    }
}

/// Says that its thread is at work; when dropped, that it no longer is, also where it panics.
pub struct Presence<'a>(&'a Shared);

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The others must not wait for it; its panic is raised again when it is joined.
            self.0.signals.interrupt();
            self.0.gate.decide(Verdict::Cancelled);
        }
        self.0.threads_left.fetch_sub(1, Ordering::Release);
        self.0.supervisor.unpark();
    }
}
