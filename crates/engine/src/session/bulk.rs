//! Takes rows; loads them into a table by the session's bulk load, through a connection or a library.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, Blocking as _, BulkForm, Keep, Request};
use assay_values::{ColumnType, Row};

use crate::session::{Cancellation, Channel, Halt, Session, SessionState};

/// A library is fed from this thread; cancellation is checked after this many rows.
const ROWS_PER_CHECK: u64 = 256;

impl Session {
    /// Starts a bulk load; an error of the statement is in the answer.
    ///
    /// # Errors
    /// If the session has ended or the caller cancels.
    pub(crate) fn bulk_begin(
        &mut self,
        text: &str,
        form: BulkForm,
        types: &[ColumnType],
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        let answer = match &mut self.channel {
            Channel::Server(connection) => connection.bulk_begin(text, form, types, cancellation),
            Channel::Library(library) => {
                let mut answer = Answer::new(Keep::Count);
                match library.request(&Request::Bulk { text, form, types }, &mut answer) {
                    Ok(()) => Ok(answer),
                    Err(error) => Err(error.into()),
                }
            }
        };
        self.state = match &answer {
            Ok(answer) if answer.error.is_none() => SessionState::Bulk,
            Ok(_) => SessionState::Idle,
            Err(halt) => self.state_after(halt),
        };
        self.transaction = super::status_after(&answer);
        answer
    }

    /// Appends row `number`. Returns the answer if the system has ended the load early, which it only does
    /// after an error.
    ///
    /// # Errors
    /// If the session has ended, or the caller cancels; then the load must still be aborted.
    #[inline]
    pub(crate) fn bulk_row(
        &mut self,
        row: &Row,
        number: u64,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Option<Answer>, Halt> {
        let ended = match &mut self.channel {
            Channel::Server(connection) => connection.bulk_row(row, cancellation),
            Channel::Library(library) => match library.bulk_row(row) {
                Ok(()) if number.is_multiple_of(ROWS_PER_CHECK) => {
                    cancellation.check().map(|()| None)
                }
                Ok(()) => Ok(None),
                Err(error) => Err(error.into()),
            },
        };
        match &ended {
            Ok(None) | Err(Halt::Interrupted) => {}
            Ok(Some(answer)) => {
                self.state = SessionState::Idle;
                self.transaction = answer.transaction;
            }
            Err(Halt::System(_)) => self.state = SessionState::Over,
        }
        ended
    }

    /// Ends the load; the answer holds the number of rows that the system reports, or an error.
    ///
    /// # Errors
    /// If the session has ended or the caller cancels.
    pub(crate) fn bulk_end(&mut self, cancellation: &mut Cancellation<'_>) -> Result<Answer, Halt> {
        self.bulk_close(None, cancellation)
    }

    /// Aborts the load, so that the session can be used for something else.
    ///
    /// # Errors
    /// If the session has ended, or the system does not abort in time.
    pub(crate) fn bulk_abort(&mut self, reason: &str, limit: Duration) -> Result<(), Halt> {
        let deadline = Instant::now() + limit;
        let mut within_deadline = || match Instant::now() < deadline {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        self.bulk_close(Some(reason), &mut Cancellation::new(&mut within_deadline))
            .map(drop)
    }

    fn bulk_close(
        &mut self,
        abort: Option<&str>,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        let answer = match &mut self.channel {
            Channel::Server(connection) => connection.bulk_end(abort, cancellation),
            Channel::Library(library) => {
                let mut answer = Answer::new(Keep::Count);
                match library.bulk_end(abort, &mut answer) {
                    Ok(()) => Ok(answer),
                    Err(error) => Err(error.into()),
                }
            }
        };
        self.state = match &answer {
            Ok(_) => SessionState::Idle,
            Err(halt) => self.state_after(halt),
        };
        self.transaction = super::status_after(&answer);
        answer
    }

    /// Whether the system runs in this process, on the calling thread.
    pub(crate) fn is_in_process(&self) -> bool {
        matches!(self.channel, Channel::Library(_))
    }

    /// Bytes of bulk messages sent so far; 0 for a system in this process.
    pub(crate) fn bulk_bytes_sent(&self) -> u64 {
        match &self.channel {
            Channel::Server(connection) => connection.bytes_sent,
            Channel::Library(_) => 0,
        }
    }
}
