//! What a session is opened with: the driver's options from the deployment document; its confinement to its own file; how
//! it waits for locks; and the function of `x REGEXP p`, for which the library has only the operator.
//!
//! Patterns are those of the `sqlite3` shell and of POSIX: `.` is any character, also a newline, and
//! `^` and `$` are the beginning and the end of the text. NULL on either side returns NULL. The function
//! is called for every row of a scan: a constant pattern is looked up once per statement and compiled
//! once per session.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::Thread;
use std::time::{Duration, Instant};

use regex::bytes::{Regex, RegexBuilder};
use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ffi};

use crate::{ErrorClass, Result, SystemError};

/// Settings of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a statement waits for other sessions' locks. The library's default is not to wait.
    pub busy_timeout: Duration,
    /// Whether the sessions of this process write in the order in which they asked.
    pub has_write_queue: bool,
    /// Whether the file is opened read-only.
    pub read_only: bool,
    /// Whether statements reach no other file than this one.
    pub is_confined: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(60),
            has_write_queue: true,
            read_only: false,
            is_confined: false,
        }
    }
}

impl Options {
    /// Reads `busy_timeout_s` (seconds), `write_queue` (`on` or `off`), `mode` (`read-write` or `read-only`) and
    /// `other_files` (`allowed` or `refused`).
    ///
    /// # Errors
    /// Where a key or a value is invalid.
    pub fn parse(options: &BTreeMap<String, String>) -> Result<Self> {
        let mut parsed = Self::default();
        for (key, value) in options {
            match (key.as_str(), value.as_str()) {
                ("busy_timeout_s", _) => {
                    parsed.busy_timeout = value
                        .parse()
                        .ok()
                        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                        .filter(|timeout| i32::try_from(timeout.as_millis()).is_ok())
                        .ok_or_else(|| wrong(key, "seconds, from 0 to 2147483", value))?;
                }
                ("write_queue", "on") => parsed.has_write_queue = true,
                ("write_queue", "off") => parsed.has_write_queue = false,
                ("write_queue", _) => return Err(wrong(key, "on or off", value)),
                ("mode", "read-write") => parsed.read_only = false,
                ("mode", "read-only") => parsed.read_only = true,
                ("mode", _) => return Err(wrong(key, "read-write or read-only", value)),
                ("other_files", "allowed") => parsed.is_confined = false,
                ("other_files", "refused") => parsed.is_confined = true,
                ("other_files", _) => return Err(wrong(key, "allowed or refused", value)),
                _ => {
                    return Err(SystemError::new(
                        ErrorClass::Other,
                        "",
                        format!(
                            "no option {key:?}; there are busy_timeout_s, write_queue, mode and other_files"
                        ),
                    ));
                }
            }
        }
        Ok(parsed)
    }
}

fn wrong(key: &str, expected: &str, found: &str) -> SystemError {
    SystemError::new(
        ErrorClass::Other,
        "",
        format!("{key}: expected {expected}, found {found:?}"),
    )
}

/// Pragmas that name directories, in which the library would then make files.
const OF_DIRECTORIES: [&str; 2] = ["temp_store_directory", "data_store_directory"];

pub(super) fn confine(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        // VACUUM itself attaches a temporary database, which has no name.
        AuthAction::Attach { filename: "" } => Authorization::Allow,
        AuthAction::Attach { .. } => Authorization::Deny,
        // Its name is known only when the statement runs.
        AuthAction::Unknown { code, .. } if code == ffi::SQLITE_ATTACH => Authorization::Deny,
        AuthAction::Function {
            function_name: "load_extension",
        } => Authorization::Deny,
        AuthAction::Pragma { pragma_name, .. } if is_of_directories(pragma_name) => {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }))
}

fn is_of_directories(pragma: &str) -> bool {
    OF_DIRECTORIES
        .iter()
        .any(|name| name.eq_ignore_ascii_case(pragma))
}

/// Milliseconds between two tries, as in the library's `sqliteDefaultBusyCallback`.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

pub(super) struct BusyHandler {
    limit: Duration,
    /// Of all requests, that of opening too.
    stop: Arc<AtomicBool>,
    is_cancelled: AtomicBool,
    is_exhausted: AtomicBool,
}

