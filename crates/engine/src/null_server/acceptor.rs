//! Takes the clients that connect to the listener; gives each to the next worker in turn, with its session model
//! is to the null system, or with why it is turned away.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use assay_drivers::null::{ServerModel, SessionModel};
use assay_drivers::{ErrorClass, SystemError};
use mio::{Events, Poll, Token, Waker};

use super::Listening;
use super::counts::Counts;
use super::listener::Listener;
use crate::session::LOOK_UP_EVERY;
use crate::transport::Socket;

/// A client that has come in.
pub struct NewClient {
    pub socket: Socket,
    pub model: Result<SessionModel, SystemError>,
}

/// The way to a worker.
pub struct WorkerHandle {
    pub new_clients: Sender<NewClient>,
    pub waker: Waker,
}

pub struct Acceptor<'a> {
    listener: Listener,
    poll: Poll,
    server_model: &'a Arc<ServerModel>,
    counts: &'a Counts,
    handles: Vec<WorkerHandle>,
    next: usize,
    /// A file that is closed to make room for one more client when there is none: it can then be told.
    spare: Option<File>,
}

impl<'a> Acceptor<'a> {
    /// # Errors
    /// If the operating system lacks something.
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

    /// Receives clients until `go_on` breaks.
    ///
    /// # Errors
    /// If the operating system fails; a client that fails is no error.
    pub fn receive(&mut self, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> io::Result<()> {
        let mut events = Events::with_capacity(4);
        while go_on().is_continue() {
            if let Err(error) = self.poll.poll(&mut events, Some(LOOK_UP_EVERY))
                && error.kind() != io::ErrorKind::Interrupted
            {
                return Err(error);
            }
            // Also without an event: after a lack of files the listener announces nothing anew.
            self.let_in();
        }
        Ok(())
    }

    /// Wakes everybody, so that they see that it is over.
    pub fn close(&self) {
        for handle in &self.handles {
            // A worker that cannot be woken looks up by itself.
            let _ = handle.waker.wake();
        }
    }

    fn let_in(&mut self) {
        loop {
            match self.listener.accept() {
                Ok(socket) => {
                    let model = self.server_model.open_session();
                    self.hand_on(NewClient { socket, model });
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
                    self.hand_on(NewClient { socket, model });
                }
                // It has gone away again.
                Err(_) => {}
            }
        }
    }

    fn hand_on(&mut self, new_client: NewClient) {
        let count = match &new_client.model {
            Ok(_) => &self.counts.sessions,
            Err(_) => &self.counts.refused,
        };
        count.fetch_add(1, Ordering::Relaxed);
        let handle = &self.handles[self.next];
        self.next = (self.next + 1) % self.handles.len();
        // A worker that is no more has panicked: its clients are hung up on, and the scope tells.
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
    let message = "the null server may open no more files; raise its limit: ulimit -n";
    SystemError::new(ErrorClass::TooManyConnections, "", message)
}
