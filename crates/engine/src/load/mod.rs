//! Takes a load document and sources of rows; fills the tables. Each source has a session and a
//! transaction of its own, and does in this order: the statements before, the rows of one table after
//! the other, and, once the rows of all sources are in, the statements after. Where anything fails, all
//! sessions give up their bulk loads, and run the statements for errors instead of the rest.

mod ahead;
mod barrier;
mod failure;
mod part;
mod progress;

pub use progress::{LoadProgress, LoadReport, TableReport};

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Instant;

use assay_values::RowSource;

use crate::EngineError;
use crate::document::LoadDocument;
use crate::limits::{self, Need, Who};
use crate::session::{Cancellation, LOOK_UP_EVERY, Session, Site};
use ahead::ahead;
use barrier::{CONNECTED, LoadBarrier};
use failure::Failure;
use part::Part;
use progress::Gauge;

/// A maker of rows that may work on another thread.
pub type Source<'s> = &'s mut (dyn RowSource + Send);

/// Loads all rows of `source` in one session.
///
/// # Errors
/// As [`load_parts`].
pub fn load(
    document: &LoadDocument,
    source: Source<'_>,
    progress: &mut dyn FnMut(&LoadProgress) -> ControlFlow<()>,
) -> Result<LoadReport, EngineError> {
    load_parts(document, vec![source], progress)
}

/// Loads all rows of all `sources`, each in a session of its own.
///
/// `progress` is told at most ten times a second how far it is; where it breaks, the load is given up
/// as after an error. Only a statement that the server will not interrupt ends differently: then the
/// session is dropped, and the server rolls back when it notices.
///
/// # Errors
/// If the document is wrong, the system refuses or dies, or a source is wrong. The tables then
/// are what the statements for errors have made of them; an error of these is told as well. Only where
/// the statements after fail in one session, those of another may have been carried out.
pub fn load_parts(
    document: &LoadDocument,
    sources: Vec<Source<'_>>,
    progress: &mut dyn FnMut(&LoadProgress) -> ControlFlow<()>,
) -> Result<LoadReport, EngineError> {
    let site = Site::of(&document.site)?;
    let gauges: Vec<Gauge> = sources.iter().map(|_| Gauge::new(document)).collect();
    let work = Work {
        document,
        site: &site,
        barrier: LoadBarrier::new(sources.len()),
        sessions: sources.len(),
        begun: OnceLock::new(),
    };
    let sessions = sources.len();
    Need::of_load(sessions).check()?;
    let asked = Instant::now();
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel();
        for (number, (source, gauge)) in sources.into_iter().zip(&gauges).enumerate() {
            let (work, ended) = (&work, ended.clone());
            let part = move || work.part(number, source, gauge, &ended);
            if let Err(error) = limits::start(scope, &format!("load-{}", number + 1), part) {
                let who = Who::LoadSessions(sessions as u64);
                work.barrier
                    .blame(limits::refused(who, number, sessions, &error));
                // Those that have begun see it at their next look.
                work.barrier.give_up();
                break;
            }
        }
        drop(ended);
        loop {
            match end.recv_timeout(LOOK_UP_EVERY) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let begun = *work.begun.get().unwrap_or(&asked);
                    if progress(&progress::told(document, &gauges, begun)).is_break() {
                        work.barrier.interrupt();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    let Work { barrier, begun, .. } = work;
    match barrier.into_error() {
        Some(error) => Err(error),
        None => {
            let elapsed = begun.get().unwrap_or(&asked).elapsed().as_nanos();
            let elapsed_ns = u64::try_from(elapsed).expect("584 years have not passed");
            Ok(progress::report(document, &gauges, elapsed_ns))
        }
    }
}

/// What all sessions of one load share.
struct Work<'a> {
    document: &'a LoadDocument,
    site: &'a Site,
    barrier: LoadBarrier,
    sessions: usize,
    /// When all were connected.
    begun: OnceLock<Instant>,
}

impl Work<'_> {
    /// The whole life of one session; `_ended` is dropped at its end, which the caller notices.
    fn part(&self, number: usize, source: Source<'_>, gauge: &Gauge, _ended: &Sender<()>) {
        let mut go_on = || match self.barrier.is_given_up() {
            false => ControlFlow::Continue(()),
            true => ControlFlow::Break(()),
        };
        let mut cancellation = Cancellation::new(&mut go_on);
        let session = match Session::at(self.site, &mut cancellation) {
            Ok(session) => session,
            Err(halt) => {
                self.barrier
                    .blame(Failure::from(halt).during("opening a session"));
                return self.barrier.give_up();
            }
        };
        let mut part = Part {
            session,
            cancellation,
            gauge,
            barrier: &self.barrier,
            document: self.document,
            sent_before: 0,
        };
        if let Err(failure) = self.barrier.meet(CONNECTED) {
            return self.barrier.blame(failure.during("opening the sessions"));
        }
        self.begun.get_or_init(Instant::now);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let done = if part.session.is_in_process() && processors > self.sessions {
            ahead(source, |rows| part.run(rows))
        } else {
            part.run(source)
        };
        let Err(failure) = done else { return };
        let mut during = gauge.under_way(self.document);
        if self.sessions > 1 {
            during = format!("{during} in session {}", number + 1);
        }
        self.barrier.give_up();
        if let Err(second) = part.clean_up() {
            during = format!("{during}, after which cleaning up failed as well ({second})");
        }
        self.barrier.blame(failure.during(&during));
    }
}
