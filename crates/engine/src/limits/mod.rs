//! Takes how many threads and files a run or a load needs; says before anything is started whether this
//! machine allows them, with the numbers and the cure.

mod counted;
mod open_files;
mod threads;

pub use open_files::allow_many as allow_many_open_files;
pub use threads::{refused, start};

use std::fmt;

use crate::EngineError;

/// Files that are open beside the sessions: records, logs, the sampling of the server's processes.
const OTHER_FILES: u64 = 30;

/// What is needed, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    pub by: Who,
    pub threads: u64,
    /// Beside those that this process has open already.
    pub open_files: u64,
}

/// Who needs it, with their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Clients(u64),
    LoadSessions(u64),
}

impl Need {
    /// Clients of a server: each has a socket, and each event loop its poll, its alarm and its ring.
    #[must_use]
    pub fn of_sockets(clients: u32, threads: u32) -> Self {
        Self {
            by: Who::Clients(clients.into()),
            threads: threads.into(),
            open_files: u64::from(clients) + 3 * u64::from(threads),
        }
    }

    /// Clients of a library of which each session has so many files open: each has a thread.
    #[must_use]
    pub fn of_library(clients: u32, files_each: u32) -> Self {
        Self {
            by: Who::Clients(clients.into()),
            threads: clients.into(),
            open_files: u64::from(clients) * u64::from(files_each),
        }
    }

    /// Sessions of a load: each has a thread, and a socket or a file with its poll.
    #[must_use]
    pub fn of_load(sessions: usize) -> Self {
        let sessions = sessions as u64;
        Self {
            by: Who::LoadSessions(sessions),
            threads: sessions,
            open_files: 3 * sessions,
        }
    }

    /// # Errors

    /// If the machine allows fewer. What other programs take meanwhile is reported when a thread or a session
    /// cannot be started.
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
        Err(self.too_many(message, &limit.cure(*threads)))
    }

    fn check_files(&self) -> Result<(), EngineError> {
        let most = allow_many_open_files();
        let open = open_files::open_now();
        let needed = self.open_files + open + OTHER_FILES;
        if needed <= most {
            return Ok(());
        }
        let message = format!(
            "{} need {needed} open files, the limit is {most} (RLIMIT_NOFILE)",
            self.by
        );
        Err(self.too_many(message, &format!("raise the limit: ulimit -Hn {needed}")))
    }

    fn too_many(&self, message: String, cure: &str) -> EngineError {
        let fewer = match self.by {
            Who::Clients(_) => "--clients",
            Who::LoadSessions(_) => "--load-sessions",
        };
        EngineError::Machine {
            message,
            hint: Some(format!("use fewer {fewer}, or {cure}")),
        }
    }
}

/// Whether this machine allows so many sessions of a load: to be asked before anything is started.
///
/// # Errors
/// If it does not.
pub fn check_load_sessions(sessions: u32) -> Result<(), EngineError> {
    Need::of_load(sessions as usize).check()
}

impl fmt::Display for Who {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, what) = match self {
            Self::Clients(number) => (number, "client"),
            Self::LoadSessions(number) => (number, "load session"),
        };
        let plural = if *number == 1 { "" } else { "s" };
        write!(out, "{number} {what}{plural}")
    }
}
