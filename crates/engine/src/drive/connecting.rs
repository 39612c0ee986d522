//! Takes the clients of one thread; opens a session for each, many at a time.

use std::io;
use std::time::{Duration, Instant};

use assay_drivers::{ErrorClass, SystemError};
use mio::{Events, Poll, Token};

use super::entrant::{Door, Entrant, Trouble};
use super::gate::{Arrival, Gate};
use super::plan::Plan;
use crate::EngineError;
use crate::session::{Conversation, Scratch, WireSite, out_of_resources};

/// How often deadlines and the gate are looked at.
const LOOK_UP_EVERY: Duration = Duration::from_millis(50);

/// How the sessions of one thread came about.
pub struct Opened {
    /// By place in the thread's list; none where the client was not let in.
    pub conversations: Vec<Option<Conversation>>,
    /// The clients that were refused, by place.
    pub refusals: Vec<(usize, SystemError)>,
    pub arrival: Arrival,
}

/// Everything that opening needs and that stays the same meanwhile.
pub struct Connector<'a> {
    pub site: &'a WireSite,
    pub plan: &'a Plan,
    pub gate: &'a Gate,
    /// How many sessions may be on their way at once.
    pub pending_limit: usize,
    pub poll: &'a mut Poll,
    pub scratch: &'a mut Scratch,
}

/// What has gone wrong so far.
#[derive(Default)]
struct Troubles {
    refusals: Vec<(usize, SystemError)>,
    failure: Option<EngineError>,
}

impl Connector<'_> {
    /// Opens sessions until all stand or one is refused. A server without room is asked to the end, so
    /// that it is known how many it does not let in; after any other refusal nothing more is begun.
    pub fn open(&mut self, count: usize) -> Opened {
        let mut entrants: Vec<_> = (0..count).map(|_| Entrant::new()).collect();
        let mut troubles = Troubles::default();
        if let Err(error) = self.let_in(&mut entrants, &mut troubles) {
            let error = EngineError::System(out_of_resources(&error), "connecting".to_owned());
            troubles.failure.get_or_insert(error);
        }
        let Troubles { refusals, failure } = troubles;
        Opened {
            conversations: entrants
                .into_iter()
                .map(Entrant::into_conversation)
                .collect(),
            arrival: match failure {
                Some(failure) => Arrival::Failed(failure),
                None if refusals.is_empty() => Arrival::Ready,
                None => Arrival::Refused,
            },
            refusals,
        }
    }

    fn let_in(&mut self, entrants: &mut [Entrant], troubles: &mut Troubles) -> io::Result<()> {
        let mut events = Events::with_capacity(256);
        let mut next = 0;
        loop {
            let mut pending = entrants
                .iter()
                .filter(|entrant| entrant.is_pending())
                .count();
            while next < entrants.len()
                && pending < self.pending_limit
                && !troubles.are_hopeless()
                && !self.gate.is_cancelled()
            {
                let begun = entrants[next].begin(&mut self.door(), Token(next));
                troubles.note(next, begun);
                pending += usize::from(entrants[next].is_pending());
                next += 1;
            }
            if pending == 0 || self.gate.is_cancelled() || troubles.failure.is_some() {
                return Ok(());
            }
            let patience = entrants[..next].iter().map(Entrant::patience).min();
            let patience = patience.unwrap_or(LOOK_UP_EVERY).min(LOOK_UP_EVERY);
            match self.poll.poll(&mut events, Some(patience)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                let place = event.token().0;
                let ready = entrants[place].ready(&mut self.door(), event);
                troubles.note(place, ready);
            }
            let now = Instant::now();
            for (place, entrant) in entrants[..next].iter_mut().enumerate() {
                let looked = entrant.look(&mut self.door(), now, Token(place));
                troubles.note(place, looked);
            }
        }
    }

    fn door(&mut self) -> Door<'_> {
        Door {
            site: self.site,
            plan: self.plan,
            to_prepare: &self.plan.to_prepare,
            registry: self.poll.registry(),
            scratch: self.scratch,
        }
    }
}

impl Troubles {
    fn note(&mut self, place: usize, result: Result<(), Trouble>) {
        match result {
            Ok(()) => {}
            Err(Trouble::Refused(error)) => self.refusals.push((place, error)),
            Err(Trouble::Failed(error)) => {
                self.failure.get_or_insert(error);
            }
        }
    }

    /// Whether any further client is in vain, and not even worth counting.
    fn are_hopeless(&self) -> bool {
        let has_room =
            |(_, error): &(usize, SystemError)| error.class != ErrorClass::TooManyConnections;
        self.failure.is_some() || self.refusals.iter().any(has_room)
    }
}
