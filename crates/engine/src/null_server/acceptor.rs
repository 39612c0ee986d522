//! Takes the clients that connect to the listener; passes each to the next worker in turn, with its session
//! model or the error that refuses it.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use assay_drivers::null::ServerModel;
use assay_drivers::{ErrorClass, SystemError};
use mio::{Events, Poll, Token};

use crate::null_server::listener::Listener;
use crate::null_server::report::{Counts, Listening};
use crate::null_server::worker_context::{NewClient, WorkerHandle};
use crate::session::CHECK_EVERY;

pub struct Acceptor<'a> {
    listener: Listener,
    poll: Poll,
    server_model: &'a Arc<ServerModel>,
    counts: &'a Counts,
    handles: Vec<WorkerHandle>,
    next: usize,
    /// A file that is closed when no more files are allowed, so that one more client can be accepted and get
    /// the error.
    spare: Option<File>,
}

impl<'a> Acceptor<'a> {
    /// # Errors
    /// If the operating system lacks resources.
    pub fn new(
        mut listener: Listener,
        server_model: &'a Arc<ServerModel>,
        counts: &'a Counts,
        handles: Vec<WorkerHandle>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        listener.watch(poll.registry(), Token(0))?;
        Ok(Self {
            listener,
            poll,
            server_model,
            counts,
            handles,
            next: 0,
            spare: spare(),
        })
    }

    #[must_use]
    pub fn address(&self) -> Listening {
        self.listener.address()
    }

    /// Accepts clients until `go_on` breaks.
    ///
    /// # Errors
    /// If the operating system fails; a client that fails is no error.
    pub fn receive(&mut self, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> io::Result<()> {
        let mut events = Events::with_capacity(4);
        while go_on().is_continue() {
            if let Err(error) = self.poll.poll(&mut events, Some(CHECK_EVERY))
                && error.kind() != io::ErrorKind::Interrupted
            {
                return Err(error);
            }
            // Even without an event: after running out of files the listener reports no further events.
            self.accept_all();
        }
        Ok(())
    }

    /// Wakes all workers so that they end.
    pub fn close(&self) {
        for handle in &self.handles {
            // A worker that cannot be woken checks periodically.
            let _ = handle.waker.wake();
        }
    }

    fn accept_all(&mut self) {
        loop {
            match self.listener.accept() {
                Ok(socket) => {
                    let model = self.server_model.open_session();
                    self.assign(NewClient { socket, model });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if lacks_files(&error) => {
                    self.spare = None;
                    let accepted = self.listener.accept();
                    self.spare = spare();
                    let Ok(socket) = accepted else {
                        return;
                    };
                    let model = Err(no_files());
                    self.assign(NewClient { socket, model });
                }
                // The client has disconnected already.
                Err(_) => {}
            }
        }
    }

    fn assign(&mut self, new_client: NewClient) {
        let count = match &new_client.model {
            Ok(_) => &self.counts.sessions,
            Err(_) => &self.counts.refused,
        };
        count.fetch_add(1, Ordering::Relaxed);
        let handle = &self.handles[self.next];
        self.next = (self.next + 1) % self.handles.len();
        // If the worker has panicked, its clients are disconnected, and the scope reports the panic.
        if handle.new_clients.send(new_client).is_ok() {
            let _ = handle.waker.wake();
        }
    }
}

fn spare() -> Option<File> {
    File::open("/dev/null").ok()
}

fn lacks_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn no_files() -> SystemError {
    let message = "the null server cannot open more files; raise the limit: ulimit -n";
    SystemError::new(ErrorClass::TooManyConnections, "", message)
}
