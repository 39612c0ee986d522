//! Takes the clients that knock at the door; gives each to the next attendant in turn, with the guest it
//! is to the null system, or with why it is turned away.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use assay_drivers::null::{Guest, Host};
use assay_drivers::{ErrorClass, SystemError};
use mio::{Events, Poll, Token, Waker};

use super::Listening;
use super::counts::Counts;
use super::door::Door;
use crate::session::LOOK_UP_EVERY;
use crate::transport::Socket;

/// A client that has come in.
pub struct Visitor {
    pub socket: Socket,
    pub guest: Result<Guest, SystemError>,
}

/// The way to an attendant.
pub struct Entrance {
    pub visitors: Sender<Visitor>,
    pub waker: Waker,
}

pub struct Hall<'a> {
    door: Door,
    poll: Poll,
    host: &'a Arc<Host>,
    counts: &'a Counts,
    entrances: Vec<Entrance>,
    next: usize,
    /// A file that is closed to make room for one more client when there is none: it can then be told.
    spare: Option<File>,
}

impl<'a> Hall<'a> {
    /// # Errors
    /// Where the operating system lacks something.
    pub fn new(
        mut door: Door,
        host: &'a Arc<Host>,
        counts: &'a Counts,
        entrances: Vec<Entrance>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        door.watch(poll.registry(), Token(0))?;
        Ok(Self {
            door,
            poll,
            host,
            counts,
            entrances,
            next: 0,
            spare: spare(),
        })
    }

    #[must_use]
    pub fn address(&self) -> Listening {
        self.door.address()
    }

    /// Receives clients until `go_on` breaks.
    ///
    /// # Errors
    /// Where the operating system fails; a client that fails is no error.
    pub fn receive(&mut self, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> io::Result<()> {
        let mut events = Events::with_capacity(4);
        while go_on().is_continue() {
            if let Err(error) = self.poll.poll(&mut events, Some(LOOK_UP_EVERY))
                && error.kind() != io::ErrorKind::Interrupted
            {
                return Err(error);
            }
            // Also without an event: after a lack of files the door announces nothing anew.
            self.let_in();
        }
        Ok(())
    }

    /// Wakes everybody, so that they see that it is over.
    pub fn close(&self) {
        for entrance in &self.entrances {
            // An attendant that cannot be woken looks up by itself.
            let _ = entrance.waker.wake();
        }
    }

    fn let_in(&mut self) {
        loop {
            match self.door.accept() {
                Ok(socket) => {
                    let guest = self.host.enter();
                    self.hand_on(Visitor { socket, guest });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if lacks_files(&error) => {
                    self.spare = None;
                    let accepted = self.door.accept();
                    self.spare = spare();
                    let Ok(socket) = accepted else {
                        return;
                    };
                    let guest = Err(no_files());
                    self.hand_on(Visitor { socket, guest });
                }
                // It has gone away again.
                Err(_) => {}
            }
        }
    }

    fn hand_on(&mut self, visitor: Visitor) {
        let count = match &visitor.guest {
            Ok(_) => &self.counts.sessions,
            Err(_) => &self.counts.refused,
        };
        count.fetch_add(1, Ordering::Relaxed);
        let entrance = &self.entrances[self.next];
        self.next = (self.next + 1) % self.entrances.len();
        // An attendant that is no more has panicked: its clients are hung up on, and the scope tells.
        if entrance.visitors.send(visitor).is_ok() {
            let _ = entrance.waker.wake();
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
