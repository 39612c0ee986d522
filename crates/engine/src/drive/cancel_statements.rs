//! Takes the sessions of abandoned transactions; cancels their statements on the server and waits briefly for
//! the answers, because the server may not respond.

use std::io::{self, Read as _, Write as _};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, Cancel, Keep, Progress, Request};
use mio::{Events, Interest, Poll, Token};

use crate::session::{BlockingConnection, Cancellation, Connection, Scratch, WireDeployment};
use crate::transport::Socket;

/// How long the server has to cancel a statement.
pub const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the sessions are polled.
const POLL_EVERY: Duration = Duration::from_millis(5);

/// Cancels the current statement of each session at its endpoint, within `timeout`; returns how many
/// sessions were answered by then. The others are closed: the server ends them when it notices.
pub fn cancel(
    deployments: &[WireDeployment],
    mut sessions: Vec<(usize, Connection)>,
    scratch: &mut Scratch,
    timeout: Duration,
) -> u64 {
    let deadline = Instant::now() + timeout;
    for (endpoint, deployment) in deployments.iter().enumerate() {
        let of_endpoint = sessions.iter().filter(|(at, _)| *at == endpoint);
        request_cancels(
            deployment,
            of_endpoint.map(|(_, session)| session),
            deadline,
        );
    }
    let mut answered = 0;
    let mut answer = Answer::new(Keep::Count);
    while !sessions.is_empty() && Instant::now() < deadline {
        sessions.retain_mut(|(_, session)| {
            let is_answered = has_answered(session, scratch, &mut answer);
            if is_answered {
                session.terminate(scratch);
                answered += 1;
            }
            !is_answered
        });
        if !sessions.is_empty() {
            std::thread::sleep(POLL_EVERY);
        }
    }
    answered
}

/// Asks the server to cancel the current statement of the session; its answer is still to come.
pub fn request_cancel(deployment: &WireDeployment, session: &Connection) {
    request_cancels(
        deployment,
        std::iter::once(session),
        Instant::now() + CANCEL_TIMEOUT,
    );
}

/// Whether the current request was answered or the session ended.
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

/// Requests the cancellations one after the other, until the first that cannot be sent.
fn request_cancels<'s>(
    deployment: &WireDeployment,
    sessions: impl Iterator<Item = &'s Connection>,
    deadline: Instant,
) {
    let mut statements = Vec::new();
    for session in sessions {
        match session.cancel() {
            Some(Cancel::Message(bytes)) => {
                match send(deployment, session.place(), &bytes, deadline) {
                    Ok(()) => {}
                    Err(_) => return,
                }
            }
            Some(Cancel::Statement(text)) => statements.push(text),
            None => {}
        }
    }
    if statements.is_empty() {
        return;
    }
    let mut within_deadline = || match Instant::now() < deadline {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let mut cancellation = Cancellation::new(&mut within_deadline);
    let Ok(mut connection) = BlockingConnection::open(deployment, &mut cancellation) else {
        return;
    };
    for text in &statements {
        // A statement that has just ended can no longer be cancelled: its error is ignored.
        let requested = connection.request(&Request::Text(text), Keep::Count, &mut cancellation);
        if requested.is_err() {
            return;
        }
    }
}

/// Sends the bytes on a connection of their own, and waits until the server has closed it.
fn send(
    deployment: &WireDeployment,
    place: usize,
    bytes: &[u8],
    deadline: Instant,
) -> io::Result<()> {
    let mut socket = Socket::connect(&deployment.address, place)?;
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
                // The server may close before it has read everything.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        poll.poll(&mut events, Some(left.min(POLL_EVERY)))?;
    }
}
