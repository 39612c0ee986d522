//! Takes the sessions that clients of one thread need; opens them, many at a time.

use std::io;
use std::time::{Duration, Instant};

use assay_drivers::{ErrorClass, SystemError};
use mio::{Events, Poll, Token};

use crate::EngineError;
use crate::account::SessionServers;
use crate::drive::event_loop::session_opener::{OpenError, Opening, SessionOpener};
use crate::drive::plan::Plan;
use crate::drive::supervision::start_barrier::{Readiness, StartBarrier};
use crate::session::{Connection, Scratch, WireDeployment, out_of_resources};

/// How often deadlines and the start barrier are checked.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// The sessions that one thread opened.
pub struct Opened {
    /// By place in the list of sessions; `None` if the session was refused.
    pub connections: Vec<Option<Connection>>,
    /// The refused sessions, by place.
    pub refusals: Vec<(usize, SystemError)>,
    pub servers: SessionServers,
    pub readiness: Readiness,
}

/// A session to be opened.
#[derive(Clone, Copy, Debug)]
pub struct SessionOf {
    /// The place of its client among the clients of this process.
    pub client: u32,
    /// The index of its route.
    pub route: usize,
}

/// What opening a session needs.
pub struct Connector<'a> {
    pub deployments: &'a [WireDeployment],
    pub plan: &'a Plan,
    pub sessions: &'a [SessionOf],
    pub barrier: &'a StartBarrier,
    /// How many sessions may be opening at once.
    pub pending_limit: usize,
    pub poll: &'a mut Poll,
    pub scratch: &'a mut Scratch,
}

/// The errors so far.
#[derive(Default)]
struct OpenErrors {
    refusals: Vec<(usize, SystemError)>,
    failure: Option<EngineError>,
}

impl Connector<'_> {
    /// Opens sessions until all are open or one is refused. If the server has too many connections, the rest
    /// is still tried, so that the number of refused clients is known; after any other refusal no further
    /// session is started.
    pub fn open(&mut self) -> Opened {
        let mut openers: Vec<_> = self.sessions.iter().map(|_| SessionOpener::new()).collect();
        let mut errors = OpenErrors::default();
        if let Err(error) = self.open_all(&mut openers, &mut errors) {
            let error = EngineError::System(out_of_resources(&error), "connecting".to_owned());
            errors.failure.get_or_insert(error);
        }
        let OpenErrors { refusals, failure } = errors;
        let mut servers = SessionServers::default();
        for opener in &mut openers {
            if let Some(server) = opener.take_server() {
                servers.add(server);
            }
        }
        Opened {
            servers,
            connections: openers.into_iter().map(SessionOpener::into_connection).collect(),
            readiness: match failure {
                Some(failure) => Readiness::Failed(failure),
                None if refusals.is_empty() => Readiness::Ready,
                None => Readiness::Refused,
            },
            refusals,
        }
    }

    fn open_all(
        &mut self,
        openers: &mut [SessionOpener],
        errors: &mut OpenErrors,
    ) -> io::Result<()> {
        let mut events = Events::with_capacity(256);
        let mut next = 0;
        loop {
            let mut pending = openers.iter().filter(|opener| opener.is_pending()).count();
            while next < openers.len()
                && pending < self.pending_limit
                && !errors.must_stop()
                && !self.barrier.is_cancelled()
            {
                let begun = openers[next].begin(&mut self.opening(next), Token(next));
                errors.note(next, begun);
                pending += usize::from(openers[next].is_pending());
                next += 1;
            }
            if pending == 0 || self.barrier.is_cancelled() || errors.failure.is_some() {
                return Ok(());
            }
            let timeout = openers[..next].iter().map(SessionOpener::retry_delay).min();
            let timeout = timeout.unwrap_or(CHECK_EVERY).min(CHECK_EVERY);
            match self.poll.poll(&mut events, Some(timeout)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                let place = event.token().0;
                let ready = openers[place].ready(&mut self.opening(place), event);
                errors.note(place, ready);
            }
            let now = Instant::now();
            for (place, opener) in openers[..next].iter_mut().enumerate() {
                let checked = opener.check(&mut self.opening(place), now, Token(place));
                errors.note(place, checked);
            }
        }
    }

    fn opening(&mut self, session: usize) -> Opening<'_> {
        let SessionOf { client, route } = self.sessions[session];
        let group = self.plan.group_at(client);
        let route = &group.routes[route];
        // With a session for each transaction, this one only shows that a session can be opened.
        let to_prepare = match self.plan.connects_each {
            true => &self.plan.to_prepare,
            false => &route.to_prepare,
        };
        let endpoint = route.endpoint_of(group.client_number(client)) as usize;
        Opening {
            deployment: &self.deployments[endpoint],
            plan: self.plan,
            to_prepare,
            registry: self.poll.registry(),
            scratch: self.scratch,
            asks_server: true,
        }
    }
}

impl OpenErrors {
    fn note(&mut self, place: usize, result: Result<(), OpenError>) {
        match result {
            Ok(()) => {}
            Err(OpenError::Refused(error)) => self.refusals.push((place, error)),
            Err(OpenError::Failed(error)) => {
                self.failure.get_or_insert(error);
            }
        }
    }

    /// Whether further attempts are useless and need not be counted.
    fn must_stop(&self) -> bool {
        let has_room =
            |(_, error): &(usize, SystemError)| error.class != ErrorClass::TooManyConnections;
        self.failure.is_some() || self.refusals.iter().any(has_room)
    }
}
