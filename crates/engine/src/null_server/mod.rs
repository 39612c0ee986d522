//! Takes a serve document; runs a server that executes nothing, with the configured delays and errors, until
//! the caller stops it.
//!
//! It must be cheaper than any client, so that a client measures itself against it. So it is built like the
//! client: a few threads, each with its own event loop and an equal share of the sessions; a round trip costs
//! one receive and one send.
//!
//! ```text
//!   listener ──► acceptor (accepts, round robin) ──► worker (an event loop) ──► session (one session)
//! ```

mod listener;
mod session;
mod worker;

pub use listener::{Listening, Served};

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_drivers::null::ServerModel;
use assay_drivers::servers::{NewServer, NullProtocol, SERVERS};

use crate::document::ServeDocument;
use crate::limits::allow_many_open_files;
use crate::null_server::listener::{Acceptor, Counts, Listener};
use crate::null_server::worker::Worker;
use crate::session::out_of_resources;
use crate::{EngineError, limits};

/// More threads would take processors from the client, and one serves some 100,000 statements a second.
const MOST_THREADS: usize = 4;

/// The names of the protocols that [`serve`] speaks.
pub fn null_protocols() -> Vec<&'static str> {
    SERVERS.iter().map(|known| known.name).collect()
}

/// Those whose statements are in the language: `sql` or `json`.
pub fn null_protocols_in(language: &str) -> Vec<&'static str> {
    let speaks = |known: &&NullProtocol| known.language == language;
    let found = SERVERS.iter().filter(speaks);
    found.map(|known| known.name).collect()
}

/// Serves until `go_on`, which is called ten times a second, breaks. `ready` gets the address, and may break
/// too.
///
/// # Errors
/// If the document is wrong, or its address cannot be used.
pub fn serve(
    document: &ServeDocument,
    ready: &mut dyn FnMut(&Listening) -> ControlFlow<()>,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Served, EngineError> {
    let new_server = new_server(&document.protocol)?;
    let server_model = server_model(document)?;
    let open_files_limit = allow_many_open_files();
    let listener = Listener::open(document)?;
    let counts = Counts::default();
    let is_over = AtomicBool::new(false);
    let mut workers = Vec::new();
    let mut handles = Vec::new();
    for _ in 0..threads(document) {
        let (worker, handle) =
            Worker::new(new_server, &counts, &is_over).map_err(|error| starting(&error))?;
        workers.push(worker);
        handles.push(handle);
    }
    let mut acceptor = Acceptor::new(listener, &server_model, &counts, handles)
        .map_err(|error| starting(&error))?;
    let listening = Listening {
        protocol: document.protocol.clone(),
        open_files_limit,
        ..acceptor.address()
    };
    if ready(&listening).is_break() {
        return Err(EngineError::Interrupted);
    }
    let received = std::thread::scope(|scope| {
        let mut received = Ok(());
        for worker in workers {
            let started = limits::start(scope, "null-server", move || worker.run());
            received = received.and(started.map(drop));
        }
        if received.is_ok() {
            received = acceptor.receive(go_on);
        }
        is_over.store(true, Ordering::Relaxed);
        acceptor.close();
        received
    });
    received.map_err(|error| starting(&error))?;
    Ok(counts.total())
}

fn new_server(protocol: &str) -> Result<NewServer, EngineError> {
    let found = SERVERS.iter().find(|known| known.name == protocol);
    found.map(|known| known.new_server).ok_or_else(|| {
        EngineError::Document(format!(
            "the serve document, key `protocol`: unknown protocol `{protocol}`, expected one of {}",
            null_protocols().join(", ")
        ))
    })
}

fn server_model(document: &ServeDocument) -> Result<Arc<ServerModel>, EngineError> {
    let mut options = document.options.clone();
    options
        .entry("rows".to_owned())
        .or_insert_with(|| "1".to_owned());
    let server_model = ServerModel::new(&options)
        .map_err(|error| EngineError::System(error, "starting a null server".to_owned()))?;
    Ok(Arc::new(server_model))
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
