//! Takes a serve document; plays a server that does nothing, as slowly and as badly as it is told, for as
//! many sessions as come, until the caller has enough.
//!
//! Its purpose is to be cheaper than any client: what a client measures against it is the client. So it is
//! built as the client is: a few threads, each with an event loop of its own and every so many-th session;
//! a round trip costs one receive and one send.
//!
//! ```text
//!   door ──► hall (who is let in, round robin) ──► attendant (an event loop) ──► visit (one session)
//! ```

mod attendant;
mod counts;
mod door;
mod hall;
mod visit;

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_drivers::null::Host;
use assay_drivers::servers::{Reception, SERVERS};
use serde::Serialize;

use crate::EngineError;
use crate::document::ServeDocument;
use crate::limits::{self, allow_many_open_files};
use crate::session::out_of_resources;
use attendant::Attendant;
use counts::Counts;
use door::Door;
use hall::Hall;

/// Threads beyond this would take processors from the client, and one serves some 100,000 statements a
/// second.
const MOST_THREADS: usize = 4;

/// Where a server listens, once it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listening {
    pub protocol: String,
    pub unix: Option<String>,
    pub host: Option<String>,
    pub port: Option<u16>,
    /// How many files, and so about how many sessions, this process may have open.
    pub open_files_limit: u64,
}

/// What a server did in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Served {
    pub sessions: u64,
    /// Sessions that were turned away.
    pub refused: u64,
    pub statements: u64,
}

/// The names of the protocols that [`serve`] speaks.
#[must_use]
pub fn null_protocols() -> Vec<&'static str> {
    SERVERS.iter().map(|(name, _)| *name).collect()
}

/// Serves until `go_on`, which is asked ten times a second, breaks. `ready` is told where it listens, and
/// may break too.
///
/// # Errors
/// Where the document is wrong, or nobody can listen at its address.
pub fn serve(
    document: &ServeDocument,
    ready: &mut dyn FnMut(&Listening) -> ControlFlow<()>,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Served, EngineError> {
    let reception = reception(&document.protocol)?;
    let host = host(document)?;
    let open_files_limit = allow_many_open_files();
    let door = Door::open(document)?;
    let counts = Counts::default();
    let is_over = AtomicBool::new(false);
    let mut attendants = Vec::new();
    let mut entrances = Vec::new();
    for _ in 0..threads(document) {
        let (attendant, entrance) =
            Attendant::new(reception, &counts, &is_over).map_err(|error| starting(&error))?;
        attendants.push(attendant);
        entrances.push(entrance);
    }
    let mut hall = Hall::new(door, &host, &counts, entrances).map_err(|error| starting(&error))?;
    let listening = Listening {
        protocol: document.protocol.clone(),
        open_files_limit,
        ..hall.address()
    };
    if ready(&listening).is_break() {
        return Err(EngineError::Interrupted);
    }
    let received = std::thread::scope(|scope| {
        let mut received = Ok(());
        for attendant in attendants {
            let started = limits::start(scope, "null-server", move || attendant.run());
            received = received.and(started.map(drop));
        }
        if received.is_ok() {
            received = hall.receive(go_on);
        }
        is_over.store(true, Ordering::Relaxed);
        hall.close();
        received
    });
    received.map_err(|error| starting(&error))?;
    Ok(counts.total())
}

fn reception(protocol: &str) -> Result<Reception, EngineError> {
    let found = SERVERS.iter().find(|(name, _)| *name == protocol);
    found.map(|(_, reception)| *reception).ok_or_else(|| {
        EngineError::Document(format!(
            "the serve document, key `protocol`: unknown protocol `{protocol}`, expected one of {}",
            null_protocols().join(", ")
        ))
    })
}

fn host(document: &ServeDocument) -> Result<Arc<Host>, EngineError> {
    let mut options = document.options.clone();
    options
        .entry("rows".to_owned())
        .or_insert_with(|| "1".to_owned());
    let host = Host::new(&options)
        .map_err(|error| EngineError::System(error, "starting a null server".to_owned()))?;
    Ok(Arc::new(host))
}

fn threads(document: &ServeDocument) -> usize {
    match document.threads as usize {
        0 => std::thread::available_parallelism()
            .map_or(1, NonZero::get)
            .min(MOST_THREADS),
        threads => threads,
    }
}

fn starting(error: &std::io::Error) -> EngineError {
    EngineError::System(out_of_resources(error), "starting a null server".to_owned())
}
