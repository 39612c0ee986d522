//! Takes sessions whose transactions were given up; has the server break off what it still does for
//! them, and waits for that, but not for long: the server may be deaf.

use std::io::{self, Read as _, Write as _};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, Cancel, Keep, Progress, Request};
use mio::{Events, Interest, Poll, Token};

use crate::session::{BlockingConnection, Cancellation, Connection, Scratch, WireSite};
use crate::transport::Socket;

/// How often the sessions are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Cancels what is under way in all of them, each at its endpoint, within `patience`; gives how many the server has answered
/// then. The others are closed: a server that hears of it later ends them by itself.
pub fn cancel(
    sites: &[WireSite],
    mut sessions: Vec<(usize, Connection)>,
    scratch: &mut Scratch,
    patience: Duration,
) -> u64 {
    let deadline = Instant::now() + patience;
    for (endpoint, site) in sites.iter().enumerate() {
        let of_it = sessions.iter().filter(|(at, _)| *at == endpoint);
        ask(site, of_it.map(|(_, session)| session), deadline);
    }
    let mut answered = 0;
    let mut answer = Answer::new(Keep::Count);
    while !sessions.is_empty() && Instant::now() < deadline {
        sessions.retain_mut(|(_, session)| {
            let is_answered = has_answered(session, scratch, &mut answer);
            if is_answered {
                session.goodbye(scratch);
                answered += 1;
            }
            !is_answered
        });
        if !sessions.is_empty() {
            std::thread::sleep(LOOK_EVERY);
        }
    }
    answered
}

/// Whether the request under way has come to its end, or the session to its.
fn has_answered(session: &mut Connection, scratch: &mut Scratch, answer: &mut Answer) -> bool {
    answer.clear(Keep::Count);
    loop {
        match session.receive(false, scratch, answer) {
            Ok(Progress::Answered) => {}
            Ok(Progress::NeedMore) => return false,
            Ok(_) | Err(_) => return true,
        }
    }
}

/// Asks as far as the server listens: the first that it does not hear is the last.
fn ask<'s>(site: &WireSite, sessions: impl Iterator<Item = &'s Connection>, deadline: Instant) {
    let mut statements = Vec::new();
    for session in sessions {
        match session.cancel() {
            Some(Cancel::Message(bytes)) => match send(site, session.place(), &bytes, deadline) {
                Ok(()) => {}
                Err(_) => return,
            },
            Some(Cancel::Statement(text)) => statements.push(text),
            None => {}
        }
    }
    if statements.is_empty() {
        return;
    }
    let mut go_on = || match Instant::now() < deadline {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let mut cancellation = Cancellation::new(&mut go_on);
    let Ok(mut connection) = BlockingConnection::open(site, &mut cancellation) else {
        return;
    };
    for text in &statements {
        // A statement that has just ended is no longer there to be cancelled.
        let asked = connection.request(&Request::Text(text), Keep::Count, &mut cancellation);
        if asked.is_err() {
            return;
        }
    }
}

/// Sends the bytes on a connection of their own, and waits until the server has closed it.
fn send(site: &WireSite, place: usize, bytes: &[u8], deadline: Instant) -> io::Result<()> {
    let mut socket = Socket::connect(&site.address, place)?;
    let mut poll = Poll::new()?;
    let both = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(&mut socket, Token(0), both)?;
    let mut events = Events::with_capacity(4);
    let mut unsent = bytes;
    let mut received = [0; 64];
    loop {
        if !unsent.is_empty() && socket.is_connected()? {
            match socket.write(unsent) {
                Ok(count) => unsent = &unsent[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        if unsent.is_empty() {
            match socket.read(&mut received) {
                Ok(0) => return Ok(()),
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // It may close without having read to the end.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        poll.poll(&mut events, Some(left.min(LOOK_EVERY)))?;
    }
}
