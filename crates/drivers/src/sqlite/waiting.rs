//! How a session waits for locks: in the library's busy handler, as the `sqlite3` shell does; and, to write, first in a
//! queue of the sessions of this process.
//!
//! The busy handler tries again after a pause. A session that commits and begins again at once mostly finds the lock free
//! before another one's pause ends, so that few of many clients do all the work. In the queue the one that
//! ends its transaction hands the right to write to the one that has waited longest.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Milliseconds between two tries, as in the library's `sqliteDefaultBusyCallback`.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

pub(super) struct BusyHandler {
    limit: Duration,
    is_cancelled: AtomicBool,
    is_exhausted: AtomicBool,
}

impl BusyHandler {
    pub(super) fn new(limit: Duration) -> Arc<Self> {
        Arc::new(Self {
            limit,
            is_cancelled: AtomicBool::new(false),
            is_exhausted: AtomicBool::new(false),
        })
    }

    /// A request begins: the state of the last one is reset.
    pub(super) fn begin(&self) {
        self.is_cancelled.store(false, Ordering::Relaxed);
        self.is_exhausted.store(false, Ordering::Relaxed);
    }

    /// Ends a current wait soon.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the wait ended without the lock. SQLITE_BUSY without such a wait is a deadlock: the
    /// library does not call the busy handler where waiting would never end.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed)
    }

    /// The busy handler: waits for the `tries`-th time and returns whether to try again.
    pub(super) fn wait(&self, tries: i32) -> bool {
        let tries = usize::try_from(tries).unwrap_or(usize::MAX);
        let left = self
            .limit
            .saturating_sub(Duration::from_millis(waited_ms(tries)));
        if left.is_zero() || self.is_cancelled.load(Ordering::Relaxed) {
            self.is_exhausted.store(true, Ordering::Relaxed);
            return false;
        }
        let pause_ms = PAUSES_MS[tries.min(PAUSES_MS.len() - 1)];
        std::thread::sleep(left.min(Duration::from_millis(pause_ms)));
        true
    }
}

/// The sum of the pauses before the `tries`-th try.
fn waited_ms(tries: usize) -> u64 {
    let listed = tries.min(PAUSES_MS.len());
    let beyond = (tries - listed) as u64;
    PAUSES_MS[..listed].iter().sum::<u64>() + beyond * PAUSES_MS[PAUSES_MS.len() - 1]
}

/// How often a session in the queue looks whether it was cancelled.
const LOOKS: Duration = Duration::from_millis(100);

/// By file, as long as a session has it open.
static QUEUES: LazyLock<Mutex<HashMap<PathBuf, Weak<WriteQueue>>>> = LazyLock::new(Mutex::default);

/// The sessions of this process that write to a file.
#[derive(Default)]
pub(super) struct WriteQueue(Mutex<Turns>);

#[derive(Default)]
struct Turns {
    last: u64,
    /// The number of the session that may write.
    writer: Option<u64>,
    waiting: VecDeque<(u64, Thread)>,
}

impl WriteQueue {
    /// That of the file, which exists; none for a database in memory.
    pub(super) fn of(file: &Path) -> Option<Arc<Self>> {
        let file = file.canonicalize().ok()?;
        let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(&file).and_then(Weak::upgrade) {
            return Some(queue);
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(Self::default());
        queues.insert(file, Arc::downgrade(&queue));
        Some(queue)
    }

    /// Waits until the session may write, as long as the busy handler would; none: it may not, and the
    /// handler says that it has waited.
    pub(super) fn turn(self: &Arc<Self>, waiting: &BusyHandler) -> Option<Turn> {
        let begun = Instant::now();
        let mut turns = self.turns();
        turns.last += 1;
        let own = turns.last;
        turns.waiting.push_back((own, std::thread::current()));
        turns.advance();
        while turns.writer != Some(own) {
            let left = waiting.limit.saturating_sub(begun.elapsed());
            if left.is_zero() || waiting.is_cancelled.load(Ordering::Relaxed) {
                turns.waiting.retain(|&(number, _)| number != own);
                waiting.is_exhausted.store(true, Ordering::Relaxed);
                return None;
            }
            drop(turns);
            std::thread::park_timeout(left.min(LOOKS));
            turns = self.turns();
        }
        Some(Turn(Arc::clone(self)))
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns {
    /// The first in the queue may write, if nobody does.
    fn advance(&mut self) {
        if self.writer.is_none()
            && let Some((number, thread)) = self.waiting.pop_front()
        {
            self.writer = Some(number);
            thread.unpark();
        }
    }
}

/// The right to write, until it is dropped.
pub(super) struct Turn(Arc<WriteQueue>);

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = self.0.turns();
        turns.writer = None;
        turns.advance();
    }
}