impl BusyHandler {
    pub(super) fn new(limit: Duration, stop: &Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Self {
            limit,
            stop: Arc::clone(stop),
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

    fn is_to_end(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
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
        if left.is_zero() || self.is_to_end() {
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

/// By file, as long as a session has it open. Without a queue, a session that commits and begins again at once
/// mostly finds the lock free before another one's pause ends, so that few of many do all the work.
static QUEUES: LazyLock<Mutex<HashMap<PathBuf, Weak<WriteQueue>>>> = LazyLock::new(Mutex::default);

/// The sessions of this process that write to a file: the first one may, the others wait.
#[derive(Default)]
pub(super) struct WriteQueue(Mutex<VecDeque<(u64, Thread)>>);

impl WriteQueue {
    /// That of the file, which exists; none for a database in memory.
    pub(super) fn of(file: &Path) -> Option<Arc<Self>> {
        let file = file.canonicalize().ok()?;
        let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| queue.strong_count() > 0);
        let known = queues.get(&file).and_then(Weak::upgrade);
        Some(known.unwrap_or_else(|| {
            let queue = Arc::new(Self::default());
            queues.insert(file, Arc::downgrade(&queue));
            queue
        }))
    }

    /// Waits until the session may write, as long as the busy handler would, which then says that it did.
    pub(super) fn wait(self: &Arc<Self>, waiting: &BusyHandler) -> Option<Permit> {
        let begun = Instant::now();
        let mut sessions = self.sessions();
        let own = sessions.back().map_or(0, |&(last, _)| last + 1);
        sessions.push_back((own, std::thread::current()));
        while sessions.front().is_some_and(|&(first, _)| first != own) {
            let left = waiting.limit.saturating_sub(begun.elapsed());
            if left.is_zero() || waiting.is_to_end() {
                sessions.retain(|&(number, _)| number != own);
                waiting.is_exhausted.store(true, Ordering::Relaxed);
                return None;
            }
            drop(sessions);
            // Now and then it looks whether it was cancelled.
            std::thread::park_timeout(left.min(Duration::from_millis(100)));
            sessions = self.sessions();
        }
        Some(Permit(Arc::clone(self)))
    }

    fn sessions(&self) -> MutexGuard<'_, VecDeque<(u64, Thread)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to write, until it is dropped.
pub(super) struct Permit(Arc<WriteQueue>);

impl Drop for Permit {
    fn drop(&mut self) {
        let mut sessions = self.0.sessions();
        sessions.pop_front();
        if let Some((_, next)) = sessions.front() {
            next.unpark();
        }
    }
}

/// A workload has dozens of patterns; patterns from a column must not fill the memory.
const MOST_PATTERNS: usize = 256;

pub(super) fn define_regexp(connection: &Connection) -> rusqlite::Result<()> {
    let patterns = Patterns::default();
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("regexp", 2, flags, move |call| {
        let (pattern, text) = (call.get_raw(0), call.get_raw(1));
        if matches!(pattern, ValueRef::Null) || matches!(text, ValueRef::Null) {
            return Ok(None);
        }
        let pattern: Arc<Arc<Regex>> =
            call.get_or_create_aux(0, |pattern| patterns.get(&bytes_of(pattern)))?;
        Ok(Some(pattern.is_match(&bytes_of(text))))
    })
}

#[derive(Default)]
struct Patterns(Mutex<HashMap<Vec<u8>, Arc<Regex>>>);

impl Patterns {
    fn get(&self, pattern: &[u8]) -> Result<Arc<Regex>, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(regex) = known.get(pattern) {
            return Ok(Arc::clone(regex));
        }
        let text = std::str::from_utf8(pattern)
            .map_err(|_| "a regular expression must be UTF-8 text".to_owned())?;
        let regex = RegexBuilder::new(text)
            .dot_matches_new_line(true)
            .build()
            .map_err(|error| format!("regular expression {text:?}: {error}"))?;
        if known.len() >= MOST_PATTERNS {
            known.clear();
        }
        let regex = Arc::new(regex);
        known.insert(pattern.to_vec(), Arc::clone(&regex));
        Ok(regex)
    }
}

/// The text to which the library would convert a value.
fn bytes_of(value: ValueRef<'_>) -> std::borrow::Cow<'_, [u8]> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.into(),
        ValueRef::Integer(integer) => integer.to_string().into_bytes().into(),
        ValueRef::Real(real) => format!("{real:?}").into_bytes().into(),
        ValueRef::Null => [].as_slice().into(),
    }
}
