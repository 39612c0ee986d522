//! Takes the sessions of abandoned transactions; cancels their statements on the server and waits briefly for
//! the answers, because the server may not respond.

use std::io::{self, Read as _, Write as _};
use std::ops::ControlFlow;
use std::thread::Builder;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, Cancel, Keep, Progress, Request};
use mio::{Events, Interest, Poll, Token};

use crate::session::{BlockingConnection, Cancellation, Connection, Scratch, WireDeployment};
use crate::transport::Socket;

/// How long the server has to cancel a statement.
pub const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one request may take where others wait behind it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// How many requests to one endpoint are sent at once.
const AT_ONCE: usize = 16;
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
    let begun = Instant::now();
    // A server ignores a request that arrives before its statement: what is not answered soon is requested once more.
    let rounds = [timeout.min(REQUEST_TIMEOUT), timeout].map(|after| begun + after);
    let round = |deadline| {
        let requests: Vec<Vec<(usize, Cancel)>> = (0..deployments.len())
            .map(|endpoint| {
                let cancel = |(_, one): &(usize, Connection)| Some((one.place, one.cancel()?));
                let of_endpoint = sessions.iter().filter(|(at, _)| *at == endpoint);
                of_endpoint.filter_map(cancel).collect()
            })
            .collect();
        std::thread::scope(|scope| {
            for (deployment, requests) in deployments.iter().zip(&requests) {
                let share = requests.len().div_ceil(AT_ONCE).max(1);
                for part in requests.chunks(share) {
                    let request = move || request_cancels(deployment, part, deadline);
                    let thread = Builder::new().name("cancel".to_owned());
                    if thread.spawn_scoped(scope, request).is_err() {
                        request_cancels(deployment, part, deadline);
                    }
                }
            }
            await_answers(&mut sessions, scratch, deadline)
        })
    };
    rounds.into_iter().map(round).sum()
}

fn await_answers(
    sessions: &mut Vec<(usize, Connection)>,
    scratch: &mut Scratch,
    deadline: Instant,
) -> u64 {
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

/// Requests the cancellations one after the other, each with the index of the address that its session is connected
/// to. One that cannot be sent is left out.
pub fn request_cancels(
    deployment: &WireDeployment,
    requests: &[(usize, Cancel)],
    deadline: Instant,
) {
    let mut session = None;
    for (number, (address, cancel)) in requests.iter().enumerate() {
        let now = Instant::now();
        if now >= deadline {
            return;
        }
        let is_last = number + 1 == requests.len();
        let until = match is_last {
            true => deadline,
            false => deadline.min(now + REQUEST_TIMEOUT),
        };
        match cancel {
            // The session ends with its statement when the client closes it.
            Cancel::Message(bytes) => _ = send(deployment, *address, bytes, until),
            Cancel::Statement(text) => session = request(deployment, session, text, until),
        }
    }
}

/// Executes a statement that cancels another, in this session or in a new one; returns the session if it can be used
/// again.
fn request(
    deployment: &WireDeployment,
    session: Option<BlockingConnection>,
    text: &str,
    until: Instant,
) -> Option<BlockingConnection> {
    let mut within_time = || match Instant::now() < until {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let mut cancellation = Cancellation::new(&mut within_time);
    let mut session = match session {
        Some(session) => session,
        None => BlockingConnection::open(deployment, &mut cancellation).ok()?,
    };
    // A statement that has just ended can no longer be cancelled: its error is in the answer, and ignored.
    let requested = session.request(&Request::Text(text), Keep::Count, &mut cancellation);
    requested.is_ok().then_some(session)
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
