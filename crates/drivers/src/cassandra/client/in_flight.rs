//! Takes the requests that were sent; holds them until their answers have come, in the order in which they were
//! sent, with all that is needed to send one again.

use std::collections::VecDeque;

use assay_values::Value;

use crate::cassandra::client::rows::Prepared;
use crate::cassandra::client::settings::FlagsAt;
use crate::{Result, SystemError};

/// Streams are numbered by two bytes with a sign.
pub(crate) const MAX_STREAMS: usize = 1 << 15;
/// Answers that came before their turn are kept up to this size.
const MAX_EARLY_BYTES: usize = 256 * 1024 * 1024;
/// Memory beyond this size is released once nothing is under way.
const KEPT_BYTES: usize = 1024 * 1024;

/// What was asked last for a request.
#[derive(Debug)]
pub(crate) enum Ask {
    /// Anything that makes the server answer.
    Ping,
    /// A text, which is to be executed at once.
    Text,
    Prepare {
        id: u32,
        text: Box<str>,
    },
    /// A prepared statement: of this id, or the request's own.
    Execute {
        id: u32,
        is_again: bool,
    },
    /// The server has forgotten the statement: it is prepared once more, then executed.
    PrepareAgain {
        id: u32,
    },
    /// The statement of a load.
    PrepareLoad {
        text: Box<str>,
    },
    /// A statement that is prepared for one execution with these values.
    PrepareOwn {
        text: Box<str>,
        values: Box<[Value]>,
    },
}

/// A statement of the session: its text, and what the server made of it.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) text: Box<str>,
    pub(crate) prepared: Prepared,
}

#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) stream: i16,
    pub(crate) ask: Ask,
    /// The statement of [`Ask::PrepareOwn`], once it is prepared.
    pub(crate) own: Option<Box<Statement>>,
    /// Its part of [`InFlight::sent`]: a text with its parameters, or the parameters of an execution.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) flags_at: FlagsAt,
}

/// An answer that came before its turn.
struct Early {
    stream: i16,
    opcode: u8,
    body: Vec<u8>,
}

#[derive(Default)]
pub(crate) struct InFlight {
    pub(crate) requests: VecDeque<Pending>,
    pub(crate) sent: Vec<u8>,
    early: Vec<Early>,
    early_bytes: usize,
}

impl InFlight {
    #[inline]
    pub(crate) fn push(&mut self, ask: Ask, start: usize, flags_at: FlagsAt) -> i16 {
        // There are never more requests than streams: the caller looks.
        let stream = i16::try_from(self.requests.len()).unwrap_or(i16::MAX);
        self.requests.push_back(Pending {
            stream,
            ask,
            own: None,
            start,
            end: self.sent.len(),
            flags_at,
        });
        stream
    }

    /// The oldest request has its answer.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.requests.pop_front();
        if self.requests.is_empty() {
            self.clear();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        self.sent.clear();
        if self.sent.capacity() > KEPT_BYTES {
            self.sent = Vec::new();
        }
        self.early.clear();
        self.early_bytes = 0;
    }

    /// Whether an answer belongs to the oldest request; none if to no request.
    #[inline]
    pub(crate) fn is_next(&self, stream: i16) -> Option<bool> {
        let first = self.requests.front()?;
        if first.stream == stream {
            return Some(true);
        }
        (self.requests.iter().any(|request| request.stream == stream)).then_some(false)
    }

    /// Keeps an answer until its turn.
    pub(crate) fn keep(&mut self, stream: i16, opcode: u8, body: &[u8]) -> Result<()> {
        let is_second = self.early.iter().any(|early| early.stream == stream);
        self.early_bytes += body.len();
        if is_second || self.early_bytes > MAX_EARLY_BYTES {
            return Err(SystemError::protocol(
                "one answer to each request",
                format!("more on stream {stream}"),
            ));
        }
        self.early.push(Early {
            stream,
            opcode,
            body: body.to_vec(),
        });
        Ok(())
    }

    /// The answer to the oldest request, if it came before its turn.
    #[inline]
    pub(crate) fn take_early(&mut self) -> Option<(u8, Vec<u8>)> {
        if self.early.is_empty() {
            return None;
        }
        let stream = self.requests.front()?.stream;
        let place = self.early.iter().position(|early| early.stream == stream)?;
        let early = self.early.swap_remove(place);
        self.early_bytes -= early.body.len();
        Some((early.opcode, early.body))
    }
}
