//! Takes the threads and files that a run or a load needs; checks before it starts whether this machine
//! allows them, and returns the numbers and the fix.

mod threads;

pub use threads::{Consumer, refused, start};

use crate::EngineError;

/// Other open files: records, logs, the sampling of the server's processes.
const OTHER_FILES: u64 = 30;

/// What is needed, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    pub by: Consumer,
    pub threads: u64,
    /// In addition to the files that this process has open already.
    pub open_files: u64,
}

impl Need {
    /// Clients of a server: each has a socket, and each event loop has a poll, a timer and a waker.
    pub fn of_sockets(clients: u32, threads: u32) -> Self {
        Self {
            by: Consumer::Clients(clients.into()),
            threads: threads.into(),
            open_files: u64::from(clients) + 3 * u64::from(threads),
        }
    }

    /// Clients of a library whose sessions each open this many files: each has a thread.
    pub fn of_library(clients: u32, files_each: u32) -> Self {
        Self {
            by: Consumer::Clients(clients.into()),
            threads: clients.into(),
            open_files: u64::from(clients) * u64::from(files_each),
        }
    }

    /// Sessions of a load: each has a thread, and a socket or a file with its poll.
    pub fn of_load(sessions: usize) -> Self {
        let sessions = sessions as u64;
        Self {
            by: Consumer::LoadSessions(sessions),
            threads: sessions,
            open_files: 3 * sessions,
        }
    }

    /// # Errors
    /// If the machine allows fewer. If other programs use them up meanwhile, the error comes when a thread or
    /// a session cannot be started.
    pub fn check(&self) -> Result<(), EngineError> {
        if self.threads > 1 {
            self.check_threads()?;
        }
        self.check_files()
    }

    fn check_threads(&self) -> Result<(), EngineError> {
        let Some(limit) = threads::narrowest() else {
            return Ok(());
        };
        if self.threads <= limit.left() {
            return Ok(());
        }
        let Self { by, threads, .. } = self;
        let message = format!("{by} need {threads} threads, {limit}");
        Err(self.exceeded(message, &limit.fix(*threads)))
    }

    fn check_files(&self) -> Result<(), EngineError> {
        let most = allow_many_open_files();
        let open = open_now();
        let needed = self.open_files + open + OTHER_FILES;
        if needed <= most {
            return Ok(());
        }
        let message = format!(
            "{} need {needed} open files, the limit is {most} (RLIMIT_NOFILE)",
            self.by
        );
        Err(self.exceeded(message, &format!("raise the limit: ulimit -Hn {needed}")))
    }

    fn exceeded(&self, message: String, fix: &str) -> EngineError {
        let fewer = match self.by {
            Consumer::Clients(_) => "--clients",
            Consumer::LoadSessions(_) => "--load-sessions",
        };
        EngineError::Machine {
            message,
            hint: Some(format!("use fewer {fewer}, or {fix}")),
        }
    }
}

/// Checks whether this machine allows this many sessions of a load; to be called before anything is started.
///
/// # Errors
/// If it does not.
pub fn check_load_sessions(sessions: u32) -> Result<(), EngineError> {
    Need::of_load(sessions as usize).check()
}

// Raises this process's limit of open files as far as the machine allows.

/// Raises the soft limit of open files to the hard limit, since a shell's usual 1,024 is less than the
/// clients of a large run. A failure is ignored: too few files are reported when they are needed. Returns the
/// limit now in force.
pub fn allow_many_open_files() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid `rlimit`, which the calls only read or write.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return 0;
        }
        let raised = libc::rlimit {
            rlim_cur: limit.rlim_max,
            ..limit
        };
        if limit.rlim_cur < limit.rlim_max
            && libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0
        {
            limit = raised;
        }
    }
    limit.rlim_cur
}

/// How many files this process has open.
fn open_now() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64)
}
