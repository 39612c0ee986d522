//! Makes a process that calls modules end in time, whatever a module does: with the process that started it,
//! and where a module's `connect()` does not return. Its thread never needs the interpreter lock, which a module
//! may hold.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::json;

const CHECK_EVERY_MS: i32 = 100;

/// The calls of `connect()` that have not returned, by their numbers.
static CONNECTING: Mutex<Vec<(u64, Instant, Duration)>> = Mutex::new(Vec::new());

/// A later `connect()` may last: the clients measure how long.
static IS_MEASURING: AtomicBool = AtomicBool::new(false);

fn connecting() -> MutexGuard<'static, Vec<(u64, Instant, Duration)>> {
    CONNECTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call of `connect()`, until it is dropped.
pub struct Connecting(u64);

impl Connecting {
    pub fn begin(longest: Duration) -> Self {
        let mut all = connecting();
        let number = all.last().map_or(0, |(number, ..)| number + 1);
        all.push((number, Instant::now(), longest));
        Self(number)
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        connecting().retain(|(number, ..)| *number != self.0);
    }
}

/// Kills this process and its group once no process can write to `requests` any more; says on `lines` once that a
/// module's `connect()` has lasted too long.
#[pyfunction]
pub fn end_with_parent(requests: i32, lines: i32) -> PyResult<()> {
    let name = "end with parent".to_owned();
    (std::thread::Builder::new()
        .name(name)
        .spawn(move || watch(requests, lines)))
    .map(|_| ())
    .map_err(|error| PyOSError::new_err(error.to_string()))
}

/// From now on `connect()` has no limit.
#[pyfunction]
pub fn connects_are_measured() {
    IS_MEASURING.store(true, Ordering::Relaxed);
}

fn watch(requests: i32, lines: i32) {
    let mut is_reported = false;
    while !is_closed(requests) {
        if !is_reported && !IS_MEASURING.load(Ordering::Relaxed) {
            let late = connecting()
                .iter()
                .find(|(_, since, longest)| since.elapsed() >= *longest)
                .map(|(.., longest)| *longest);
            if let Some(longest) = late {
                is_reported = true;
                report(lines, longest);
            }
        }
    }
    // SAFETY: getpgrp, getpid, kill and _exit take and return plain numbers.
    unsafe {
        if libc::getpgrp() == libc::getpid() {
            libc::kill(0, libc::SIGKILL);
        }
        libc::_exit(1);
    }
}

/// Waits a moment for the other end of the pipe to be closed. What was written before need not be read.
fn is_closed(requests: i32) -> bool {
    let mut asked = libc::pollfd {
        fd: requests,
        events: 0,
        revents: 0,
    };
    // SAFETY: `asked` is one pollfd, valid for the call.
    let found = unsafe { libc::poll(&raw mut asked, 1, CHECK_EVERY_MS) };
    found > 0 && asked.revents != 0
}

fn report(lines: i32, longest: Duration) {
    let message = format!("no session within {longest:?}");
    let line = json!({ "error": {
        "kind": "system", "message": message, "error_class": "timeout", "certainty": "undone",
        "code": "", "file": "", "line": 0, "column": 0, "hint": null,
    }});
    let line = format!("{line}\n");
    // SAFETY: the pointer and the length are those of `line`, which lives until the call has returned. The line
    // is shorter than PIPE_BUF, so that it is written as a whole.
    unsafe { libc::write(lines, line.as_ptr().cast(), line.len()) };
}
