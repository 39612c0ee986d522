//! Takes a load document and sources of rows; fills the tables. Each source has its own session and
//! transaction. A session runs the statements before, loads the rows table by table, and, once all sessions
//! have loaded their rows, runs the statements after. If anything fails, all sessions abort their bulk loads
//! and run the statements for errors instead.

mod barrier;
mod load_session;
mod prefetch;
mod progress;

pub use prefetch::LoadSource;
pub use progress::{LoadProgress, LoadReport, TableReport};

use std::ops::ControlFlow;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{OnceLock, mpsc};
use std::time::Instant;

use crate::document::LoadDocument;
use crate::limits::{Consumer, Need};
use crate::load::barrier::{CONNECTED, Failure, LoadBarrier};
use crate::load::load_session::LoadSession;
use crate::load::prefetch::prefetch;
use crate::load::progress::Gauge;
use crate::session::{CHECK_EVERY, Cancellation, Deployment, Session};
use crate::{EngineError, limits};

/// Loads all rows of `source` in one session.
///
/// # Errors
/// As [`load_parts`].
pub fn load(
    document: &LoadDocument,
    source: LoadSource<'_>,
    progress: &mut dyn FnMut(&LoadProgress) -> ControlFlow<()>,
) -> Result<LoadReport, EngineError> {
    load_parts(document, vec![source], progress)
}

/// Loads all rows of all `sources`, each in its own session.
///
/// `progress` is called at most ten times a second; if it breaks, the load is aborted as after an error. If
/// the server does not interrupt a statement, the session is closed, and the server rolls back when it
/// notices.
///
/// # Errors
/// If the document is wrong, the system rejects something or fails, or a source is invalid. The tables are
/// then left as by the statements for errors; an error of those is reported too. Only if the statements after
/// fail in one session may those of another have been executed.
pub fn load_parts(
    document: &LoadDocument,
    sources: Vec<LoadSource<'_>>,
    progress: &mut dyn FnMut(&LoadProgress) -> ControlFlow<()>,
) -> Result<LoadReport, EngineError> {
    let deployment = Deployment::of(&document.deployment)?;
    let gauges: Vec<Gauge> = sources.iter().map(|_| Gauge::new(document)).collect();
    let work = Work {
        document,
        deployment: &deployment,
        barrier: LoadBarrier::new(sources.len()),
        sessions: sources.len(),
        connected_at: OnceLock::new(),
    };
    let sessions = sources.len();
    Need::of_load(sessions).check()?;
    let started = Instant::now();
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel();
        for (number, (source, gauge)) in sources.into_iter().zip(&gauges).enumerate() {
            let (work, ended) = (&work, ended.clone());
            let part = move || work.part(number, source, gauge, &ended);
            if let Err(error) = limits::start(scope, &format!("load-{}", number + 1), part) {
                let who = Consumer::LoadSessions(sessions as u64);
                work.barrier.set_error(limits::refused(who, number, sessions, &error));
                // Sessions that have started notice it at their next check.
                work.barrier.abort();
                break;
            }
        }
        drop(ended);
        loop {
            match end.recv_timeout(CHECK_EVERY) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let connected_at = *work.connected_at.get().unwrap_or(&started);
                    if progress(&progress::current_progress(document, &gauges, connected_at))
                        .is_break()
                    {
                        work.barrier.interrupt();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    let Work { barrier, connected_at, .. } = work;
    match barrier.into_error() {
        Some(error) => Err(error),
        None => {
            let elapsed = connected_at.get().unwrap_or(&started).elapsed().as_nanos();
            let elapsed_ns = u64::try_from(elapsed).expect("a load takes less than 584 years");
            Ok(progress::report(document, &gauges, elapsed_ns))
        }
    }
}

/// The state that all sessions of one load share.
struct Work<'a> {
    document: &'a LoadDocument,
    deployment: &'a Deployment,
    barrier: LoadBarrier,
    sessions: usize,
    /// When all were connected.
    connected_at: OnceLock<Instant>,
}

impl Work<'_> {
    /// Runs one session from start to end; `_ended` is dropped at its end, which wakes the caller.
    fn part(&self, number: usize, source: LoadSource<'_>, gauge: &Gauge, _ended: &Sender<()>) {
        let _guard = self.barrier.guard();
        let mut go_on = || match self.barrier.is_aborted() {
            false => ControlFlow::Continue(()),
            true => ControlFlow::Break(()),
        };
        let mut cancellation = Cancellation::new(&mut go_on);
        let session = match Session::at(self.deployment, &mut cancellation) {
            Ok(session) => session,
            Err(halt) => {
                self.barrier.set_error(Failure::from(halt).during("opening a session"));
                return self.barrier.abort();
            }
        };
        let mut part = LoadSession {
            session,
            cancellation,
            gauge,
            barrier: &self.barrier,
            document: self.document,
            sent_before: 0,
        };
        if let Err(failure) = self.barrier.wait(CONNECTED) {
            return self.barrier.set_error(failure.during("opening the sessions"));
        }
        self.connected_at.get_or_init(Instant::now);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let done = if part.session.is_in_process() && processors > self.sessions {
            prefetch(source, |rows| part.run(rows))
        } else {
            part.run(source)
        };
        let Err(failure) = done else { return };
        let mut during = gauge.under_way(self.document);
        if self.sessions > 1 {
            during = format!("{during} in session {}", number + 1);
        }
        self.barrier.abort();
        if let Err(second) = part.clean_up() {
            during = format!("{during}, after which cleaning up failed as well ({second})");
        }
        self.barrier.set_error(failure.during(&during));
    }
}
